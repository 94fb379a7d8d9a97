"""The tool that answers dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vfa.errors import InvalidArgsError
from vfa.page.dialogs import Decision
from vfa.tools.answer import Answer
from vfa.tools.fields import TabNumber, dialogs, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine

MAX_TEXT = 10_000  # characters typed into a prompt


class HandleDialogArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_handle_dialog``."""

    accept: bool
    text: Annotated[str, Meta(max_length=MAX_TEXT, description="For a prompt.")] | UnsetType = (
        UNSET
    )
    next: Annotated[bool, Meta(description="For the next one instead.")] = False
    tab: TabNumber = 0


async def handle_dialog(engine: Engine, arguments: HandleDialogArguments, call: Call) -> Answer:
    """Answer the open dialog, or decide how the next one is answered."""
    text = None if arguments.text is UNSET else arguments.text
    if text is not None and not arguments.accept:
        raise InvalidArgsError("text goes with accept: true only")
    session = engine.tab(arguments.tab)
    decision = Decision(arguments.accept, text)
    if arguments.next or engine.config.dialogs != "ask":
        await session.decide_next_dialog(decision)
        value: dict[str, Any] = {"next": {"accept": arguments.accept}}
        if text is not None:
            value["next"]["text"] = text
        return Answer(value=value | dialogs(session))
    await session.answer_dialog(decision)
    return Answer(value={"handled": True} | dialogs(session))


DIALOGS: tuple[Tool, ...] = (
    Tool(
        name="browser_handle_dialog",
        description="Answer the open alert, confirm or prompt if VFA_DIALOGS=ask holds them; "
        "otherwise decide how the tab's next one is answered.",
        hints=Hints(read_only=False),
        arguments=HandleDialogArguments,
        run=handle_dialog,
        default_timeout_ms=tool_time,
        returns="`handled` (true), or `next` (`accept`, `text`): how the next one will be "
        "answered.",
    ),
)
