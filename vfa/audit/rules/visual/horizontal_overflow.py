"""Pages that have to be scrolled sideways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

SLACK = 4.0  # CSS pixels; rounding and scroll bars make less without anyone noticing
SEVERE_SHARE = 0.1  # of the width, on a phone: the page slides about under the thumb


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page that is wider than its viewport and can be scrolled."""
    document = page.facts.document
    beyond = document.scroll_width - document.client_width
    if beyond <= SLACK or not document.scrolls_x or document.client_width <= 0:
        return
    widest = max(page.facts.wide, key=lambda element: element.beyond, default=None)
    small_screen = page.device != "desktop"
    severe = small_screen and beyond > document.client_width * SEVERE_SHARE
    others = len(page.facts.wide) - 1
    yield Draft(
        severity="high" if severe else "medium",
        title=f"The page is {beyond:.0f} px wider than the screen",
        description=(
            f"It is {document.scroll_width:.0f} px wide in a viewport of "
            f"{document.client_width:.0f} px and scrolls sideways"
            + (f" because of {widest.selector}" if widest else "")
            + (f" and {counted(others, 'other element')}." if others > 0 else ".")
        ),
        selector=widest.selector if widest else "",
        box=widest.box if widest else None,
        html=widest.html if widest else "",
        measured=document.scroll_width,
        threshold=document.client_width,
        group=widest.shape if widest else "",
    )


RULE = Rule(
    id="visual/horizontal-overflow",
    title="Page wider than the screen",
    source="WCAG 2.2, 1.4.10: no scrolling in two dimensions",
    wcag="1.4.10 Reflow",
    impact="Visitors have to scroll sideways, and miss what lies beyond the edge.",
    fix_hint=(
        "Let the element shrink (max-width: 100%, min-width: 0, flex-wrap), or scroll it "
        "inside a container of its own."
    ),
    check=check,
)
