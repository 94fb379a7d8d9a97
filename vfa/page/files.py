"""Giving files to a page: to a file input, or to the chooser that a button opens.

Which files may leave this machine is decided before, and once: ``allowed_files`` follows every
link first, so that the path which Chromium is told is the file that was checked. Chromium tells
the page of them as it does when a person has chosen.

Source: CDP ``DOM.setFileInputFiles``, ``Page.setInterceptFileChooserDialog``.
"""

from __future__ import annotations

import mimetypes
import os
import stat
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import (
    CdpError,
    ElementNotClickableError,
    ElementStaleError,
    InvalidArgsError,
    PageError,
    UnsafePathError,
)
from vfa.page.locating import Element, Target, ref_of, resolve, time_left
from vfa.page.pointer import Click, click
from vfa.page.reaching import Seen, reach
from vfa.page.settling import Effects, after, before

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from vfa.cdp.dialogue import Event
    from vfa.page.frames import Frame
    from vfa.page.page import Handle, Page

MAX_BYTES = 1 << 30  # of all files of one call
MAX_ENTRIES = 10_000  # of a folder
CHOOSER = 3.0  # seconds for a chooser to open after the click on what opens it
GIVEN = 3_000.0  # ms for the input to tell its page; a folder is read first
SHOWN = 200  # characters of a path that an error repeats


# --- which files --------------------------------------------------------------------------


class Upload(msgspec.Struct, frozen=True):
    """A file, or a folder of them, that was checked."""

    path: Path  # absolute, without links
    size: int  # bytes; of a folder, of all that is in it
    folder: bool = False


def allowed_files(paths: Sequence[str], roots: Sequence[Path]) -> tuple[Upload, ...]:
    """Return what ``paths`` name, if all of it lies below one of ``roots``. Blocks.

    Args:
        paths: Absolute, or relative to the first root that has them.
        roots: Folders; links to them are followed.

    Raises:
        UnsafePathError: One of them leads elsewhere.
        InvalidArgsError: One is not there, cannot be read, or all are too large.
    """
    real_roots = [Path(os.path.realpath(root)) for root in roots]
    uploads = tuple(_allowed(path, real_roots) for path in paths)
    size = sum(upload.size for upload in uploads)
    if size > MAX_BYTES:
        raise InvalidArgsError(
            f"The files are too large: {size:,} bytes, and {MAX_BYTES:,} may be uploaded"
        )
    return uploads


def _allowed(path: str, roots: Sequence[Path]) -> Upload:
    shown = repr(path[:SHOWN])
    if "\x00" in path or not path:
        raise InvalidArgsError(f"{shown} is no path")
    meant = [Path(os.path.realpath(root / path)) for root in roots]
    inside = [real for real in meant if any(real.is_relative_to(root) for root in roots)]
    if not inside:  # whether there is such a file is not said either
        raise UnsafePathError(
            f"{shown} is outside the folders that files may be uploaded from",
            hint=f"Put it below {' or '.join(map(str, roots))}; VFA_UPLOAD_ROOTS sets them.",
        )
    real = next((real for real in inside if real.exists()), inside[0])
    try:
        found = real.stat()
        if stat.S_ISDIR(found.st_mode):
            return Upload(real, _size_of_folder(real, shown), folder=True)
    except OSError as error:
        raise InvalidArgsError(f"{shown} cannot be uploaded: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidArgsError(f"{shown} cannot be uploaded: it is not a file")
    if not os.access(real, os.R_OK):
        raise InvalidArgsError(f"{shown} cannot be uploaded: it may not be read")
    return Upload(real, found.st_size)


def _size_of_folder(folder: Path, shown: str) -> int:
    size = entries = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            entries += 1
            path = Path(place, name)
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder):
                raise UnsafePathError(
                    f"{shown} has a link in it that leads out of it: {name!r}"
                )
            size += path.stat().st_size if name in files else 0
        if entries > MAX_ENTRIES:
            raise InvalidArgsError(f"{shown} has more than {MAX_ENTRIES:,} files in it")
    return size


def is_accepted(path: Path, accept: str) -> bool:
    """Say whether an input that says ``accept`` offers such a file.

    Source: HTML, the ``accept`` attribute.
    """
    words = [word.strip().lower() for word in accept.split(",") if word.strip()]
    kind = mimetypes.guess_type(path.name)[0] or ""
    return not words or any(
        path.name.lower().endswith(word)
        if word.startswith(".")
        else kind.startswith(word[:-1])
        if word.endswith("/*")
        else kind == word
        for word in words
    )


# --- giving them --------------------------------------------------------------------------


class Uploaded(msgspec.Struct, frozen=True):
    """What an input was given."""

    ref: str
    names: tuple[str, ...]  # as the page sees them
    matches: int = 1
    through: str = "input"  # or "chooser": the one that the element opened
    note: str = ""
    effects: Effects = Effects()


