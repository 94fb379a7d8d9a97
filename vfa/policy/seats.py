"""The seats of a licence: which installations use it, in a file they share.

The registry may lie on shared storage. It is changed under a lock file and replaced as a
whole, so that a reader never sees half of it. A seat that has not been used for thirty days
lapses. An installation is a random id of its own; neither host nor user is written down.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vfa.errors import LicenseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.policy.license import Licence

LAPSES_AFTER = 30 * 86_400  # seconds
REFRESH = 3_600  # seconds between two notes of the same seat
LOCK_WAIT = 10.0  # seconds
LOCK_STEP = 0.02  # seconds between two tries; who holds it has it for milliseconds


class Seats(msgspec.Struct):
    """What the file holds: licence digest -> installation -> when it was last used."""

    version: int = 1
    seats: dict[str, dict[str, float]] = {}


def state_folder() -> Path:
    """Return where this installation keeps its id and, by default, the registry."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "vfa"


def installation_id(folder: Path) -> str:
    """Return the id of this installation, made up the first time.

    Raises:
        LicenseError: It cannot be kept.
    """
    file = folder / "installation"
    with suppress(OSError):
        known = file.read_text("ascii").strip()
        if known:
            return known
    fresh = secrets.token_hex(16)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(file, "x", encoding="ascii", opener=_private) as out:
            out.write(fresh)
    except FileExistsError:  # another process of this installation was first
        return file.read_text("ascii").strip() or fresh
    except OSError as error:
        raise LicenseError(
            f"Licence refused: the id of this installation cannot be kept in {folder}: {error}",
            hint="Set XDG_STATE_HOME to a folder that can be written.",
        ) from None
    return fresh


def take_seat(registry: Path, licence: Licence, installation: str) -> int:
    """Note that an installation uses a licence; return how many do.

    Raises:
        LicenseError: All seats are taken, or the registry cannot be used.
    """
    with _opened(registry) as seats:
        taken = seats.seats.setdefault(licence.digest, {})
        now = time.time()
        for each, used in list(taken.items()):
            if now - used > LAPSES_AFTER:
                del taken[each]
        if installation not in taken and licence.seats and len(taken) >= licence.seats:
            raise LicenseError(
                f"Licence refused: too many seats: all {licence.seats} are taken",
                hint="`vfa license seats` lists them and can give one back; unused ones lapse "
                "after 30 days.",
            )
        taken[installation] = now
        return len(taken)


def give_back(registry: Path, digest: str, installation: str) -> bool:
    """Free a seat; return whether it was taken."""
    with _opened(registry) as seats:
        return seats.seats.get(digest, {}).pop(installation, None) is not None


def list_seats(registry: Path, digest: str) -> dict[str, float]:
    """Return the installations that use a licence, with the time of each one's last use."""
    with _opened(registry) as seats:
        return dict(seats.seats.get(digest, {}))


@contextmanager
def _opened(registry: Path) -> Iterator[Seats]:
    """Hold the registry for the block; what the block changed is written unless it fails."""
    try:
        registry.parent.mkdir(parents=True, exist_ok=True)
        with _locked(registry.with_name(registry.name + ".lock")):
            seats = _read(registry)
            before = msgspec.json.encode(seats)
            yield seats
            after = msgspec.json.encode(seats)
            if after != before:
                _replace(registry, after)
    except OSError as error:
        raise LicenseError(
            f"Licence refused: the seat registry {registry} cannot be used: {error}",
            hint="Set VFA_LICENSE_REGISTRY to a file that this user can write.",
        ) from None


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with open(file, "a", encoding="ascii", opener=_private) as lock:
        deadline = time.monotonic() + LOCK_WAIT
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise OSError(f"it has been locked for {LOCK_WAIT:g} s") from None
                time.sleep(LOCK_STEP)
        yield


def _read(registry: Path) -> Seats:
    try:
        return msgspec.json.decode(registry.read_bytes(), type=Seats)
    except FileNotFoundError:
        return Seats()
    except msgspec.DecodeError as error:
        # Starting anew would hand out seats that are taken.
        raise OSError(f"it is not a seat registry: {error}") from None


def _replace(registry: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=registry.parent, prefix=f".{registry.name}-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, registry)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
