"""Checking where a URL leads, by every address its name has.

Owns no connection. What it answers is true at the moment: a name may resolve otherwise a
second later, so the address that really answers is checked as well, where it is known.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import trio

from vfa.errors import NavigationFailedError
from vfa.policy.network import Policy
from vfa.policy.url import Parsed, check_audit_url, check_browser_url, is_local_name

__all__ = ["Policy", "Resolver", "Target", "check_target", "resolve"]

RESOLVE_TIMEOUT = 5.0  # seconds; a resolver's own patience is up to half a minute

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


class Target(msgspec.Struct, frozen=True):
    """A URL that the policy allows, and where it leads."""

    url: str
    host: str = ""  # as Chromium will see it; empty for about:blank
    port: int = 0
    addresses: tuple[str, ...] = ()  # empty where the name was left to Chromium


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return every address of ``host``, of both families.

    Raises:
        OSError: It has none, or the resolver does not answer.
    """
    answers = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


async def check_target(url: str, policy: Policy, *, resolver: Resolver = resolve) -> Target:
    """Return where ``url`` leads, if ``policy`` allows all of it.

    Raises:
        InvalidUrlError: It cannot be read, or its scheme is not allowed.
        SsrfBlockedError: Its name or one of its addresses is refused.
        NavigationFailedError: Its name does not resolve. With the policy of ``browser_*``
            tools that is left to Chromium, which may know a proxy that resolves it.
    """
    parsed = check_audit_url(url) if policy.kind == "qa" else check_browser_url(url)
    if parsed is None:
        return Target(url)
    policy.check_navigation(parsed.host, parsed.port)
    addresses = await _addresses(parsed, policy, resolver)
    for address in addresses:
        policy.check_address(address, parsed.host)
    return Target(url, parsed.host, parsed.port, addresses)


async def _addresses(parsed: Parsed, policy: Policy, resolver: Resolver) -> tuple[str, ...]:
    if parsed.address:
        return (parsed.address,)
    if not policy.resolves:
        return ()
    if is_local_name(parsed.host):
        return ("127.0.0.1", "::1")  # Chromium asks nobody for these
    try:
        with trio.fail_after(RESOLVE_TIMEOUT):
            return tuple(await resolver(parsed.host, parsed.port))
    except trio.TooSlowError:
        return _unresolved(parsed.host, policy, f"no answer in {RESOLVE_TIMEOUT:g} s")
    except (OSError, UnicodeError) as error:
        return _unresolved(parsed.host, policy, getattr(error, "strerror", None) or str(error))


def _unresolved(host: str, policy: Policy, reason: str) -> tuple[str, ...]:
    if policy.kind == "browser":
        return ()
    raise NavigationFailedError(
        f"the name {host} does not resolve: {reason}",
        net_error="net::ERR_NAME_NOT_RESOLVED",
        hint="Check the spelling of the host, and that this machine reaches a DNS server.",
    )
