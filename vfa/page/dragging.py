"""Dragging with the mouse: what a page does by pointer events, and HTML drag and drop.

The button goes down on the source, which a guard makes sure of, and moves step by step to the
destination. If that starts a drag of the HTML kind, Chromium hands it to us instead of the
window system, and the rest of the way goes as drag events. Success is a drop that was
accepted; a refused one is an error. The button is released however a call ends.

Source: CDP ``Input.setInterceptDrags``, ``Input.dragIntercepted``,
``Input.dispatchDragEvent``; HTML Living Standard, 6.11 Drag and drop.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.errors import ElementNotClickableError
from vfa.page.bursts import send
from vfa.page.locating import Element, Target, locate, ref_of
from vfa.page.pointer import Aimed, How, aim, mouse, verdict_of
from vfa.page.reaching import tell
from vfa.page.settling import Effects, after, before, in_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.cdp.dialogue import Event
    from vfa.page.frames import Frame
    from vfa.page.page import Page

INTERCEPTED_BOUND = 2.0  # seconds for Chromium to hand over a drag that has started
FRAMES_BOUND = 0.05  # seconds for two frames on the way; a hidden tab has none
STAYS = 3  # times that a drag is told anew to what has come under it
REST = 2  # times two frames before the drop
NUDGE = 6.0  # px of the first move: enough for a drag to start

Point = tuple[float, float]


class Drag(msgspec.Struct, frozen=True):
    """What to drag where: onto an element, or by an offset."""

    source: Target
    destination: Target | None = None
    offset: Point = (0.0, 0.0)  # CSS px
    steps: int = 10  # moves on the way


class Dragged(msgspec.Struct, frozen=True):
    """What dragging came to."""

    source: Element
    ref: str
    start: Point
    end: Point
    mode: Literal["html", "pointer"]
    moved: bool  # the source is elsewhere now
    changed: bool  # something in its document is different
    effects: Effects


class _State(msgspec.Struct, frozen=True):
    started: bool = False
    dropped: bool = False
    entering: bool = False  # the last to hear of an HTML drag has only been told that it began
    moved: bool = False
    changed: bool = False


class _Intercepted(msgspec.Struct, frozen=True):
    data: dict[str, Any]


async def drag(page: Page, what: Drag) -> Dragged:
    """Drag an element onto another, or by an offset.

    Raises:
        ElementNotFoundError: The source or the destination does not match.
        ElementNotClickableError: The source does not get the pointer, or the destination
            refused the drop.
        ElementHiddenError: One of them stayed invisible.
        ElementStaleError: A ref's element is gone.
    """
    begin = before(page)
    if what.destination is not None:
        await locate(page, what.destination)  # so that nothing is picked up in vain
    source = await aim(page, what.source, How())
    frames = [source.element.frame]
    try:
        await _watch(page, source.element.frame, source.element.number)
        with _intercepting(page) as carried, _pressing(page, source) as hold:
            await _pick_up(page, what, source, hold)
            is_html = await _is_html(page, source.element.frame, carried)
            end = await _find_end(page, what, source, frames)
            if is_html:
                await hold.carry(carried[0], end, what.steps)
                await _stay(page, hold, frames)
                await hold.drop()
            else:
                onto = what.destination is not None
                await hold.move(end, what.steps, paced=onto)
                if onto:
                    await hold.rest()
                await hold.drop()
        states = [await _over(page, frame) for frame in frames]
    except BaseException:
        for frame in frames:
            tell(page, frame, "stopDrag")
        raise
    if is_html and not any(state.dropped for state in states):
        raise ElementNotClickableError(
            f"{what.destination or 'the place'} refused the drop of {what.source}",
            hint="Drop it on an element that accepts it.",
        )
    return Dragged(
        source.element,
        ref_of(page, source.element),
        source.screen,
        end,
        "html" if is_html else "pointer",
        moved=states[0].moved,
        changed=any(state.changed for state in states),
        effects=await after(page, begin),
    )


async def _pick_up(page: Page, what: Drag, source: Aimed, hold: _Hold) -> None:
    """Press the button on the source and move a little: a drag starts where it was pressed.

    The page is not scrolled to the destination before that.
    """
    await hold.press()
    verdict = await verdict_of(page, source.element.frame, source.guard)
    if verdict is not None and verdict.wrong:
        raise ElementNotClickableError(
            f"{what.source} was covered by {verdict.wrong} when it was picked up"
        )
    x, y = source.screen
    dx, dy = (NUDGE, NUDGE) if what.destination is not None else what.offset
    share = min(1.0, NUDGE / max(abs(dx), abs(dy), 1.0))
    await hold.move((x + share * dx, y + share * dy), 1)


async def _find_end(page: Page, what: Drag, source: Aimed, frames: list[Frame]) -> Point:
    """Return where to let go; note the frame that this is in."""
    if what.destination is None:
        return source.screen[0] + what.offset[0], source.screen[1] + what.offset[1]
    there = await aim(page, what.destination, How(enabled=False, hover=True, guard=False))
    if there.element.frame not in frames:
        frames.append(there.element.frame)
        await _watch(page, there.element.frame, 0)
    return there.screen


class _Hold:
    """The mouse with its button down."""

    def __init__(self, page: Page, at: Point) -> None:
        self._page = page
        self.at = at
        self.is_down = False
        self.carried: dict[str, Any] | None = None
        self._steps = 0

    async def press(self) -> None:
        self.is_down = True
        x, y = self.at
        await send(
            self._page,
            [mouse("mouseMoved", x, y), mouse("mousePressed", x, y, 0, "left", 1)],
        )

    async def move(self, end: Point, steps: int, *, paced: bool = False) -> None:
        """Move in steps, each of which the page may take note of; ``paced``: and show."""
        for point in _way(self.at, end, steps):
            self.at = point
            await send(self._page, [mouse("mouseMoved", *point, 0, "left", held=True)])
            if paced:
                await self._pace()

    async def _pace(self) -> None:
        """Go no faster than a step in each frame: a list that makes room needs time for it."""
        self._steps += 1
        if self._steps % 2 == 0:
            await self._page.settle(FRAMES_BOUND)

    async def rest(self) -> None:
        """Stay for a moment where it is to be dropped: some pages look only now and then."""
        for _ in range(REST):
            await self._page.settle(FRAMES_BOUND)

    async def drop(self) -> None:
        """Let go of what is dragged, and of the button."""
        if self.carried is not None:
            dropping = self._drag_event("drop")
            self.carried = None
            await send(self._page, [dropping])
        self.is_down = False
        await send(self._page, [mouse("mouseReleased", *self.at, 0, "left", 1)])

    async def carry(self, data: dict[str, Any], end: Point, steps: int) -> None:
        """Take an HTML drag the rest of the way."""
        self.carried = data
        for kind, point in [
            ("dragEnter", self.at),
            *(("dragOver", point) for point in _way(self.at, end, steps)),
            ("dragOver", end),
        ]:
            self.at = point
            await send(self._page, [self._drag_event(kind)])
            await self._pace()
        await self.rest()

    async def stay(self) -> None:
        """Say once more where an HTML drag is."""
        await send(self._page, [self._drag_event("dragOver")])

    def _drag_event(self, kind: str) -> tuple[str, dict[str, Any]]:
        x, y = self.at
        event = {"type": kind, "x": x, "y": y, "data": self.carried, "modifiers": 0}
        return "Input.dispatchDragEvent", event

    def let_go(self) -> None:
        """Leave nothing held; for calls that end in the middle."""
        if self.carried is not None:
            self._page.session.post(*self._drag_event("dragCancel"))
        if self.is_down:
            self._page.session.post(*mouse("mouseReleased", *self.at, 0, "left", 1))


@contextmanager
def _pressing(page: Page, source: Aimed) -> Iterator[_Hold]:
    hold = _Hold(page, source.screen)
    try:
        yield hold
    finally:
        hold.let_go()
        tell(page, source.element.frame, "disarm")


@contextmanager
def _intercepting(page: Page) -> Iterator[list[dict[str, Any]]]:
    """Have HTML drags handed to us; yield the list that they arrive in."""
    carried: list[dict[str, Any]] = []

    def hear(event: Event) -> None:
        if event.method == "Input.dragIntercepted":
            carried.append(msgspec.json.decode(event.params, type=_Intercepted).data)
            page.documents.wake()

    stop = page.session.listen(hear)
    page.session.post("Input.setInterceptDrags", {"enabled": True})
    try:
        yield carried
    finally:
        stop()
        page.session.post("Input.setInterceptDrags", {"enabled": False})


async def _is_html(page: Page, frame: Frame, carried: list[dict[str, Any]]) -> bool:
    """Say whether the first move has started a drag of the HTML kind; wait for its data."""
    state = await page.kit("dragState", False, result=_State, frame=frame)
    if state.started:
        with trio.move_on_after(INTERCEPTED_BOUND):
            await page.documents.wait_until(lambda: bool(carried))
    return bool(carried)


async def _stay(page: Page, hold: _Hold, frames: list[Frame]) -> None:
    """Ask what the page has moved under the pointer once more: the first time only begins."""
    for _ in range(STAYS):
        await hold.stay()
        states = [
            await page.kit("dragState", False, result=_State, frame=frame) for frame in frames
        ]
        if not any(state.entering for state in states):
            return


async def _watch(page: Page, frame: Frame, number: int) -> None:
    await page.kit("watchDrag", number, result=bool, frame=frame)


async def _over(page: Page, frame: Frame) -> _State:
    state: _State | None = await in_frames(
        page, lambda: page.kit("dragState", True, result=_State, frame=frame)
    )
    return state or _State()


def _way(start: Point, end: Point, steps: int) -> Iterator[Point]:
    """Give the points between, in ``steps`` equal steps, the end included."""
    for step in range(1, steps + 1):
        share = step / steps
        yield (
            start[0] + share * (end[0] - start[0]),
            start[1] + share * (end[1] - start[1]),
        )
