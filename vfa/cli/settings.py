"""What every command does alike: read the settings, and say what went wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from vfa.config import Config, load
from vfa.errors import ConfigError, VfaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COULD_NOT = 2  # exit code: the command line or the settings cannot be used, or it failed


def load_or_exit(overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the settings in force; say what is wrong with them and exit if they are."""
    from vfa.egress.exits import check_settings  # for the commands that read settings

    try:
        config = load(overrides=overrides)
        check_settings(config)
    except ConfigError as error:
        exit_with(error)
    return config


def exit_with(error: VfaError) -> NoReturn:
    """Say ``error`` on stderr, with what to do next, and exit."""
    say(error)
    sys.exit(COULD_NOT)


def say(error: VfaError, about: str = "") -> None:
    """Say ``error`` on stderr, with what to do next."""
    prefix = f"{about}: " if about else ""
    click.secho(f"{prefix}[{error.code}] {error.message}", fg="red", err=True)
    if error.hint:
        click.echo(f"  {error.hint}", err=True)


def leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    """Give the exceptions in ``group``, whatever the groups between."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error
