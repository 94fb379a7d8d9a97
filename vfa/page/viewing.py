"""What of a page is in sight, where an element is, and looking at more than is in sight.

All areas are in CSS px of the document. A part of the viewport is captured without the page
noticing. Anything beyond it makes Chromium lay the page out without scroll bars, resize the
viewport for a moment and clamp scroll positions, all of which the page can see: ``beyond``
begins that in good order and puts back what Chromium leaves behind.

Source: CDP ``Page.captureScreenshot``, ``Emulation.setScrollbarsHidden``.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import CommandTimeoutError, ElementHiddenError, VfaError
from vfa.page.locating import box_of, locate, ref_of, stale, time_left

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vfa.page.locating import Element, Target
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

LAZY_BUDGET_MS = 4_000  # for the whole page, however tall
STILL_BUDGET_MS = 1_500  # for an element to stop moving
ELEMENT_WAIT = 10.0  # seconds for an element to appear, if the caller has that long
END_BOUND = 1.5  # seconds to put a page back; it was found to take 0.1


class Area(msgspec.Struct, frozen=True):
    """A part of the document, CSS px."""

    x: float
    y: float
    width: float
    height: float

    def within(self, other: Area) -> Area:
        """Return what of this is in ``other``; of no size if nothing is."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        return Area(x, y, max(0.0, right - x), max(0.0, bottom - y))

    def holds(self, other: Area) -> bool:
        """Say whether ``other`` is inside of this, give or take a rounding."""
        return (
            self.x <= other.x + 1
            and self.y <= other.y + 1
            and other.x + other.width <= self.x + self.width + 1
            and other.y + other.height <= self.y + self.height + 1
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it."""
        return self.width <= 0 or self.height <= 0


class View(msgspec.Struct, frozen=True, rename="camel"):
    """The viewport.

    Source: CSSOM View, ``VisualViewport``; CDP ``Page.getLayoutMetrics``.
    """

    width: float  # of the layout viewport, scroll bars included
    height: float
    ratio: float  # device pixels per CSS px, page scale apart
    scroll_x: float
    scroll_y: float
    zoom: float = 1.0  # page scale: mobile pages that are wider than the device have less
    seen_width: float = 0.0  # of what is in sight, scroll bars left out
    seen_height: float = 0.0
    # Where the viewport is in the document, and in the viewport what is in sight. Not the
    # scroll position: that is negative where writing begins on the right.
    page_x: float = 0.0
    page_y: float = 0.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    @property
    def seen(self) -> Area:
        """What of the document is in sight, scroll bars included."""
        x, y = self.page_x + self.offset_x, self.page_y + self.offset_y
        if self.zoom > 1:
            return Area(x, y, self.seen_width, self.seen_height)
        return Area(x, y, self.width, self.height)


class _Rect(msgspec.Struct, frozen=True):
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


class _Layout(msgspec.Struct, frozen=True, rename="camel"):
    page_x: float = 0.0
    page_y: float = 0.0


class _Visual(msgspec.Struct, frozen=True, rename="camel"):
    offset_x: float = 0.0
    offset_y: float = 0.0


class _Metrics(msgspec.Struct, frozen=True, rename="camel"):
    css_content_size: _Rect
    css_layout_viewport: _Layout
    css_visual_viewport: _Visual


class _Exposed(msgspec.Struct, frozen=True):
    gone: bool = False
    hidden: str = ""
    still: bool = True


async def glance(page: Page) -> View:
    """Return what is in sight, but not where in the document that is. One round trip."""
    return await page.call("view", result=View)


async def look(page: Page) -> View:
    """Return what is in sight."""
    view, metrics = await glance(page), await _measure(page)
    layout, visual = metrics.css_layout_viewport, metrics.css_visual_viewport
    return msgspec.structs.replace(
        view,
        page_x=layout.page_x,
        page_y=layout.page_y,
        offset_x=visual.offset_x,
        offset_y=visual.offset_y,
    )


async def whole(page: Page) -> Area:
    """Return the area of the whole document."""
    size = (await _measure(page)).css_content_size
    return Area(size.x, size.y, max(1.0, size.width), max(1.0, size.height))


async def _measure(page: Page) -> _Metrics:
    return await page.session.call("Page.getLayoutMetrics", {}, _Metrics)


async def expose(page: Page, target: Target) -> Element:
    """Find an element, bring it into view, and wait until it has come to rest.

    Raises:
        ElementNotFoundError: It did not appear in time.
        ElementStaleError: The ref's element is gone, or it went meanwhile.
        ElementHiddenError: It is there, but nothing of it is to be seen.
    """
    with trio.move_on_after(ELEMENT_WAIT) as wait:
        element = await locate(page, target)
    if wait.cancelled_caught:
        raise CommandTimeoutError(
            f"the page did not answer a question about {target} in time",
            hint="The page is probably busy in an endless script; the next call recovers it.",
        )
    await box_of(page, element, reveal=element.frame is not page.frames.main)
    budget = min(time_left(), STILL_BUDGET_MS)
    exposed = await page.kit(
        "expose", element.number, budget, result=_Exposed, frame=element.frame
    )
    if exposed.gone:
        raise stale(target.ref or ref_of(page, element))
    if exposed.hidden:
        raise hidden(target, exposed.hidden)
    return element


def hidden(target: Target, why: str) -> ElementHiddenError:
    """Return the error for an element that cannot be seen."""
    return ElementHiddenError(
        f"{target} is not visible: {why}",
        hint="Show it first, or name another element.",
    )


async def area_of(page: Page, element: Element, view: View) -> Area:
    """Return where an element is in the document."""
    left, top, width, height = await box_of(page, element)
    return Area(left + view.page_x, top + view.page_y, width, height)


@asynccontextmanager
async def beyond(page: Page, *, top: bool = False, lazy: bool = False) -> AsyncIterator[None]:
    """Let the block capture what is out of sight; put the page back after it.

    Args:
        page: The tab.
        top: Show the page from its beginning, where what is fixed or sticky belongs.
        lazy: Walk through the page first, so that what is lazy is loaded. Bounded in time.
    """
    page.session.post("Emulation.setScrollbarsHidden", {"hidden": True})
    try:
        budget = LAZY_BUDGET_MS if lazy else 0
        await page.kit("beginBeyond", budget if top else -1, result=int)
        yield
    finally:
        with trio.move_on_after(END_BOUND, shield=True):
            page.session.post("Emulation.setScrollbarsHidden", {"hidden": False})
            await _end(page)


async def _end(page: Page) -> None:
    try:
        await page.kit("endBeyond", result=bool)
    except VfaError as error:
        logger.debug("the page left before it was put back: %s", error)
