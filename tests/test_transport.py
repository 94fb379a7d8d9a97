"""What every transport promises: one set of tests, run against each of them."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pytest
import trio
import trio.testing
import trio_websocket

from tests.fake_cdp import MemoryTransport
from vfa.cdp import websocket
from vfa.cdp.pipe import PipeTransport
from vfa.cdp.websocket import connect_websocket
from vfa.errors import ConnectionLostError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LARGE = 60 * 2**20  # bytes; a full-page capture of a busy page, as base64
BOUND = 20  # seconds; what hangs should fail, and a busy machine should not


class Peer(Protocol):
    """The browser's end of a transport."""

    async def send(self, frame: bytes) -> None: ...

    async def send_at_once(self, frames: list[bytes]) -> None:
        """Send frames so that one read may find them all."""

    async def receive(self) -> bytes: ...

    async def stop_reading(self) -> None:
        """Let what is sent from now on get stuck."""

    async def vanish(self) -> None:
        """Go without a word."""


class MemoryPeer:
    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport

    async def send(self, frame: bytes) -> None:
        await self._transport.send(frame)

    async def send_at_once(self, frames: list[bytes]) -> None:
        for frame in frames:
            await self._transport.send(frame)

    async def receive(self) -> bytes:
        return await self._transport.receive()

    async def stop_reading(self) -> None:
        await trio.lowlevel.checkpoint()

    async def vanish(self) -> None:
        await self._transport.aclose()


class PipePeer:
    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._in = trio.lowlevel.FdStream(read_fd)
        self._out = trio.lowlevel.FdStream(write_fd)
        self._rest = b""

    async def send(self, frame: bytes) -> None:
        await self._out.send_all(frame + b"\0")

    async def send_at_once(self, frames: list[bytes]) -> None:
        await self._out.send_all(b"".join(frame + b"\0" for frame in frames))

    async def send_part(self, part: bytes) -> None:
        await self._out.send_all(part)

    async def receive(self) -> bytes:
        chunks = [self._rest]
        while b"\0" not in chunks[-1]:
            chunks.append(bytes(await self._in.receive_some()))
            if not chunks[-1]:
                raise ConnectionLostError("closed")
        frame, self._rest = b"".join(chunks).split(b"\0", 1)
        return frame

    async def stop_reading(self) -> None:
        await trio.lowlevel.checkpoint()

    async def vanish(self) -> None:
        self._in.close()
        self._out.close()
        await trio.lowlevel.checkpoint()


class WebSocketPeer:
    def __init__(
        self,
        stream: trio.SocketStream,
        socket: trio_websocket.WebSocketConnection,
        reading: trio.CancelScope,
    ) -> None:
        self._stream, self._socket, self._reading = stream, socket, reading

    async def send(self, frame: bytes) -> None:
        await self._socket.send_message(frame.decode())

    async def send_at_once(self, frames: list[bytes]) -> None:
        for frame in frames:
            await self.send(frame)

    async def send_part(self, part: bytes) -> None:
        await self._stream.send_all(part)

    async def receive(self) -> bytes:
        try:
            return (await self._socket.get_message()).encode()
        except trio_websocket.ConnectionClosed:
            raise ConnectionLostError("closed") from None

    async def stop_reading(self) -> None:
        self._reading.cancel(reason="the test says so")
        await trio.testing.wait_all_tasks_blocked()

    async def vanish(self) -> None:
        await trio.aclose_forcefully(self._stream)


def over_memory() -> tuple[MemoryTransport, MemoryPeer]:
    ours, theirs = MemoryTransport.pair()
    return ours, MemoryPeer(theirs)


def over_pipe() -> tuple[PipeTransport, PipePeer]:
    (from_peer, to_us), (from_us, to_peer) = os.pipe(), os.pipe()
    return PipeTransport(from_peer, to_peer), PipePeer(from_us, to_us)


