"""``vfa license``: making keys, issuing and checking licences, looking after seats.

For operators who run a licensed edition; the open one needs none of this.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vfa.cli.settings import COULD_NOT, exit_with, load_or_exit
from vfa.errors import ConfigError, LicenseError, VfaError
from vfa.policy.license import ALGORITHM, FEATURES, check_licence, read_public_key

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.policy.license import Licence


@click.group("license")
def command() -> None:
    """Make keys, issue and check licences, look after seats."""


@command.command("keygen")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def keygen(file: Path) -> None:
    """Write a new private key to FILE; print the public one for VFA_LICENSE_PUBLIC_KEY."""
    import base64
    import os

    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        click.secho(f"{file}: {error.strerror}", fg="red", err=True)
        sys.exit(COULD_NOT)
    with os.fdopen(handle, "wb") as out:
        out.write(pem)
    raw = key.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)
    click.echo(base64.b64encode(raw).decode())


@command.command("issue")
@click.option("--key", "file", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--to", "subject", required=True, help="Who may use it.")
@click.option("--days", default=365, show_default=True, type=click.IntRange(1, 36_500))
@click.option(
    "--seats", default=0, type=click.IntRange(0), help="Installations; 0: any number."
)
@click.option("--feature", "features", multiple=True, type=click.Choice(FEATURES))
def issue(file: Path, subject: str, days: int, seats: int, features: tuple[str, ...]) -> None:
    """Sign a licence with the private key in a file, and print it."""
    import jwt
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
        now = datetime.now(UTC)
        claims = {
            "sub": subject,
            "iat": now,
            "nbf": now,
            "exp": now + timedelta(days=days),
            "seats": seats,
            "features": list(features),
        }
        click.echo(jwt.encode(claims, key, algorithm=ALGORITHM))  # type: ignore[arg-type]
    except (ValueError, TypeError, jwt.PyJWTError) as error:
        exit_with(ConfigError(f"{file} is not an Ed25519 private key: {error}"))


@command.command("verify")
def verify() -> None:
    """Check the licence in VFA_LICENSE_KEY against VFA_LICENSE_PUBLIC_KEY.

    \b
    Exit codes: 0 valid, or none is needed; 2 refused.
    """  # noqa: D301
    config = load_or_exit()
    if not config.license_public_key:
        click.echo("No licence is needed: VFA_LICENSE_PUBLIC_KEY is not set.")
        return
    licence = _licence(config)
    click.echo(f"Valid for {licence.subject} until {licence.expires:%Y-%m-%d %H:%M} UTC.")
    click.echo(f"Seats: {licence.seats or 'any number'}.")
    click.echo(f"Covers: {', '.join(licence.features or FEATURES)}.")


@command.command("seats")
@click.option("--give-back", metavar="INSTALLATION", help="Free the seat of an installation.")
def seats(give_back: str | None) -> None:
    """List the installations that use the licence."""
    from vfa.policy import seats as registry
    from vfa.policy.gate import registry_of

    config = load_or_exit()
    licence = _licence(config)
    file = registry_of(config)
    try:
        if give_back:
            freed = registry.give_back(file, licence.digest, give_back)
            click.echo("Given back." if freed else f"{give_back} has no seat.")
            sys.exit(0 if freed else COULD_NOT)
        taken = registry.list_seats(file, licence.digest)
    except LicenseError as error:
        exit_with(error)
    for installation, used in sorted(taken.items(), key=lambda item: -item[1]):
        click.echo(
            f"{installation}  last used {datetime.fromtimestamp(used, UTC):%Y-%m-%d %H:%M}"
        )
    click.echo(f"{len(taken)} of {licence.seats or 'any number'} seats taken.")


def _licence(config: Config) -> Licence:
    try:
        return check_licence(config.license_key, read_public_key(config.license_public_key))
    except VfaError as error:
        exit_with(error)
