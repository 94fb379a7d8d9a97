"""The error bus: a bounded ring of what pages reported, in the order it was reported.

Owns the entries behind ``qa_get_runtime_errors``. It is a plain object rather than a task:
publishing is synchronous, so nobody waits for it and nothing can be lost on the way; what the
ring has no room for is dropped, oldest first, and counted. Everything here runs between two
checkpoints of the loop, so a drain sees all of an entry or none of it.

An exception that a page reports on two channels is one entry: the console's echo of it goes.
Repeats within a run are folded into the first of them. Needs nothing but the standard library
and msgspec; does no I/O.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

Source = Literal["console", "pageerror", "http"]
Severity = Literal["info", "warning", "error"]

RANK: dict[str, int] = {"info": 0, "warning": 1, "error": 2}

ECHO_WINDOW = 1.0  # seconds between an exception and its echo; Chromium sends both at once
MAX_MESSAGE = 4_000  # characters; a page can throw strings of any size
MAX_URL = 2_000  # characters
MAX_FRAMES = 50  # lines of a stack
MAX_STACK = 10_000  # characters

# What Chromium and the console channel put before an exception's own words.
ECHO_PREFIXES = ("[Exception] ", "Uncaught (in promise) ", "Uncaught ")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a page reported."""

    number: int  # never reused
    source: Source
    severity: Severity
    message: str
    url: str  # of the page
    timestamp: float  # seconds since the epoch
    last_timestamp: float
    repeat: int = 1  # how often it was reported
    run_id: str = ""
    level: str = ""  # console only: the method that was called
    stack: str = ""
    status_code: int | None = None
    duration_ms: int | None = None
    failure: str = ""  # http without an answer: net::ERR_…
    method: str = ""
    request_url: str = ""

    @property
    def id(self) -> str:
        """The name of the entry in answers."""
        return f"ERR-{self.number:04d}"

    def to_answer(self) -> dict[str, Any]:
        """Return the entry as ``qa_get_runtime_errors`` shows it."""
        answer: dict[str, Any] = {
            "id": self.id,
            "source": self.source,
            "severity": self.severity,
            "level": self.level,
            "message": self.message,
            "stack": self.stack,
        }
        if self.source == "http":
            answer |= {"method": self.method, "request_url": self.request_url}
        answer = {name: value for name, value in answer.items() if value}
        if self.source == "http":
            answer |= {"status_code": self.status_code, "duration_ms": self.duration_ms}
        if self.failure:
            answer["failure"] = self.failure
        answer |= {"url": self.url, "timestamp": iso(self.timestamp)}
        if self.repeat > 1:
            answer |= {"repeat": self.repeat, "last_timestamp": iso(self.last_timestamp)}
        if self.run_id:
            answer["run_id"] = self.run_id
        return answer


class Drained(msgspec.Struct, frozen=True):
    """What one reading of the bus gave."""

    entries: tuple[Entry, ...]  # oldest first
    dropped: int  # lost to the ring since the last reading that cleared
    remaining: int = 0  # that match as well, left out by ``limit``


