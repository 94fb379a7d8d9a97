"""The mouse: pointing at an element, clicking it, hovering over it.

A click is one pass in the page (``kit/aim.js``: wait, scroll, choose a point, post a guard),
one burst of input events, and one question: where did it arrive? A gesture that would have
arrived elsewhere was withheld from the page by the guard, and is tried again until the
caller's time is up. So an element is clicked or nothing is.

Source: CDP ``Input.dispatchMouseEvent``, in CSS px of the tab's viewport.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec
import trio

from vfa.errors import CdpError, ElementNotClickableError
from vfa.page.bursts import Command, send
from vfa.page.keyboard import hold, release
from vfa.page.keys import modifier_bits, modifier_keys
from vfa.page.locating import (
    Element,
    Place,
    Target,
    owner_of,
    place_of,
    ref_of,
    stale,
    time_left,
)
from vfa.page.reaching import Seen, reach, tell
from vfa.page.settling import Effects, after, before, in_frames

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.page.frames import Frame
    from vfa.page.page import Page

Point = tuple[float, float]
Button = Literal["left", "right", "middle"]

BUTTON_BITS = {"left": 1, "right": 2, "middle": 4}
NEXT_TRY = 0.05  # seconds between gestures that a guard had to withhold


class How(msgspec.Struct, frozen=True):
    """What must hold for an element before it is pointed at."""

    enabled: bool = True
    force: bool = False  # neither enabled nor still nor uncovered
    hover: bool = False  # covered will do
    guard: bool = True


class Aimed(msgspec.Struct, frozen=True):
    """An element, and where on the screen it gets the pointer."""

    element: Element
    x: float  # CSS px of the tab's viewport
    y: float
    screen: Point  # the same, as input events count
    covered: str = ""  # by what, where that was allowed
    guard: int = 0  # in the element's document; 0: what is in a frame cannot be guarded
    fences: tuple[tuple[Frame, int], ...] = ()  # guards in the documents around it


class Click(msgspec.Struct, frozen=True):
    """How to click."""

    button: Button = "left"
    count: int = 1
    modifiers: tuple[str, ...] = ()
    force: bool = False


class Clicked(msgspec.Struct, frozen=True):
    """What a click came to."""

    aimed: Aimed
    ref: str
    effects: Effects
    forced: bool = False  # without the pointer


class Hovered(msgspec.Struct, frozen=True):
    """What hovering came to."""

    aimed: Aimed
    ref: str
    matches_hover: bool


async def click(page: Page, target: Target, how: Click) -> Clicked:
    """Click an element, as soon as it can be clicked.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone, or went before it could be clicked.
        ElementHiddenError: It stayed invisible.
        ElementNotClickableError: It stayed covered, disabled, or out of the pointer's reach.
    """
    while True:
        aimed = await aim(page, target, How(force=how.force))
        start = before(page)
        if aimed.covered:
            await _click_without_pointer(page, aimed.element)
            elsewhere = ""
        else:
            elsewhere = await _gesture(page, aimed, how)
        if not elsewhere:
            effects = await after(page, start)
            ref = ref_of(page, aimed.element)
            return Clicked(aimed, ref, effects, forced=bool(aimed.covered))
        if time_left() <= 0:
            raise not_clickable(target, elsewhere)
        await trio.sleep(NEXT_TRY)


async def hover(page: Page, target: Target) -> Hovered:
    """Move the pointer to an element.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: It stayed invisible.
    """
    aimed = await aim(page, target, How(enabled=False, hover=True, guard=False))
    x, y = aimed.screen
    element = aimed.element
    for burst in ([mouse("mouseMoved", x, y)], _nudge(x, y)):
        await send(page, burst)
        over = await in_frames(
            page, lambda: page.kit("hovered", element.number, result=bool, frame=element.frame)
        )
        if over or aimed.covered:
            break
    return Hovered(aimed, ref_of(page, element), bool(over))


# --- aiming -------------------------------------------------------------------------------


class _Aim(Seen, frozen=True, kw_only=True):
    x: float = 0.0
    y: float = 0.0
    guard: int = 0
    lens: Point = (0.0, 0.0)


class _Fence(msgspec.Struct, frozen=True):
    gone: bool = False
    covered: str | None = None
    guard: int = 0
    lens: Point = (0.0, 0.0)


async def aim(page: Page, target: Target, how: How) -> Aimed:
    """Wait until an element can be pointed at; return where.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The ref's element is gone.
        ElementHiddenError: It stayed invisible until the caller's time was up.
        ElementNotClickableError: It stayed covered, disabled or moving.
    """
    plain = msgspec.to_builtins(how)
    element, found = await reach(page, target, "aim", plain, result=_Aim)
    if found.trouble and not found.final:
        raise not_clickable(target, found.why)
    return await _on_screen(page, element, found, target, how)


async def _on_screen(
    page: Page, element: Element, found: _Aim, target: Target, how: How
) -> Aimed:
    """Map the point to the tab's viewport, past the frames around it."""
    fences: list[tuple[Frame, int]] = []
    x, y, lens = found.x, found.y, found.lens
    covered = found.why if found.trouble else ""
    frame = element.frame
    if frame is not page.frames.main:
        place = await place_of(page, frame)
        x, y = place.point(x, y)
        while frame is not page.frames.main and not covered:
            owner = await owner_of(page, frame)
            frame = owner.frame
            local = _inverse(await place_of(page, frame), x, y)
            fence = await page.kit("fence", owner.number, *local, result=_Fence, frame=frame)
            if fence.gone:
                raise stale("the frame")
            lens = fence.lens
            if fence.covered is not None:
                covered = fence.covered or "outside of the viewport"
            if fence.guard:
                fences.append((frame, fence.guard))
        if covered and not (how.hover or how.force):
            _disarm(page, element.frame, fences)
            raise not_clickable(target, f"its frame is {covered}")
    left, top = lens
    screen = (x - left, y - top)
    return Aimed(element, x, y, screen, covered, found.guard, tuple(fences))


