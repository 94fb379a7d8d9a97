"""Text that is hard to tell from its background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.contrast import contrast_ratio, hexadecimal, is_large
from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence, Text
    from vfa.audit.findings import Severity

NORMAL = 4.5
LARGE = 3.0
UNREADABLE = 2.0  # below it, people with good eyes fail as well
ALIKE = 1.1  # below it, text is more often hidden on purpose than by mistake


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the texts whose contrast is below the threshold for their size."""
    for text in page.facts.texts:
        threshold = LARGE if is_large(text.font_size, text.font_weight) else NORMAL
        ratio = contrast_ratio(text.colour, text.background)
        # WCAG compares the exact ratio; only what is shown is rounded.
        if ratio < threshold:
            yield _draft(text, ratio, threshold)


def _draft(text: Text, ratio: float, threshold: float) -> Draft:
    front, back = hexadecimal(text.colour), hexadecimal(text.background)
    return about(
        text,
        severity=_severity(ratio, threshold),
        title=f"Text {shown(text.text, 40)} has too little contrast ({_floor(ratio)} : 1)",
        description=(
            f"{front} on {back} at {text.font_size:.0f} px gives {_floor(ratio)} : 1; "
            f"{threshold:g} : 1 is needed."
        ),
        measured=_floor(ratio),
        threshold=threshold,
        confidence=0.7 if ratio < ALIKE else 0.95,
        cause=f"{front} on {back}",
        occurrences=text.count,
    )


def _severity(ratio: float, threshold: float) -> Severity:
    if ratio < UNREADABLE:
        return "high"
    return "medium" if ratio < threshold - 0.5 else "low"


def _floor(ratio: float) -> float:
    return int(ratio * 100) / 100  # 4.498 is shown as 4.49, not as a pass


RULE = Rule(
    id="accessibility/contrast",
    title="Too little contrast",
    source="WCAG 2.2, 1.4.3: 4.5 : 1, and 3 : 1 for large text",
    wcag="1.4.3 Contrast (Minimum)",
    impact="People with low vision, or in sunlight, cannot read the text.",
    fix_hint="Darken the text or lighten its background until the ratio is reached.",
    check=check,
)
