"""The ``browser_*`` tools: one tab, driven step by step.

Names, arguments, results, defaults and the words of failures are those of browser-mcp 2.0, so
that a client can change servers without noticing; fields are only ever added.
"""

from __future__ import annotations

import base64
import logging
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import DeadlineExceededError, OutputError, SsrfBlockedError, VfaError
from vfa.page.screenshot import Shot
from vfa.page.text import not_found
from vfa.policy.network import Policy
from vfa.policy.paths import resolve_output, screenshot_name, write_output
from vfa.policy.redact import redact_url
from vfa.policy.resolve import check_target
from vfa.tools.answer import Answer, Picture, cut_text, encoded_length, keep_fitting
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.config import Config
    from vfa.engine import Engine
    from vfa.page.screenshot import Capture

logger = logging.getLogger(__name__)

MAX_URL = 65_536  # characters; longer ones are a mistake, and cost the log and the answer
MAX_SELECTOR = 10_000
MAX_FILENAME = 1_000
LEAVE_BOUND = 5.0  # seconds for leaving a page that must not be shown

CUT = "\n... [truncated]"
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")

# The longest time a call may take; zero and less mean the default, as in the original.
TimeoutMs = Annotated[float, Meta(description="Time for the whole call.")]


def _dialogs(session: SessionTab) -> dict[str, Any]:
    """Return what to add to an answer about dialogs that the page opened meanwhile."""
    dialogs = session.take_dialogs()
    if not dialogs:
        return {}
    return {
        "dialogs": [
            {"type": dialog.kind, "message": dialog.message, "accepted": dialog.accepted}
            for dialog in dialogs
        ]
    }


# --- browser_navigate -------------------------------------------------------------------


class NavigateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_navigate``."""

    url: Annotated[str, Meta(max_length=MAX_URL, description="http(s) URL or about:blank.")]
    timeout_ms: TimeoutMs = 0


async def navigate(engine: Engine, arguments: NavigateArguments, call: Call) -> Answer:
    """Go to a URL, if the policy allows it by name and by every address it has."""
    policy = Policy.for_browser(engine.config)
    logger.info("[MCP] Navigating to %s", redact_url(arguments.url))
    target = await check_target(arguments.url, policy)
    session = engine.session
    there = await session.navigate(arguments.url)
    if not _behind_a_proxy():
        try:
            policy.check_address(there.remote_address, target.host)
        except SsrfBlockedError:
            # A redirect led there, or the name changed its address. What it holds is not
            # for the client: the next read must not find it.
            with trio.move_on_after(LEAVE_BOUND, shield=True):
                await session.navigate("about:blank")
            raise
    value: dict[str, Any] = {"url": there.url, "title": there.title, "status": there.status}
    if there.note:
        value["note"] = there.note
    return Answer(value=value | _dialogs(session))


def _behind_a_proxy() -> bool:
    """Say whether what answers is a proxy's address and proves nothing."""
    return any(os.environ.get(name) or os.environ.get(name.upper()) for name in PROXY_VARIABLES)


def navigation_timeout(arguments: NavigateArguments, milliseconds: int) -> VfaError:
    """Return the failure of a page that did not load in time."""
    return DeadlineExceededError(
        f"Navigation timeout after {milliseconds} ms: {redact_url(arguments.url[:500])}",
        hint="The page may be usable all the same: try browser_get_text. "
        "For a slow site allow more with timeout_ms.",
    )


# --- browser_get_url --------------------------------------------------------------------


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For tools without arguments."""


async def get_url(engine: Engine, arguments: NoArguments, call: Call) -> Answer:
    """Say where the tab is."""
    location = await engine.session.get_url()
    return Answer(
        value={
            "url": location.url,
            "title": location.title,
            "readyState": location.ready_state,
        }
    )


# --- browser_get_text -------------------------------------------------------------------


class GetTextArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_get_text``."""

    selector: Annotated[
        str,
        Meta(max_length=MAX_SELECTOR, description="CSS; without it, the whole page."),
    ] = ""
    timeout_ms: TimeoutMs = 0


async def get_text(engine: Engine, arguments: GetTextArguments, call: Call) -> Answer:
    """Read visible text, or the value of a form field."""
    text = await engine.session.get_text(arguments.selector)
    limit = engine.config.max_text_length
    value = {
        "text": text if len(text) <= limit else text[:limit] + CUT,
        "truncated": len(text) > limit,
        "length": utf16_length(text),
    }
    return Answer(value=value | _dialogs(engine.session), shorten=_shorten_text)


def utf16_length(text: str) -> int:
    """Return the length of ``text`` as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _shorten_text(value: dict[str, Any], budget: int) -> dict[str, Any]:
    note = "The answer is full: read parts of the page with selector."
    rest = value | {"text": CUT, "truncated": True, "note": note}
    room = budget - encoded_length(rest)
    return rest | {"text": cut_text(value["text"], room) + CUT}


def text_timeout(arguments: GetTextArguments, milliseconds: int) -> VfaError:
    """Return the failure of a selector that matched nothing, or of a page that is stuck."""
    if arguments.selector:
        return not_found(arguments.selector, milliseconds / 1000)
    return took_too_long("browser_get_text", milliseconds)


# --- browser_screenshot -----------------------------------------------------------------


class ScreenshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_screenshot``."""

    filename: Annotated[
        str,
        Meta(max_length=MAX_FILENAME, description="Below OUTPUT_DIR; made up if absent."),
    ] = ""
    format: Literal["jpeg", "png"] = "jpeg"
    quality: Annotated[float, Meta(ge=1, le=100, description="JPEG only.")] = 80
    full_page: Annotated[bool, Meta(description="Not just the viewport.")] = False
    delay_ms: Annotated[float, Meta(ge=0, le=5000, description="Wait before the picture.")] = 0
    timeout_ms: TimeoutMs = 0


