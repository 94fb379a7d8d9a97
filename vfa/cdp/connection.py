"""One CDP connection: commands out, answers and events in.

Two tasks touch the transport and no others do: one writes, one reads. Callers only touch a
deque and events of their own, whose operations are atomic under cancellation, so a deadline
around ``call`` can never leave half a frame on the wire. The reader calls listeners as plain
functions: nobody can make it wait.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec
import trio

from vfa.cdp.dialogue import Answer, Dialogue, Event
from vfa.errors import CdpError, ConnectionLostError, SessionGoneError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vfa.cdp.transport import Transport

logger = logging.getLogger(__name__)

T = TypeVar("T")


class _Detached(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str


class _Slot:
    """A call that waits for its answer."""

    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.done = trio.Event()
        self.outcome: msgspec.Raw | CdpError | ConnectionLostError | None = None

    def fill(self, outcome: msgspec.Raw | CdpError | ConnectionLostError) -> None:
        if self.outcome is None:
            self.outcome = outcome
            self.done.set()


class Statistics(msgspec.Struct, frozen=True):
    """What a connection has been through."""

    pending: int
    sent: int
    received: int
    unheard: int  # events that nobody listened for


class Connection:
    """The typed side of a transport.

    Args:
        transport: Where frames go. Owned by the caller, who closes it after ``run``.
    """

    def __init__(self, transport: Transport) -> None:
        self.lost = trio.Event()
        self._transport = transport
        self._dialogue = Dialogue()
        self._slots: dict[int, _Slot] = {}
        self._outbox: deque[tuple[int, bytes]] = deque()
        self._mail = trio.Event()
        self._listeners: dict[str | None, list[Callable[[Event], None]]] = {}
        self._sent = self._received = self._unheard = 0

    @property
    def statistics(self) -> Statistics:
        """Counters since the start, and the calls in flight."""
        return Statistics(len(self._slots), self._sent, self._received, self._unheard)

    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, session_id: str | None = None
    ) -> dict[str, Any]: ...

    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None, result: type[T], *, session_id: str | None = None
    ) -> T: ...

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        result: type[Any] = dict,
        *,
        session_id: str | None = None,
    ) -> Any:
        """Send a command and return its result, decoded as ``result``.

        Cancelled before the writer took the command, it is not sent at all.

        Raises:
            CdpError: The browser refused the command.
            ConnectionLostError: The connection, or the session, ended before the answer came.
        """
        if self.lost.is_set():
            raise ConnectionLostError(f"no browser to send {method} to")
        id_, frame = self._dialogue.command(method, dict(params or {}), session_id)
        slot = self._slots[id_] = _Slot(session_id)
        self._send(id_, frame)
        try:
            await slot.done.wait()
        finally:
            del self._slots[id_]
            self._dialogue.forget(id_)
            if slot.outcome is None:
                with suppress(ValueError):
                    self._outbox.remove((id_, frame))
        if isinstance(slot.outcome, CdpError | ConnectionLostError):
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
        id_, frame = self._dialogue.command(method, dict(params or {}), session_id)
        self._dialogue.forget(id_)
        self._send(id_, frame)

    def listen(
        self, session_id: str | None, listener: Callable[[Event], None]
    ) -> Callable[[], None]:
        """Call ``listener`` with each event of a session; return a function that stops it.

        Listeners run in the reader: they must return at once. ``None`` is the browser itself.
        """
        self._listeners.setdefault(session_id, []).append(listener)

        def stop() -> None:
            listeners = self._listeners.get(session_id, [])
            if listener in listeners:
                listeners.remove(listener)
            if not listeners:
                self._listeners.pop(session_id, None)

        return stop

    async def run(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Move frames until the peer is gone or this is cancelled; then fail who still waits.

        Raises:
            ConnectionLostError: The peer is gone.
        """
        why = "the browser closed the connection"
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write, nursery.cancel_scope)
                task_status.started()
                why = await self._read()
                nursery.cancel_scope.cancel(reason="the peer is gone")
        finally:
            self.lost.set()
            self._outbox.clear()
            for slot in self._slots.values():
                slot.fill(ConnectionLostError(why))
        raise ConnectionLostError(why)

    def _send(self, id_: int, frame: bytes) -> None:
        self._outbox.append((id_, frame))
        self._mail.set()

    async def _write(self, both: trio.CancelScope) -> None:
        while True:
            while self._outbox:
                _, frame = self._outbox.popleft()
                try:
                    await self._transport.send(frame)
                except ConnectionLostError:
                    both.cancel(reason="the peer is gone")
                    return
                self._sent += 1
            self._mail = trio.Event()
            await self._mail.wait()

    async def _read(self) -> str:
        """Read until the peer is gone; return why."""
        while True:
            try:
                heard = self._dialogue.receive(await self._transport.receive())
            except ConnectionLostError as error:
                return error.message
            except msgspec.DecodeError as error:
                logger.warning("what the browser says is not CDP: %s", error)
                return f"the browser does not speak CDP: {error}"
            self._received += 1
            if isinstance(heard, Answer):
                if (slot := self._slots.get(heard.id)) is not None:
                    slot.fill(heard.outcome)
            elif heard is not None:
                self._tell(heard)

    def _tell(self, event: Event) -> None:
        if event.method == "Target.detachedFromTarget":
            self._fail_session(msgspec.json.decode(event.params, type=_Detached).session_id)
        listeners = self._listeners.get(event.session_id)
        if not listeners:
            self._unheard += 1
            return
        for listener in tuple(listeners):
            listener(event)

    def _fail_session(self, session_id: str) -> None:
        for slot in self._slots.values():
            if slot.session_id == session_id:
                slot.fill(SessionGoneError("the page was closed before it answered"))
