"""The table of commands, and the help that stands above them.

Owns names and order only: a command's module is imported when it is called or listed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "audit": "vfa.cli.audit",
    "serve": "vfa.cli.serve",
    "doctor": "vfa.cli.doctor",
    "browser": "vfa.cli.browser",
    "config": "vfa.cli.config",
    "tools": "vfa.cli.tools",
    "license": "vfa.cli.license",
    "version": "vfa.cli.version",
}


class _Lazy(click.Group):
    """A group whose commands are the ``command`` of a module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in MODULES:
            return None
        return cast("click.Command", import_module(MODULES[cmd_name]).command)


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`vfa COMMAND --help` explains one command. Start with `vfa doctor`.",
)
def commands() -> None:
    """VFA audits web pages in a real browser, for AI agents and for CI.

    \b
      vfa audit https://example.com               look at a site, print what is wrong
      vfa audit URL --fail-on high                the same, as a check in CI
      vfa serve                                   serve an MCP client over stdio
    """  # noqa: D301  # \b is click's mark for lines that are not to be wrapped
