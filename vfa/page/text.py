"""Reading text, and where the tab is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import CdpError, ElementNotFoundError, InvalidArgsError, ScriptError

if TYPE_CHECKING:
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


async def get_text(page: Page, selector: str = "") -> str:
    """Return the visible text of the body, or of the first match of ``selector``.

    Form fields give their value. Waits for a match until the caller's scopes end the wait.

    Raises:
        InvalidArgsError: ``selector`` is not a CSS selector.
    """
    try:
        return await page.call("get_text", selector, result=str)
    except ScriptError as error:
        if "SyntaxError" in error.message or "not a valid selector" in error.message:
            raise InvalidArgsError(
                f"{selector!r} is not a valid selector (SyntaxError)",
                hint="Give a CSS selector such as `#id`, `.class` or `[name=email]`.",
            ) from None
        raise


def not_found(selector: str, waited_s: float) -> ElementNotFoundError:
    """Return the error for a selector that matched nothing in time."""
    return ElementNotFoundError(
        f"Element not found: {selector} (waited {waited_s:g} s)",
        hint="Check the selector against the page, or wait longer with timeout_ms.",
    )


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
