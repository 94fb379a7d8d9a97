"""``vfa browser``: which Chromium is used, and getting one.

``vfa.chromium.install`` knows what to do on which system; this shows it, asks, and runs it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from vfa.cli.settings import COULD_NOT, exit_with, load_or_exit
from vfa.errors import BrowserError, BrowserNotFoundError

if TYPE_CHECKING:
    from vfa.chromium.find import Found
    from vfa.chromium.install import Machine, Plan, Step


@click.group("browser")
def command() -> None:
    """Say which Chromium is used, or install one."""


@command.command("find")
def find() -> None:
    """Print the path of the Chromium that would be started."""
    from vfa.chromium.find import find_chromium

    try:
        click.echo(find_chromium(load_or_exit().chromium_path).path)
    except BrowserNotFoundError as error:
        exit_with(error)


@command.command("install")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Go on although there is a Chromium already.")
@click.option("--uninstall", is_flag=True, help="Take back changes to the package sources.")
def install(dry_run: bool, yes: bool, force: bool, uninstall: bool) -> None:
    """Install Chromium with the system's own package manager.

    Shows the commands first and asks. On Ubuntu, whose Chromium is a snap, a headless one
    comes from the Debian archive, signed and pinned to the Chromium packages.

    \b
    Exit codes: 0 done or nothing to do, 2 it cannot be done or a command failed.
    """  # noqa: D301
    present = None if uninstall else _present()
    if present and not force and not dry_run:
        click.echo(f"Already here: {present.path}. Nothing to do (--force to go on).")
        return
    plan = _plan(uninstall=uninstall)
    _show(plan)
    if dry_run or not plan.steps:
        return
    if not yes:
        _ask()
    for step in plan.steps:
        _run(step)
    if not uninstall:
        _confirm_present()


def machine() -> Machine:
    """Describe this machine to the planner."""
    from vfa.chromium.install import read_machine

    try:
        os_release = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        os_release = ""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    sudo = shutil.which("sudo") is not None
    return read_machine(os_release, platform=sys.platform, root=root, sudo=sudo)


def _plan(*, uninstall: bool) -> Plan:
    from vfa.chromium.install import plan_install, plan_uninstall

    try:
        return plan_uninstall(machine()) if uninstall else plan_install(machine())
    except BrowserError as error:
        exit_with(error)


def _present() -> Found | None:
    from vfa.chromium.find import find_chromium

    try:
        return find_chromium(load_or_exit().chromium_path)
    except BrowserNotFoundError:
        return None


def _show(plan: Plan) -> None:
    click.secho(plan.title, bold=True)
    for step in plan.steps:
        click.echo(f"\n# {step.text}\n{step.shell}")
    for note in plan.notes:
        click.echo(f"\n{note}")


def _ask() -> None:
    if not sys.stdin.isatty():
        click.echo("vfa: nobody to ask; say --yes to go on", err=True)
        sys.exit(COULD_NOT)
    click.echo()
    click.confirm("Do this?", abort=True)


def _run(step: Step) -> None:
    click.secho(f"\n# {step.text}", bold=True)
    try:
        done = subprocess.run(
            step.command,
            input=step.content.encode() if step.content else None,
            stdout=subprocess.DEVNULL if step.content else None,
            check=False,
        )
    except OSError as error:
        _give_up(step, str(error))
    if done.returncode:
        _give_up(step, f"exit code {done.returncode}")


def _give_up(step: Step, reason: str) -> NoReturn:
    command_line = shlex.join(step.command)
    click.secho(f"vfa: {command_line} failed: {reason}", fg="red", err=True)
    click.echo("  What was done before it stays; running this again is safe.", err=True)
    sys.exit(COULD_NOT)


def _confirm_present() -> None:
    found = _present()
    if found is None:
        click.secho("vfa: every command succeeded, and yet there is no Chromium", err=True)
        sys.exit(COULD_NOT)
    click.secho(f"\nInstalled: {found.path}", fg="green")
