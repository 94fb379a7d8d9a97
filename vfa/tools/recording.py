"""The tool that takes pictures in a row: capture_frames."""

from __future__ import annotations

import base64
import logging
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import (
    CommandTimeoutError,
    ConnectionLostError,
    PageError,
    ScreenshotTooLargeError,
    VfaError,
)
from vfa.image.header import picture_size
from vfa.page.frame_capture import Recording, Wanted, record
from vfa.page.locating import check_target
from vfa.policy.paths import OutputFolder, frame_names, resolve_output
from vfa.tools.answer import Answer, Picture
from vfa.tools.fields import (
    MAX_FILENAME,
    MAX_SELECTOR,
    TabNumber,
    TimeoutMs,
    dialogs,
    navigation_time,
)
from vfa.tools.pictures import MAX_REF
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from vfa.actors.encoder import Encoder
    from vfa.actors.page import SessionTab
    from vfa.config import Config
    from vfa.engine import Engine
    from vfa.image.jobs import Picture as Made
    from vfa.page.frame_capture import Snap

logger = logging.getLogger(__name__)

# Seconds after its time for a frame that is being stored, and for the preview.
GRACE = 15.0
PREVIEW_BYTES = 64 * 2**20  # of frames that are kept in memory for the preview
PREVIEWS = {"sheet": "-sheet.jpg", "webp": "-preview.webp"}
SHEET_SIDE, SHEET_BYTES = 1568, 400_000  # pixels, bytes
MOVING_SIDE, MOVING_BYTES = 640, 2_000_000
LAST_FRAME_MS = 1_000  # how long a moving picture stands still before it starts again
CROP_QUALITY = 92  # of a JPEG that is going to be encoded once more


class CaptureFramesArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_capture_frames``."""

    count: Annotated[int, Meta(ge=1, le=60)] = 4
    interval_ms: Annotated[int, Meta(ge=0, le=5000)] = 200
    format: Literal["jpeg", "png"] = "jpeg"
    quality: Annotated[float, Meta(ge=1, le=100)] = 80
    strategy: Annotated[
        Literal["screencast", "poll"],
        Meta(description="screencast: as drawn; poll: screenshots."),
    ] = "screencast"
    pump: Annotated[
        Literal["screenshot", "none"], Meta(description="Makes idle pages draw.")
    ] = "screenshot"
    selector: Annotated[str, Meta(max_length=MAX_SELECTOR)] = ""
    ref: Annotated[str, Meta(max_length=MAX_REF)] = ""
    filename_prefix: Annotated[str, Meta(max_length=MAX_FILENAME)] = "frame"
    preview: Annotated[
        Literal["none", "sheet", "webp"],
        Meta(description="Show a contact sheet or animation."),
    ] = "none"
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def capture_frames(
    engine: Engine, arguments: CaptureFramesArguments, call: Call
) -> Answer:
    """Take pictures in a row, keep them as files, and show them together if asked."""
    config = engine.config
    began = trio.current_time()
    deadline = began + config.timeout_s(arguments.timeout_ms, navigation_time(config))
    names = _names(config, arguments)
    wanted = Wanted(
        count=arguments.count,
        interval_s=arguments.interval_ms / 1000,
        deadline=deadline,
        format=arguments.format,
        quality=_quality(arguments),
        strategy=arguments.strategy,
        pump=arguments.pump == "screenshot",
        target=_target(arguments),
    )
    session = engine.tab(arguments.tab)
    folder = await trio.to_thread.run_sync(OutputFolder, config.output_path, names)
    with closing(folder):
        album = _Album(folder, names, engine.encoder, config, arguments)
        recording = Recording()
        problem = await _record(session, wanted, album, recording)
        took = round((trio.current_time() - began) * 1000)
        value = _facts(arguments, album, recording, took)
        if note := _note(arguments, album, recording, problem):
            value["note"] = note
        preview, pictures = await _preview(arguments, album)
    return Answer(value=value | preview | dialogs(session), pictures=pictures)


def _names(config: Config, arguments: CaptureFramesArguments) -> list[str]:
    """Return the names of all files, the preview's last; refused before a browser starts."""
    names = frame_names(arguments.filename_prefix, arguments.format, arguments.count)
    if arguments.preview != "none":
        names.append(arguments.filename_prefix + PREVIEWS[arguments.preview])
    for name in names:
        resolve_output(config.output_path, name)
    return names


