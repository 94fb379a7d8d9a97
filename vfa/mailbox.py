"""Mailboxes: the only way one actor reaches another.

A mailbox is owned by whoever builds the tree, not by the actor that reads it. An actor can
crash and be restarted while its address, and the letters already waiting, stay valid.

Every letter has an asker who waits for it, so the number of askers bounds a mailbox by
itself; ``limit`` lowers that bound and refuses instead of letting more callers queue. A
letter whose asker gave up (deadline or cancellation) leaves the queue at once, and if an
actor is working on it already, that work is cancelled: a memory channel could do neither,
so the queue here is a deque and a parking lot.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import outcome
import trio

from vfa.errors import ActorGoneError, QueueFullError, VfaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Self

R = TypeVar("R")


class Request(msgspec.Struct, Generic[R], frozen=True):
    """Base of every message that is answered; ``R`` is the type of the answer."""


M = TypeVar("M", bound=Request[Any])


class _Letter:
    """One request in flight: what is asked, how its asker gives up, and the answer."""

    def __init__(self, request: Any) -> None:
        self.request = request
        # Entered by the actor around its work, cancelled by the asker who leaves: this is
        # how giving up crosses tasks.
        self.scope = trio.CancelScope(deadline=trio.current_effective_deadline())
        self.settled = trio.Event()
        self.result: outcome.Outcome[Any] | None = None

    def settle(self, result: outcome.Outcome[Any]) -> None:
        if self.result is None:
            self.result = result
            self.settled.set()


class Mailbox(Generic[M]):
    """A queue of letters with a stable address.

    Args:
        name: The actor's name, for error messages and task names.
        limit: Letters that may be in work or waiting before ``ask`` refuses; None for no
            bound but the number of askers.
    """

    def __init__(self, name: str, limit: int | None = None) -> None:
        self.name = name
        self.peak = 0  # the most letters that were ever here at once
        self._limit = limit
        self._waiting: deque[_Letter] = deque()
        self._in_work = 0
        self._readers = trio.lowlevel.ParkingLot()
        self._closed = False

    @property
    def load(self) -> int:
        """Letters in work or waiting."""
        return self._in_work + len(self._waiting)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Refuse new letters, then fail the ones still waiting."""
        self._closed = True
        while self._waiting:
            self._waiting.popleft().settle(outcome.Error(ActorGoneError(self.name)))
        self._readers.unpark_all()

    async def ask(self, request: Request[R]) -> R:
        """Send ``request`` and wait for its answer.

        There is no timeout parameter: the caller's cancel scopes bound the wait. When they
        end it, the letter is withdrawn and the work on it is cancelled.

        Raises:
            QueueFullError: ``limit`` letters are here already.
            ActorGoneError: The actor crashed on this letter, or was stopped for good.
            VfaError: The actor answered with a failure.
        """
        if self._closed:
            raise ActorGoneError(self.name)
        if self._limit is not None and self.load >= self._limit:
            raise QueueFullError(
                f"the {self.name} queue is full: {self.load} operations run or wait",
                hint="Try again when some have finished. QUEUE_LIMIT sets the bound for a tab.",
            )
        letter = _Letter(request)
        self._waiting.append(letter)
        self.peak = max(self.peak, self.load)
        self._readers.unpark(count=1)
        try:
            await letter.settled.wait()
        finally:
            letter.scope.cancel(reason="its asker gave up")
            with suppress(ValueError):
                self._waiting.remove(letter)
        assert letter.result is not None
        answer: R = letter.result.unwrap()
        return answer

    async def serve(self, handle: Callable[[M], Awaitable[object]]) -> None:
        """Answer letters one at a time, in order, until the mailbox is closed.

        A ``VfaError`` from ``handle`` is an answer and the actor lives on. Any other
        exception is a bug: the asker gets ``ActorGoneError``, the exception leaves this
        function and the supervisor decides.
        """
        while (letter := await self._next()) is not None:
            await self._answer(letter, handle)

    async def serve_concurrently(self, handle: Callable[[M], Awaitable[object]]) -> None:
        """Answer each letter in a task of its own, until the mailbox is closed."""
        async with trio.open_nursery() as letters:
            while (letter := await self._next()) is not None:
                letters.start_soon(self._answer, letter, handle, name=f"{self.name} letter")

    async def _next(self) -> _Letter | None:
        await trio.lowlevel.checkpoint()
        while not self._waiting:
            if self._closed:
                return None
            await self._readers.park()
        letter = self._waiting.popleft()
        self._in_work += 1
        return letter

    async def _answer(self, letter: _Letter, handle: Callable[[M], Awaitable[object]]) -> None:
        try:
            with letter.scope:
                letter.settle(outcome.Value(await handle(letter.request)))
        except VfaError as error:
            letter.settle(outcome.Error(error))
        finally:
            self._in_work -= 1
            letter.settle(outcome.Error(ActorGoneError(self.name)))
