"""Tiles to one picture, for captures that Chromium cannot make in one piece.

The picture is made at its final size from the start and each tile is reduced before it is
put there, so the memory this takes is that of the result and one tile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image

from vfa.errors import PictureError
from vfa.image.decode import check_pixels, open_picture
from vfa.image.fit import WHITE, Encoded, encode_within, flattened, resized
from vfa.image.header import picture_size
from vfa.image.plan import budget_scale, scaled_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.image.header import Buffer
    from vfa.image.jobs import Target


def stitch(
    tiles: Sequence[tuple[Buffer, int, int]], width: int, height: int, target: Target
) -> Encoded:
    """Return a picture of ``width`` by ``height`` pixels made of ``tiles``.

    Args:
        tiles: Each one's file and the pixel of the picture its upper left corner belongs to.
            Later ones cover earlier ones; what no tile covers is white.
        width: Pixels, before budgets.
        height: Pixels, before budgets.
        target: Format and budgets of the result.

    Raises:
        PictureError: A tile cannot be read, or the size is impossible.
    """
    if width < 1 or height < 1:
        raise PictureError(f"a picture cannot have {width} x {height} pixels")
    scale = budget_scale(width, height, target)
    size = scaled_size(width, height, scale)
    check_pixels(*size)
    canvas = Image.new("RGB", size, WHITE)
    for data, left, top in tiles:
        _put(canvas, data, left, top, scale)
    return encode_within(canvas, target, scale)


def _put(canvas: Image.Image, data: Buffer, left: int, top: int, scale: float) -> None:
    tile = flattened(open_picture(data, scale))
    wide, high = picture_size(data) or tile.size
    # Both edges are rounded, not the size: neighbours then meet without a line between them.
    x, y = round(left * scale), round(top * scale)
    right, bottom = round((left + wide) * scale), round((top + high) * scale)
    canvas.paste(resized(tile, (max(1, right - x), max(1, bottom - y))), (x, y))
