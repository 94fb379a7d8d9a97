"""What the proxy refused or could not reach: a bounded record, by host and port.

Chromium only learns that a connection ended. Whoever runs a page asks here for the reason.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

import msgspec

T = TypeVar("T")

MAX_PLACES = 1_000  # remembered; a page can name any number of hosts
POLICY = "blocked-by-policy"  # what a refused request's failure is called everywhere


class Failure(msgspec.Struct, frozen=True):
    """Why nothing was connected to."""

    host: str
    port: int
    error: str  # "blocked-by-policy", or the net error that a direct connection would have met
    message: str  # for people
    hint: str = ""
    address: str = ""  # the one that was refused, or tried last

    @property
    def by_policy(self) -> bool:
        """Whether the policy refused it, rather than the network."""
        return self.error == POLICY


class Record:
    """The last failure of each place, and the address of each that was reached."""

    def __init__(self) -> None:
        self._failures: OrderedDict[tuple[str, int], Failure] = OrderedDict()
        self._addresses: OrderedDict[tuple[str, int], str] = OrderedDict()
        self.refused = 0  # by the policy, all told
        self.strangers = 0  # connections that did not know the secret

    def fail(self, failure: Failure) -> None:
        """Note a failure."""
        self.refused += failure.by_policy
        _put(self._failures, (failure.host, failure.port), failure)

    def reach(self, host: str, port: int, address: str) -> None:
        """Note that a place was reached; an earlier failure of it is history."""
        self._failures.pop((host, port), None)
        _put(self._addresses, (host, port), address)

    def failure(self, host: str, port: int) -> Failure | None:
        """Return why a place was not reached the last time; None if it was."""
        return self._failures.get((host, port))

    def address(self, host: str, port: int) -> str:
        """Return the address that a place was last reached at, or ""."""
        return self._addresses.get((host, port), "")


def _put(store: OrderedDict[tuple[str, int], T], key: tuple[str, int], value: T) -> None:
    store[key] = value
    store.move_to_end(key)
    while len(store) > MAX_PLACES:
        store.popitem(last=False)
