"""File names that clients choose, kept below the output directory.

Owns the rules for a name and the way a file is written: into a folder held open, through no
symbolic link, under another name first. So neither a name nor a link that somebody puts
there, before or meanwhile, leads out of the directory. The directory itself is the user's
choice, and may be a link.

``resolve_output``, ``screenshot_name`` and ``frame_names`` are pure; ``write_output`` and
``OutputFolder`` block, and are run in a thread.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import unicodedata
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

import msgspec

from vfa.errors import OutputError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

MAX_NAME = 255  # bytes of one part of a path, on every usual file system
MAX_PARTS = 16  # folders deep, the file included
ROOM = 32  # bytes that the temporary name needs besides
MAX_SAME_NAME = 10_000  # files that differ in their number only
CHUNK = 1 << 20  # bytes copied at a time

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting for a writer, should somebody have put a named pipe there.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# Characters that change how the rest of a name is shown: "gpj.exe" for "exe.jpg".
BIDIRECTIONAL = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})  # Unicode categories
DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)

EXTENSIONS = {"jpeg": (".jpg", ".jpeg"), "png": (".png",), "webp": (".webp",)}
PICTURES = frozenset({".jpg", ".jpeg", ".png", ".webp"})


class SafePath(msgspec.Struct, frozen=True):
    """A file below ``root`` by a name that was checked; it need not exist."""

    root: Path  # absolute
    parts: tuple[str, ...]  # folders, then the file

    @property
    def path(self) -> Path:
        """The file's absolute path."""
        return self.root.joinpath(*self.parts)


def resolve_output(root: Path, name: str) -> SafePath:
    """Return the file that ``name`` means below ``root``. Touches nothing.

    Raises:
        UnsafePathError: The name leads out, or is none that every system can have.
    """
    if name.startswith(("/", "\\", "~/")) or re.match(r"[A-Za-z]:", name):
        raise _unsafe(name, "Absolute paths are not allowed")
    given = re.split(r"[/\\]", name)
    if ".." in given:
        raise _unsafe(name, "Path traversal ('..') is not allowed")
    if given[-1] in ("", "."):
        raise _unsafe(name, "The name of a file is missing")
    parts = tuple(part for part in given if part not in ("", "."))
    if len(parts) > MAX_PARTS:
        raise _unsafe(name, f"More than {MAX_PARTS} folders deep")
    for part in parts:
        if problem := _problem(part):
            raise _unsafe(name, problem)
    return SafePath(root.absolute(), parts)


def write_output(root: Path, name: str, data: bytes, *, mode: int = 0o644) -> Path:
    """Write ``data`` to ``name`` below ``root``, all of it or nothing; return its path.

    Folders that are missing are made. A file of that name is replaced. ``mode`` are its
    permissions, as far as the process's umask allows them.

    Raises:
        UnsafePathError: The name leads out, or a link or a folder is in the way.
        OutputError: The file system refuses.
    """
    with OutputFolder(root, [name]) as folder:
        return folder.write(name, data, mode=mode)


def read_output(root: Path, name: str, limit: int) -> bytes:
    """Return what is in the file ``name`` below ``root``, which has ``limit`` bytes at most.

    Raises:
        UnsafePathError: The name leads out, or a link or a folder is in the way.
        OutputError: There is no such file, it is too large, or the file system refuses.
    """
    target = resolve_output(root, name)
    with _translated(name, target, "read"):
        folder = _open_folder(target, make=False)
        try:
            handle = os.open(target.parts[-1], READ_FLAGS, dir_fd=folder)
        finally:
            os.close(folder)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
            data = file.read(limit + 1)
    if len(data) > limit:
        raise OutputError(f"{target.path} is too large: more than {limit} bytes")
    return data


class OutputFolder:
    """The folder of several files, held open from the check of their names to the last one.

    What is moved, or linked to, in its place meanwhile changes nothing: all files go to the
    folder that was opened.

    Args:
        root: The output directory.
        names: Of all files that will be written, in one folder below it.

    Raises:
        UnsafePathError: A name leads out, or a link or a folder is in the way of a file.
        OutputError: The file system refuses.
    """

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self._targets = {name: resolve_output(root, name) for name in names}
        first = self._targets[names[0]]
        assert all(each.parts[:-1] == first.parts[:-1] for each in self._targets.values())
        self._folder: int | None = None
        try:
            with _translated(names[0], first):
                first.root.mkdir(parents=True, exist_ok=True)
                self._folder = _open_folder(first)
            for name, target in self._targets.items():
                with _translated(name, target):
                    _check_replaceable(self._folder, target.parts[-1])
        except BaseException:
            self.close()
            raise

    def write(self, name: str, data: bytes, *, mode: int = 0o644) -> Path:
        """Write ``data`` to ``name``, all of it or nothing; return its path.

        Raises:
            UnsafePathError: A link or a folder has come to be in the way.
            OutputError: The file system refuses.
        """
        assert self._folder is not None, "it was closed"
        target = self._targets[name]
        with _translated(name, target):
            _replace(self._folder, target.parts[-1], data, mode)
        return target.path

    def close(self) -> None:
        """Let go of the folder. Nothing happens the second time."""
        folder, self._folder = self._folder, None
        if folder is not None:
            os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Arrival(msgspec.Struct, frozen=True):
    """A file that was taken in."""

    path: Path
    size: int  # bytes
    sha256: str  # hexadecimal


