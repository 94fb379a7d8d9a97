"""Writing a picture below ``OUTPUT_DIR``, and nowhere else.

A file name comes from a model, which may have it from a page. It may name sub-folders, never
a place outside: the name is judged as text before anything is started, and the file is then
written by way of directory descriptors that follow no symbolic link, so that nothing which
happens between the two makes a difference. The last step is a rename, which replaces a link
instead of writing through it, and leaves no half of a file.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

from vfa.errors import UnsafePathError

EXTENSIONS = {"jpeg": (".jpg", ".jpeg"), "png": (".png",)}  # the first is the one given
IMAGE_EXTENSIONS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
MAX_PART = 200  # bytes of a name; file systems allow 255, and the temporary one is longer


def screenshot_name(wanted: str, picture_format: str, now: datetime | None = None) -> str:
    """Return the relative path for a screenshot.

    Args:
        wanted: What the caller asked for; empty for a name made of the time.
        picture_format: "jpeg" or "png"; decides the extension.
        now: The time to use.

    Raises:
        UnsafePathError: ``wanted`` names a place outside the output directory.
    """
    if not wanted:
        stamp = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = stamp.replace("+00:00", "Z").replace(":", "-").replace(".", "-")
        return f"screenshot-{stamp}.{picture_format}"
    check_relative(wanted)
    stem, extension = os.path.splitext(wanted)
    allowed = EXTENSIONS[picture_format]
    if extension.lower() in allowed:
        return wanted
    return (stem if extension.lower() in IMAGE_EXTENSIONS else wanted) + allowed[0]


def check_relative(name: str) -> None:
    """Check that ``name`` stays below the directory it is relative to.

    Raises:
        UnsafePathError: It is absolute, climbs out, or cannot be a file's name.
    """
    hint = "Give a file name such as home.png, or one in a sub-folder: run-1/home.png."
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
        raise UnsafePathError("Absolute paths are not allowed", hint=hint)
    parts = name.replace("\\", "/").split("/")
    if ".." in parts:
        raise UnsafePathError("Path traversal (..) is not allowed", hint=hint)
    if not all(part.isprintable() and part.strip(". ") for part in parts):
        raise UnsafePathError("A part of the path is empty or not printable", hint=hint)
    if any(len(part.encode("utf-8", "replace")) > MAX_PART for part in parts):
        raise UnsafePathError(f"A part of the path exceeds {MAX_PART} bytes", hint=hint)


def write_below(root: Path, name: str, data: bytes) -> Path:
    """Write ``data`` to ``name`` below ``root``; return the absolute path.

    Folders are made as needed. Blocking: call it in a thread.

    Raises:
        UnsafePathError: A folder on the way is a symbolic link.
        OSError: It cannot be written.
    """
    *folders, last = name.replace("\\", "/").split("/")
    root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        here = _open_folder(root, None, stack)  # the operator's own choice, link or not
        for folder in folders:
            with suppress(FileExistsError):
                os.mkdir(folder, 0o755, dir_fd=here)
            here = _open_folder(folder, here, stack)
        _replace(here, last, data)
    return root.joinpath(*folders, last)


def _open_folder(path: str | Path, parent: int | None, stack: ExitStack) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if parent is not None:
        flags |= os.O_NOFOLLOW
    try:
        folder = os.open(path, flags, dir_fd=parent)
    except NotADirectoryError:
        raise UnsafePathError(
            f"{path} is a symbolic link or a file, not a folder",
            hint="Choose another sub-folder: links below OUTPUT_DIR are not followed.",
        ) from None
    stack.callback(os.close, folder)
    return folder


def _replace(folder: int, name: str, data: bytes) -> None:
    temporary = f".{name}.{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(temporary, flags, 0o644, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
