"""Frames that nobody can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

SMALLEST = 10.0  # CSS pixels; smaller frames carry scripts, not content


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible frames with an empty accessible name."""
    for frame in page.facts.frames:
        small = min(frame.box.width, frame.box.height) < SMALLEST
        unseen = not frame.visible or not frame.exposed or frame.tabindex == -1
        if frame.name or unseen or small:
            continue
        address = page.local(frame.src) or "without an address"
        yield about(
            frame,
            severity="medium",
            title=f"A frame ({shown(address)}) has no title",
            description="It has neither a title nor an aria-label.",
            measured="",
            threshold="a title that says what is inside",
        )


RULE = Rule(
    id="accessibility/frame-title",
    title="Frame without a title",
    source="WCAG 2.2, 4.1.2; ACT rule cae760",
    wcag="4.1.2 Name, Role, Value",
    impact="People who use a screen reader must enter the frame to learn what it holds.",
    fix_hint='Add title="…" to the iframe that says what is inside.',
    check=check,
)
