"""Calls of the page's scripts that take long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

SLOW = 3000.0  # milliseconds, to the first byte: what comes after depends on the size
VERY_SLOW = 10_000.0
# Requests that wait on purpose: the server answers when there is news.
WAITING = re.compile(
    r"poll|stream|events?\b|\bsse\b|subscribe|live|socket|comet|longpoll", re.IGNORECASE
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the XHR and fetch calls that were answered late."""
    for request in page.requests:
        if request.kind not in ("XHR", "Fetch") or request.failure:
            continue
        if WAITING.search(request.url) or request.mime_type == "text/event-stream":
            continue
        answered = request.first_byte_ms or request.end_ms
        if answered is None or answered - request.start_ms <= SLOW:
            continue
        took = answered - request.start_ms
        place = page.local(request.url)
        yield Draft(
            severity="high" if took > VERY_SLOW else "medium",
            title=f"{request.method} {place} took {seconds(took)}",
            description="The page's script waited this long for the answer to begin.",
            measured=round(took),
            threshold=SLOW,
            requests=(request.url,),
            confidence=0.8,
            cause=f"{request.method} {place.partition('?')[0]}",
        )


RULE = Rule(
    id="network/slow-api",
    title="Slow API call",
    source="RAIL: attention is lost after some seconds (https://web.dev/articles/rail); 3 s",
    impact="What depends on the answer appears late.",
    fix_hint="Speed up or cache the answer, and show meanwhile that it is on its way.",
    check=check,
)
