"""Static files that a browser may not keep."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import counted, kilobytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.page.records import Request

STATIC = frozenset({"Script", "Stylesheet", "Image", "Font"})
FORBIDDEN = re.compile(r"no-store|max-age\s*=\s*0(?!\d)", re.IGNORECASE)
WORTH_SAYING = 10_000  # bytes that are fetched again with each page


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for the page's own static files that have no lifetime."""
    uncached = [request for request in page.requests if _uncached(page, request)]
    total = sum(_size(request) for request in uncached)
    if total < WORTH_SAYING:
        return
    uncached.sort(key=lambda request: (-_size(request), request.url))
    yield Draft(
        severity="low",
        title=f"{counted(len(uncached), 'static file')} without caching ({kilobytes(total)})",
        description=(
            "These files have no Cache-Control with a lifetime: "
            + ", ".join(page.local(request.url) for request in uncached[:3])
            + (" and others." if len(uncached) > 3 else ".")
        ),
        measured=total,
        threshold=WORTH_SAYING,
        requests=tuple(request.url for request in uncached[:10]),
        confidence=0.9,
    )


def _uncached(page: PageEvidence, request: Request) -> bool:
    # "no-cache" is left alone: with an ETag it costs a round trip and no bytes.
    control = request.cache_control
    return (
        request.kind in STATIC
        and request.status == 200
        and page.same_origin(request.url)
        and (not control or FORBIDDEN.search(control) is not None)
    )


def _size(request: Request) -> int:
    return request.transfer_bytes or request.body_bytes


RULE = Rule(
    id="performance/missing-caching",
    title="Static files without caching",
    source="RFC 9111, 5.2; Lighthouse, uses-long-cache-ttl",
    impact="Every page and every visit loads the same files anew.",
    fix_hint=(
        "Send Cache-Control: max-age=31536000, immutable for files with a version in their "
        "name, and at least some hours for the others."
    ),
    check=check,
)
