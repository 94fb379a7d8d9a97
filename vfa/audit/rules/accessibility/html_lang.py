"""Pages that do not say which language they are in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vfa.audit.rule import Draft, Rule
from vfa.audit.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.audit.evidence import PageEvidence

# The form of a tag, with a primary language of the lengths that are assigned.
TAG = re.compile(r"^([a-z]{2,3}|i|x)(-[a-z0-9]{1,8})*$", re.IGNORECASE)


def check(page: PageEvidence) -> Iterator[Draft]:
    """Yield one draft for an HTML page without a usable ``lang``."""
    document = page.facts.document
    lang = document.lang
    if document.content_type != "text/html" or (lang and TAG.match(lang.strip())):
        return
    wrong = bool(lang and lang.strip())
    yield Draft(
        severity="medium",
        title="The page does not state its language",
        description=(
            f"The lang attribute of <html> is {shown(lang or '')}, which is no language tag."
            if wrong
            else "The <html> element has no lang attribute, or an empty one."
        ),
        selector="html",
        measured=lang,
        threshold="a BCP 47 language tag",
        cause="invalid" if wrong else "missing",
    )


RULE = Rule(
    id="accessibility/html-lang",
    title="Language of the page missing",
    source="WCAG 2.2, 3.1.1; BCP 47; ACT rules b5c3f8 and bf051a",
    wcag="3.1.1 Language of Page",
    impact="Screen readers pronounce the page in the wrong language; translators guess.",
    fix_hint='Write the language into the page: <html lang="en">.',
    check=check,
)
