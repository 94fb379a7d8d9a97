"""The tool that says what a page consists of: snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vfa.errors import InvalidArgsError
from vfa.page.locating import REF, Target, steps_of
from vfa.page.snapshot import DEFAULT_CHARS, Request, elements, outline
from vfa.tools.answer import Answer, encoded_length, keep_fitting
from vfa.tools.fields import MAX_SELECTOR, TabNumber, TimeoutMs, dialogs, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.engine import Engine

AROUND = 400  # characters of an answer that are not the outline
MAX_FIND = 1_000  # characters
ONLY_OUTLINE = ("under", "depth", "offset", "find", "changed_since")


class SnapshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_snapshot``."""

    format: Literal["json", "outline"] = "json"
    include_text: Annotated[bool, Meta(description="json: field values.")] = True
    max_items: Annotated[float, Meta(le=200)] | msgspec.UnsetType = msgspec.UNSET
    include: Annotated[
        tuple[Literal["headings", "landmarks"], ...],
        Meta(max_length=2, description="json: these, too."),
    ] = ()
    under: Annotated[
        str, Meta(max_length=MAX_SELECTOR, description="outline: of this ref or selector.")
    ] = ""
    depth: Annotated[int, Meta(ge=0, le=100, description="0: all.")] = 0
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    find: Annotated[str, Meta(max_length=MAX_FIND, description="outline: this text only.")] = ""
    changed_since: Annotated[
        str, Meta(max_length=20, description="outline: changes since this snapshot id.")
    ] = ""
    max_chars: Annotated[int, Meta(ge=1_000, le=200_000)] = DEFAULT_CHARS
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def snapshot(engine: Engine, arguments: SnapshotArguments, call: Call) -> Answer:
    """Say what there is on the page, for people who cannot see it."""
    if arguments.format == "outline":
        return await _outline(engine, arguments)
    wrong = [name for name in ONLY_OUTLINE if getattr(arguments, name)]
    if wrong:
        raise InvalidArgsError(
            f"{', '.join(wrong)} cannot be combined with format json",
            hint="Ask for format outline.",
        )
    return await _elements(engine, arguments)


async def _outline(engine: Engine, arguments: SnapshotArguments) -> Answer:
    request = Request(
        under=_target(arguments.under),
        depth=arguments.depth,
        offset=arguments.offset,
        find=arguments.find,
        changed_since=arguments.changed_since,
        max_chars=_room(engine.config, arguments.max_chars),
    )
    session = engine.tab(arguments.tab)
    result = await session.read(lambda page: outline(page, request))
    value: dict[str, Any] = {"snapshot": result.id, "outline": result.text}
    if result.omitted:
        value["truncated"] = True
    return Answer(value=value | dialogs(session))


def _target(under: str) -> Target | None:
    if not under:
        return None
    if REF.fullmatch(under):
        return Target(ref=under)
    steps_of(under)
    return Target(under)


def _room(config: Config, asked: int) -> int:
    return max(min(asked, config.max_answer_chars - AROUND), AROUND)


async def _elements(engine: Engine, arguments: SnapshotArguments) -> Answer:
    asked = arguments.max_items
    if isinstance(asked, msgspec.UnsetType):
        asked = engine.config.max_snapshot_items
    most = max(int(asked), 1)
    session = engine.tab(arguments.tab)
    listing = await session.read(
        lambda page: elements(
            page,
            most,
            text=arguments.include_text,
            headings="headings" in arguments.include,
            landmarks="landmarks" in arguments.include,
        )
    )
    value: dict[str, Any] = {
        "elements": listing.elements,
        "count": len(listing.elements),
        "truncated": listing.more,
        "evaluateEnabled": engine.config.enable_eval_js,
    }
    return Answer(value=value | dialogs(session), shorten=_shorten)


def _shorten(value: dict[str, Any], budget: int) -> dict[str, Any]:
    note = "The answer is full: format outline says more in less room."
    rest = value | {"elements": [], "truncated": True, "note": note}
    kept = keep_fitting(value["elements"], budget - encoded_length(rest) - 20)
    return rest | {"elements": kept, "count": len(kept)}


SNAPSHOT: tuple[Tool, ...] = (
    Tool(
        name="browser_snapshot",
        description="What is on the page, frames and shadow DOM included. json: elements to "
        "use, with the selector and ref that other tools take. outline, best for reading: "
        "the page in compact lines with refs; it says how to get what it leaves out.",
        hints=Hints(read_only=True),
        arguments=SnapshotArguments,
        run=snapshot,
        default_timeout_ms=tool_time,
        returns="json: `elements` (`role`, `name`, `description`, `selector`, `state`, `ref`, "
        "`value`; headings have `level`), `count`, `truncated`, `evaluateEnabled`. outline: "
        "`outline`, `snapshot` (for `changed_since`), `truncated`.",
    ),
)
