"""Child processes that never outlive their block.

Children are started with ``posix_spawn``: it puts pipes at the exact file descriptors that
a program expects (Chromium wants 3 and 4), makes the child the leader of its own session,
and runs no Python between fork and exec. The whole process group is killed on the way out,
since killing only the leader leaves its children.

POSIX only. On Windows the engine attaches to a browser that is already running.
"""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

REAP_TIMEOUT = 1.0  # seconds; SIGKILL cannot be refused, only an unreapable process is slower
POLL = 0.05  # seconds between looks at a child where the kernel has no pidfd
LOWEST_SPARE = 10  # above every descriptor a child is promised, so that dup2 never collides


class Process:
    """A child process and the process group it leads."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None  # negative: the signal that ended it
        self._gone = trio.Event()

    def poll(self) -> int | None:
        """Return the exit code if the process has ended, without waiting."""
        if self.returncode is None:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
                    self._gone.set()
        return self.returncode

    async def wait(self) -> int:
        """Wait for the process to end; return its exit code."""
        while (code := self.poll()) is None:
            await self._wait_for_a_change()
        return code

    def kill_group(self) -> None:
        """Send SIGKILL to the process and everything it started in its group."""
        # The pid is the group's id. Asking getpgid() would fail once the leader is reaped.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def _wait_for_a_change(self) -> None:
        try:
            handle = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # macOS, old kernels, or gone this very moment
            with trio.move_on_after(POLL):
                await self._gone.wait()
            return
        try:
            await trio.lowlevel.wait_readable(handle)
        finally:
            os.close(handle)


@asynccontextmanager
async def process_group(
    command: Sequence[str],
    descriptors: Mapping[int, int],
    *,
    env: Mapping[str, str] | None = None,
    grace: float = 0.0,
) -> AsyncIterator[Process]:
    """Run ``command`` as the leader of a new session; kill its group on the way out.

    Args:
        command: An executable's path and its arguments.
        descriptors: Child descriptor to ours. Ours stay open here; close them once started.
            Descriptors 0, 1 and 2 not named are the null device; all others are closed.
        env: The child's environment; ours if None.
        grace: Seconds the program has to exit by itself once the block is left. Ask it to
            before leaving; nothing is sent here but SIGKILL.

    Raises:
        OSError: The program could not be started.
    """
    process = Process(_spawn(command, descriptors, os.environ if env is None else env))
    try:
        yield process
    finally:
        with trio.move_on_after(grace, shield=True):
            await process.wait()
        process.kill_group()
        with trio.move_on_after(REAP_TIMEOUT, shield=True):
            await process.wait()


def _spawn(
    command: Sequence[str], descriptors: Mapping[int, int], env: Mapping[str, str]
) -> int:
    wanted = {n: os.devnull for n in range(3) if n not in descriptors}
    spares = {
        n: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LOWEST_SPARE) for n, fd in descriptors.items()
    }
    try:
        actions: list[
            tuple[int, int, str, int, int] | tuple[int, int, int] | tuple[int, int]
        ] = [(os.POSIX_SPAWN_OPEN, n, path, os.O_RDWR, 0) for n, path in wanted.items()]
        actions += [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in spares.items()]
        actions += [
            (os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable() if fd not in descriptors
        ]
        return os.posix_spawn(
            command[0],
            list(command),
            env,
            file_actions=actions,
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM],
        )
    finally:
        for fd in spares.values():
            os.close(fd)


def _inheritable() -> list[int]:
    """Return the open descriptors above 2 that a child would get.

    Ours never are; but whoever started us may have left some open, and a browser that holds
    on to a stranger's pipe or lock keeps that stranger waiting.
    """
    inheritable = []
    for name in os.listdir("/dev/fd"):
        with suppress(OSError, ValueError):
            if int(name) > 2 and os.get_inheritable(int(name)):
                inheritable.append(int(name))
    return inheritable


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe ``(read, write)``; both ends are closed on leaving, if they still are ours.

    Hand an end on by duplicating it, never by keeping its number.
    """
    read, write = os.pipe2(os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
    try:
        yield read, write
    finally:
        os.close(read)
        os.close(write)
