"""Pages that jump while they load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

GOOD = 0.1
POOR = 0.25
NAMED = 3  # elements named in the description


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page whose content shifted more than is good."""
    total = page.vitals.cls
    if total is None or total <= GOOD:
        return
    moved = _moved(page)
    yield Draft(
        severity="high" if total > POOR else "medium",
        title=f"The page jumps while it loads (CLS {total:.2f})",
        description=(
            f"What moved most: {', '.join(moved[:NAMED])}."
            if moved
            else "Content moved after it had been shown."
        ),
        selector=moved[0] if moved else "",
        measured={"cls": round(total, 3), "shifts": len(page.vitals.shifts)},
        threshold=GOOD,
        confidence=0.9,
    )


def _moved(page: PageEvidence) -> list[str]:
    """Return the selectors of what moved, the largest shift first, each once."""
    shifts = sorted(page.vitals.shifts, key=lambda shift: -shift.value)
    return list(dict.fromkeys(selector for shift in shifts for selector in shift.selectors))


RULE = Rule(
    id="performance/cls",
    title="Jumping content (Cumulative Layout Shift)",
    source="https://web.dev/articles/cls: good up to 0.1, poor above 0.25",
    impact="Visitors lose their place, and click what has just moved under the pointer.",
    fix_hint="Reserve the space of pictures, embeds, fonts and banners that arrive later.",
    check=check,
)
