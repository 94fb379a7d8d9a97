"""The requests of a page as bars on a common time axis.

Bars are numbers from 0 to 1000, thousandths of the page's time, for the template to draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vfa.report.wording import DASH, duration, short_url, size

if TYPE_CHECKING:
    from vfa.audit.findings import PageRecord
    from vfa.page.records import Request

MOST = 150  # requests that are drawn; nobody reads more
FULL = 1000.0
HAIR = 1.5  # thousandths, the width of a line
SLIVER = 4.0  # thousandths, so that the shortest request can be seen


class Bar(NamedTuple):
    """One request."""

    url: str
    kind: str
    status: str
    failed: bool
    size: str
    start: str
    took: str
    x: float
    waiting: float  # width of the part before the first byte
    receiving: float
    redirects: int


class Line(NamedTuple):
    """A moment of the page's life."""

    name: str
    text: str
    x: float


class Waterfall(NamedTuple):
    """The bars of a page."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    span: str  # the time that the axis covers
    left_out: int


def waterfall(page: PageRecord) -> Waterfall:
    """Return the requests of ``page`` in the order in which they began."""
    requests = sorted(page.requests, key=lambda request: request.start_ms)
    vitals = page.vitals
    moments = (
        ("First paint", vitals.fcp_ms),
        ("Largest paint", vitals.lcp_ms),
        ("Loaded", vitals.load_ms),
    )
    ends = [_end(request) for request in requests[:MOST]]
    span = max([1.0, *ends, *(at for _, at in moments if at is not None)])
    bars = tuple(_bar(request, page.url, span) for request in requests[:MOST])
    lines = tuple(
        Line(name, duration(at), min(at / span * FULL, FULL - HAIR))
        for name, at in moments
        if at is not None
    )
    return Waterfall(bars, lines, duration(span), max(0, len(requests) - MOST))


def _end(request: Request) -> float:
    return max(request.start_ms, request.first_byte_ms or 0.0, request.end_ms or 0.0)


def _bar(request: Request, base: str, span: float) -> Bar:
    end = _end(request)
    first = min(max(request.first_byte_ms or end, request.start_ms), end)
    failed = bool(request.failure and not request.cancelled) or (request.status or 0) >= 400
    x = min(max(0.0, request.start_ms) / span * FULL, FULL - SLIVER)
    waiting = (first - request.start_ms) / span * FULL
    receiving = (end - first) / span * FULL
    running = request.end_ms is None and not request.failure
    return Bar(
        url=short_url(request.url, base),
        kind=request.kind,
        status=_status(request),
        failed=failed,
        size=_size(request),
        start=duration(request.start_ms),
        took="running" if running else duration(end - request.start_ms),
        x=x,
        waiting=waiting,
        receiving=max(receiving, SLIVER - waiting, 0.0),
        redirects=len(request.redirects),
    )


def _status(request: Request) -> str:
    if request.failure:
        return "gave up" if request.cancelled else _words(request.failure)
    return str(request.status) if request.status is not None else DASH


def _words(failure: str) -> str:
    """Return Chromium's "net::ERR_CONNECTION_REFUSED" as "connection refused"."""
    name = failure.removeprefix("net::ERR_")
    return failure if name == failure else name.replace("_", " ").lower()


def _size(request: Request) -> str:
    if request.from_cache:
        return "cache"
    return size(request.transfer_bytes) if request.status is not None else DASH