def _inverse(place: Place, x: float, y: float) -> Point:
    """Return the frame's point of a point of the tab's viewport."""
    determinant = place.a * place.d - place.b * place.c
    if math.isclose(determinant, 0.0):
        return 0.0, 0.0
    dx, dy = x - place.x, y - place.y
    return (
        (place.d * dx - place.c * dy) / determinant,
        (place.a * dy - place.b * dx) / determinant,
    )


# --- gestures -----------------------------------------------------------------------------


class Verdict(msgspec.Struct, frozen=True):
    """What a guard saw of a gesture."""

    lost: bool = False
    seen: bool = False
    wrong: str = ""


async def _gesture(page: Page, aimed: Aimed, how: Click) -> str:
    """Send a guarded gesture; return what got it instead of the element, "" if none did."""
    try:
        await send(page, *_clicks(aimed, how))
        verdict = await verdict_of(page, aimed.element.frame, aimed.guard)
    except BaseException:
        _disarm(page, aimed.element.frame, aimed.fences)
        raise
    for frame, fence in aimed.fences:
        fenced = await verdict_of(page, frame, fence)
        if fenced is not None and fenced.wrong:
            return f"covered by {fenced.wrong} when it was clicked"
    if verdict is None or verdict.lost:
        return ""  # the document left with the click, or a frame that is the target has got it
    if verdict.wrong:
        return f"covered by {verdict.wrong} when it was clicked"
    if not verdict.seen and not how.force:
        raise ElementNotClickableError(
            "the click did not arrive at the element: "
            "another frame, or a listener of the page, took it",
            hint="Look at a screenshot for what lies over it.",
        )
    return ""


async def verdict_of(page: Page, frame: Frame, guard: int) -> Verdict | None:
    """Ask a guard, and relieve it; None if its document has left."""
    verdict: Verdict | None = await in_frames(
        page, lambda: page.kit("landed", guard, result=Verdict, frame=frame)
    )
    return verdict


def _disarm(page: Page, own: Frame, fences: Iterable[tuple[Frame, int]]) -> None:
    """Take guards away without waiting; they leave by themselves, too."""
    for frame in (own, *(frame for frame, _ in fences)):
        tell(page, frame, "disarm")


async def _click_without_pointer(page: Page, element: Element) -> None:
    page.acted = True
    try:
        await page.kit("clickWithoutPointer", element.number, result=bool, frame=element.frame)
    except CdpError:
        return  # the document left with the click
    await page.settle()


def _clicks(aimed: Aimed, how: Click) -> tuple[list[Command], list[Command]]:
    """Return the burst of a click, and what lets the modifiers go after it."""
    x, y = aimed.screen
    bits = modifier_bits(how.modifiers)
    keys = modifier_keys(bits)
    burst = [*hold(keys), mouse("mouseMoved", x, y, bits)]
    for count in range(1, how.count + 1):
        burst += [
            mouse("mousePressed", x, y, bits, how.button, count),
            mouse("mouseReleased", x, y, bits, how.button, count),
        ]
    return burst, list(release(keys))


def _nudge(x: float, y: float) -> list[Command]:
    """Return moves away and back: for elements that appeared under a resting pointer."""
    return [mouse("mouseMoved", x + 1, y + 1), mouse("mouseMoved", x, y)]


def mouse(
    kind: str,
    x: float,
    y: float,
    bits: int = 0,
    button: str = "none",
    count: int = 0,
    *,
    held: bool = False,
) -> Command:
    """Return a mouse event; ``held``: the button is down during the move."""
    is_down = held or kind == "mousePressed"
    return "Input.dispatchMouseEvent", {
        "type": kind,
        "x": x,
        "y": y,
        "modifiers": bits,
        "button": button,
        "buttons": BUTTON_BITS[button] if is_down else 0,
        "clickCount": count,
        "pointerType": "mouse",
    }


# --- failures -----------------------------------------------------------------------------


def not_clickable(target: Target, why: str) -> ElementNotClickableError:
    """Return the error for an element that the pointer does not reach."""
    return ElementNotClickableError(
        f"Element cannot be clicked: {target}: {why}",
        hint="Close or scroll away what is in the way, or use force: true."
        if "covered" in why
        else "Wait until the page is ready for it, or use force: true.",
    )
