"""How large a picture may be: pure arithmetic, before and after a capture.

Needs no Pillow and no browser. "CSS px" are the page's units; "pixels" are those of the
picture. A capture of ``w`` CSS px is ``w * factor * scale`` pixels wide, where ``factor`` is
the device scale factor and ``scale`` is CDP ``Page.Viewport.scale``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from vfa.image.header import Format
    from vfa.image.jobs import Target

MARGIN = 0.98  # Chromium rounds a clip up to whole pixels; a budget met exactly is overrun
TILE_PIXELS = 4_000_000  # of one tile: 16 MB uncompressed, which a browser short of memory has
TILE_OVERLAP = 2  # pixels that tiles share, should Chromium round the size of one down
# Longest side a format can have. Sources: libwebp WEBP_MAX_DIMENSION, libjpeg
# JPEG_MAX_DIMENSION, PNG specification 11.2.2. Chromium answers nothing above the WebP limit.
LONGEST_SIDE: dict[Format, int] = {"webp": 16_383, "jpeg": 65_500, "png": 2**31 - 1}


class CapturePlan(msgspec.Struct, frozen=True):
    """What to ask Chromium for."""

    scale: float
    width: int  # pixels, as expected
    height: int  # pixels, as expected
    truncated: bool  # smaller than the page is shown
    tiles: int  # captures needed where one alone fails


class TileClip(msgspec.Struct, frozen=True):
    """One tile: the part of the page it shows, and where it belongs in the picture."""

    x: float  # CSS px
    y: float  # CSS px
    width: float  # CSS px
    height: float  # CSS px
    left: int  # pixels
    top: int  # pixels


def plan_capture(
    width: float,
    height: float,
    *,
    factor: float = 1.0,
    max_pixels: int | None = None,
    format: Format = "jpeg",  # noqa: A002  # CDP's and Pillow's word
    tile_pixels: int = TILE_PIXELS,
) -> CapturePlan:
    """Plan the capture of ``width`` by ``height`` CSS px.

    Bytes cannot be foretold: capture, then ask ``corrected_scale``.
    """
    wide, high = max(1.0, width * factor), max(1.0, height * factor)
    scale = 1.0
    if max_pixels is not None and wide * high > max_pixels:
        scale = math.sqrt(max_pixels / (wide * high)) * MARGIN
    longest = max(wide, high) * scale
    if longest > LONGEST_SIDE[format]:
        scale *= LONGEST_SIDE[format] / longest * MARGIN
    size = scaled_size(wide, high, scale)
    tiles = tile_clips(width, height, factor=factor, scale=scale, tile_pixels=tile_pixels)
    return CapturePlan(scale, *size, truncated=scale < 1, tiles=len(tiles))


def corrected_scale(
    scale: float,
    size: tuple[int, int] | None,
    byte_count: int,
    *,
    max_pixels: int | None = None,
    max_bytes: int | None = None,
) -> float | None:
    """Return the scale to capture again with, or None if the capture is within its budgets.

    Args:
        scale: What the capture was made with.
        size: Its measured size in pixels; None if unknown, which skips that check.
        byte_count: Its size in bytes.
        max_pixels: The pixel budget; None for no bound.
        max_bytes: The byte budget; None for no bound.
    """
    correction = 1.0
    if max_pixels is not None and size is not None:
        correction = min(correction, math.sqrt(max_pixels / (size[0] * size[1])))
    if max_bytes is not None and byte_count > 0:
        correction = min(correction, math.sqrt(max_bytes / byte_count))
    return scale * correction * MARGIN if correction < 1 else None


def tile_clips(
    width: float,
    height: float,
    *,
    factor: float = 1.0,
    scale: float = 1.0,
    tile_pixels: int = TILE_PIXELS,
) -> list[TileClip]:
    """Cut a capture into full-width tiles, top to bottom, that cover it without a gap.

    Tiles begin on whole pixels of the picture, which are seldom whole CSS px: a tile that
    began between two pixels would be drawn half a pixel off its neighbour.
    """
    pixels = factor * scale  # per CSS px
    across, down = max(1, math.ceil(width * pixels)), max(1, math.ceil(height * pixels))
    step = max(1, tile_pixels // across - TILE_OVERLAP)
    clips = []
    for top in range(0, down, step):
        y = top / pixels
        bottom = min(height, (top + step + TILE_OVERLAP) / pixels)
        clips.append(TileClip(0, y, width, bottom - y, 0, top))
    return clips


def budget_scale(width: int, height: int, target: Target) -> float:
    """Return the largest scale, at most 1, at which a picture is within its pixel budgets."""
    sides = [LONGEST_SIDE[target.format]]
    if target.max_side is not None:
        sides.append(target.max_side)
    scale = min(1.0, min(sides) / max(width, height))
    if target.max_pixels is not None:
        scale = min(scale, math.sqrt(target.max_pixels / (width * height)))
    return scale


def scaled_size(width: float, height: float, scale: float) -> tuple[int, int]:
    """Return the size at ``scale``, in whole pixels, rounded down and at least one."""
    # The small addition keeps 1000 * (500 / 1000) from becoming 499.
    return max(1, math.floor(width * scale + 1e-6)), max(1, math.floor(height * scale + 1e-6))
