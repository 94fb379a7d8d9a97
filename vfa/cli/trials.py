"""What ``vfa doctor`` tries for real: a browser, and this very server seen by a client.

Each trial is bounded, returns a line and raises nothing that is expected to happen.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.cli.checks import Check
from vfa.errors import VfaError

if TYPE_CHECKING:
    from vfa.config import Config

LAUNCH_TIMEOUT = 60.0  # seconds; twice what the engine itself allows a start
HANDSHAKE_TIMEOUT = 30.0  # seconds; Python imports for several on a slow board
EXIT_TIMEOUT = 10.0  # seconds from end of input to exit
PROTOCOL = "2025-06-18"
CLIENT = {"name": "vfa-doctor", "version": "1"}


async def launch(config: Config) -> Check:
    """Start the browser as a first call would, open a page twice, and stop it."""
    started = trio.current_time()
    try:
        with trio.fail_after(LAUNCH_TIMEOUT):
            first, again, failure = await _open_twice(config)
    except trio.TooSlowError:
        text = f"no page after {LAUNCH_TIMEOUT:g} s"
        return Check("Launch", "fail", text, "Run with LOG_LEVEL=DEBUG to see how far it gets.")
    if failure:
        return Check("Launch", "fail", failure.message, failure.hint)
    text = (
        f"first page after {_ms(started, first)} ms, another {_ms(first, again)} ms, "
        f"stopped in {_ms(again, trio.current_time())} ms"
    )
    return Check("Launch", "ok", text)


async def _open_twice(config: Config) -> tuple[float, float, VfaError | None]:
    """Return the times at which a page was there, and what went wrong."""
    from vfa.engine import open_engine

    first = again = trio.current_time()
    async with open_engine(config) as engine:
        # Caught in here: outside, it would arrive in a group.
        try:
            await engine.session.navigate("about:blank")
            first = trio.current_time()
            await engine.session.navigate("about:blank")
            again = trio.current_time()
        except VfaError as error:
            return first, again, error
    return first, again, None


async def handshake() -> Check:
    """Start ``vfa serve`` as a client would, shake hands, list the tools, and leave."""
    advice = "Run `vfa serve </dev/null` to see what it says on stderr."
    try:
        with trio.fail_after(HANDSHAKE_TIMEOUT):
            text = await _shake_hands()
    except trio.TooSlowError:
        return Check("MCP", "fail", f"no answer within {HANDSHAKE_TIMEOUT:g} s", advice)
    except (OSError, _NoAnswerError) as error:
        return Check("MCP", "fail", str(error), advice)
    return Check("MCP", "ok", text)


class _NoAnswerError(Exception):
    """The server said something that is no answer, or ended."""


async def _shake_hands() -> str:
    command = [sys.executable, "-m", "vfa", "serve"]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    options: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": null, "check": False}
    failure: _NoAnswerError | None = None
    text = ""
    started = trio.current_time()
    # The task that runs the process kills it when this block is left early.
    async with trio.open_nursery() as nursery:
        process = await nursery.start(partial(trio.run_process, command, **options))
        try:
            text = await _talk(process, started)
        except _NoAnswerError as error:
            failure = error
            nursery.cancel_scope.cancel(reason="no answer")
    if failure:
        raise failure
    return text


async def _talk(process: trio.Process, started: float) -> str:
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    lines = _Lines(stdout)
    hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
    await stdin.send_all(_message("initialize", 1, hello))
    name = (await lines.answer(1)).get("serverInfo", {}).get("name", "?")
    greeted = trio.current_time()
    await stdin.send_all(_message("notifications/initialized") + _message("tools/list", 2))
    tools = (await lines.answer(2)).get("tools", [])
    await stdin.aclose()
    with trio.move_on_after(EXIT_TIMEOUT):
        await process.wait()
    if process.returncode != 0:
        raise _NoAnswerError(f"exit code {process.returncode} after the end of its input")
    return (
        f"{name} answers after {_ms(started, greeted)} ms with {len(tools)} tools, and leaves"
    )


class _Lines:
    """The answers of a server, one JSON object a line."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    async def answer(self, number: int) -> dict[str, Any]:
        """Return the result that answers request ``number``; skip what else is said."""
        while True:
            line = await self._line()
            try:
                message = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.MsgspecError:
                raise _NoAnswerError(
                    f"stdout carries what is not protocol: {line[:80]!r}"
                ) from None
            if message.get("id") == number:
                if "result" not in message:
                    raise _NoAnswerError(f"refused: {message.get('error')}")
                return dict(message["result"])

    async def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            chunk = await self._stream.receive_some()
            if not chunk:
                raise _NoAnswerError("the server ended without an answer")
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        return line


def _message(method: str, number: int | None = None, params: Any = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params is not None:
        message["params"] = params
    return msgspec.json.encode(message) + b"\n"


def _ms(start: float, end: float) -> int:
    return round((end - start) * 1000)
