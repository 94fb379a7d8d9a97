"""Labels that are bound to another field than the one they stand beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Label, PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the labels whose click reaches the wrong field."""
    for label in page.facts.labels:
        reason = _reason(label)
        if label.visible and label.bound != label.nearest and reason:
            yield about(
                label,
                severity="medium",
                title=f"Label {shown(label.name)} belongs to the wrong field",
                description=(
                    f"{reason} A click on the label, and a screen reader, reach "
                    f"{label.bound} instead of {label.nearest}."
                ),
                measured=label.bound,
                threshold=label.nearest,
                confidence=0.95 if label.same_id > 1 else 0.85,
                cause=label.target,
            )


def _reason(label: Label) -> str:
    if not (label.target and label.bound and label.nearest):
        return ""
    if label.same_id > 1:
        return f"{label.same_id} elements have the id {shown(label.target)}."
    # Two labels for one field, while the field beside this one has none: a copied line.
    if label.bound_labels > 1 and label.nearest_labels == 0:
        return f"Another label is bound to {shown(label.target)} already."
    return ""


RULE = Rule(
    id="functional/duplicate-id-label",
    title="Label bound to the wrong field",
    source="HTML, 3.2.6 The id attribute, and 4.10.4 The label element",
    wcag="1.3.1 Info and Relationships",
    impact="Clicking the label fills or toggles another field; the right one has no name.",
    fix_hint="Give each field an id of its own, and each label the id of its own field.",
    check=check,
)
