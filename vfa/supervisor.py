"""Supervision: keep actors running, in order, and give up in time.

The strategy is ``rest_for_one``: children start left to right, and a crash restarts the
crashed child and everything to its right, because what is to its right was built on it.
The words are Erlang/OTP's. One thing differs: Trio has no ``brutal_kill``. A child leaves
only when its own cleanup lets it, so every cleanup is bounded where it is written.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Protocol

import msgspec
import trio

from vfa.errors import RestartsExhaustedError

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger(__name__)


class Start(Protocol):
    """How a child is run: it calls ``task_status.started()`` once it can serve."""

    async def __call__(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Run until cancelled. To return is to crash: an actor has no natural end."""


class Child(msgspec.Struct, frozen=True):
    """One line of the supervision tree."""

    name: str
    start: Start
    start_timeout: float = 10.0  # seconds until started() must have been called
    stop_timeout: float = 5.0  # seconds its cleanup may take before it is called stuck


class Limits(msgspec.Struct, frozen=True):
    """More than ``intensity`` restarts within ``period`` seconds end the supervisor."""

    intensity: int = 3
    period: float = 60.0  # seconds
    first_delay: float = 0.25  # seconds before a restart; doubles while restarts are recent


class RestartBudget:
    """The sliding window of restarts. Knows no task and no clock, so it is tested alone."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._restarts: deque[float] = deque()

    def spend(self, now: float) -> float | None:
        """Record a restart at ``now``; return the delay before it, or None if refused."""
        while self._restarts and self._restarts[0] < now - self._limits.period:
            self._restarts.popleft()
        self._restarts.append(now)
        if len(self._restarts) > self._limits.intensity:
            return None
        return self._limits.first_delay * 2.0 ** (len(self._restarts) - 1)


class _Running:
    """A child that has started: how to stop it, and how it ended."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.scope = trio.CancelScope()
        self.done = trio.Event()
        self.crash: Exception | None = None


class Supervisor:
    """Runs ``children`` as one ``rest_for_one`` group."""

    def __init__(self, children: Sequence[Child], limits: Limits) -> None:
        self._children = children
        self._budget = RestartBudget(limits)
        self._running: list[_Running] = []
        self._bell = trio.Event()  # rung when any child ends; replaced when answered

    async def run(
        self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Run the group until cancelled.

        Raises:
            RestartsExhaustedError: The budget is spent; its ``__cause__`` is the last crash.
        """
        ready = False
        async with trio.open_nursery() as nursery:
            try:
                while True:
                    crash = await self._start_missing(nursery)
                    if crash is None:
                        if not ready:
                            task_status.started()
                            ready = True
                        crash = await self._wait_for_crash()
                    delay = self._budget.spend(trio.current_time())
                    if delay is None:
                        break
                    await trio.sleep(delay)
            finally:
                await self._stop_from(0)  # noqa: ASYNC102  # shields and bounds each child
        raise RestartsExhaustedError("too many restarts") from crash

    async def _start_missing(self, nursery: trio.Nursery) -> Exception | None:
        """Start every child that is not running, left to right; return why one could not."""
        for child in self._children[len(self._running) :]:
            running = _Running(child)
            try:
                with trio.fail_after(child.start_timeout):
                    await nursery.start(self._watch, running, name=child.name)
            except Exception as failure:
                logger.exception("%s did not start", child.name)
                return running.crash or failure
            # From here on only the supervisor stops it: an outer cancellation would reach
            # all children at once, and the group must close right to left.
            running.scope.shield = True
            self._running.append(running)
        return None

    async def _watch(self, running: _Running, *, task_status: trio.TaskStatus[None]) -> None:
        try:
            with running.scope:
                await running.child.start(task_status=task_status)
                running.crash = RuntimeError(f"{running.child.name} returned")
        except Exception as crash:  # the one place where a crash is contained
            running.crash = crash
            logger.exception("%s crashed", running.child.name)
        finally:
            running.done.set()
            self._bell.set()

    async def _wait_for_crash(self) -> Exception | None:
        """Wait until a child ends, stop what was built on it, and return why it ended."""
        while True:
            for index, running in enumerate(self._running):
                if running.done.is_set():
                    await self._stop_from(index)
                    return running.crash
            self._bell = trio.Event()
            await self._bell.wait()

    async def _stop_from(self, first: int) -> None:
        """Stop children right to left, each within its own grace."""
        while len(self._running) > first:
            running = self._running.pop()
            running.scope.cancel(reason="stopped by its supervisor")
            with trio.move_on_after(running.child.stop_timeout, shield=True) as grace:
                await running.done.wait()
            if grace.cancelled_caught:
                logger.critical("%s is stuck in its cleanup", running.child.name)
