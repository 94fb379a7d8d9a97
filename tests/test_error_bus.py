"""The error bus: order, folding, echoes, and exact drains."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vfa.actors.error_bus import ECHO_WINDOW, RANK, ErrorBus, iso

NOON = 1_736_850_161.512  # 2025-01-14T10:22:41.512Z


def say(bus: ErrorBus, message: str = "boom", **fields: Any) -> None:
    bus.publish(
        **{
            "source": "console",
            "severity": "error",
            "level": "error",
            "message": message,
            "url": "https://shop.example/cart",
            "timestamp": NOON,
            **fields,
        }
    )


def throw(bus: ErrorBus, message: str = "TypeError: x is undefined", **fields: Any) -> None:
    say(bus, message, source="pageerror", level="", **fields)


def shown(bus: ErrorBus, **filters: Any) -> list[str]:
    return [entry.message for entry in bus.drain(clear=False, **filters).entries]


def test_entries_come_out_in_the_order_they_were_published():
    bus = ErrorBus(10)
    for word in "abc":
        say(bus, word)
    assert shown(bus) == ["a", "b", "c"]


def test_a_console_entry_reads_like_the_contract():
    bus = ErrorBus(10)
    say(bus, "Uncaught TypeError: Cannot read properties of null (reading 'value')")
    assert bus.drain().entries[0].to_answer() == {
        "id": "ERR-0001",
        "source": "console",
        "severity": "error",
        "level": "error",
        "message": "Uncaught TypeError: Cannot read properties of null (reading 'value')",
        "url": "https://shop.example/cart",
        "timestamp": "2025-01-14T10:22:41.512Z",
    }


def test_a_page_error_has_its_stack_and_no_level():
    bus = ErrorBus(10)
    throw(bus, stack="at renderCart (cart.js:84:17)\nat app.js:31:9")
    answer = bus.drain().entries[0].to_answer()
    assert answer["stack"].startswith("at renderCart")
    assert "level" not in answer


def test_a_response_reads_like_the_contract():
    bus = ErrorBus(10)
    bus.publish(
        source="http",
        severity="warning",
        message="",
        url="https://shop.example/cart",
        timestamp=NOON,
        method="POST",
        request_url="https://shop.example/api/coupon",
        status_code=422,
        duration_ms=312,
    )
    answer = bus.drain().entries[0].to_answer()
    assert answer["message"] == "POST https://shop.example/api/coupon responded with 422"
    assert (answer["status_code"], answer["duration_ms"]) == (422, 312)
    assert answer["url"] == "https://shop.example/cart"


def test_a_request_without_an_answer_says_why_and_has_a_null_status():
    bus = ErrorBus(10)
    bus.publish(
        source="http",
        severity="error",
        message="",
        url="https://shop.example/",
        method="GET",
        request_url="https://cdn.example/x.js",
        failure="net::ERR_CONNECTION_REFUSED",
    )
    answer = bus.drain().entries[0].to_answer()
    assert answer["status_code"] is None
    assert answer["failure"] == "net::ERR_CONNECTION_REFUSED"
    assert "failed: net::ERR_CONNECTION_REFUSED" in answer["message"]


def test_repeats_within_a_run_are_folded():
    bus = ErrorBus(10)
    for second in range(3):
        say(bus, timestamp=NOON + second)
    (entry,) = bus.drain().entries
    answer = entry.to_answer()
    assert answer["repeat"] == 3
    assert answer["timestamp"] == "2025-01-14T10:22:41.512Z"
    assert answer["last_timestamp"] == "2025-01-14T10:22:43.512Z"


def test_the_same_words_in_two_runs_are_two_entries():
    bus = ErrorBus(10)
    say(bus, run_id="one")
    say(bus, run_id="two")
    assert len(bus.drain().entries) == 2
    assert len(bus) == 0


def test_a_repeat_of_something_already_drained_is_a_new_entry_with_a_new_id():
    bus = ErrorBus(10)
    say(bus)
    first = bus.drain().entries[0]
    say(bus)
    second = bus.drain().entries[0]
    assert (first.id, second.id) == ("ERR-0001", "ERR-0002")
    assert second.repeat == 1


@pytest.mark.parametrize(
    "echo",
    [
        "TypeError: x is undefined",
        "Uncaught TypeError: x is undefined",
        "Uncaught (in promise) TypeError: x is undefined",
        "[Exception] TypeError: x is undefined",
        "TypeError: x is undefined\n    at f (a.js:1:2)",
    ],
)
@pytest.mark.parametrize("echo_first", [True, False])
def test_the_consoles_echo_of_an_exception_is_dropped(echo, echo_first):
    bus = ErrorBus(10)
    for publish in (say, throw) if echo_first else (throw, say):
        if publish is say:
            say(bus, echo)
        else:
            throw(bus)
    assert [entry.source for entry in bus.drain().entries] == ["pageerror"]


def test_what_only_resembles_an_echo_stays():
    bus = ErrorBus(10)
    throw(bus)
    say(bus, "TypeError: x is undefined", timestamp=NOON + ECHO_WINDOW + 0.1)
    say(bus, "TypeError: x is undefined", severity="warning")
    say(bus, "TypeError: x is undefined", run_id="another")
    say(bus, "TypeError: x is undefined, really")
    assert len(bus.drain().entries) == 5


def test_an_exception_takes_back_one_of_several_echoes_that_came_before():
    bus = ErrorBus(10)
    say(bus, "TypeError: x is undefined", timestamp=NOON - 60)
    say(bus, "TypeError: x is undefined")
    throw(bus)
    entries = bus.drain().entries
    assert [(entry.source, entry.repeat) for entry in entries] == [
        ("console", 1),
        ("pageerror", 1),
    ]


def test_the_ring_drops_the_oldest_and_counts():
    bus = ErrorBus(2)
    for word in "abcd":
        say(bus, word)
    assert shown(bus) == ["c", "d"]
    assert bus.drain().dropped == 2
    assert bus.drain().dropped == 0


def test_peeking_leaves_everything():
    bus = ErrorBus(1)
    say(bus, "a")
    say(bus, "b")
    first, second = bus.drain(clear=False), bus.drain(clear=False)
    assert first == second
    assert first.dropped == 1


def test_a_filtered_drain_leaves_the_rest():
    bus = ErrorBus(10)
    say(bus, "mild", severity="warning", level="warning")
    throw(bus, "hard")
    say(bus, "other run", run_id="r2")
    assert shown(bus, source="pageerror") == ["hard"]
    assert [e.message for e in bus.drain(source="pageerror").entries] == ["hard"]
    assert [e.message for e in bus.drain(run_id="r2").entries] == ["other run"]
    assert shown(bus, min_severity="error") == []
    assert shown(bus) == ["mild"]


def test_a_limit_gives_the_oldest_and_says_how_many_are_left():
    bus = ErrorBus(10)
    for word in "abc":
        say(bus, word)
    drained = bus.drain(limit=2)
    assert [entry.message for entry in drained.entries] == ["a", "b"]
    assert drained.remaining == 1
    assert shown(bus) == ["c"]


def test_nothing_a_page_says_makes_an_entry_large():
    bus = ErrorBus(10)
    throw(
        bus,
        "x" * 50_000_000,
        url="https://e/" + "y" * 10_000,
        stack="\n".join(f"at f{n} (a.js:{n}:1)" for n in range(500)),
    )
    (entry,) = bus.drain().entries
    assert len(msgspec.json.encode(entry.to_answer())) < 20_000
    assert len(entry.stack.splitlines()) == 50


def test_a_time_is_iso_8601_utc_with_milliseconds():
    assert iso(0) == "1970-01-01T00:00:00.000Z"


class Buses(RuleBasedStateMachine):
    """The bus against a list of what was said and not yet taken."""

    CAPACITY = 5

    def __init__(self) -> None:
        super().__init__()
        self.bus = ErrorBus(self.CAPACITY)
        self.kept: list[tuple[str, str, str, str]] = []  # source, severity, message, run
        self.dropped = 0
        self.seen: set[str] = set()

    @rule(
        # No message of one channel is one of another, so there are no echoes here.
        what=st.sampled_from([("console", "c"), ("pageerror", "p"), ("http", "h")]),
        number=st.integers(0, 3),
        severity=st.sampled_from(["info", "warning", "error"]),
        run_id=st.sampled_from(["", "a", "b"]),
    )
    def publish(self, what, number, severity, run_id):
        source, letter = what
        said = (source, severity, f"{letter}{number}", run_id)
        self.bus.publish(
            source=source, severity=severity, message=said[2], url="u", run_id=run_id
        )
        if said in self.kept:
            return
        self.kept.append(said)
        if len(self.kept) > self.CAPACITY:
            self.kept.pop(0)
            self.dropped += 1

    @rule(
        clear=st.booleans(),
        source=st.sampled_from(["all", "console", "pageerror", "http"]),
        severity=st.sampled_from(["info", "warning", "error"]),
        run_id=st.sampled_from(["", "a"]),
        limit=st.one_of(st.none(), st.integers(1, 3)),
    )
    def drain(self, clear, source, severity, run_id, limit):
        drained = self.bus.drain(
            clear=clear, source=source, min_severity=severity, run_id=run_id, limit=limit
        )
        matching = [
            said
            for said in self.kept
            if source in {"all", said[0]}
            and RANK[said[1]] >= RANK[severity]
            and run_id in {"", said[3]}
        ]
        expected = matching[:limit]
        got = [(e.source, e.severity, e.message, e.run_id) for e in drained.entries]
        assert got == expected
        assert drained.remaining == len(matching) - len(expected)
        assert drained.dropped == self.dropped
        ids = [entry.id for entry in drained.entries]
        assert ids == sorted(ids)
        assert self.seen.isdisjoint(ids)
        if clear:
            self.seen.update(ids)
            self.dropped = 0
            self.kept = [said for said in self.kept if said not in expected]

    @invariant()
    def never_over_capacity(self):
        assert len(self.bus) == len(self.kept) <= self.CAPACITY


TestBuses = Buses.TestCase
TestBuses.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
