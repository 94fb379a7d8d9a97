"""Bytes to a Pillow picture, and Pillow's many failures to ours.

Runs in the picture process. Reads PNG, JPEG and WebP, nothing else: each further format is
code that a hostile page could reach.
"""

from __future__ import annotations

import io
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PIL import Image, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

from vfa.errors import PictureError
from vfa.image.header import picture_format, picture_size
from vfa.image.plan import scaled_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vfa.image.header import Buffer

MAX_PIXELS = 200_000_000  # 800 MB uncompressed; twice the largest page we know of
READERS: dict[str, Callable[[io.BytesIO], Image.Image]] = {
    "png": PngImagePlugin.PngImageFile,
    "jpeg": JpegImagePlugin.JpegImageFile,
    "webp": WebPImagePlugin.WebPImageFile,
}
# What Pillow raises on bytes that are not what they claim to be. It promises no single class.
READ_ERRORS = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    zlib.error,
    Image.DecompressionBombError,
)

# Our own limit is stated in our own words; the one of Pillow would warn first.
Image.MAX_IMAGE_PIXELS = None


def open_picture(data: Buffer, wanted: float = 1.0) -> Image.Image:
    """Return ``data`` decoded, as ``RGB`` or, where it has transparency, ``RGBA``.

    Args:
        data: A PNG, JPEG or WebP file.
        wanted: The scale that the caller is going to reduce the picture to. A JPEG is then
            decoded at the next larger eighth, which saves memory and time; measure with
            ``picture_size``, not with the result.

    Raises:
        PictureError: It is not a picture, is cut off, or has too many pixels.
    """
    size, kind = picture_size(data), picture_format(data)
    if size is None or kind is None:
        raise PictureError(
            f"{len(data)} bytes are not a PNG, JPEG or WebP picture",
            hint="Pass the bytes of a capture as they came.",
        )
    check_pixels(*size)
    with _reading(kind):
        picture = READERS[kind](io.BytesIO(data))
        picture.draft("RGB", scaled_size(*size, wanted))
        picture.load()
        return _plain(picture)


def check_pixels(width: int, height: int) -> None:
    """Raise ``PictureError`` if a picture of this size is more than anybody needs."""
    if width * height > MAX_PIXELS:
        raise PictureError(
            f"{width} x {height} pixels are more than {MAX_PIXELS} in one picture",
            hint="Capture at a smaller scale, or in parts.",
        )


def _plain(picture: Image.Image) -> Image.Image:
    """Return ``picture`` in one of the two modes that everything after this knows."""
    if picture.mode == "RGB" and "transparency" not in picture.info:
        return picture
    if picture.mode != "RGBA":
        has_alpha = picture.mode in {"LA", "PA"} or "transparency" in picture.info
        return picture.convert("RGBA" if has_alpha else "RGB")
    # Chromium writes an alpha channel also for pages that are opaque everywhere.
    is_opaque = picture.getchannel("A").getextrema() == (255, 255)
    return picture.convert("RGB") if is_opaque else picture


@contextmanager
def _reading(kind: str) -> Iterator[None]:
    try:
        yield
    except READ_ERRORS as error:
        raise PictureError(
            f"the {kind} picture cannot be decoded: {error}",
            hint="It may have been cut off on its way; capture it again.",
        ) from error
