"""Scrolling: by direction, to a position, or until an element is in view.

A direction, or a position, is the window's. Where the window does not scroll, a direction is
taken by what does so in its place: the scroller in the middle of the page, else the largest.
With a container it is that element, or the scroller around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.page.locating import Element, Target, box_of, locate, ref_of, stale
from vfa.page.settling import in_frames

if TYPE_CHECKING:
    from vfa.page.page import Page

Direction = Literal["up", "down", "left", "right", "top", "bottom"]


class Scrolled(msgspec.Struct, frozen=True, rename="camel"):
    """Where a scroller is now, and how far it came: CSS px."""

    x: int = 0
    y: int = 0
    moved_x: int = 0
    moved_y: int = 0
    scroller: str = "window"  # or what a developer would call it
    at_end: bool = False  # nothing is left below
    gone: bool = False  # the container went


class Shown(msgspec.Struct, frozen=True):
    """Where an element is after it was scrolled to."""

    element: Element
    ref: str
    x: int  # of the window's scroll position
    y: int
    in_viewport: bool
    fully: bool


async def scroll_towards(
    page: Page, container: Target | None, direction: Direction, pixels: int
) -> Scrolled:
    """Scroll by ``pixels``; 0: by 80% of what is in view."""
    return await _scroll(page, container, "scrollTowards", direction, pixels)


async def scroll_to(
    page: Page, container: Target | None, x: float | None, y: float | None
) -> Scrolled:
    """Scroll to a position; an axis that is None stays as it is."""
    return await _scroll(page, container, "scrollToPosition", x, y)


async def scroll_into_view(page: Page, target: Target) -> Shown:
    """Scroll an element, and the frames it is in, to the middle of what is around them."""
    element = await locate(page, target)
    page.acted = True
    await box_of(page, element, reveal=True)
    at = await in_frames(page, lambda: page.kit("scrolled", result=tuple[int, int, int, int]))
    left, top, width, height = await box_of(page, element)
    x, y, view_width, view_height = at or (0, 0, 0, 0)
    right, bottom = left + width, top + height
    return Shown(
        element,
        ref_of(page, element),
        x,
        y,
        in_viewport=right > 0 and bottom > 0 and left < view_width and top < view_height,
        fully=left >= 0 and top >= 0 and right <= view_width and bottom <= view_height,
    )


async def _scroll(
    page: Page, container: Target | None, function: str, *arguments: object
) -> Scrolled:
    frame, number = page.frames.main, 0
    if container is not None:
        element = await locate(page, container)
        frame, number = element.frame, element.number
    page.acted = True
    scrolled = await page.kit(function, number, *arguments, result=Scrolled, frame=frame)
    if scrolled.gone:
        raise stale(str(container))
    await page.settle()
    return scrolled
