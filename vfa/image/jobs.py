"""What the engine and its picture process say to each other.

A message is a frame: four bytes of length, big-endian, then msgpack. The bytes of pictures
follow the message that names their sizes, unframed and uncopied: a page of 60 megapixels
would otherwise be copied twice on each side.

    engine  → Order, pictures
    worker  → Started, as soon as the whole order was read: from here on the job may be what
              killed the worker, so it is not given to another one
    worker  → Done, picture | Failed
"""

from __future__ import annotations

from typing import Literal

import msgspec

from vfa.image.header import Format  # noqa: TC001  # msgspec reads the annotation

MAX_PICTURE_BYTES = 256 * 1024 * 1024  # of one order, all its pictures together
HEADER_BYTES = 4
DEFAULT_COLOR = "#d81b60"


class Target(msgspec.Struct, frozen=True):
    """What a picture is to become."""

    format: Format = "jpeg"
    quality: int = 80  # 1 to 100; of no effect on PNG
    max_pixels: int | None = None
    max_side: int | None = None  # pixels
    max_bytes: int | None = None  # a target: attempts to meet it are bounded
    strict: bool = False  # fail rather than answer with more than max_bytes

    @property
    def mime_type(self) -> str:
        """Its format, as protocols call it."""
        return f"image/{self.format}"


class LabelledBox(msgspec.Struct, frozen=True):
    """A box to draw, in the units of the page (or of the picture, at scale 1)."""

    x: float
    y: float
    width: float
    height: float
    label: str
    color: str = DEFAULT_COLOR  # "#rrggbb" or a CSS colour name


class Tile(msgspec.Struct, frozen=True):
    """A part of a picture, and the pixel its upper left corner belongs to."""

    data: bytes
    x: int
    y: int


class Picture(msgspec.Struct, frozen=True):
    """A finished picture."""

    data: bytes
    width: int  # pixels
    height: int  # pixels
    scale: float  # pixels of it per pixel of what came in
    mime_type: str
    within_budget: bool = True  # False: max_bytes could not be met


class Fit(msgspec.Struct, frozen=True, tag_field="job", tag="fit"):
    """Bring the one picture into its target's format and budgets."""

    target: Target


class Annotate(msgspec.Struct, frozen=True, tag_field="job", tag="annotate"):
    """Draw ``boxes``, whose units are ``scale`` pixels long, on the one picture."""

    target: Target
    boxes: tuple[LabelledBox, ...]
    scale: float


class Stitch(msgspec.Struct, frozen=True, tag_field="job", tag="stitch"):
    """Put the pictures at ``places`` on a white picture of ``width`` by ``height`` pixels."""

    target: Target
    places: tuple[tuple[int, int], ...]
    width: int
    height: int


class Crop(msgspec.Struct, frozen=True, tag_field="job", tag="crop"):
    """Cut ``box`` (left, top, width, height), in pixels, out of the one picture."""

    target: Target
    box: tuple[int, int, int, int]


class Sheet(msgspec.Struct, frozen=True, tag_field="job", tag="sheet"):
    """Put the pictures in rows, each with its label below it."""

    target: Target
    labels: tuple[str, ...]


class Animate(msgspec.Struct, frozen=True, tag_field="job", tag="animate"):
    """Make one moving picture of the pictures, each shown for its milliseconds."""

    target: Target  # a WebP
    durations: tuple[int, ...]


Job = Fit | Annotate | Stitch | Crop | Sheet | Animate


class Order(msgspec.Struct, frozen=True):
    """One job and the sizes in bytes of the pictures that follow."""

    job: Job
    sizes: tuple[int, ...]


class Started(msgspec.Struct, frozen=True, tag_field="answer", tag="started"):
    """The order was read; the work begins."""


class Done(msgspec.Struct, frozen=True, tag_field="answer", tag="done"):
    """The work is done; ``size`` bytes of picture follow."""

    width: int
    height: int
    scale: float
    within_budget: bool
    size: int


class Failed(msgspec.Struct, frozen=True, tag_field="answer", tag="failed"):
    """The work could not be done."""

    reason: Literal["unreadable", "too-large", "memory", "bug"]
    message: str
    hint: str = ""


Answer = Started | Done | Failed


def frame(message: Order | Answer) -> bytes:
    """Return ``message`` as it goes over the pipe."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(HEADER_BYTES, "big") + body
