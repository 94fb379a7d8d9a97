"""Pages without a main heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

LONG = 300  # characters: a shorter page without headings needs none


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page with content and no heading of level 1."""
    document = page.facts.document
    headings = [heading for heading in page.facts.headings if heading.exposed]
    if document.content_type != "text/html" or any(one.level == 1 for one in headings):
        return
    if headings or document.text_length > LONG:
        yield Draft(
            severity="low",
            title="The page has no main heading",
            description="There is no h1 that says what the page is about.",
            measured=len(headings),
            threshold="one heading of level 1",
            confidence=0.9,
        )


RULE = Rule(
    id="accessibility/missing-h1",
    title="No main heading",
    source="WCAG 2.2, technique G141 and H42",
    wcag="1.3.1 Info and Relationships",
    impact="People who move by headings cannot jump to where the content begins.",
    fix_hint="Make the title that opens the content an h1.",
    check=check,
)