async def screenshot(engine: Engine, arguments: ScreenshotArguments, call: Call) -> Answer:
    """Take a picture, keep it as a file and show it."""
    config = engine.config
    name = screenshot_name(arguments.filename, arguments.format, datetime.now(UTC))
    resolve_output(config.output_path, name)  # refused before a browser starts
    capture = await engine.session.screenshot(
        Shot(
            format=arguments.format,
            quality=round(arguments.quality),
            full_page=arguments.full_page,
            delay_ms=round(arguments.delay_ms),
            max_pixels=config.max_screenshot_pixels,
            max_bytes=config.max_image_bytes,
        )
    )
    value = await _save(config, name, capture) | _facts(capture) | _dialogs(engine.session)
    data = base64.b64encode(capture.data).decode("ascii")
    return Answer(value=value, pictures=(Picture(data, f"image/{arguments.format}"),))


async def _save(config: Config, name: str, capture: Capture) -> dict[str, Any]:
    """Write the file; a folder that cannot be written costs the path, not the picture."""
    try:
        path = await trio.to_thread.run_sync(
            write_output, config.output_path, name, capture.data
        )
    except OutputError as error:
        logger.warning("a screenshot could not be written: %s", error)
        return {
            "path": None,
            "note": f"The file was not written: {error.message}. "
            "Set OUTPUT_DIR to a folder that can be written.",
        }
    return {"path": str(path)}


def _facts(capture: Capture) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "size": len(capture.data),
        "truncated": capture.truncated,
        "scale": capture.scale,
        "measured": capture.measured,
    }
    if capture.measured:
        facts |= {"width": capture.width, "height": capture.height}
    return facts | {
        "scrollX": capture.scroll_x,
        "scrollY": capture.scroll_y,
        "devicePixelRatio": capture.pixel_ratio,
    }


# --- browser_get_console ----------------------------------------------------------------


class GetConsoleArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_get_console``."""

    level: Literal["all", "error", "warning", "log", "info", "debug"] = "all"
    clear_after: Annotated[bool, Meta(description="Empty the buffer, all levels.")] = False


async def get_console(engine: Engine, arguments: GetConsoleArguments, call: Call) -> Answer:
    """Read what the page said on its console since it was loaded."""
    console = await engine.session.console(arguments.level, clear=arguments.clear_after)
    messages = console.messages
    shown = messages[-engine.config.max_console_lines :]
    left_out = len(messages) - len(shown)
    value: dict[str, Any] = {
        "messages": [
            {
                "level": message.level,
                "text": message.text,
                "timestamp": round(message.timestamp * 1000),
                "url": message.url,
            }
            for message in shown
        ],
        "count": len(messages),
        "cleared": arguments.clear_after,
        "truncated": left_out > 0,
        "droppedCount": left_out + console.dropped,
    }
    return Answer(value=value | _dialogs(engine.session), shorten=_shorten_console)


def _shorten_console(value: dict[str, Any], budget: int) -> dict[str, Any]:
    messages = value["messages"]
    rest = value | {"messages": [], "truncated": True, "note": "The oldest were left out."}
    kept = keep_fitting(messages, budget - encoded_length(rest) - 20, newest=True)
    dropped = value["droppedCount"] + len(messages) - len(kept)
    return rest | {"messages": kept, "droppedCount": dropped}


# --- the table --------------------------------------------------------------------------


def _navigation_time(config: Config) -> int:
    return config.navigation_timeout_ms


def _tool_time(config: Config) -> int:
    return config.tool_timeout_ms


BROWSER_TOOLS: tuple[Tool, ...] = (
    Tool(
        name="browser_navigate",
        description="Open a URL in the tab and wait until it is loaded. "
        "Returns url (after redirects), title and HTTP status.",
        hints=Hints(title="Navigate", read_only=False, idempotent=True),
        arguments=NavigateArguments,
        run=navigate,
        default_timeout_ms=_navigation_time,
        expired=navigation_timeout,
    ),
    Tool(
        name="browser_get_url",
        description="Where the tab is: url, title, readyState. Answers even if the page hangs.",
        hints=Hints(title="Get URL", read_only=True, open_world=False),
        arguments=NoArguments,
        run=get_url,
        default_timeout_ms=_tool_time,
    ),
    Tool(
        name="browser_get_text",
        description="Visible text of the page, or of the first element that matches selector "
        "(the value, for form fields); waits for it to appear.",
        hints=Hints(title="Get text", read_only=True),
        arguments=GetTextArguments,
        run=get_text,
        default_timeout_ms=_tool_time,
        expired=text_timeout,
    ),
    Tool(
        name="browser_screenshot",
        description="Picture of the viewport or of the whole page, shown and saved below "
        "OUTPUT_DIR. Too large a one is scaled down (see scale), never cropped.",
        hints=Hints(title="Screenshot", read_only=False, idempotent=True),
        arguments=ScreenshotArguments,
        run=screenshot,
        default_timeout_ms=_navigation_time,
    ),
    Tool(
        name="browser_get_console",
        description="Console messages and uncaught exceptions of the page since it was loaded.",
        hints=Hints(title="Get console", read_only=True),
        arguments=GetConsoleArguments,
        run=get_console,
        default_timeout_ms=_tool_time,
    ),
)