async def over_websocket(
    nursery: trio.Nursery,
) -> tuple[websocket.WebSocketTransport, WebSocketPeer]:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    peers: list[WebSocketPeer] = []

    async def accept(*, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        async with listener:
            stream = await listener.accept()
        async with trio.open_nursery() as reading:
            request = await trio_websocket.wrap_server_stream(
                reading, stream, max_message_size=2 * LARGE
            )
            peers.append(WebSocketPeer(stream, await request.accept(), reading.cancel_scope))
            accepted.set()

    accepted = trio.Event()
    port = listener.socket.getsockname()[1]
    await nursery.start(accept)
    transport = await connect_websocket(f"ws://127.0.0.1:{port}/devtools", nursery)
    await accepted.wait()
    return transport, peers[0]


@pytest.fixture(params=["memory", "pipe", "websocket"])
async def ends(request, nursery):
    """A transport and its peer, as the pair ``(transport, peer)``."""
    with trio.fail_after(BOUND):
        if request.param == "memory":
            transport, peer = over_memory()
        elif request.param == "pipe":
            transport, peer = over_pipe()
        else:
            transport, peer = await over_websocket(nursery)
    yield transport, peer
    with trio.fail_after(BOUND):
        await peer.vanish()
        await transport.aclose()
    nursery.cancel_scope.cancel(reason="the test is over")


# --- the contract -----------------------------------------------------------------------


async def test_frames_go_both_ways(ends, nursery):
    transport, peer = ends
    with trio.fail_after(BOUND):
        for number in range(3):
            frame = b'{"id":%d,"name":"\xc3\xa9\xf0\x9f\x98\x80"}' % number
            nursery.start_soon(transport.send, frame)
            assert await peer.receive() == frame
            nursery.start_soon(peer.send, frame)
            assert as_bytes(await transport.receive()) == frame


async def test_a_frame_of_60_mb_arrives_whole_and_so_does_the_next(ends, nursery):
    transport, peer = ends
    large = b'{"data":"' + b"x" * LARGE + b'"}'

    async def talk() -> None:
        await peer.send(large)
        await peer.send(b"{}")

    nursery.start_soon(talk)
    with trio.fail_after(BOUND):
        assert as_bytes(await transport.receive()) == large
        assert as_bytes(await transport.receive()) == b"{}"


async def test_a_command_of_20_mb_arrives_whole(ends, nursery):
    transport, peer = ends
    large = b"x" * (20 * 2**20)
    nursery.start_soon(transport.send, large)
    with trio.fail_after(BOUND):
        assert await peer.receive() == large


async def test_many_small_frames_in_one_read_come_out_one_by_one_in_order(ends, nursery):
    transport, peer = ends
    frames = [b'{"id":%d}' % number for number in range(500)]
    nursery.start_soon(peer.send_at_once, frames)
    with trio.fail_after(BOUND):
        assert [as_bytes(await transport.receive()) for _ in frames] == frames


async def test_frames_said_before_the_peer_went_are_still_received(ends, nursery):
    transport, peer = ends

    async def talk() -> None:
        await peer.send(b"first")
        await peer.send(b"last")
        await peer.vanish()

    nursery.start_soon(talk)
    with trio.fail_after(BOUND):
        assert as_bytes(await transport.receive()) == b"first"
        assert as_bytes(await transport.receive()) == b"last"
        with pytest.raises(ConnectionLostError):
            await transport.receive()


async def test_a_peer_that_is_gone_is_reported_by_every_later_call(ends):
    transport, peer = ends
    await peer.vanish()
    with trio.fail_after(BOUND):
        for _ in range(2):
            with pytest.raises(ConnectionLostError):
                await transport.receive()
            with pytest.raises(ConnectionLostError):
                await transport.send(b"{}")


async def test_a_peer_that_goes_ends_a_receive_in_progress(ends, nursery):
    transport, peer = ends
    await trio.testing.wait_all_tasks_blocked()

    async def go() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await peer.vanish()

    nursery.start_soon(go)
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError):
        await transport.receive()


async def test_a_receive_that_is_cancelled_loses_nothing(ends, nursery):
    transport, peer = ends
    scope = trio.CancelScope()

    async def receive() -> None:
        with scope:
            await transport.receive()

    async with trio.open_nursery() as receiving:
        receiving.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel(reason="gave up")
    assert scope.cancelled_caught
    with trio.fail_after(BOUND):
        for frame in (b"one", b"two"):
            nursery.start_soon(peer.send, frame)
            assert as_bytes(await transport.receive()) == frame


async def test_a_send_in_progress_fails_when_the_peer_disappears(ends, nursery):
    transport, peer = ends
    await peer.stop_reading()

    async def go() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await peer.vanish()

    nursery.start_soon(go)
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError):
        await transport.send(b"x" * LARGE)


