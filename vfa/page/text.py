"""Reading text, in all frames and shadow trees, and where the tab is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import CdpError, ScriptError
from vfa.page import locating
from vfa.page.locating import Target
from vfa.page.stitching import Part, Reading, read_document, read_frames

if TYPE_CHECKING:
    from vfa.page.frames import Frame
    from vfa.page.page import Page

ASK_BOUND = 0.3  # seconds; after that the browser process answers instead of the renderer


class Location(msgspec.Struct, frozen=True):
    """Where a tab is."""

    url: str
    title: str
    ready_state: str  # loading, interactive, complete


class _TargetInfo(msgspec.Struct, frozen=True, rename="camel"):
    title: str = ""
    url: str = ""


class _Target(msgspec.Struct, frozen=True, rename="camel"):
    target_info: _TargetInfo


class PageText(msgspec.Struct, frozen=True):
    """What there is to read."""

    text: str
    matches: int = 1  # of the selector; the first one was read


class _Text(Reading, frozen=True):
    parts: tuple[str | int, ...] = ()  # texts, and between them numbers of frames' elements


async def get_text(page: Page, selector: str = "", ref: str = "") -> str:
    """Return what ``read_text`` reads, and no more."""
    return (await read_text(page, selector, ref)).text


async def read_text(page: Page, selector: str = "", ref: str = "") -> PageText:
    """Return the visible text of the page, or of the element that is named.

    The text is that of ``innerText``, with what is in shadow trees and frames where it is
    seen. Form fields give their value. A selector is waited for until it matches, or the
    caller's time is almost up.

    Raises:
        InvalidArgsError: ``selector`` is not a CSS selector.
        ElementNotFoundError: It matched nothing in time.
        ElementStaleError: The element of ``ref`` is gone.
    """
    frame, number, matches = page.frames.main, 0, 1
    if selector or ref:
        element = await locating.locate(page, Target(selector, ref))
        frame, number, matches = element.frame, element.number, element.matches

    async def read(each: Frame) -> _Text:
        asked = number if each is frame else 0
        return await read_document(page, each, "textOf", asked, result=_Text)

    text = _put_together(await read_frames(page, frame, read, _frames_in))
    return PageText(text, matches)


def _frames_in(text: _Text) -> list[int]:
    return [part for part in text.parts if isinstance(part, int)]


def _put_together(part: Part[_Text]) -> str:
    """Return the text of a document; that of a frame has lines of its own."""
    texts = []
    for piece in part.value.parts:
        if isinstance(piece, str):
            texts.append(piece)
        elif piece in part.inner:
            texts.append(_put_together(part.inner[piece]))
    if len(texts) <= 1:
        return "".join(texts)
    return "\n".join(text.strip("\n") for text in texts if text.strip())


async def locate(page: Page) -> Location:
    """Return where the tab is, whatever its renderer is doing.

    The page is asked for a moment; a busy or wedged one is answered for by the browser
    process and by the events seen so far.
    """
    with trio.move_on_after(ASK_BOUND):
        try:
            url, title, state = await page.call("location", result=tuple[str, str, str])
            return Location(url, title, state)
        except (CdpError, ScriptError):
            pass
    info = (
        await page.connection.call(
            "Target.getTargetInfo", {"targetId": page.target_id}, _Target
        )
    ).target_info
    # For a document without a title the browser process gives its address instead.
    title = "" if info.title and info.url.endswith(info.title) else info.title
    return Location(page.documents.url, title, page.documents.ready_state)
