"""The tools that read: get_text, find, get_console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vfa.errors import InvalidArgsError
from vfa.page.finding import Search, find
from vfa.page.locating import check_target, not_found
from vfa.tools.answer import Answer, cut_text, encoded_length, keep_fitting
from vfa.tools.fields import (
    CUT,
    MAX_SELECTOR,
    TabNumber,
    TimeoutMs,
    dialogs,
    tool_time,
    utf16_length,
)
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.errors import VfaError

MAX_REF = 40  # characters
MAX_WANTED = 1_000  # characters of a text or pattern that is looked for

# --- browser_get_text ------------------------------------------------------------------


class GetTextArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_get_text``."""

    selector: Annotated[str, Meta(max_length=MAX_SELECTOR)] = ""
    ref: Annotated[str, Meta(max_length=MAX_REF)] = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def get_text(engine: Engine, arguments: GetTextArguments, call: Call) -> Answer:
    """Read visible text, or the value of a form field."""
    if arguments.selector or arguments.ref:
        check_target(arguments.selector, arguments.ref)
    session = engine.tab(arguments.tab)
    found = await session.read_text(arguments.selector, arguments.ref)
    text = found.text
    limit = engine.config.max_text_length
    value = {
        "text": text if len(text) <= limit else text[:limit] + CUT,
        "truncated": len(text) > limit,
        "length": utf16_length(text),
    }
    if found.matches > 1:
        value["matches"] = found.matches
    return Answer(value=value | dialogs(session), shorten=_shorten_text)


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


# --- browser_find ----------------------------------------------------------------------


class FindArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_find``."""

    text: Annotated[str, Meta(max_length=MAX_WANTED)] = ""
    regex: Annotated[str, Meta(max_length=MAX_WANTED)] = ""
    match_case: bool = False
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def find_text(engine: Engine, arguments: FindArguments, call: Call) -> Answer:
    """Say where in the page some text is."""
    if bool(arguments.text.strip()) == bool(arguments.regex):
        raise InvalidArgsError("Provide exactly one of text and regex")
    search = Search(
        text=arguments.text,
        regex=arguments.regex,
        exact=arguments.match_case,
        limit=arguments.limit,
    )
    session = engine.tab(arguments.tab)
    found = await session.read(lambda page: find(page, search))
    value: dict[str, Any] = {
        "count": found.count,
        "matches": [
            {name: said for name, said in msgspec.structs.asdict(match).items() if said}
            for match in found.matches
        ],
        "truncated": found.count > len(found.matches),
    }
    return Answer(value=value | dialogs(session), shorten=_shorten_matches)


def _shorten_matches(value: dict[str, Any], budget: int) -> dict[str, Any]:
    rest = value | {"matches": [], "truncated": True}
    kept = keep_fitting(value["matches"], budget - encoded_length(rest) - 20)
    return rest | {"matches": kept}


# --- browser_get_console ---------------------------------------------------------------


class GetConsoleArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_get_console``."""

    level: Literal["all", "error", "warning", "log", "info", "debug"] = "all"
    clear_after: bool = False
    find: Annotated[str, Meta(max_length=MAX_WANTED)] = ""
    tab: TabNumber = 0


async def get_console(engine: Engine, arguments: GetConsoleArguments, call: Call) -> Answer:
    """Read what the page said on its console since it was loaded."""
    session = engine.tab(arguments.tab)
    console = await session.console(arguments.level, clear=arguments.clear_after)
    wanted = arguments.find.casefold()
    messages = [said for said in console.messages if wanted in said.text.casefold()]
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
    return Answer(value=value | dialogs(session), shorten=_shorten_console)


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
        description="Visible text of the whole page or of one element (of a field, its value), "
        "frames and shadow DOM included. Waits for the element.",
        hints=Hints(read_only=True),
        arguments=GetTextArguments,
        run=get_text,
        default_timeout_ms=tool_time,
        expired=text_timeout,
        returns="`text`, `truncated`, `length` (untruncated, UTF-16 units).",
    ),
    Tool(
        name="browser_find",
        description="Find text or a JavaScript regex on the page: matches with context and the "
        "ref of the link, button, field or block that says it.",
        hints=Hints(read_only=True),
        arguments=FindArguments,
        run=find_text,
        default_timeout_ms=tool_time,
        returns="`count`, `truncated` and `matches`: each with `ref`, `where` (text, name, "
        "placeholder or value), `match`, `context`, `element`, and `frame` where it is in one.",
    ),
    Tool(
        name="browser_get_console",
        description="Console messages and uncaught exceptions since the page was loaded.",
        hints=Hints(read_only=True),
        arguments=GetConsoleArguments,
        run=get_console,
        default_timeout_ms=tool_time,
        returns="`messages` (`level`, `text`, `timestamp`, `url`), `count`, `cleared`, "
        "`truncated`, `droppedCount`.",
    ),
)