def take_in(root: Path, name: str, source: Path) -> Arrival:
    """Copy ``source`` to ``name`` below ``root``, under another number if that is taken.

    Raises:
        UnsafePathError: The name leads out, or a link or a file is in the way of a folder.
        OutputError: The file system refuses.
    """
    target = resolve_output(root, name)
    with _translated(name, target):
        target.root.mkdir(parents=True, exist_ok=True)
        folder = _open_folder(target)
    temporary = f".{secrets.token_hex(8)}.part"
    try:
        with _translated(name, target):
            size, sha256 = _copy(source, folder, temporary)
            free = _reserve(folder, target.parts[-1])
            os.rename(temporary, free, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(folder)
    return Arrival(target.path.with_name(free), size, sha256)


def frame_names(prefix: str, image_format: str, count: int) -> list[str]:
    """Return the names of ``count`` frames: "frame-01.jpg" and so on."""
    extension = EXTENSIONS[image_format][0]
    return [f"{prefix}-{number:02d}{extension}" for number in range(1, count + 1)]


def screenshot_name(filename: str | None, image_format: str, now: datetime) -> str:
    """Return the name of a picture's file, with the extension of its format.

    Args:
        filename: What the client asked for, if anything. A fitting extension stays, that of
            another kind of picture is replaced, and any other is part of the name.
        image_format: "jpeg", "png" or "webp".
        now: The moment in UTC, for a file without a name.
    """
    if not filename:
        moment = now.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        return f"screenshot-{re.sub('[:.]', '-', moment)}.{image_format}"
    stem, extension = os.path.splitext(filename)
    fitting = EXTENSIONS[image_format]
    if extension.lower() in fitting or filename.endswith(("/", "\\")):
        return filename  # a name that ends in a slash is refused when it is resolved
    return (stem if extension.lower() in PICTURES else filename) + fitting[0]


def _unsafe(name: str, problem: str) -> UnsafePathError:
    shown = name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…"
    return UnsafePathError(
        f"{problem}: {shown!r}",
        hint="Give a file name, or a path relative to OUTPUT_DIR, such as shots/home.png.",
    )


def _problem(part: str) -> str:
    if any(unicodedata.category(c) in CONTROL or c in BIDIRECTIONAL for c in part):
        return "Control characters are not allowed"
    if len(part.encode()) > MAX_NAME - ROOM:
        return f"A name may have {MAX_NAME - ROOM} bytes"
    if DEVICES.fullmatch(part):
        return "The name is a device's on Windows"
    return ""


@contextmanager
def _translated(name: str, target: SafePath, done: str = "written") -> Iterator[None]:
    """Turn what the file system says about ``target`` into our own errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
            raise _unsafe(name, "A link, or what is no file, is in the way") from error
        raise OutputError(
            f"{target.path} cannot be {done}: {error.strerror}",
            hint="Check OUTPUT_DIR, its permissions and the space left.",
        ) from error


def _open_folder(target: SafePath, *, make: bool = True) -> int:
    """Open the folder of ``target``, step by step from its root, and make what is missing."""
    folder = os.open(target.root, FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for part in target.parts[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=folder)
            below = os.open(part, FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = below
    except BaseException:
        os.close(folder)
        raise
    return folder


def _check_replaceable(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _replace(folder: int, name: str, data: bytes, mode: int) -> None:
    _check_replaceable(folder, name)
    # A link that is put there after this look is replaced by the rename, not followed.
    temporary = f".{name}.{secrets.token_hex(8)}.part"
    handle = os.open(temporary, FILE_FLAGS, mode, dir_fd=folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _copy(source: Path, folder: int, name: str) -> tuple[int, str]:
    """Copy a file into an open folder; return its size in bytes and its SHA-256."""
    size, digest = 0, hashlib.sha256()
    handle = os.open(name, FILE_FLAGS, 0o644, dir_fd=folder)
    with open(handle, "wb") as copy, open(source, "rb") as original:
        while data := original.read(CHUNK):
            copy.write(data)
            digest.update(data)
            size += len(data)
    return size, digest.hexdigest()


def _reserve(folder: int, name: str) -> str:
    """Make an empty file of that name, or of the first numbered one that is free."""
    stem, extension = os.path.splitext(name)
    for number in range(MAX_SAME_NAME):
        free = f"{stem} ({number}){extension}" if number else name
        with suppress(FileExistsError):
            os.close(os.open(free, FILE_FLAGS, 0o644, dir_fd=folder))
            return free
    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
