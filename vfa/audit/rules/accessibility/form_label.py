"""Form fields that nobody can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Field, PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible fields without a name, and those named only by their placeholder."""
    for field in page.facts.fields:
        if not field.visible or not field.exposed:
            continue
        if field.name == "":
            yield _nameless(field)
        elif field.named_by == "placeholder" and not field.search:
            yield _placeholder(field)


def _nameless(field: Field) -> Draft:
    kind = field.type or field.role or field.tag
    return about(
        field,
        severity="high",
        title=f"A form field ({kind}) has no label",
        description=f"{field.selector} has no label, aria-label or title to say what it is.",
        measured="",
        threshold="a name that is not empty",
    )


def _placeholder(field: Field) -> Draft:
    return about(
        field,
        severity="low",
        title=f"The field {shown(field.placeholder)} has only a placeholder for a label",
        description="The placeholder disappears with the first letter that is typed.",
        measured="placeholder",
        threshold="a label that stays",
        confidence=0.8,
        cause="placeholder",
    )


RULE = Rule(
    id="accessibility/form-label",
    title="Form field without a label",
    source="WCAG 2.2, 1.3.1, 3.3.2 and 4.1.2; ACT rule e086e5",
    wcag="4.1.2 Name, Role, Value",
    impact="People who use a screen reader or voice control do not learn what to enter.",
    fix_hint='Add <label for="…"> with the field\'s id, or an aria-label.',
    check=check,
)
