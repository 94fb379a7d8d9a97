"""Pages whose main content arrives late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import file_name, seconds, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

GOOD = 2500.0  # milliseconds
POOR = 4000.0


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page whose largest paint came late."""
    vitals = page.vitals
    if vitals.lcp_ms is None or vitals.lcp_ms <= GOOD:
        return
    what = vitals.lcp_selector or "an element that is gone"
    if vitals.lcp_url:
        what += f" ({shown(file_name(vitals.lcp_url))})"
    yield Draft(
        severity="high" if vitals.lcp_ms > POOR else "medium",
        title=f"The main content appears after {seconds(vitals.lcp_ms)}",
        description=f"The largest element in the first view was painted last: {what}.",
        selector=vitals.lcp_selector,
        measured=round(vitals.lcp_ms),
        threshold=GOOD,
        requests=(vitals.lcp_url,) if vitals.lcp_url else (),
        confidence=0.9,
    )


RULE = Rule(
    id="performance/lcp",
    title="Slow main content (Largest Contentful Paint)",
    source="https://web.dev/articles/lcp: good up to 2.5 s, poor above 4 s",
    impact="Visitors wait before they see what they came for; many leave.",
    fix_hint=(
        "Serve the page and this element sooner: faster first byte, no blocking scripts before "
        "it, fetchpriority=high and no lazy loading for its picture."
    ),
    check=check,
)
