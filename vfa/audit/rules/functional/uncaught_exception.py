"""Exceptions that no code of the page caught."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence
    from vfa.page.records import PageException

# The browser's notice that an observer needs another frame; nothing is lost by it.
HARMLESS = re.compile(r"ResizeObserver loop")
OPAQUE = re.compile(r"^(Uncaught )?Script error\.?$")
VARYING = re.compile(r"0x[0-9a-f]+|\d+|https?://\S+", re.IGNORECASE)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the uncaught exceptions; unhandled rejections have a rule of their own."""
    for exception in page.exceptions:
        if not exception.unhandled_rejection and not HARMLESS.search(exception.message):
            yield _draft(page, exception)


def _draft(page: PageEvidence, exception: PageException) -> Draft:
    own = not exception.url or page.same_origin(exception.url)
    opaque = OPAQUE.match(exception.message) is not None
    place = page.local(exception.url) if exception.url else "the page"
    where = f"{place}, line {exception.line}" if exception.line else place
    return Draft(
        severity="low" if opaque else "high" if own else "medium",
        title=f"Uncaught exception: {shown(exception.message, 80)}",
        description=f"Thrown in {where}, and caught by nothing.\n{exception.stack}".strip(),
        measured=exception.message[:500],
        threshold="no uncaught exception",
        requests=(exception.url,) if exception.url else (),
        console_errors=1,
        confidence=0.6 if opaque else 1.0,
        cause=f"{place} {VARYING.sub('N', exception.message)[:200]}",
    )


RULE = Rule(
    id="functional/uncaught-exception",
    title="Uncaught exception",
    source="HTML, 8.1.4.4 Runtime script errors",
    impact="The code after the exception did not run: what it was to set up is missing.",
    fix_hint="Follow the stack to the line that threw, and handle the case it did not expect.",
    check=check,
)
