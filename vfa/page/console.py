"""What a page said on its console: a ring bounded by messages and by characters.

Source: CDP ``Runtime.consoleAPICalled``, ``Runtime.exceptionThrown``, ``Log.entryAdded``.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.page.records import ConsoleMessage, PageException

if TYPE_CHECKING:
    from vfa.cdp.dialogue import Event

MAX_TEXT = 10_000  # characters of one message; a page can log 50 MB strings
MAX_TOTAL = 2_000_000  # characters of the whole ring
MAX_STACK = 50  # frames

# console.* calls to the five levels a caller can ask for
LEVELS = {
    "error": "error",
    "assert": "error",
    "warning": "warning",
    "info": "info",
    "debug": "debug",
    "verbose": "debug",
}
# Log sources that the other two channels and the network log do not report already
LOG_SOURCES = frozenset(
    {"security", "deprecation", "intervention", "violation", "rendering", "other", "storage"}
)


class _Remote(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Runtime.RemoteObject``, as far as text goes."""

    type: str = ""
    subtype: str = ""
    value: Any = None
    unserializable_value: str = ""
    description: str = ""
    preview: Any = None


class _Call(msgspec.Struct, frozen=True, rename="camel"):
    function_name: str = ""
    url: str = ""
    line_number: int = 0
    column_number: int = 0


class _Stack(msgspec.Struct, frozen=True, rename="camel"):
    call_frames: tuple[_Call, ...] = ()


class _ConsoleCall(msgspec.Struct, frozen=True, rename="camel"):
    type: str
    args: tuple[_Remote, ...] = ()
    timestamp: float = 0.0  # milliseconds since the epoch
    stack_trace: _Stack | None = None


class _Details(msgspec.Struct, frozen=True, rename="camel"):
    text: str = ""
    url: str = ""
    line_number: int = 0
    column_number: int = 0
    exception: _Remote | None = None
    stack_trace: _Stack | None = None


class _Thrown(msgspec.Struct, frozen=True, rename="camel"):
    timestamp: float
    exception_details: _Details


class _LogEntry(msgspec.Struct, frozen=True, rename="camel"):
    source: str = ""
    level: str = ""
    text: str = ""
    timestamp: float = 0.0
    url: str = ""
    line_number: int | None = None


class _LogAdded(msgspec.Struct, frozen=True):
    entry: _LogEntry


class ConsoleLog:
    """The last ``capacity`` messages of the current document, oldest first."""

    def __init__(self, capacity: int) -> None:
        self.dropped = 0  # messages the ring had no room for since it was last emptied
        self._capacity = capacity
        self._messages: deque[ConsoleMessage] = deque()
        self._characters = 0

    def add(self, message: ConsoleMessage) -> None:
        """Keep a message; the oldest ones make room."""
        self._messages.append(message)
        self._characters += len(message.text)
        while len(self._messages) > self._capacity or self._characters > MAX_TOTAL:
            self._characters -= len(self._messages.popleft().text)
            self.dropped += 1

    def read(self, level: str = "all") -> tuple[ConsoleMessage, ...]:
        """Return what is kept of ``level``, oldest first."""
        return tuple(m for m in self._messages if level in {"all", m.level})

    def clear(self) -> None:
        """Forget everything, the count of dropped ones included."""
        self._messages.clear()
        self._characters = 0
        self.dropped = 0


def read_console_call(event: Event) -> ConsoleMessage | None:
    """Turn a ``Runtime.consoleAPICalled`` event into a message; None: not one to show."""
    call = msgspec.json.decode(event.params, type=_ConsoleCall)
    if call.type in {"clear", "endGroup", "profile", "profileEnd"}:
        return None
    text = " ".join(_as_text(argument) for argument in call.args)
    if call.type == "assert":
        text = f"Assertion failed: {text}" if text else "Assertion failed"
    top = (
        call.stack_trace.call_frames[0]
        if call.stack_trace and call.stack_trace.call_frames
        else None
    )
    return ConsoleMessage(
        level=LEVELS.get(call.type, "log"),
        text=_cut(text),
        timestamp=call.timestamp / 1000,
        url=top.url or None if top else None,
        line=top.line_number + 1 if top else None,
        stack=_stack_text(call.stack_trace)
        if call.type in {"error", "assert", "trace"}
        else "",
    )


def read_exception(event: Event) -> PageException:
    """Turn a ``Runtime.exceptionThrown`` event into an exception."""
    thrown = msgspec.json.decode(event.params, type=_Thrown)
    details = thrown.exception_details
    described = details.exception.description if details.exception else ""
    if not described and details.exception is not None:
        described = _as_text(details.exception)
    message = described.split("\n    at ", 1)[0] if described else details.text
    return PageException(
        message=_cut(message),
        timestamp=thrown.timestamp / 1000,
        stack=_stack_text(details.stack_trace),
        url=details.url,
        line=details.line_number + 1,
        unhandled_rejection="(in promise)" in details.text,
    )


def read_log_entry(event: Event) -> ConsoleMessage | None:
    """Turn a ``Log.entryAdded`` event into a message; None: another channel reports it."""
    entry = msgspec.json.decode(event.params, type=_LogAdded).entry
    if entry.source not in LOG_SOURCES:
        return None
    return ConsoleMessage(
        level=LEVELS.get(entry.level, "log"),
        text=_cut(entry.text),
        timestamp=entry.timestamp / 1000,
        url=entry.url or None,
        line=None if entry.line_number is None else entry.line_number + 1,
    )


def _as_text(remote: _Remote) -> str:
    if remote.type == "string" and isinstance(remote.value, str):
        return remote.value
    if remote.type == "undefined":
        return "undefined"
    if remote.subtype == "null":
        return "null"
    if remote.unserializable_value:
        return remote.unserializable_value
    if remote.type == "object" and isinstance(remote.preview, dict):
        return _preview_text(remote) or remote.description
    if remote.value is not None:
        return msgspec.json.encode(remote.value).decode()
    return remote.description


def _preview_text(remote: _Remote) -> str:
    """Show a plain object or array as its preview does; others by their description."""
    preview = remote.preview
    properties = preview.get("properties") or []
    more = ", …" if preview.get("overflow") else ""
    if remote.subtype == "array":
        return "[" + ", ".join(str(p.get("value", "")) for p in properties) + more + "]"
    if remote.subtype or remote.description not in {"Object", ""}:
        return ""
    return (
        "{"
        + ", ".join(f"{p.get('name')}: {p.get('value', '')}" for p in properties)
        + more
        + "}"
    )


def _stack_text(stack: _Stack | None) -> str:
    if stack is None:
        return ""
    return "\n".join(
        f"at {call.function_name or '<anonymous>'} "
        f"({call.url}:{call.line_number + 1}:{call.column_number + 1})"
        for call in stack.call_frames[:MAX_STACK]
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "\n... [truncated]"
