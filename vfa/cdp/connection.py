"""One CDP connection: commands out, answers and events in.

Two tasks touch the transport and no others do: one writes, one reads. Callers only touch an
outbox and a slot of their own, whose operations are atomic under cancellation, so a deadline
around ``call`` can never leave half a frame on the wire. The reader calls listeners as plain
functions: nobody can make it wait.

Needs a transport, which its caller opens and closes. Does not know what a page is.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec
import trio

from vfa.cdp.dialogue import Answer, Detached, Dialogue, Event
from vfa.errors import ConnectionLostError, SessionGoneError, VfaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from vfa.cdp.transport import Transport

    Listener = Callable[[Event], None]

TOGETHER = 128  # frames of one write; what is taken for it is sent, though its caller gives up
TOGETHER_BYTES = 1 << 16

T = TypeVar("T")


class _Slot:
    """A call that waits for its answer."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.done = trio.Event()
        self.outcome: msgspec.Raw | VfaError | None = None

    def fill(self, outcome: msgspec.Raw | VfaError) -> None:
        if self.outcome is None:
            self.outcome = outcome
            self.done.set()


class Statistics(msgspec.Struct, frozen=True):
    """What a connection has been through."""

    pending: int  # calls that wait for an answer
    sent: int  # frames handed to the transport
    received: int  # frames taken from it
    unheard: int  # events that nobody listened for


