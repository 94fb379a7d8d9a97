"""Buttons and widgets that nobody can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Control, PageEvidence

# Fields are accessibility/form-label's business, links accessibility/link-name's.
NAMED_ROLES = frozenset(
    {
        "button",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "tab",
        "treeitem",
        "DisclosureTriangle",
    }
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible buttons and widgets with an empty accessible name."""
    for control in page.facts.controls:
        if control.name == "" and control.visible and control.exposed and _needs_name(control):
            yield about(
                control,
                severity="high",
                title=f"A {_kind(control)} has no name",
                description=(
                    f"{control.selector} has no text, label or title, so a screen reader says "
                    f"only “{_kind(control)}”."
                ),
                measured="",
                threshold="a name that is not empty",
            )


def _needs_name(control: Control) -> bool:
    return control.role in NAMED_ROLES or control.tag == "button"


def _kind(control: Control) -> str:
    return "disclosure" if control.role == "DisclosureTriangle" else control.role or control.tag


RULE = Rule(
    id="accessibility/control-name",
    title="Button without a name",
    source="WCAG 2.2, 4.1.2; ACT rule 97a4e1",
    wcag="4.1.2 Name, Role, Value",
    impact="People who use a screen reader or voice control cannot tell what it does.",
    fix_hint="Put text into it, or an aria-label where it shows only an icon.",
    check=check,
)