def _quality(arguments: CaptureFramesArguments) -> int:
    cropped = arguments.strategy == "screencast" and (arguments.selector or arguments.ref)
    return max(round(arguments.quality), CROP_QUALITY if cropped else 0)


def _target(arguments: CaptureFramesArguments) -> Any:
    if not arguments.selector and not arguments.ref:
        return None
    return check_target(arguments.selector, arguments.ref)


async def _record(
    session: SessionTab, wanted: Wanted, album: _Album, recording: Recording
) -> str:
    """Record; return what ended it early, if that is worth telling.

    Raises:
        VfaError: Nothing was captured, or what was could not be stored.
    """
    problem: VfaError | None = None
    began = trio.current_time()
    with trio.move_on_at(wanted.deadline + 0.5) as waiting:  # for its turn in the queue, too
        try:
            await session.act(
                partial(record, wanted=wanted, keep=album.keep, recording=recording)
            )
        except (CommandTimeoutError, ConnectionLostError, PageError) as error:
            problem = error
    if waiting.cancelled_caught:
        milliseconds = round(1000 * (wanted.deadline - began))
        problem = took_too_long("browser_capture_frames", milliseconds)
    if problem is None and not album.frames and recording.ran_out:
        problem = _nothing(recording)
    if problem is not None and not album.frames:
        raise problem
    return problem.message if problem else ""


def _nothing(recording: Recording) -> VfaError:
    reason = "nothing of the element was in sight" if recording.outside else "no frame came"
    return CommandTimeoutError(
        f"Timed out: {reason}", hint="Allow more time with timeout_ms, or use strategy poll."
    )


class _Album:
    """The frames that were stored."""

    def __init__(
        self,
        folder: OutputFolder,
        names: list[str],
        encoder: Encoder,
        config: Config,
        arguments: CaptureFramesArguments,
    ) -> None:
        self.frames: list[dict[str, Any]] = []
        self.pictures: list[bytes] = []  # for the preview
        self.distinct: set[int] = set()
        self._folder = folder
        self._names = names
        self._encoder = encoder
        self._max_bytes = config.max_image_bytes
        self._arguments = arguments
        self._first_at = 0.0
        self._room = PREVIEW_BYTES if arguments.preview != "none" else 0

    async def keep(self, snap: Snap) -> None:
        """Store a frame.

        Raises:
            ScreenshotTooLargeError: It has more bytes than a picture may have.
            OutputError: The file system refuses.
        """
        data = snap.data
        if snap.part is not None:
            quality = round(self._arguments.quality)
            picture = await self._encoder.crop(
                data, snap.part, format=self._arguments.format, quality=quality
            )
            data = picture.data
        index = len(self.frames) + 1
        if len(data) > self._max_bytes:
            raise ScreenshotTooLargeError(
                f"frame {index} has {len(data)} bytes; {self._max_bytes} are allowed",
                hint="Use jpeg, lower the quality, or raise MAX_IMAGE_BYTES. "
                "The frames before it are kept.",
            )
        path = await self.write(self._names[index - 1], data)
        self._first_at = self._first_at or snap.at
        width, height = picture_size(data) or (None, None)
        self.frames.append(
            {
                "index": index,
                "path": path,
                "size": len(data),
                "width": width,
                "height": height,
                "t_ms": round(1000 * (snap.at - self._first_at)),
                "timestamp": round(1000 * snap.at),
            }
        )
        self.distinct.add(hash(data))
        self._room -= len(data)
        if self._room >= 0:
            self.pictures.append(data)

    async def write(self, name: str, data: bytes) -> str:
        """Write a file; return its path."""
        return str(await trio.to_thread.run_sync(self._folder.write, name, data))

    @property
    def times(self) -> list[int]:
        """The milliseconds since the first frame, of those for the preview."""
        return [frame["t_ms"] for frame in self.frames[: len(self.pictures)]]

    async def sheet(self) -> Made:
        """Return a contact sheet."""
        labels = [f"{n}: {t} ms" for n, t in enumerate(self.times, 1)]
        return await self._encoder.sheet(
            self.pictures, labels, max_side=SHEET_SIDE, max_bytes=SHEET_BYTES
        )

    async def movie(self) -> Made:
        """Return a moving picture."""
        durations = [max(1, later - earlier) for earlier, later in pairwise(self.times)]
        return await self._encoder.animate(
            self.pictures,
            [*durations, LAST_FRAME_MS],
            max_side=MOVING_SIDE,
            max_bytes=MOVING_BYTES,
        )


