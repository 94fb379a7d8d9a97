"""Settings: every variable changes its value, and nothing bad is passed over in silence."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.config import FALSE_WORDS, TRUE_WORDS, Config, Knob, explain, knobs, load
from vfa.errors import ConfigError

KINDS = get_type_hints(Config)
KNOBS = knobs()
TEXTS = [name for name, kind in KINDS.items() if kind is str]
SWITCHES = [name for name, kind in KINDS.items() if kind is bool]
NUMBERS = [name for name, kind in KINDS.items() if kind is int]
CHOICES = [name for name, kind in KINDS.items() if get_origin(kind) is Literal]
SECRETS = [name for name, knob in KNOBS.items() if knob.secret]
DEFAULTS = Config()


def another_value(name: str) -> tuple[str, Any]:
    """Return a text that may stand in the variable, and the value it means."""
    kind, default = KINDS[name], getattr(DEFAULTS, name)
    if kind is bool:
        return ("false", False) if default else ("true", True)
    if kind is int:
        lowest = KNOBS[name].low or 0
        number = lowest if default != lowest else lowest + 1
        return str(number), number
    if get_origin(kind) is Literal:
        other = next(choice for choice in get_args(kind) if choice != default)
        return other, other
    special = {"cdp_url": "http://127.0.0.1:9222", "tools": "core, QA"}
    text = special.get(name, "something-else")
    return text, text


def refusal(environ: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        load(environ)
    return caught.value.message


def test_every_field_belongs_to_one_of_the_kinds_tested_here() -> None:
    assert sorted(TEXTS + SWITCHES + NUMBERS + CHOICES) == sorted(KNOBS)


def test_no_two_settings_share_a_variable() -> None:
    variables = [knob.variable for knob in KNOBS.values()]
    assert len(variables) == len(set(variables))


def test_an_empty_environment_gives_the_defaults() -> None:
    assert load({}) == DEFAULTS


@pytest.mark.parametrize("name", KNOBS)
def test_the_variable_of_a_setting_changes_just_its_value(name: str) -> None:
    text, value = another_value(name)

    config = load({KNOBS[name].variable: text})

    assert getattr(config, name) == value != getattr(DEFAULTS, name)
    assert msgspec.structs.replace(config, **{name: getattr(DEFAULTS, name)}) == DEFAULTS


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["many", "nan", "inf", "-inf", "1e999", "0x10", "10 ms", "²"])
def test_what_is_not_a_number_is_refused_with_the_variables_name(name: str, text: str) -> None:
    assert KNOBS[name].variable in refusal({KNOBS[name].variable: text})


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "idle_shutdown_ms"])
def test_a_number_below_its_range_is_refused_with_the_bound(name: str) -> None:
    knob = KNOBS[name]
    assert knob.low is not None

    message = refusal({knob.variable: str(knob.low - 1)})

    assert knob.variable in message
    assert str(knob.low) in message


def test_a_number_above_its_range_is_refused_with_the_bound() -> None:
    bounded = {name: knob for name, knob in KNOBS.items() if knob.high is not None}
    assert "queue_limit" in bounded
    for knob in bounded.values():
        assert isinstance(knob, Knob)
        message = refusal({knob.variable: str((knob.high or 0) + 1)})
        assert knob.variable in message
        assert str(knob.high) in message


@pytest.mark.parametrize("text", ["0", "-1", "-300000"])
def test_an_idle_time_of_zero_or_less_means_never(text: str) -> None:
    assert load({"IDLE_SHUTDOWN_MS": text}).idle_shutdown_ms == 0


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_takes_the_usual_words_and_no_others(name: str) -> None:
    variable = KNOBS[name].variable
    for word in TRUE_WORDS:
        assert getattr(load({variable: word.upper()}), name) is True
    for word in FALSE_WORDS:
        assert getattr(load({variable: f" {word} "}), name) is False
    assert variable in refusal({variable: "maybe"})


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_takes_its_words_in_any_case_and_names_them_when_it_refuses(name: str) -> None:
    variable = KNOBS[name].variable
    for choice in get_args(KINDS[name]):
        assert getattr(load({variable: choice.swapcase()}), name) == choice
    message = refusal({variable: "other"})
    assert variable in message
    assert all(choice in message for choice in get_args(KINDS[name]))


@pytest.mark.parametrize("name", [*SWITCHES, *NUMBERS, *CHOICES])
def test_an_empty_variable_counts_as_not_set(name: str) -> None:
    assert load({KNOBS[name].variable: "  "}) == DEFAULTS


def test_all_that_is_wrong_is_said_at_once() -> None:
    message = refusal({"QUEUE_LIMIT": "none", "VFA_SANDBOX": "maybe"})
    assert "QUEUE_LIMIT" in message
    assert "VFA_SANDBOX" in message


@pytest.mark.parametrize("url", ["localhost:9222", "file:///x", "ftp://host"])
def test_an_address_of_a_browser_needs_a_scheme_that_leads_to_one(url: str) -> None:
    assert "VFA_CDP_URL" in refusal({"VFA_CDP_URL": url})


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_not_in_a_refusal(name: str) -> None:
    message = ""
    try:
        load({KNOBS[name].variable: "s3cr3t", "QUEUE_LIMIT": "none"})
    except ConfigError as error:
        message = error.message
    assert "QUEUE_LIMIT" in message
    assert "s3cr3t" not in message


def test_an_option_wins_over_the_environment_and_none_is_no_option() -> None:
    environ = {"LOG_LEVEL": "ERROR", "QUEUE_LIMIT": "3"}
    config = load(environ, {"log_level": "DEBUG", "queue_limit": None})
    assert (config.log_level, config.queue_limit) == ("DEBUG", 3)


def test_where_a_value_came_from_is_told() -> None:
    lines = {line.field: line for line in explain({"QUEUE_LIMIT": "3"}, {"log_level": "DEBUG"})}
    assert list(lines) == list(KNOBS)
    assert lines["queue_limit"].source == "environment"
    assert (lines["queue_limit"].value, lines["queue_limit"].default) == (3, 8)
    assert lines["log_level"].source == "option"
    assert lines["transport"].source == "default"


def test_every_setting_is_explained_in_a_sentence() -> None:
    for knob in KNOBS.values():
        assert knob.text.endswith("."), knob.variable


@given(st.integers(-10, 10**9))
def test_a_number_within_its_range_is_taken_and_one_outside_is_not(number: int) -> None:
    if 1 <= number <= 64:
        assert load({"QUEUE_LIMIT": str(number)}).queue_limit == number
    else:
        assert "QUEUE_LIMIT" in refusal({"QUEUE_LIMIT": str(number)})


@given(st.text())
def test_whatever_stands_in_a_number_it_is_taken_or_refused_in_words(text: str) -> None:
    try:
        taken: int | str = load({"QUEUE_LIMIT": text}).queue_limit
    except ConfigError as error:
        taken = error.message
    assert taken in range(1, 65) or str(taken).startswith("QUEUE_LIMIT=")


@given(
    st.one_of(st.none(), st.floats(), st.integers(-(10**9), 10**12)),
    st.integers(100, 10**6),
    st.integers(100, 10**6),
)
def test_a_timeout_is_what_was_asked_for_within_a_tenth_of_a_second_and_the_cap(
    asked: float | None, default: int, cap: int
) -> None:
    seconds = Config(max_timeout_ms=cap).timeout_s(asked, default)

    assert 0.1 <= seconds <= cap / 1000
    if asked is not None and 100 <= asked <= cap:
        assert seconds == asked / 1000
    if asked is None or not asked > 0:
        assert seconds == min(default, cap) / 1000


def test_the_output_folder_is_absolute_whatever_was_said() -> None:
    assert load({"OUTPUT_DIR": "shots"}).output_path.is_absolute()
