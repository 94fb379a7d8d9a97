"""Text that is sent uncompressed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from vfa.audit.evidence import origin
from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import counted, kilobytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.page.records import Request

TEXT_TYPES = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/manifest+json",
        "application/xhtml+xml",
        "application/xml",
        "application/rss+xml",
        "application/wasm",
        "image/svg+xml",
    }
)
SMALLEST = 1_400  # bytes; one network packet saves nothing. Lighthouse, uses-text-compression
WORTH_SAYING = 10_000  # bytes of one origin
SEVERE = 200_000


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for each origin that sends much uncompressed text."""
    by_origin: defaultdict[str, list[Request]] = defaultdict(list)
    for request in page.requests:
        if _uncompressed(request):
            by_origin[origin(request.url)].append(request)
    for host, requests in by_origin.items():
        total = sum(request.body_bytes for request in requests)
        if total >= WORTH_SAYING:
            yield _draft(page, host, requests, total)


def _uncompressed(request: Request) -> bool:
    text = request.mime_type.startswith("text/") or request.mime_type in TEXT_TYPES
    stream = request.mime_type == "text/event-stream"
    return (
        text
        and not stream
        and request.status == 200
        and not request.encoding
        and not request.from_cache
        and request.body_bytes >= SMALLEST
        and request.url.startswith("http")
    )


def _draft(page: PageEvidence, host: str, requests: list[Request], total: int) -> Draft:
    largest = sorted(requests, key=lambda request: (-request.body_bytes, request.url))
    own = page.same_origin(host)
    return Draft(
        severity="medium" if total >= SEVERE and own else "low",
        title=f"{counted(len(requests), 'text file')} sent uncompressed ({kilobytes(total)})",
        description=(
            f"{'This site' if own else host} sends "
            + ", ".join(
                f"{page.local(request.url)} ({kilobytes(request.body_bytes)})"
                for request in largest[:3]
            )
            + (" and others" if len(largest) > 3 else "")
            + " without Content-Encoding."
        ),
        measured=total,
        threshold=WORTH_SAYING,
        requests=tuple(request.url for request in largest[:10]),
        cause="" if own else host,
    )


RULE = Rule(
    id="performance/missing-compression",
    title="Text sent uncompressed",
    source="Lighthouse, uses-text-compression",
    impact="Pages take two to five times as long to arrive on a slow connection.",
    fix_hint="Switch on gzip or Brotli in the server for HTML, CSS, JavaScript, JSON and SVG.",
    check=check,
)
