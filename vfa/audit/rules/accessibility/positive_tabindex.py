"""Elements that jump the queue of the Tab key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible elements with a ``tabindex`` above 0."""
    for control in page.facts.controls:
        if control.tabindex is not None and control.tabindex > 0 and control.visible:
            yield about(
                control,
                severity="low",
                title=f"{shown(control.name or control.selector)} has a positive tabindex",
                description=(
                    f"Its tabindex of {control.tabindex} puts it before everything that has "
                    "none, wherever it stands on the page."
                ),
                measured=control.tabindex,
                threshold=0,
            )


RULE = Rule(
    id="accessibility/positive-tabindex",
    title="Positive tabindex",
    source="WCAG 2.2, 2.4.3, failure F44; HTML, 6.6.3 The tabindex attribute",
    wcag="2.4.3 Focus Order",
    impact="The focus of keyboard users jumps about the page.",
    fix_hint='Use tabindex="0", or none, and put the element where it belongs in the document.',
    check=check,
)
