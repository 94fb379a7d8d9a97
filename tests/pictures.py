"""Pictures for tests, made on the spot."""

from __future__ import annotations

import io

from PIL import Image


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def plain(width: int, height: int, kind: str = "png", color: str = "teal", mode: str = "RGB"):
    return encoded(Image.new(mode, (width, height), color), kind)


def noise(width: int, height: int, kind: str = "png") -> bytes:
    """Return a picture that no format can make small."""
    return encoded(noisy(width, height), kind)


def noisy(width: int, height: int) -> Image.Image:
    return Image.effect_noise((width, height), 90).convert("RGB")


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image
