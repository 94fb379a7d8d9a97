"""A browser that lives in memory and says what it is told to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.errors import ConnectionLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class MemoryTransport:
    """One end of a pair; frames pass through, nothing is encoded."""

    def __init__(
        self, send: trio.MemorySendChannel[bytes], receive: trio.MemoryReceiveChannel[bytes]
    ) -> None:
        self._send, self._receive = send, receive

    @classmethod
    def pair(cls) -> tuple[MemoryTransport, MemoryTransport]:
        (a_out, b_in), (b_out, a_in) = (
            trio.open_memory_channel[bytes](0),
            trio.open_memory_channel[bytes](0),
        )
        return cls(a_out, a_in), cls(b_out, b_in)

    async def send(self, *frames: bytes) -> None:
        try:
            for frame in frames:
                await self._send.send(frame)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise ConnectionLostError("peer closed") from None

    async def receive(self) -> bytes:
        try:
            return await self._receive.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            raise ConnectionLostError("peer closed") from None

    def close(self) -> None:
        self._send.close()
        self._receive.close()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()


class FakeBrowser:
    """Answers each command with ``script[method](params)``; silent when that is missing.

    ``commands`` holds every command it took, decoded, in the order of their arrival.
    """

    def __init__(
        self,
        transport: MemoryTransport,
        script: Mapping[str, Callable[[dict[str, Any]], object]],
    ) -> None:
        self.commands: list[dict[str, Any]] = []
        self._transport = transport
        self._script = script

    @property
    def heard(self) -> list[str]:
        """The methods of the commands it took."""
        return [command["method"] for command in self.commands]

    async def run(self) -> None:
        while True:
            try:
                command = msgspec.json.decode(await self._transport.receive())
            except ConnectionLostError:
                return
            self.commands.append(command)
            if answer := self._script.get(command["method"]):
                session = {k: v for k, v in command.items() if k == "sessionId"}
                await self.say(id=command["id"], result=answer(command["params"]), **session)

    async def say(self, **frame: object) -> None:
        """Say something unasked: ``say(method="Page.loadEventFired", params={...})``."""
        await self.say_raw(msgspec.json.encode(frame))

    async def say_raw(self, frame: bytes) -> None:
        """Say something that need not be CDP at all."""
        await self._transport.send(frame)

    def vanish(self) -> None:
        """Close both directions, as a browser that was killed does."""
        self._transport.close()
