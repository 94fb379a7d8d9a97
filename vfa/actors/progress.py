"""Progress notifications of one call: what an audit says of itself, and signs of life.

MCP wants each value to be greater than the one before (MCP 2025-11-25, progress); an audit
reports phases and may find more pages at any time. Only the newest report is kept: a client
that reads slowly gets fewer notifications, and nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from vfa.audit.request import Progress

SIGN_OF_LIFE = 5.0  # seconds; clients that extend their own time limit do so at each

Notify = Callable[[float, float | None, str], Awaitable[None]]


class ProgressReporter:
    """Passes on the progress of one call.

    Args:
        tool: The name of the tool, for the signs of life.
        notify: Sends progress, total and message to the client.
    """

    def __init__(self, tool: str, notify: Notify) -> None:
        self._tool = tool
        self._notify = notify
        self._latest: Progress | None = None
        self._news = trio.Event()
        self._value = 0.0

    def report(self, progress: Progress) -> None:
        """Take a report; never waits."""
        self._latest = progress
        self._news.set()

    async def run(self) -> None:
        """Notify until cancelled."""
        began = trio.current_time()
        while True:
            with trio.move_on_after(SIGN_OF_LIFE):
                await self._news.wait()
            self._news = trio.Event()
            latest, self._latest = self._latest, None
            if latest is None:
                seconds = round(trio.current_time() - began)
                await self._notify(self._next(self._value), None, f"{self._tool}: {seconds} s")
            else:
                value = self._next(latest.pages_done)
                # One more than the pages: there is work left when all of them are done.
                await self._notify(value, max(latest.pages_known, value) + 1, _words(latest))

    def _next(self, wanted: float) -> float:
        """Return ``wanted``, or a little more than the last value if that was as large."""
        if wanted <= self._value:
            # A tenth of the way to the next whole page: always more, never there.
            wanted = self._value + (int(self._value) + 1 - self._value) / 10
        self._value = wanted
        return wanted


def _words(progress: Progress) -> str:
    pages = f"{progress.pages_done} of {progress.pages_known} pages"
    return f"{progress.phase} ({pages})" + (f": {progress.url[:200]}" if progress.url else "")
