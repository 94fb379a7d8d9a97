"""What a page's way out knows that Chromium does not: why a request failed, who answered.

To Chromium every server is the proxy, and every failure the proxy's. ``WayOut`` translates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from vfa.egress.refusals import POLICY, Failure
from vfa.errors import InvalidUrlError, SsrfBlockedError
from vfa.policy.url import parse_url

if TYPE_CHECKING:
    from vfa.egress.listener import Listener

SOCKETS = {"ws": "http", "wss": "https"}
# How a connection that the proxy ended, or did not make, looks to Chromium.
TELLTALES = (
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_TUNNEL_CONNECTION_FAILED",
    "net::ERR_PROXY_CONNECTION_FAILED",
    "net::ERR_CONNECTION_CLOSED",
    "net::ERR_CONNECTION_RESET",
    "net::ERR_BLOCKED_BY_CLIENT",
)


class WayOut:
    """The listener of a page's browser context, as the page's modules see it."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def explain(self, url: str, error: str) -> str:
        """Return what a failed request really failed of."""
        failure = self._failure(url, error)
        return error if failure is None else failure.error

    def refusal(self, url: str, error: str) -> SsrfBlockedError | None:
        """Return the error to raise for a document that the policy kept from coming."""
        failure = self._failure(url, error)
        if failure is None or not failure.by_policy:
            return None
        return SsrfBlockedError(failure.message, hint=failure.hint)

    @property
    def restricts_navigation(self) -> bool:
        """Whether documents are held to lists that the proxy cannot apply.

        It does not see what a request is for.
        """
        return self._listener.policy.restricts_navigation

    def lets_navigate(self, url: str) -> bool:
        """Say whether the tab may go to a URL; a refusal is put on record."""
        place = _place(url)
        if place is None:
            return True  # nothing is connected to
        try:
            self._listener.policy.check_navigation(*place)
        except SsrfBlockedError as error:
            self._listener.record.fail(Failure(*place, POLICY, error.message, error.hint))
            return False
        return True

    def address(self, url: str) -> tuple[str, int]:
        """Return the address, "" if not known, and the port that a URL was reached at."""
        place = _place(url)
        return (self._listener.record.address(*place), place[1]) if place else ("", 0)

    def _failure(self, url: str, error: str) -> Failure | None:
        if not any(telltale in error for telltale in TELLTALES):
            return None
        place = _place(url)
        return self._listener.failure(*place) if place else None


def _place(url: str) -> tuple[str, int] | None:
    """Return host and port of a request's URL."""
    parts = urlsplit(url)
    try:
        if parts.scheme in SOCKETS:
            url = urlunsplit(parts._replace(scheme=SOCKETS[parts.scheme]))
        parsed = parse_url(url)
    except (InvalidUrlError, ValueError):
        return None
    return parsed.host, parsed.port
