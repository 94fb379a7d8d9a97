"""Frames put together for somebody to look at: a contact sheet, or a moving picture.

Runs in the picture process. Frames are reduced as they are decoded, so the memory this takes
is that of the result, not of the frames.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from vfa.errors import PictureError
from vfa.image.fit import (
    SHRINK_MARGIN,
    WEBP_EFFORT,
    Encoded,
    encode_within,
    flattened,
    reduced,
    resized,
)
from vfa.image.header import picture_size
from vfa.image.plan import budget_scale, scaled_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.image.header import Buffer
    from vfa.image.jobs import Target

GAP = 6  # pixels between frames, and around them
STRIP = 22  # pixels below a frame, for its label
TEXT = 14  # pixels
PAPER, INK = (245, 245, 245), (20, 20, 20)
SMALLEST_FRAME = 40  # pixels of a frame's width on a sheet
DEFAULT_SIDE = 1568  # pixels of a sheet whose target does not say
MOVING_SIDE = 640  # pixels of a moving picture whose target does not say
MAX_TRIES = 4


def contact_sheet(pictures: Sequence[Buffer], labels: Sequence[str], target: Target) -> Encoded:
    """Return one picture of all ``pictures`` in rows, each with its label below it.

    Raises:
        PictureError: There are none, or one cannot be read.
    """
    wide, high = _first_size(pictures)
    side = target.max_side or DEFAULT_SIDE
    columns = sheet_columns(len(pictures), wide / high)
    rows = math.ceil(len(pictures) / columns)
    room = (side - GAP) / columns - GAP
    tall = ((side - GAP) / rows - GAP - STRIP) * wide / high
    width = min(wide, max(SMALLEST_FRAME, math.floor(min(room, tall))))
    height = max(1, round(width * high / wide))
    across, down = width + GAP, height + STRIP + GAP
    sheet = Image.new("RGB", (GAP + columns * across, GAP + rows * down), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(TEXT)
    for index, (data, label) in enumerate(zip(pictures, labels, strict=True)):
        row, column = divmod(index, columns)
        x, y = GAP + column * across, GAP + row * down
        sheet.paste(_within(data, width, height), (x, y))
        draw.text((x, y + height + STRIP // 2), label, fill=INK, font=font, anchor="lm")
    scale = budget_scale(*sheet.size, target)
    return encode_within(resized(sheet, scaled_size(*sheet.size, scale)), target, scale)


def sheet_columns(count: int, aspect: float) -> int:
    """Return how many columns make a sheet about as wide as it is high.

    Args:
        count: Of frames.
        aspect: Width of a frame by its height.
    """
    return min(count, max(1, round(math.sqrt(count / max(aspect, 0.01)))))


def moving_picture(
    pictures: Sequence[Buffer], durations: Sequence[int], target: Target
) -> Encoded:
    """Return an animated WebP that shows each picture for its duration in milliseconds.

    Raises:
        PictureError: There are none, or one cannot be read.
    """
    size = _first_size(pictures)
    scale = min(1.0, (target.max_side or MOVING_SIDE) / max(size))
    budget = math.inf if target.max_bytes is None else target.max_bytes
    for _ in range(MAX_TRIES):
        wide, high = scaled_size(*size, scale)
        frames = [_within(data, wide, high) for data in pictures]
        data = _animated(frames, durations, target.quality)
        if len(data) <= budget:
            break
        scale *= SHRINK_MARGIN / math.sqrt(len(data) / budget)
    return Encoded(data, wide, high, scale, len(data) <= budget)


def _animated(frames: list[Image.Image], durations: Sequence[int], quality: int) -> bytes:
    file = io.BytesIO()
    try:
        frames[0].save(
            file,
            "webp",
            save_all=True,
            append_images=frames[1:],
            duration=list(durations),
            loop=0,
            quality=quality,
            method=WEBP_EFFORT,
        )
    except (OSError, ValueError) as error:
        raise PictureError(f"the moving picture cannot be written: {error}") from error
    return file.getvalue()


def _first_size(pictures: Sequence[Buffer]) -> tuple[int, int]:
    if not pictures:
        raise PictureError("there are no frames to put together")
    return picture_size(pictures[0]) or (1, 1)


def _within(data: Buffer, width: int, height: int) -> Image.Image:
    """Return ``data`` at that size; one of other proportions is fitted into the middle."""
    size = picture_size(data) or (1, 1)
    scale = min(width / size[0], height / size[1])
    image = flattened(reduced(data, min(1.0, scale)))
    if abs(size[0] * scale - width) < 1 and abs(size[1] * scale - height) < 1:
        return resized(image, (width, height))
    frame = Image.new("RGB", (width, height), PAPER)
    frame.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
    return frame
