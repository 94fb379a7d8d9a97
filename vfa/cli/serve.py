"""``vfa serve``, as click sees it: its help. The work is in ``vfa.cli.serving``."""

from __future__ import annotations

import sys

import click


@click.command("serve")
def command() -> None:
    """Serve one MCP client over stdin and stdout.

    Everything is set by environment variables; `vfa config` lists them. The browser is
    started by the first call that needs one, and ends with this process.

    \b
    Registered in a client:
      {"mcpServers": {"vfa": {"command": "vfa", "args": ["serve"]}}}
    """  # noqa: D301
    from vfa.cli.serving import serve

    sys.exit(serve())
