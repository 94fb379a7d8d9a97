"""The session tab: the one tab that the browser tools work on, and its queue.

State-changing operations go through a bounded mailbox one at a time: the queue is the lock.
Reads go beside it, but wait for a navigation in flight. Either kind borrows a browser for
its length, opens the tab where there is none, and is tried once more on a new browser if the
old one turned out to be dead before anything was done.

A tab can be lost (crash, idle shutdown) or get stuck (a script that never ends). Its loss is
told once, by ``take_reset``. A stuck tab costs the call that met it its own time: afterwards
its script is ended, or the tab is replaced, before the next operation runs.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import trio

from vfa.errors import (
    CdpError,
    CommandTimeoutError,
    ConnectionLostError,
    PageCrashedError,
    SessionGoneError,
)
from vfa.mailbox import Mailbox, Request
from vfa.page.frames import Refs
from vfa.page.navigation import Navigated, navigate
from vfa.page.page import Page
from vfa.page.screenshot import Capture, Shot, capture
from vfa.page.text import Location, get_text, locate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.actors.browser import Browser
    from vfa.actors.encoder import Encoder
    from vfa.actors.link import Link
    from vfa.config import Config
    from vfa.page.page import Witness
    from vfa.page.records import ConsoleMessage, Dialog

logger = logging.getLogger(__name__)

R = TypeVar("R")

ANSWER_BOUND = 2.0  # seconds a healthy page may be busy before it is called stuck
HEAL_BOUND = 8.0  # seconds to bring a stuck tab back
RELOAD_BOUND = 5.0  # seconds for a crashed tab to be there again
NAVIGATION_BOUND = 5.0  # seconds a read waits for a navigation that the page began itself
CRASH_LOOP = 10.0  # seconds; a page that crashes again so soon is not loaded a third time

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
    "closed": "The tab was closed: a new one took its place.",
    "stuck": "The page's renderer was stuck and had to be replaced: the page was closed.",
}


class Do(Request[Any], frozen=True):
    """Run ``operation`` on the tab."""

    operation: Callable[[Page], Awaitable[Any]]
    waits: bool = True  # for a navigation in flight; reads only
    leaves: bool = False  # it navigates away from the document that is there


class ConsolePage(msgspec.Struct, frozen=True):
    """What the console ring holds."""

    messages: tuple[ConsoleMessage, ...]
    dropped: int  # messages that the ring had no room for


class SessionTab:
    """How others reach the tab. Every method raises ``VfaError`` only."""

    def __init__(self, acts: Mailbox[Do], reads: Mailbox[Do], encoder: Encoder) -> None:
        self._acts = acts
        self._reads = reads
        self._encoder = encoder
        self._reset = ""
        self._dialogs: list[Dialog] = []
        self.standing: dict[str, Callable[[Page], Awaitable[Any]]] = {}
        self.origins: dict[str, None] = {}  # where its documents came from, in order
        self._going = 0  # navigations asked for and not answered yet
        self._arrived = trio.Event()

    async def act(self, operation: Callable[[Page], Awaitable[R]]) -> R:
        """Run a state-changing operation, in turn.

        Raises:
            QueueFullError: ``QUEUE_LIMIT`` operations run or wait already.
        """
        result: R = await self._acts.ask(Do(operation))
        return result

    async def read(self, operation: Callable[[Page], Awaitable[R]], *, waits: bool = True) -> R:
        """Run a read, once no navigation is in flight."""
        while waits and self._going:
            await self._arrived.wait()
        result: R = await self._reads.ask(Do(operation, waits))
        return result

    async def navigate(self, url: str) -> Navigated:
        """Go to ``url``, which the policy has allowed, and wait for its load event."""
        self._going += 1
        try:
            going = Do(lambda page: navigate(page, url), leaves=True)
            result: Navigated = await self._acts.ask(going)
            return result
        finally:
            self._going -= 1
            self._arrived.set()
            self._arrived = trio.Event()

    async def get_url(self) -> Location:
        """Return where the tab is, whatever the page is doing."""
        return await self.read(locate, waits=False)

    async def get_text(self, selector: str = "") -> str:
        """Return the visible text of the page, or of the first match of ``selector``."""
        return await self.read(lambda page: get_text(page, selector))

    async def screenshot(self, shot: Shot) -> Capture:
        """Take a picture. A full-page one scrolls, and so takes its turn in the queue."""
        run = self.act if shot.full_page else self.read
        return await run(lambda page: capture(page, self._encoder, shot))

    async def console(self, level: str, *, clear: bool) -> ConsolePage:
        """Return the console messages of ``level``; with ``clear``, empty the whole ring."""

        async def read_console(page: Page) -> ConsolePage:
            console = ConsolePage(page.console.read(level), page.console.dropped)
            if clear:
                page.console.clear()
            return console

        return await self.read(read_console)

    def keep(self, name: str, order: Callable[[Page], Awaitable[Any]] | None) -> None:
        """Have ``order`` carried out on each new page of this tab; None ends the order.

        For what a client set once and expects to last: the viewport, an emulation, a shim.
        A crash, an idle shutdown or a stuck renderer gives the tab a new page without them.
        """
        if order is None:
            self.standing.pop(name, None)
        else:
            self.standing[name] = order

    def lose(self, how: str) -> None:
        """Note that the page was lost; ``how`` is a key of ``REASONS``."""
        self._reset = REASONS[how]

    def take_reset(self) -> str | None:
        """Return why the page was lost since the last time this was asked, and forget it."""
        reason, self._reset = self._reset, ""
        return reason or None

    def note_dialogs(self, dialogs: tuple[Dialog, ...]) -> None:
        """Keep dialogs for the next answer."""
        self._dialogs.extend(dialogs)

    def take_dialogs(self) -> tuple[Dialog, ...]:
        """Return the dialogs that were answered since the last time this was asked."""
        taken = tuple(self._dialogs)
        self._dialogs.clear()
        return taken


class _Tab:
    """The actor's state: the tab, the link it lives on, and the navigation in flight."""

    def __init__(
        self,
        handle: SessionTab,
        browser: Browser,
        config: Config,
        witness: Witness,
        background: trio.Nursery,
    ) -> None:
        self._background = background
        self._handle = handle
        self._browser = browser
        self._config = config
        self._witness = witness
        self._page: Page | None = None
        self._link: Link | None = None
        self._refs = Refs()  # it outlives the pages
        self._opening = trio.Lock()  # reads run side by side, and may all find no tab
        self._last_crash = -CRASH_LOOP
        self._acted = False  # the operation of the queue may have changed something
        self._committed = False  # it has brought a new document
        self._well = trio.Event()  # unset while a stuck tab is brought back
        self._well.set()

    async def act(self, request: Do) -> Any:
        return await self._perform(request)

    async def read(self, request: Do) -> Any:
        if request.waits:
            await self._wait_for_navigation()
        return await self._perform(request, reading=True)

    async def _wait_for_navigation(self) -> None:
        """Let a navigation that the page began by itself get to its document, for a while."""
        page = self._page
        if page is not None:
            with trio.move_on_after(NAVIGATION_BOUND):
                await page.documents.wait_until(lambda: not page.documents.starting)

    async def _perform(self, request: Do, *, reading: bool = False) -> Any:
        """Run an operation; once more if it met a browser or a page that had died before.

        What may have acted on a page, or on a server, is never repeated. A navigation may: of
        the new document nothing has run before its commit, and the old one is gone anyway.
        """
        if not reading:
            self._acted = self._committed = False
        try:
            return await self._try(request, reading=reading)
        except PageCrashedError:
            if not reading and (not request.leaves or self._committed):
                raise
        except ConnectionLostError:
            if self._acted and not reading:
                raise
        return await self._try(request, reading=reading)

    async def _try(self, request: Do, *, reading: bool) -> Any:
        async with self._browser.lease() as link:
            page = None
            commits = 0
            try:
                page = await self._page_on(link, patient=request.waits)
                commits = page.documents.commits
                if not reading:
                    page.acted = False
                with page.guard():
                    return await request.operation(page)
            except SessionGoneError:
                self._forget(page)
                raise
            except ConnectionLostError:
                link.suspected.set()
                raise
            except (trio.Cancelled, CommandTimeoutError):
                self._look_after(page, link)
                raise
            finally:
                if page is not None:
                    if not reading:
                        self._acted = page.acted
                        self._committed = page.documents.commits != commits
                    self._handle.note_dialogs(page.take_dialogs())

    # --- the tab ------------------------------------------------------------------------

    async def _page_on(self, link: Link, *, patient: bool = True) -> Page:
        """Return the tab, opened anew if the one we had went with its browser.

        Args:
            link: Where it must live.
            patient: Wait until a tab that is stuck, or has crashed, is well again.
        """
        if patient:
            await self._well.wait()
        async with self._opening:
            if self._page is None or self._link is not link:
                await self._move_to(link)
            assert self._page is not None
            page = self._page
        if patient and page.crashed:
            with trio.move_on_after(RELOAD_BOUND):
                await page.documents.wait_until(
                    lambda: not page.crashed and page.documents.ready_state == "complete"
                )
        return page

    def _forget(self, page: Page | None) -> None:
        """Let go of a tab that was closed; the next call opens one."""
        if page is not None and page is self._page:
            page.close()
            self._page = None
            self._handle.lose("closed")

    async def _move_to(self, link: Link) -> None:
        old, old_link = self._page, self._link
        self._page = self._link = None
        if old is not None and old_link is not None:
            old.close()
            how = self._browser.ends.get(old_link.generation, "stopped")
            if how == "dropped" and await self._adopt(old, link):
                return
            if how != "idle" or old.documents.url != "about:blank":
                self._handle.lose(how)
        target_id, session = await link.first_tab()
        await self._use(Page(session, target_id, **self._page_options()), link)

    async def _adopt(self, old: Page, link: Link) -> bool:
        """Find the old tab again in a browser that had only dropped the connection."""
        try:
            session = await link.session_of(old.target_id)
        except CdpError:
            return False
        page = Page(session, old.target_id, **self._page_options())
        await self._use(page, link)
        await page.adopt(old.documents.url, old.documents.loader_id)
        return True

    def _page_options(self) -> dict[str, Any]:
        return {
            "witness": self._witness,
            "console_capacity": self._config.max_console_messages,
            "refs": self._refs,
            "origins": self._handle.origins,
        }

    async def _use(self, page: Page, link: Link) -> None:
        page.on_crash = lambda: self._reload(page)
        try:
            await page.prepare(keep_bodies=True)  # for browser_network
            for name, order in self._handle.standing.items():
                try:
                    await order(page)
                except CdpError as error:
                    logger.warning("%s could not be set on a new page: %s", name, error)
        except BaseException:
            page.close()
            raise
        self._page, self._link = page, link

    def _reload(self, page: Page) -> None:
        """Bring a crashed tab back at once; a page that crashes each time becomes blank."""
        logger.warning("the renderer of the session tab crashed")
        self._handle.lose("renderer")
        again = trio.current_time() - self._last_crash < CRASH_LOOP
        self._last_crash = trio.current_time()
        if again:
            page.session.post("Page.navigate", {"url": "about:blank"})
        else:
            page.session.post("Page.reload")

    # --- a stuck tab --------------------------------------------------------------------

    def _look_after(self, page: Page | None, link: Link) -> None:
        """See to it that what stopped one call does not stop the next one.

        In a task of its own: the caller has left, and what it left behind is not its business.
        """
        if page is not None and page is self._page and self._well.is_set():
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
        if link.over.is_set() or page is not self._page or await _answers(page):
            return
        logger.warning("the page is stuck: its script is ended")
        page.session.post("Runtime.terminateExecution")
        if await _answers(page) or not await link.check():
            return
        logger.warning("the renderer is stuck: the tab is replaced")
        async with self._opening:
            if page is not self._page:
                return
            self._page = None
            page.close()
            target_id, session = await link.open_tab()
            await self._use(Page(session, target_id, **self._page_options()), link)
            self._handle.lose("stuck")
        await link.close_tab(page.target_id)

    async def close(self) -> None:
        """Close the tab, for the sake of browsers that are not ours to stop."""
        if self._page is not None and self._link is not None:
            self._page.close()
            if self._link.launched.process is None and not self._link.over.is_set():
                await self._link.close_tab(self._page.target_id)


async def _answers(page: Page) -> bool:
    """Say whether the renderer's main thread runs a trivial script in time."""
    with trio.move_on_after(ANSWER_BOUND):
        try:
            await page.session.call("Runtime.evaluate", {"expression": "1"})
        except CdpError:
            return True  # it refused, so it answers
        return True
    return False


async def run(
    acts: Mailbox[Do],
    reads: Mailbox[Do],
    handle: SessionTab,
    browser: Browser,
    config: Config,
    witness: Witness,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    """Serve both mailboxes until cancelled."""
    async with trio.open_nursery() as work:
        tab = _Tab(handle, browser, config, witness, work)
        try:
            work.start_soon(reads.serve_concurrently, tab.read, name="session tab reads")
            task_status.started()
            await acts.serve(tab.act)
        finally:
            await tab.close()  # noqa: ASYNC102  # shields and bounds itself
