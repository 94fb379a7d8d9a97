"""What a connection needs of a transport: whole frames in both directions."""

from __future__ import annotations

from typing import Protocol


class Transport(Protocol):
    """A WebSocket, a pipe, or memory.

    One task sends and one receives; neither is done by two tasks at once.
    """

    async def send(self, *frames: bytes) -> None:
        """Send frames, in that order. Not safe to cancel half-way.

        Raises:
            ConnectionLostError: The peer is gone.
        """

    async def receive(self) -> bytes | str:
        """Return the next frame. Cancelling a receive loses nothing.

        Raises:
            ConnectionLostError: There is no next frame.
        """

    async def aclose(self) -> None:
        """Close both directions; bounded, and never fails."""
