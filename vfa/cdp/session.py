"""One flat session on a connection: a tab, a frame, a worker, each with its own commands.

Owns nothing but the bound on a silent command. Does not attach or detach: whoever asked the
browser for the session has its id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import trio

from vfa.errors import CommandTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vfa.cdp.connection import Connection
    from vfa.cdp.dialogue import Event

T = TypeVar("T")

COMMAND_TIMEOUT = 30.0  # seconds; no healthy renderer is silent for longer on one command


class Session:
    """Commands to, and events of, one session.

    Args:
        connection: The connection it lives on.
        id: CDP ``SessionID``.
        command_timeout: Seconds after which a silent command fails; ``math.inf`` where only
            the caller's own deadline is to count.
    """

    def __init__(
        self,
        connection: Connection,
        id: str,  # noqa: A002  # CDP's word
        command_timeout: float = COMMAND_TIMEOUT,
    ) -> None:
        self.connection = connection
        self.id = id
        self._bound = command_timeout

    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]: ...

    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, result: type[T] = ...
    ) -> T: ...

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, result: type[Any] = dict
    ) -> Any:
        """Send a command and return its result.

        Raises:
            CdpError: The browser refused the command.
            ConnectionLostError: The connection or the session ended before the answer.
            CommandTimeoutError: Nothing came within the session's bound.
        """
        with trio.move_on_after(self._bound) as bound:
            return await self.connection.call(method, params, result, session_id=self.id)
        assert bound.cancelled_caught
        raise CommandTimeoutError(
            f"the page did not answer {method} within {self._bound:g} s",
            hint="The page is probably busy in an endless script; the next call recovers it.",
        )

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a command and do not wait for its answer."""
        self.connection.post(method, params, session_id=self.id)

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``listener`` with each event of this session; return how to stop that."""
        return self.connection.listen(self.id, listener)
