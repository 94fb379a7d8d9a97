"""When a server has to end although its client said nothing: signals, and a dead parent.

A client that is killed leaves our standard input open if somebody else holds it too, a
launcher for instance. So the parent process is watched as well: by a pidfd where the kernel
has them, else by looking once a second.
"""

from __future__ import annotations

import logging
import os
import signal
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LOOK = 1.0  # seconds between looks at the parent


async def run_until_told_to_stop(work: Callable[[], Awaitable[None]]) -> None:
    """Run ``work``; cancel it at the first signal or when the parent is gone.

    Further signals change nothing: whoever sends one more while we clean up must not leave
    half of it undone. Every cleanup is bounded where it is written.
    """
    with trio.open_signal_receiver(*SIGNALS) as signals:
        async with trio.open_nursery() as watchers:
            scope = trio.CancelScope()
            watchers.start_soon(_watch_signals, signals, scope)
            watchers.start_soon(_watch_parent, os.getppid(), scope)
            with scope:
                await work()
            watchers.cancel_scope.cancel(reason="the work is done")


async def _watch_signals(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for number in signals:
        logger.info("Shutting down: %s", signal.Signals(number).name)
        scope.cancel(reason="told to by a signal")


async def _watch_parent(parent: int, scope: trio.CancelScope) -> None:
    await wait_for_end_of_parent(parent)
    logger.info("Shutting down: the process that started us is gone")
    scope.cancel(reason="the parent is gone")


async def wait_for_end_of_parent(
    parent: int, *, getppid: Callable[[], int] = os.getppid
) -> None:
    """Wait until ``parent`` is not our parent any more."""
    try:
        handle = os.pidfd_open(parent)
    except (AttributeError, OSError):  # macOS, old kernels, a parent outside our namespace
        while getppid() == parent:  # noqa: ASYNC110  # nothing would tell us
            await trio.sleep(LOOK)
        return
    try:
        if getppid() == parent:  # else it went before we held on to it
            await trio.lowlevel.wait_readable(handle)
    finally:
        os.close(handle)
