"""The keeper of a tab's page: opens it, hears of its end, and brings it back.

A page can be lost (crash, idle shutdown), close itself, crash or get stuck. What the loss
means for the tab's number is decided by those around it (``Surroundings``). A crashed page is
loaded anew; of a stuck one the script is ended, or the page is replaced, before the next
operation runs.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

import msgspec
import trio

from vfa.errors import CdpError, CommandTimeoutError, ConnectionLostError
from vfa.page.dialogs import Dialogs
from vfa.page.frames import Refs
from vfa.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.actors.browser import Browser
    from vfa.actors.link import Link, TargetInfo
    from vfa.actors.page import SessionTab
    from vfa.cdp.dialogue import Event
    from vfa.cdp.session import Session
    from vfa.config import Config
    from vfa.page.page import Witness

logger = logging.getLogger(__name__)

ANSWER_BOUND = 2.0  # seconds a healthy page may be busy before it is called stuck
HEAL_BOUND = 8.0  # seconds to bring a stuck tab back
RELOAD_BOUND = 5.0  # seconds for a crashed tab to be there again
CRASH_LOOP = 10.0  # seconds; a page that crashes again so soon is not loaded a third time
FAREWELL = 0.25  # seconds by which a browser that stops is gone after it let go of its tabs
ORDERS_BOUND = 1.0  # seconds for standing orders to be carried out on a tab that waits to run

REASONS = {
    "crash": "Chromium restarted after a crash: the page and in-memory state were reset.",
    "hung": "Chromium did not answer and was restarted: "
    "the page and in-memory state were reset.",
    "idle": "Chromium had been shut down after a time without calls: the page was closed.",
    "dropped": "The connection to the browser was lost: "
    "the page and in-memory state were reset.",
    "stopped": "The browser was restarted: the page and in-memory state were reset.",
    "renderer": "The page's renderer crashed and the page was loaded again: "
    "its in-memory state was reset.",
    "stuck": "The page's renderer was stuck and had to be replaced: the page was closed.",
}


class Surroundings(Protocol):
    """What a tab's actor tells those around it. Calls do not block."""

    def settles_on(self, tab: SessionTab, link: Link) -> None:
        """The tab is about to show a page there."""

    def comes_to_front(self, tab: SessionTab) -> bool:
        """The tab is used; say whether another one of its window was in front."""

    def browser_over(self, link: Link, how: str) -> None:
        """A browser is over, with all the pages in it."""

    def page_lost(self, tab: SessionTab, reason: str) -> None:
        """The tab's page alone was lost, and cannot be had again."""

    def page_closed(self, tab: SessionTab) -> None:
        """The tab was closed by its page, or by a person."""

    def popped_up(self, opener: SessionTab, info: TargetInfo, session: Session) -> None:
        """The tab's page opened another one, which waits to run."""


