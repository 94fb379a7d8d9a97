"""The desk: runs the actor of every session tab, and decides what becomes of tabs.

When a browser is over, its pages are over: the selected tab keeps its number and has a blank
page when it is next used, the other tabs are gone. The next answer says both, once. A tab
that its page closes is gone; if it was the selected one, another one is selected, and that is
said as well.

A bug in an operation ends the desk and all tabs' actors; it is started again by its
supervisor, and the pages are treated as lost with their browser.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, assert_never

import msgspec
import trio

from vfa.actors.downloads import Receiver
from vfa.actors.news import Popup
from vfa.actors.page_keeper import REASONS
from vfa.actors.tab_actor import TabActor
from vfa.actors.tabs import MAX_TABS, Cancel, Close, List, Open, TabInfo
from vfa.errors import CdpError, ConnectionLostError, InvalidArgsError

if TYPE_CHECKING:
    from vfa.actors.browser import Browser
    from vfa.actors.link import Link, TargetInfo
    from vfa.actors.page import SessionTab
    from vfa.actors.tabs import Ask, Tabs
    from vfa.cdp.connection import Connection
    from vfa.cdp.session import Session
    from vfa.config import Config
    from vfa.mailbox import Mailbox
    from vfa.page.page import Witness

logger = logging.getLogger(__name__)

TITLES_BOUND = 0.5  # seconds for the browser process to tell the titles of its tabs
CLOSED = "it was closed."
CLOSED_BY_PAGE = "its page closed it."


class _TargetInfos(msgspec.Struct, frozen=True, rename="camel"):
    target_infos: tuple[_Titled, ...] = ()


class _Titled(msgspec.Struct, frozen=True, rename="camel"):
    target_id: str
    title: str = ""
    url: str = ""


class _Desk:
    """The actor's state: a task for each tab, and the browsers that they live in.

    It is the tabs' ``Surroundings``. What pages and browsers do is told to it by plain calls;
    all of them leave the table in order before anybody else can look at it.
    """

    def __init__(
        self,
        tabs: Tabs,
        browser: Browser,
        config: Config,
        witness: Witness,
        background: trio.Nursery,
    ) -> None:
        self._tabs = tabs
        self._browser = browser
        self._config = config
        self._witness = witness
        self._background = background
        self._scopes: dict[int, trio.CancelScope] = {}
        self._links: set[Link] = set()  # browsers that are watched
        self._fronts: dict[int, int] = {}  # window -> the tab in front of it
        self._receiver = Receiver(tabs.downloads, config, self._concerned, background)

    async def handle(self, request: Ask) -> Any:
        match request:
            case Open():
                return self._open()
            case Close(number):
                return await self._close(self._tabs.get(number))
            case List():
                return await self._list()
            case Cancel(download):
                for link in self._links:
                    self._receiver.cancel(link, download)
                return None
            case _:
                assert_never(request)

    def close(self) -> None:
        """Hear of nothing any more."""
        self._receiver.close()

    def start_over(self) -> None:
        """Take up the tabs of a former incarnation: their pages went with it."""
        for tab in self._tabs:
            if tab.page is not None:
                page = tab.page
                page.connection.post("Target.closeTarget", {"targetId": page.target_id})
        self._lose([tab for tab in self._tabs if tab.page is not None], REASONS["stopped"])
        for tab in self._tabs:
            self._start(self._actor(tab))

    # --- what clients ask -------------------------------------------------------------------

    def _open(self) -> SessionTab:
        if len(self._tabs) >= MAX_TABS:
            raise InvalidArgsError(
                f"{MAX_TABS} tabs are open already", hint="Close some: browser_tabs, close."
            )
        tab = self._tabs.add()
        self._start(self._actor(tab))
        return tab

    async def _close(self, tab: SessionTab) -> None:
        page = tab.page
        self._end(tab, CLOSED)
        if page is not None:
            link = self._link_of(page.connection)
            if link is not None:
                await link.close_tab(page.target_id)

    async def _list(self) -> tuple[TabInfo, ...]:
        titles: dict[str, str] = {}
        for link in tuple(self._links):
            titles |= await _titles(link)
        return tuple(self._describe(tab, titles) for tab in self._tabs)

    def _describe(self, tab: SessionTab, titles: dict[str, str]) -> TabInfo:
        selected = tab is self._tabs.selected
        if tab.page is None:
            return TabInfo(tab=tab.number, selected=selected, opener=tab.opener)
        documents = tab.page.documents
        return TabInfo(
            tab=tab.number,
            url=documents.url,
            title=titles.get(tab.page.target_id, ""),
            selected=selected,
            opener=tab.opener,
            loading=bool(documents.starting)
            or (documents.commits > 0 and documents.ready_state != "complete"),
            dialog=tab.page.dialogs.held,
        )

    # --- the tabs' surroundings -------------------------------------------------------------

    def settles_on(self, tab: SessionTab, link: Link) -> None:
        self._fronts[tab.window] = tab.number
        if link not in self._links:
            self._links.add(link)
            self._receiver.listen_to(link)
            self._background.start_soon(self._watch, link)

    def comes_to_front(self, tab: SessionTab) -> bool:
        before = self._fronts.get(tab.window, tab.number)
        self._fronts[tab.window] = tab.number
        return before != tab.number

    def browser_over(self, link: Link, how: str) -> None:
        lost = [
            tab
            for tab in self._tabs
            if tab.page is not None and tab.page.connection is link.connection
        ]
        if how == "idle" and lost == [self._tabs.selected] and lost[0].is_blank:
            lost[0].drop_page()  # which is no loss
        else:
            self._lose(lost, REASONS[how])

    def page_lost(self, tab: SessionTab, reason: str) -> None:
        self._lose([tab], reason)

    def page_closed(self, tab: SessionTab) -> None:
        was_selected = tab is self._tabs.selected
        self._end(tab, CLOSED_BY_PAGE)
        if was_selected:
            now = self._tabs.selected
            now.lose(f"Tab {tab.number} was closed by its page: tab {now.number} is selected.")

    def popped_up(self, opener: SessionTab, info: TargetInfo, session: Session) -> None:
        link = self._link_of(session.connection)
        if link is None:
            return  # its browser is over
        if len(self._tabs) >= MAX_TABS:
            opener.news.add_refused()
            session.connection.post("Target.closeTarget", {"targetId": info.target_id})
            session.post("Runtime.runIfWaitingForDebugger")
            return
        tab = self._tabs.add(opener)
        actor = self._actor(tab)
        page = actor.keeper.take_over(info, session, link)
        opener.news.add_popup(Popup(tab.number, info.url, page))
        logger.info("tab %d opens tab %d", opener.number, tab.number)
        self._start(actor)

    # --- lives and deaths -------------------------------------------------------------------

    def _actor(self, tab: SessionTab) -> TabActor:
        return TabActor(tab, self, self._browser, self._config, self._witness)

    def _start(self, actor: TabActor) -> None:
        scope = self._scopes[actor.handle.number] = trio.CancelScope()

        async def live() -> None:
            with scope:
                await actor.run()

        self._background.start_soon(live, name=f"tab {actor.handle.number}")

    def _end(self, tab: SessionTab, reason: str) -> None:
        made = self._tabs.remove(tab, reason)
        scope = self._scopes.pop(tab.number, None)
        if scope is not None:
            scope.cancel(reason=f"the tab is gone: {reason}")
        if made is not None:
            self._start(self._actor(made))

    def _lose(self, lost: list[SessionTab], reason: str) -> None:
        """Take the pages from tabs: the selected one lives on, the others are gone."""
        selected = self._tabs.selected
        others = [tab for tab in lost if tab is not selected]
        for tab in others:
            self._end(tab, reason)
        if selected in lost:
            selected.drop_page()
        if others:
            names = ", ".join(str(tab.number) for tab in others)
            reason += f" Gone with it: {'tab' if len(others) == 1 else 'tabs'} {names}."
        if lost:
            selected.lose(reason)

    async def _watch(self, link: Link) -> None:
        """Take the pages from tabs the moment their browser is over.

        A connection that only dropped may be made anew: then each tab finds its page again
        when it is next used, or does not.
        """
        await link.over.wait()
        self._links.discard(link)
        self._tabs.downloads.fail_all("the browser was lost")
        if link.end != "dropped":
            self.browser_over(link, link.end)

    def _link_of(self, connection: Connection) -> Link | None:
        return next((link for link in self._links if link.connection is connection), None)

    def _concerned(self, frame_id: str) -> tuple[SessionTab, ...]:
        """Return the tab that has a frame, and the one that opened it for nothing else."""
        tab = next((tab for tab in self._tabs if tab.shows(frame_id)), None)
        if tab is None:
            return ()
        blank = tab.page is not None and not tab.page.documents.commits
        opener = next((each for each in self._tabs if each.number == tab.opener), None)
        return (tab, opener) if blank and opener is not None else (tab,)


async def _titles(link: Link) -> dict[str, str]:
    """Ask the browser process for titles; it answers for pages that do not."""
    with trio.move_on_after(TITLES_BOUND):
        try:
            answer = await link.connection.call("Target.getTargets", {}, _TargetInfos)
        except (CdpError, ConnectionLostError):
            return {}
        # For a document without a title it gives the address instead.
        return {
            info.target_id: "" if info.url.endswith(info.title) else info.title
            for info in answer.target_infos
        }
    return {}


async def run(
    mailbox: Mailbox[Ask],
    tabs: Tabs,
    browser: Browser,
    config: Config,
    witness: Witness,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    """Serve ``mailbox``, and every tab's own, until cancelled."""
    async with trio.open_nursery() as work:
        desk = _Desk(tabs, browser, config, witness, work)
        try:
            desk.start_over()
            task_status.started()
            await mailbox.serve_concurrently(desk.handle)
        finally:
            desk.close()
