"""Standard input and output as lines of bytes, for the MCP transport.

Owns descriptors 0 and 1 while it serves: the wire moves to private duplicates, 0 becomes the
null device and 1 becomes stderr, so that a stray ``print`` or a child's output cannot reach
the client. The SDK's own transport reads in a thread, which cannot be stopped while standard
input stays open; here everything is cancelled at once.

Reading waits until there is something and then reads without blocking, which needs no change
to the descriptor; writing sets ``O_NONBLOCK`` and takes it back, since a blocking write to a
client that does not read would stop the loop. Files and terminals are used plainly. POSIX.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 256 * 1024  # bytes; more than a pipe holds
MAX_LINE = 64 * 1024 * 1024  # bytes; a longer message is refused, not kept
FIRST_FREE = 3  # descriptors below are standard


class LineReader:
    """An iterator over the lines of a descriptor, without their ends.

    A line longer than ``limit`` bytes is read away and given as None. The last line counts
    even if nothing ends it. Memory and time are linear in what is read.
    """

    def __init__(self, fd: int, limit: int = MAX_LINE) -> None:
        self._fd = fd
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0  # bytes at the front of the buffer that hold no line end
        self._overflowing = False
        self._can_wait = _can_wait(fd)

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> bytes | None:
        while (end := self._buffer.find(b"\n", self._searched)) < 0:
            self._searched = len(self._buffer)
            if self._searched > self._limit:
                self._overflowing = True
                self._forget(self._searched)
            chunk = await self._read()
            if not chunk:
                return self._last()
            self._buffer += chunk
        return self._cut(end)

    def _cut(self, end: int) -> bytes | None:
        line = bytes(self._buffer[:end]) if end <= self._limit else None
        self._forget(end + 1)
        if self._overflowing:
            line, self._overflowing = None, False
        return line

    def _last(self) -> bytes | None:
        if not self._buffer and not self._overflowing:
            raise StopAsyncIteration
        return self._cut(len(self._buffer))

    def _forget(self, length: int) -> None:
        del self._buffer[:length]
        self._searched = 0

    async def _read(self) -> bytes:
        while True:
            if self._can_wait:
                await trio.lowlevel.wait_readable(self._fd)
            else:
                await trio.lowlevel.checkpoint()
            with suppress(BlockingIOError):  # somebody else read it
                try:
                    return os.read(self._fd, CHUNK)
                except OSError as error:
                    if isinstance(error, BlockingIOError):
                        raise
                    return b""  # a terminal that went away, a connection reset


class LineWriter:
    """Writes to a descriptor, all of it or an error.

    After a cancelled ``write`` the other side may have half of it: one task writes, and is
    cancelled only when everything ends.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        # The stream closes what it is given, and restores its blocking mode first.
        self._stream = trio.lowlevel.FdStream(os.dup(fd)) if _is_stream(fd) else None

    async def write(self, data: bytes) -> None:
        """Write all of ``data``.

        Raises:
            OSError, trio.BrokenResourceError: Nobody reads any more.
        """
        if self._stream is not None:
            await self._stream.send_all(data)
            return
        view = memoryview(data)
        while view:
            await trio.lowlevel.checkpoint()
            view = view[os.write(self._fd, view[:CHUNK]) :]

    def close(self) -> None:
        """Let go of the descriptor, without closing the one that was given."""
        if self._stream is not None:
            self._stream.close()


@contextmanager
def claim_standard_streams() -> Iterator[tuple[LineReader, LineWriter]]:
    """Take over standard input and output for the length of the block."""
    sys.stdout.flush()
    wire_in = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
    wire_out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    writer = LineWriter(wire_out)
    try:
        yield LineReader(wire_in), writer
    finally:
        writer.close()
        with suppress(OSError, ValueError):
            sys.stdout.flush()  # what was printed meanwhile goes to stderr, like the rest of it
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)
        os.close(wire_in)
        os.close(wire_out)


def _can_wait(fd: int) -> bool:
    """Say whether the system can tell when ``fd`` is readable; of files it cannot."""
    return _is_stream(fd) or os.isatty(fd)


def _is_stream(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
