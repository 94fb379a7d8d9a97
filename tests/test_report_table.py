"""The table of findings in a terminal."""

from __future__ import annotations

import io

from msgspec.structs import replace
from rich.console import Console

from tests.scenes import empty_report, many_findings, sample_report
from vfa.report.table import print_findings, summary


def printed(report, width=120):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_findings(report, console)
    return console.file.getvalue()


def with_title(title):
    sample = sample_report()
    return replace(sample, findings=(replace(sample.findings[0], title=title),))


def test_every_finding_has_a_row():
    text = printed(many_findings())
    assert all(f"FND-{number:03}" in text for number in range(1, 101))


def test_the_summary_counts_findings_by_severity():
    assert summary(sample_report()) == (
        "http://127.0.0.1:8790/: 9 findings (1 critical, 3 high, 3 medium, 1 low, 1 info) "
        "on 3 pages in 18.4 s"
    )


def test_a_clean_page_is_said_to_be_clean():
    assert "no findings on 1 page" in printed(empty_report())


def test_what_the_budget_cut_off_is_named():
    assert "not done: 2 pages were found" in printed(sample_report())


def test_brackets_of_a_page_are_text_and_not_markup():
    assert "[bold]shout[/bold]" in printed(with_title("[bold]shout[/bold]"))


def test_a_page_cannot_send_commands_to_the_terminal():
    text = printed(with_title("a\x1b]0;owned\x07\x9b2Jb\u202egnp.exe"))
    assert not set("\x1b\x07\x9b\u202e") & set(text)


def test_a_narrow_terminal_shows_all_of_a_finding():
    lines = printed(sample_report(), width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert "FND-009" in "\n".join(lines)
