"""The page's own world in each of its frames: where the page's scripts run.

Pure state fed by CDP events. Ours are made when they are needed; the page's come with each
document, and only an event tells their names.

Source: CDP ``Runtime.executionContextCreated``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from vfa.cdp.dialogue import Event

MAX_WORLDS = 1000  # that are remembered; a page can make any number of frames


class _Frame(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str = ""
    is_default: bool = False


class _Context(msgspec.Struct, frozen=True, rename="camel"):
    unique_id: str = ""
    aux_data: _Frame = _Frame()


class _Created(msgspec.Struct, frozen=True):
    context: _Context


class MainWorlds:
    """The newest main world of each frame, by frame id."""

    def __init__(self) -> None:
        self._by_frame: dict[str, str] = {}

    def of(self, frame_id: str) -> str:
        """Return the CDP unique context id; "" if there is none."""
        return self._by_frame.get(frame_id, "")

    def hear(self, event: Event) -> None:
        """Take a ``Runtime.executionContextCreated`` of any of the page's sessions."""
        context = msgspec.json.decode(event.params, type=_Created).context
        frame = context.aux_data
        if not frame.is_default or not frame.frame_id:
            return
        self._by_frame.pop(frame.frame_id, None)
        self._by_frame[frame.frame_id] = context.unique_id
        if len(self._by_frame) > MAX_WORLDS:
            del self._by_frame[next(iter(self._by_frame))]
