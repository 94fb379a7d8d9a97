"""From CDP's remote objects to lines of text."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.cdp.dialogue import Event
from vfa.page import console
from vfa.page.console import ConsoleLog, read_console_call, read_exception, read_log_entry
from vfa.page.records import ConsoleMessage


def event(name, **params) -> Event:
    return Event(name, msgspec.Raw(msgspec.json.encode(params)), "S")


def called(kind="log", *arguments, **more):
    return read_console_call(
        event("Runtime.consoleAPICalled", type=kind, args=arguments, timestamp=1500.0, **more)
    )


@pytest.mark.parametrize(
    ("remote", "text"),
    [
        ({"type": "string", "value": "a b"}, "a b"),
        ({"type": "number", "value": 1.5}, "1.5"),
        ({"type": "number", "unserializableValue": "NaN"}, "NaN"),
        ({"type": "bigint", "unserializableValue": "10n"}, "10n"),
        ({"type": "boolean", "value": False}, "false"),
        ({"type": "undefined"}, "undefined"),
        ({"type": "object", "subtype": "null", "value": None}, "null"),
        ({"type": "function", "description": "() => 1"}, "() => 1"),
        ({"type": "object", "subtype": "error", "description": "Error: x"}, "Error: x"),
        (
            {
                "type": "object",
                "description": "Object",
                "preview": {"properties": [{"name": "a", "value": "1"}], "overflow": True},
            },
            "{a: 1, …}",
        ),
        (
            {
                "type": "object",
                "subtype": "array",
                "description": "Array(1)",
                "preview": {"properties": [{"name": "0", "value": "x"}]},
            },
            "[x]",
        ),
        (
            {"type": "object", "description": "Map(2)", "subtype": "map", "preview": {}},
            "Map(2)",
        ),
    ],
)
def test_arguments_are_shown_as_a_console_shows_them(remote, text):
    assert called("log", remote).text == text


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        ("log", "log"),
        ("dir", "log"),
        ("table", "log"),
        ("trace", "log"),
        ("info", "info"),
        ("warning", "warning"),
        ("error", "error"),
        ("assert", "error"),
        ("debug", "debug"),
    ],
)
def test_every_call_has_one_of_the_five_levels(kind, level):
    assert called(kind, {"type": "string", "value": "x"}).level == level


def test_calls_that_say_nothing_are_left_out():
    assert called("clear") is None
    assert called("endGroup") is None


def test_a_message_names_its_place_and_its_time():
    frame = {"functionName": "f", "url": "http://a/x.js", "lineNumber": 4, "columnNumber": 2}
    message = called("error", stackTrace={"callFrames": [frame]})
    assert (message.url, message.line, message.timestamp) == ("http://a/x.js", 5, 1.5)
    assert message.stack == "at f (http://a/x.js:5:3)"


def thrown(text="Uncaught", **details):
    return read_exception(
        event(
            "Runtime.exceptionThrown",
            timestamp=2000.0,
            exceptionDetails={"text": text, "lineNumber": 0, **details},
        )
    )


def test_an_exception_keeps_its_words_and_loses_its_printed_stack():
    described = "TypeError: x\n    at f (a.js:1:1)"
    exception = thrown(exception={"type": "object", "description": described})
    assert (exception.message, exception.unhandled_rejection) == ("TypeError: x", False)


def test_a_rejection_with_a_bare_value_is_readable():
    exception = thrown("Uncaught (in promise)", exception={"type": "number", "value": 7})
    assert (exception.message, exception.unhandled_rejection) == ("7", True)


def test_log_entries_that_other_channels_report_are_left_out():
    def entry(source):
        return read_log_entry(
            event("Log.entryAdded", entry={"source": source, "level": "error", "text": "t"})
        )

    assert entry("network") is None
    assert entry("javascript") is None
    assert entry("security").level == "error"


def message(text, level="log"):
    return ConsoleMessage(level=level, text=text, timestamp=0.0)


@given(st.lists(st.text(max_size=20), max_size=40), st.integers(1, 10))
def test_the_ring_keeps_the_newest_and_counts_the_rest(texts, capacity):
    log = ConsoleLog(capacity)
    for text in texts:
        log.add(message(text))
    kept = [m.text for m in log.read()]
    assert kept == texts[-capacity:]
    assert log.dropped == len(texts) - len(kept)
    log.clear()
    assert (log.read(), log.dropped) == ((), 0)


def test_the_ring_is_bounded_in_characters_too(monkeypatch):
    monkeypatch.setattr(console, "MAX_TOTAL", 100)
    log = ConsoleLog(50)
    for number in range(20):
        log.add(message("x" * 30 + str(number)))
    assert len(log.read()) == 3
    assert log.dropped == 17


def test_one_huge_message_is_cut():
    assert len(called("log", {"type": "string", "value": "x" * 10**6}).text) < 11_000
