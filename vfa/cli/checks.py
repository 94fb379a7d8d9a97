"""What ``vfa doctor`` looks at without starting anything that stays: the machine.

Each check is a function that returns one or more lines; none raises. The thresholds are
those at which something is known to go wrong, not wishes.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.errors import BrowserNotFoundError

if TYPE_CHECKING:
    from vfa.chromium.find import Found
    from vfa.config import Config

State = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 11)
VERSION_TIMEOUT = 20.0  # seconds; a slow board starts Chromium in ten
FONTS_TIMEOUT = 10.0  # seconds
MEGABYTE = 1 << 20
LITTLE_MEMORY = 512  # MB; a browser with one heavy page needs about this
TOO_LITTLE_MEMORY = 200  # MB; below, not even a blank page comes up reliably
LITTLE_DISK = 200  # MB for a profile and its cache
MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


class Check(msgspec.Struct, frozen=True):
    """One line of the doctor's account."""

    name: str
    state: State
    text: str
    advice: str = ""  # what to do; empty if nothing is to be done


def python() -> Check:
    """Say which Python runs us."""
    text = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Check("Python", "fail", text, "Install Python 3.11 or newer.")
    return Check("Python", "ok", text)


def chromium(config: Config) -> tuple[Check, Found | None]:
    """Find the browser, and ask it for its version."""
    from vfa.chromium.find import find_chromium

    if config.cdp_url:
        return Check("Chromium", "ok", f"attached to {config.cdp_url} (VFA_CDP_URL)"), None
    try:
        found = find_chromium(config.chromium_path)
    except BrowserNotFoundError as error:
        return Check("Chromium", "fail", error.message, error.hint), None
    version, problem = _version(found.path)
    if problem:
        advice = f"Run {found.path} --version yourself; `vfa browser install` brings another."
        return Check("Chromium", "fail", f"{found.path} {problem}", advice), found
    text = f"{version} ({found.kind}, {found.path})"
    if found.kind == "headless-shell":
        return Check("Chromium", "ok", text), found
    advice = "chromium-headless-shell is faster and smaller, where your system has it."
    return Check("Chromium", "ok", text, advice), found


def _version(path: str) -> tuple[str, str]:
    """Return what ``path --version`` says, and what went wrong."""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"cannot be run: {error}"
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["it says nothing"]
        return "", f"ends with code {done.returncode}: {words[-1]}"
    return done.stdout.strip() or "unknown version", ""


def fonts() -> Check:
    """Say whether pages will have letters: a browser without fonts draws boxes."""
    advice = "Install fonts, on Debian: apt install fonts-liberation fonts-noto-color-emoji"
    lister = shutil.which("fc-list")
    if lister is None:
        if sys.platform != "linux":
            return Check("Fonts", "ok", "the system's own")
        return Check("Fonts", "warn", "fontconfig is not installed, cannot tell", advice)
    try:
        done = subprocess.run(
            [lister, ":", "family"],
            capture_output=True,
            text=True,
            timeout=FONTS_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("Fonts", "warn", f"fc-list cannot be run: {error}", advice)
    families = {line.strip() for line in done.stdout.splitlines() if line.strip()}
    if not families:
        return Check("Fonts", "fail", "none: text would be drawn as boxes", advice)
    if not any("emoji" in family.lower() for family in families):
        return Check("Fonts", "ok", f"{len(families)} families, none with emoji", advice)
    return Check("Fonts", "ok", f"{len(families)} families")


def memory() -> Check:
    """Say how much memory a browser could take, a container's limit included."""
    import psutil

    available = psutil.virtual_memory().available
    limit = _container_limit()
    megabytes = min(available, limit or available) // MEGABYTE
    text = f"{megabytes} MB available" + (" (limit of the container)" if limit else "")
    if megabytes < TOO_LITTLE_MEMORY:
        return Check("Memory", "fail", text, f"A browser needs about {LITTLE_MEMORY} MB.")
    if megabytes < LITTLE_MEMORY:
        return Check("Memory", "warn", text, "Heavy pages may crash; tabs are reloaded then.")
    return Check("Memory", "ok", text)


def _container_limit() -> int | None:
    """Return what is left below a control group's limit. Source: cgroup v2."""
    root = Path("/sys/fs/cgroup")
    try:
        limit = int((root / "memory.max").read_text())
        return max(0, limit - int((root / "memory.current").read_text()))
    except (OSError, ValueError):  # not Linux, version 1, no limit ("max")
        return None


def shared_memory() -> Check:
    """Say how large ``/dev/shm`` is: Chromium dies when it runs full."""
    from vfa.chromium.flags import SMALL_SHM

    try:
        status = os.statvfs("/dev/shm")
    except (AttributeError, OSError):
        text = "no /dev/shm" + (
            ": the temporary directory is used" if sys.platform == "linux" else ""
        )
        return Check("Shared memory", "ok", text)
    size = status.f_blocks * status.f_frsize
    text = f"/dev/shm has {size // MEGABYTE} MB"
    if size < SMALL_SHM:
        return Check(
            "Shared memory", "ok", f"{text}: Chromium is told to use the temporary directory"
        )
    return Check("Shared memory", "ok", text)


def sandbox(config: Config) -> Check:
    """Say whether Chromium's sandbox will be on."""
    if config.sandbox == "off":
        return Check("Sandbox", "warn", "off (VFA_SANDBOX=off)", "Audit only pages you trust.")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and config.sandbox == "auto":
        return Check(
            "Sandbox", "warn", "off: it cannot run as root",
            "Run as an ordinary user to have it, or audit only pages you trust.",
        )  # fmt: skip
    if root:
        advice = "Unset VFA_SANDBOX, or run as an ordinary user."
        return Check("Sandbox", "fail", "VFA_SANDBOX=on, but it cannot run as root", advice)
    blocked = _namespaces_blocked()
    if blocked:
        advice = "If the launch fails: allow them with sysctl, or set VFA_SANDBOX=off."
        return Check("Sandbox", "warn", f"user namespaces are restricted ({blocked})", advice)
    return Check("Sandbox", "ok", "on")


def _namespaces_blocked() -> str:
    """Return the kernel setting that keeps ordinary users from new user namespaces, if any."""
    for name, blocking in (
        ("kernel/unprivileged_userns_clone", "0"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("user/max_user_namespaces", "0"),
    ):
        try:
            value = Path("/proc/sys", name).read_text().strip()
        except OSError:
            continue
        if value == blocking:
            return f"{name.replace('/', '.')}={value}"
    return ""


def folder(config: Config) -> Check:
    """Say whether browser profiles can be written."""
    root = config.profile_root or tempfile.gettempdir()
    try:
        with tempfile.NamedTemporaryFile(dir=root, prefix="vfa-doctor-"):
            free = shutil.disk_usage(root).free // MEGABYTE
    except OSError as error:
        advice = "Set VFA_PROFILE_ROOT to a folder that can be written."
        return Check("Profiles", "fail", f"{root}: {error.strerror or error}", advice)
    if free < LITTLE_DISK:
        return Check(
            "Profiles", "warn", f"{root}, {free} MB free", f"{LITTLE_DISK} MB are needed."
        )
    return Check("Profiles", "ok", f"{root}, {free} MB free")
