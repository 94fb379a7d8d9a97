"""Pages that show nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for an HTML page without visible text, picture or control."""
    document = page.facts.document
    failed = page.status is not None and page.status >= 400
    if document.content_type != "text/html" or failed:
        return  # network/http-error tells why there is nothing to see
    if document.text_length == 0 and document.painted == 0:
        thrown = len(page.exceptions)
        yield Draft(
            severity="critical",
            title="The page is blank",
            description=(
                "After it had loaded, the page showed no text, no picture and no control"
                + (f"; its scripts threw {thrown} times meanwhile." if thrown else ".")
            ),
            measured={"characters": 0, "elements": document.elements},
            threshold="any visible content",
            console_errors=page.console_errors,
            confidence=0.95,
        )


RULE = Rule(
    id="visual/blank-page",
    title="Blank page",
    source="Measured: visible characters, pictures and controls",
    impact="Visitors see an empty window and leave.",
    fix_hint="Look for an exception or a failed script that kept the page from rendering.",
    check=check,
)