class _FileTarget(Seen, frozen=True, kw_only=True):
    kind: str = ""


class _Input(msgspec.Struct, frozen=True):
    multiple: bool = False
    accept: str = ""
    directory: bool = False
    disabled: bool = False


class _Given(msgspec.Struct, frozen=True):
    told: bool
    names: tuple[str, ...] = ()


class _Opened(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    mode: str = ""
    backend_node_id: int = 0


async def upload(page: Page, target: Target, uploads: Sequence[Upload]) -> Uploaded:
    """Give files to a file input, or to the chooser that an element opens when clicked.

    Raises:
        ElementNotFoundError: Nothing matches.
        ElementStaleError: The element, or its input, is gone.
        ElementNotClickableError: The input is disabled, or the element cannot be clicked.
        InvalidArgsError: The input takes other things: one file, or a folder.
        PageError: No chooser opened, or the page was not told of the files.
    """
    element, seen = await reach(page, target, "fileTarget", result=_FileTarget)
    ref = ref_of(page, element)
    start = before(page)
    if seen.kind == "input":
        handle = await page.kit_object("element", element.number, frame=element.frame)
        if handle is None:
            raise ElementStaleError(f"The input {target} is gone")
        names, note = await _give(page, element.frame, handle, uploads)
        through = "input"
    else:
        names, note = await _give_to_chooser(page, element, uploads)
        through = "chooser"
    await page.settle()
    return Uploaded(ref, names, seen.matches, through, note, await after(page, start))


async def _give(
    page: Page, frame: Frame, handle: Handle, uploads: Sequence[Upload]
) -> tuple[tuple[str, ...], str]:
    """Set the files of an input; return what its page was told, and what is odd."""
    takes = await page.kit("fileInput", handle, result=_Input, frame=frame)
    _check_fit(takes, uploads)
    page.acted = True
    await frame.session.call(
        "DOM.setFileInputFiles",
        {"files": [str(upload.path) for upload in uploads], "objectId": handle.object_id},
    )
    try:
        budget = min(GIVEN, time_left())
        given = await page.kit("filesGiven", handle, budget, result=_Given, frame=frame)
    except CdpError:  # its document left, as soon as it had them
        return tuple(upload.path.name for upload in uploads), ""
    if not given.told:
        raise PageError("The input did not tell its page of the files")
    odd = [up.path.name for up in uploads if not is_accepted(up.path, takes.accept)]
    note = ""
    if odd and not takes.directory:
        note = f"The input asks for {takes.accept}; not that: {', '.join(odd)[:SHOWN]}."
    return given.names, note


def _check_fit(takes: _Input, uploads: Sequence[Upload]) -> None:
    if takes.disabled:
        raise ElementNotClickableError("The file input is disabled")
    if len(uploads) > 1 and not takes.multiple:
        raise InvalidArgsError(f"The input takes one file, not {len(uploads)}")
    if takes.directory and (len(uploads) != 1 or not uploads[0].folder):
        raise InvalidArgsError("The input takes a folder, and only one")
    if not takes.directory and any(upload.folder for upload in uploads):
        raise InvalidArgsError("The input takes files, not folders")


async def _give_to_chooser(
    page: Page, element: Element, uploads: Sequence[Upload]
) -> tuple[tuple[str, ...], str]:
    frame = element.frame
    async with _intercepted(page, frame) as choosers:
        await click(page, Target(ref=ref_of(page, element)), Click())
        opened: _Opened | None = None
        with trio.move_on_after(min(CHOOSER, time_left() / 1000)):
            opened = await choosers.receive()
        if opened is None:
            raise PageError(
                "The element was clicked, and no file chooser opened",
                hint="Name the file input itself, hidden or not, or what opens its chooser.",
            )
        if not opened.backend_node_id:
            raise PageError("The page asked for files in a way that has no input")
        asked_in = page.frames.by_id(opened.frame_id) or frame
        await page.kit("viewport", result=list, frame=asked_in)  # so that our world is there
        handle = await resolve(asked_in, opened.backend_node_id)
        return await _give(page, asked_in, handle, uploads)


@asynccontextmanager
async def _intercepted(
    page: Page, frame: Frame
) -> AsyncIterator[trio.MemoryReceiveChannel[_Opened]]:
    """Have choosers of a frame's session told to us instead of shown."""
    send, receive = trio.open_memory_channel[_Opened](1)

    def hear(event: Event) -> None:
        if event.method == "Page.fileChooserOpened":
            try:
                send.send_nowait(msgspec.json.decode(event.params, type=_Opened))
            except trio.WouldBlock:
                return  # the first one counts

    intercept = "Page.setInterceptFileChooserDialog"
    stop = frame.session.listen(hear)
    with send, receive:
        try:
            await frame.session.call(intercept, {"enabled": True})
            yield receive
        finally:
            stop()
            frame.session.post(intercept, {"enabled": False})
