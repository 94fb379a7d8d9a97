"""What happened to a tab beside what was asked for: the next answer about it tells.

Dialogs, tabs that its page opened, downloads that it began. Filled by the actor of the tab
and by those around it, emptied by whoever answers a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from vfa.page.dialogs import Opening
    from vfa.page.downloads import Download, DownloadBook
    from vfa.page.page import Page
    from vfa.page.records import Dialog

MAX_NEWS = 50  # of a kind that are kept until somebody asks


class Opened(msgspec.Struct, frozen=True):
    """A tab that a page opened."""

    tab: int
    url: str


class News(msgspec.Struct, frozen=True):
    """What there is to tell of one tab."""

    dialogs: tuple[Dialog, ...] = ()  # that were answered
    dialog: Opening | None = None  # that is open
    opened: tuple[Opened, ...] = ()
    refused: int = 0  # tabs that a page wanted to open beyond the limit
    downloads: tuple[Download, ...] = ()


class Popup:
    """A tab that a page opened, while nobody was told of it yet."""

    def __init__(self, tab: int, url: str, page: Page) -> None:
        self.tab = tab
        self._url = url
        self._page = page

    def describe(self) -> Opened:
        """Say where it is, or where it was told to go as long as nothing has arrived."""
        documents = self._page.documents
        return Opened(self.tab, documents.url if documents.commits else self._url)


class Inbox:
    """The news of one tab, until they are taken."""

    def __init__(self, downloads: DownloadBook) -> None:
        self._book = downloads
        self._dialogs: list[Dialog] = []
        self._popups: list[Popup] = []
        self._refused = 0
        self._downloads: list[int] = []

    def add_dialogs(self, dialogs: tuple[Dialog, ...]) -> None:
        """Take dialogs that were answered."""
        self._dialogs += dialogs[: MAX_NEWS - len(self._dialogs)]

    def add_popup(self, popup: Popup) -> None:
        """Take a tab that the page opened."""
        if len(self._popups) < MAX_NEWS:
            self._popups.append(popup)

    def add_refused(self) -> None:
        """Count a tab that the page was not allowed to open."""
        self._refused += 1

    def add_download(self, download: Download) -> None:
        """Take a download that the page began."""
        if len(self._downloads) < MAX_NEWS:
            self._downloads.append(download.id)

    def take(self, page: Page | None) -> News:
        """Return the news of a tab, ``page`` being what it shows, and forget them."""
        if page is not None:
            self.add_dialogs(page.take_dialogs())
        known = (self._book.get(id_) for id_ in self._downloads)
        news = News(
            dialogs=tuple(self._dialogs),
            dialog=None if page is None else page.dialogs.held,
            opened=tuple(popup.describe() for popup in self._popups),
            refused=self._refused,
            downloads=tuple(download for download in known if download is not None),
        )
        self._dialogs, self._popups, self._downloads, self._refused = [], [], [], 0
        return news
