"""The proxy that this machine has to go through, as the environment says it.

Pure. ``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, upper or lower case, as
curl reads them: a proxy is ``http://[user:password@]host:port``; NO_PROXY lists names, each of
which covers its sub-domains, addresses, networks, or ``*`` for everything.
"""

from __future__ import annotations

import base64
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import msgspec

from vfa.errors import ConfigError
from vfa.policy.redact import redact_url

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 3128


class Upstream(msgspec.Struct, frozen=True):
    """A forward proxy."""

    host: str
    port: int
    authorization: str = ""  # value of Proxy-Authorization


class Upstreams(msgspec.Struct, frozen=True):
    """Which proxy is for which requests."""

    http: Upstream | None = None
    https: Upstream | None = None
    exceptions: tuple[str, ...] = ()

    def for_target(self, host: str, *, secure: bool) -> Upstream | None:
        """Return the proxy for a host, or None where it is reached directly."""
        proxy = self.https if secure else self.http
        return None if proxy is None or _excepted(host, self.exceptions) else proxy


def read_upstreams(environ: Mapping[str, str]) -> Upstreams:
    """Return what the environment says.

    Raises:
        ConfigError: A proxy's URL cannot be used.
    """

    def setting(name: str) -> tuple[str, str]:
        for spelling in (name.lower(), name):
            if environ.get(spelling, "").strip():
                return spelling, environ[spelling].strip()
        return name, ""

    every = setting("ALL_PROXY")
    http, https = (
        found if found[1] else every
        for found in (setting("HTTP_PROXY"), setting("HTTPS_PROXY"))
    )
    listed = setting("NO_PROXY")[1].replace(" ", ",").split(",")
    return Upstreams(
        _read(*http),
        _read(*https),
        tuple(word.strip().lower() for word in listed if word.strip()),
    )


def _read(variable: str, url: str) -> Upstream | None:
    if not url:
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme != "http":
        raise ConfigError(
            f"{variable}={redact_url(url)!r}: expected http://host:port",
            hint="Only HTTP proxies can be gone through.",
        )
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode()
    return Upstream(host, port, authorization)


def _excepted(host: str, exceptions: tuple[str, ...]) -> bool:
    bare = host.rstrip(".").lower()
    return any(_matches(bare, each) for each in exceptions)


def _matches(host: str, exception: str) -> bool:
    if exception == "*":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        suffix = exception.lstrip("*").lstrip(".")
        return host == suffix or host.endswith("." + suffix)
    try:
        return address in ip_network(exception.strip("[]"), strict=False)
    except (ValueError, TypeError):
        return False
