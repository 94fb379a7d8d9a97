"""Names whose addresses a setting knows: ``VFA_HOSTS``, as a hosts file with patterns.

Pure but for the resolver it falls back to. ``shop.test=127.0.0.1, *.cdn.test=-`` gives one
name an address and says of the sub-domains of another that they do not exist; ``*=-`` says so
of every name that is not listed. An address from here is checked like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.errors import ConfigError
from vfa.policy.address import parse_address
from vfa.policy.hosts import read_patterns
from vfa.policy.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.policy.hosts import Pattern
    from vfa.policy.resolve import Resolver

NOWHERE = "-"
VARIABLE = "VFA_HOSTS"


def read_hosts(text: str) -> Resolver:
    """Return a resolver that knows what ``text`` lists, and asks the system for the rest.

    Raises:
        ConfigError: The list cannot be read.
    """
    known: list[tuple[Pattern | None, str]] = []  # None: every name
    for word in text.split(","):
        if not word.strip():
            continue
        name, sign, address = (part.strip() for part in word.partition("="))
        if not sign or (address != NOWHERE and parse_address(address) is None):
            raise ConfigError(
                f"{VARIABLE}: {word.strip()!r} is no entry",
                hint="Write name=address or name=- (does not exist), separated by commas.",
            )
        pattern = None if name == "*" else read_patterns(name, VARIABLE)[0]
        known.append((pattern, address))

    async def look_up(host: str, port: int) -> Sequence[str]:
        for pattern, address in known:
            if pattern is None or pattern.matches(host, port):
                if address == NOWHERE:
                    raise OSError(f"{VARIABLE} says that it does not exist")
                return [address]
        return await resolve(host, port)

    return look_up if known else resolve
