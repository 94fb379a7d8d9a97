"""Logging: one line an event, on stderr, with the task that said it.

Stdout belongs to the MCP front; nothing in this package may print. A client that does not
read our stderr must not stop the engine either: records go through a bounded queue to a
thread of their own, and what does not fit is dropped and counted.
"""

from __future__ import annotations

import logging
import logging.handlers
import queue
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator

QUEUE_SIZE = 2000  # records; about a megabyte when stderr is stuck
STOP_TIMEOUT = 1.0  # seconds the last records may take to reach stderr


class _TaskName(logging.Filter):
    """Adds ``record.task``: the name of the running Trio task, or ``-`` outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            record.task = trio.lowlevel.current_task().name
        except RuntimeError:
            record.task = "-"
        return True


class _DroppingHandler(logging.handlers.QueueHandler):
    """Queues records and never waits; counts what did not fit."""

    def __init__(self, records: queue.Queue[logging.LogRecord]) -> None:
        super().__init__(records)
        self.dropped = 0

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


class _OneLine(logging.Formatter):
    """Escapes control characters: text from a page must not forge or colour log lines."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return "".join(
            c if c in "\n\t" or (c.isprintable() and c != "\u2028") else repr(c)[1:-1]
            for c in text
        )


@contextmanager
def to_stderr(level: str) -> Iterator[None]:
    """Send every record of at least ``level`` ("DEBUG" … "ERROR") to stderr in this block."""
    records: queue.Queue[logging.LogRecord] = queue.Queue(QUEUE_SIZE)
    handler = _DroppingHandler(records)
    handler.addFilter(_TaskName())
    sink = logging.StreamHandler(sys.stderr)
    sink.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s [%(task)s] %(message)s"))
    listener = logging.handlers.QueueListener(records, sink)
    root = logging.getLogger()
    before = root.level
    root.setLevel(level)
    root.addHandler(handler)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        _stop(listener)
        if handler.dropped:
            sys.stderr.write(f"{handler.dropped} log records were dropped\n")


def _stop(listener: logging.handlers.QueueListener) -> None:
    """Let the thread write what waits, but do not wait for a reader that is gone."""
    try:
        listener.queue.put_nowait(None)  # the listener's own end mark
    except queue.Full:
        return
    thread = listener._thread  # stop() would join without a bound
    if thread is not None:
        thread.join(STOP_TIMEOUT)
