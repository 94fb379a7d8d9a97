"""A page as a PDF, taken out of the browser piece by piece.

Source: CDP ``Page.printToPDF`` with ``ReturnAsStream``, ``IO.read``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.cdp.session import Session
from vfa.errors import CdpError, InvalidArgsError, PrintError

if TYPE_CHECKING:
    from vfa.page.page import Page

MAX_PDF = 100_000_000  # bytes
CHUNK = 1_000_000  # bytes asked for at a time
MM_PER_INCH = 25.4
SIZES = {  # inches, upright
    "A3": (297 / MM_PER_INCH, 420 / MM_PER_INCH),
    "A4": (210 / MM_PER_INCH, 297 / MM_PER_INCH),
    "A5": (148 / MM_PER_INCH, 210 / MM_PER_INCH),
    "Letter": (8.5, 11.0),
    "Legal": (8.5, 14.0),
    "Tabloid": (11.0, 17.0),
}
# A page object, and the number that the root of the page tree gives.
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_COUNT = re.compile(
    rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)|/Count\s+(\d+)[^>]*?/Type\s*/Pages\b"
)
_RANGES = re.compile(r"\s*(\d{1,5}\s*-\s*\d{0,5}|-\s*\d{1,5}|\d{1,5})\s*")


class Print(msgspec.Struct, frozen=True, kw_only=True):
    """How to print."""

    size: str = "A4"  # a key of ``SIZES``
    landscape: bool = False
    scale: float = 1.0  # 0.1 to 2
    background: bool = True
    margins: tuple[float, ...] = (10.0,)  # mm: one to four, in the order of CSS
    page_ranges: str = ""  # "1-3, 5"; all if empty


class Pdf(msgspec.Struct, frozen=True):
    """A printed page."""

    data: bytes
    pages: int | None  # None: not to be told


class _Printed(msgspec.Struct, frozen=True):
    stream: str


class _Chunk(msgspec.Struct, frozen=True, rename="camel"):
    data: str
    eof: bool
    base64_encoded: bool = False


def parameters(order: Print) -> dict[str, Any]:
    """Return the parameters of CDP ``Page.printToPDF``.

    Raises:
        InvalidArgsError: The page ranges are none, or the margins leave nothing to print on.
    """
    width, height = SIZES[order.size]
    top, right, bottom, left = (mm / MM_PER_INCH for mm in four(order.margins))
    across, down = (height, width) if order.landscape else (width, height)
    if left + right >= across or top + bottom >= down:
        raise InvalidArgsError("the margins leave no room on the page")
    check_ranges(order.page_ranges)
    return {
        "paperWidth": width,
        "paperHeight": height,
        "landscape": order.landscape,
        "scale": order.scale,
        "printBackground": order.background,
        "marginTop": top,
        "marginRight": right,
        "marginBottom": bottom,
        "marginLeft": left,
        "pageRanges": order.page_ranges,
        "displayHeaderFooter": False,
        "transferMode": "ReturnAsStream",
    }


def four(margins: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return top, right, bottom and left of one to four margins, as in CSS."""
    top = margins[0]
    right = margins[1] if len(margins) > 1 else top
    bottom = margins[2] if len(margins) > 2 else top
    return top, right, bottom, margins[3] if len(margins) > 3 else right


def check_ranges(ranges: str) -> None:
    """Refuse what is no list of page ranges.

    Raises:
        InvalidArgsError: It is not like "1-3, 5", or a range goes backwards.
    """
    for part in ranges.split(",") if ranges.strip() else ():
        first, _, last = part.replace(" ", "").partition("-")
        backwards = (
            first and last and int(first) > int(last) if _RANGES.fullmatch(part) else True
        )
        if backwards or first == "0" or last == "0":
            raise InvalidArgsError(
                f"page_ranges: {part.strip()[:40]!r} is no range", hint="Write 1-3, 5 or 8-."
            )


async def print_page(page: Page, order: Print) -> Pdf:
    """Return the page as a PDF. It hears of being printed, as of any printing.

    Raises:
        InvalidArgsError: The page has fewer pages than were asked for.
        PrintError: The browser cannot print, or the file is too large.
    """
    # A long document takes longer than any other command; the caller's deadline counts.
    patient = Session(page.connection, page.session.id, math.inf)
    page.acted = True
    try:
        printed = await patient.call("Page.printToPDF", parameters(order), _Printed)
    except CdpError as error:
        if "range" in error.message.lower():
            raise InvalidArgsError(
                f"page_ranges: {order.page_ranges[:100]!r} is not in the document",
                hint="Leave page_ranges out to get all pages.",
            ) from None
        raise PrintError(
            f"the browser could not print the page: {error.message}",
            hint="Printing needs a headless browser, and a page that is not a PDF itself.",
        ) from None
    try:
        data = await _read(page, printed.stream)
    finally:
        page.session.post("IO.close", {"handle": printed.stream})
    if not data.startswith(b"%PDF-"):
        raise PrintError("the browser gave something else than a PDF")
    return Pdf(data, count_pages(data))


async def _read(page: Page, stream: str) -> bytes:
    pieces = bytearray()
    while True:
        chunk = await page.session.call("IO.read", {"handle": stream, "size": CHUNK}, _Chunk)
        pieces += (
            msgspec.convert(chunk.data, bytes) if chunk.base64_encoded else chunk.data.encode()
        )
        if len(pieces) > MAX_PDF:
            raise PrintError(
                f"the PDF has more than {MAX_PDF} bytes",
                hint="Print fewer pages at a time with page_ranges, or without backgrounds.",
            )
        if chunk.eof:
            return bytes(pieces)


def count_pages(data: bytes) -> int | None:
    """Return how many pages a PDF of Chromium's has; None if it does not say so plainly.

    Its page objects are not compressed; they are believed if the page tree counts as many.
    """
    pages = len(_PAGE.findall(data))
    counts = [int(one or other) for one, other in _COUNT.findall(data)]
    return pages if pages and pages == max(counts, default=0) else None
