"""Logging: one line an event, on stderr, with the task that said it.

Stdout belongs to the MCP front; nothing in this package may print. A client that does not
read our stderr must not stop the engine, nor its exit: records go through a bounded queue to
a thread of their own, which writes to the descriptor itself, and what does not fit is dropped
and counted.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import queue
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator

QUEUE_SIZE = 2000  # records; about a megabyte when stderr is stuck
STOP_TIMEOUT = 1.0  # seconds the last records may take to reach stderr
STDERR = 2
FORMAT = "%(asctime)s %(levelname)s %(name)s [%(task)s] %(message)s"


class _TaskName(logging.Filter):
    """Adds ``record.task``: the name of the running Trio task, or ``-`` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            record.task = trio.lowlevel.current_task().name
        except RuntimeError:
            record.task = "-"
        return True


class _OneLine(logging.Formatter):
    """Keeps text from a page from forging or colouring lines of the log.

    Control characters and line breaks of a message are escaped; the lines of a traceback
    are indented.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the library's name
        return _printable(super().formatMessage(record))

    def formatException(self, ei: object) -> str:  # noqa: N802
        text = super().formatException(ei)  # type: ignore[arg-type]  # the library's own shape
        return "\n".join("    " + _printable(line) for line in text.splitlines())


class _Queued(logging.handlers.QueueHandler):
    """Queues finished lines and never waits; counts what did not fit."""

    def __init__(self, lines: queue.Queue[str | None]) -> None:
        super().__init__(lines)
        self.dropped = 0
        self.setFormatter(_OneLine(FORMAT))

    def prepare(self, record: logging.LogRecord) -> str:
        return self.format(record)

    def enqueue(self, record: logging.LogRecord) -> None:  # a line, by way of ``prepare``
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


@contextmanager
def to_stderr(level: str) -> Iterator[None]:
    """Send every record of at least ``level`` ("DEBUG" … "ERROR") to stderr in this block."""
    lines: queue.Queue[str | None] = queue.Queue(QUEUE_SIZE)
    handler = _Queued(lines)
    handler.addFilter(_TaskName())
    root = logging.getLogger()
    before = root.level
    # A daemon: an interpreter that exits does not wait for a reader that is gone.
    writer = threading.Thread(target=_write, args=(lines,), name="log", daemon=True)
    root.setLevel(level)
    root.addHandler(handler)
    writer.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        _finish(handler, lines, writer)


def _write(lines: queue.Queue[str | None]) -> None:
    while (line := lines.get()) is not None:
        data = (line + "\n").encode("utf-8", "backslashreplace")
        with suppress(OSError):  # nobody reads; there is nobody to tell, either
            while data:
                data = data[os.write(STDERR, data) :]


def _finish(handler: _Queued, lines: queue.Queue[str | None], writer: threading.Thread) -> None:
    """Let the thread write what waits, but not for longer than ``STOP_TIMEOUT``."""
    with suppress(queue.Full):
        lines.put(None, timeout=STOP_TIMEOUT)
    writer.join(STOP_TIMEOUT)
    if handler.dropped and not writer.is_alive():
        os.write(STDERR, f"{handler.dropped} log records were dropped\n".encode())


def _printable(text: str) -> str:
    return "".join(
        c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text
    )
