"""CDP over two pipes: frames end with a NUL byte.

The browser reads commands from its descriptor 3 and writes to its descriptor 4; it ends
itself when the pipe closes, so that it cannot outlive its engine. Owns our two ends, and not
the process at the other. Source: Chromium, ``--remote-debugging-pipe``.
"""

from __future__ import annotations

import fcntl
from collections import deque
from contextlib import suppress

import trio

from vfa.errors import ConnectionLostError

CHUNK = 1 << 18  # bytes of one read
BUFFER = 1 << 20  # bytes the kernel may hold for a pipe; its usual limit for users


class PipeTransport:
    """A transport over two descriptors, which it owns from now on.

    Args:
        read_fd: Where the browser's frames come from.
        write_fd: Where ours go to.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        for fd in (read_fd, write_fd):
            with suppress(OSError, AttributeError):  # Linux only, and bounded by the system
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, BUFFER)
        self._in = trio.lowlevel.FdStream(read_fd)
        self._out = trio.lowlevel.FdStream(write_fd)
        self._frames: deque[bytes] = deque()  # whole frames that came with an earlier read
        self._parts: list[bytes] = []  # the beginning of the next one

    async def send(self, *frames: bytes) -> None:
        """Send frames with one write: each wakes the browser."""
        try:
            await self._out.send_all(b"\0".join((*frames, b"")))
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ConnectionLostError("the browser closed its pipe") from error

    async def receive(self) -> bytes:
        """Return the next frame; without a checkpoint if it came with the one before."""
        while not self._frames:
            try:
                chunk = await self._in.receive_some(CHUNK)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise ConnectionLostError("the browser's pipe broke") from error
            if not chunk:
                raise ConnectionLostError("the browser closed its pipe")
            self._take(bytes(chunk))
        return self._frames.popleft()

    async def aclose(self) -> None:
        """Close both pipes."""
        self._in.close()
        self._out.close()
        await trio.lowlevel.checkpoint()

    def _take(self, chunk: bytes) -> None:
        """Cut a chunk into frames. Parts are joined once, so time is linear in the bytes."""
        *ends, rest = chunk.split(b"\0")
        for end in ends:
            self._parts.append(end)
            self._frames.append(b"".join(self._parts))
            self._parts.clear()
        if rest:
            self._parts.append(rest)
