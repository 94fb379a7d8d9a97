"""What the arguments and the answers of several browser tools have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.config import Config

MAX_SELECTOR = 10_000  # characters
MAX_FILENAME = 1_000
CUT = "\n... [truncated]"

# The longest time a call may take; zero and less mean the default, as in the original.
TimeoutMs = Annotated[float, Meta(description="Time for the whole call.")]
# Which tab: 0 is the selected one. The number is in browser_tabs; said once, not per tool.
TabNumber = Annotated[int, Meta(ge=0, le=1_000_000)]


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For tools without arguments."""


def dialogs(session: SessionTab) -> dict[str, Any]:
    """Return what to add to an answer about dialogs that the page opened meanwhile."""
    taken = session.take_dialogs()
    if not taken:
        return {}
    return {
        "dialogs": [
            {"type": dialog.kind, "message": dialog.message, "accepted": dialog.accepted}
            for dialog in taken
        ]
    }


def utf16_length(text: str) -> int:
    """Return the length of ``text`` as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def navigation_time(config: Config) -> int:
    """Return the default time of what loads a page or draws a picture."""
    return config.navigation_timeout_ms


def tool_time(config: Config) -> int:
    """Return the default time of everything else."""
    return config.tool_timeout_ms
