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
from vfa.page.console import ConsoleLog, read_console_call, read_exception, read_log_entry
from vfa.page.documents import Documents
from vfa.page.js import source
from vfa.page.network import Exchange, NetworkLog
from vfa.page.records import ConsoleMessage, Dialog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vfa.cdp.connection import Connection
    from vfa.cdp.dialogue import Event
    from vfa.page.records import PageException

logger = logging.getLogger(__name__)

T = TypeVar("T")

WORLD = "vfa"
MAX_EXCEPTIONS = 500  # of one document that are kept as evidence
MAX_DIALOGS = 50  # dialogs remembered until someone asks; a page can open them in a loop
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# Bytes of answers that Chromium keeps: none, or enough for a page's own API calls.
NO_BODIES = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}
BODIES = {"maxTotalBufferSize": 10_000_000, "maxResourceBufferSize": 1_000_000}
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


class _DialogOpening(msgspec.Struct, frozen=True, rename="camel"):
    type: str
    message: str = ""


class Page:
    """One tab.

    Args:
        session: The tab's CDP session.
        target_id: The tab's target; also the id of its main frame.
        witness: Hears of console messages, exceptions and ended requests.
        console_capacity: Messages the console ring keeps.
    """

    def __init__(
        self,
        session: Session,
        target_id: str,
        *,
        witness: Witness | None = None,
        console_capacity: int = 500,
    ) -> None:
        self.session = session
        self.target_id = target_id
        self.documents = Documents(target_id)
        self.console = ConsoleLog(console_capacity)
        self.exceptions: list[PageException] = []
        self.network = NetworkLog(target_id, self._exchange_ended)
        self.dialogs: list[Dialog] = []
        self.crashed = False
        self.acted = False  # something was sent that a page, or a server, may have noticed
        self._witness: Witness = witness or Silent()
        self._world: int | None = None
        self._children: dict[str, str] = {}  # session id -> kind of target
        self._guards: set[trio.CancelScope] = set()
        self.on_crash: Callable[[], None] = _do_nothing
        self._stop_listening = [session.listen(self._hear)]

    @property
    def connection(self) -> Connection:
        """The connection that the tab's session runs on."""
        return self.session.connection

    async def prepare(self, *, keep_bodies: bool = False) -> None:
        """Switch on what ``Page`` listens to, and let the tab run. One round trip.

        Args:
            keep_bodies: Have Chromium keep the bodies of answers for later questions.
        """
        buffers = BODIES if keep_bodies else NO_BODIES
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
        await self.session.call("Runtime.runIfWaitingForDebugger")

    def close(self) -> None:
        """Stop listening. The tab itself is closed by whoever opened it."""
        while self._stop_listening:
            self._stop_listening.pop()()

    async def call(self, function: str, *arguments: Any, result: type[T]) -> T:
        """Call the in-page function ``function`` and return its JSON result as ``result``.

        It runs in the isolated world of the current document. When the document goes away
        before the function was called, it is called once more in its successor; a promise
        that its document took with it fails.

        Raises:
            ScriptError: The function threw; the message is the page's.
            CdpError: The document went away for good.
            PageCrashedError: The renderer is gone.
        """
        for last in (False, True):
            try:
                return await self._call_in_world(function, arguments, result)
            except CdpError as error:
                self._world = None
                if last or not any(words in error.message for words in GONE_WORLD):
                    raise
        raise AssertionError("unreachable")

    async def _call_in_world(
        self, function: str, arguments: tuple[Any, ...], result: type[T]
    ) -> T:
        if self._world is None:
            made = await self.session.call(
                "Page.createIsolatedWorld",
                {"frameId": self.documents.main_frame, "worldName": WORLD},
                _World,
            )
            self._world = made.execution_context_id
        called = await self.session.call(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": source(function),
                "executionContextId": self._world,
                "arguments": [{"value": argument} for argument in arguments],
                "returnByValue": True,
                "awaitPromise": True,
            },
            _Called,
        )
        if called.exception_details is not None:
            raise ScriptError(_thrown(called.exception_details))
        return msgspec.convert(called.result.get("value"), result, strict=False)

    async def settle(self, bound: float = 0.5) -> None:
        """Let what just happened reach the screen: two animation frames, or ``bound`` seconds.

        A hidden tab runs no animation frames, and a wedged one no code at all; neither may
        cost more than the bound.
        """
        with trio.move_on_after(bound):
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

    def take_dialogs(self) -> tuple[Dialog, ...]:
        """Return the dialogs since the last call, and forget them."""
        taken = tuple(self.dialogs)
        self.dialogs.clear()
        return taken

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

    def _crash(self) -> None:
        self.crashed = True
        self._world = None
        for scope in self._guards:
            scope.cancel(reason="the renderer crashed")
        self.on_crash()
        self.documents.wake()

    def _hear_page(self, event: Event) -> None:
        if event.method == "Page.javascriptDialogOpening":
            self._dismiss(msgspec.json.decode(event.params, type=_DialogOpening))
            return
        commits = self.documents.commits
        self.documents.hear(event)
        if self.documents.commits != commits:
            self._world = None
            self.crashed = False
            self.console.clear()
            self.exceptions.clear()
            self.network.start_document(self.documents.loader_id)

    def _hear_runtime(self, event: Event) -> None:
        if event.method == "Runtime.consoleAPICalled":
            if (message := read_console_call(event)) is not None:
                self._say(message)
        elif event.method == "Runtime.exceptionThrown":
            self._throw(read_exception(event))
        elif event.method == "Runtime.executionContextsCleared":
            self._world = None

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

    def _dismiss(self, dialog: _DialogOpening) -> None:
        """Answer a dialog at once: an open one stops every script of the page.

        Everything is dismissed but ``beforeunload``, where dismissing means to stay, which
        would trap the tab on the page.
        """
        accept = dialog.type == "beforeunload"
        if len(self.dialogs) < MAX_DIALOGS:
            self.dialogs.append(
                Dialog(kind=dialog.type, message=dialog.message[:1000], accepted=accept)
            )
        self.session.post("Page.handleJavaScriptDialog", {"accept": accept})

    def _hear_target(self, name: str, event: Event) -> None:
        """Follow frames of other processes, and workers: their troubles are the page's."""
        if name != "attachedToTarget":
            return
        child = msgspec.json.decode(event.params, type=_ChildAttached)
        session = Session(self.connection, child.session_id)
        kind = child.target_info.get("type", "")
        self._children[child.session_id] = kind
        self._stop_listening.append(session.listen(self._hear_child))
        session.post("Network.enable", NO_BODIES)
        session.post("Runtime.enable")
        if kind == "iframe":
            session.post("Page.enable")
            session.post("Target.setAutoAttach", AUTO_ATTACH)
        session.post("Runtime.runIfWaitingForDebugger")

    def _hear_child(self, event: Event) -> None:
        if event.method.startswith("Network."):
            self.network.hear(event)
        elif event.method == "Page.javascriptDialogOpening":
            self._dismiss(msgspec.json.decode(event.params, type=_DialogOpening))
        elif event.method == "Target.attachedToTarget":
            self._hear_target("attachedToTarget", event)
        elif event.method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown"}:
            self._hear_runtime(event)


def _do_nothing() -> None:
    """React to a crash by doing nothing: whoever uses the page will see it."""


def _thrown(details: dict[str, Any]) -> str:
    exception = details.get("exception") or {}
    return str(
        exception.get("description") or exception.get("value") or details.get("text", "")
    )
