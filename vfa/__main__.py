"""The ``vfa`` command: ``vfa`` and ``python -m vfa`` are the same.

Commands are imported when they are called. ``vfa serve``, for which a client waits, gets no
short cut around click: the MCP SDK imports it anyway, and the start was no faster without.
"""

from __future__ import annotations

from vfa.cli.group import commands


def main() -> None:
    """Run the command that ``sys.argv`` asks for, and exit with its code."""
    commands(prog_name="vfa")


if __name__ == "__main__":
    main()
