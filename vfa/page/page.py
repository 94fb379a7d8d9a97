"""A live tab: its CDP session, its in-page functions, and what it reports about itself.

``Page`` holds state that events keep up to date and the two primitives that everything else
in this folder is made of: a command, and a call of a static function in an isolated world.
What can be *done* on a page lives in modules of their own, as functions that take a ``Page``.

A page does not notice us: functions run in an isolated world, nothing is added to the
document, and no prototype is touched.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import (
    CdpError,
    ConnectionLostError,
    PageCrashedError,
    ScriptError,
    SessionGoneError,
)
from vfa.page.ax_trees import AxTrees
from vfa.page.console import ConsoleLog, read_console_call, read_exception, read_log_entry
from vfa.page.delta import Outlines
from vfa.page.dialogs import Dialogs, Opening, handling
from vfa.page.documents import Documents
from vfa.page.frames import Frame, Frames, Refs, Tree
from vfa.page.js import kit, source
from vfa.page.network import Exchange, NetworkLog
from vfa.page.records import ConsoleMessage, Dialog
from vfa.page.worlds import MainWorlds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from vfa.cdp.connection import Connection
    from vfa.cdp.dialogue import Event
    from vfa.page.records import PageException
    from vfa.page.way_out import WayOut

logger = logging.getLogger(__name__)

T = TypeVar("T")

WORLD = "vfa"
MAX_EXCEPTIONS = 500  # of one document that are kept as evidence
DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# Bytes of answers that Chromium keeps: none, or enough for a page's own API calls. Each byte
# that is kept costs the renderer one to two; a child is a frame or worker of its own process.
MAX_POST_DATA = {"maxPostDataSize": 20_000}  # bytes of a request's body in the event itself
NO_BODIES = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0} | MAX_POST_DATA
BODIES = {"maxTotalBufferSize": 10_000_000, "maxResourceBufferSize": 1_000_000} | MAX_POST_DATA
CHILD_BODIES = BODIES | {"maxTotalBufferSize": 2_000_000}
CHILD_RUNTIME = {
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Runtime.executionContextCreated",
}
# What CDP says when a document, and the worlds in it, went away between two commands.
GONE_WORLD = (
    "Cannot find context",
    "Execution context was destroyed",
    "uniqueContextId not found",
)


class Witness(Protocol):
    """Who wants to hear of a page's troubles as they happen. Calls must not block."""

    def console(self, page_url: str, message: ConsoleMessage) -> None:
        """A console message was written."""

    def exception(self, page_url: str, exception: PageException) -> None:
        """An exception went uncaught."""

    def exchange(self, page_url: str, exchange: Exchange) -> None:
        """A request got its answer, or failed."""


class Silent:
    """A witness that looks away."""

    def console(self, page_url: str, message: ConsoleMessage) -> None:
        """Ignore it."""

    def exception(self, page_url: str, exception: PageException) -> None:
        """Ignore it."""

    def exchange(self, page_url: str, exchange: Exchange) -> None:
        """Ignore it."""


class _World(msgspec.Struct, frozen=True, rename="camel"):
    execution_context_id: int


class _Called(msgspec.Struct, frozen=True, rename="camel"):
    result: dict[str, Any] = {}
    exception_details: dict[str, Any] | None = None


