"""``vfa config``: every setting, with where its value came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vfa.cli.settings import exit_with
from vfa.config import explain
from vfa.errors import ConfigError

if TYPE_CHECKING:
    from vfa.config import Line

HIDDEN = "(set, not shown)"


@click.command("config")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--changed", is_flag=True, help="Only what is not at its default.")
def command(as_json: bool, changed: bool) -> None:
    """Show every setting, its value, its default and where the value came from.

    Settings are environment variables. Secrets are never printed.
    """
    try:
        lines = explain()
    except ConfigError as error:
        exit_with(error)
    if changed:
        lines = [line for line in lines if line.source != "default"]
    if as_json:
        _print_json(lines)
    else:
        _print_table(lines)


def shown(line: Line) -> Any:
    """Return the value of a setting as it may be printed."""
    return HIDDEN if line.knob.secret and line.value else line.value


def plain(value: Any) -> str:
    """Return ``value`` as one would write it in the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _print_json(lines: list[Line]) -> None:
    import msgspec

    rows = [
        {
            "variable": line.knob.variable,
            "value": shown(line),
            "default": line.default,
            "source": line.source,
            "text": line.knob.text,
            "reserved": line.knob.reserved,
        }
        for line in lines
    ]
    click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())


def _print_table(lines: list[Line]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("variable", "value", "default", "source"):
        table.add_column(heading, overflow="fold")
    table.add_column("what it does", overflow="fold", ratio=1)
    for line in lines:
        style = "" if line.source == "default" else "bold"
        text = line.knob.text + (" (Reserved: not used yet.)" if line.knob.reserved else "")
        cells = (line.knob.variable, plain(shown(line)), plain(line.default), line.source)
        table.add_row(*(Text(cell, style=style) for cell in cells), Text(text))
    Console().print(table)
