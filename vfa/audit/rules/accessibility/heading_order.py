"""Headings that skip a level."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the headings that are more than one level below the heading before them."""
    outline = [heading for heading in page.facts.headings if heading.exposed and heading.name]
    for before, heading in pairwise(outline):
        if heading.level > before.level + 1:
            yield about(
                heading,
                severity="low",
                title=f"Heading {shown(heading.text, 40)} skips a level",
                description=(
                    f"It is of level {heading.level} and follows {shown(before.text, 40)} of "
                    f"level {before.level}."
                ),
                measured=heading.level,
                threshold=before.level + 1,
                cause=f"h{before.level} to h{heading.level}",
            )


RULE = Rule(
    id="accessibility/heading-order",
    title="Heading level skipped",
    source="WCAG 2.2, technique G141",
    wcag="1.3.1 Info and Relationships",
    impact="People who move by headings look for a section that does not exist.",
    fix_hint="Use the next level and set its size in CSS.",
    check=check,
)
