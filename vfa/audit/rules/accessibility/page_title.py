"""Pages without a title, or with the one their template came with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

TEMPLATE = re.compile(
    r"^(untitled( document| page)?|document|new page|react app|vite app|vite \+ \w+(\s*\+ ts)?|"
    r"vue app|nuxt app|create next app|angular app|page title|title|sin t[ií]tulo|"
    r"documento sin t[ií]tulo)$",
    re.IGNORECASE,
)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for an HTML page that a tab or a search result cannot name."""
    title = page.title.strip()
    if page.facts.document.content_type != "text/html":
        return
    if not title:
        yield Draft(
            severity="medium",
            title="The page has no title",
            description="The title element is missing or empty.",
            measured="",
            threshold="a title that names the page",
            cause="missing",
        )
    elif TEMPLATE.match(title):
        yield Draft(
            severity="low",
            title=f"The page's title is still {shown(title)}",
            description="The title is a template's placeholder and does not name the page.",
            measured=title,
            threshold="a title that names the page",
            confidence=0.9,
            cause="template",
        )


RULE = Rule(
    id="accessibility/page-title",
    title="Page without a title",
    source="WCAG 2.2, 2.4.2; ACT rule 2779a5",
    wcag="2.4.2 Page Titled",
    impact="The page cannot be told apart in tabs, bookmarks and search results.",
    fix_hint="Add a <title> that says what the page is about, then whose site it is.",
    check=check,
)
