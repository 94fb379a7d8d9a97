"""CDP over a WebSocket, by trio-websocket: for browsers that run already.

Owns the TCP stream: the library leaves it open when the peer goes first or refuses the
handshake, and lets its reading task raise. Imported only where it is used, since the library
costs start-up time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import trio
import trio_websocket

from vfa.errors import ConnectionLostError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    TcpStream = trio.SocketStream | trio.SSLStream[trio.SocketStream]

MAX_MESSAGE = 256 * 2**20  # bytes; the library's default of one megabyte cuts off screenshots
RECEIVE_BUFFER = 2**16  # bytes; with the default of 4 kB large messages take three times longer
CONNECT_TIMEOUT = 10.0  # seconds for the handshake
CLOSE_TIMEOUT = 1.0  # seconds for the closing handshake, which a stopped browser never answers


class WebSocketTransport:
    """A transport over an open WebSocket.

    Args:
        socket: The WebSocket, after its handshake.
        stream: What it runs on.
    """

    def __init__(self, socket: trio_websocket.WebSocketConnection, stream: TcpStream) -> None:
        self._socket = socket
        self._stream = stream

    async def send(self, *frames: bytes) -> None:
        """Send frames, each as a text of its own."""
        try:
            for frame in frames:
                await self._socket.send_message(frame.decode())
        except trio_websocket.ConnectionClosed as error:
            raise ConnectionLostError("WebSocket closed by the browser") from error

    async def receive(self) -> bytes | str:
        """Return the next frame."""
        try:
            frame: bytes | str = await self._socket.get_message()
        except trio_websocket.ConnectionClosed as error:
            raise ConnectionLostError("WebSocket closed by the browser") from error
        return frame

    async def aclose(self) -> None:
        """Close the WebSocket; the goodbye takes ``CLOSE_TIMEOUT`` at most."""
        with trio.move_on_after(CLOSE_TIMEOUT, shield=True):
            await self._socket.aclose()
        await trio.aclose_forcefully(self._stream)


async def connect_websocket(url: str, background: trio.Nursery) -> WebSocketTransport:
    """Connect to the DevTools WebSocket at ``url``.

    Args:
        url: ``ws://…/devtools/browser/…``.
        background: Where the library reads the socket. That task ends when the transport is
            closed or the peer is gone, and never fails.

    Raises:
        ConnectionLostError: Nothing there speaks WebSocket, or not within ``CONNECT_TIMEOUT``.
    """
    try:
        with trio.fail_after(CONNECT_TIMEOUT):
            transport: WebSocketTransport = await background.start(_keep_open, url)
    except (OSError, trio.TooSlowError) as error:
        raise ConnectionLostError(f"{url}: {str(error) or 'no answer'}") from error
    return transport


async def _keep_open(url: str, *, task_status: trio.TaskStatus[WebSocketTransport]) -> None:
    """Hold the stream and the library's reading task until the socket is closed."""
    stream, host, resource = await _open_stream(url)
    why, opened = "it closed the connection", False
    try:
        async with trio.open_nursery() as nursery:
            socket = await trio_websocket.wrap_client_stream(
                cast("trio.Nursery", _ReadingTask(nursery)),
                stream,
                host,
                resource,
                max_message_size=MAX_MESSAGE,
                receive_buffer_size=RECEIVE_BUFFER,
            )
            task_status.started(WebSocketTransport(socket, stream))
            opened = True
    except* (trio_websocket.HandshakeError, trio_websocket.ConnectionClosed) as failures:
        why = str(failures.exceptions[0])
    finally:
        await trio.aclose_forcefully(stream)
    if not opened:
        raise ConnectionLostError(f"{url}: {why}")


async def _open_stream(url: str) -> tuple[TcpStream, str, str]:
    """Connect; return the stream, the ``Host`` header and the resource to ask for."""
    try:
        parts = urlsplit(url)
        secure, host = parts.scheme == "wss", parts.hostname or ""
        port = parts.port or (443 if secure else 80)
    except ValueError as error:
        raise ConnectionLostError(f"{url}: {error}") from error
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    stream: TcpStream
    if secure:
        stream = await trio.open_ssl_over_tcp_stream(host, port, https_compatible=True)
    else:
        stream = await trio.open_tcp_stream(host, port)
    return stream, parts.netloc.rpartition("@")[2], resource


class _ReadingTask:
    """Stands in for the nursery that the library starts its one task in.

    The library waits for the handshake even when that task has ended without one, because
    the peer hung up; here the end of the task ends that wait.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery

    def start_soon(self, read: Callable[[], Awaitable[None]]) -> None:
        self._nursery.start_soon(self._run, read)

    async def _run(self, read: Callable[[], Awaitable[None]]) -> None:
        await read()
        self._nursery.cancel_scope.cancel(reason="the WebSocket is closed")
