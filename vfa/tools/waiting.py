"""The tool that waits: wait_for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import InvalidArgsError
from vfa.page.locating import Target, check_target, steps_of
from vfa.page.waiting import Wanted, timed_out, wait_for
from vfa.tools.answer import Answer
from vfa.tools.fields import MAX_SELECTOR, TabNumber, TimeoutMs, dialogs
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.engine import Engine
    from vfa.errors import VfaError

DEFAULT_TIME = 15_000  # ms, whatever TOOL_TIMEOUT_MS says
MAX_TEXT = 10_000  # characters
MAX_REF = 40


class WaitForArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_wait_for``."""

    selector: Annotated[str, Meta(max_length=MAX_SELECTOR)] = ""
    ref: Annotated[str, Meta(max_length=MAX_REF)] = ""
    text: Annotated[str, Meta(max_length=MAX_TEXT)] = ""
    state: Annotated[
        Literal["attached", "visible", "hidden", "gone"],
        Meta(description="Of element and text; hidden, gone: until none is left."),
    ] = "attached"
    url: Annotated[
        str, Meta(max_length=MAX_TEXT, description="Part of it; all of it if with *.")
    ] = ""
    load_state: Literal["", "domcontentloaded", "load", "networkidle"] = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def wait(engine: Engine, arguments: WaitForArguments, call: Call) -> Answer:
    """Wait until everything that is asked for holds at once."""
    wanted = read_wanted(arguments)
    session = engine.tab(arguments.tab)
    began = trio.current_time()
    found = await session.read(lambda page: wait_for(page, wanted))
    value: dict[str, Any] = {
        "found": True,
        "selector": arguments.selector or None,
        "text": arguments.text or None,
        "elapsed_ms": round(1000 * (trio.current_time() - began)),
    }
    if found.ref:
        value["ref"] = found.ref
    if found.matches > 1:
        value["matches"] = found.matches
    if arguments.url or arguments.load_state:
        value["url"] = found.url
    return Answer(value=value | dialogs(session))


def read_wanted(arguments: WaitForArguments) -> Wanted:
    """Return what is waited for.

    Raises:
        InvalidArgsError: Nothing is, or it contradicts itself.
    """
    text = arguments.text if arguments.text.strip() else ""
    target: Target | None = None
    if arguments.selector or arguments.ref:
        target = check_target(arguments.selector, arguments.ref)
    if arguments.selector:
        steps_of(arguments.selector)
    if target is None and not text:
        if not arguments.url and not arguments.load_state:
            raise InvalidArgsError(
                "Provide at least one of selector, ref, text, url and load_state"
            )
        if arguments.state != "attached":
            raise InvalidArgsError(
                f"state {arguments.state!r} says nothing without selector, ref or text: "
                "provide at least one of them"
            )
    return Wanted(
        target=target,
        text=text,
        state=arguments.state,
        url=arguments.url,
        load_state=arguments.load_state or None,
    )


def wait_timeout(arguments: WaitForArguments, milliseconds: int) -> VfaError:
    """Return the failure of a wait that the page did not answer in time."""
    return timed_out(read_wanted(arguments), milliseconds)


def wait_time(config: Config) -> int:
    """Return the default time of a wait."""
    return DEFAULT_TIME


WAITING: tuple[Tool, ...] = (
    Tool(
        name="browser_wait_for",
        description="Wait until everything given holds at once: an element in a state, visible "
        "text in any frame, a URL, a load_state.",
        hints=Hints(read_only=True),
        arguments=WaitForArguments,
        run=wait,
        default_timeout_ms=wait_time,
        expired=wait_timeout,
        returns="`found` (true), `selector`, `text`, `elapsed_ms`; `ref` and `matches` of the "
        "element that came; `url` where it or load_state was asked for.",
    ),
)
