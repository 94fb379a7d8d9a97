"""The pictures of an audit: taken while pages are visited, drawn on when findings are known.

The originals are saved below ``OUTPUT_DIR``; what goes into the report is scaled to its
budget by the encoder.
"""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.audit.findings import Finding, Screenshot
from vfa.errors import (
    CdpError,
    OutputError,
    PageError,
    PictureError,
    UnsafePathError,
    VfaError,
)
from vfa.image.jobs import LabelledBox
from vfa.page.screenshot import Capture, Shot, capture
from vfa.policy.paths import write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.actors.encoder import Encoder
    from vfa.config import Config
    from vfa.image.jobs import Picture
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

MAX_BOXES = 40  # on one picture; more hide the page
QUALITY = 80
COLOURS = {
    "critical": "#b00020",
    "high": "#d32f2f",
    "medium": "#e65100",
    "low": "#1565c0",
    "info": "#455a64",
}


class _Taken(msgspec.Struct, frozen=True):
    name: str  # "viewport" or "full_page"
    page_url: str
    entry: bool
    capture: Capture
    path: str


class Pictures:
    """The pictures of one run.

    Args:
        encoder: Scales and draws.
        config: The budgets and the output folder.
        run_id: Names the folder of this run.
    """

    def __init__(self, encoder: Encoder, config: Config, run_id: str) -> None:
        self._encoder = encoder
        self._config = config
        self._run_id = run_id
        self._taken: list[_Taken] = []
        self._pages: list[str] = []

    async def take(self, page: Page, page_url: str, *, entry: bool) -> None:
        """Take the pictures of a page: all of it, and of the entry page also the first view.

        A page that cannot be captured is audited all the same.
        """
        self._pages.append(page_url)
        names = ("viewport", "full_page") if entry else ("full_page",)
        for name in names:
            shot = Shot(
                full_page=name == "full_page",
                quality=QUALITY,
                max_pixels=self._config.max_screenshot_pixels,
                max_bytes=self._config.max_image_bytes,
            )
            try:
                taken = await capture(page, self._encoder, shot)
            except (PictureError, CdpError, PageError) as error:
                logger.warning("no %s picture of %s: %s", name, page_url, error.message)
                continue
            path = await self._save(f"{len(self._pages):02d}-{name}.jpg", taken.data)
            self._taken.append(_Taken(name, page_url, entry, taken, path))

    async def finish(
        self, findings: Sequence[Finding]
    ) -> tuple[tuple[Screenshot, ...], tuple[Finding, ...]]:
        """Return the report's pictures, and the findings with the index of theirs."""
        shots: list[Screenshot] = []
        index_of: dict[str, int] = {}
        for taken in self._taken:
            if taken.entry:
                await self._add(shots, taken)
            if taken.name == "full_page":
                boxes = _boxes(findings, taken.page_url)
                if boxes and await self._add(shots, taken, boxes):
                    index_of[taken.page_url] = len(shots) - 1
        return tuple(shots), tuple(_pointed(f, index_of) for f in findings)

    async def _add(
        self, shots: list[Screenshot], taken: _Taken, boxes: Sequence[LabelledBox] = ()
    ) -> bool:
        """Add one picture to ``shots``; return whether that could be done."""
        try:
            picture = await self._draw(taken, boxes)
        except VfaError as error:
            logger.warning("a picture of %s is left out: %s", taken.page_url, error.message)
            return False
        name = "annotated" if boxes else taken.name
        path = taken.path
        if boxes:
            path = await self._save(f"{self._number(taken):02d}-annotated.jpg", picture.data)
        shots.append(
            Screenshot(
                name=name,
                mime_type=picture.mime_type,
                data=base64.b64encode(picture.data).decode(),
                path=path,
                width=picture.width,
                height=picture.height,
                scale=round(picture.width / taken.capture.css_width, 4),
                page_url=taken.page_url,
            )
        )
        return True

    def _number(self, taken: _Taken) -> int:
        return self._pages.index(taken.page_url) + 1

    async def _draw(self, taken: _Taken, boxes: Sequence[LabelledBox]) -> Picture:
        budget = {
            "quality": QUALITY,
            "max_side": self._config.screenshot_max_side,
            "max_bytes": self._config.screenshot_max_bytes,
        }
        if not boxes:
            return await self._encoder.fit(taken.capture.data, **budget)  # type: ignore[arg-type]
        width = taken.capture.width or taken.capture.css_width
        return await self._encoder.annotate(
            taken.capture.data,
            boxes,
            scale=width / taken.capture.css_width,
            **budget,  # type: ignore[arg-type]
        )

    async def _save(self, name: str, data: bytes) -> str:
        """Save an original; an output folder that cannot be written costs only the file."""
        try:
            path = await trio.to_thread.run_sync(
                write_output, self._config.output_path, f"audit-{self._run_id}/{name}", data
            )
        except (OutputError, UnsafePathError) as error:
            logger.warning("the picture %s was not saved: %s", name, error)
            return ""
        return str(path)


def _boxes(findings: Sequence[Finding], page_url: str) -> list[LabelledBox]:
    boxed = [f for f in findings if f.page_url == page_url and f.evidence.box is not None]
    return [
        LabelledBox(
            box.x, box.y, box.width, box.height, f.id[-3:].lstrip("0"), COLOURS[f.severity]
        )
        for f in boxed[:MAX_BOXES]
        if (box := f.evidence.box) is not None and box.width > 0 and box.height > 0
    ]


def _pointed(finding: Finding, index_of: dict[str, int]) -> Finding:
    index = index_of.get(finding.page_url)
    if index is None or finding.evidence.box is None:
        return finding
    proof = msgspec.structs.replace(finding.evidence, screenshot_index=index)
    return msgspec.structs.replace(finding, evidence=proof)
