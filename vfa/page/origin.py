"""The origin of a URL, in the one spelling that Chromium uses for it. Pure."""

from __future__ import annotations

from vfa.errors import InvalidUrlError
from vfa.policy.url import PORTS, parse_url


def origin_of(url: str) -> str:
    """Return the origin of an http or https URL; empty for any other."""
    try:
        parsed = parse_url(url)
    except InvalidUrlError:
        return ""
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    port = "" if parsed.port == PORTS[parsed.scheme] else f":{parsed.port}"
    return f"{parsed.scheme}://{host}{port}"
