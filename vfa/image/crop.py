"""A part of a picture, for captures that Chromium cannot make of a part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.errors import PictureError
from vfa.image.decode import open_picture
from vfa.image.fit import Encoded, encode_within, resized
from vfa.image.plan import budget_scale, scaled_size

if TYPE_CHECKING:
    from vfa.image.header import Buffer
    from vfa.image.jobs import Target


def crop(data: Buffer, box: tuple[int, int, int, int], target: Target) -> Encoded:
    """Return the part of ``data`` in ``box`` (left, top, width, height), in pixels.

    Raises:
        PictureError: ``data`` cannot be read, or nothing of it is in the box.
    """
    image = open_picture(data)
    left, top = max(0, box[0]), max(0, box[1])
    right, bottom = min(image.width, box[0] + box[2]), min(image.height, box[1] + box[3])
    if left >= right or top >= bottom:
        raise PictureError(
            f"nothing of a picture of {image.width} x {image.height} is in {box}",
            hint="What is to be seen has left the viewport.",
        )
    part = image.crop((left, top, right, bottom))
    scale = budget_scale(*part.size, target)
    return encode_within(resized(part, scaled_size(*part.size, scale)), target, scale)
