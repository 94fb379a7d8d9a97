"""Links whose target does not exist or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag

import msgspec

from vfa.audit.rule import Draft, Rule, about
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import Link, LinkCheck, PageEvidence

# 401, 403, 405 and 429 are answers of a page that exists but refuses a stranger or a robot.
GONE = frozenset({404, 410})


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield the links that the link check, or a visit, found broken."""
    for link in page.facts.links:
        target = urldefrag(link.url).url
        result = page.link_checks.get(target)
        if result is not None and (reason := _broken(result)):
            yield _draft(page, link, target, result, reason)


def _broken(result: LinkCheck) -> str:
    if result.status is None:
        return f"cannot be reached ({result.error})" if result.error else ""
    if result.status in GONE or result.status >= 500:
        return f"answers {result.status}"
    return ""


def _draft(
    page: PageEvidence, link: Link, target: str, result: LinkCheck, reason: str
) -> Draft:
    place = page.local(target)
    certain = result.status is not None and link.visible
    draft = about(
        link,
        severity="high" if certain else "medium",
        title=f"Link {shown(link.name or link.text or link.href)} is broken",
        description=f"The link leads to {place}, which {reason}.",
        measured=result.status if result.status is not None else result.error,
        threshold="a status below 400",
        requests=(target,),
        confidence=1.0 if result.status is not None else 0.8,
        cause=place,
    )
    # One page that is gone is one defect, however many links of whatever look lead to it.
    return msgspec.structs.replace(draft, group="")


RULE = Rule(
    id="functional/broken-link",
    title="Link to a page that does not exist or fails",
    source="RFC 9110, 15.5.5 (404), 15.5.11 (410) and 15.6 (5xx)",
    impact="Visitors who follow the link end at an error page.",
    fix_hint="Correct the link's href, restore the page, or redirect the old address.",
    check=check,
)
