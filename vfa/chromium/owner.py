"""Whose profile a directory is, and whether that engine still lives.

Owns the mark that an engine leaves in its profile: its process id and the moment the
process started, since ids are used again. The engine also holds a lock on the mark for as
long as it lives, which the kernel drops with the process: that answers where the id cannot
be looked up, as for an engine in another container that shares the directory.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

import msgspec

MARK = "vfa-owner.json"
MARK_SIZE = 4096  # bytes; a longer mark is not ours

_held: dict[Path, int] = {}  # profile to the descriptor that holds its lock


class Owner(msgspec.Struct, frozen=True):
    """The mark: a process, and when it started."""

    pid: int
    started: str  # opaque; equal for the same process only
    namespace: str = ""  # of process ids, where the system has such


def mark(profile: Path) -> None:
    """Leave this process's mark in ``profile`` and lock it until ``release`` or the end."""
    pid = os.getpid()
    owner = Owner(pid, started(pid) or "", _namespace())
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(profile / MARK, flags, 0o600)
    os.write(handle, msgspec.json.encode(owner))
    with suppress(OSError):  # some network file systems have no locks; the id remains
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _held[profile] = handle


def release(profile: Path) -> None:
    """Give up the lock on ``profile``, if this process holds it."""
    handle = _held.pop(profile, None)
    if handle is not None:
        os.close(handle)


def is_alive(profile: Path) -> bool | None:
    """Return whether the owner of ``profile`` lives; None if there is no mark that says."""
    try:
        handle = os.open(profile / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if _is_locked(handle):
            return True
        owner = msgspec.json.decode(os.read(handle, MARK_SIZE), type=Owner)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    finally:
        os.close(handle)
    return owner.namespace == _namespace() and started(owner.pid) == owner.started


def started(pid: int) -> str | None:
    """Return a text that no other process with this id will have; None if there is none."""
    if not os.path.exists("/proc/self/stat"):
        return _started_elsewhere(pid)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # proc(5): the name in brackets may hold anything; state follows it, starttime 19 later.
    fields = stat.rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):
        return None
    return f"{boot}:{fields[19].decode()}"


def _started_elsewhere(pid: int) -> str | None:
    import psutil  # not needed on Linux, and costs memory

    try:
        return str(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
