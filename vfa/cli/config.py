"""``vfa config``: every setting, with where its value came from."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from vfa.cli.settings import COULD_NOT
from vfa.config import explain
from vfa.errors import ConfigError

if TYPE_CHECKING:
    from vfa.config import Line

HIDDEN = "(set, not shown)"


@click.command("config")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@click.option("--changed", is_flag=True, help="Only what is not at its default.")
def command(as_json: bool, changed: bool) -> None:
    """Show every setting, its value, its default and where the value came from.

    Settings are environment variables. Secrets are never printed.
    """
    try:
        lines = explain()
    except ConfigError as error:
        _explain_refusal(error)
        sys.exit(COULD_NOT)
    if changed:
        lines = [line for line in lines if line.source != "default"]
    if as_json:
        _print_json(lines)
    else:
        _print_lines(lines)


def shown(line: Line) -> Any:
    """Return the value of a setting as it may be printed."""
    return HIDDEN if line.knob.secret and line.value else line.value


def plain(value: Any) -> str:
    """Return ``value`` as one would write it in the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _explain_refusal(error: ConfigError) -> None:
    """Say what is wrong, and what the settings that are wrong are for."""
    click.secho(f"[{error.code}] {error.message}", fg="red", err=True)
    for line in explain(environ={}):
        if f"{line.knob.variable}=" in error.message:
            default = shlex.quote(plain(line.default))
            click.echo(f"  {line.knob.variable}: {line.knob.text} Default: {default}", err=True)


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


def _print_lines(lines: list[Line]) -> None:
    for line in lines:
        value = shlex.quote(plain(shown(line)))
        origin = line.source
        if line.source != "default":
            origin += f"; default {shlex.quote(plain(line.default))}"
        click.secho(f"{line.knob.variable}={value}  ", nl=False, bold=line.source != "default")
        click.secho(f"[{origin}]", dim=True)
        text = line.knob.text + (" (Reserved: not used yet.)" if line.knob.reserved else "")
        click.echo(f"    {text}")
