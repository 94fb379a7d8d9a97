"""The tables of README.md that are written from the code, so that they cannot drift.

``python -m vfa.cli.manual README.md`` puts them in their places; a test says when that is due.
A place is everything between ``<!-- NAME:begin -->`` and ``<!-- NAME:end -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from vfa import errors
from vfa.cli.tools import tables
from vfa.config import Config, explain
from vfa.errors import VfaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vfa.config import Knob


def settings_table() -> str:
    """Return every setting as a Markdown table; reserved ones are marked."""
    kinds = get_type_hints(Config)
    rows = ["| variable | default | values | what it does |", "| --- | --- | --- | --- |"]
    for line in explain(environ={}):
        text = line.knob.text + (" *(reserved)*" if line.knob.reserved else "")
        values = _values(kinds[line.field], line.knob)
        rows.append(
            f"| `{line.knob.variable}` | {_default(line.default)} | {values} | {text} |"
        )
    return "\n".join(rows)


def errors_table() -> str:
    """Return every error code as a Markdown table, with what it means."""
    meanings: dict[str, list[str]] = {}
    for error in _tree(VfaError):
        line = (error.__doc__ or "").strip().splitlines()[0]
        meanings.setdefault(error.code, []).append(_without_markup(line))
    rows = ["| code | meaning |", "| --- | --- |"]
    rows += [f"| `{code}` | {' · '.join(texts)} |" for code, texts in sorted(meanings.items())]
    return "\n".join(rows)


TABLES: dict[str, Callable[[], str]] = {
    "tools": tables,
    "settings": settings_table,
    "errors": errors_table,
}


def filled_in(text: str) -> str:
    """Return a Markdown text with every table in its place as the code has it now."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        text = place.sub(f"{begin}\n{table()}\n{end}".replace("\\", r"\\"), text)
    return text


def _tree(root: type[VfaError]) -> Iterator[type[VfaError]]:
    """Give the classes of the error tree, parents first; not the root: it is never raised."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, root) and error is not root:
            yield error


def _values(kind: Any, knob: Knob) -> str:
    if kind is bool:
        return "`true`, `false`"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if kind is str:
        return "text"
    low, high = knob.low, knob.high
    return f"{low} to {high}" if high is not None else f"{low} or more"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value != "" else ""


def _without_markup(text: str) -> str:
    return text.replace("``", "`").replace("|", r"\|")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(filled_in(file.read_text(encoding="utf-8")), encoding="utf-8")
