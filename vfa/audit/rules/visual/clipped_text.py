"""Text that its own box cuts off, with no way to read the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

SLACK = 4.0  # CSS pixels, about half a letter


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the texts that lose letters or lines and give nothing instead."""
    for text in page.facts.clipped:
        if text.affordance or text.hidden <= SLACK or not text.visible:
            continue
        side = "right" if text.axis == "x" else "bottom"
        yield about(
            text,
            # An ellipsis at least says that something is missing.
            severity="low" if text.ellipsis else "medium",
            title=f"Text {shown(text.text, 40)} is cut off",
            description=(
                f"{text.hidden:.0f} px are missing at the {side}, and neither a tooltip nor a "
                "link nor a button gives the rest."
            ),
            measured=text.hidden,
            threshold=SLACK,
            confidence=0.7 if text.ellipsis else 0.85,
        )


RULE = Rule(
    id="visual/clipped-text",
    title="Text cut off",
    source="WCAG 2.2, 1.4.4 and 1.4.12: no loss of content",
    wcag="1.4.4 Resize Text",
    impact="Visitors cannot read what is cut off.",
    fix_hint=(
        "Let the box grow with its text (min-height instead of height, wrapping), or give the "
        "whole text in a title or behind a “more” button."
    ),
    check=check,
)
