"""The frames of a tab: which there are, which session reaches each, and what it is called.

Pure state fed by CDP events, like ``documents``. A frame of another site lives in a process
of its own and is reached through a session of its own (a flat child session that
auto-attach brings); one that navigates may move from one process to another and keep its id.

``Refs`` outlives documents and pages: the numbers in refs ("e12", in a frame "f2e7", in
another tab "t3e7" or "t3f2e7") grow as long as the tab's number means the same tab, so that a
ref is never handed out twice.

Source: CDP ``Page.frameAttached``, ``Page.frameNavigated``, ``Page.frameDetached``,
``Target.attachedToTarget``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.cdp.dialogue import Event
    from vfa.cdp.session import Session

MAX_FRAMES = 500  # that are followed; a page can make any number


class Refs:
    """What names of elements and frames a tab has used up."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix  # of the tab: "" for the first, else "t2" …
        self.last = 0  # the highest element number handed out, in any frame
        self.frames = 0  # frames that were given a number
        self.snapshots = 0  # outlines that were given an id


class Frame:
    """One frame, as long as it is in the page."""

    def __init__(self, id: str, parent: Frame | None, session: Session) -> None:  # noqa: A002
        self.id = id
        self.parent = parent
        self.session = session
        self.number = 0  # "f2" is 2; 0: the main frame, or not named yet
        self.url = ""
        self.world: int | None = None  # our isolated world in its document, once made
        self.equipped = False  # the kit is installed there
        self.gone = False


class _Attached(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    parent_frame_id: str = ""


class _FrameInfo(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    parent_id: str | None = None
    url: str = ""
    url_fragment: str = ""


class _Navigated(msgspec.Struct, frozen=True):
    frame: _FrameInfo


class _Detached(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str
    reason: str = "remove"


class Tree(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Page.FrameTree``, in part."""

    frame: _FrameInfo
    child_frames: tuple[Tree, ...] = ()


class Frames:
    """All frames of a tab, the main one first.

    Args:
        session: The tab's own session.
        main_id: Id of the main frame.
        refs: The tab's names.
    """

    def __init__(self, session: Session, main_id: str, refs: Refs) -> None:
        self.main = Frame(main_id, None, session)
        self.refs = refs
        self._by_id = {main_id: self.main}

    def __iter__(self) -> Iterator[Frame]:
        """Give the frames in the order they came; parents come before children."""
        return iter(tuple(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def by_id(self, frame_id: str) -> Frame | None:
        """Return the frame of that CDP id."""
        return self._by_id.get(frame_id)

    def by_number(self, number: int) -> Frame | None:
        """Return the frame that was named so; 0 is the main one."""
        if number == 0:
            return self.main
        return next((frame for frame in self if frame.number == number), None)

    def name(self, frame: Frame) -> str:
        """Return what refs of elements in ``frame`` begin with, naming it if nobody has."""
        if frame is self.main:
            return self.refs.prefix
        if frame.number == 0:
            self.refs.frames += 1
            frame.number = self.refs.frames
        return f"{self.refs.prefix}f{frame.number}"

    def seed(self, tree: Tree, session: Session, parent: Frame | None = None) -> None:
        """Take over frames that were there before we listened."""
        frame = self._attach(tree.frame.id, parent, session)
        if frame is not None:
            frame.url = tree.frame.url + tree.frame.url_fragment
            for child in tree.child_frames:
                self.seed(child, session, frame)

    def hear(self, event: Event, session: Session) -> None:
        """Take one event of the page's session, or of a child's."""
        if event.method == "Page.frameAttached":
            attached = msgspec.json.decode(event.params, type=_Attached)
            self._attach(attached.frame_id, self._by_id.get(attached.parent_frame_id), session)
        elif event.method == "Page.frameNavigated":
            self._navigated(msgspec.json.decode(event.params, type=_Navigated).frame, session)
        elif event.method == "Page.frameDetached":
            detached = msgspec.json.decode(event.params, type=_Detached)
            if detached.reason != "swap":  # else it goes on in another process
                self._remove(detached.frame_id)

    def enter(self, frame_id: str, session: Session) -> None:
        """Note that a frame now lives in a process of its own, reached by ``session``."""
        frame = self._by_id.get(frame_id)
        if frame is None:
            self._attach(frame_id, self.main, session)
        else:
            frame.session, frame.world = session, None

    def leave(self, session_id: str) -> None:
        """Forget the frames of a session that is over, unless they moved elsewhere."""
        for frame in self:
            if frame.session.id == session_id and frame is not self.main:
                self._remove(frame.id)

    def forget_worlds(self, session_id: str) -> None:
        """Note that every document of a session went away."""
        for frame in self:
            if frame.session.id == session_id:
                frame.world = None

    def _attach(self, frame_id: str, parent: Frame | None, session: Session) -> Frame | None:
        frame = self._by_id.get(frame_id)
        if frame is not None:
            frame.session, frame.world = session, None
            return frame
        if len(self._by_id) >= MAX_FRAMES:
            return None
        frame = self._by_id[frame_id] = Frame(frame_id, parent or self.main, session)
        return frame

    def _navigated(self, info: _FrameInfo, session: Session) -> None:
        frame = self._by_id.get(info.id)
        if frame is None and info.parent_id is None and session.id == self.main.session.id:
            frame = self.main  # it got another id, as when a prerendered page is shown
            del self._by_id[frame.id]
            frame.id = info.id
            self._by_id = {info.id: frame, **self._by_id}
        if frame is None:
            frame = self._attach(info.id, self._by_id.get(info.parent_id or ""), session)
        if frame is not None:
            for child in [each for each in self if each.parent is frame]:
                self._remove(child.id)  # its document went, and they with it
            frame.url, frame.world = info.url + info.url_fragment, None
            frame.session = session

    def _remove(self, frame_id: str) -> None:
        frame = self._by_id.get(frame_id)
        if frame is None or frame is self.main:
            return
        del self._by_id[frame_id]
        frame.gone = True
        for child in [each for each in self if each.parent is frame]:
            self._remove(child.id)
