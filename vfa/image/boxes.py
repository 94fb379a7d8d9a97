"""Labelled boxes on a picture: what a finding or an element number points at.

The picture is reduced to its budgets first and drawn on then, so that labels stay readable
at the size somebody will look at. Source of the contrast formula: WCAG 2.2, relative
luminance.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from PIL import ImageColor, ImageDraw, ImageFont

from vfa.errors import PictureError
from vfa.image.fit import Encoded, encode_within, flattened, reduced
from vfa.image.header import picture_size
from vfa.image.labels import Rect, place_labels
from vfa.image.plan import budget_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL import Image

    from vfa.image.header import Buffer
    from vfa.image.jobs import LabelledBox, Target

SMALLEST_TEXT, LARGEST_TEXT = 14, 40  # pixels
TEXT_SHARE = 60  # text height is this part of the picture's mean side
LONGEST_LABEL = 40  # characters: a label is a number or a word, not a sentence
BLACK, WHITE = (0, 0, 0), (255, 255, 255)

Color = tuple[int, int, int]


def annotate(
    data: Buffer, boxes: Sequence[LabelledBox], target: Target, scale: float = 1.0
) -> Encoded:
    """Return ``data`` with ``boxes`` drawn on it, within the budgets of ``target``.

    Args:
        data: The picture.
        boxes: What to draw. Boxes outside the picture are left out, others are clipped.
        target: Format and budgets of the result.
        scale: Pixels of ``data`` per unit of a box.

    Raises:
        PictureError: ``data`` cannot be read, or a colour has no meaning.
    """
    reduction = budget_scale(*(picture_size(data) or (1, 1)), target)
    image = flattened(reduced(data, reduction))
    draw_boxes(image, boxes, scale * reduction)
    return encode_within(image, target, reduction)


def draw_boxes(image: Image.Image, boxes: Sequence[LabelledBox], scale: float) -> None:
    """Draw ``boxes``, whose units are ``scale`` pixels long, on ``image`` in place."""
    text_size = _text_size(image.size)
    line = max(2, text_size // 7)
    # Around the element, not on it: frames of tight boxes would cross out what they show.
    clipped = [(box, _clip(box, scale, image.size, line + 2)) for box in boxes]
    shown = [(box, rect) for box, rect in clipped if rect is not None]
    font = ImageFont.load_default(text_size)
    pad = max(2, text_size // 5)
    draw = ImageDraw.Draw(image)
    texts = [box.label[:LONGEST_LABEL] for box, _ in shown]
    sizes = [_label_size(font, text, pad) for text in texts]
    places = place_labels([rect for _, rect in shown], sizes, image.size)
    for box, rect in shown:
        _draw_frame(draw, rect, _color(box.color), line)
    # After all frames, so that no frame crosses a label out.
    for (box, _), text, place in zip(shown, texts, places, strict=True):
        if place is not None and text:
            _draw_label(draw, place, text, _color(box.color), font)


def text_color(background: Color) -> Color:
    """Return black or white, whichever has the higher contrast on ``background``."""
    luminance = _luminance(background)
    return BLACK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else WHITE


def _clip(box: LabelledBox, scale: float, size: tuple[int, int], border: int) -> Rect | None:
    """Return ``box`` in pixels with a border, clipped to ``size``; None if it is outside."""
    edges = (box.x, box.y, box.x + box.width, box.y + box.height)
    if not all(map(math.isfinite, edges)):
        return None
    left, top = max(0, math.floor(edges[0] * scale)), max(0, math.floor(edges[1] * scale))
    right = min(size[0], math.ceil(edges[2] * scale))
    bottom = min(size[1], math.ceil(edges[3] * scale))
    if left >= right or top >= bottom:
        return None
    return Rect(
        max(0, left - border),
        max(0, top - border),
        min(size[0], right + border),
        min(size[1], bottom + border),
    )


def _text_size(size: tuple[int, int]) -> int:
    wanted = round(math.sqrt(size[0] * size[1]) / TEXT_SHARE)
    return min(max(wanted, SMALLEST_TEXT), LARGEST_TEXT)


def _label_size(
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str, pad: int
) -> tuple[int, int]:
    # The height of a digit for all, so that labels of one picture look alike.
    _, top, _, bottom = font.getbbox("0")
    return math.ceil(font.getlength(text)) + 2 * pad, math.ceil(bottom - top) + 2 * pad


def _draw_frame(draw: ImageDraw.ImageDraw, rect: Rect, color: Color, line: int) -> None:
    # A thin light or dark edge around it shows the frame on a background of its own colour.
    edge = (rect.left, rect.top, rect.right - 1, rect.bottom - 1)
    draw.rectangle(edge, outline=text_color(color), width=line + 2)
    inner = (edge[0] + 1, edge[1] + 1, edge[2] - 1, edge[3] - 1)
    if inner[0] <= inner[2] and inner[1] <= inner[3]:
        draw.rectangle(inner, outline=color, width=line)
    else:
        draw.rectangle(edge, fill=color)


def _draw_label(
    draw: ImageDraw.ImageDraw,
    place: Rect,
    text: str,
    color: Color,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    edge = (place.left, place.top, place.right - 1, place.bottom - 1)
    ink = text_color(color)
    draw.rectangle(edge, fill=color, outline=ink)
    middle = ((place.left + place.right) / 2, (place.top + place.bottom) / 2)
    draw.text(middle, text, fill=ink, font=font, anchor="mm")


@cache
def _color(name: str) -> Color:
    try:
        red, green, blue = ImageColor.getrgb(name)[:3]
    except ValueError as error:
        raise PictureError(
            f"{name!r} is not a colour", hint="Use #rrggbb or a CSS colour name."
        ) from error
    return red, green, blue


def _luminance(color: Color) -> float:
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
