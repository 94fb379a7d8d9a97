"""Downloads: what began, how far it got, and under which name it may be kept.

Pure state, fed by whoever hears the browser; names come from servers and are not trusted.

Source: CDP ``Browser.downloadWillBegin``, ``Browser.downloadProgress``.
"""

from __future__ import annotations

import mimetypes
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.policy.paths import BIDIRECTIONAL, CONTROL, DEVICES
from vfa.policy.redact import redact_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

State = Literal["in_progress", "completed", "cancelled", "too_large", "failed"]

REMEMBERED = 200  # downloads; the oldest finished ones are forgotten
MAX_NAME = 180  # bytes; room for a number, and for the name of the file in the making
MAX_EXTENSION = 20  # bytes; longer ones are part of the name
MAX_URL = 500  # characters of an address that are kept: blob and data URLs have no end
NAMELESS = "download"
FORBIDDEN = re.compile(r'[<>:"|?*\\/]')  # on one system or another


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """One download."""

    id: int
    guid: str  # Chromium's name for it, and of its file
    tab: int
    url: str  # without secrets
    name: str  # as suggested by the server, made safe
    state: State = "in_progress"
    received: int = 0  # bytes
    total: int | None = None  # bytes; None: the server does not say
    mime_type: str = ""  # by the name's extension
    path: str = ""  # where it is kept, once it is completed
    sha256: str = ""
    reason: str = ""  # why it failed

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state != "in_progress"


class DownloadBook:
    """The downloads of an engine, oldest first; ids are never used again."""

    def __init__(self) -> None:
        self._downloads: dict[int, Download] = {}
        self._by_guid: dict[str, int] = {}
        self._last = 0
        self._bell = trio.Event()

    def __iter__(self) -> Iterator[Download]:
        return iter(tuple(self._downloads.values()))

    @property
    def newest(self) -> Download | None:
        """The download that began last."""
        return self._downloads.get(self._last)

    def get(self, id_: int) -> Download | None:
        """Return a download by its id."""
        return self._downloads.get(id_)

    def by_guid(self, guid: str) -> Download | None:
        """Return a download by Chromium's name for it."""
        return self._downloads.get(self._by_guid.get(guid, 0))

    def begin(self, guid: str, *, tab: int, url: str, suggested: str) -> Download:
        """Enter a download that begins."""
        self._last += 1
        name = safe_name(suggested)
        begun = Download(
            id=self._last,
            guid=guid,
            tab=tab,
            url=redact_url(url)[:MAX_URL],
            name=name,
            mime_type=mimetypes.guess_type(name)[0] or "",
        )
        self._downloads[begun.id] = begun
        self._by_guid[guid] = begun.id
        self._forget_old_ones()
        self._ring()
        return begun

    def change(self, id_: int, **changes: Any) -> None:
        """Note changes of a download that has not ended; one that has stays as it is."""
        download = self._downloads.get(id_)
        if download is not None and not download.ended:
            self._downloads[id_] = msgspec.structs.replace(download, **changes)
            self._ring()

    def fail_all(self, reason: str) -> None:
        """Note that whatever was in progress will not be completed."""
        for download in self:
            self.change(download.id, state="failed", reason=reason)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return once ``condition``, a function of this state, holds."""
        while not condition():
            await self._bell.wait()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = trio.Event()

    def _forget_old_ones(self) -> None:
        for download in self:
            if len(self._downloads) <= REMEMBERED:
                return
            if download.ended:
                del self._downloads[download.id]
                del self._by_guid[download.guid]


def safe_name(suggested: str) -> str:
    """Return a file name that every system can have, from one that a server suggests.

    One part without folders, shown as it is read, neither hidden nor a device, short enough
    to get a number; "download" if nothing is left.
    """
    last = re.split(r"[/\\]", suggested.rstrip("/\\"))[-1]
    shown = "".join(c for c in last if not _is_hidden(c))
    name = FORBIDDEN.sub("_", unicodedata.normalize("NFC", shown)).strip(" .")
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension.encode()) > MAX_EXTENSION or not stem:
        stem, extension = name, ""
    ending = f".{extension}" if extension else ""
    name = _cut(stem, MAX_NAME - len(ending.encode())).rstrip(" .") + ending
    name = name.strip(" .") or NAMELESS
    return f"_{name}" if DEVICES.fullmatch(name) else name


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in CONTROL or character in BIDIRECTIONAL


def _cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode("utf-8", "ignore")
