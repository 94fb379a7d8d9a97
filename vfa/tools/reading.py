"""The tools that read: get_text, get_console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vfa.page.text import not_found
from vfa.tools.answer import Answer, cut_text, encoded_length, keep_fitting
from vfa.tools.fields import CUT, MAX_SELECTOR, TimeoutMs, dialogs, tool_time, utf16_length
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.errors import VfaError

# --- browser_get_text ------------------------------------------------------------------


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
    return Answer(value=value | dialogs(engine.session), shorten=_shorten_text)


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


# --- browser_get_console ---------------------------------------------------------------


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
    return Answer(value=value | dialogs(engine.session), shorten=_shorten_console)


def _shorten_console(value: dict[str, Any], budget: int) -> dict[str, Any]:
    messages = value["messages"]
    rest = value | {"messages": [], "truncated": True, "note": "The oldest were left out."}
    kept = keep_fitting(messages, budget - encoded_length(rest) - 20, newest=True)
    dropped = value["droppedCount"] + len(messages) - len(kept)
    return rest | {"messages": kept, "droppedCount": dropped}


# --- the table --------------------------------------------------------------------------

READING: tuple[Tool, ...] = (
    Tool(
        name="browser_get_text",
        description="Visible text of the page, or of the first element that matches selector "
        "(the value, for form fields); waits for it to appear.",
        hints=Hints(title="Get text", read_only=True),
        arguments=GetTextArguments,
        run=get_text,
        default_timeout_ms=tool_time,
        expired=text_timeout,
    ),
    Tool(
        name="browser_get_console",
        description="Console messages and uncaught exceptions of the page since it was loaded.",
        hints=Hints(title="Get console", read_only=True),
        arguments=GetConsoleArguments,
        run=get_console,
        default_timeout_ms=tool_time,
    ),
)