class ErrorBus:
    """A ring of ``capacity`` entries.

    Args:
        capacity: Entries kept; the oldest make room for new ones.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: dict[int, Entry] = {}  # by number, oldest first
        self._folds: dict[tuple[object, ...], int] = {}  # what a repeat agrees in -> number
        # Channel, run and words of what may be an exception or its echo -> the newest number.
        # An index, since a page may log errors by the ten thousand.
        self._words: dict[tuple[str, str, str], int] = {}
        self._last = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._entries)

    def publish(
        self,
        *,
        source: Source,
        severity: Severity,
        message: str,
        url: str,
        timestamp: float | None = None,
        run_id: str = "",
        level: str = "",
        stack: str = "",
        status_code: int | None = None,
        duration_ms: int | None = None,
        failure: str = "",
        method: str = "",
        request_url: str = "",
    ) -> None:
        """Add what a page reported; never waits.

        Args:
            source: The channel it came on.
            severity: How bad it is.
            message: What was said; for ``http`` it may be empty and is then made up.
            url: The page's.
            timestamp: Seconds since the epoch; now if None.
            run_id: The run that the page belonged to.
            level: The console method.
            stack: "at f (file.js:1:2)" lines.
            status_code: HTTP status; None if no answer came.
            duration_ms: From the request to its answer or failure.
            failure: Why no answer came.
            method: HTTP method.
            request_url: What was asked for.
        """
        at = time.time() if timestamp is None else timestamp
        if source == "http" and not message:
            message = _request_message(method, request_url, status_code, failure)
        entry = Entry(
            number=self._last + 1,
            source=source,
            severity=severity,
            message=_clip(message, MAX_MESSAGE),
            url=_clip(url, MAX_URL),
            timestamp=at,
            last_timestamp=at,
            run_id=run_id,
            level=level,
            stack=_clip("\n".join(stack.splitlines()[:MAX_FRAMES]), MAX_STACK),
            status_code=status_code,
            duration_ms=duration_ms,
            failure=failure,
            method=method,
            request_url=_clip(request_url, MAX_URL),
        )
        if source == "console" and self._is_echo(entry):
            return
        if source == "pageerror":
            self._take_back_echo_of(entry)
        self._add(entry)

    def drain(
        self,
        *,
        clear: bool = True,
        source: Source | Literal["all"] = "all",
        min_severity: Severity = "info",
        run_id: str = "",
        limit: int | None = None,
    ) -> Drained:
        """Return the entries that match, oldest first.

        Args:
            clear: Remove just what is returned, and forget the count of dropped ones.
            source: Only from this channel.
            min_severity: Nothing less severe.
            run_id: Only from this run; empty: from all.
            limit: At most so many.
        """
        matching = [
            entry
            for entry in self._entries.values()
            if source in {"all", entry.source}
            and RANK[entry.severity] >= RANK[min_severity]
            and run_id in {"", entry.run_id}
        ]
        given = matching if limit is None else matching[:limit]
        drained = Drained(tuple(given), self._dropped, len(matching) - len(given))
        if clear:
            for entry in given:
                self._remove(entry)
            self._dropped = 0
        return drained

    # --- the ring -----------------------------------------------------------------------

    def _add(self, entry: Entry) -> None:
        key = _fold_key(entry)
        if (number := self._folds.get(key)) is not None:
            first = self._entries[number]
            self._entries[number] = msgspec.structs.replace(
                first,
                repeat=first.repeat + 1,
                last_timestamp=max(first.last_timestamp, entry.timestamp),
            )
            return
        self._last = entry.number
        self._entries[entry.number] = entry
        self._folds[key] = entry.number
        for words in _words(entry):
            self._words[entry.source, entry.run_id, words] = entry.number
        if len(self._entries) > self._capacity:
            self._remove(next(iter(self._entries.values())))
            self._dropped += 1

    def _remove(self, entry: Entry) -> None:
        del self._entries[entry.number]
        del self._folds[_fold_key(entry)]
        for words in _words(entry):
            if self._words.get((entry.source, entry.run_id, words)) == entry.number:
                del self._words[entry.source, entry.run_id, words]

    # --- echoes -------------------------------------------------------------------------

    def _is_echo(self, said: Entry) -> bool:
        thrown = (self._find("pageerror", said.run_id, words) for words in _words(said))
        return any(entry is not None and _together(said, entry) for entry in thrown)

    def _take_back_echo_of(self, thrown: Entry) -> None:
        """Remove the console's echo if it came first, once."""
        for words in _words(thrown):
            said = self._find("console", thrown.run_id, words)
            if said is None or not _together(said, thrown):
                continue
            if said.repeat == 1:
                self._remove(said)
            else:
                self._entries[said.number] = msgspec.structs.replace(
                    said, repeat=said.repeat - 1
                )

    def _find(self, source: Source, run_id: str, words: str) -> Entry | None:
        number = self._words.get((source, run_id, words))
        return None if number is None else self._entries[number]


def iso(seconds: float) -> str:
    """Return a wall-clock time as ISO 8601 in UTC with milliseconds."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _words(entry: Entry) -> tuple[str, ...]:
    """Return the words by which an exception and its echo are recognised as one."""
    if entry.source == "http" or entry.severity != "error":
        return ()
    words = entry.message
    for prefix in ECHO_PREFIXES:
        words = words.removeprefix(prefix)
    if entry.source == "pageerror":
        return (words.strip(),)
    # console.error(error) prints the stack below the message.
    return tuple({words.strip(), words.partition("\n    at ")[0].strip()})


def _together(said: Entry, thrown: Entry) -> bool:
    apart = min(
        abs(said.last_timestamp - thrown.last_timestamp),
        abs(said.last_timestamp - thrown.timestamp),
    )
    return apart <= ECHO_WINDOW


def _fold_key(entry: Entry) -> tuple[object, ...]:
    """Return what two reports must agree in to be one: everything but times."""
    return (
        entry.run_id,
        entry.source,
        entry.severity,
        entry.level,
        entry.message,
        entry.url,
        entry.stack,
        entry.status_code,
        entry.failure,
        entry.method,
        entry.request_url,
    )


def _request_message(method: str, url: str, status: int | None, failure: str) -> str:
    asked = f"{method or 'GET'} {url}"
    if status is not None:
        return f"{asked} responded with {status}"
    return f"{asked} failed: {failure or 'no answer'}"


def _clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"