async def test_closing_ends_a_receive_in_progress_and_is_heard_by_the_peer(ends, nursery):
    transport, peer = ends
    ended = trio.Event()

    async def receive() -> None:
        with pytest.raises(ConnectionLostError):
            await transport.receive()
        ended.set()

    nursery.start_soon(receive)
    await trio.testing.wait_all_tasks_blocked()
    with trio.fail_after(BOUND):
        await transport.aclose()
        await ended.wait()
        with pytest.raises(ConnectionLostError):
            await peer.receive()
        await transport.aclose()  # once more is no error
        with pytest.raises(ConnectionLostError):
            await transport.send(b"{}")


# --- what only one of them can do -------------------------------------------------------


async def test_a_pipe_keeps_half_a_frame_over_a_cancelled_receive():
    transport, peer = over_pipe()
    frame = b"x" * 500_000
    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def receive() -> None:
            with scope:
                await transport.receive()

        nursery.start_soon(receive)
        await peer.send_part(frame[:300_000])
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel(reason="gave up")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(peer.send_part, frame[300_000:] + b"\0")
        with trio.fail_after(BOUND):
            assert await transport.receive() == frame
    await peer.vanish()
    await transport.aclose()


async def test_a_pipe_closes_the_descriptors_it_was_given():
    transport, peer = over_pipe()
    await peer.vanish()
    ours = transport._in.fileno(), transport._out.fileno()
    await transport.aclose()
    for fd in ours:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(fd)


async def test_nothing_at_a_url_is_a_lost_connection(nursery):
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError, match=str(port)):
        await connect_websocket(f"ws://127.0.0.1:{port}/devtools", nursery)


async def test_a_server_that_refuses_the_websocket_is_a_lost_connection(nursery):
    async def refuse(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

    url = await serve(nursery, refuse)
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError, match="404"):
        await connect_websocket(url, nursery)
    nursery.cancel_scope.cancel(reason="the test is over")


async def test_a_server_that_hangs_up_is_not_waited_for(nursery):
    async def hang_up(stream: trio.SocketStream) -> None:
        await stream.receive_some()

    url = await serve(nursery, hang_up)
    with trio.fail_after(5), pytest.raises(ConnectionLostError, match="it closed"):
        await connect_websocket(url, nursery)
    nursery.cancel_scope.cancel(reason="the test is over")


@pytest.mark.parametrize("url", ["ws://", "ws://127.0.0.1:port/", "ws://[::1/"])
async def test_a_url_that_leads_nowhere_is_a_lost_connection(nursery, url):
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError, match=r"ws://"):
        await connect_websocket(url, nursery)


async def test_a_server_that_never_shakes_hands_is_given_up(nursery, monkeypatch):
    monkeypatch.setattr(websocket, "CONNECT_TIMEOUT", 0.2)

    async def stand_still(_: trio.SocketStream) -> None:
        await trio.sleep_forever()

    url = await serve(nursery, stand_still)
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError, match="no answer"):
        await connect_websocket(url, nursery)
    nursery.cancel_scope.cancel(reason="the test is over")


async def test_closing_does_not_wait_for_a_browser_that_stands_still(nursery, monkeypatch):
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT", 0.2)
    transport, peer = await over_websocket(nursery)
    await peer.stop_reading()
    with trio.fail_after(BOUND):
        await transport.aclose()
        with pytest.raises(ConnectionLostError):
            await transport.receive()
    await peer.vanish()


@pytest.mark.parametrize("then_gone", [False, True], ids=["stays", "goes"])
async def test_a_peer_that_breaks_the_websocket_rules_is_lost(nursery, then_gone):
    transport, peer = await over_websocket(nursery)
    await peer.send_part(b"\xff" * 64)
    if then_gone:
        await peer.vanish()
    with trio.fail_after(BOUND), pytest.raises(ConnectionLostError):
        await transport.receive()
    await peer.vanish()
    await transport.aclose()


async def serve(nursery: trio.Nursery, handler: Callable[..., Awaitable[None]]) -> str:
    """Serve TCP in ``nursery``; return the WebSocket URL of it."""
    start = partial(trio.serve_tcp, handler, 0, host="127.0.0.1")
    (listener,) = await nursery.start(start)
    return f"ws://127.0.0.1:{listener.socket.getsockname()[1]}/devtools"


def as_bytes(frame: bytes | str) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame
