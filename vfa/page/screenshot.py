"""Pictures of a page: what is in sight, an element, an area, or the whole document.

What is in sight is captured as it is, and the page does not notice. What is beyond it is one
clip beyond the viewport (the viewport itself is never resized: that would change the layout);
where Chromium cannot do that, for want of memory or because a format has no such size, it is
captured in tiles that the encoder puts together. What exceeds a budget is captured again at a
smaller scale, never cropped.

Source: CDP ``Page.captureScreenshot``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
import trio

from vfa.errors import (
    CdpError,
    CommandTimeoutError,
    InvalidArgsError,
    PictureError,
    ScreenshotTooLargeError,
    VfaError,
)
from vfa.image.header import picture_size
from vfa.image.jobs import Tile
from vfa.image.plan import corrected_scale, plan_capture, scaled_size, tile_clips
from vfa.page.viewing import Area, area_of, beyond, expose, glance, hidden, look, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.image.header import Format
    from vfa.image.jobs import Picture
    from vfa.page.locating import Element, Target
    from vfa.page.page import Page
    from vfa.page.viewing import View

logger = logging.getLogger(__name__)

MAX_CAPTURES = 4  # the first one and its corrections
ONE_CLIP_PIXELS = 40_000_000  # more than this at once needs half a gigabyte in Chromium


class Shot(msgspec.Struct, frozen=True, kw_only=True):
    """What picture is wanted: of the viewport, unless one of the three areas is given."""

    format: Literal["jpeg", "png", "webp"] = "jpeg"
    quality: int = 80  # 1 to 100; of no effect on PNG
    full_page: bool = False
    target: Target | None = None  # an element
    clip: Area | None = None
    scale: float = 1.0  # of the picture; 1: as shown
    delay_ms: int = 0  # waited after everything else, before the picture is taken
    max_pixels: int = 16_000_000
    max_bytes: int = 10_000_000
    load_lazy: bool = True  # of a full page: scroll through it first

    @property
    def moves(self) -> bool:
        """Whether taking it may scroll the page."""
        return self.full_page or self.target is not None or self.clip is not None


class Capture(msgspec.Struct, frozen=True):
    """A picture as taken."""

    data: bytes
    width: int | None  # pixels; None: not measured
    height: int | None
    scale: float  # 1.0: as shown; less: scaled down, as asked for or to fit the budgets
    truncated: bool  # scaled down to fit the budgets
    css_width: float  # what of the page it shows, CSS px
    css_height: float
    scroll_x: float = 0.0
    scroll_y: float = 0.0
    pixel_ratio: float = 1.0
    clip: Area | None = None  # what of the document it shows, unless the viewport or all
    matches: int = 1  # of the selector, where an element was asked for by one

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


class _Data(msgspec.Struct, frozen=True):
    data: bytes  # base64 in the JSON


async def capture(page: Page, encoder: Stitcher, shot: Shot) -> Capture:
    """Take a picture.

    Raises:
        ScreenshotTooLargeError: It exceeds a budget at every scale tried.
        PictureError: Chromium could not capture the page, not even in tiles.
        InvalidArgsError: The clip is outside of the document.
        ElementNotFoundError: The element did not appear.
        ElementHiddenError: Nothing of the element is to be seen.
        ElementStaleError: The element is gone.
    """
    if shot.full_page:
        return await _whole_page(page, encoder, shot)
    if shot.target is not None:
        return await _element(page, encoder, shot, shot.target)
    if shot.clip is not None:
        return await _clip(page, encoder, shot, shot.clip)
    await _delay(shot)
    return await _viewport(page, encoder, shot)


async def _viewport(page: Page, encoder: Stitcher, shot: Shot) -> Capture:
    """Take what is in sight; in one round trip unless it turns out to be too large."""
    if shot.scale == 1:
        view, data = await _at_once(page, shot)
        size = picture_size(data)
        if data and _correction(shot, 1, size, data) is None:
            return _captured(_Scene(page, encoder, shot, view, view.seen), 1, size, data)
    view = await look(page)
    return await _within_budgets(_Scene(page, encoder, shot, view, view.seen))


async def _at_once(page: Page, shot: Shot) -> tuple[View, bytes]:
    """Return what is in sight and its picture; b"" if it cannot be captured as it is."""
    data = b""
    views: list[View] = []
    failure: VfaError | None = None

    async def ask() -> None:
        nonlocal failure
        try:
            views.append(await glance(page))
        except VfaError as error:  # carried past the nursery, which would wrap it
            failure = error

    async with trio.open_nursery() as asking:
        # The picture is asked for first: a question before it often costs it a frame.
        asking.start_soon(ask)
        try:
            data = await _grab(page, shot, None)
        except CdpError as error:
            logger.info("the viewport could not be captured as it is: %s", error)
        except VfaError as error:
            failure = error
    if failure is not None:
        raise failure
    return views[0], data


async def _whole_page(page: Page, encoder: Stitcher, shot: Shot) -> Capture:
    there = await look(page)
    async with beyond(page, top=True, lazy=shot.load_lazy):
        await _delay(shot)
        view, area = await look(page), await whole(page)
        capture = await _within_budgets(_Scene(page, encoder, shot, view, area, beyond=True))
    # Where the page is, and not where it was for the picture.
    return msgspec.structs.replace(
        capture, scroll_x=there.scroll_x, scroll_y=there.scroll_y, clip=None
    )


async def _element(page: Page, encoder: Stitcher, shot: Shot, target: Target) -> Capture:
    element = await expose(page, target)
    await _delay(shot)
    view = await look(page)
    area = await _shown(page, element, target, view)
    if view.seen.holds(area):
        scene = _Scene(page, encoder, shot, view, area.within(view.seen))
        captured = await _within_budgets(scene)
    else:
        async with beyond(page, top=True):  # which may have moved it
            view = await look(page)
            area = await _shown(page, element, target, view)
            area = area.within(await whole(page))
            scene = _Scene(page, encoder, shot, view, area, beyond=True)
            captured = await _within_budgets(scene)
    return msgspec.structs.replace(captured, matches=element.matches)


async def _shown(page: Page, element: Element, target: Target, view: View) -> Area:
    area = await area_of(page, element, view)
    if area.is_empty:
        raise hidden(target, "it has no size")
    return area


async def _clip(page: Page, encoder: Stitcher, shot: Shot, clip: Area) -> Capture:
    await _delay(shot)
    view = await look(page)
    if view.seen.holds(clip):
        return await _within_budgets(_Scene(page, encoder, shot, view, clip.within(view.seen)))
    async with beyond(page, top=True):
        view, all_of_it = await look(page), await whole(page)
        area = clip.within(all_of_it)
        if area.is_empty:
            raise InvalidArgsError(
                f"the clip is outside of the page, which has {all_of_it.width:g} x "
                f"{all_of_it.height:g} CSS px",
                hint="x and y count from the page's upper left corner, scrolled or not.",
            )
        return await _within_budgets(_Scene(page, encoder, shot, view, area, beyond=True))


async def _delay(shot: Shot) -> None:
    if shot.delay_ms:
        await trio.sleep(shot.delay_ms / 1000)


class _Scene(msgspec.Struct, frozen=True):
    """What is to be captured, and by whom."""

    page: Page
    encoder: Stitcher
    shot: Shot
    view: View
    area: Area
    beyond: bool = False  # out of sight, in part

    @property
    def is_view(self) -> bool:
        """Whether it is exactly what is in sight."""
        return not self.beyond and self.area == self.view.seen

    @property
    def zoom(self) -> float:
        """The scale of a clip that is to look as it does on the screen."""
        # Chromium draws a clip without the page scale. For parts of a page and for whole
        # pages that is right: a mobile page that does not fit would be too small to read.
        return self.view.zoom if self.is_view else 1.0

    @property
    def factor(self) -> float:
        """Pixels per CSS px at scale 1."""
        return self.view.ratio * self.zoom


async def _within_budgets(scene: _Scene) -> Capture:
    """Capture at a scale that meets the budgets."""
    shot, area = scene.shot, scene.area
    plan = plan_capture(
        area.width * shot.scale,
        area.height * shot.scale,
        factor=scene.factor,
        max_pixels=shot.max_pixels,
        format=shot.format,
    )
    scale = shot.scale * plan.scale
    data, size = b"", None
    for _ in range(MAX_CAPTURES):
        data = await _take(scene, scale)
        size = picture_size(data)
        smaller = _correction(shot, scale, size, data)
        if smaller is None:
            return _captured(scene, scale, size, data)
        scale = smaller
    pixels = size[0] * size[1] if size else 0
    raise ScreenshotTooLargeError(
        f"the screenshot still has {pixels} pixels and {len(data)} bytes, more than "
        f"{shot.max_pixels} pixels or {shot.max_bytes} bytes",
        hint="Use jpeg, lower the quality, or raise MAX_SCREENSHOT_PIXELS and MAX_IMAGE_BYTES.",
    )


def _correction(
    shot: Shot, scale: float, size: tuple[int, int] | None, data: bytes
) -> float | None:
    return corrected_scale(
        scale, size, len(data), max_pixels=shot.max_pixels, max_bytes=shot.max_bytes
    )


def _captured(
    scene: _Scene, scale: float, size: tuple[int, int] | None, data: bytes
) -> Capture:
    return Capture(
        data,
        size[0] if size else None,
        size[1] if size else None,
        round(scale, 4),
        scale < scene.shot.scale,
        scene.area.width,
        scene.area.height,
        scene.view.scroll_x,
        scene.view.scroll_y,
        scene.view.ratio,
        None if scene.is_view else scene.area,
    )


async def _take(scene: _Scene, scale: float) -> bytes:
    area, is_beyond = scene.area, scene.beyond
    if scene.is_view and scale == 1:
        return await _grab(scene.page, scene.shot, None)
    pixels = area.width * area.height * (scene.factor * scale) ** 2
    if pixels <= ONE_CLIP_PIXELS:
        clip = {**msgspec.to_builtins(area), "scale": scale * scene.zoom}
        try:
            data = await _grab(scene.page, scene.shot, clip, is_beyond=is_beyond)
        except (CdpError, CommandTimeoutError) as error:
            logger.info("one capture of %d pixels failed, taking tiles: %s", pixels, error)
        else:
            if data:
                return data
            logger.info("one capture of %d pixels came back empty, taking tiles", pixels)
    return await _take_tiles(scene, scale)


async def _take_tiles(scene: _Scene, scale: float) -> bytes:
    shot, area, tiles = scene.shot, scene.area, []
    for clip in tile_clips(area.width, area.height, factor=scene.factor, scale=scale):
        wanted = {
            "x": area.x + clip.x,
            "y": area.y + clip.y,
            "width": clip.width,
            "height": clip.height,
            "scale": scale * scene.zoom,
        }
        try:
            data = await _grab(scene.page, shot, wanted, is_beyond=scene.beyond)
        except CdpError as error:
            raise PictureError(
                f"Chromium could not capture the page: {error.message}",
                hint="The machine may be short of memory: lower MAX_SCREENSHOT_PIXELS.",
            ) from error
        tiles.append(Tile(data, clip.left, clip.top))
    picture = await scene.encoder.stitch(
        tiles,
        *scaled_size(area.width * scene.factor, area.height * scene.factor, scale),
        format=shot.format,
        quality=shot.quality,
        max_pixels=shot.max_pixels,
        max_bytes=shot.max_bytes,
    )
    return picture.data


async def _grab(
    page: Page, shot: Shot, clip: dict[str, float] | None, *, is_beyond: bool = False
) -> bytes:
    wanted: dict[str, Any] = {"format": shot.format, "optimizeForSpeed": shot.format == "png"}
    if shot.format != "png":
        wanted["quality"] = shot.quality
    if clip is not None:
        wanted |= {"clip": clip, "captureBeyondViewport": is_beyond}
    return (await page.session.call("Page.captureScreenshot", wanted, _Data)).data
