"""The picture encoder: what is done to captures, in a process of its own.

Owns that process: it is started by the first job, stopped when unused for a while, killed
when the asker of its job gives up, and replaced after a crash. Needs no other actor. Does
not import Pillow; what the process does is in ``vfa.image``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import trio

from vfa.actors.picture_process import DiedError, Worker, employ
from vfa.errors import PictureError
from vfa.image.header import picture_format, picture_size
from vfa.image.jobs import (
    MAX_PICTURE_BYTES,
    Animate,
    Annotate,
    Crop,
    Fit,
    Job,
    LabelledBox,
    Picture,
    Sheet,
    Stitch,
    Target,
    Tile,
)
from vfa.image.plan import budget_scale
from vfa.mailbox import Mailbox, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.config import Config
    from vfa.image.header import Format

QUEUE_LIMIT = 8  # jobs in work or waiting; each may hold a picture of many megabytes
JOB_TIMEOUT = 60.0  # seconds; for askers that set no deadline. The largest page takes 5


# --- messages ---------------------------------------------------------------------------


class Work(Request[Picture], frozen=True):
    """Do ``job`` with ``pictures`` in the picture process."""

    job: Job
    pictures: tuple[bytes, ...]


# --- the handle -------------------------------------------------------------------------


class Encoder:
    """What others see of the encoder.

    Every method raises ``PictureError`` if a picture cannot be read or the process that
    works on it dies, ``QueueFullError`` if too many jobs wait, and ``ActorGoneError`` if the
    engine is stopping. Giving up on a call ends the work on it at once.
    """

    def __init__(self, mailbox: Mailbox[Work]) -> None:
        self._mailbox = mailbox

    async def fit(
        self,
        data: bytes,
        *,
        format: Format = "jpeg",  # noqa: A002  # CDP's and Pillow's word
        quality: int = 80,
        max_pixels: int | None = None,
        max_side: int | None = None,
        max_bytes: int | None = None,
        strict: bool = False,
    ) -> Picture:
        """Return ``data`` as ``format``, reduced (never cropped) to its budgets.

        What has the format and fits already is returned as it is, without decoding it. A
        byte budget is a target, tried for a bounded number of times: look at
        ``within_budget``, or ask for ``strict``.

        Raises:
            ScreenshotTooLargeError: ``strict``, and ``max_bytes`` could not be met.
        """
        target = Target(format, quality, max_pixels, max_side, max_bytes, strict)
        if (picture := _as_it_is(data, target)) is not None:
            return picture
        return await self._ask(Fit(target), data)

    async def annotate(
        self,
        data: bytes,
        boxes: Sequence[LabelledBox],
        *,
        format: Format = "jpeg",  # noqa: A002
        quality: int = 80,
        scale: float = 1.0,
        max_pixels: int | None = None,
        max_side: int | None = None,
        max_bytes: int | None = None,
    ) -> Picture:
        """Return ``data`` with ``boxes`` drawn on it.

        Args:
            data: The picture.
            boxes: What to draw; those outside the picture are left out.
            format: Format of the result.
            quality: Of JPEG and WebP, 1 to 100.
            scale: Pixels of ``data`` per unit of a box.
            max_pixels: Budget of the result. Labels are drawn after reducing to it.
            max_side: The same, for the longer side in pixels.
            max_bytes: A target, as in ``fit``.
        """
        target = Target(format, quality, max_pixels, max_side, max_bytes)
        return await self._ask(Annotate(target, tuple(boxes), scale), data)

    async def stitch(
        self,
        tiles: Sequence[Tile],
        width: int,
        height: int,
        *,
        format: Format = "jpeg",  # noqa: A002
        quality: int = 80,
        max_pixels: int | None = None,
        max_side: int | None = None,
        max_bytes: int | None = None,
    ) -> Picture:
        """Return one picture of ``width`` by ``height`` pixels, before budgets, of ``tiles``.

        Later tiles cover earlier ones; what no tile covers is white.
        """
        target = Target(format, quality, max_pixels, max_side, max_bytes)
        places = tuple((tile.x, tile.y) for tile in tiles)
        job = Stitch(target, places, width, height)
        return await self._ask(job, *(tile.data for tile in tiles))

    async def crop(
        self,
        data: bytes,
        box: tuple[int, int, int, int],
        *,
        format: Format = "jpeg",  # noqa: A002
        quality: int = 80,
    ) -> Picture:
        """Return the part of ``data`` in ``box``: left, top, width, height in pixels."""
        return await self._ask(Crop(Target(format, quality), box), data)

    async def sheet(
        self, frames: Sequence[bytes], labels: Sequence[str], *, max_side: int, max_bytes: int
    ) -> Picture:
        """Return a JPEG of all ``frames`` in rows, each with its label below it."""
        target = Target(max_side=max_side, max_bytes=max_bytes)
        return await self._ask(Sheet(target, tuple(labels)), *frames)

    async def animate(
        self,
        frames: Sequence[bytes],
        durations: Sequence[int],
        *,
        max_side: int,
        max_bytes: int,
    ) -> Picture:
        """Return an animated WebP that shows each frame for its milliseconds."""
        target = Target("webp", max_side=max_side, max_bytes=max_bytes)
        return await self._ask(Animate(target, tuple(durations)), *frames)

    async def _ask(self, job: Job, *pictures: bytes) -> Picture:
        size = sum(map(len, pictures))
        if size > MAX_PICTURE_BYTES:
            raise PictureError(
                f"{size} bytes of pictures are more than one job takes ({MAX_PICTURE_BYTES})",
                hint="Capture as JPEG, at a smaller scale.",
            )
        return await self._mailbox.ask(Work(job, pictures))


def _as_it_is(data: bytes, target: Target) -> Picture | None:
    """Return ``data`` itself if nothing has to be done to it."""
    size = picture_size(data)
    if size is None or picture_format(data) != target.format:
        return None
    if target.max_bytes is not None and len(data) > target.max_bytes:
        return None
    if budget_scale(*size, target) < 1:
        return None
    return Picture(data, *size, 1.0, target.mime_type)


# --- the actor --------------------------------------------------------------------------


async def run(
    mailbox: Mailbox[Work], config: Config, *, task_status: trio.TaskStatus[None]
) -> None:
    """Serve ``mailbox`` until cancelled, one job at a time."""
    async with trio.open_nursery() as background:
        crew = _Crew(config, background)
        task_status.started()
        await mailbox.serve(crew.handle)


class _Crew:
    """The worker in service, if there is one."""

    def __init__(self, config: Config, background: trio.Nursery) -> None:
        self._memory_mb = config.encoder_memory_mb
        self._idle = config.encoder_idle_ms / 1000  # seconds
        self._background = background
        self._worker: Worker | None = None

    async def handle(self, work: Work) -> Picture:
        """Do one job, within ``JOB_TIMEOUT`` at most."""
        with trio.move_on_after(JOB_TIMEOUT):
            try:
                return await self._do(work)
            except DiedError as death:
                if death.started:
                    raise
            # It died idle and nobody had noticed; the job is as good as never given.
            return await self._do(work)
        raise PictureError(
            f"the work on the picture took more than {JOB_TIMEOUT:g} s",
            hint="Capture at a smaller scale or in parts.",
        )

    async def _do(self, work: Work) -> Picture:
        worker = await self._ready()
        worker.scope.deadline = math.inf
        try:
            return await worker.do(work.job, work.pictures)
        finally:
            worker.scope.deadline = trio.current_time() + self._idle
            # Anything but a complete answer leaves the pipes in the middle of something, or
            # a job going on that nobody waits for.
            if not worker.is_clean:
                worker.dismiss()

    async def _ready(self) -> Worker:
        if self._worker is None or not self._worker.is_alive:
            try:
                self._worker = await self._background.start(
                    employ, self._memory_mb, self._idle, name="picture process"
                )
            except OSError as error:
                raise PictureError(
                    f"the picture process cannot be started: {error}",
                    hint="The machine may be out of memory or processes.",
                ) from error
        return self._worker
