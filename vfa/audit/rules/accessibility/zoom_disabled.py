"""Pages that forbid zooming."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

PART = re.compile(r"\s*([\w-]+)\s*=\s*([^,;\s]+)")
ENOUGH = 2.0  # 200 %


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page whose viewport keeps people from zooming to 200 %."""
    content = page.facts.document.viewport_meta or ""
    values = {name.lower(): value.lower() for name, value in PART.findall(content)}
    reason = _reason(values)
    if reason:
        yield Draft(
            severity="medium",
            title="The page forbids zooming",
            description=f"Its viewport meta element says {shown(content, 100)}: {reason}.",
            selector="meta[name='viewport']",
            measured=content,
            threshold="200 % zoom",
        )


def _reason(values: dict[str, str]) -> str:
    scalable = values.get("user-scalable", "yes")
    # Any number between -1 and 1 means "no" as well.
    if scalable == "no" or (_number(scalable) is not None and abs(_number(scalable) or 0) < 1):
        return "user-scalable is off"
    largest = _number(values.get("maximum-scale", ""))
    # A negative maximum is ignored by browsers.
    if largest is not None and 0 <= largest < ENOUGH:
        return f"maximum-scale is {largest:g}"
    return ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


RULE = Rule(
    id="accessibility/zoom-disabled",
    title="Zooming disabled",
    source="WCAG 2.2, 1.4.4: up to 200 %; ACT rule b4f0c3",
    wcag="1.4.4 Resize Text",
    impact="People with low vision cannot enlarge the text on a phone.",
    fix_hint="Remove user-scalable=no, and any maximum-scale below 2, from the viewport.",
    check=check,
)
