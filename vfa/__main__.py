"""The ``vfa`` command.

An MCP client starts ``vfa serve`` and waits for its first answer, so that one command goes
straight to the front. Every other command line is read by click, which is imported for it.
"""

from __future__ import annotations

import sys

SERVE = ["serve"]  # without options; `vfa serve --help` goes the long way


def main() -> None:
    """Run the command that ``sys.argv`` asks for, and exit with its code."""
    if sys.argv[1:] == SERVE:
        from vfa.cli.serving import serve

        sys.exit(serve())
    from vfa.cli.group import commands

    commands(prog_name="vfa")


if __name__ == "__main__":
    main()
