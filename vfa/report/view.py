"""A report as its template wants it: grouped, counted, worded and numbered.

Pure: a report goes in, plain values come out. The number of a finding is its place in the
report, which its id, its box on a picture and its anchor share.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from vfa.audit.findings import CATEGORIES, SEVERITIES
from vfa.report import wording
from vfa.report.pictures import Crop, Mark, Shot, candidates, crop, marks, shots
from vfa.report.vitals import Measure, measures
from vfa.report.waterfall import Waterfall, waterfall

if TYPE_CHECKING:
    from vfa.audit.findings import Finding, PageRecord, Report
    from vfa.page.records import ConsoleMessage, PageException

MOST_MESSAGES = 100  # console messages and exceptions of one page that are shown
MOST_REQUESTS = 10  # requests named by one finding
OPEN = ("critical", "high")  # severities whose findings are unfolded at first
CRITERION = re.compile(r"^\d\.\d\.\d{1,2} (.+)$")
UNDERSTANDING = "https://www.w3.org/WAI/WCAG22/Understanding/"


class Item(NamedTuple):
    """One finding."""

    number: int
    finding: Finding
    page: str  # shown
    page_link: str
    crop: Crop | None
    place: str  # anchor of the whole picture; empty if there is none
    measured: str
    threshold: str
    wcag_link: str
    requests: tuple[str, ...]
    words: str  # what the text filter looks in

    @property
    def open(self) -> bool:
        """Whether it is unfolded at first."""
        return self.finding.severity in OPEN


class Group(NamedTuple):
    """The findings of one severity."""

    severity: str
    items: tuple[Item, ...]


class Gallery(NamedTuple):
    """A picture of a page, with its boxes."""

    shot: Shot
    marks: list[Mark]
    anchor: str


class Leaf(NamedTuple):
    """One page."""

    number: int
    record: PageRecord
    address: str
    link: str
    findings: int
    measures: tuple[Measure, ...]
    waterfall: Waterfall
    galleries: tuple[Gallery, ...]
    saved: tuple[str, ...]  # files of pictures that the report does not hold
    console: tuple[ConsoleMessage, ...]
    exceptions: tuple[PageException, ...]
    left_out: int  # messages and exceptions that are not shown


class Share(msgspec.Struct, frozen=True):
    """A severity or category with how many findings it has."""

    name: str
    count: int
    x: float  # of 1000, for the stacked bar
    width: float


class View(NamedTuple):
    """Everything the template shows."""

    report: Report
    host: str
    link: str
    severities: tuple[Share, ...]
    categories: tuple[Share, ...]
    groups: tuple[Group, ...]
    pages: tuple[Leaf, ...]
    audited: int  # pages without an error
    shots: tuple[Shot, ...]
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]
    many: bool  # so many findings that filters are worth their space


def view(report: Report) -> View:
    """Return what the template shows of ``report``."""
    known = shots(report.screenshots)
    leaves = tuple(
        _leaf(number, page, report, known) for number, page in enumerate(report.pages, 1)
    )
    hung = {gallery.shot.index for leaf in leaves for gallery in leaf.galleries}
    pages = {page.url: page for page in report.pages}
    items = [
        _item(number, finding, report, _crop(number, finding, pages, known), hung)
        for number, finding in enumerate(report.findings, 1)
    ]
    groups = tuple(
        Group(severity, tuple(item for item in items if item.finding.severity == severity))
        for severity in SEVERITIES
    )
    used = hung | {item.crop.shot.index for item in items if item.crop is not None}
    return View(
        report=report,
        host=wording.short_url(report.url).removesuffix("/"),
        link=wording.linkable(report.url),
        severities=_shares(SEVERITIES, [item.finding.severity for item in items]),
        categories=_shares(CATEGORIES, [item.finding.category for item in items]),
        groups=tuple(group for group in groups if group.items),
        pages=leaves,
        audited=sum(not page.error for page in report.pages),
        shots=tuple(known[index] for index in sorted(used)),
        facts=_facts(report),
        numbers=tuple(_flat(report.metrics)),
        many=len(items) > 1,
    )


def _crop(
    number: int, finding: Finding, pages: dict[str, PageRecord], known: dict[int, Shot]
) -> Crop | None:
    return crop(finding, number, candidates(finding, pages.get(finding.page_url), known))


def _item(
    number: int, finding: Finding, report: Report, shown: Crop | None, hung: set[int]
) -> Item:
    evidence = finding.evidence
    words = (finding.title, finding.rule, finding.selector_hint or "", finding.page_url)
    return Item(
        number=number,
        finding=finding,
        page=wording.short_url(finding.page_url, report.url),
        page_link=wording.linkable(finding.page_url),
        crop=shown,
        place=f"picture-{shown.shot.index}" if shown and shown.shot.index in hung else "",
        measured=wording.value(evidence.measured),
        threshold=wording.value(evidence.threshold),
        wcag_link=understanding(finding.wcag),
        requests=tuple(
            wording.short_url(url, report.url) for url in evidence.requests[:MOST_REQUESTS]
        ),
        words=wording.cut(" ".join(words).lower(), 1_000),
    )


def _shown_indexes(page: PageRecord, known: dict[int, Shot]) -> tuple[int, ...]:
    """Return the pictures to show of ``page``, ready-made boxes only for want of others."""
    own = [known[index] for index in dict.fromkeys(page.screenshots) if index in known]
    plain = [shot for shot in own if not shot.drawn_on]
    return tuple(shot.index for shot in plain or own)


def _leaf(number: int, page: PageRecord, report: Report, known: dict[int, Shot]) -> Leaf:
    own = [
        (place, finding)
        for place, finding in enumerate(report.findings, 1)
        if finding.page_url == page.url
    ]
    galleries = tuple(
        Gallery(known[index], marks(known[index], own), f"picture-{index}")
        for index in _shown_indexes(page, known)
    )
    messages, exceptions = len(page.console), len(page.exceptions)
    return Leaf(
        number=number,
        record=page,
        address=wording.short_url(page.url, report.url),
        link=wording.linkable(page.url),
        findings=len(own),
        measures=measures(page.vitals),
        waterfall=waterfall(page),
        galleries=galleries,
        saved=_saved(page, report, known),
        console=page.console[:MOST_MESSAGES],
        exceptions=page.exceptions[:MOST_MESSAGES],
        left_out=max(0, messages - MOST_MESSAGES) + max(0, exceptions - MOST_MESSAGES),
    )


def _saved(page: PageRecord, report: Report, known: dict[int, Shot]) -> tuple[str, ...]:
    held = range(len(report.screenshots))
    missing = [index for index in page.screenshots if index in held and index not in known]
    return tuple(path for index in missing if (path := report.screenshots[index].path))


def _shares(names: tuple[str, ...], found: list[str]) -> tuple[Share, ...]:
    counts = Counter(found)
    total = max(1, len(found))
    shares, x = [], 0.0
    for name in names:
        width = counts[name] / total * 1000
        shares.append(Share(name, counts[name], x, width))
        x += width
    return tuple(shares)


def _facts(report: Report) -> tuple[tuple[str, str], ...]:
    requests = [request for page in report.pages for request in page.requests]
    audited = [page for page in report.pages if not page.error]
    transfer = sum(request.transfer_bytes for request in requests)
    facts = [
        ("Pages audited", f"{len(audited):,}"),
        ("Took", wording.duration(report.duration_ms)),
        ("Requests", f"{len(requests):,}, {wording.size(transfer)}"),
        ("Viewport", f"{report.viewport[0]} by {report.viewport[1]}, {report.device}"),
        ("Started", report.started_at.replace("T", " ").removesuffix("Z")[:19] + " UTC"),
    ]
    ready = Counter(page.readiness for page in audited if page.readiness)
    if ready:
        facts.append(
            ("Waited for", ", ".join(f"{how} ({n})" for how, n in ready.most_common(3)))
        )
    return tuple(facts)


def understanding(wcag: str) -> str:
    """Return the address of W3C's explanation of a criterion, or ""."""
    found = CRITERION.match(wcag)
    if found is None:
        return ""
    words = re.findall(r"[a-z0-9]+", found[1].lower())
    return UNDERSTANDING + "-".join(words)


def _flat(metrics: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return all metrics as rows, nested ones with a dotted name."""
    rows: list[tuple[str, str]] = []
    for name, part in metrics.items():
        if isinstance(part, dict):
            rows += _flat(part, f"{prefix}{name}.")
        else:
            rows.append((f"{prefix}{name}", wording.value(part)))
    return rows
