"""MCP over lines: one JSON-RPC message a line, and an error for each line that is none.

Source: MCP 2025-11-25, transports, stdio; JSON-RPC 2.0, section 5.1. The SDK's transport
drops what it cannot read without a word, and its client waits for an answer that never comes;
a request with an id that JSON-RPC does not allow it takes for a notification. Here each gets
the error that JSON-RPC has for it, and the next line is read.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import pydantic
import trio

from vfa.actors.sdk import SessionMessage, types

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from vfa.actors.stdio import LineReader, LineWriter

    ReadStream = MemoryObjectReceiveStream[SessionMessage | Exception]
    WriteStream = MemoryObjectSendStream[SessionMessage]

logger = logging.getLogger(__name__)

LAST_ANSWERS = 0.25  # seconds; see Wire.read


class _Head(msgspec.Struct):
    """What of a refused message tells whom to answer."""

    id: Any = msgspec.UNSET
    method: Any = msgspec.UNSET


class Wire:
    """Carries messages between the lines and the SDK."""

    def __init__(self, reader: LineReader, writer: LineWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unanswered: set[types.RequestId] = set()
        self._all_answered = trio.Event()

    async def read(
        self,
        messages: MemoryObjectSendStream[SessionMessage | Exception],
        answers: WriteStream,
    ) -> None:
        """Pass every line on until standard input ends.

        The end is passed on a moment late if quick answers are still on their way, so that
        ``printf … | vfa serve`` works; what takes longer is cancelled by it.
        """
        async with messages, answers:
            async for line in self._reader:
                item = read_message(line)
                if isinstance(item, types.JSONRPCError):
                    await answers.send(SessionMessage(item))
                    continue
                if isinstance(item, types.JSONRPCRequest):
                    self._unanswered.add(item.id)
                await messages.send(SessionMessage(item))
            with trio.move_on_after(LAST_ANSWERS):
                while self._unanswered:
                    self._all_answered = trio.Event()
                    await self._all_answered.wait()

    async def write(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write every message until there will be no more.

        Raises:
            OSError, trio.BrokenResourceError: The client is gone.
        """
        async with messages:
            async for item in messages:
                await self._writer.write(write_message(item.message))
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._unanswered.discard(item.message.id)
                    if not self._unanswered:
                        self._all_answered.set()


@asynccontextmanager
async def open_wire(
    reader: LineReader, writer: LineWriter
) -> AsyncIterator[tuple[ReadStream, WriteStream]]:
    """Run a wire; yield the streams for ``Server.run``, which closes them.

    The block is cancelled when the client stops reading.
    """
    wire = Wire(reader, writer)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        with suppress(anyio.BrokenResourceError):  # the server does not listen any more
            await wire.read(to_server, to_client.clone())

    async def write() -> None:
        try:
            await wire.write(from_server)
        except (OSError, trio.BrokenResourceError):
            logger.info("the client does not read any more")
            tasks.cancel_scope.cancel(reason="the client is gone")

    with to_server, from_client, to_client, from_server:
        async with trio.open_nursery() as tasks:
            tasks.start_soon(read, name="mcp reader")
            tasks.start_soon(write, name="mcp writer")
            yield from_client, to_client
            tasks.cancel_scope.cancel(reason="the session is over")


def read_message(line: bytes | None) -> types.JSONRPCMessage:
    """Return the message in ``line``, or the error to answer it with.

    Args:
        line: A line without its end; None if it was too long to be kept.
    """
    if line is None:
        return _error(None, types.INVALID_REQUEST, "the message is too long (64 MiB at most)")
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except pydantic.ValidationError as error:
        return _explain(line, error)
    if isinstance(message, types.JSONRPCNotification) and _head(line).id is not msgspec.UNSET:
        return _error(None, types.INVALID_REQUEST, "id must be a string or a whole number")
    return message


def write_message(message: types.JSONRPCMessage) -> bytes:
    """Return ``message`` as a line."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode() + b"\n"
    except ValueError:  # a lone surrogate that some other code put into a message
        logger.exception("a message cannot be written as JSON")
        number = getattr(message, "id", None)
        error = _error(number, types.INTERNAL_ERROR, "the answer cannot be written as JSON")
        return error.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _explain(line: bytes, error: pydantic.ValidationError) -> types.JSONRPCError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return _error(None, types.PARSE_ERROR, f"Parse error: {first['msg']}")
    if line.lstrip()[:1] == b"[":
        return _error(
            None, types.INVALID_REQUEST, "batches are not supported: one message a line"
        )
    head = _head(line)
    number = (
        head.id if isinstance(head.id, str | int) and not isinstance(head.id, bool) else None
    )
    reason = "not a JSON-RPC 2.0 message"
    if isinstance(head.method, str):
        reason += ': jsonrpc must be "2.0" and params an object'
    return _error(number, types.INVALID_REQUEST, reason)


def _head(line: bytes) -> _Head:
    try:
        return msgspec.json.decode(line, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Head()


def _error(number: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
    )
