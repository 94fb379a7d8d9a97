"""``vfa tools``: the reference of the tools, from the table that serves them.

README.md's tables of the browser tools are made here, too (``vfa.cli.manual``).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from vfa.cli.settings import COULD_NOT, load_or_exit
from vfa.config import TOOL_FAMILIES, Config
from vfa.tools import all_tools, offered_tools
from vfa.tools.arguments import suggest
from vfa.tools.families import family_of
from vfa.tools.schema import input_schema, listed_schema

if TYPE_CHECKING:
    from vfa.tools.table import Tool


@click.command("tools")
@click.argument("names", nargs=-1, metavar="[TOOL]...")
@click.option("--all", "everything", is_flag=True, help="Also what VFA_TOOLS leaves out.")
@click.option("--json", "as_json", is_flag=True, help="Print what a client's tools/list gets.")
def command(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Show the tools that `vfa serve` offers, or all about the named ones."""
    config = load_or_exit()
    tools = all_tools() if everything or names else offered_tools(config.tools)
    if names:
        tools = tuple(_named(name) for name in names)
    if as_json:
        _print_json(tools, config)
    elif names:
        for tool in tools:
            _print_whole(tool, config)
    else:
        for tool in tools:
            click.secho(f"{tool.name:<24}", nl=False, bold=True)
            click.echo(f"{tool.description.split('. ')[0].rstrip('.')}.")


def table_of(family: str) -> str:
    """Return the tools of a family as a Markdown table."""
    rows = ["| tool | arguments (default) | result |", "| --- | --- | --- |"]
    for tool in all_tools():
        if family_of(tool) == family:
            schema = input_schema(tool, Config())
            shown = ", ".join(_argument(name, schema) for name in schema["properties"])
            rows.append(f"| `{tool.name}` | {shown} | {_one_line(tool.returns)} |")
    return "\n".join(rows)


def tables() -> str:
    """Return every family of browser tools with its table, in Markdown."""
    return "\n\n".join(
        f"**{family}**\n\n{table_of(family)}" for family in TOOL_FAMILIES if family != "qa"
    )


def _argument(name: str, schema: dict[str, Any]) -> str:
    known = schema["properties"][name]
    text = f"`{name}`"
    if "enum" in known:
        text += " " + " / ".join(word for word in known["enum"] if word)
    if name in schema.get("required", ()):
        return text + " (required)"
    if name == "timeout_ms" or not known.get("default"):
        return text
    return f"{text} (`{_default(known)}`)"


def _default(known: dict[str, Any]) -> str:
    """Return an argument's default as a client would write it; none is said of nothing."""
    default = known.get("default")
    if isinstance(default, str) or not default:
        return default or ""
    return msgspec.json.encode(default).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _named(name: str) -> Tool:
    known = {tool.name: tool for tool in all_tools()}
    for candidate in (name, f"browser_{name}", f"qa_{name}"):
        if candidate in known:
            return known[candidate]
    click.secho(f"There is no tool {name}{suggest(name, list(known))}.", fg="red", err=True)
    sys.exit(COULD_NOT)


def _print_json(tools: tuple[Tool, ...], config: Config) -> None:
    rows = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": listed_schema(tool, config),
        }
        for tool in tools
    ]
    click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())


def _print_whole(tool: Tool, config: Config) -> None:
    from vfa.tools.schema import describe

    click.secho(tool.name, bold=True)
    click.echo(f"  {tool.description}  [family: {family_of(tool)}]")
    schema = input_schema(tool, config)
    for name, known in schema["properties"].items():
        need = "required" if name in schema.get("required", ()) else ""
        if _default(known):
            need = f"default {_default(known)}"
        click.echo(f"  {name}: {describe(known)}" + (f"; {need}" if need else ""))
        if known.get("description"):
            click.echo(f"      {known['description']}")
    if tool.returns:
        click.echo(f"  returns {_one_line(tool.returns).replace('`', '')}")
    click.echo()
