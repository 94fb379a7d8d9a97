"""From drafts of many pages to the findings of one report.

Pure, and independent of order: the same drafts in any order give the same report, since what
stands for a group of drafts is chosen by value and keys hold nothing that varies from run to
run. Needs rules and evidence; decides nothing about what is a defect.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from vfa.audit.findings import SEVERITIES, Category, Finding, Proof, Severity
from vfa.audit.focus import Focus
from vfa.audit.rule import Draft, Rule  # noqa: TC001  # msgspec reads a struct's annotations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from vfa.audit.evidence import PageEvidence

MAX_HTML = 300  # characters of an element's opening in a finding
MAX_REQUESTS = 10
RANK = {severity: rank for rank, severity in enumerate(SEVERITIES)}


class Drafted(msgspec.Struct, frozen=True):
    """A draft with the rule that made it and the page it is about."""

    rule: Rule
    draft: Draft
    page_url: str


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """The findings that are reported, and the count of those that are not."""

    findings: tuple[Finding, ...]
    omitted: int = 0  # over the limit
    off_focus: int = 0  # of no interest to the focus
    by_severity: dict[Severity, int] = {}  # of all findings in focus, omitted ones included
    by_category: dict[Category, int] = {}


def chosen_rules(rules: Iterable[Rule], categories: Collection[Category]) -> tuple[Rule, ...]:
    """Return the rules of these categories."""
    return tuple(rule for rule in rules if rule.category in categories)


def inspect(page: PageEvidence, rules: Iterable[Rule]) -> tuple[Drafted, ...]:
    """Run ``rules`` over one page."""
    return tuple(
        Drafted(rule, draft, page.address) for rule in rules for draft in rule.check(page)
    )


def assemble(drafted: Iterable[Drafted], *, limit: int, focus: str = "") -> Assembled:
    """Merge, rank, cap and number.

    Args:
        drafted: Of all pages, in any order.
        limit: Findings reported at most.
        focus: Words that narrow and rank what is reported; empty: all.
    """
    groups: dict[str, list[Drafted]] = {}
    for one in drafted:
        groups.setdefault(key_of(one), []).append(one)
    merged = [_merge(key, group) for key, group in groups.items()]
    wanted = Focus(focus)
    kept = wanted.narrow(merged)
    kept.sort(key=lambda finding: _report_order(finding, wanted))
    return Assembled(
        findings=_numbered(kept[:limit]),
        omitted=max(0, len(kept) - limit),
        off_focus=len(merged) - len(kept),
        by_severity=dict(Counter(finding.severity for finding in kept)),
        by_category=dict(Counter(finding.category for finding in kept)),
    )


def key_of(one: Drafted) -> str:
    """Return what the same defect is called in every run: rule, kind of place and cause."""
    told = "\0".join((one.rule.id, one.draft.group, one.draft.cause))
    return f"{one.rule.id}:{blake2b(told.encode(), digest_size=6).hexdigest()}"


def _merge(key: str, group: Sequence[Drafted]) -> Finding:
    first = min(group, key=_prominence)
    draft, rule = first.draft, first.rule
    return Finding(
        id="",
        severity=draft.severity,
        category=rule.category,
        title=draft.title,
        description=draft.description,
        selector_hint=draft.selector or None,
        evidence=Proof(
            box=draft.box,
            console_errors=draft.console_errors,
            requests=draft.requests[:MAX_REQUESTS],
            measured=draft.measured,
            threshold=draft.threshold,
            html=draft.html[:MAX_HTML],
        ),
        rule=rule.id,
        key=key,
        confidence=draft.confidence,
        wcag=rule.wcag,
        impact=draft.impact or rule.impact,
        fix_hint=draft.fix_hint or rule.fix_hint,
        page_url=first.page_url,
        occurrences=sum(one.draft.occurrences for one in group),
    )


def _prominence(one: Drafted) -> tuple[object, ...]:
    """Order drafts of one defect: the gravest, then the page nearest to the site's root."""
    draft = one.draft
    place = (one.page_url.count("/"), len(one.page_url), one.page_url)
    # The rest only makes the choice independent of the order in which pages were audited.
    rest = (draft.title, draft.description, msgspec.json.encode(draft, order="sorted"))
    height = draft.box.y if draft.box else 0.0
    return (RANK[draft.severity], -draft.confidence, *place, height, draft.selector, *rest)


def _report_order(finding: Finding, focus: Focus) -> tuple[object, ...]:
    return (
        RANK[finding.severity],
        -focus.relevance(finding),
        -finding.confidence,
        -finding.occurrences,
        finding.rule,
        finding.page_url,
        finding.key,
    )


def _numbered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(
        msgspec.structs.replace(finding, id=f"FND-{number:03d}")
        for number, finding in enumerate(findings, start=1)
    )
