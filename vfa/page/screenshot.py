"""Pictures of a page: the viewport, or the whole document, within pixel and byte budgets.

A viewport picture asks for no clip, which is right on a scrolled page too. A whole page is
one clip beyond the viewport (the viewport itself is never resized: that would change the
layout); where Chromium cannot do that, for want of memory or because a format has no such
size, the page is captured in tiles that the encoder puts together. What exceeds a budget is
captured again at a smaller scale, never cropped.

Source: CDP ``Page.getLayoutMetrics``, ``Page.captureScreenshot``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
import trio

from vfa.errors import CdpError, CommandTimeoutError, PictureError, ScreenshotTooLargeError
from vfa.image.header import picture_size
from vfa.image.jobs import Tile
from vfa.image.plan import corrected_scale, plan_capture, scaled_size, tile_clips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.image.header import Format
    from vfa.image.jobs import Picture
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

MAX_CAPTURES = 4  # the first one and its corrections
LAZY_STEP_MS = 60  # per viewport height: an observer and the request it makes
LAZY_BUDGET_MS = 4_000  # for the whole page, however tall
ONE_CLIP_PIXELS = 40_000_000  # more than this at once needs half a gigabyte in Chromium


class Shot(msgspec.Struct, frozen=True, kw_only=True):
    """What picture is wanted."""

    format: Literal["jpeg", "png", "webp"] = "jpeg"
    quality: int = 80  # 1 to 100; of no effect on PNG
    full_page: bool = False
    delay_ms: int = 0  # waited after everything else, before the picture is taken
    max_pixels: int = 16_000_000
    max_bytes: int = 10_000_000
    load_lazy: bool = True  # of a full page: scroll through it first


class Capture(msgspec.Struct, frozen=True):
    """A picture as taken."""

    data: bytes
    width: int | None  # pixels; None: not measured
    height: int | None
    scale: float  # 1.0: as shown; less: scaled down to fit the budgets
    truncated: bool  # scaled down
    css_width: float  # what of the page it shows, CSS px
    css_height: float
    scroll_x: float = 0.0
    scroll_y: float = 0.0
    pixel_ratio: float = 1.0

    @property
    def measured(self) -> bool:
        """Whether the size was read from the picture."""
        return self.width is not None


class Stitcher(Protocol):
    """What this module needs of an encoder."""

    async def stitch(
        self,
        tiles: Sequence[Tile],
        width: int,
        height: int,
        *,
        format: Format = "jpeg",  # noqa: A002  # CDP's word
        quality: int = 80,
        max_pixels: int | None = None,
        max_side: int | None = None,
        max_bytes: int | None = None,
    ) -> Picture:
        """Put ``tiles`` together."""


class _Rect(msgspec.Struct, frozen=True, rename="camel"):
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


class _Visual(msgspec.Struct, frozen=True, rename="camel"):
    page_x: float = 0.0
    page_y: float = 0.0
    client_width: float = 0.0
    client_height: float = 0.0
    scale: float = 1.0


class _Metrics(msgspec.Struct, frozen=True, rename="camel"):
    css_visual_viewport: _Visual
    css_content_size: _Rect
    visual_viewport: _Visual


class _Data(msgspec.Struct, frozen=True):
    data: bytes  # base64 in the JSON


async def capture(page: Page, encoder: Stitcher, shot: Shot) -> Capture:
    """Take a picture.

    Raises:
        ScreenshotTooLargeError: It exceeds a budget at every scale tried.
        PictureError: Chromium could not capture the page, not even in tiles.
    """
    if shot.full_page and shot.load_lazy:
        await page.call("load_lazy", LAZY_STEP_MS, LAZY_BUDGET_MS, result=int)
    await page.settle()
    if shot.delay_ms:
        await trio.sleep(shot.delay_ms / 1000)
    metrics = await page.session.call("Page.getLayoutMetrics", {}, _Metrics)
    view = metrics.css_visual_viewport
    ratio = (
        metrics.visual_viewport.client_width / view.client_width if view.client_width else 1.0
    )
    if shot.full_page:
        size = metrics.css_content_size
        area = _Rect(0, 0, max(1.0, size.width), max(1.0, size.height))
    else:
        area = _Rect(view.page_x, view.page_y, view.client_width, view.client_height)
    return await _within_budgets(page, encoder, shot, area, view, ratio * view.scale)


async def _within_budgets(
    page: Page, encoder: Stitcher, shot: Shot, area: _Rect, view: _Visual, factor: float
) -> Capture:
    plan = plan_capture(
        area.width, area.height, factor=factor, max_pixels=shot.max_pixels, format=shot.format
    )
    scale = plan.scale
    data, size = b"", None
    for _ in range(MAX_CAPTURES):
        data = await _take(page, encoder, shot, area, scale, factor)
        size = picture_size(data)
        smaller = corrected_scale(
            scale, size, len(data), max_pixels=shot.max_pixels, max_bytes=shot.max_bytes
        )
        if smaller is None:
            return Capture(
                data,
                size[0] if size else None,
                size[1] if size else None,
                round(scale, 4),
                scale < 1,
                area.width,
                area.height,
                view.page_x,
                view.page_y,
                round(factor, 4),
            )
        scale = smaller
    pixels = size[0] * size[1] if size else 0
    raise ScreenshotTooLargeError(
        f"the screenshot still has {pixels} pixels and {len(data)} bytes, more than "
        f"{shot.max_pixels} pixels or {shot.max_bytes} bytes",
        hint="Use jpeg, lower the quality, or raise MAX_SCREENSHOT_PIXELS and MAX_IMAGE_BYTES.",
    )


async def _take(
    page: Page, encoder: Stitcher, shot: Shot, area: _Rect, scale: float, factor: float
) -> bytes:
    if not shot.full_page and scale >= 1:
        return await _grab(page, shot, None)
    pixels = area.width * area.height * (factor * scale) ** 2
    if pixels <= ONE_CLIP_PIXELS:
        try:
            data = await _grab(page, shot, {**msgspec.to_builtins(area), "scale": scale})
        except (CdpError, CommandTimeoutError) as error:
            logger.info("one capture of %d pixels failed, taking tiles: %s", pixels, error)
        else:
            if data:
                return data
            logger.info("one capture of %d pixels came back empty, taking tiles", pixels)
    return await _take_tiles(page, encoder, shot, area, scale, factor)


async def _take_tiles(
    page: Page, encoder: Stitcher, shot: Shot, area: _Rect, scale: float, factor: float
) -> bytes:
    tiles = []
    for clip in tile_clips(area.width, area.height, factor=factor, scale=scale):
        wanted = {
            "x": area.x + clip.x,
            "y": area.y + clip.y,
            "width": clip.width,
            "height": clip.height,
            "scale": scale,
        }
        try:
            data = await _grab(page, shot, wanted)
        except CdpError as error:
            raise PictureError(
                f"Chromium could not capture the page: {error.message}",
                hint="The machine may be short of memory: lower MAX_SCREENSHOT_PIXELS.",
            ) from error
        tiles.append(Tile(data, clip.left, clip.top))
    picture = await encoder.stitch(
        tiles,
        *scaled_size(area.width * factor, area.height * factor, scale),
        format=shot.format,
        quality=shot.quality,
        max_pixels=shot.max_pixels,
        max_bytes=shot.max_bytes,
    )
    return picture.data


async def _grab(page: Page, shot: Shot, clip: dict[str, float] | None) -> bytes:
    wanted: dict[str, Any] = {"format": shot.format, "optimizeForSpeed": shot.format == "png"}
    if shot.format != "png":
        wanted["quality"] = shot.quality
    if clip is not None:
        wanted |= {"clip": clip, "captureBeyondViewport": True}
    return (await page.session.call("Page.captureScreenshot", wanted, _Data)).data
