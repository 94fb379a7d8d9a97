"""Running a command's task so that Ctrl-C and SIGTERM end it with its cleanup done."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SIGNALLED = 128  # exit codes of programs ended by a signal start here, as shells have it


def run(work: Callable[[], Awaitable[None]]) -> int:
    """Run ``work``; return 0, or 128 + the number of the signal that ended it early.

    The first signal cancels the work, so that the browser is stopped and its profile
    removed. A second one, for whoever does not want to wait, is Python's own.
    """
    return trio.run(_run, work)


async def _run(work: Callable[[], Awaitable[None]]) -> int:
    caught: list[int] = []

    async def watch(*, task_status: trio.TaskStatus[None]) -> None:
        with trio.open_signal_receiver(*SIGNALS) as signals:
            task_status.started()
            async for number in signals:
                caught.append(number)
                break
        nursery.cancel_scope.cancel(reason="interrupted")

    async with trio.open_nursery() as nursery:
        await nursery.start(watch)
        await work()
        nursery.cancel_scope.cancel(reason="done")
    return SIGNALLED + caught[0] if caught else 0
