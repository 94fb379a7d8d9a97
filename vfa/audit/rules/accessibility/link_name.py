"""Links that nobody can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the visible links with an empty accessible name."""
    for link in page.facts.links:
        if link.name == "" and link.visible and link.exposed and link.role in ("link", ""):
            yield about(
                link,
                severity="medium",
                title=f"A link to {shown(page.local(link.url) or link.href)} has no name",
                description=(
                    "It has no text, and no label or described picture inside, so a screen "
                    "reader says only “link” or spells out the address."
                ),
                measured="",
                threshold="a name that is not empty",
            )


RULE = Rule(
    id="accessibility/link-name",
    title="Link without a name",
    source="WCAG 2.2, 2.4.4 and 4.1.2; ACT rule c487ae",
    wcag="2.4.4 Link Purpose (In Context)",
    impact="People who use a screen reader or voice control cannot tell where it leads.",
    fix_hint="Put text into the link, describe its picture in alt, or give it an aria-label.",
    check=check,
)
