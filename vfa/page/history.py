"""Back, forward and reload.

Unlike ``Page.navigate``, these commands say nothing about what comes of them: it is known
from events. A document from the back/forward cache comes without a load event of its own; a
move within the document brings no document at all; a download, or an answer without content,
brings nothing.

Source: CDP ``Page.getNavigationHistory``, ``Page.navigateToHistoryEntry``, ``Page.reload``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import CdpError
from vfa.page.navigation import Navigated, arrive, describe, follow_client_redirects

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.page.page import Page

NO_ENTRY = {-1: "There is no earlier page in this tab.", 1: "There is no later page."}
LATE = 0.3  # seconds by which a document from the cache may come after the end of its loading
BETWEEN = "Not attached to an active page"  # CDP, while an error page takes the place of a page
NOTHING_CAME = "Nothing came of it: the page stays as it was."


class Entry(msgspec.Struct, frozen=True):
    """One page of a tab's history. CDP ``Page.NavigationEntry``, in part."""

    id: int
    url: str


class _History(msgspec.Struct, frozen=True, rename="camel"):
    current_index: int
    entries: tuple[Entry, ...]


class Moved(msgspec.Struct, frozen=True):
    """What came of a move through the history."""

    there: Navigated
    moved: bool


class _Marks:
    """Where a tab was before it was sent off, so that a change can be told."""

    def __init__(self, page: Page) -> None:
        self._documents = page.documents
        self._commits = page.documents.commits
        self._moves = page.documents.same_document
        self._starts = page.documents.starts

    @property
    def new_document(self) -> bool:
        return self._documents.commits != self._commits

    @property
    def moved(self) -> bool:
        return self.new_document or self._documents.same_document != self._moves

    def settled(self) -> bool:
        """Say whether it has moved, or has set off and come to nothing."""
        set_off = self._documents.starts != self._starts
        return self.moved or (set_off and not self._documents.starting)


async def step(
    page: Page, steps: int, check: Callable[[str], Awaitable[object]], *, milestone: str
) -> Moved:
    """Go back (-1) or forward (1) and return once that page reached ``milestone``.

    Args:
        page: The tab.
        steps: -1 or 1.
        check: Called with the entry's URL before anything is done; raises what forbids it.
        milestone: "load" or "DOMContentLoaded".

    Raises:
        NavigationFailedError: The document did not arrive.

    On cancellation the load is stopped, so that the tab is usable at once.
    """
    history = await page.session.call("Page.getNavigationHistory", {}, _History)
    index = history.current_index + steps
    if not 0 <= index < len(history.entries):
        there = await describe(page, NO_ENTRY[steps])
        return Moved(there, moved=False)
    entry = history.entries[index]
    await check(entry.url)
    return await _go(page, milestone, "Page.navigateToHistoryEntry", {"entryId": entry.id})


async def reload(page: Page, *, ignore_cache: bool, milestone: str) -> Moved:
    """Load the page anew and return once it reached ``milestone``; otherwise like ``step``."""
    return await _go(page, milestone, "Page.reload", {"ignoreCache": ignore_cache})


async def _go(page: Page, milestone: str, method: str, params: dict[str, object]) -> Moved:
    page.acted = True
    done = False
    marks = _Marks(page)
    try:
        await _send(page, method, params)
        await page.documents.wait_until(marks.settled)
        with trio.move_on_after(LATE):
            await page.documents.wait_until(lambda: marks.moved)
        if marks.new_document:
            await arrive(page, page.documents.loader_id, milestone)
            note = await follow_client_redirects(page, milestone)
        else:
            await page.settle()
            note = "" if marks.moved else NOTHING_CAME
        moved = Moved(await describe(page, note), marks.moved)
        done = True
        return moved
    finally:
        # A crashed tab is being loaded anew; an open dialog is answered, and then it goes on.
        if not done and not page.crashed and page.dialogs.held is None:
            page.session.post("Page.stopLoading")


async def _send(page: Page, method: str, params: dict[str, object]) -> None:
    """Send a command to the page; once more if it met it between two renderers."""
    try:
        await page.session.call(method, params)
    except CdpError as error:
        if BETWEEN not in error.message:
            raise
        await page.settle()
        await page.session.call(method, params)
