"""The tool that runs JavaScript: evaluate. It works only where its switch is on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from vfa.errors import EvalDisabledError, InvalidArgsError
from vfa.page.evaluate import Expression, evaluate, timed_out
from vfa.page.locating import REF, Target
from vfa.tools.answer import Answer, cut_text, encode, encoded_length, well_formed
from vfa.tools.fields import (
    MAX_SELECTOR,
    TabNumber,
    TimeoutMs,
    dialogs,
    tool_time,
    utf16_length,
)
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.errors import VfaError

logger = logging.getLogger(__name__)

# --- browser_evaluate ------------------------------------------------------------------


class EvaluateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_evaluate``."""

    expression: Annotated[str, Meta(min_length=1)]
    await_promise: bool = True
    user_gesture: bool = False
    frame: Annotated[
        str,
        Meta(max_length=MAX_SELECTOR, description="Selector or ref of an iframe."),
    ] = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_evaluate(engine: Engine, arguments: EvaluateArguments, call: Call) -> Answer:
    """Run JavaScript in the page's own world."""
    if not engine.config.enable_eval_js:
        raise disabled()
    limit = engine.config.max_eval_length
    length = utf16_length(arguments.expression)
    if length > limit:
        raise InvalidArgsError(
            f"Invalid arguments for browser_evaluate: expression must be 1 to {limit} "
            f"characters long, not {length}",
            hint="MAX_EVAL_LENGTH sets the limit.",
        )
    logger.info("[MCP] Evaluating %d characters", length)
    expression = Expression(
        source=arguments.expression,
        await_promise=arguments.await_promise,
        user_gesture=arguments.user_gesture,
        limit=limit,
    )
    frame = _target(arguments.frame)
    session = engine.tab(arguments.tab)
    evaluated = await session.act(lambda page: evaluate(page, expression, frame))
    result = well_formed(evaluated.value)
    text = encode(result)
    truncated = len(text) > limit
    value = {
        "result": text[:limit] if truncated else result,
        "type": evaluated.type,
        "truncated": truncated,
    }
    value |= evaluated.effects.as_fields()
    return Answer(value=value | dialogs(session), shorten=_shorten_result)


def _target(named: str) -> Target | None:
    if not named:
        return None
    return Target(ref=named) if REF.fullmatch(named) else Target(selector=named)


def disabled() -> EvalDisabledError:
    """Return the refusal of a call while the switch is off."""
    return EvalDisabledError(
        "browser_evaluate is disabled. It runs any JavaScript in the page, which exposes the "
        "page's cookies and localStorage to the caller and lets it send requests from inside "
        "this network (SSRF).",
        hint="Whoever runs the server can allow it with ENABLE_EVAL_JS=1 in its environment.",
    )


def _shorten_result(value: dict[str, Any], budget: int) -> dict[str, Any]:
    result = value["result"]
    text = result if value["truncated"] else encode(result)
    rest = value | {"result": "", "truncated": True}
    return rest | {"result": cut_text(text, budget - encoded_length(rest))}


def evaluate_timeout(arguments: EvaluateArguments, milliseconds: int) -> VfaError:
    """Return the failure of a script that was still running, or of a tab that was busy."""
    return timed_out(milliseconds / 1000)


# --- the table --------------------------------------------------------------------------

SCRIPTING: tuple[Tool, ...] = (
    Tool(
        name="browser_evaluate",
        description="Run JavaScript in the page; the last value is the result (objects as "
        "JSON, 4 levels, 100 items). Top-level await works. Needs ENABLE_EVAL_JS=1.",
        hints=Hints(read_only=False, destructive=True),
        arguments=EvaluateArguments,
        run=run_evaluate,
        default_timeout_ms=tool_time,
        expired=evaluate_timeout,
        returns="`result`, `type` (JavaScript's), `truncated`; `navigated`.",
    ),
)
