"""Controls that do nothing when they are clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Control, PageEvidence, ProbeResult


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the controls whose probe saw no effect."""
    controls = {control.selector: control for control in page.facts.controls}
    for probe in page.dead_controls:
        control = controls.get(probe.selector)
        idle = probe.clicked and not probe.effects and not probe.skipped_reason
        if idle and (control is None or _meant_to_act(control)):
            yield _draft(probe, control)


def _meant_to_act(control: Control) -> bool:
    # A link that only has a placeholder for an address is functional/dead-href's business.
    placeholder = control.tag == "a" and control.href != ""
    return control.enabled and not control.state and not placeholder


def _draft(probe: ProbeResult, control: Control | None) -> Draft:
    name = probe.name or (control.text if control else "")
    native = control is None or control.tag in ("button", "input") or control.role == "button"
    return Draft(
        severity="high" if native else "medium",
        title=f"{shown(name or probe.selector)} does not respond to a click",
        description=(
            "Clicking it, twice, led to no navigation, request, change of the page, dialog, "
            "download or other effect that could be observed."
        ),
        selector=probe.selector,
        box=probe.box,
        html=probe.html,
        measured="no effect",
        threshold="any effect within 1.5 s",
        confidence=0.9 if native else 0.7,
        group=(control.shape if control else "") or probe.selector,
        cause=" ".join(name.lower().split()),
    )


RULE = Rule(
    id="functional/dead-control",
    title="Control without an effect",
    source="Observed: two clicks on an enabled, visible control, 1.5 s each",
    impact="Visitors who use the control wait for something that never happens.",
    fix_hint=(
        "Attach the handler that the control is meant to have, check that its script loads "
        "without an error, or disable or remove the control."
    ),
    check=check,
)