def _facts(
    arguments: CaptureFramesArguments, album: _Album, recording: Recording, took: int
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "strategy": arguments.strategy,
        "requested": arguments.count,
        "captured": len(album.frames),
        "format": arguments.format,
        "frames": album.frames,
        "elapsed_ms": took,
    }
    if recording.clip is not None:
        clip = msgspec.structs.asdict(recording.clip)
        facts["clip"] = {name: round(value, 2) for name, value in clip.items()} | {"scale": 1}
    if recording.matches > 1:
        facts["matches"] = recording.matches
    if arguments.strategy == "screencast":
        facts |= {"pump": arguments.pump, "pumpCount": recording.pumps}
        extra = recording.seen - len(album.frames) - recording.dropped - recording.outside
        if extra > 0:
            facts["extraCaptured"] = extra
    if recording.dropped:
        facts["dropped"] = recording.dropped
    if len(album.frames) < arguments.count:
        facts["shortBy"] = arguments.count - len(album.frames)
    return facts


def _note(
    arguments: CaptureFramesArguments, album: _Album, recording: Recording, problem: str
) -> str:
    notes = []
    if len(album.frames) < arguments.count:
        if problem:
            notes.append(f"Ended early: {problem}.")
        elif recording.ran_out:
            notes.append("The time was up: allow more with timeout_ms, or ask for fewer.")
        else:
            notes.append("The page is idle and drew no more frames: pump it, or use poll.")
    if len(album.frames) > 1 and len(album.distinct) == 1:
        notes.append("All frames are the same: nothing on the page moved.")
    if recording.outside:
        notes.append(f"The element was out of sight in {recording.outside} frames.")
    return " ".join(notes)


async def _preview(
    arguments: CaptureFramesArguments, album: _Album
) -> tuple[dict[str, Any], tuple[Picture, ...]]:
    """Make the preview. The frames are there: that it cannot be made fails nothing."""
    if arguments.preview == "none":
        return {}, ()
    try:
        made = await (album.sheet() if arguments.preview == "sheet" else album.movie())
        name = arguments.filename_prefix + PREVIEWS[arguments.preview]
        path = await album.write(name, made.data)
    except VfaError as error:
        logger.warning("a preview could not be made: %s", error.message)
        return {"preview": {"path": None, "note": error.message}}, ()
    facts: dict[str, Any] = {
        "path": path,
        "size": len(made.data),
        "width": made.width,
        "height": made.height,
    }
    if len(album.pictures) < len(album.frames):
        facts["note"] = f"Shows the first {len(album.pictures)} frames."
    picture = Picture(base64.b64encode(made.data).decode("ascii"), made.mime_type)
    return {"preview": facts}, (picture,)


RETURNS = """\
`strategy`, `requested`, `captured`, `format`, `frames` (each `index`, `path`, `size`, `width`,
`height`, `t_ms` since the first one, `timestamp` in ms since 1970), `elapsed_ms`; `clip` of an
element (CSS px); of a screencast `pump`, `pumpCount`, `extraCaptured` (drawn, but not due);
`dropped` (due, but there was no room), `shortBy` and `note` if there are fewer than requested,
`preview` (`path`, `size`, `width`, `height`)."""

# --- the table --------------------------------------------------------------------------

RECORDING: tuple[Tool, ...] = (
    Tool(
        name="browser_capture_frames",
        description="Timed series of pictures of the viewport or an element, saved below "
        "OUTPUT_DIR; for animations and canvases.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=CaptureFramesArguments,
        run=capture_frames,
        default_timeout_ms=navigation_time,
        grace_s=GRACE,
        returns=RETURNS,
    ),
)
