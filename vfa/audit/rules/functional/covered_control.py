"""Controls that something lies over, so that a pointer cannot reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Control, Cover, PageEvidence

WHOLE_PAGE = 0.6  # share of the viewport from which a pinned layer is a curtain, not a bar


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the enabled controls that are covered for good and not on purpose."""
    document = page.facts.document
    scrolls = document.scroll_height > document.client_height + 1
    for control in page.facts.controls:
        cover = control.cover
        if cover is not None and _unintended(control, cover, scrolls=scrolls):
            yield _draft(control, cover)


def _unintended(control: Control, cover: Cover, *, scrolls: bool) -> bool:
    if cover.modal:
        return False
    if not cover.pinned:
        return True
    if cover.share >= WHOLE_PAGE:
        return cover.invisible  # a visible curtain is a splash or a dialog; this one is a bug
    # Below a pinned bar a control can be scrolled clear, unless it is pinned itself.
    return control.pinned or not scrolls


def _draft(control: Control, cover: Cover) -> Draft:
    what = "an invisible element" if cover.invisible else "another element"
    name = control.name or control.text
    return about(
        control,
        severity="high",
        title=f"{shown(name or control.selector)} is covered and cannot be clicked",
        description=f"Wherever it is clicked, {what} takes the click: {cover.selector}.",
        measured={"covered_by": cover.selector, "html": cover.html},
        threshold="at least one of five points reachable",
        confidence=0.9,
        cause=f"{cover.selector} {' '.join(name.lower().split())}",
    )


RULE = Rule(
    id="functional/covered-control",
    title="Covered control",
    source="Measured: hit test at five points of the control (CSSOM View, elementFromPoint)",
    impact="Visitors see the control and cannot use it.",
    fix_hint=(
        "Move or remove the covering element, lower its z-index, or give it "
        "pointer-events: none if it is only decoration."
    ),
    check=check,
)
