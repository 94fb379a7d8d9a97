"""What the arguments and the answers of several browser tools have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from vfa.tools.answer import Answer

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.config import Config
    from vfa.errors import DialogOpenedError
    from vfa.page.dialogs import Opening
    from vfa.page.downloads import Download

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
    """Return what to add to an answer about what happened to the tab meanwhile.

    Dialogs, the one that is open among them; tabs that its page opened; downloads it began.
    """
    news = session.take_news()
    told: dict[str, Any] = {}
    if news.dialogs:
        told["dialogs"] = [
            {"type": dialog.kind, "message": dialog.message, "accepted": dialog.accepted}
            for dialog in news.dialogs
        ]
    if news.dialog is not None:
        told["dialog"] = open_dialog(news.dialog)
    if news.opened:
        told["opened"] = [{"tab": opened.tab, "url": opened.url} for opened in news.opened]
    if news.refused:
        told["tabsRefused"] = news.refused
    if news.downloads:
        told["downloads"] = [describe_download(download) for download in news.downloads]
    return told


def open_dialog(dialog: Opening) -> dict[str, Any]:
    """Describe a dialog that waits for browser_handle_dialog."""
    described = {"type": dialog.type, "message": dialog.message}
    if dialog.type == "prompt":
        described["defaultText"] = dialog.default_prompt
    return described


def interrupted(dialog: DialogOpenedError) -> Answer:
    """Return the answer of a call that a dialog cut short: what it did is done."""
    described = {"type": dialog.kind, "message": dialog.text}
    if dialog.kind == "prompt":
        described["defaultText"] = dialog.default_text
    note = f"The call was carried out up to the dialog. {dialog.hint}"
    return Answer(value={"interrupted": True, "dialog": described, "note": note})


def describe_download(download: Download) -> dict[str, Any]:
    """Describe a download as far as it got."""
    described: dict[str, Any] = {
        "id": download.id,
        "name": download.name,
        "state": download.state,
        "url": download.url,
        "tab": download.tab,
        "bytes": download.received,
    }
    optional = {
        "totalBytes": None if download.ended else download.total,
        "mimeType": download.mime_type,
        "path": download.path,
        "sha256": download.sha256,
        "reason": download.reason,
    }
    return described | {name: value for name, value in optional.items() if value}


def utf16_length(text: str) -> int:
    """Return the length of ``text`` as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def navigation_time(config: Config) -> int:
    """Return the default time of what loads a page or draws a picture."""
    return config.navigation_timeout_ms


def tool_time(config: Config) -> int:
    """Return the default time of everything else."""
    return config.tool_timeout_ms
