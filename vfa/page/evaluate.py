"""Running a caller's JavaScript in a page's own world, and bringing back what it came to.

The statements run as in a console: the value of the last one is the result, ``await`` works
at the top, and a ``const`` may be declared again in the next call. Primitive results come with
the answer; objects stay in the page and a second call describes them (``serialise.js``). That
one runs among the page's objects, because objects of a page can be read nowhere else: V8's own
deep serialisation has neither names of functions nor messages of errors nor any limit.

A script that never ends is ended a little before the caller's deadline, so that the answer can
say so and the next call finds a page that works.

Source: CDP ``Runtime.evaluate``, ``Runtime.callFunctionOn``, ``Runtime.terminateExecution``.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import (
    CdpError,
    DeadlineExceededError,
    ElementNotFoundError,
    ScriptError,
)
from vfa.page.js import source
from vfa.page.locating import frame_inside, locate
from vfa.page.settling import Effects, after, before

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from vfa.cdp.dialogue import Event
    from vfa.errors import VfaError
    from vfa.page.frames import Frame
    from vfa.page.locating import Target
    from vfa.page.page import Page

GROUP = "vfa-evaluate"  # of handles; calls on a tab take turns, and each empties it
MARGIN = 0.3  # seconds before the deadline at which a script is ended
PART = 0.3  # of the time there is, where that is less than the margin
EARLY = 0.05  # seconds by which V8's clock may be ahead of ours
DEPARTURE_BOUND = 1.0  # seconds for the browser to begin what a script asked for
ALIVE = 0.5  # of the margin: how long a page may be silent before its script is ended
LEFT = (
    "navigated or closed",
    "Execution context was destroyed",
    "Cannot find context",
    "uniqueContextId not found",
    "Could not find object with given id",
)
ENDED = ("Execution was terminated", "Internal error")  # V8, when the time it got is over
SYNTAX = (
    "Statements as in a console: the last value is the result. Put an object literal into "
    "parentheses, and a return into a function."
)


class Expression(msgspec.Struct, frozen=True, kw_only=True):
    """What to run."""

    source: str
    await_promise: bool = True
    user_gesture: bool = False  # as if the user had just clicked
    limit: int = 100_000  # characters of JSON that the caller will show


class Evaluated(msgspec.Struct, frozen=True):
    """What it came to."""

    value: Any  # JSON
    type: str  # as CDP has it: undefined, number, string, object, array, node, map, error, …
    effects: Effects = Effects()  # the script may have sent the page elsewhere


class _Remote(msgspec.Struct, frozen=True, rename="camel"):
    type: str = "undefined"
    subtype: str = ""
    value: Any = None
    unserializable_value: str = ""
    description: str = ""
    object_id: str = ""


class _Requested(msgspec.Struct, frozen=True, rename="camel"):
    frame_id: str


class _Place(msgspec.Struct, frozen=True, rename="camel"):
    text: str = ""
    exception: _Remote | None = None


class _Outcome(msgspec.Struct, frozen=True, rename="camel"):
    result: _Remote = _Remote()
    exception_details: _Place | None = None


async def evaluate(
    page: Page, expression: Expression, frame: Target | None = None
) -> Evaluated:
    """Run ``expression`` in the page, or in the frame that the element ``frame`` holds.

    Raises:
        ScriptError: It threw, or its promise was rejected, or the page left meanwhile.
        DeadlineExceededError: It was still running shortly before the caller's deadline.
        ElementNotFoundError: ``frame`` is there, but holds no document.
    """
    inside = page.frames.main if frame is None else await _frame_of(page, frame)
    session = Session(page.connection, inside.session.id, command_timeout=math.inf)
    left = trio.current_effective_deadline() - trio.current_time()
    margin = min(MARGIN, PART * max(left, 0.0))
    end = trio.current_time() + left - margin
    start = before(page)
    with trio.move_on_at(end), _departure(page) as leaves:
        try:
            evaluated = await _evaluate(page, session, inside, expression, left - margin)
            await leaves()
            return msgspec.structs.replace(evaluated, effects=await after(page, start))
        except CdpError as error:
            if trio.current_time() < end - EARLY or not _is_ended(error):
                raise _explained(error) from error
            raise timed_out(left) from None
    await _end_script(session, margin * ALIVE)
    raise timed_out(left)


def timed_out(seconds: float) -> DeadlineExceededError:
    """Return the error for a script that did not end in time."""
    return DeadlineExceededError(
        f"Timeout: Runtime.evaluate did not finish within {round(seconds * 1000)} ms",
        hint="A script that was still running was ended. A promise that takes longer needs "
        "more timeout_ms, or await_promise: false.",
    )


@contextmanager
def _departure(page: Page) -> Iterator[Callable[[], Awaitable[None]]]:
    """Listen for a script that sends the page elsewhere; yield how to wait for it to leave.

    The renderer asks for the navigation while the script runs; the browser begins it later.
    """
    documents = page.documents
    starts = documents.starts
    requested = False

    def hear(event: Event) -> None:
        nonlocal requested
        if event.method == "Page.frameRequestedNavigation":
            asked = msgspec.json.decode(event.params, type=_Requested)
            requested |= asked.frame_id == documents.main_frame

    async def leave() -> None:
        if requested:
            with trio.move_on_after(DEPARTURE_BOUND) as scope, page.dialogs.ending(scope):
                await documents.wait_until(lambda: documents.starts != starts)

    stop = page.session.listen(hear)
    try:
        yield leave
    finally:
        stop()


async def _frame_of(page: Page, target: Target) -> Frame:
    element = await locate(page, target)
    frame = await frame_inside(page, element)
    if frame is None:
        raise ElementNotFoundError(
            f"{target} holds no frame", hint="frame must name an iframe element."
        )
    return frame


async def _evaluate(
    page: Page, session: Session, frame: Frame, expression: Expression, seconds: float
) -> Evaluated:
    params: dict[str, Any] = {
        "expression": expression.source,
        "replMode": True,
        "awaitPromise": True,  # the console's own: it is one for each call
        "userGesture": expression.user_gesture,
        "objectGroup": GROUP,
    }
    if frame is not page.frames.main:
        params["uniqueContextId"] = page.main_worlds.of(frame.id)
    if seconds < math.inf:
        params["timeout"] = max(1, round(seconds * 1000))
    page.acted = True
    holds = True
    try:
        outcome = await session.call("Runtime.evaluate", params, _Outcome)
        result = _value_of(outcome)
        if result.object_id and result.subtype == "promise" and expression.await_promise:
            result = await _settled(session, result)
        holds = bool(result.object_id)
        return await _describe(session, expression, result)
    finally:
        if holds:
            session.post("Runtime.releaseObjectGroup", {"objectGroup": GROUP})


async def _describe(session: Session, expression: Expression, result: _Remote) -> Evaluated:
    """Turn a result into JSON; a thenable, which only the page can tell, is awaited first."""
    if result.type not in {"object", "function"} or not result.object_id:
        return _primitive(result)
    described = await _serialised(session, expression, result)
    if described.thenable:
        result = await _settled(session, result)
        if not result.object_id:
            return _primitive(result)
        described = await _serialised(session, expression, result)
    return Evaluated(described.value, result.subtype or result.type)


class _Serialised(msgspec.Struct, frozen=True):
    value: Any = None
    thenable: bool = False  # it must be awaited first


async def _serialised(session: Session, expression: Expression, result: _Remote) -> _Serialised:
    arguments = (expression.limit, expression.await_promise and result.subtype != "promise")
    outcome = await session.call(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": source("serialise"),
            "objectId": result.object_id,
            "arguments": [{"objectId": result.object_id}, *({"value": a} for a in arguments)],
            "returnByValue": True,
        },
        _Outcome,
    )
    if outcome.exception_details is not None:  # the page broke what we need for it
        return _Serialised({"__type": "unserializable"})
    return msgspec.convert(outcome.result.value, _Serialised)


async def _settled(session: Session, promise: _Remote) -> _Remote:
    """Wait for a promise or a thenable."""
    outcome = await session.call(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": "function () { return this; }",
            "objectId": promise.object_id,
            "objectGroup": GROUP,
            "awaitPromise": True,
        },
        _Outcome,
    )
    return _value_of(outcome)


def _value_of(outcome: _Outcome) -> _Remote:
    if outcome.exception_details is not None:
        message = _thrown(outcome.exception_details)
        hint = SYNTAX if message.startswith("SyntaxError") else ""
        raise ScriptError(message, hint=hint)
    return outcome.result


def _thrown(place: _Place) -> str:
    """Say what was thrown: an error's own account with its stack, or the value."""
    thrown = place.exception
    if thrown is None:
        return place.text
    if thrown.subtype == "error":
        return thrown.description
    value = _primitive(thrown).value if not thrown.object_id else thrown.description
    return f"Uncaught {value}"


def _primitive(result: _Remote) -> Evaluated:
    if result.unserializable_value:  # NaN, Infinity, -0, 10n
        return Evaluated(result.unserializable_value, result.type)
    if result.type == "symbol":
        return Evaluated(result.description, "symbol")
    return Evaluated(result.value, result.type)


def _is_ended(error: CdpError) -> bool:
    return any(words in error.message for words in ENDED)


def _explained(error: CdpError) -> VfaError:
    if "Promise was collected" in error.message:
        return ScriptError(
            "the promise was collected: nothing is left that could settle it",
            hint="Use await_promise: false, or keep what settles the promise reachable.",
        )
    if any(words in error.message for words in LEFT):
        return ScriptError(
            "the page went to another document before the expression had its result",
            hint="browser_get_url says where the page is now. Run the rest there.",
        )
    return error


async def _end_script(session: Session, bound: float) -> None:
    """End what runs, if anything does: a promise that is merely late keeps nobody waiting."""
    with trio.move_on_after(bound) as silence:
        try:
            await session.call("Runtime.evaluate", {"expression": "1"})
        except CdpError:
            return  # it refused, so it answers
    if silence.cancelled_caught:
        session.post("Runtime.terminateExecution")
