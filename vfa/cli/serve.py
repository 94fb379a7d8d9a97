"""``vfa serve``: what an MCP client starts. Prints nothing on stdout: it is the protocol's."""

from __future__ import annotations

import sys

import click

from vfa.cli.settings import load_or_exit


@click.command("serve")
def command() -> None:
    """Serve one MCP client over stdin and stdout.

    Everything is set by environment variables; `vfa config` lists them. The browser is
    started by the first call that needs one, and ends with this process.

    \b
    Registered in a client:
      {"mcpServers": {"vfa": {"command": "vfa", "args": ["serve"]}}}
    """  # noqa: D301
    config = load_or_exit()
    from vfa.actors.front import serve_stdio

    sys.exit(serve_stdio(config))
