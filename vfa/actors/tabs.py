"""The tabs of a session: their numbers, and which one is selected.

Owns the table of tabs, and with it their mailboxes. A number is given once in an engine's
life and never means another tab: one that is gone says so, and why. There is always a
selected tab, but it has no page before it needs one. The tabs' lives are the desk's business.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from vfa.actors.page import SessionTab
from vfa.errors import TabGoneError
from vfa.mailbox import Mailbox, Request
from vfa.page.downloads import Download, DownloadBook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from vfa.actors.encoder import Encoder
    from vfa.config import Config
    from vfa.page.dialogs import Opening

logger = logging.getLogger(__name__)

MAX_TABS = 50  # a page can open them in a loop
MAX_GONE = 1000  # tabs of which it is remembered why they are gone
FORGOTTEN = "it was closed."


class TabInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a tab without asking its page."""

    tab: int
    url: str = "about:blank"
    title: str = ""
    selected: bool = False
    opener: int = 0
    loading: bool = False
    dialog: Opening | None = None


class Open(Request[SessionTab], frozen=True):
    """Make a tab; it gets a page when it needs one."""


class Close(Request[None], frozen=True):
    """Close a tab, whatever its page is doing."""

    number: int


class List(Request[tuple[TabInfo, ...]], frozen=True):
    """Say which tabs there are."""


class Cancel(Request[None], frozen=True):
    """Stop a download."""

    download: Download


Ask = Open | Close | List | Cancel


class Tabs:
    """How others reach the tabs. Owns the table, and with it the mailboxes of all tabs."""

    def __init__(self, mailbox: Mailbox[Ask], encoder: Encoder, config: Config) -> None:
        self._mailbox = mailbox
        self._encoder = encoder
        self._config = config
        self._open: dict[int, SessionTab] = {}
        self._gone: dict[int, str] = {}
        self._last = 0
        self._origins: dict[str, None] = {}
        self.downloads = DownloadBook()
        self.selected = self.add()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for tab in self:
            tab.end("the engine has stopped.")

    def __iter__(self) -> Iterator[SessionTab]:
        return iter(tuple(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def get(self, number: int = 0) -> SessionTab:
        """Return the tab of that number; 0 is the selected one.

        Raises:
            TabGoneError: There is none, or none any more.
        """
        tab = self._open.get(number) if number else self.selected
        if tab is None:
            why = f"is gone: {self._gone.get(number, FORGOTTEN)}"
            if number > self._last:
                why = "does not exist."
            raise TabGoneError(f"tab {number} {why}", hint=f"Open tabs: {self._names()}.")
        return tab

    def select(self, number: int) -> SessionTab:
        """Make a tab the one that calls without a number mean."""
        self.selected = self.get(number)
        return self.selected

    async def new(self) -> SessionTab:
        """Return a new tab, which is not selected.

        Raises:
            InvalidArgsError: There are ``MAX_TABS`` already.
        """
        return await self._mailbox.ask(Open())

    async def close(self, number: int) -> None:
        """Close a tab; never waits for its page.

        Raises:
            TabGoneError: There is none of that number.
        """
        await self._mailbox.ask(Close(self.get(number).number))

    async def list(self) -> tuple[TabInfo, ...]:
        """Return what is known of each tab, in the order of their numbers; asks no page."""
        return await self._mailbox.ask(List())

    async def cancel(self, download: Download) -> None:
        """Stop a download that is in progress."""
        await self._mailbox.ask(Cancel(download))

    def take_reset(self) -> str | None:
        """Return which pages were lost since the last time this was asked, and why."""
        reasons = []
        for tab in self:
            reason = tab.take_reset()
            if reason is not None:
                alone = tab is self.selected
                reasons.append(reason if alone else f"Tab {tab.number}: {reason}")
        return " ".join(reasons) or None

    # --- the table, for the actor -----------------------------------------------------------

    def add(self, opener: SessionTab | None = None) -> SessionTab:
        """Enter a tab under the next number."""
        self._last += 1
        tab = SessionTab(
            self._last,
            self._encoder,
            self.downloads,
            queue_limit=self._config.queue_limit,
            opener=opener,
        )
        tab.origins = self._origins  # one browser context, one memory of where it has been
        self._open[tab.number] = tab
        return tab

    def remove(self, tab: SessionTab, reason: str) -> SessionTab | None:
        """Take a tab out for good; return the one that was made because it was the last."""
        self._open.pop(tab.number, None)
        self._gone[tab.number] = reason
        while len(self._gone) > MAX_GONE:
            del self._gone[next(iter(self._gone))]
        tab.end(reason)
        made = None if self._open else self.add()
        if tab is self.selected:
            self.selected = made or self._heir(tab)
        return made

    def _heir(self, tab: SessionTab) -> SessionTab:
        """Return who is selected after a tab: its opener, or the nearest one before it."""
        if tab.opener in self._open:
            return self._open[tab.opener]
        before = [number for number in self._open if number < tab.number]
        return self._open[max(before, default=min(self._open))]

    def _names(self) -> str:
        return ", ".join(
            f"{number} (selected)" if tab is self.selected else str(number)
            for number, tab in sorted(self._open.items())
        )
