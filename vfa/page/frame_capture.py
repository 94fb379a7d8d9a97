"""A row of pictures of a page that moves: a screencast sampled at an interval, or polling.

A screencast brings each frame that Chromium draws; those due at the interval are kept, and an
idle page is made to draw by pictures that are thrown away ("pumping"). Polling takes one
picture after the other. Frames are handed on one at a time; while one is being stored a few
wait, and what comes when the queue is full is dropped and counted. What was handed on when the
time is up, or the page is lost, is not lost: ``Recording`` has it.

Source: CDP ``Page.startScreencast``, ``Page.screencastFrame``.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.errors import CommandTimeoutError
from vfa.image.header import picture_size
from vfa.page.viewing import Area, area_of, expose, hidden, look

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.cdp.dialogue import Event
    from vfa.page.locating import Element, Target
    from vfa.page.page import Page
    from vfa.page.viewing import View

QUEUE = 6  # frames that wait to be stored; a megabyte each is not unusual
PATIENCE = 0.05  # seconds that a frame may be late before the page is made to draw one
QUIET = 1.5  # seconds without a frame that end a screencast nobody pumps
EARLY = 0.008  # seconds; half a frame of a screen: a frame this early is on time
PUMP = {"format": "jpeg", "quality": 20, "optimizeForSpeed": True}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be recorded."""

    count: int
    interval_s: float
    deadline: float  # on trio's clock: when to stop with what there is
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 80  # of JPEG
    strategy: Literal["screencast", "poll"] = "screencast"
    pump: bool = True  # make an idle page draw; of a screencast
    target: Target | None = None  # an element; None: the viewport


class Snap(msgspec.Struct, frozen=True):
    """One picture as it came."""

    data: bytes
    at: float  # seconds since the epoch
    part: tuple[int, int, int, int] | None = None  # what of it is wanted, pixels: x, y, w, h


class Recording:
    """What a recording came to; filled while it runs."""

    def __init__(self) -> None:
        self.kept = 0  # snaps handed on
        self.seen = 0  # frames that Chromium sent
        self.dropped = 0  # frames that were due when the queue was full
        self.outside = 0  # frames in which nothing of the element was in sight
        self.pumps = 0
        self.clip: Area | None = None  # of the document: the element, when it was found
        self.matches = 1  # of the selector
        self.ran_out = False  # the deadline ended it


