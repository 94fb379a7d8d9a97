"""The picture process: reads jobs from stdin, answers on stdout, one at a time.

It exists so that Pillow, its memory and what a hostile picture may do to it stay out of the
engine: the engine kills this process and starts another. It ends by itself when its stdin
is closed, in the middle of a job too, because nothing else ends it when the engine is killed.

Started by ``vfa.actors.encoder``; its one argument is the memory it may use in megabytes.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from vfa.errors import PictureError, ScreenshotTooLargeError
from vfa.image.fit import Encoded, fit
from vfa.image.jobs import (
    HEADER_BYTES,
    MAX_PICTURE_BYTES,
    Animate,
    Annotate,
    Answer,
    Crop,
    Done,
    Failed,
    Fit,
    Order,
    Sheet,
    Started,
    Stitch,
    frame,
)

if TYPE_CHECKING:
    from vfa.image.jobs import Job

MAX_ORDER_BYTES = 16 * 1024 * 1024  # an order without its pictures: mostly boxes
MEGABYTE = 1024 * 1024

_orders = msgspec.msgpack.Decoder(Order)


def main() -> None:
    """Serve until the engine closes our stdin."""
    limit_memory(int(sys.argv[1]) * MEGABYTE)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    # A library that prints must not print into the protocol.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError, EOFError):
        serve(os.fdopen(0, "rb", buffering=0), answers)
    os._exit(0)  # nothing to clean up, and no traceback about a pipe that is gone


def serve(orders: BinaryIO, answers: BinaryIO) -> None:
    """Answer every order until ``orders`` ends, which raises ``EOFError``."""
    while True:
        try:
            order, pictures = read_order(orders)
        except MemoryError:
            # What was not read would be taken for the next order.
            _write(answers, _out_of_memory())
            return
        _write(answers, Started())
        _end_with(orders)
        try:
            answer, picture = _answer(order.job, pictures)
        except BaseException:
            # A bug, which ends this process: say which, since nobody reads our stderr.
            _write(answers, Failed("bug", traceback.format_exc()))
            raise
        _live_without(orders)
        del pictures  # not kept in memory while waiting for the next order
        _write(answers, answer, picture)


def read_order(orders: BinaryIO) -> tuple[Order, list[memoryview]]:
    """Read one order and its pictures."""
    size = int.from_bytes(_read(orders, HEADER_BYTES), "big")
    if size > MAX_ORDER_BYTES:
        raise EOFError  # not our engine at the other end
    order = _orders.decode(_read(orders, size))
    if sum(order.sizes) > MAX_PICTURE_BYTES:
        raise EOFError
    return order, [_read(orders, size) for size in order.sizes]


def work(job: Job, pictures: list[memoryview]) -> Encoded:
    """Do ``job``."""
    match job:
        case Fit():
            return fit(pictures[0], job.target)
        case Annotate():
            from vfa.image.boxes import annotate  # fonts and drawing: 5 MB that few jobs need

            return annotate(pictures[0], job.boxes, job.target, job.scale)
        case Stitch():
            from vfa.image.stitch import stitch

            tiles = [(data, x, y) for data, (x, y) in zip(pictures, job.places, strict=True)]
            return stitch(tiles, job.width, job.height, job.target)
        case Crop():
            from vfa.image.crop import crop

            return crop(pictures[0], job.box, job.target)
        case Sheet():
            from vfa.image.preview import contact_sheet

            return contact_sheet(pictures, job.labels, job.target)
        case Animate():
            from vfa.image.preview import moving_picture

            return moving_picture(pictures, job.durations, job.target)


def limit_memory(byte_count: int) -> None:
    """Let allocations beyond ``byte_count`` fail; macOS knows the limit and ignores it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (byte_count, byte_count))


def _answer(job: Job, pictures: list[memoryview]) -> tuple[Answer, bytes]:
    try:
        done = work(job, pictures)
    except ScreenshotTooLargeError as error:
        return Failed("too-large", error.message, error.hint), b""
    except PictureError as error:
        return Failed("unreadable", error.message, error.hint), b""
    except MemoryError:
        return _out_of_memory(), b""
    answer = Done(done.width, done.height, done.scale, done.within_budget, len(done.data))
    return answer, done.data


def _out_of_memory() -> Failed:
    return Failed(
        "memory",
        "the picture needs more memory than its process may use",
        "Capture at a smaller scale or in tiles, or raise VFA_ENCODER_MEMORY_MB.",
    )


def _read(stream: BinaryIO, size: int) -> memoryview:
    buffer = memoryview(bytearray(size))
    filled = 0
    while filled < size:
        count = stream.readinto(buffer[filled:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        filled += count
    return buffer


def _write(stream: BinaryIO, answer: Answer, picture: bytes = b"") -> None:
    stream.write(frame(answer))
    stream.write(picture)
    stream.flush()


def _end_with(orders: BinaryIO) -> None:
    """Let the kernel end this process if the engine goes while a job is worked on."""
    # Between jobs the end of stdin is noticed by reading. During one it is told by SIGIO,
    # whose default is to end the process, even inside of a decoder that takes seconds.
    flags = fcntl.fcntl(orders, fcntl.F_GETFL)
    fcntl.fcntl(orders, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(orders, fcntl.F_SETFL, flags | os.O_ASYNC)
    poll = select.poll()
    poll.register(orders, 0)
    if poll.poll(0):  # POLLHUP: it went before we listened
        raise EOFError


def _live_without(orders: BinaryIO) -> None:
    flags = fcntl.fcntl(orders, fcntl.F_GETFL)
    fcntl.fcntl(orders, fcntl.F_SETFL, flags & ~os.O_ASYNC)


if __name__ == "__main__":
    main()
