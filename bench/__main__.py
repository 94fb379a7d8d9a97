"""``python -m bench``: figures that anyone can rerun on their own machine."""

from __future__ import annotations

import argparse

import trio


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    ops = commands.add_parser("ops", help="each operation beside the raw commands it needs")
    ops.add_argument("--rounds", type=int, default=40)
    ops.add_argument("--settle", action="store_true", help="with two frames after each action")
    commands.add_parser("tokens", help="tool list and snapshots, in tokens")
    chosen = parser.parse_args()
    if chosen.command == "ops":
        from functools import partial

        from bench.ops import run

        trio.run(partial(run, chosen.rounds, settle=chosen.settle))
    else:
        from bench import tokens

        trio.run(tokens.run)


if __name__ == "__main__":
    main()