class _ChildAttached(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str
    target_info: dict[str, Any]
    waiting_for_debugger: bool = True


class _FrameTree(msgspec.Struct, frozen=True, rename="camel"):
    frame_tree: Tree


class _ChildDetached(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str


class _Paused(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    frame_id: str = ""
    request: dict[str, Any] = {}


class Handle(msgspec.Struct, frozen=True):
    """An object of an isolated world; CDP ``Runtime.RemoteObjectId``."""

    object_id: str


class _DialogClosed(msgspec.Struct, frozen=True):
    result: bool = False


class Page:
    """One tab.

    Args:
        session: The tab's CDP session.
        target_id: The tab's target; also the id of its main frame.
        witness: Hears of console messages, exceptions and ended requests.
        console_capacity: Messages the console ring keeps.
        refs: The names that the tab has used up, where it had a page before this one.
        origins: Where the documents of the tab's pages came from; grows.
        dialogs: What is to be done about dialogs; they are dismissed if None.
    """

    def __init__(
        self,
        session: Session,
        target_id: str,
        *,
        witness: Witness | None = None,
        console_capacity: int = 500,
        refs: Refs | None = None,
        origins: dict[str, None] | None = None,
        dialogs: Dialogs | None = None,
        way_out: WayOut | None = None,
    ) -> None:
        self.session = session
        self.target_id = target_id
        self.documents = Documents(target_id)
        self.frames = Frames(session, target_id, refs or Refs())
        self.console = ConsoleLog(console_capacity)
        self.exceptions: list[PageException] = []
        self.way_out = way_out
        self.network = NetworkLog(target_id, self._exchange_ended, origins, way_out)
        self._child_buffers = NO_BODIES
        self.main_worlds = MainWorlds()
        self.dialogs = dialogs or Dialogs()
        self.ax_trees = AxTrees()
        self.outlines = Outlines()
        self._judges = False  # documents, before they are asked for
        self.crashed = False
        self.acted = False  # something was sent that a page, or a server, may have noticed
        self._witness: Witness = witness or Silent()
        self._children: dict[str, str] = {}  # session id -> kind of target
        self._child_orders: dict[str, Callable[[Session], None]] = {}
        self.fresh: dict[str, str] = {}  # of the children, those met before they ran
        self._guards: set[trio.CancelScope] = set()
        self.on_crash: Callable[[], None] = _do_nothing
        self._stop_listening = [session.listen(self._hear)]

    @property
    def connection(self) -> Connection:
        """The connection that the tab's session runs on."""
        return self.session.connection

    async def prepare(
        self,
        *,
        keep_bodies: bool = False,
        first: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Switch on what ``Page`` listens to, and let the tab run. One round trip.

        Args:
            keep_bodies: Have Chromium keep the bodies of answers for later questions.
            first: What else is to be done before the tab's first instruction runs.
        """
        buffers = BODIES if keep_bodies else NO_BODIES
        self._child_buffers = CHILD_BODIES if keep_bodies else NO_BODIES
        for method, params in (
            ("Page.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Runtime.enable", {}),
            ("Network.enable", buffers),
            ("Log.enable", {}),
            ("Inspector.enable", {}),
            ("Target.setAutoAttach", AUTO_ATTACH),
        ):
            self.session.post(method, params)
        if self.way_out is not None and self.way_out.restricts_navigation:
            self._judges = True
            self.session.post("Fetch.enable", {"patterns": DOCUMENTS})
        if first is not None:
            await first()
        await self.session.call("Runtime.runIfWaitingForDebugger")

    async def adopt(self, url: str, loader_id: str) -> None:
        """Take over a document, and its frames, that were there before we listened."""
        self.documents.adopt(url, loader_id, complete=True)
        answer = await self.session.call("Page.getFrameTree", {}, _FrameTree)
        self.frames.seed(answer.frame_tree, self.session)

    def close(self) -> None:
        """Stop listening. The tab itself is closed by whoever opened it."""
        while self._stop_listening:
            self._stop_listening.pop()()

    async def call(
        self, function: str, *arguments: Any, result: type[T], frame: Frame | None = None
    ) -> T:
        """Call the in-page function ``function`` and return its JSON result as ``result``.

        It runs in the isolated world of the current document. When the document goes away
        before the function was called, it is called once more in its successor; a promise
        that its document took with it fails.

        Args:
            function: The name of its file.
            arguments: JSON values, or ``Handle`` for objects of the same world.
            result: What the answer is read as.
            frame: Whose document; the main frame's if None.

        Raises:
            ScriptError: The function threw; the message is the page's.
            CdpError: The document went away for good.
            PageCrashedError: The renderer is gone.
        """
        called = await self._call(frame or self.frames.main, function, arguments)
        return msgspec.convert(called.result.get("value"), result, strict=False)

    async def kit(
        self, function: str, *arguments: Any, result: type[T], frame: Frame | None = None
    ) -> T:
        """Call a function of the kit; otherwise like ``call``."""
        called = await self._call(
            frame or self.frames.main, "invoke", (function, *arguments), with_kit=True
        )
        answer = called.result.get("value") or {}
        self.frames.refs.last = max(self.frames.refs.last, answer.get("last", 0))
        return msgspec.convert(answer.get("value"), result, strict=False)

    async def kit_object(
        self, function: str, *arguments: Any, frame: Frame | None = None
    ) -> Handle | None:
        """Call a function of the kit and return a handle on the object it returns, if any.

        Handles die with their document; whoever needs many in one document releases them.
        """
        called = await self._call(
            frame or self.frames.main,
            "object_of",
            (function, *arguments),
            with_kit=True,
            by_value=False,
        )
        object_id = called.result.get("objectId")
        return None if object_id is None else Handle(object_id)

    async def _call(
        self,
        frame: Frame,
        function: str,
        arguments: tuple[Any, ...],
        *,
        with_kit: bool = False,
        by_value: bool = True,
    ) -> _Called:
        for last in (False, True):
            try:
                world = await self._world_of(frame, with_kit=with_kit)
                called = await frame.session.call(
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": source(function),
                        "executionContextId": world,
                        "arguments": [_argument(value) for value in arguments],
                        "returnByValue": by_value,
                        "awaitPromise": True,
                    },
                    _Called,
                )
            except CdpError as error:
                frame.world = None
                if last or not any(words in error.message for words in GONE_WORLD):
                    raise
            else:
                if called.exception_details is not None:
                    raise ScriptError(_thrown(called.exception_details))
                return called
        raise AssertionError("unreachable")

    async def _world_of(self, frame: Frame, *, with_kit: bool) -> int:
        """Return our world in a frame's document, made and equipped if need be."""
        session = frame.session
        if frame.world is None:
            made = await session.call(
                "Page.createIsolatedWorld", {"frameId": frame.id, "worldName": WORLD}, _World
            )
            frame.world = made.execution_context_id
            frame.equipped = False
        world = frame.world
        if with_kit and not frame.equipped:
            session.post("Runtime.evaluate", {"expression": kit(), "contextId": world})
            await session.call(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": source("kit_floor"),
                    "executionContextId": world,
                    "arguments": [{"value": self.frames.refs.last}],
                },
            )
            if frame.world == world:
                frame.equipped = True
        return world

    async def settle(self, bound: float = 0.5) -> None:
        """Let what just happened reach the screen: two animation frames, or ``bound`` seconds.

        A hidden tab runs no animation frames, and a wedged one no code at all; neither may
        cost more than the bound.
        """
        with trio.move_on_after(bound) as scope, self.dialogs.ending(scope):
            try:
                await self.call("two_frames", result=bool)
            except CdpError:
                logger.debug("the document left while it was settling")

    @contextmanager
    def guard(self) -> Iterator[None]:
        """End the block the moment the page is gone: what it waits for will never come.

        Raises:
            PageCrashedError: The renderer crashed while the block ran.
            ConnectionLostError: The tab was closed, or the browser died.
        """
        with trio.CancelScope() as scope:
            self._guards.add(scope)
            stop = self.connection.when_lost(
                self.session.id, lambda: scope.cancel(reason="the page is gone")
            )
            try:
                yield
            finally:
                stop()
                self._guards.discard(scope)
        if not scope.cancelled_caught:
            return
        if self.crashed:
            raise PageCrashedError(
                "the page's renderer crashed during the call",
                hint="The tab is loaded anew. If it happens each time, this page crashes it.",
            )
        if self.connection.lost.is_set():
            raise ConnectionLostError("the browser was lost during the call")
        raise SessionGoneError("the tab was closed during the call")

    def children(self) -> tuple[Session, ...]:
        """Return the sessions of frames in other processes, and of workers."""
        return tuple(Session(self.connection, each) for each in self._children)

    def for_children(self, name: str, order: Callable[[Session], None] | None) -> None:
        """Have ``order`` carried out on each child to come, before it runs; None ends that."""
        if order is None:
            self._child_orders.pop(name, None)
        else:
            self._child_orders[name] = order

    def take_dialogs(self) -> tuple[Dialog, ...]:
        """Return the dialogs since the last call, and forget them."""
        return self.dialogs.take()

    # --- events -------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        domain, _, name = event.method.partition(".")
        if domain == "Network":
            self.network.hear(event)
        elif domain == "Page":
            self._hear_page(event)
        elif domain == "Runtime":
            self._hear_runtime(event)
        elif domain == "Log":
            if (entry := read_log_entry(event)) is not None:
                self._say(entry)
        elif event.method == "Inspector.targetCrashed":
            self._crash()
        elif domain == "Target":
            self._hear_target(name, event)
        elif event.method == "Fetch.requestPaused" and self._judges:
            self._judge(msgspec.json.decode(event.params, type=_Paused))

    def leave_paused_requests(self) -> None:
        """Leave requests that CDP pauses to the caller, who may want to hold some back."""
        self._judges = False

    def _judge(self, paused: _Paused) -> None:
        """Let a document be asked for, or not."""
        main = paused.frame_id == self.documents.main_frame
        request = {"requestId": paused.request_id}
        if main and not self._may_go_to(str(paused.request.get("url", ""))):
            self.session.post("Fetch.failRequest", request | {"errorReason": "BlockedByClient"})
        else:
            self.session.post("Fetch.continueRequest", request)

    def _may_go_to(self, url: str) -> bool:
        return self.way_out is None or self.way_out.lets_navigate(url)

    def _crash(self) -> None:
        self.crashed = True
        self.dialogs.forget()
        self.frames.forget_worlds(self.session.id)
        for scope in self._guards:
            scope.cancel(reason="the renderer crashed")
        self.on_crash()
        self.documents.wake()

    def _hear_page(self, event: Event) -> None:
        if event.method == "Page.javascriptDialogOpening":
            self._open_dialog(event)
            return
        if event.method == "Page.javascriptDialogClosed":
            closed = msgspec.json.decode(event.params, type=_DialogClosed)
            self.dialogs.closed(accepted=closed.result)
            return
        commits = self.documents.commits
        self.documents.hear(event)
        self.frames.hear(event, self.session)
        if self.documents.commits != commits:
            self.crashed = False
            self.dialogs.forget()
            self.console.clear()
            self.exceptions.clear()
            self.network.start_document(self.documents.loader_id)

    def _hear_runtime(self, event: Event) -> None:
        if event.method == "Runtime.executionContextCreated":
            self.main_worlds.hear(event)
        elif event.method == "Runtime.consoleAPICalled":
            if (message := read_console_call(event)) is not None:
                self._say(message)
        elif event.method == "Runtime.exceptionThrown":
            self._throw(read_exception(event))
        elif event.method == "Runtime.executionContextsCleared":
            self.frames.forget_worlds(self.session.id)

    def _say(self, message: ConsoleMessage) -> None:
        self.console.add(message)
        self._witness.console(self.documents.url, message)

    def _throw(self, exception: PageException) -> None:
        if len(self.exceptions) < MAX_EXCEPTIONS:
            self.exceptions.append(exception)
        # browser_get_console shows exceptions among the errors, marked as such.
        self.console.add(
            ConsoleMessage(
                level="error",
                text=f"[Exception] {exception.message}",
                timestamp=exception.timestamp,
                url=exception.url or None,
                line=exception.line,
                stack=exception.stack,
            )
        )
        self._witness.exception(self.documents.url, exception)

    def _exchange_ended(self, exchange: Exchange) -> None:
        self._witness.exchange(self.documents.url, exchange)

    def _open_dialog(self, event: Event) -> None:
        """Answer a dialog at once, or hold it: an open one stops every script of the page."""
        decision = self.dialogs.open(msgspec.json.decode(event.params, type=Opening))
        if decision is None:
            self.documents.wake()
        else:
            self.session.post("Page.handleJavaScriptDialog", handling(decision))

    def _hear_target(self, name: str, event: Event) -> None:
        """Follow frames of other processes, and workers: their troubles are the page's."""
        if name == "detachedFromTarget":
            gone = msgspec.json.decode(event.params, type=_ChildDetached).session_id
            self._children.pop(gone, None)
            self.fresh.pop(gone, None)
            self.frames.leave(gone)
            return
        if name != "attachedToTarget":
            return
        child = msgspec.json.decode(event.params, type=_ChildAttached)
        session = Session(self.connection, child.session_id)
        kind = child.target_info.get("type", "")
        self._children[child.session_id] = kind
        if child.waiting_for_debugger:
            self.fresh[child.session_id] = kind
        self._stop_listening.append(
            session.listen(lambda event: self._hear_child(event, session))
        )
        session.post("Network.enable", self._child_buffers)
        session.post("Runtime.enable")
        if kind == "iframe":
            self.frames.enter(child.target_info.get("targetId", ""), session)
            session.post("Page.enable")
            session.post("Target.setAutoAttach", AUTO_ATTACH)
        for order in self._child_orders.values():
            order(session)
        session.post("Runtime.runIfWaitingForDebugger")

    def _hear_child(self, event: Event, session: Session) -> None:
        if event.method.startswith("Network."):
            self.network.hear(event, self._children.get(session.id, ""))
        elif event.method.startswith("Page.frame"):
            self.frames.hear(event, session)
        elif event.method == "Runtime.executionContextsCleared":
            self.frames.forget_worlds(session.id)
        elif event.method.startswith("Target."):
            self._hear_target(event.method.removeprefix("Target."), event)
        elif event.method in CHILD_RUNTIME:
            self._hear_runtime(event)


def _do_nothing() -> None:
    """React to a crash by doing nothing: whoever uses the page will see it."""


def _argument(value: Any) -> dict[str, Any]:
    """Return a CDP ``Runtime.CallArgument``."""
    return {"objectId": value.object_id} if isinstance(value, Handle) else {"value": value}


def _thrown(details: dict[str, Any]) -> str:
    exception = details.get("exception") or {}
    return str(
        exception.get("description") or exception.get("value") or details.get("text", "")
    )
