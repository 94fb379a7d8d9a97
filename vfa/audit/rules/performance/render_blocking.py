"""Scripts and stylesheets that keep the first paint waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import counted, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence, Resource

GOOD_PAINT = 1800.0  # milliseconds. https://web.dev/articles/fcp
SLOW = 300.0  # milliseconds that one resource takes


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for a page whose late first paint waited for slow resources."""
    painted = page.vitals.fcp_ms
    if painted is None or painted <= GOOD_PAINT:
        return
    guilty = [
        resource
        for resource in page.facts.resources
        if resource.render_blocking
        and resource.end_ms - resource.start_ms >= SLOW
        and resource.end_ms <= painted
    ]
    if not guilty:
        return
    guilty.sort(key=lambda resource: (-_duration(resource), resource.url))
    yield Draft(
        severity="medium",
        title=f"The first paint waits {seconds(painted)} for {counted(len(guilty), 'file')}",
        description=(
            "Nothing is shown until these have arrived: "
            + ", ".join(
                f"{page.local(resource.url)} ({seconds(_duration(resource))})"
                for resource in guilty[:3]
            )
            + (" and others." if len(guilty) > 3 else ".")
        ),
        measured=round(painted),
        threshold=GOOD_PAINT,
        requests=tuple(resource.url for resource in guilty[:10]),
        confidence=0.9,
    )


def _duration(resource: Resource) -> float:
    return resource.end_ms - resource.start_ms


RULE = Rule(
    id="performance/render-blocking",
    title="Render-blocking resources",
    source="https://web.dev/articles/fcp: good up to 1.8 s",
    impact="Visitors look at an empty window in the meantime.",
    fix_hint="Load scripts with defer or async, inline the few styles the first view needs.",
    check=check,
)
