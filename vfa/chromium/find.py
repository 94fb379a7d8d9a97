"""Which Chromium to run.

Owns the list of places and their order: what the user names, then the headless shell (it
starts and navigates faster and takes less memory), then Chromium, then Chrome. Starts
nothing and does not ask programs for their version, which costs as much as a start.

Distributions put shell scripts in front of the real program. A script costs time, adds
flags of its own and may hide the program behind its own process id, so the program that a
known script would start is taken in its place. A script that a user names in
``CHROMIUM_PATH`` and that is not one of those is run as it is.
"""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.errors import BrowserNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Look = Callable[[str], "Sight"]

Kind = Literal["headless-shell", "chromium", "chrome"]
Sight = Literal["missing", "not executable", "script", "snap", "program"]

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
USUAL_FOLDERS = ("/usr/bin", "/usr/local/bin")

# What the packages' scripts start, by the name of the script. Debian, Ubuntu's PPAs, Arch and
# Alpine use /usr/lib; Fedora and openSUSE /usr/lib64; Google its own folder.
BEHIND: dict[str, tuple[str, ...]] = {
    "chromium-headless-shell": (
        "/usr/lib/chromium/chromium-headless-shell",
        "/usr/lib/chromium/headless_shell",
        "/usr/lib64/chromium-browser/headless_shell",
    ),
    "chromium": (
        "/usr/lib/chromium/chromium",
        "/usr/lib64/chromium/chromium",
    ),
    "chromium-browser": (
        "/usr/lib/chromium/chromium",
        "/usr/lib/chromium-browser/chromium-browser",
        "/usr/lib64/chromium-browser/chromium-browser",
    ),
    "google-chrome": ("/opt/google/chrome/chrome",),
    "google-chrome-stable": ("/opt/google/chrome/chrome",),
}
SCRIPT_FOLDERS = frozenset({"/usr/bin", "/bin"})  # where packages, not people, put scripts

MAC_PLACES = (
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
)
WINDOWS_PLACES = (
    r"Chromium\Application\chrome.exe",
    r"Google\Chrome\Application\chrome.exe",
)
HEAD = 4096  # bytes; enough of a script to tell a snap's stub


class Found(msgspec.Struct, frozen=True):
    """A program that can be started."""

    path: str
    kind: Kind
    tried: tuple[str, ...] = ()  # what was looked at before it, in order


def find_chromium(
    configured: str,
    *,
    platform: str = sys.platform,
    environ: Mapping[str, str] | None = None,
    look: Look | None = None,
) -> Found:
    """Return the Chromium to run.

    Args:
        configured: A path or a program's name; empty: look in the usual places.
        platform: As ``sys.platform`` says it.
        environ: Environment variables; the process's own if None.
        look: Says what is at a path; the file system's answer if None.

    Raises:
        BrowserNotFoundError: Nothing usable; ``tried`` names what was looked at.
    """
    environ = os.environ if environ is None else environ
    look = look_at if look is None else look
    if configured:
        return _configured(configured, environ, look)
    return _usual(_places(platform, environ, look), look)


def look_at(path: str) -> Sight:
    """Return what is at ``path``, following symbolic links."""
    if not os.path.isfile(path):
        return "missing"
    if not os.access(path, os.X_OK):
        return "not executable"
    if os.path.basename(os.path.realpath(path)) == "snap":  # /snap/bin/* are links to it
        return "snap"
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return "program"  # executable but unreadable, as some hardened machines have it
    if not head.startswith(b"#!"):
        return "program"
    return "snap" if b"snap" in head else "script"


def kind_of(path: str) -> Kind:
    """Return which kind of program ``path`` is, judged by its name."""
    name = _basename(path).lower().replace("_", "-")
    if "headless-shell" in name:
        return "headless-shell"
    return "chromium" if "chromium" in name else "chrome"


def _configured(configured: str, environ: Mapping[str, str], look: Look) -> Found:
    named = os.path.expanduser(configured)
    bare = "/" not in named and "\\" not in named
    folders = dict.fromkeys([*_path_folders(environ), *USUAL_FOLDERS])
    paths = [f"{folder}/{named}" for folder in folders] if bare else [named]
    problems = []
    for path in paths:
        sight = look(path)
        if sight not in ("missing", "not executable"):
            target = _behind(path, sight, look)
            return Found(target, kind_of(target), tuple(paths[: paths.index(path)]))
        problems.append(f"{path} ({sight})")
    raise BrowserNotFoundError(
        f"CHROMIUM_PATH={configured} cannot be used: {', '.join(problems)}",
        tuple(paths),
        hint=_hint_for(problems),
    )


def _usual(places: Sequence[str], look: Look) -> Found:
    tried: list[str] = []
    problems: list[str] = []
    for place in places:
        sight = look(place)
        target = _behind(place, sight, look)
        # A snap sees another /tmp than we do, and Ubuntu's stub for it only advertises it.
        if sight in ("program", "script") or target != place:
            return Found(target, kind_of(target), tuple(tried))
        tried.append(place)
        problems.append(f"{place} ({sight})")
    raise BrowserNotFoundError(
        f"no Chromium was found; looked at {', '.join(problems)} and along PATH",
        tuple(tried),
        hint=_hint_for(problems),
    )


def _behind(path: str, sight: Sight, look: Look) -> str:
    """Return the program that the package's script at ``path`` starts, or ``path`` itself."""
    if sight not in ("script", "snap") or os.path.dirname(path) not in SCRIPT_FOLDERS:
        return path
    for program in BEHIND.get(_basename(path), ()):
        if look(program) == "program":
            return program
    return path


def _places(platform: str, environ: Mapping[str, str], look: Look) -> list[str]:
    if platform == "darwin":
        folders = ("/Applications", environ.get("HOME", "") + "/Applications")
        apps = [f"{folder}/{place}" for place in MAC_PLACES for folder in folders]
        return [*apps, *_by_name(environ, look)]
    if platform == "win32":
        variables = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
        roots = [environ[name] for name in variables if environ.get(name)]
        roots = roots or [r"C:\Program Files", r"C:\Program Files (x86)"]
        return [rf"{root}\{place}" for place in WINDOWS_PLACES for root in roots]
    return _by_name(environ, look)


def _by_name(environ: Mapping[str, str], look: Look) -> list[str]:
    places = []
    for name in NAMES:
        places += [f"{folder}/{name}" for folder in USUAL_FOLDERS]
        if name == "chromium-headless-shell":
            # Fedora's headless shell has no script in a folder of programs.
            places += BEHIND[name]
        # Only what exists: a PATH may have dozens of folders, and nobody reads such a list.
        elsewhere = [f"{folder}/{name}" for folder in _path_folders(environ)]
        places += [place for place in elsewhere if look(place) != "missing"]
    return list(dict.fromkeys(places))


def _path_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the absolute folders of PATH; a relative one would run what a download left."""
    entries = environ.get("PATH", "").split(os.pathsep)
    return [entry.rstrip("/") for entry in entries if entry.startswith("/")]


def _basename(path: str) -> str:
    return PurePath(path.replace("\\", "/")).name


def _hint_for(problems: Sequence[str]) -> str:
    if any("not executable" in problem for problem in problems):
        return "Make the file executable (chmod +x), or set CHROMIUM_PATH to another one."
    if any("(snap)" in problem for problem in problems):
        return (
            "A snap's Chromium is only used when CHROMIUM_PATH names it: it sees another /tmp. "
            "Run `vfa browser install` for one that is not a snap."
        )
    return "Run `vfa browser install`, or set CHROMIUM_PATH to a Chromium or Chrome."
