"""A picture within its budgets: never cropped, only reduced.

Pixel budgets are met exactly, by arithmetic. A byte budget is a target: lower quality is
tried first, because a reader of text loses less by it than by fewer pixels, then a smaller
scale; the number of attempts is bounded.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import msgspec
from PIL import Image

from vfa.errors import PictureError, ScreenshotTooLargeError
from vfa.image.decode import open_picture
from vfa.image.header import picture_size
from vfa.image.plan import budget_scale, scaled_size

if TYPE_CHECKING:
    from vfa.image.header import Buffer
    from vfa.image.jobs import Target

MAX_ENCODES = 6  # a 16 megapixel JPEG takes about 0.2 s each time
LOWEST_QUALITY = 40  # below it, small text in a JPEG is no longer readable
FAR_OVER = 1.6  # times the budget: halfway to the lowest quality will not do
SHRINK_MARGIN = 0.95  # small pictures need more bytes a pixel than large ones
WEBP_EFFORT = 2  # of 6; half the time of Pillow's 4 for 4 % more bytes
PNG_EFFORT = 4  # of 9; half the time of zlib's 6 for 3 % more bytes
WHITE = (255, 255, 255)


class Encoded(msgspec.Struct, frozen=True):
    """A finished picture."""

    data: bytes
    width: int
    height: int
    scale: float  # of the picture that came in, or of the page where the caller says so
    within_budget: bool


def fit(data: Buffer, target: Target) -> Encoded:
    """Return ``data`` in the format and within the budgets of ``target``.

    Raises:
        PictureError: ``data`` cannot be read, or it does not fit and ``target`` is strict.
    """
    scale = budget_scale(*(picture_size(data) or (1, 1)), target)
    return encode_within(reduced(data, scale), target, scale)


def reduced(data: Buffer, scale: float) -> Image.Image:
    """Return ``data`` decoded and resized to ``scale`` of its size, which is at most 1."""
    size = picture_size(data) or (1, 1)
    return resized(open_picture(data, scale), scaled_size(*size, scale))


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return ``image`` at ``size``; the very same one if it has that size."""
    if image.size == size:
        return image
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def encode_within(image: Image.Image, target: Target, scale: float = 1.0) -> Encoded:
    """Encode ``image``, then again, smaller, while it is over the byte budget.

    Args:
        image: ``RGB`` or ``RGBA``, within the pixel budgets already.
        target: Format and byte budget.
        scale: What ``image`` has been reduced by already; the answer's scale includes it.

    Raises:
        ScreenshotTooLargeError: The budget was not met and ``target`` is strict.
    """
    budget = math.inf if target.max_bytes is None else target.max_bytes
    quality, shrink, frame = target.quality, 1.0, image
    data = encode(frame, target.format, quality)
    for _ in range(MAX_ENCODES - 1):
        if len(data) <= budget or frame.size == (1, 1):
            break
        excess = len(data) / budget
        lower = _lower_quality(quality, excess, target)
        if lower == quality:
            shrink *= SHRINK_MARGIN / math.sqrt(excess)
            frame = resized(image, scaled_size(*image.size, shrink))
        quality = lower
        data = encode(frame, target.format, quality)
    met = len(data) <= budget
    if target.strict and not met:
        raise _too_large(len(data), frame.size, target)
    return Encoded(data, *frame.size, scale * shrink, met)


def _too_large(byte_count: int, size: tuple[int, int], target: Target) -> PictureError:
    return ScreenshotTooLargeError(
        f"the picture has {byte_count} bytes at {size[0]} x {size[1]} pixels; "
        f"{target.max_bytes} are allowed",
        hint="Allow more bytes, ask for jpeg instead of png, or capture less of the page.",
    )


def encode(image: Image.Image, format: str, quality: int) -> bytes:  # noqa: A002
    """Return ``image`` as a file of ``format``; what JPEG cannot keep transparent is white."""
    options: dict[str, Any] = {"quality": quality}
    if format == "png":
        options = {"compress_level": PNG_EFFORT}
    elif format == "webp":
        options["method"] = WEBP_EFFORT
    elif image.mode == "RGBA":
        image = flattened(image)
    file = io.BytesIO()
    try:
        image.save(file, format, **options)
    except (OSError, ValueError) as error:
        raise PictureError(f"the picture cannot be written as {format}: {error}") from error
    return file.getvalue()


def flattened(image: Image.Image) -> Image.Image:
    """Return ``image`` without transparency, on white."""
    if image.mode == "RGB":
        return image
    ground = Image.new("RGB", image.size, WHITE)
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _lower_quality(quality: int, excess: float, target: Target) -> int:
    """Return the next quality to try; ``quality`` itself if only fewer pixels can help."""
    if target.format == "png" or quality <= LOWEST_QUALITY:
        return quality
    return LOWEST_QUALITY if excess > FAR_OVER else (quality + LOWEST_QUALITY) // 2
