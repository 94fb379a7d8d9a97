"""``vfa doctor``: what works on this machine, what does not, and what to do about it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from vfa.cli.settings import load_or_exit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.cli.checks import Check
    from vfa.config import Config

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command("doctor")
@click.option("--quick", is_flag=True, help="Only look; start no browser and no server.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def command(quick: bool, as_json: bool) -> None:
    """Check this machine: Python, Chromium, fonts, memory, sandbox, a real launch, MCP.

    Exits with 0 if VFA will work here, with 1 if a line says FAIL.
    """
    config = load_or_exit()
    found: list[Check] = []

    def report(check: Check) -> None:
        found.append(check)
        if not as_json:
            _say(check)

    signalled = _examine(config, report, quick=quick)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    failed = [check.name for check in found if check.state == "fail"]
    if not as_json and not signalled:
        fine = "Nothing speaks against it; nothing was started." if quick else "VFA works here."
        click.echo(f"\nNot working: {', '.join(failed)}." if failed else f"\n{fine}")
    sys.exit(signalled or (1 if failed else 0))


def _examine(config: Config, report: Callable[[Check], None], *, quick: bool) -> int:
    from vfa.cli import checks

    report(checks.python())
    browser, found = checks.chromium(config)
    report(browser)
    if found:
        report(checks.fonts())
        report(checks.memory())
        report(checks.shared_memory())
        report(checks.sandbox(config))
        report(checks.folder(config))
    if quick:
        return 0
    from vfa.cli.interruptible import run

    return run(_trials(config, report, launch=browser.state != "fail"))


def _trials(
    config: Config, report: Callable[[Check], None], *, launch: bool
) -> Callable[[], Awaitable[None]]:
    from vfa.cli import trials
    from vfa.log import to_stderr

    async def work() -> None:
        level = "DEBUG" if config.log_level == "DEBUG" else "ERROR"
        with to_stderr(level):
            if launch:
                report(await trials.launch(config))
            report(await trials.handshake())

    return work


def _say(check: Check) -> None:
    from vfa.cli.checks import MARKS

    mark = click.style(f"{MARKS[check.state]:>4}", fg=COLOURS[check.state], bold=True)
    click.echo(f"{mark}  {check.name}: {check.text}")
    if check.advice:
        click.echo(f"      → {check.advice}")