class Grid:
    """Which frames are due: the first one, and then one for each interval after it."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._first: float | None = None
        self._next = 0  # number of intervals after the first frame

    def is_due(self, at: float) -> bool:
        """Say whether a frame of that moment is to be kept."""
        return at >= self.due - EARLY

    @property
    def due(self) -> float:
        """When the next frame is due; before the first one, always."""
        if self._first is None:
            return -math.inf
        return self._first + self._next * self._interval

    def take(self, at: float) -> None:
        """Note that a frame of that moment was kept. What was missed is not made up for."""
        if self._first is None:
            self._first = at
        if self._interval > 0:
            passed = math.floor((at + EARLY - self._first) / self._interval)
            self._next = max(passed, self._next) + 1


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    scroll_offset_x: float = 0.0
    scroll_offset_y: float = 0.0
    timestamp: float | None = None  # seconds since the epoch


class _Frame(msgspec.Struct, frozen=True, rename="camel"):
    data: msgspec.Raw  # base64 in quotes; most frames are not wanted
    metadata: _Metadata
    session_id: int


class _Data(msgspec.Struct, frozen=True):
    data: bytes


async def record(
    page: Page, wanted: Wanted, keep: Callable[[Snap], Awaitable[None]], recording: Recording
) -> None:
    """Record until there are enough frames or the time is up.

    Args:
        page: The tab.
        wanted: What, how often, and until when.
        keep: Stores a frame; its errors end the recording.
        recording: Where to count.

    Raises:
        CommandTimeoutError: The time ran out while the page owed an answer.
        ElementNotFoundError: The element did not appear.
        ElementHiddenError: Nothing of the element is to be seen.
    """
    recorder = _Recorder(page, wanted, keep, recording)
    with trio.move_on_at(wanted.deadline) as scope:
        await recorder.run()
    recording.ran_out = scope.cancelled_caught
    if recording.ran_out and recorder.asking:
        raise CommandTimeoutError(
            f"Timed out: {recording.kept} of {wanted.count} frames were captured, and then "
            "the page did not draw any more",
            hint="The page is probably busy in an endless script; the next call recovers it.",
        )


class _Recorder:
    def __init__(
        self,
        page: Page,
        wanted: Wanted,
        keep: Callable[[Snap], Awaitable[None]],
        recording: Recording,
    ) -> None:
        self.asking = False  # the page owes us an answer
        self._page = page
        self._wanted = wanted
        self._keep = keep
        self._recording = recording
        self._grid = Grid(wanted.interval_s)
        self._element: Element | None = None
        self._from: _Metadata | None = None  # where the page was scrolled to at the beginning
        self._taken_at = -math.inf  # on trio's clock; the browser may be on another machine
        self._send, self._receive = trio.open_memory_channel[_Frame](QUEUE)

    async def run(self) -> None:
        target = self._wanted.target
        self.asking = True
        if target is not None:
            self._element = await expose(self._page, target)
            self._recording.matches = self._element.matches
        view = await look(self._page)
        if target is not None and self._element is not None:
            area = await area_of(self._page, self._element, view)
            if area.is_empty:
                raise hidden(target, "it has no size")
            self._recording.clip = area
        if self._wanted.strategy == "poll":
            await self._poll()
        else:
            await self._screencast(view)

    async def _hand_on(self, snap: Snap) -> None:
        self._page.acted = True  # not to be begun again on another page, half done
        await self._keep(snap)
        self._recording.kept += 1

    # --- screencast ---------------------------------------------------------------------

    async def _screencast(self, view: View) -> None:
        session = self._page.session
        stop_listening = session.listen(self._hear)
        started: dict[str, Any] = {"format": self._wanted.format, "everyNthFrame": 1}
        if view.ratio > 1:
            # Else some frames come in device pixels and some in CSS px, as it happens.
            started["maxWidth"] = math.ceil(view.width * view.zoom - 0.01)
            started["maxHeight"] = math.ceil(view.height * view.zoom - 0.01)
        if self._wanted.format == "jpeg":
            started["quality"] = self._wanted.quality
        try:
            await session.call("Page.startScreencast", started)
            self.asking = False
            while self._recording.kept < self._wanted.count:
                frame = await self._next_frame()
                if frame is None:
                    break
                await self._keep_frame(frame, view)
        finally:
            session.post("Page.stopScreencast")
            stop_listening()

    def _hear(self, event: Event) -> None:
        """Acknowledge every frame, and take those that are due. Called by the reader."""
        if event.method != "Page.screencastFrame":
            return
        frame = msgspec.json.decode(event.params, type=_Frame)
        self._page.session.post("Page.screencastFrameAck", {"sessionId": frame.session_id})
        self._recording.seen += 1
        at = frame.metadata.timestamp or time.time()
        if not self._grid.is_due(at):
            return
        try:
            self._send.send_nowait(frame)
        except trio.WouldBlock:
            self._recording.dropped += 1
        else:
            self._grid.take(at)
            self._taken_at = trio.current_time()

    async def _next_frame(self) -> _Frame | None:
        """Return the next frame that is due; None if an idle page is not to be pumped."""
        while True:
            patience = PATIENCE if self._wanted.pump else QUIET
            due = max(trio.current_time(), self._taken_at + self._wanted.interval_s)
            with trio.move_on_at(due + patience):
                return await self._receive.receive()
            if not self._wanted.pump:
                return None
            self.asking = True
            await self._page.session.call("Page.captureScreenshot", PUMP)
            self.asking = False
            self._recording.pumps += 1

    async def _keep_frame(self, frame: _Frame, view: View) -> None:
        data = msgspec.json.decode(frame.data, type=bytes)
        part = self._part_of(frame.metadata, view, data)
        if part is not None and (part[2] <= 0 or part[3] <= 0):
            self._recording.outside += 1
            return
        await self._hand_on(Snap(data, frame.metadata.timestamp or time.time(), part))

    def _part_of(
        self, metadata: _Metadata, view: View, data: bytes
    ) -> tuple[int, int, int, int] | None:
        clip, size = self._recording.clip, picture_size(data)
        if clip is None or size is None:
            return None
        if self._from is None:
            self._from = metadata
        scrolled_x = metadata.scroll_offset_x - self._from.scroll_offset_x
        scrolled_y = metadata.scroll_offset_y - self._from.scroll_offset_y
        seen = msgspec.structs.replace(
            view.seen, x=view.seen.x + scrolled_x, y=view.seen.y + scrolled_y
        )
        area = clip.within(seen)
        pixels = size[0] / seen.width
        left, top = round((area.x - seen.x) * pixels), round((area.y - seen.y) * pixels)
        return left, top, round(area.width * pixels), round(area.height * pixels)

    # --- polling ------------------------------------------------------------------------

    async def _poll(self) -> None:
        grid = self._grid  # on trio's clock here
        while self._recording.kept < self._wanted.count:
            self.asking = False
            if grid.due > trio.current_time():
                await trio.sleep_until(grid.due)
            self.asking = True
            clip = await self._clip_now()
            grid.take(trio.current_time())
            if clip is not None and clip["width"] * clip["height"] == 0:
                self._recording.outside += 1
                continue
            at = time.time()
            wanted: dict[str, Any] = {"format": self._wanted.format, "optimizeForSpeed": True}
            if self._wanted.format == "jpeg":
                wanted |= {"quality": self._wanted.quality, "optimizeForSpeed": False}
            if clip is not None:
                wanted |= {"clip": clip, "captureBeyondViewport": False}
            shot = await self._page.session.call("Page.captureScreenshot", wanted, _Data)
            self._recording.seen += 1
            self.asking = False
            await self._hand_on(Snap(shot.data, at))

    async def _clip_now(self) -> dict[str, float] | None:
        """Return the part of the document to capture: the element where it is by now."""
        if self._element is None or self._recording.clip is None:
            return None
        view = await look(self._page)
        there = await area_of(self._page, self._element, view)
        first = self._recording.clip
        # It is followed, at the size it had: frames of one recording are of one size.
        now = Area(there.x, there.y, first.width, first.height).within(view.seen)
        return {**msgspec.to_builtins(now), "scale": 1.0}
