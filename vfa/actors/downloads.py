"""Receiving downloads: from Chromium's hands, through a private folder, to the user's.

Chromium writes below the profile, under names of its own; what is complete is copied to
``OUTPUT_DIR/downloads`` under a name that was made safe, and what is too large is cancelled.
Of a browser that is not ours nothing is changed: its downloads go where its owner wants.

Source: CDP ``Browser.setDownloadBehavior``, ``Browser.downloadWillBegin``.
"""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import VfaError
from vfa.policy.paths import take_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vfa.actors.link import Link
    from vfa.actors.page import SessionTab
    from vfa.cdp.dialogue import Event
    from vfa.config import Config
    from vfa.page.downloads import Download, DownloadBook

logger = logging.getLogger(__name__)

FOLDER = "downloads"  # below the profile, and below OUTPUT_DIR


class _Begun(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    guid: str
    url: str
    suggested_filename: str = ""


class _Progress(msgspec.Struct, frozen=True, rename="camel"):
    guid: str
    total_bytes: float = 0
    received_bytes: float = 0
    state: str = "inProgress"  # inProgress, completed, canceled


class Receiver:
    """Takes in the downloads of session tabs.

    Args:
        book: Where they are entered.
        config: The settings.
        concerned: Returns the tab that has a frame, and others that are to be told.
        background: Files are copied there.
    """

    def __init__(
        self,
        book: DownloadBook,
        config: Config,
        concerned: Callable[[str], tuple[SessionTab, ...]],
        background: trio.Nursery,
    ) -> None:
        self._book = book
        self._config = config
        self._concerned = concerned
        self._background = background
        self._stop_listening: list[Callable[[], None]] = []

    def listen_to(self, link: Link) -> None:
        """Take in the downloads of a browser; to be called before a page runs in it."""
        profile = link.launched.profile
        if profile is None:
            return
        folder = profile / FOLDER
        shutil.rmtree(folder, ignore_errors=True)  # parts that a crash left
        folder.mkdir(mode=0o700, exist_ok=True)
        hear = partial(self._hear, link, folder)
        self._stop_listening.append(link.connection.listen(None, hear))
        link.connection.post(
            "Browser.setDownloadBehavior",
            {
                "behavior": "allowAndName",
                "downloadPath": str(folder),
                "eventsEnabled": True,
            },
        )

    def close(self) -> None:
        """Take in nothing any more."""
        while self._stop_listening:
            self._stop_listening.pop()()

    def cancel(self, link: Link, download: Download, state: str = "cancelled") -> None:
        """Stop a download that is in progress."""
        self._book.change(download.id, state=state)
        link.connection.post("Browser.cancelDownload", {"guid": download.guid})

    def _hear(self, link: Link, folder: Path, event: Event) -> None:
        if event.method == "Browser.downloadWillBegin":
            self._begin(msgspec.json.decode(event.params, type=_Begun))
        elif event.method == "Browser.downloadProgress":
            progress = msgspec.json.decode(event.params, type=_Progress)
            download = self._book.by_guid(progress.guid)
            if download is not None and not download.ended:
                self._advance(link, folder, download, progress)

    def _begin(self, begun: _Begun) -> None:
        tabs = self._concerned(begun.frame_id)
        if not tabs:
            return  # of an audit, which is denied them
        download = self._book.begin(
            begun.guid, tab=tabs[0].number, url=begun.url, suggested=begun.suggested_filename
        )
        logger.info("download %d begins", download.id)
        for tab in tabs:
            tab.news.add_download(download)

    def _advance(
        self, link: Link, folder: Path, download: Download, progress: _Progress
    ) -> None:
        received, total = int(progress.received_bytes), int(progress.total_bytes)
        self._book.change(download.id, received=received, total=total or None)
        if max(received, total) > self._config.max_download_bytes:
            self.cancel(link, download, "too_large")
            with suppress(OSError):
                os.unlink(folder / download.guid)
        elif progress.state == "canceled":
            self._book.change(download.id, state="cancelled")
        elif progress.state == "completed":
            self._background.start_soon(self._keep, folder, download)

    async def _keep(self, folder: Path, download: Download) -> None:
        """Move a completed file to where the user looks for it."""
        source = folder / download.guid
        try:
            arrival = await trio.to_thread.run_sync(
                take_in, self._config.output_path, f"{FOLDER}/{download.name}", source
            )
        except VfaError as error:
            logger.warning("download %d is lost: %s", download.id, error.message)
            self._book.change(download.id, state="failed", reason=error.message)
            return
        finally:
            with suppress(OSError):
                os.unlink(source)
        self._book.change(
            download.id,
            state="completed",
            received=arrival.size,
            total=arrival.size,
            path=str(arrival.path),
            sha256=arrival.sha256,
        )
