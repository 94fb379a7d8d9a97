"""The actor of one session tab: its two queues, and what a call may expect of them.

State-changing operations run one at a time, reads beside them. Either kind borrows a browser
for its length, and is tried once more on a new page if the old one turned out to be dead
before anything was done. Where the page comes from, and what becomes of it, is the business
of its keeper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from vfa.actors.page_keeper import PageKeeper
from vfa.errors import (
    CommandTimeoutError,
    ConnectionLostError,
    DialogOpenedError,
    PageCrashedError,
    SessionGoneError,
)
from vfa.page.dialogs import Decision, Opening, handling, in_the_way

if TYPE_CHECKING:
    from vfa.actors.browser import Browser
    from vfa.actors.page import Do, SessionTab
    from vfa.actors.page_keeper import Surroundings
    from vfa.config import Config
    from vfa.page.page import Page, Witness

NAVIGATION_BOUND = 5.0  # seconds a read waits for a navigation that the page began itself
BEFORE_LEAVING = "beforeunload"  # the one kind of dialog that also holds up a navigation


class TabActor:
    """One tab at work.

    Args:
        handle: Its address.
        around: Whom it tells of what concerns more than this tab.
        browser: Where pages are to be had.
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
        self.handle = handle
        self.keeper = PageKeeper(handle, around, browser, config, witness)
        self._browser = browser
        self._acted = False  # the operation of the queue may have changed something
        self._committed = False  # it has brought a new document

    async def run(self) -> None:
        """Serve both mailboxes until cancelled, or until the tab is gone."""
        async with trio.open_nursery() as work:
            self.keeper.begin(work)
            work.start_soon(
                self.handle.reads.serve_concurrently, self._read, name=self.handle.reads.name
            )
            try:
                await self.handle.acts.serve(self._act)
            finally:
                await self.keeper.close()  # noqa: ASYNC102  # shields and bounds itself
            work.cancel_scope.cancel(reason="the tab is gone")

    async def _act(self, request: Do) -> Any:
        return await self._perform(request)

    async def _read(self, request: Do) -> Any:
        if request.waits:
            await self._wait_for_navigation()
        return await self._perform(request, reading=True)

    async def _wait_for_navigation(self) -> None:
        """Let a navigation that the page began by itself get to its document, for a while."""
        page = self.handle.page
        if page is not None:
            with trio.move_on_after(NAVIGATION_BOUND):
                await page.documents.wait_until(
                    lambda: not page.documents.on_the_way or page.dialogs.held is not None
                )

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
                page = await self.keeper.page_on(link, patient=request.waits)
                commits = page.documents.commits
                if not reading:
                    page.acted = False
                with page.guard():
                    return await self._unless_held_up(request, page, reading=reading)
            except SessionGoneError:
                raise
            except ConnectionLostError:
                link.suspected.set()
                raise
            except (trio.Cancelled, CommandTimeoutError):
                self.keeper.look_after(page, link)
                raise
            except BaseExceptionGroup as group:  # of an operation with tasks of its own
                if group.subgroup(trio.Cancelled) is not None:
                    self.keeper.look_after(page, link)
                raise
            finally:
                if page is not None and not reading:
                    self._acted = page.acted
                    self._committed = page.documents.commits != commits

    async def _unless_held_up(self, request: Do, page: Page, *, reading: bool) -> Any:
        """Run an operation, unless or until a dialog holds up the page.

        Nothing is sent to a page that is held up: it would be done when nobody expects it any
        more. Leaving the page dismisses its dialog, but for the one that asks about leaving.
        """
        if not request.waits:
            return await request.operation(page)
        held = page.dialogs.held
        if held is not None and request.leaves and held.type != BEFORE_LEAVING:
            _, decision = page.dialogs.answer(Decision(accept=False))
            page.session.post("Page.handleJavaScriptDialog", handling(decision))
        elif held is not None and not reading:
            raise in_the_way(held)
        try:
            with page.dialogs.interrupting():
                return await request.operation(page)
        except DialogOpenedError as error:
            if reading or not page.acted:
                raise in_the_way(page.dialogs.held or Opening(error.kind)) from None
            raise