class PageKeeper:
    """The page of one tab, and the link it lives on.

    Args:
        handle: The tab.
        around: Whom it tells of what concerns more than this tab.
        browser: Knows how browsers ended.
        config: The settings.
        witness: Hears of what pages report.
    """

    def __init__(
        self,
        handle: SessionTab,
        around: Surroundings,
        browser: Browser,
        config: Config,
        witness: Witness,
    ) -> None:
        self._handle = handle
        self._around = around
        self._browser = browser
        self._config = config
        self._witness = witness
        self._link: Link | None = None
        self._refs = Refs(f"t{handle.number}" if handle.number > 1 else "")  # outlives pages
        self._opening = trio.Lock()  # reads run side by side, and may all find no page
        self._last_crash = -CRASH_LOOP
        self._well = trio.Event()  # unset while a stuck page is brought back
        self._well.set()
        self._certain = trio.Event()  # unset while it is not known why the page is gone
        self._certain.set()
        self._ended_early = False  # the page was gone before anybody could look into it
        self._background: trio.Nursery | None = None
        self._ties: list[Callable[[], None]] = []  # how to part from the page of now
        self._window_opened = ""  # the last address that the page opened a window for

    def begin(self, background: trio.Nursery) -> None:
        """Work in ``background`` from now on; first, get a page that was taken over to run."""
        self._background = background
        if (page := self._handle.page) is not None:
            background.start_soon(self._welcome, page)
            if self._ended_early and self._link is not None:
                self._page_ended(page, self._link)

    # --- having a page --------------------------------------------------------------------

    async def page_on(self, link: Link, *, patient: bool = True) -> Page:
        """Return the page, opened anew if the one we had went with its browser.

        Args:
            link: Where it must live.
            patient: Wait until a page that is stuck, or has crashed, is well again.
        """
        await self._certain.wait()
        if patient:
            await self._well.wait()
        async with self._opening:
            if self._handle.page is None or self._link is not link:
                await self._move_to(link)
            page = self._handle.page
            assert page is not None
        if self._around.comes_to_front(self._handle):
            page.session.post("Page.bringToFront")
        if patient and page.crashed:
            with trio.move_on_after(RELOAD_BOUND):
                await page.documents.wait_until(
                    lambda: not page.crashed and page.documents.ready_state == "complete"
                )
        return page

    async def _move_to(self, link: Link) -> None:
        old, old_link = self._handle.page, self._link
        if old is not None and old_link is not None:
            how = self._browser.ends.get(old_link.generation, "stopped")
            if how == "dropped":
                if await self._adopt(old, link):
                    return
                self._around.page_lost(self._handle, REASONS["dropped"])
            else:
                self._around.browser_over(old_link, how)
            # If that was the end of the tab, we are cancelled here.
            await trio.lowlevel.checkpoint()
        target_id, session = await link.first_tab()
        await self._show(self._new_page(session, target_id, link), link)

    async def _adopt(self, old: Page, link: Link) -> bool:
        """Find the old page again in a browser that had only dropped the connection."""
        try:
            session = await link.session_of(old.target_id)
        except CdpError:
            return False
        page = self._new_page(session, old.target_id, link)
        await self._show(page, link)
        await page.adopt(old.documents.url, old.documents.loader_id)
        return True

    def _new_page(self, session: Session, target_id: str, link: Link) -> Page:
        return Page(
            session,
            target_id,
            witness=self._witness,
            console_capacity=self._config.max_console_messages,
            refs=self._refs,
            origins=self._handle.origins,
            dialogs=Dialogs(self._config.dialogs),
            way_out=link.way_out(),
        )

    async def _show(self, page: Page, link: Link) -> None:
        """Prepare a page of our own, and make it the tab's."""
        try:
            await self._prepare(page)
            await self._carry_out_orders(page)
        except BaseException:
            page.close()
            raise
        self._tie(page, link)

    def take_over(self, info: TargetInfo, session: Session, link: Link) -> Page:
        """Make a tab that is there already, and waits to run, this one's; return its page."""
        page = self._new_page(session, info.target_id, link)
        page.documents.expected = info.url not in {"", "about:blank"}
        self._tie(page, link)
        return page

    async def _welcome(self, page: Page) -> None:
        """Prepare a page that another one opened, before its first instruction."""
        try:
            await self._prepare(page, first=self._orders_in_time)
        except (ConnectionLostError, CdpError, CommandTimeoutError):
            logger.debug("tab %d was gone before it ran", self._handle.number)

    async def _prepare(
        self, page: Page, first: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        # A tab in the background runs no animation frames and is called hidden, in Chromium
        # with a user interface. With this it behaves as the one in front.
        page.session.post("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await page.prepare(keep_bodies=True, first=first)  # bodies for browser_network

    async def _orders_in_time(self) -> None:
        page = self._handle.page
        if page is not None:
            with trio.move_on_after(ORDERS_BOUND):
                await self._carry_out_orders(page)

    async def _carry_out_orders(self, page: Page) -> None:
        for name, order in self._handle.standing.items():
            try:
                await order(page)
            except CdpError as error:
                logger.warning("%s could not be set on a new page: %s", name, error)

    def _tie(self, page: Page, link: Link) -> None:
        """Make ``page`` the tab's, and hear of what becomes of it."""
        self._part()
        self._handle.drop_page()
        if link.launched.process is None:
            self._handle.window = 0  # somebody else's: all our tabs are in it
        page.on_crash = lambda: self._reload(page)
        self._ties = [
            page.session.listen(self._hear),
            page.connection.when_lost(page.session.id, lambda: self._page_ended(page, link)),
            link.adopt_popups_of(page.target_id, self._pop_up),
        ]
        self._handle.page, self._link = page, link
        self._around.settles_on(self._handle, link)

    def _part(self) -> None:
        while self._ties:
            self._ties.pop()()

    def _hear(self, event: Event) -> None:
        if event.method == "Page.windowOpen":
            self._window_opened = msgspec.json.decode(event.params, type=_WindowOpen).url

    def _pop_up(self, info: TargetInfo, session: Session) -> None:
        if not info.url:
            info = msgspec.structs.replace(info, url=self._window_opened)
        self._around.popped_up(self._handle, info, session)

    def _page_ended(self, page: Page, link: Link) -> None:
        """The session is over: the tab was closed, or its browser is about to be over."""
        if page is not self._handle.page or link.over.is_set():
            return
        if not page.connection.lost.is_set():
            if self._background is None:
                self._ended_early = True
                return
            self._certain = trio.Event()
            self._background.start_soon(self._find_out, page, link, self._certain)

    async def _find_out(self, page: Page, link: Link, certain: trio.Event) -> None:
        """Tell a tab that was closed from the first sign of a browser that stops."""
        with trio.move_on_after(FAREWELL):
            await link.over.wait()
        if page is self._handle.page and not link.over.is_set():
            self._around.page_closed(self._handle)
        certain.set()

    def _reload(self, page: Page) -> None:
        """Bring a crashed tab back at once; a page that crashes each time becomes blank."""
        logger.warning("the renderer of tab %d crashed", self._handle.number)
        self._handle.lose(REASONS["renderer"])
        again = trio.current_time() - self._last_crash < CRASH_LOOP
        self._last_crash = trio.current_time()
        if again:
            page.session.post("Page.navigate", {"url": "about:blank"})
        else:
            page.session.post("Page.reload")

    # --- a stuck page ---------------------------------------------------------------------

    def look_after(self, page: Page | None, link: Link) -> None:
        """See to it that what stopped one call does not stop the next one.

        In a task of its own: the caller has left, and what it left behind is not its business.
        """
        if page is None or page is not self._handle.page or not self._well.is_set():
            return
        assert self._background is not None
        self._well = trio.Event()
        self._background.start_soon(self._make_well, page, link, self._well)

    async def _make_well(self, page: Page, link: Link, well: trio.Event) -> None:
        try:
            with trio.move_on_after(HEAL_BOUND):
                await self._heal(page, link)
        except (ConnectionLostError, CdpError, CommandTimeoutError):
            link.suspected.set()
        finally:
            well.set()

    async def _heal(self, page: Page, link: Link) -> None:
        if link.over.is_set() or page is not self._handle.page or await _answers(page):
            return
        logger.warning("the page is stuck: its script is ended")
        page.session.post("Runtime.terminateExecution")
        if await _answers(page) or not await link.check():
            return
        logger.warning("the renderer is stuck: the page is replaced")
        async with self._opening:
            if page is not self._handle.page:
                return
            self._part()
            target_id, session = await link.open_tab(**link.own_window)
            await self._show(self._new_page(session, target_id, link), link)
            self._handle.lose(REASONS["stuck"])
        await link.close_tab(page.target_id)

    async def close(self) -> None:
        """Close the tab, for the sake of browsers that are not ours to stop."""
        self._part()
        page, link = self._handle.page, self._link
        if page is None or link is None:
            return
        page.close()
        if link.launched.process is None and not link.over.is_set():
            await link.close_tab(page.target_id)


class _WindowOpen(msgspec.Struct, frozen=True):
    url: str = ""


async def _answers(page: Page) -> bool:
    """Say whether the renderer's main thread runs a trivial script in time.

    One that a dialog holds up is not stuck: it will, once somebody answers the dialog.
    """
    with trio.move_on_after(ANSWER_BOUND) as scope, page.dialogs.ending(scope):
        try:
            await page.session.call("Runtime.evaluate", {"expression": "1"})
        except CdpError:
            return True  # it refused, so it answers
        return True
    return page.dialogs.held is not None
