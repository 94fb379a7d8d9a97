"""Requests of the page that got no answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.rules.network.http_error import NOT_THE_PAGES_OWN, unasked
from vfa.audit.rules.visual.broken_image import broken_images

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.audit.findings import Severity
    from vfa.page.records import Request

# The page gave it up, a later navigation did, or our side refused it: not the site's fault.
NOT_A_FAILURE = re.compile(r"ERR_ABORTED|BLOCKED_BY_CLIENT|BLOCKED_BY_INSPECTOR|ERR_CACHE_MISS")
# These have a rule of their own.
ELSEWHERE = re.compile(r"mixed-content|TOO_MANY_REDIRECTS", re.IGNORECASE)
NEEDED = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})

REASONS = (
    ("NAME_NOT_RESOLVED", "its host name cannot be resolved"),
    ("CONNECTION_REFUSED", "the server refused the connection"),
    ("CONNECTION_RESET", "the server dropped the connection"),
    ("EMPTY_RESPONSE", "the server closed the connection without an answer"),
    ("TIMED_OUT", "the server did not answer in time"),
    ("CERT_", "the server's certificate is not valid"),
    ("SSL_", "no secure connection could be made"),
    ("CONTENT_LENGTH_MISMATCH", "the answer ended before its announced length"),
    ("csp", "the page's Content-Security-Policy forbids it"),
    ("cors", "the server does not allow this origin (CORS)"),
    ("BLOCKED_BY_RESPONSE", "the server does not allow this origin"),
    ("BLOCKED_BY_ORB", "the answer is not of the type that was asked for"),
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the requests that failed without the page's doing."""
    shown_broken = {image.url for image in broken_images(page)}
    for request in page.requests:
        if not request.failure or request.cancelled or request.url in shown_broken:
            continue
        if NOT_A_FAILURE.search(request.failure) or ELSEWHERE.search(request.failure):
            continue
        if request.kind not in NOT_THE_PAGES_OWN and not unasked(page, request):
            yield _draft(page, request)


def _draft(page: PageEvidence, request: Request) -> Draft:
    place = page.local(request.url)
    return Draft(
        severity=_severity(page, request),
        title=f"{request.method} {place} failed",
        description=f"The request got no usable answer: {_reason(request.failure)}.",
        measured=request.failure,
        threshold="an answer",
        requests=(request.url,),
        console_errors=1,
        confidence=0.95,
        cause=f"{request.method} {place} {request.failure}",
    )


def _severity(page: PageEvidence, request: Request) -> Severity:
    if request.kind in NEEDED and (page.same_origin(request.url) or request.kind != "Document"):
        return "high"
    return "medium"


def _reason(failure: str) -> str:
    for sign, reason in REASONS:
        if sign.lower() in failure.lower():
            return f"{reason} ({failure})"
    return failure


RULE = Rule(
    id="network/failed-request",
    title="Request without an answer",
    source="Fetch, 2.2.6: network error",
    impact="What the request was to bring is missing from the page.",
    fix_hint="Correct the address or the server's settings that the reason names.",
    check=check,
)
