"""The tool that runs others: batch.

Every step is read and checked before the first one runs, so that a mistake in the last one
costs nothing. A step is run as the front would run it, with its own time, but no longer than
the batch has left; what it answers, or why it failed, stands in the one answer.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import trio
from msgspec import Meta

from vfa.audit.request import Progress
from vfa.errors import DialogOpenedError, InvalidArgsError, VfaError
from vfa.tools import offered_tools
from vfa.tools.answer import Answer, bounded, encoded_length, well_formed
from vfa.tools.arguments import read_arguments, suggest
from vfa.tools.fields import TimeoutMs, interrupted
from vfa.tools.table import Call, Hints, Tool, took_too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.config import Config
    from vfa.engine import Engine

logger = logging.getLogger(__name__)

NAME = "browser_batch"
MAX_STEPS = 50
GRACE = 1.0  # seconds in which an answer is made of what there is when the time is up
MOST_PROBLEMS = 5  # of steps that are told at once
LEAST = 200  # characters of a step's answer that are left whatever the budget


class StepArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a browser tool."""

    tool: Annotated[str, Meta(max_length=100)]
    arguments: dict[str, Any] = {}


class BatchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_batch``."""

    steps: Annotated[tuple[StepArguments, ...], Meta(min_length=1, max_length=MAX_STEPS)]
    stop_on_error: bool = True
    inline: Annotated[bool, Meta(description="Show the last pictures.")] = True
    timeout_ms: TimeoutMs = 0


class _Step(msgspec.Struct, frozen=True):
    """A step whose arguments were read."""

    tool: Tool
    arguments: Any


async def run_batch(engine: Engine, arguments: BatchArguments, call: Call) -> Answer:
    """Run browser tools one after the other."""
    steps = read_steps(arguments, engine.config)
    until = trio.current_effective_deadline() - GRACE
    answers: list[Answer | VfaError] = []
    for number, step in enumerate(steps):
        call.progress(Progress(step.tool.name, number, len(steps)))
        answers.append(await _run(engine, step, call, until))
        failed = isinstance(answers[-1], VfaError)
        if (failed and arguments.stop_on_error) or trio.current_time() >= until:
            break
    told = [
        _tell(number, step, answer)
        for number, (step, answer) in enumerate(zip(steps, answers, strict=False), 1)
    ]
    value = {
        "completed": sum(step["ok"] for step in told),
        "failed": [step["step"] for step in told if not step["ok"]],
        "notRun": len(steps) - len(told),
        "steps": told,
    }
    pictured = [each for each in answers if isinstance(each, Answer) and each.pictures]
    pictures = pictured[-1].pictures if pictured and arguments.inline else ()
    return Answer(
        value=value,
        pictures=pictures,
        shorten=lambda value, budget: _shorten(value, budget, answers),
    )


# --- reading ----------------------------------------------------------------------------


def read_steps(arguments: BatchArguments, config: Config) -> list[_Step]:
    """Return the steps, ready to be run.

    Raises:
        InvalidArgsError: One of them cannot be; the message names each that is wrong.
        VfaError: One needs a switch that is off.
    """
    tools = {
        tool.name: tool
        for tool in offered_tools(config.tools)
        if not tool.is_qa and tool.name != NAME
    }
    steps: list[_Step] = []
    problems: list[str] = []
    for index, given in enumerate(arguments.steps):
        where = f"steps[{index}] ({given.tool[:100]})"
        tool = tools.get(given.tool)
        if tool is None:
            problems.append(f"{where}: {_why_not(given.tool, list(tools))}")
            continue
        if (closed := _closed_gate(tool, config)) is not None:
            closed.message = f"{where}: {closed.message}"
            raise closed
        try:
            steps.append(_Step(tool, read_arguments(tool, given.arguments, config)))
        except InvalidArgsError as error:
            problems.append(f"{where}: {error.message}")
    if problems:
        raise InvalidArgsError(
            "Nothing was run. " + "\n".join(_first(problems)),
            hint="Steps are calls of browser tools: {tool, arguments}.",
        )
    return steps


def _why_not(name: str, known: list[str]) -> str:
    if name == NAME:
        return "a batch cannot contain another one"
    if name.startswith("qa_"):
        return "qa_* tools cannot be steps of a batch"
    return f"there is no such tool{suggest(name, known)}"


def _closed_gate(tool: Tool, config: Config) -> VfaError | None:
    """Return what a tool would say whose switch is off."""
    from vfa.tools import scripting, webgl

    if tool.name == "browser_evaluate" and not config.enable_eval_js:
        return scripting.disabled()
    if tool.name == "browser_webgl_shim" and not config.enable_webgl_shim:
        return webgl.disabled()
    return None


def _first(problems: list[str]) -> Iterator[str]:
    yield from problems[:MOST_PROBLEMS]
    if len(problems) > MOST_PROBLEMS:
        yield f"and {len(problems) - MOST_PROBLEMS} more"


# --- running ----------------------------------------------------------------------------


async def _run(engine: Engine, step: _Step, call: Call, until: float) -> Answer | VfaError:
    """Run one step to its answer or its failure."""
    tool, config = step.tool, engine.config
    began = time.perf_counter()
    seconds = config.timeout_s(
        getattr(step.arguments, "timeout_ms", None), tool.default_timeout_ms(config)
    )
    ends = min(trio.current_time() + seconds + tool.grace_s, until)
    answer: Answer | VfaError = took_too_long(NAME, 0)
    outcome = "ok"
    with trio.CancelScope(deadline=ends) as scope:
        try:
            answer = await tool.run(engine, step.arguments, call)
        except DialogOpenedError as dialog:
            answer = interrupted(dialog)
        except VfaError as error:
            answer = error
    if scope.cancelled_caught:
        spent = round(1000 * (time.perf_counter() - began))
        answer = tool.out_of_time(step.arguments, min(spent, round(seconds * 1000)))
    if isinstance(answer, VfaError):
        outcome = answer.code
    milliseconds = 1000 * (time.perf_counter() - began)
    logger.info("%s in a batch: %s, %.0f ms", tool.name, outcome, milliseconds)
    return answer


def _tell(number: int, step: _Step, answer: Answer | VfaError) -> dict[str, Any]:
    told: dict[str, Any] = {"step": number, "tool": step.tool.name}
    if isinstance(answer, Answer):
        return told | {"ok": True, "result": answer.value}
    failure = {"code": answer.code, "message": answer.message}
    if answer.hint:
        failure["hint"] = answer.hint
    return told | {"ok": False, "error": failure}


# --- keeping within the budget ------------------------------------------------------------


def _shorten(
    value: dict[str, Any], budget: int, answers: list[Answer | VfaError]
) -> dict[str, Any]:
    """Shorten the longest results, each as its own tool would."""
    steps = value["steps"]
    contents = [step.get("result") or step.get("error") for step in steps]
    lengths = [encoded_length(content) for content in contents]
    room = budget - (encoded_length(value) - sum(lengths))
    limit = max(LEAST, share(lengths, room))
    shorter = []
    for step, content, length, answer in zip(steps, contents, lengths, answers, strict=True):
        if length <= limit:
            shorter.append(step)
            continue
        content = well_formed(content)
        if isinstance(answer, Answer) and answer.shorten is not None:
            content = answer.shorten(content, limit)
        content = bounded(content, limit)
        shorter.append(step | {"result" if step["ok"] else "error": content})
    return value | {"steps": shorter}


def share(lengths: list[int], room: int) -> int:
    """Return how long each of several things may be for all together to fit into ``room``.

    What is shorter leaves the others more.
    """
    left = max(room, 0)
    for count, length in zip(range(len(lengths), 0, -1), sorted(lengths), strict=True):
        if length * count > left:
            return left // count
        left -= length
    return max(lengths, default=0)


# --- the table --------------------------------------------------------------------------


def batch_time(config: Config) -> int:
    """Return the default time of a batch: its steps have their own."""
    return config.max_timeout_ms


BATCH: tuple[Tool, ...] = (
    Tool(
        name=NAME,
        description="Run several browser tools in order, in one call. All steps are checked "
        "before the first runs.",
        hints=Hints(read_only=False, destructive=True),
        arguments=BatchArguments,
        run=run_batch,
        default_timeout_ms=batch_time,
        grace_s=GRACE,
        returns="`completed`, `failed` (numbers of steps), `notRun`, `steps`: each `step`, "
        "`tool`, `ok`, and its `result` or `error` (`code`, `message`, `hint`).",
    ),
)
