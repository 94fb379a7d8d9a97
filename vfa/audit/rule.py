"""What a rule is: one kind of defect, recognised in evidence.

A rule's module has a constant ``RULE``; its check is a pure function that yields drafts. A
draft becomes a finding when :mod:`vfa.audit.assemble` has merged and numbered the drafts of
all pages. Needs evidence and the words of findings; does not know how evidence is collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from vfa.audit.evidence import Element, PageEvidence
from vfa.audit.findings import Box, Category, Severity


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """One defect on one page, before it is merged with its like.

    ``group`` and ``cause`` say what is the same defect: drafts of one rule that agree in both
    become one finding with ``occurrences``. Neither may hold what changes from run to run.
    """

    severity: Severity
    title: str
    description: str
    selector: str = ""
    box: Box | None = None
    html: str = ""
    measured: Any = None  # JSON
    threshold: Any = None
    requests: tuple[str, ...] = ()
    console_errors: int = 0
    confidence: float = 1.0
    impact: str = ""  # instead of the rule's
    fix_hint: str = ""  # instead of the rule's
    group: str = ""  # the kind of place: an element's shape, or empty for the page
    cause: str = ""
    occurrences: int = 1


Check = Callable[[PageEvidence], Iterable[Draft]]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of defect. ``source`` says where its threshold comes from."""

    id: str  # "visual/broken-image": category and file name
    title: str
    source: str
    impact: str  # who is hurt, and how
    fix_hint: str
    check: Check
    wcag: str = ""  # "1.4.3 Contrast (Minimum)"

    @property
    def category(self) -> Category:
        """The part of ``id`` before the slash."""
        category: Category = msgspec.convert(self.id.partition("/")[0], Category)
        return category


def about(
    element: Element,
    *,
    severity: Severity,
    title: str,
    description: str,
    measured: object = None,
    threshold: object = None,
    confidence: float = 1.0,
    cause: str = "",
    impact: str = "",
    fix_hint: str = "",
    requests: tuple[str, ...] = (),
    occurrences: int = 1,
) -> Draft:
    """Return a draft that points at ``element``; the rest are the fields of ``Draft``."""
    return Draft(
        severity=severity,
        title=title,
        description=description,
        selector=element.selector,
        box=element.box,
        html=element.html,
        measured=measured,
        threshold=threshold,
        confidence=confidence,
        cause=cause,
        group=element.shape or element.selector,
        impact=impact,
        fix_hint=fix_hint,
        requests=requests,
        occurrences=occurrences,
    )
