"""The picture process as seen from the engine: started, given one job at a time, ended.

Owns the process and the pipes to it. Whether there is one, and for how long, is the
encoder's decision; what the process does with a job is in ``vfa.image``.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import PictureError, ScreenshotTooLargeError
from vfa.image.jobs import (
    HEADER_BYTES,
    Answer,
    Done,
    Failed,
    Job,
    Order,
    Picture,
    Started,
    frame,
)
from vfa.process import Process, pipe, process_group

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

logger = logging.getLogger(__name__)

REAP_TIMEOUT = 0.5  # seconds for the exit code of a process whose pipe is closed already
CHUNK = 1024 * 1024  # bytes read at once, and what pipes are widened to where allowed
# The process reads pictures from the open web; it gets none of the keys in our environment.
ENVIRONMENT = ("PATH", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# Neither vfa/__init__.py nor site.py nor PYTHON* variables: what they load, a worker that
# must start in a few milliseconds does not need. Its arguments are the folders to import
# from, so a checkout, a wheel and a virtual environment all work alike.
BOOT = """\
import sys, types
memory, package, *folders = sys.argv[1:]
sys.path += folders
sys.modules["vfa"] = types.ModuleType("vfa")
sys.modules["vfa"].__path__ = [package]
sys.argv[1:] = [memory]
from vfa.image.worker import main
main()
"""

_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


class DiedError(PictureError):
    """The process went away; ``started`` tells whether it had taken the job."""

    def __init__(self, process: Process, *, started: bool) -> None:
        super().__init__(
            f"the picture process ended while it had this job ({_end_of(process)})",
            hint="The picture may be too large for the memory there is; a smaller one works.",
        )
        self.started = started


def _end_of(process: Process) -> str:
    code = process.poll()
    return "it closed its pipes" if code is None else f"exit code {code}"


async def employ(memory_mb: int, idle: float, *, task_status: trio.TaskStatus[Worker]) -> None:
    """Keep one worker until it is dismissed, has been idle too long, or dies.

    Args:
        memory_mb: What it may use.
        idle: Seconds it lives if it is never given a job, as when its asker just gave up.
        task_status: Told the worker.

    Raises:
        OSError: It cannot be started.
    """
    with trio.move_on_after(idle) as scope:
        async with _open_worker(memory_mb, scope) as worker:
            logger.debug("picture process %d started", worker.process.pid)
            task_status.started(worker)
            code = await worker.process.wait()
            # Its last words may still be in the pipe that is closed on leaving here.
            async with worker.in_use:
                pass
            logger.warning("picture process %d ended by itself: %d", worker.process.pid, code)


@asynccontextmanager
async def _open_worker(memory_mb: int, scope: trio.CancelScope) -> AsyncIterator[Worker]:
    async with AsyncExitStack() as stack:
        with pipe() as (orders, to_worker), pipe() as (from_worker, answers):
            _widen(to_worker)
            _widen(from_worker)
            process = await stack.enter_async_context(
                process_group(
                    worker_command(memory_mb),
                    {0: orders, 1: answers},
                    env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
                )
            )
            ours = [
                stack.enter_context(closing(trio.lowlevel.FdStream(os.dup(end))))
                for end in (to_worker, from_worker)
            ]
        yield Worker(process, ours[0], ours[1], scope)


def worker_command(memory_mb: int) -> list[str]:
    """Return how to start the picture process with ``memory_mb`` megabytes at most."""
    package = Path(__file__).resolve().parent.parent
    folders = []
    for name in ("PIL", "msgspec"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise PictureError(f"the Python package {name} is not installed")
        folders.append(str(Path(spec.origin).parent.parent))
    paths = dict.fromkeys([str(package), *folders])
    return [sys.executable, "-I", "-S", "-c", BOOT, str(memory_mb), *paths]


def _widen(end: int) -> None:
    """Let more than 64 KiB wait in a pipe, where the system knows how and allows it."""
    try:
        import fcntl

        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, CHUNK)
    except (AttributeError, OSError):
        return


class Worker:
    """One picture process and our ends of its pipes."""

    def __init__(
        self,
        process: Process,
        orders: trio.lowlevel.FdStream,
        answers: trio.lowlevel.FdStream,
        scope: trio.CancelScope,
    ) -> None:
        self.process = process
        self.scope = scope  # around its whole life: its deadline is when it has idled too long
        self.is_clean = True  # False: a job was begun and has no complete answer
        self.in_use = trio.Lock()  # held during a job
        self._has_started = False  # the worker has the whole of the present job
        self._orders = orders
        self._answers = answers

    @property
    def is_alive(self) -> bool:
        """Whether a job may be given to it."""
        return not self.scope.cancel_called and self.process.poll() is None

    def dismiss(self) -> None:
        """Kill it now; the task that keeps it clears up."""
        self.process.kill_group()
        self.scope.cancel(reason="dismissed")

    async def do(self, job: Job, pictures: tuple[bytes, ...]) -> Picture:
        """Give it one job and wait for the answer; it must be dismissed if not clean then."""
        self.is_clean = False
        self._has_started = False
        async with self.in_use:
            with suppress(EOFError):
                picture = await self._talk(job, pictures)
                self.is_clean = True
                return picture
        with trio.move_on_after(REAP_TIMEOUT):
            await self.process.wait()
        raise DiedError(self.process, started=self._has_started)

    async def _talk(self, job: Job, pictures: tuple[bytes, ...]) -> Picture:
        await self._give(job, pictures)
        answer = await self._hear()
        if isinstance(answer, Started):
            self._has_started = True
            answer = await self._hear()
        return await self._finish(job, answer)

    async def _give(self, job: Job, pictures: tuple[bytes, ...]) -> None:
        order = Order(job, tuple(map(len, pictures)))
        try:
            for part in (frame(order), *pictures):
                await self._orders.send_all(part)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # It gave up reading: an answer that says why may be on its way.
            return

    async def _hear(self) -> Answer:
        size = int.from_bytes(await self._read(HEADER_BYTES), "big")
        return _answers.decode(await self._read(size))

    async def _finish(self, job: Job, answer: Answer) -> Picture:
        match answer:
            case Done(width, height, scale, within_budget, size):
                data = bytes(await self._read(size))
                return Picture(data, width, height, scale, job.target.mime_type, within_budget)
            case Failed():
                raise self._failure(answer)
            case Started():
                raise EOFError  # twice: not our protocol any more

    def _failure(self, answer: Failed) -> PictureError:
        match answer.reason:
            case "unreadable":
                self.is_clean = True
                return PictureError(answer.message, hint=answer.hint)
            case "too-large":
                self.is_clean = True
                return ScreenshotTooLargeError(answer.message, hint=answer.hint)
            case "memory":  # start anew rather than trust a process that ran out of it
                return PictureError(answer.message, hint=answer.hint)
            case "bug":
                logger.error("bug in the picture process:\n%s", answer.message)
                last = answer.message.strip().rpartition("\n")[2]
                return PictureError(f"the work on the picture failed: {last}")

    async def _read(self, size: int) -> bytearray:
        buffer = bytearray()
        try:
            while len(buffer) < size:
                chunk = await self._answers.receive_some(min(CHUNK, size - len(buffer)))
                if not chunk:
                    raise EOFError
                buffer += chunk
        except trio.ClosedResourceError:  # it died before the job began and was cleared away
            raise EOFError from None
        return buffer
