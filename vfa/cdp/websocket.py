"""CDP over a WebSocket, by trio-websocket: for browsers that run already.

Owns the socket. Imported only where it is used, since the library costs start-up time.
"""

from __future__ import annotations

import trio
import trio_websocket

from vfa.errors import ConnectionLostError

MAX_MESSAGE = 256 * 2**20  # bytes; the library's default of one megabyte cuts off screenshots
RECEIVE_BUFFER = 2**16  # bytes; with the default of 4 kB large messages take three times longer
CONNECT_TIMEOUT = 10.0  # seconds for the handshake
CLOSE_TIMEOUT = 1.0  # seconds for the closing handshake, which a stopped browser never answers


class WebSocketTransport:
    """A transport over an open WebSocket."""

    def __init__(self, socket: trio_websocket.WebSocketConnection) -> None:
        self._socket = socket

    async def send(self, frame: bytes) -> None:
        """Send one frame, as text."""
        try:
            await self._socket.send_message(frame.decode())
        except trio_websocket.ConnectionClosed as error:
            raise ConnectionLostError("the browser closed the WebSocket") from error

    async def receive(self) -> bytes | str:
        """Return the next frame."""
        try:
            frame: bytes | str = await self._socket.get_message()
        except trio_websocket.ConnectionClosed as error:
            raise ConnectionLostError("the browser closed the WebSocket") from error
        return frame

    async def aclose(self) -> None:
        """Close the WebSocket."""
        with trio.move_on_after(CLOSE_TIMEOUT, shield=True):
            await self._socket.aclose()


async def connect_websocket(url: str, background: trio.Nursery) -> WebSocketTransport:
    """Connect to the DevTools WebSocket at ``url``.

    Args:
        url: ``ws://…/devtools/browser/…``.
        background: Where the library reads the socket; it ends when the transport is closed.

    Raises:
        ConnectionLostError: Nothing there speaks WebSocket, or not within ``CONNECT_TIMEOUT``.
    """
    try:
        with trio.fail_after(CONNECT_TIMEOUT):
            socket = await trio_websocket.connect_websocket_url(
                background,
                url,
                max_message_size=MAX_MESSAGE,
                receive_buffer_size=RECEIVE_BUFFER,
            )
    except (trio_websocket.HandshakeError, OSError, trio.TooSlowError) as error:
        raise ConnectionLostError(f"{url}: {str(error) or 'no answer'}") from error
    return WebSocketTransport(socket)
