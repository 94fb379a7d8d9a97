"""Where a finding is to be seen: boxes and crops on the pictures of a report.

A picture is embedded once and shown many times, through SVG ``<use>``: whole, with all boxes,
and cropped for each finding. Everything here is arithmetic in pixels of the picture; nothing
is decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from vfa.image.header import picture_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vfa.audit.findings import Box, Finding, PageRecord, Screenshot

MIME_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
HEADER = 65_536  # characters of base64 that hold the size of any sensible picture
MARGIN = 72.0  # CSS pixels around a finding, so that one sees where on the page it is
SMALLEST = (520.0, 260.0)  # CSS pixels of a crop
HIGHEST = 560.0  # CSS pixels; of a column that is as long as the page, the top is enough
DRAWN_ON = "annotated"  # the name of a picture that has its boxes in its pixels


class Rect(NamedTuple):
    """A rectangle in pixels of a picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def view_box(self) -> str:
        """The rectangle as SVG's ``viewBox``."""
        return " ".join(f"{part:.1f}" for part in self)


class Mark(NamedTuple):
    """A numbered box on a picture."""

    number: int
    rect: Rect
    severity: str
    title: str


class Shot(msgspec.Struct, frozen=True):
    """A picture that can be shown."""

    index: int  # into Report.screenshots
    name: str
    uri: str
    width: float
    height: float
    scale: float  # pixels per CSS pixel of the page

    @property
    def drawn_on(self) -> bool:
        """Whether the boxes are in its pixels, so that drawing them again would confuse."""
        return self.name == DRAWN_ON

    def rect(self, box: Box) -> Rect | None:
        """Return ``box`` in pixels, cut at the picture's edges; None if it lies outside."""
        left, top = max(0.0, box.x * self.scale), max(0.0, box.y * self.scale)
        right = min(self.width, (box.x + box.width) * self.scale)
        bottom = min(self.height, (box.y + box.height) * self.scale)
        if right - left < 1 or bottom - top < 1:
            return None
        return Rect(left, top, right - left, bottom - top)

    def around(self, rect: Rect) -> Rect:
        """Return the part of the picture to show for ``rect``."""
        margin = MARGIN * self.scale
        width = min(self.width, max(rect.width + 2 * margin, SMALLEST[0] * self.scale))
        wanted = min(rect.height, HIGHEST * self.scale) + 2 * margin
        height = min(self.height, max(wanted, SMALLEST[1] * self.scale))
        middle = rect.y + min(rect.height, HIGHEST * self.scale) / 2
        x = min(max(0.0, rect.x + rect.width / 2 - width / 2), self.width - width)
        y = min(max(0.0, middle - height / 2), self.height - height)
        return Rect(x, y, width, height)


class Crop(NamedTuple):
    """The part of a picture that shows one finding."""

    shot: Shot
    view: Rect
    mark: Mark


def shots(screenshots: Iterable[Screenshot]) -> dict[int, Shot]:
    """Return the pictures that can be embedded, by their index in the report."""
    found = ((index, _shot(index, one)) for index, one in enumerate(screenshots))
    return {index: shot for index, shot in found if shot is not None}


def _shot(index: int, screenshot: Screenshot) -> Shot | None:
    data = screenshot.data
    if screenshot.mime_type not in MIME_TYPES or not BASE64.fullmatch(data):
        return None
    size = _size(data) or (screenshot.width, screenshot.height)
    if min(size) <= 0 or screenshot.scale <= 0:
        return None
    uri = f"data:{screenshot.mime_type};base64,{data}"
    return Shot(index, screenshot.name, uri, float(size[0]), float(size[1]), screenshot.scale)


def _size(data: str) -> tuple[int, int] | None:
    head = data[:HEADER]
    try:
        return picture_size(base64.b64decode(head[: len(head) // 4 * 4]))
    except binascii.Error:
        return None


def crop(finding: Finding, number: int, candidates: Sequence[Shot]) -> Crop | None:
    """Return the crop for ``finding`` from the first of ``candidates`` that shows its box."""
    box = finding.evidence.box
    for shot in candidates if box is not None else ():
        rect = shot.rect(box) if box is not None else None
        if rect is not None:
            mark = Mark(number, rect, finding.severity, finding.title)
            return Crop(shot, shot.around(rect), mark)
    return None


def candidates(finding: Finding, page: PageRecord | None, known: dict[int, Shot]) -> list[Shot]:
    """Return the pictures on which ``finding`` may be seen, the best one first."""
    indexes = [] if page is None else list(page.screenshots)
    if finding.evidence.screenshot_index is not None:
        indexes.insert(0, finding.evidence.screenshot_index)
    found = [known[index] for index in dict.fromkeys(indexes) if index in known]
    # A picture that already has boxes in it shows those of all findings: the last choice.
    return sorted(found, key=lambda shot: shot.drawn_on)


def marks(shot: Shot, findings: Iterable[tuple[int, Finding]]) -> list[Mark]:
    """Return the numbered boxes of ``findings`` on ``shot``, large ones first."""
    found = []
    for number, finding in findings:
        rect = shot.rect(finding.evidence.box) if finding.evidence.box else None
        if rect is not None:
            found.append(Mark(number, rect, finding.severity, finding.title))
    # Small boxes are drawn last, so that they stay reachable inside large ones.
    return sorted(found, key=lambda mark: -mark.rect.width * mark.rect.height)
