"""Promises that were rejected with nobody listening."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.rules.functional.uncaught_exception import VARYING
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.page.records import PageException

# What a page gets for giving up a request or a playback itself.
OWN_DOING = re.compile(
    r"AbortError|The play\(\) request was interrupted|NotAllowedError: play\(\)"
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the unhandled rejections that the page did not bring about by aborting."""
    for exception in page.exceptions:
        if exception.unhandled_rejection and not OWN_DOING.search(exception.message):
            yield _draft(page, exception)


def _draft(page: PageEvidence, exception: PageException) -> Draft:
    own = not exception.url or page.same_origin(exception.url)
    place = page.local(exception.url) if exception.url else "the page"
    return Draft(
        severity="medium" if own else "low",
        title=f"Unhandled promise rejection: {shown(exception.message, 80)}",
        description=f"A promise of {place} failed unseen.\n{exception.stack}".strip(),
        measured=exception.message[:500],
        threshold="no unhandled rejection",
        requests=(exception.url,) if exception.url else (),
        console_errors=1,
        cause=f"{place} {VARYING.sub('N', exception.message)[:200]}",
    )


RULE = Rule(
    id="functional/unhandled-rejection",
    title="Unhandled promise rejection",
    source="HTML, 8.1.4.7 Unhandled promise rejections",
    impact="An operation failed and the visitor was not told; what depended on it is missing.",
    fix_hint="Await or catch the promise, and show the visitor what failed.",
    check=check,
)
