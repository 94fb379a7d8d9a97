"""Pages that a phone shows as if it were a desktop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

# An initial scale alone makes the width follow the device as well.
FOLLOWS_DEVICE = re.compile(
    r"width\s*=\s*device-width|initial-scale\s*=\s*[1-9]", re.IGNORECASE
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for an HTML page whose layout does not follow the device's width."""
    document = page.facts.document
    content = document.viewport_meta
    if document.content_type != "text/html" or (content and FOLLOWS_DEVICE.search(content)):
        return
    yield Draft(
        severity="medium" if page.device == "desktop" else "high",
        title="The page has no viewport for small screens",
        description=(
            f"Its viewport meta element says “{content}”."
            if content
            else "It has no viewport meta element, so phones lay it out about 980 px wide and "
            "shrink it until it is too small to read."
        ),
        measured=content,
        threshold="width=device-width",
        cause="fixed" if content else "missing",
    )


RULE = Rule(
    id="visual/missing-viewport-meta",
    title="No viewport meta element",
    source="CSS Viewport Module Level 1; Lighthouse, viewport",
    impact="On a phone the text is tiny and everything has to be zoomed.",
    fix_hint='Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
    check=check,
)
