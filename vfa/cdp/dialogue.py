"""The CDP conversation as pure state: which command waits for which answer.

No socket, no task, no clock. Bytes to send come out, received bytes go in, and every command
ends exactly once: answered, failed, forgotten, orphaned with its session (``Detached``), or
returned by ``close``.

Sessions form a tree: a tab's session carries those of its frames and workers. Chromium says
``Target.detachedFromTarget`` for the session that was detached and nothing for those below
it, although they are gone as well; so who attached what is remembered here.

Source: https://chromedevtools.github.io/devtools-protocol/ (flat sessions, ``sessionId``).
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import CdpError, SessionGoneError

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION_NOT_FOUND = -32001  # Chromium's number for a session that is detached already

# A backslash that is itself escaped, a surrogate pair, or (first group) a lone surrogate.
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class Event(msgspec.Struct, frozen=True):
    """Something the browser said unasked."""

    method: str
    params: msgspec.Raw  # still JSON; the subscriber knows the type
    session_id: str | None


class Detached(Event, frozen=True):
    """The event that ended ``sessions``, and with them the commands ``orphans``."""

    sessions: tuple[str, ...]
    orphans: tuple[int, ...]


class Answer(msgspec.Struct, frozen=True):
    """What the browser said to command ``id``: a result, still JSON, or an error."""

    id: int
    outcome: msgspec.Raw | CdpError | SessionGoneError


class _Command(msgspec.Struct, frozen=True):
    """A command that waits: its method, for error messages, and its session."""

    method: str
    session_id: str | None


class _Subject(msgspec.Struct, frozen=True, rename="camel"):
    """The parameters, as far as they matter here, of an event that makes or ends a session."""

    session_id: str


class _WireError(msgspec.Struct, frozen=True):
    code: int
    message: str


class _Incoming(msgspec.Struct, frozen=True, rename="camel"):
    """Every frame the browser can send. Unknown fields are ignored: the protocol grows."""

    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: _WireError | None = None
    session_id: str | None = None


class _Outgoing(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    id: int
    method: str
    params: Mapping[str, Any]
    session_id: str | None = None


class Dialogue:
    """Correlates answers with commands on one connection, across all its sessions."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._pending: dict[int, _Command] = {}
        self._parents: dict[str, str] = {}  # session -> the session that attached it
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(_Incoming)
        self._subject = msgspec.json.Decoder(_Subject)

    @property
    def pending(self) -> frozenset[int]:
        """Ids of the commands that still wait for an answer."""
        return frozenset(self._pending)

    def command(
        self, method: str, params: Mapping[str, Any], session_id: str | None = None
    ) -> tuple[int, bytes]:
        """Open a command; return its id and the frame to send."""
        id_ = next(self._ids)
        frame = self._encoder.encode(_Outgoing(id_, method, params, session_id))
        self._pending[id_] = _Command(method, session_id)
        return id_, frame

    def receive(self, frame: bytes | str) -> Answer | Event | None:
        """Read one frame; None means the answer to a command that was forgotten.

        Raises:
            msgspec.DecodeError: The frame is not CDP. The connection is not to be trusted.
        """
        heard = self._decode(frame)
        if heard.id is None:
            return self._event(heard)
        command = self._pending.pop(heard.id, None)
        if command is None:
            return None
        if heard.error is not None:
            return Answer(heard.id, _refusal(command.method, heard.error))
        return Answer(heard.id, heard.result)

    def forget(self, id_: int) -> None:
        """Drop a command nobody waits for any more; its late answer will be ignored."""
        self._pending.pop(id_, None)

    def close(self) -> list[int]:
        """End the dialogue; return the commands that will never be answered."""
        orphans = list(self._pending)
        self._pending.clear()
        self._parents.clear()
        return orphans

    def _decode(self, frame: bytes | str) -> _Incoming:
        """Decode a frame; lone surrogates in it become U+FFFD.

        Any page can put one into its title or its console, Chromium passes it on as it is,
        and a strict decoder refuses the whole frame: no page may end the connection so.
        """
        try:
            return self._decoder.decode(frame)
        except RecursionError:
            raise msgspec.DecodeError("nested too deeply") from None
        except msgspec.DecodeError:
            mended = _without_lone_surrogates(frame)
            if mended == frame:
                raise
            return self._decoder.decode(mended)

    def _event(self, heard: _Incoming) -> Event:
        if heard.method is None:
            raise msgspec.ValidationError("neither an answer nor an event")
        if heard.method == "Target.attachedToTarget" and heard.session_id is not None:
            self._parents[self._subject.decode(heard.params).session_id] = heard.session_id
        if heard.method == "Target.detachedFromTarget":
            sessions = self._end_session(self._subject.decode(heard.params).session_id)
            orphans = [i for i, c in self._pending.items() if c.session_id in sessions]
            for id_ in orphans:
                self.forget(id_)
            return Detached(
                heard.method, heard.params, heard.session_id, sessions, tuple(orphans)
            )
        return Event(heard.method, heard.params, heard.session_id)

    def _end_session(self, session_id: str) -> tuple[str, ...]:
        """Forget a session and all below it; return them."""
        ended = [session_id]
        for parent in ended:  # grows while it is read: children follow their parents
            ended += [child for child, above in self._parents.items() if above == parent]
        for session in ended:
            self._parents.pop(session, None)
        return tuple(ended)


def _refusal(method: str, error: _WireError) -> CdpError | SessionGoneError:
    if error.code == SESSION_NOT_FOUND:
        return SessionGoneError(f"the session of {method} is gone: {error.message}")
    return CdpError(method, error.code, error.message)


def _without_lone_surrogates(frame: bytes | str) -> bytes:
    data = frame.encode() if isinstance(frame, str) else frame
    return _SURROGATE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)
