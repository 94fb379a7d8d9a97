"""Requests that are sent from address to address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.page.records import Request

# http to https and then to the host's canonical name are two, and usual.
USUAL = 2


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the requests that took three redirects and more, or never arrived."""
    for request in page.requests:
        endless = "TOO_MANY_REDIRECTS" in request.failure
        if endless or len(request.redirects) > USUAL:
            yield _draft(page, request, endless=endless)


def _draft(page: PageEvidence, request: Request, *, endless: bool) -> Draft:
    first = page.local(request.redirects[0]) if request.redirects else page.local(request.url)
    chain = [page.local(url) for url in (*request.redirects[:6], request.url)]
    hops = counted(len(request.redirects), "redirect")
    return Draft(
        severity="high" if endless else "medium" if request.document else "low",
        title=f"{first} redirects in circles" if endless else f"{first} takes {hops}",
        description=f"The way was: {' → '.join(chain)}.",
        measured=len(request.redirects),
        threshold=USUAL,
        requests=(*request.redirects[:6], request.url),
        cause=first,
    )


RULE = Rule(
    id="network/redirect-chain",
    title="Chain of redirects",
    source="RFC 9110, 15.4; Lighthouse, redirects",
    impact="Each redirect costs visitors a round trip before anything is shown.",
    fix_hint="Let links, and the first redirect, point at the last address.",
    check=check,
)
