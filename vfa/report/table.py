"""The findings of a report as a table for the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vfa.audit.findings import SEVERITIES
from vfa.report import wording

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from vfa.audit.findings import Finding, Report

STYLES = {
    "critical": "bold white on red",
    "high": "bold red",
    "medium": "yellow",
    "low": "cyan",
    "info": "dim",
}


def print_findings(report: Report, console: Console) -> None:
    """Print the findings of ``report`` and a line that sums them up."""
    from rich.text import Text

    if report.findings:
        console.print(findings_table(report))
    console.print(Text(summary(report), style="bold"))
    for what in report.not_done:
        console.print(Text(f"not done: {_line(what, 200)}", style="dim"))


def findings_table(report: Report) -> Table:
    """Return the findings of ``report``, one a row."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("Id", no_wrap=True)
    table.add_column("Severity", no_wrap=True)
    table.add_column("Finding", ratio=3, overflow="fold")
    table.add_column("Page", ratio=1, overflow="fold", style="dim")
    for finding in report.findings:
        table.add_row(*_row(finding, report.url))
    return table


def _row(finding: Finding, base: str) -> tuple[Text, ...]:
    # Text, never markup: a title may hold brackets, and comes from a page.
    from rich.text import Text

    times = f" ({finding.occurrences} times)" if finding.occurrences > 1 else ""
    what = Text(_line(finding.title, 160) + times)
    where = finding.selector_hint or ""
    what.append(f"\n{finding.rule}" + (f"  {_line(where, 80)}" if where else ""), style="dim")
    return (
        Text(_line(finding.id, 12)),
        Text(finding.severity, style=STYLES[finding.severity]),
        what,
        Text(_line(wording.short_url(finding.page_url, base), 60)),
    )


def summary(report: Report) -> str:
    """Return one line: how many findings, of which severity, on how many pages."""
    counts = Counter(finding.severity for finding in report.findings)
    parts = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    found = wording.counted(len(report.findings), "finding")
    found = f"{found} ({', '.join(parts)})" if parts else "no findings"
    pages = wording.counted(sum(not page.error for page in report.pages), "page")
    omitted = f", {report.findings_omitted} more left out" if report.findings_omitted else ""
    took = wording.duration(report.duration_ms)
    return f"{_line(report.url, 200)}: {found}{omitted} on {pages} in {took}"


def _line(text: str, limit: int) -> str:
    """Return ``text`` on one line, harmless to a terminal, and not longer than ``limit``."""
    return wording.cut_middle(" ".join(wording.visible(text).split()), limit)
