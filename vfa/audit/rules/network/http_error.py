"""Requests of the page that were answered with an error."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vfa.audit.rule import Draft, Rule
from vfa.audit.rules.visual.broken_image import broken_images

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.audit.findings import Severity
    from vfa.page.records import Request

NOT_THE_PAGES_OWN = frozenset({"Ping", "Preflight", "CSPViolationReport"})
NEEDED = frozenset({"Script", "Stylesheet"})
# To a visitor who is not signed in these are answers, not failures.
EXPECTED_OF_STRANGERS = frozenset({401, 403})


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the requests with a status of 400 and more."""
    shown_broken = {image.url for image in broken_images(page)}
    for request in page.requests:
        if request.status is None or request.status < 400 or request.url in shown_broken:
            continue
        if request.kind not in NOT_THE_PAGES_OWN and not unasked(page, request):
            yield _draft(page, request, request.status)


def unasked(page: PageEvidence, request: Request) -> bool:
    """Tell whether this is the browser's own look for an icon that the page did not name."""
    return (
        urlsplit(request.url).path == "/favicon.ico"
        and request.url not in page.facts.document.icons
    )


def _draft(page: PageEvidence, request: Request, status: int) -> Draft:
    place = page.local(request.url)
    what = "The page itself" if request.document else f"{request.method} {place}"
    text = f" {request.status_text}" if request.status_text else ""
    return Draft(
        severity=_severity(request, status),
        title=f"{what} answers {status}{text}",
        description=f"{request.url} ({request.kind}) was answered with {status}{text}.",
        measured=status,
        threshold="a status below 400",
        requests=(request.url,),
        console_errors=1,
        cause=f"{request.method} {place} {status}",
    )


def _severity(request: Request, status: int) -> Severity:
    if request.document:
        return "critical" if status >= 500 else "high"
    if status >= 500 or request.kind in NEEDED:
        return "high"
    return "low" if status in EXPECTED_OF_STRANGERS else "medium"


RULE = Rule(
    id="network/http-error",
    title="Request answered with an error",
    source="RFC 9110, 15.5 and 15.6",
    impact="What the request was to bring is missing from the page.",
    fix_hint="Correct the address, or look into the server's log for why it refused.",
    check=check,
)
