"""What a tool is, for the front and for anyone who lists them.

A tool's arguments are one frozen msgspec struct: its fields are the JSON Schema, the checks
and the values a handler gets. Needs no MCP library; the front turns these into its terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import DeadlineExceededError, VfaError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from vfa.audit.request import Progress
    from vfa.config import Config
    from vfa.tools.answer import Answer


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    """MCP tool annotations: what a client may tell its user. Hints, not promises."""

    read_only: bool  # changes nothing outside
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = True  # talks to servers that are not ours


class Call(msgspec.Struct, frozen=True):
    """What a handler may know of the call besides its arguments."""

    progress: Callable[[Progress], None]  # never waits


def took_too_long(tool: str, milliseconds: int) -> DeadlineExceededError:
    """Return the error for a call whose time ran out, where nothing better can be said."""
    return DeadlineExceededError(
        f"Timed out: {tool} took more than {milliseconds} ms",
        hint="Try again; if the tool takes timeout_ms, allow more time with it.",
    )


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the tool table.

    ``run`` gets the engine, the checked arguments and the call; it raises ``VfaError`` only.
    It takes no time limit: the front ends it after ``timeout_ms``, if the arguments have such
    a field and the caller used it, or after ``default_timeout_ms``, plus ``grace_s``.
    """

    name: str
    description: str
    hints: Hints
    arguments: type[msgspec.Struct]
    run: Callable[[Any, Any, Call], Awaitable[Answer]]
    default_timeout_ms: Callable[[Config], int]
    grace_s: float = 0.0  # for tools that keep their own time and answer with what they have
    expired: Callable[[Any, int], VfaError] | None = None  # arguments, ms -> what to say
    output_schema: Mapping[str, Any] | None = None
    returns: str = ""  # for people, in Markdown: the fields of the result; not sent to clients

    @property
    def is_qa(self) -> bool:
        """Whether results and failures have the form of the ``qa_*`` contract."""
        return self.name.startswith("qa_")

    def out_of_time(self, arguments: Any, milliseconds: int) -> VfaError:
        """Return the failure of a call whose time ran out."""
        if self.expired is not None:
            return self.expired(arguments, milliseconds)
        return took_too_long(self.name, milliseconds)