class Connection:
    """The typed side of a transport.

    Args:
        transport: Where frames go. Owned by the caller, who closes it after ``run``.

    Attributes:
        lost: Set once no call can succeed any more: the peer is gone, or ``run`` was cancelled.
    """

    def __init__(self, transport: Transport) -> None:
        self.lost = trio.Event()
        self._why_lost = "the connection to the browser was closed"
        self._transport = transport
        self._dialogue = Dialogue()
        self._slots: dict[int, _Slot] = {}
        # By command id, in the order of the calls. A deque would have to be searched for the
        # frame of a call that is given up; and without taking it out, the frames for a browser
        # that reads no more would pile up, one for every call that times out on it.
        self._outbox: OrderedDict[int, bytes] = OrderedDict()
        self._mail = trio.Event()
        self._listeners: dict[str | None, dict[object, Listener]] = {}
        self._mourners: dict[object, tuple[str | None, Callable[[], None]]] = {}
        self._sent = self._received = self._unheard = 0

    @property
    def statistics(self) -> Statistics:
        """Counters since the start, and the calls in flight."""
        return Statistics(len(self._slots), self._sent, self._received, self._unheard)

    @overload
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
        surely: bool = False,
    ) -> dict[str, Any]: ...

    @overload
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        result: type[T] = ...,
        *,
        session_id: str | None = None,
        surely: bool = False,
    ) -> T: ...

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        result: type[Any] = dict,
        *,
        session_id: str | None = None,
        surely: bool = False,
    ) -> Any:
        """Send a command and return its result, decoded as ``result``.

        Cancelled before the writer took the command, it is not sent at all, unless it is to
        be sent ``surely``; cancelled later, its answer is ignored. Either way the connection
        stays usable.

        Raises:
            CdpError: The browser refused the command.
            SessionGoneError: The session ended before the answer came, or had ended before.
            ConnectionLostError: The connection ended before the answer came.
        """
        if self.lost.is_set():
            raise ConnectionLostError(f"Not connected, {method} was not sent: {self._why_lost}")
        await trio.lowlevel.checkpoint_if_cancelled()  # a deadline in the past sends nothing
        id_, frame = self._dialogue.command(method, params or {}, session_id)
        slot = self._slots[id_] = _Slot(method)
        self._send(id_, frame)
        try:
            await slot.done.wait()
        finally:
            del self._slots[id_]
            self._dialogue.forget(id_)
            if not surely:
                self._outbox.pop(id_, None)
        if isinstance(slot.outcome, VfaError):
            raise slot.outcome
        assert slot.outcome is not None
        return msgspec.json.decode(slot.outcome, type=result)

    def post(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        session_id: str | None = None,
    ) -> None:
        """Send a command and ignore its answer. Never waits; dropped if the browser is gone."""
        if self.lost.is_set():
            return
        id_, frame = self._dialogue.command(method, params or {}, session_id)
        self._dialogue.forget(id_)
        self._send(id_, frame)

    def listen(
        self, session_id: str | None, listener: Callable[[Event], None]
    ) -> Callable[[], None]:
        """Call ``listener`` with each event of a session; return a function that stops it.

        Listeners run in the reader, in the order they came: they must return at once, and an
        exception in one is a bug that ends ``run``. The listeners of a session that ends are
        dropped with it. To miss nothing of a new session, listen from within the listener
        that hears of its ``Target.attachedToTarget``.

        Args:
            session_id: Whose events; None is the browser itself.
            listener: Called with each of them.
        """
        listeners = self._listeners.setdefault(session_id, {})
        token = object()
        listeners[token] = listener

        def stop() -> None:
            listeners.pop(token, None)
            if not listeners and self._listeners.get(session_id) is listeners:
                del self._listeners[session_id]

        return stop

    def when_lost(
        self, session_id: str | None, callback: Callable[[], None]
    ) -> Callable[[], None]:
        """Call ``callback`` once when a session ends, or the connection with all of them.

        For those who wait for events rather than for an answer. Return a function that calls
        it off. A connection that is lost already calls back at once.
        """
        token = object()
        self._mourners[token] = (session_id, callback)
        if self.lost.is_set():
            self._tell_mourners(None)

        def call_off() -> None:
            self._mourners.pop(token, None)

        return call_off

    def _tell_mourners(self, sessions: Collection[str] | None) -> None:
        """Call those who mourn ``sessions``; None: everyone."""
        for token, (session_id, callback) in tuple(self._mourners.items()):
            if sessions is None or session_id in sessions:
                del self._mourners[token]
                callback()

    async def run(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Move frames until the peer is gone or this is cancelled; then fail who still waits.

        Raises:
            ConnectionLostError: The peer is gone, or what it says is not CDP.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_lost, self._write, nursery.cancel_scope)
                task_status.started()
                await self._until_lost(self._read, nursery.cancel_scope)
        finally:
            self._end()
        raise ConnectionLostError(self._why_lost)

    async def _until_lost(
        self, move: Callable[[], Awaitable[None]], both: trio.CancelScope
    ) -> None:
        """Run one direction; its loss ends the other, which may never hear of it by itself."""
        try:
            await move()
        except ConnectionLostError as error:
            self._why_lost = error.message
            both.cancel(reason="the peer is gone")

    def _end(self) -> None:
        self.lost.set()
        self._outbox.clear()
        for id_ in self._dialogue.close():
            slot = self._slots[id_]
            slot.fill(ConnectionLostError(f"{self._why_lost}: no answer to {slot.method}"))
        self._tell_mourners(None)

    def _send(self, id_: int, frame: bytes) -> None:
        self._outbox[id_] = frame
        self._mail.set()

    async def _write(self) -> None:
        while True:
            while self._outbox:
                frames = self._take()
                await self._transport.send(*frames)
                self._sent += len(frames)
            self._mail = trio.Event()
            await self._mail.wait()

    def _take(self) -> list[bytes]:
        """Take what is to be sent in one go: a burst of input, and no more than one."""
        frames: list[bytes] = []
        size = 0
        while self._outbox and len(frames) < TOGETHER and size < TOGETHER_BYTES:
            frames.append(self._outbox.popitem(last=False)[1])
            size += len(frames[-1])
        return frames

    async def _read(self) -> None:
        while True:
            frame = await self._transport.receive()
            self._received += 1
            try:
                heard = self._dialogue.receive(frame)
            except msgspec.DecodeError as error:
                raise ConnectionLostError(f"the browser does not speak CDP: {error}") from error
            if isinstance(heard, Answer):
                self._slots[heard.id].fill(heard.outcome)
            elif heard is not None:
                self._tell(heard)

    def _tell(self, event: Event) -> None:
        if isinstance(event, Detached):
            for id_ in event.orphans:
                slot = self._slots[id_]
                slot.fill(
                    SessionGoneError(f"the page was closed before it answered {slot.method}")
                )
        listeners = self._listeners.get(event.session_id)
        if listeners is None:
            self._unheard += 1
        else:
            for token, listener in tuple(listeners.items()):
                if token in listeners:  # an earlier one may have stopped this one just now
                    listener(event)
        if isinstance(event, Detached):
            for session_id in event.sessions:
                self._listeners.pop(session_id, None)
            self._tell_mourners(event.sessions)
