"""What follows an action: frames reach the screen, a page may leave for another.

Nothing is slept for. After two animation frames the events say whether the action began a
navigation; only then is it waited for, within a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.errors import CdpError, ScriptError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.page.page import Page

FRAMES_BOUND = 0.5  # seconds for two animation frames; a wedged page shows none
ARRIVAL_BOUND = 5.0  # seconds for a document that an action led to
MARGIN = 0.1  # seconds before the caller's deadline at which that is waited for no longer


class Before(msgspec.Struct, frozen=True):
    """Where the page was before an action."""

    commits: int
    same_document: int
    url: str


class Effects(msgspec.Struct, frozen=True):
    """What an action led to, beyond its target."""

    navigated: str = ""  # the URL that the tab went to
    same_document: bool = False  # it is the same document, under another URL
    loaded: bool = True  # the new document is loaded

    def as_fields(self) -> dict[str, Any]:
        """Return what to add to an answer."""
        if not self.navigated:
            return {}
        told: dict[str, Any] = {"url": self.navigated}
        if self.same_document:
            told["sameDocument"] = True
        elif not self.loaded:
            told["loading"] = True
        return {"navigated": told}


def before(page: Page) -> Before:
    """Note where the page is, for ``after``."""
    documents = page.documents
    return Before(documents.commits, documents.same_document, documents.url)


async def after(page: Page, start: Before) -> Effects:
    """Wait for a navigation that an action has begun; return what came of it.

    The action's own events, and two animation frames, are over by now: a navigation that it
    began has been announced.
    """
    documents = page.documents

    def is_under_way() -> bool:
        return bool(documents.starting or documents.scheduled)

    def is_over() -> bool:
        return not is_under_way() and documents.ready_state == "complete"

    if documents.commits == start.commits and not is_under_way():
        if documents.url != start.url:
            return Effects(documents.url, same_document=True)
        return Effects()
    left = trio.current_effective_deadline() - trio.current_time() - MARGIN
    bound = max(0.0, min(ARRIVAL_BOUND, left))
    with trio.move_on_after(bound) as scope, page.dialogs.ending(scope):
        await documents.wait_until(is_over)
    if documents.commits == start.commits and not is_under_way():
        return Effects()  # a download, or an answer without content
    if documents.commits != start.commits:
        return Effects(documents.url, loaded=is_over())
    return Effects(documents.url, loaded=False)


async def in_frames(page: Page, ask: Callable[[], Awaitable[Any]]) -> Any:
    """Return what an in-page function says after two animation frames; None if it cannot."""
    with trio.move_on_after(FRAMES_BOUND) as scope, page.dialogs.ending(scope):
        try:
            return await ask()
        except (CdpError, ScriptError):  # its document has left
            return None
    return None
