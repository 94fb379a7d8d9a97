"""Keeping Chromium's accessibility trees alive while somebody reads roles and names.

A role or a name that an in-page function reads is computed from the accessibility tree. Where
nobody holds the tree, each read builds it anew: 30 ms on 2,000 elements. Building it once
takes 19 ms on those, 180 ms on 20,000; a page that keeps it pays for each of its changes. So
it is held for the length of a read, and no longer.

Source: CDP ``Accessibility.enable``, ``Accessibility.getRootAXNode`` (which builds the tree
and holds it), ``Accessibility.disable``.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.page.frames import Frame


class AxTrees:
    """Who reads in which process of a tab; the last one switches the lights off."""

    def __init__(self) -> None:
        self._readers: Counter[str] = Counter()  # by session id

    @contextmanager
    def held(self, frame: Frame) -> Iterator[None]:
        """Hold the tree of a frame's document for the length of the block.

        Costs no round trip: the commands are on their way before those of the block.
        """
        session = frame.session
        if not self._readers[session.id]:
            session.post("Accessibility.enable")
        self._readers[session.id] += 1
        session.post("Accessibility.getRootAXNode", {"frameId": frame.id})
        try:
            yield
        finally:
            self._readers[session.id] -= 1
            if not self._readers[session.id]:
                del self._readers[session.id]
                session.post("Accessibility.disable")
