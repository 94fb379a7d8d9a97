"""A link: one live connection to one browser, and the tabs reached through it.

The browser actor makes links and ends them; everyone else borrows one for the length of a
call. A link that is over never comes back: what lived on it is gone, and says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import CdpError, ConnectionLostError
from vfa.page.page import Page
from vfa.page.proxy_password import give_password
from vfa.page.way_out import WayOut

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vfa.actors.launch import Launched
    from vfa.cdp.connection import Connection
    from vfa.cdp.dialogue import Event
    from vfa.egress.exits import Exits
    from vfa.egress.listener import Listener
    from vfa.page.page import Witness
    from vfa.policy.network import Policy

logger = logging.getLogger(__name__)

PROBE_BOUND = 5.0  # seconds for the browser process to answer a trivial question
SUSPICIOUS = 5.0  # seconds without a word from the browser while a command is open
CLOSE_BOUND = 2.0  # seconds to close a tab or a context on the way out
Adopt = Callable[["TargetInfo", Session], None]

PAGES_ONLY = [{"type": "page", "exclude": False}, {"exclude": True}]


class Version(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Browser.getVersion``, in part."""

    product: str = ""
    user_agent: str = ""


class TargetInfo(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Target.TargetInfo``, in part."""

    target_id: str
    type: str = ""
    title: str = ""
    url: str = ""
    opener_id: str | None = None
    browser_context_id: str = ""


class _Attached(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str
    target_info: TargetInfo


class _Created(msgspec.Struct, frozen=True, rename="camel"):
    target_info: TargetInfo


class _OfTarget(msgspec.Struct, frozen=True, rename="camel"):
    target_id: str


class _Session(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str


class _Context(msgspec.Struct, frozen=True, rename="camel"):
    browser_context_id: str


class _Way:
    """The way out of a browser context, and whether the context knows its password."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.introduced = False
        self.lock = trio.Lock()


class Link:
    """One browser, as long as it lasts.

    Args:
        connection: A running connection.
        launched: The browser behind it.
        generation: Grows with every link of an engine.
        exits: Opens ways out for contexts; None: they use the browser's own.
    """

    def __init__(
        self,
        connection: Connection,
        launched: Launched,
        generation: int,
        exits: Exits | None = None,
    ) -> None:
        self.connection = connection
        self._exits = exits
        self._ways: dict[str, _Way] = {}  # by context id
        if launched.listener is not None:
            self._ways[""] = _Way(launched.listener)
        self.launched = launched
        self.generation = generation
        self.version = Version()
        self.over = trio.Event()
        self.end = ""  # why it is over: "crash", "hung", "dropped", "idle", "stopped"
        self.suspected = trio.Event()  # someone wants to know whether the browser still answers
        self._verdict = trio.Event()
        self._sessions: dict[str, str] = {}  # target id -> session id, of tabs seen
        self._initial = ""  # a blank tab that came with the browser and that nobody uses yet
        # Who wants the tabs that pages open: by the context, or by the tab, of the page.
        self._popups: dict[str, Adopt] = {}

    async def open(self) -> None:
        """Find out who answers, and hear of every new tab before its first instruction."""
        self.connection.listen(None, self._hear)
        self.version = await self.connection.call("Browser.getVersion", {}, Version)
        if self.launched.process is not None:
            await self.connection.call(
                "Target.setAutoAttach",
                {
                    "autoAttach": True,
                    "waitForDebuggerOnStart": True,
                    "flatten": True,
                    "filter": PAGES_ONLY,
                },
            )
            # Seen by now: only tabs that were open when Chromium started.
            self._initial = next(iter(self._sessions), "")
        else:
            # Tabs of somebody else's browser are not ours to stop: only those that our own
            # pages open are attached to, when they are there already.
            self.connection.post(
                "Target.setDiscoverTargets", {"discover": True, "filter": PAGES_ONLY}
            )

    def finish(self, reason: str) -> None:
        """Declare the link over; the first reason stays."""
        if not self.over.is_set():
            self.end = reason
            self.over.set()
            self._verdict.set()  # nobody is left to look into a suspicion

    def lose(self) -> None:
        """Declare the link over because nobody is at the other end any more.

        On a WebSocket that says nothing about the browser, which may only have dropped us.
        """
        self.finish("dropped" if self.launched.url and not self.launched.exited else "crash")

    # --- is anybody there? --------------------------------------------------------------

    async def check(self) -> bool:
        """Ask whether the browser still answers; wait for the verdict.

        The question outlives its asker: the browser actor puts it and draws the
        consequences, so that a call with a short deadline also gets a hung browser replaced.
        """
        if self.over.is_set():
            return False
        verdict = self._verdict
        self.suspected.set()
        await verdict.wait()
        return not self.over.is_set()

    async def watch(self) -> None:
        """Answer suspicions, and silence under a call, until the link is over."""
        while True:
            heard = self.connection.statistics.received
            with trio.move_on_after(SUSPICIOUS) as silence:
                await self.suspected.wait()
            now = self.connection.statistics
            if silence.cancelled_caught and (not now.pending or now.received != heard):
                continue
            self.suspected = trio.Event()
            await self._probe()
            if self.over.is_set():
                return
            self._verdict.set()
            self._verdict = trio.Event()

    async def _probe(self) -> None:
        if self.connection.lost.is_set() or self.launched.exited:
            self.lose()
            return
        with trio.move_on_after(PROBE_BOUND) as bound:
            try:
                await self.connection.call("Browser.getVersion", {}, Version)
            except (ConnectionLostError, CdpError):
                self.lose()
        if bound.cancelled_caught:
            logger.warning("the browser has not answered for %g s", PROBE_BOUND)
            self.finish("hung")

    # --- tabs and contexts --------------------------------------------------------------

    @property
    def own_window(self) -> dict[str, Any]:
        """Options of ``open_tab`` for a tab that is always in front.

        Where Chromium has a user interface, headless or not, only the tab in front of a window
        is drawn: pictures of the others never come. Windows of a person's browser are seen.
        """
        return {} if self.launched.process is None else {"newWindow": True}

    async def first_tab(self) -> tuple[str, Session]:
        """Return the tab that the browser came with, or a new one if that is taken."""
        target_id, self._initial = self._initial, ""
        if target_id in self._sessions:
            session = await self.session_of(target_id)
            await self._introduce("", session)
            return target_id, session
        return await self.open_tab(**self.own_window)

    def adopt_popups_of(self, opener: str, adopt: Adopt) -> Callable[[], None]:
        """Call ``adopt`` with each tab that a page opens; return how to stop that.

        The tab waits for ``Runtime.runIfWaitingForDebugger`` before it does anything.

        Args:
            opener: The target id of the page's tab, or the id of a context.
            adopt: Must not block.
        """
        self._popups[opener] = adopt

        def stop() -> None:
            if self._popups.get(opener) is adopt:
                del self._popups[opener]

        return stop

    async def open_tab(self, context_id: str = "", **options: Any) -> tuple[str, Session]:
        """Open a blank tab; return its target id and session.

        Args:
            context_id: The browser context; the profile's own if empty.
            options: More parameters of CDP ``Target.createTarget``.
        """
        wanted: dict[str, Any] = {"url": "about:blank", **options}
        if context_id:
            wanted["browserContextId"] = context_id
        made = await self.connection.call("Target.createTarget", wanted, _OfTarget)
        session = await self.session_of(made.target_id)
        await self._introduce(context_id, session)
        return made.target_id, session

    def way_out(self, context_id: str = "") -> WayOut | None:
        """Return what knows why requests of a context failed; None: it has no proxy of ours."""
        way = self._ways.get(context_id)
        return None if way is None else WayOut(way.listener)

    async def _introduce(self, context_id: str, session: Session) -> None:
        """Have a context learn the password of its proxy, by its first tab."""
        way = self._ways.get(context_id)
        if way is None or way.introduced:
            return
        async with way.lock:
            if not way.introduced:
                await give_password(session, way.listener.password)
                way.introduced = True

    async def session_of(self, target_id: str) -> Session:
        """Return a session on a tab, attaching to it if nobody has."""
        session_id = self._sessions.get(target_id)
        if session_id is None:
            attached = await self.connection.call(
                "Target.attachToTarget", {"targetId": target_id, "flatten": True}, _Session
            )
            session_id = self._sessions[target_id] = attached.session_id
        return Session(self.connection, session_id)

    async def close_tab(self, target_id: str) -> None:
        """Close a tab, whatever its renderer is doing; bounded, and never fails."""
        with trio.move_on_after(CLOSE_BOUND, shield=True):
            try:
                await self.connection.call("Target.closeTarget", {"targetId": target_id})
            except (CdpError, ConnectionLostError):
                logger.debug("tab %s was gone already", target_id)

    @asynccontextmanager
    async def context(
        self, popups: Adopt | None = None, *, policy: Policy | None = None
    ) -> AsyncIterator[str]:
        """A browser context of its own: no cookies, cache or storage shared with others.

        Args:
            popups: Called with each tab that pages of the context open. The tab waits for
                ``Runtime.runIfWaitingForDebugger`` before it does anything.
            policy: What its pages may reach. A browser on another machine cannot use a proxy
                of ours: there, it holds for the addresses that the caller checks only.
        """
        options: dict[str, Any] = {"disposeOnDetach": True}
        async with AsyncExitStack() as stack:
            listener = self.launched.listener  # each context has to learn the password
            if policy is not None and self._exits is not None and self.launched.is_here:
                listener = await stack.enter_async_context(self._exits.open(policy))
                # Without the bypass rule, this machine's own addresses would go around it.
                options |= {"proxyServer": listener.server, "proxyBypassList": "<-loopback>"}
            async with self._context(options, popups) as context_id:
                if listener is not None:
                    self._ways[context_id] = _Way(listener)
                yield context_id

    @asynccontextmanager
    async def _context(
        self, options: dict[str, Any], popups: Adopt | None
    ) -> AsyncIterator[str]:
        made = await self.connection.call("Target.createBrowserContext", options, _Context)
        if popups is not None:
            self.adopt_popups_of(made.browser_context_id, popups)
        try:
            yield made.browser_context_id
        finally:
            self._popups.pop(made.browser_context_id, None)
            self._ways.pop(made.browser_context_id, None)
            with trio.move_on_after(CLOSE_BOUND, shield=True):
                try:
                    await self.connection.call(
                        "Target.disposeBrowserContext",
                        {"browserContextId": made.browser_context_id},
                    )
                except (CdpError, ConnectionLostError):
                    logger.debug("context %s was gone already", made.browser_context_id)

    @asynccontextmanager
    async def page(
        self,
        context_id: str = "",
        *,
        witness: Witness | None = None,
        console_capacity: int = 500,
        keep_bodies: bool = False,
    ) -> AsyncIterator[Page]:
        """A prepared tab for the length of the block."""
        target_id, session = await self.open_tab(context_id)
        page = Page(
            session,
            target_id,
            witness=witness,
            console_capacity=console_capacity,
            way_out=self.way_out(context_id),
        )
        try:
            await page.prepare(keep_bodies=keep_bodies)
            yield page
        finally:
            page.close()
            await self.close_tab(target_id)  # noqa: ASYNC102  # shields and bounds itself

    # --- events -------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        if event.method == "Target.attachedToTarget":
            attached = msgspec.json.decode(event.params, type=_Attached)
            self._sessions[attached.target_info.target_id] = attached.session_id
            self._let_run(attached)
        elif event.method == "Target.detachedFromTarget":
            gone = msgspec.json.decode(event.params, type=_Session).session_id
            self._sessions = {t: s for t, s in self._sessions.items() if s != gone}
        elif event.method == "Target.targetCreated":
            made = msgspec.json.decode(event.params, type=_Created).target_info
            if made.opener_id in self._popups and made.target_id not in self._sessions:
                self.connection.post(
                    "Target.attachToTarget", {"targetId": made.target_id, "flatten": True}
                )

    def _let_run(self, attached: _Attached) -> None:
        """Let a new tab run, or leave that to whoever wants the popups of its context.

        Tabs that were not opened by a page are ours, still blank, or somebody else's.
        """
        info = attached.target_info
        session = Session(self.connection, attached.session_id)
        adopt = None
        if info.opener_id:
            by_context = self._popups.get(info.browser_context_id)
            adopt = by_context or self._popups.get(info.opener_id)
        if adopt is None:
            session.post("Runtime.runIfWaitingForDebugger")
        else:
            adopt(info, session)
