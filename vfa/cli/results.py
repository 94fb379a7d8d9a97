"""What an audit leaves behind: the table, the JSON and the HTML report.

Needs ``vfa.report`` for what they look like; decides only where they go.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from vfa.report.html import render
from vfa.report.table import print_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.cli.audit import Outcome


def print_tables(outcomes: Sequence[Outcome]) -> None:
    """Print the findings of each audited URL on stdout."""
    console = Console(highlight=False)
    for outcome in outcomes:
        if outcome.report:
            print_findings(outcome.report, console)


def write_html(outcomes: Sequence[Outcome], name: str) -> list[Path]:
    """Write a report for each audited URL; return the files."""
    paths = []
    for number, outcome in enumerate(outcomes, 1):
        if outcome.report:
            path = numbered(Path(name), number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render(outcome.report), encoding="utf-8")
            paths.append(path)
    return paths


def write_json(outcomes: Sequence[Outcome], name: str) -> list[Path]:
    """Write the reports, and the errors in their places; return the files.

    One URL gives one object, several a list. ``-`` is stdout.
    """
    documents = [_document(outcome) for outcome in outcomes]
    if not documents:
        return []
    whole: Any = documents[0] if len(documents) == 1 else documents
    data = msgspec.json.format(msgspec.json.encode(whole), indent=2)
    if name == "-":
        sys.stdout.buffer.write(data + b"\n")
        sys.stdout.flush()
        return []
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + b"\n")
    return [path]


def numbered(path: Path, number: int) -> Path:
    """Return ``path`` for the first of several, then ``name-2.html`` and so on."""
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def _document(outcome: Outcome) -> Any:
    if outcome.report:
        return {"status": "completed"} | msgspec.to_builtins(outcome.report)
    error = outcome.error
    assert error is not None  # an outcome is one or the other
    body = {"code": error.code, "message": error.message, "hint": error.hint}
    return {"status": "error", "url": outcome.url, "error": body}
