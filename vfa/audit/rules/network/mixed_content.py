"""Secure pages that use insecure connections."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vfa.audit.rule import Draft, Rule, about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Form, PageEvidence
    from vfa.page.records import Request

PASSIVE = frozenset({"Image", "Media"})


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the insecure requests, and the forms with an insecure target, of an https page."""
    if not page.address.startswith("https:"):
        return
    for request in page.requests:
        if _insecure(request.url) and not request.document:
            yield _request(request)
    for form in page.facts.forms:
        if _insecure(form.action):
            yield _form(form)


def _insecure(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "ws") and not _is_loopback(parts.hostname or "")


def _is_loopback(host: str) -> bool:
    # Browsers trust the way to the own machine. W3C Secure Contexts, 3.1
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _request(request: Request) -> Draft:
    blocked = bool(request.failure)
    passive = request.kind in PASSIVE
    return Draft(
        severity="low" if passive and not blocked else "high",
        title=f"Insecure request on a secure page: {request.url[:80]}",
        description=(
            "The browser blocked it, so what it was to bring is missing."
            if blocked
            else "Anyone on the way can read and change it."
        ),
        measured="http",
        threshold="https",
        requests=(request.url,),
        cause=request.url,
    )


def _form(form: Form) -> Draft:
    return about(
        form,
        severity="high",
        title="A form on a secure page is sent over an insecure connection",
        description=f"It goes to {form.action}: anyone on the way can read what is entered.",
        measured=form.action,
        threshold="https",
        requests=(form.action,),
        cause=form.action,
    )


RULE = Rule(
    id="network/mixed-content",
    title="Mixed content",
    source="W3C Mixed Content, 4; W3C Secure Contexts, 3.1",
    impact="Browsers block or warn, and what is sent can be read and changed on its way.",
    fix_hint="Use https addresses.",
    check=check,
)
