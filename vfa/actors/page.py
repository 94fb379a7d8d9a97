"""A session tab: one tab that the browser tools work on, as others see it.

State-changing operations go through a bounded mailbox one at a time: the queue is the lock.
Reads go beside it, but wait for a navigation in flight. The tab has a page only once it needs
one; a page can be lost, which is said once, by ``take_reset``. What else happened to the tab
beside what was asked for is told by ``take_news``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import trio

from vfa.actors.news import Inbox
from vfa.errors import (
    ActorGoneError,
    TabGoneError,
)
from vfa.mailbox import Mailbox, Request
from vfa.page.dialogs import Decision, Opening, handling, none_open
from vfa.page.navigation import Navigated, navigate
from vfa.page.screenshot import Capture, Shot, capture
from vfa.page.text import Location, PageText, get_text, locate, read_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.actors.encoder import Encoder
    from vfa.actors.news import News
    from vfa.page.downloads import DownloadBook
    from vfa.page.page import Page
    from vfa.page.records import ConsoleMessage

logger = logging.getLogger(__name__)

R = TypeVar("R")

ANSWER_BOUND = 2.0  # seconds a healthy page may be busy before it is called stuck
HEAL_BOUND = 8.0  # seconds to bring a stuck tab back
RELOAD_BOUND = 5.0  # seconds for a crashed tab to be there again
NAVIGATION_BOUND = 5.0  # seconds a read waits for a navigation that the page began itself
CRASH_LOOP = 10.0  # seconds; a page that crashes again so soon is not loaded a third time
BEFORE_LEAVING = "beforeunload"  # the one kind of dialog that also holds up a navigation
FAREWELL = 0.25  # seconds by which a browser that stops is gone after it let go of its tabs
ORDERS_BOUND = 1.0  # seconds for standing orders to be carried out on a tab that waits to run


class Do(Request[Any], frozen=True):
    """Run ``operation`` on the tab."""

    operation: Callable[[Page], Awaitable[Any]]
    waits: bool = True  # for a navigation in flight, and needs a page that answers; reads only
    leaves: bool = False  # it navigates away from the document that is there


class ConsolePage(msgspec.Struct, frozen=True):
    """What the console ring holds."""

    messages: tuple[ConsoleMessage, ...]
    dropped: int  # messages that the ring had no room for


class SessionTab:
    """How others reach one tab, from the moment it gets its number until it is gone.

    Every method raises ``VfaError`` only; ``TabGoneError`` from whatever needs the tab, once
    it is gone. Owns the mailboxes, so that they outlive a crash of the actor.

    Attributes:
        number: Its name for clients; never given to another tab.
        opener: The number of the tab whose page opened it; 0: none did.
        window: Tabs of the same number share a window, and only one of them is in front.
        page: What it shows; None: no page was needed yet, or the last one was lost. Written
            by the tab's actor; what events have told it may be read without asking anybody.
        standing: Orders for each new page, by name.
        origins: Where documents came from, in order; all tabs of a session share it.
    """

    def __init__(
        self,
        number: int,
        encoder: Encoder,
        downloads: DownloadBook,
        *,
        queue_limit: int,
        opener: SessionTab | None = None,
    ) -> None:
        self.number = number
        self.opener = opener.number if opener else 0
        self.window: int = opener.window if opener else number
        self.page: Page | None = None
        self.news = Inbox(downloads)
        self.standing: dict[str, Callable[[Page], Awaitable[Any]]] = {}
        self.origins: dict[str, None] = {}
        self.acts = Mailbox[Do](f"tab {number}", limit=queue_limit)
        self.reads = Mailbox[Do](f"tab {number} reader")
        self.gone = ""  # why there is no such tab any more
        self._encoder = encoder
        self._reset = ""
        self._going = 0  # navigations asked for and not answered yet
        self._arrived = trio.Event()
        if opener:
            self.standing |= opener.standing

    async def act(self, operation: Callable[[Page], Awaitable[R]]) -> R:
        """Run a state-changing operation, in turn.

        Raises:
            QueueFullError: ``QUEUE_LIMIT`` operations run or wait already.
            DialogError: An open dialog holds up the page; nothing was done.
            DialogOpenedError: One opened in the middle of the operation.
        """
        result: R = await self._ask(self.acts, Do(operation))
        return result

    async def read(self, operation: Callable[[Page], Awaitable[R]], *, waits: bool = True) -> R:
        """Run a read, once no navigation is in flight.

        Args:
            operation: What to read.
            waits: False for what is to be answered whatever the page is doing: it is on its
                own if the page is stuck, or held up by a dialog.

        Raises:
            DialogError: The page is needed for it, and a dialog holds it up.
        """
        while waits and self._going:
            await self._arrived.wait()
        result: R = await self._ask(self.reads, Do(operation, waits))
        return result

    async def leave(self, operation: Callable[[Page], Awaitable[R]]) -> R:
        """Run an operation that leads away from the document that is there, in turn."""
        self._going += 1
        try:
            result: R = await self._ask(self.acts, Do(operation, leaves=True))
            return result
        finally:
            self._going -= 1
            self._arrived.set()
            self._arrived = trio.Event()

    async def _ask(self, mailbox: Mailbox[Do], request: Do) -> Any:
        if self.gone:
            raise self.gone_error()
        try:
            return await mailbox.ask(request)
        except ActorGoneError:
            if self.gone:
                raise self.gone_error() from None
            raise

    async def navigate(self, url: str, *, milestone: str = "load") -> Navigated:
        """Go to ``url``, which the policy has allowed, and wait until it is loaded."""
        return await self.leave(lambda page: navigate(page, url, milestone=milestone))

    async def get_url(self) -> Location:
        """Return where the tab is, whatever the page is doing."""
        return await self.read(locate, waits=False)

    async def get_text(self, selector: str = "") -> str:
        """Return the visible text of the page, or of the first match of ``selector``."""
        return await self.read(lambda page: get_text(page, selector))

    async def read_text(self, selector: str = "", ref: str = "") -> PageText:
        """Return the visible text, and how many elements the selector matches."""
        return await self.read(lambda page: read_text(page, selector, ref))

    async def screenshot(self, shot: Shot) -> Capture:
        """Take a picture. One that may scroll takes its turn in the queue."""
        run = self.act if shot.moves else self.read
        return await run(lambda page: capture(page, self._encoder, shot))

    async def console(self, level: str, *, clear: bool) -> ConsolePage:
        """Return the console messages of ``level``; with ``clear``, empty the whole ring."""

        async def read_console(page: Page) -> ConsolePage:
            console = ConsolePage(page.console.read(level), page.console.dropped)
            if clear:
                page.console.clear()
            return console

        return await self.read(read_console)

    async def answer_dialog(self, decision: Decision) -> Opening:
        """Answer the open dialog; return it.

        Raises:
            DialogError: None is open.
        """

        async def answer(page: Page) -> Opening:
            opening, final = page.dialogs.answer(decision)
            await page.session.call("Page.handleJavaScriptDialog", handling(final))
            await page.settle()
            return opening

        if self.page is None:
            raise none_open()
        return await self.read(answer, waits=False)

    async def decide_next_dialog(self, decision: Decision | None) -> None:
        """Have the next dialog of the page answered so; None takes that back."""

        async def decide(page: Page) -> None:
            page.dialogs.next = decision

        await self.read(decide, waits=False)

    def keep(self, name: str, order: Callable[[Page], Awaitable[Any]] | None) -> None:
        """Have ``order`` carried out on each new page of this tab; None ends the order.

        For what a client set once and expects to last: the viewport, an emulation, a shim.
        A crash, an idle shutdown or a stuck renderer gives the tab a new page without them.
        A tab that a page opens begins with the orders of the tab it was opened from.
        """
        if order is None:
            self.standing.pop(name, None)
        else:
            self.standing[name] = order

    def lose(self, reason: str) -> None:
        """Note that the page was lost, for the next answer."""
        self._reset = reason

    def take_reset(self) -> str | None:
        """Return why the page was lost since the last time this was asked, and forget it."""
        reason, self._reset = self._reset, ""
        return reason or None

    def take_news(self) -> News:
        """Return what happened beside what was asked for, and forget it."""
        return self.news.take(self.page)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to lose: no page, or one that was never used."""
        return self.page is None or self.page.documents.url == "about:blank"

    def shows(self, frame_id: str) -> bool:
        """Say whether a frame is one of the page's."""
        page = self.page
        return page is not None and (
            page.target_id == frame_id or page.frames.by_id(frame_id) is not None
        )

    def end(self, reason: str) -> None:
        """Make the tab a thing of the past: what waits for it fails, what comes is refused."""
        self.gone = reason
        self.drop_page()
        self.acts.close()
        self.reads.close()

    def drop_page(self) -> None:
        """Let go of a page that was lost."""
        if self.page is not None:
            self.news.add_dialogs(self.page.take_dialogs())
            self.page.close()
            self.page = None

    def gone_error(self) -> TabGoneError:
        """Return the failure of a call that is meant for this tab when it is gone."""
        return TabGoneError(
            f"tab {self.number} is gone: {self.gone}", hint="browser_tabs lists the open ones."
        )
