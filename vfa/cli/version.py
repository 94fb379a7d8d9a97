"""``vfa version``: what is installed, for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import click

from vfa import __version__

LIBRARIES = ("trio", "mcp", "msgspec", "pillow", "trio-websocket")


@click.command("version")
def command() -> None:
    """Print the versions of VFA and of what it stands on."""
    click.echo(f"vfa {__version__}")
    click.echo(
        f"python {platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    for library in LIBRARIES:
        click.echo(f"{library} {version_of(library)}")


def version_of(package: str) -> str:
    """Return the version of an installed package, or what is known instead."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
