"""The tool that lists, opens, selects and closes tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import DialogOpenedError, InvalidArgsError
from vfa.tools.answer import Answer
from vfa.tools.fields import TabNumber, TimeoutMs, dialogs, navigation_time, open_dialog
from vfa.tools.navigating import MAX_URL, check_url, describe, go
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.actors.page import SessionTab
    from vfa.actors.tabs import TabInfo
    from vfa.engine import Engine

CLOSE_BOUND = 2.0  # seconds to close a tab again that could not be shown what it was for


class TabsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_tabs``."""

    action: Literal["list", "new", "select", "close"] = "list"
    tab: TabNumber = 0
    url: Annotated[str, Meta(max_length=MAX_URL, description="For new.")] = ""
    timeout_ms: TimeoutMs = 0


async def tabs(engine: Engine, arguments: TabsArguments, call: Call) -> Answer:
    """Do something about tabs; say which there are afterwards."""
    value: dict[str, Any] = {}
    if arguments.url and arguments.action != "new":
        raise InvalidArgsError("url goes with action new only")
    if arguments.action == "new":
        if arguments.tab:
            raise InvalidArgsError("A new tab gets the next number: leave tab out")
        value = await _open(engine, arguments.url)
    elif arguments.action == "select":
        if not arguments.tab:
            raise InvalidArgsError("select needs a tab", hint="action list has the numbers.")
        engine.tabs.select(arguments.tab)
    elif arguments.action == "close":
        await engine.tabs.close(arguments.tab)
    listed = await engine.tabs.list()
    return Answer(value=value | {"tabs": [_describe(info) for info in listed]})


async def _open(engine: Engine, url: str) -> dict[str, Any]:
    """Open a tab, and select it once it shows what it is for; otherwise it is gone again."""
    if url:
        await check_url(engine, url)
    session = await engine.tabs.new()
    shown = False
    try:
        there = await go(engine, session, url, "load") if url else None
        shown = True
    except DialogOpenedError:
        shown = True  # as far as the dialog, which the caller is to answer there
        engine.tabs.select(session.number)
        raise
    finally:
        if not shown:
            await _close_again(engine, session)  # noqa: ASYNC102  # shields and bounds itself
    engine.tabs.select(session.number)
    value: dict[str, Any] = {"tab": session.number}
    return value if there is None else value | describe(there) | dialogs(session)


async def _close_again(engine: Engine, session: SessionTab) -> None:
    with trio.move_on_after(CLOSE_BOUND, shield=True):
        if not session.gone:
            await engine.tabs.close(session.number)


def _describe(info: TabInfo) -> dict[str, Any]:
    described: dict[str, Any] = {
        "tab": info.tab,
        "url": info.url,
        "title": info.title,
        "selected": info.selected,
    }
    if info.opener:
        described["opener"] = info.opener
    if info.loading:
        described["loading"] = True
    if info.dialog is not None:
        described["dialog"] = open_dialog(info.dialog)
    return described


TABS: tuple[Tool, ...] = (
    Tool(
        name="browser_tabs",
        description="List tabs, open one (which selects it), select or close one. Tools use "
        "the selected tab unless given another's number as tab.",
        hints=Hints(read_only=False, destructive=True),
        arguments=TabsArguments,
        run=tabs,
        default_timeout_ms=navigation_time,
        returns="`tabs`: each `tab` (its number), `url`, `title`, `selected`, and, where it is "
        "so, `opener`, `loading`, `dialog`. new: also `tab`, and with url what "
        "browser_navigate returns.",
    ),
)
