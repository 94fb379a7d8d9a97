"""Which document a tab shows, and how far its loading is: pure state fed by CDP events.

Owns no connection: ``Page`` feeds events in and waiting tasks look at the state. The state
answers "where are we" without asking a renderer, which may be busy or wedged.

Source: CDP ``Page.frameNavigated``, ``Page.navigatedWithinDocument``, ``Page.lifecycleEvent``,
``Page.frameStartedNavigating``, ``Page.frameScheduledNavigation``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.cdp.dialogue import Event

REMEMBERED = 16  # loaders whose milestones are kept; a tab has one that matters and few before
SOON = 1.0  # seconds; a redirect scheduled for later than this is the page's own business


class _Frame(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    loader_id: str = ""
    url: str = ""
    url_fragment: str = ""
    parent_id: str | None = None
    unreachable_url: str = ""


class _FrameNavigated(msgspec.Struct, frozen=True):
    frame: _Frame


class _WithinDocument(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    url: str


class _Lifecycle(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    loader_id: str
    name: str


class _Started(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    loader_id: str = ""
    url: str = ""
    navigation_type: str = ""


class _Scheduled(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    delay: float = 0.0
    url: str = ""


class _OfFrame(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str


class Documents:
    """The main frame's documents, past and current.

    Args:
        main_frame: Id of the top frame; CDP uses the target's id for it.
    """

    def __init__(self, main_frame: str) -> None:
        self.main_frame = main_frame
        self.url = "about:blank"
        self.loader_id = ""
        self.unreachable_url = ""  # what an error page stands in for
        self.commits = 0  # documents so far; tells an old one from its successor
        self.same_document = 0  # navigations within a document so far
        self.starting = ""  # loader of a navigation that has started and not committed
        self.starts = 0  # navigations to other documents that have started so far
        self.expected = False  # a page opened this tab for a document that has not come yet
        self.scheduled = False  # a client-side redirect is due within a second
        self._milestones: dict[str, set[str]] = {}
        self._bell = trio.Event()
        self._readers: dict[str, Callable[[Event], None]] = {
            "Page.frameNavigated": self._frame_navigated,
            "Page.navigatedWithinDocument": self._within_document,
            "Page.lifecycleEvent": self._lifecycle,
            "Page.frameStartedNavigating": self._started,
            "Page.frameScheduledNavigation": self._scheduled,
            "Page.frameClearedScheduledNavigation": self._cleared,
            "Page.frameStoppedLoading": self._stopped,
        }

    @property
    def on_the_way(self) -> bool:
        """Whether a document has been asked for and is not there yet."""
        return bool(self.starting) or self.expected

    @property
    def ready_state(self) -> str:
        """``document.readyState`` as far as events tell."""
        reached = self._milestones.get(self.loader_id, set())
        if "load" in reached:
            return "complete"
        return "interactive" if "DOMContentLoaded" in reached else "loading"

    def reached(self, loader_id: str, milestone: str) -> bool:
        """Say whether a document got to ``milestone`` ("DOMContentLoaded", "load", …)."""
        return milestone in self._milestones.get(loader_id, ())

    def adopt(self, url: str, loader_id: str, *, complete: bool) -> None:
        """Start from a document that was there before we listened."""
        self.url, self.loader_id = url, loader_id
        if complete:
            self._milestones[loader_id] = {"DOMContentLoaded", "load"}

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return once ``condition``, a function of this state, holds."""
        while not condition():
            await self._bell.wait()

    def wake(self) -> None:
        """Let every waiting task look again."""
        self._bell.set()
        self._bell = trio.Event()

    def hear(self, event: Event) -> None:
        """Take one event of the page's session."""
        reader = self._readers.get(event.method)
        if reader is not None:
            reader(event)
            self.wake()

    def _frame_navigated(self, event: Event) -> None:
        frame = msgspec.json.decode(event.params, type=_FrameNavigated).frame
        if frame.parent_id is not None:
            return
        self.main_frame = frame.id
        self.url = frame.url + frame.url_fragment
        self.loader_id = frame.loader_id
        self.unreachable_url = frame.unreachable_url
        self.commits += 1
        self.expected = self.expected and self.url == "about:blank"
        self.scheduled = False
        if self.starting in {frame.loader_id, ""}:
            self.starting = ""
        self._milestones.setdefault(frame.loader_id, set())
        while len(self._milestones) > REMEMBERED:
            del self._milestones[next(iter(self._milestones))]

    def _within_document(self, event: Event) -> None:
        moved = msgspec.json.decode(event.params, type=_WithinDocument)
        if moved.frame_id == self.main_frame:
            self.url = moved.url
            self.same_document += 1

    def _lifecycle(self, event: Event) -> None:
        reached = msgspec.json.decode(event.params, type=_Lifecycle)
        if reached.frame_id == self.main_frame:
            self._milestones.setdefault(reached.loader_id, set()).add(reached.name)

    def _started(self, event: Event) -> None:
        started = msgspec.json.decode(event.params, type=_Started)
        if (
            started.frame_id == self.main_frame
            and "samedocument" not in started.navigation_type.lower()
        ):
            self.starting = started.loader_id
            self.starts += 1

    def _scheduled(self, event: Event) -> None:
        due = msgspec.json.decode(event.params, type=_Scheduled)
        if due.frame_id == self.main_frame and due.delay <= SOON:
            self.scheduled = True

    def _cleared(self, event: Event) -> None:
        if msgspec.json.decode(event.params, type=_OfFrame).frame_id == self.main_frame:
            self.scheduled = False

    def _stopped(self, event: Event) -> None:
        if msgspec.json.decode(event.params, type=_OfFrame).frame_id == self.main_frame:
            self.starting = ""
            self.expected = False
