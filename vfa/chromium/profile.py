"""Profile directories: made for one engine, gone with it.

Owns the directories ``vfa-profile-*`` below one root. A profile outlives crashes of
Chromium, not the engine: what an engine that was killed left behind is removed by the next
one, together with the processes that still use it.

Everything here is synchronous file work; callers run it in a thread.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vfa.chromium import owner
from vfa.errors import BrowserStartError

if TYPE_CHECKING:
    import psutil

logger = logging.getLogger(__name__)

PREFIX = "vfa-profile-"
TMP_FOLDER = "tmp"  # Chromium's TMPDIR: it leaves folders there whenever it is killed
LEFT_BY_A_CRASH = ("SingletonLock", "SingletonCookie", "SingletonSocket", "DevToolsActivePort")
REMOVE_ATTEMPTS = 10
REMOVE_PAUSE = 0.05  # seconds; killed processes write until the kernel gets to them
KILL_TIMEOUT = 1.0  # seconds; SIGKILL cannot be refused
UNMARKED_AGE = 60.0  # seconds; a younger directory without a mark may be in the making


def create_profile(root: Path) -> Path:
    """Make an empty profile below ``root`` that only this user can read, marked as ours.

    Raises:
        BrowserStartError: ``root`` cannot be written to.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        profile = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root.resolve()))  # is 0700
        owner.mark(profile)
        (profile / TMP_FOLDER).mkdir(mode=0o700)
    except OSError as error:
        raise BrowserStartError(
            f"no browser profile can be made in {root}: {error.strerror}",
            hint="Set VFA_PROFILE_ROOT to a folder on a local disk that can be written to.",
        ) from error
    return profile


def prepare_for_restart(profile: Path) -> None:
    """Remove what a crashed Chromium left in ``profile`` and a new one would stumble over."""
    for name in LEFT_BY_A_CRASH:
        with suppress(FileNotFoundError):
            (profile / name).unlink()  # SingletonLock and the others are links; never followed
    temporary = profile / TMP_FOLDER
    _remove_tree(temporary)
    temporary.mkdir(mode=0o700, exist_ok=True)


def remove_profile(profile: Path) -> bool:
    """Remove ``profile``; return whether it is gone. Takes half a second at most, or so."""
    if not profile.name.startswith(PREFIX):
        raise ValueError(f"not a profile of ours: {profile}")
    owner.release(profile)
    for attempt in range(REMOVE_ATTEMPTS):
        if attempt:
            time.sleep(REMOVE_PAUSE)
        _remove_tree(profile)
        if not os.path.lexists(profile):
            return True
    return False


def reap_stale(root: Path) -> list[str]:
    """Remove the profiles below ``root`` whose engine is dead; return their paths.

    Processes that were started on such a profile are killed first. Profiles of other users,
    links, and profiles of engines that live are left alone.
    """
    reaped = []
    for profile in _stale(root.resolve()):
        _kill_users(profile)
        if remove_profile(profile):
            reaped.append(str(profile))
        else:
            logger.warning("cannot remove the stale profile %s", profile)
    return reaped


def _stale(root: Path) -> list[Path]:
    stale = []
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                with suppress(OSError):  # gone, by another engine that reaps
                    if entry.name.startswith(PREFIX) and _is_stale(entry):
                        stale.append(Path(entry.path))
    except OSError:
        return []
    return sorted(stale)


def _is_stale(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    alive = owner.is_alive(Path(entry.path))
    if alive is None:
        return time.time() - status.st_mtime > UNMARKED_AGE
    return not alive


def _kill_users(profile: Path) -> None:
    """Kill the processes of this user that were started with exactly this profile."""
    import psutil  # only engines that find leavings pay for it

    wanted = f"--user-data-dir={profile}"
    users = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if wanted in process.cmdline() and process.uids().effective == os.geteuid():
                _kill(process)
                users.append(process)
    psutil.wait_procs(users, timeout=KILL_TIMEOUT)


def _kill(process: psutil.Process) -> None:
    """Kill ``process``, and with it the group it leads: Chromium's own children."""
    process.suspend()  # raises if the id was used again; what is stopped cannot fork away
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process.pid) == process.pid != os.getpgrp():
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _remove_tree(path: Path) -> None:
    """Remove ``path`` and all below it as far as possible, without following links."""
    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=_make_removable)
    else:
        shutil.rmtree(path, onerror=_make_removable)


def _make_removable(_function: object, path: str, _error: object) -> None:
    """Let the next attempt succeed where a folder below ``path`` denies it to its owner."""
    for place in (os.path.dirname(path), path):
        with suppress(OSError):
            if stat.S_ISDIR(os.lstat(place).st_mode):
                os.chmod(place, 0o700)
