"""A client that speaks lines of JSON, in this process and to servers of their own."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.fake_engine import FakeEngine
from vfa.actors.front import Front
from vfa.actors.stdio import LineReader, LineWriter
from vfa.actors.wire import open_wire
from vfa.config import Config

PATIENCE = 20.0  # seconds; a machine that is busy with other tests needs them
ROOT = Path(__file__).parent.parent


class Peer:
    """One end of a conversation."""

    def __init__(self, reader: LineReader, write) -> None:
        self._reader = reader
        self._write = write
        self._last = 0

    async def send_line(self, line: bytes) -> None:
        await self._write(line + b"\n")

    async def send(self, **message) -> None:
        await self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def receive(self) -> dict:
        with trio.fail_after(PATIENCE):
            return json.loads(await anext(self._reader))

    async def at_the_end(self) -> bool:
        """Read on to the end of the stream."""
        with trio.fail_after(PATIENCE):
            async for _ in self._reader:
                pass
        return True

    async def begin(self, method: str, **params) -> int:
        """Send a request; return its id."""
        self._last += 1
        await self.send(id=self._last, method=method, params=params)
        return self._last

    async def request(self, method: str, **params) -> dict:
        """Send a request; return the answer to it, notifications left out."""
        number = await self.begin(method, **params)
        while (answer := await self.receive()).get("id") != number:
            assert "method" in answer, f"an answer to something else: {answer}"
        return answer

    async def initialize(self, version: str = "2025-11-25") -> dict:
        answer = await self.request(
            "initialize",
            protocolVersion=version,
            capabilities={},
            clientInfo={"name": "peer", "version": "1"},
        )
        await self.send(method="notifications/initialized")
        return answer["result"]

    async def begin_call(self, name: str, token=None, **arguments) -> int:
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        return await self.begin("tools/call", name=name, arguments=arguments, **meta)

    async def call(self, name: str, **arguments) -> dict:
        return (await self.request("tools/call", name=name, arguments=arguments))["result"]


def text_of(result: dict) -> str:
    return result["content"][0]["text"]


@asynccontextmanager
async def served(
    engine: FakeEngine | None = None, config: Config | None = None, version="2025-11-25"
):
    """Serve a fake engine in this process, over pipes; yield an initialised peer."""
    config = config or Config()
    engine = engine or FakeEngine(config)
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    peer_writer, server_writer = LineWriter(from_client), LineWriter(from_server)
    server = Front(engine, config).server()
    try:
        async with open_wire(LineReader(to_server), server_writer) as (incoming, outgoing):
            async with trio.open_nursery() as nursery:
                options = server.create_initialization_options()
                nursery.start_soon(server.run, incoming, outgoing, options)
                peer = Peer(LineReader(to_client), peer_writer.write)
                peer.engine = engine
                if version:
                    await peer.initialize(version)
                yield peer
                nursery.cancel_scope.cancel()
    finally:
        peer_writer.close()
        server_writer.close()
        for fd in (to_server, from_client, to_client, from_server):
            os.close(fd)


@asynccontextmanager
async def server_process(*command: str, stderr=None, **environment: str):
    """Run a server of its own; yield its peer and process. It is killed in the end."""
    process = await trio.lowlevel.open_process(
        [sys.executable, *(command or ("-W", "error", "-m", "tests.serve_fake"))],
        stdin=-1,
        stdout=-1,
        stderr=stderr,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    try:
        yield Peer(LineReader(process.stdout.fileno()), process.stdin.send_all), process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            await process.stdin.aclose()
            await process.stdout.aclose()


async def exit_code(process) -> int:
    with trio.fail_after(PATIENCE):
        return await process.wait()
