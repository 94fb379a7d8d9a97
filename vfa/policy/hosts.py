"""Lists of hosts, as settings and arguments write them.

Pure. A pattern is a host, exact, or ``*.suffix`` for every sub-domain of it; with ``:port``
only for that port. Patterns are matched on what Chromium reads as the host, so spellings,
case and a trailing dot make no difference. A list that is empty says nothing.
"""

from __future__ import annotations

import msgspec

from vfa.errors import ConfigError, InvalidUrlError
from vfa.policy.url import parse_url


class Pattern(msgspec.Struct, frozen=True):
    """One entry of a list."""

    host: str  # as Chromium reads it, without a trailing dot
    below: bool = False  # its sub-domains rather than itself
    port: int | None = None

    def matches(self, host: str, port: int) -> bool:
        """Say whether a place is meant."""
        if self.port is not None and self.port != port:
            return False
        bare = host.rstrip(".")
        return bare.endswith("." + self.host) if self.below else bare == self.host


def read_patterns(text: str, variable: str) -> tuple[Pattern, ...]:
    """Return the patterns of a list separated by commas.

    Raises:
        ConfigError: One of them is none.
    """
    return tuple(_read(word.strip(), variable) for word in text.split(",") if word.strip())


def _read(word: str, variable: str) -> Pattern:
    below = word.startswith("*.")
    bare = word.removeprefix("*.")
    if not bare or any(sign in bare for sign in "*/?#@ ") or "://" in bare:
        raise _bad(word, variable)
    try:
        parsed = parse_url(f"http://{bare}/")
    except InvalidUrlError:
        raise _bad(word, variable) from None
    if below and parsed.address:
        raise _bad(word, variable)
    # Whether a port was written; parse_url fills in the scheme's where none was.
    tail = bare.rpartition("]")[2] if bare.startswith("[") else bare
    port = parsed.port if ":" in tail else None
    return Pattern(parsed.host.rstrip("."), below, port)


def _bad(word: str, variable: str) -> ConfigError:
    return ConfigError(
        f"{variable}: {word!r} is not a host pattern",
        hint="Write example.com, *.example.com or example.com:8080, separated by commas.",
    )
