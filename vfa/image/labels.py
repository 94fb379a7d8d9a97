"""Where the labels of boxes go: inside the picture, beside their box, not on one another.

Plain geometry on whole pixels, so it is tested without drawing anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEAR = 7  # places directly at a box; among them, one that covers no other box is preferred
MAX_NUDGES = 64  # label heights that a label may be moved away from its box


class Rect(msgspec.Struct, frozen=True):
    """A rectangle of pixels; ``right`` and ``bottom`` are the first ones outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return self.bottom - self.top

    def overlaps(self, other: Rect) -> bool:
        """Tell whether the two share a pixel."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def contains(self, other: Rect) -> bool:
        """Tell whether ``other`` lies in it; every rectangle contains itself."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


def place_labels(
    boxes: Sequence[Rect], labels: Sequence[tuple[int, int]], picture: tuple[int, int]
) -> list[Rect | None]:
    """Return where each label goes; None for one that is larger than the picture.

    Args:
        boxes: Each label's box, clipped to the picture.
        labels: Width and height of each label in pixels.
        picture: Width and height of the picture in pixels.
    """
    taken: list[Rect] = []
    places: list[Rect | None] = []
    for box, (width, height) in zip(boxes, labels, strict=True):
        if width > picture[0] or height > picture[1]:
            places.append(None)
            continue
        choices = [
            Rect(left, top, left + width, top + height)
            for left, top in _within(_corners(box, width, height), width, height, picture)
        ]
        others = [other for other in boxes if not other.contains(box)]
        beside = (
            c for c in choices[:NEAR] if not _touches(c, taken) and not _touches(c, others)
        )
        free = (c for c in choices if not _touches(c, taken))
        place = next(beside, None) or next(free, choices[0])
        taken.append(place)
        places.append(place)
    return places


def _corners(box: Rect, width: int, height: int) -> Iterator[tuple[int, int]]:
    """Yield upper left corners of a label, best first: outside its box, then ever further."""
    yield box.left, box.top - height  # on top of the box, where a reader looks first
    yield box.right - width, box.top - height
    yield box.left, box.bottom
    yield box.right - width, box.bottom
    yield box.left - width, box.top
    yield box.right, box.top
    yield box.left, box.top  # inside: covers a little of what it points at
    for step in range(1, MAX_NUDGES):
        yield box.left, box.top + step * height
        yield box.left + step * width, box.top - height
        yield box.left, box.top - step * height
        yield box.left - step * width, box.top


def _within(
    corners: Iterable[tuple[int, int]], width: int, height: int, picture: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Move each corner as little as possible so that the label lies inside the picture."""
    for left, top in corners:
        yield (
            min(max(left, 0), picture[0] - width),
            min(max(top, 0), picture[1] - height),
        )


def _touches(place: Rect, others: list[Rect]) -> bool:
    return any(place.overlaps(other) for other in others)
