"""The tool list: plain schemas, the documented defaults and ranges, and its price."""

from __future__ import annotations

import pytest

from vfa.config import Config
from vfa.errors import InvalidArgsError
from vfa.tools import all_tools
from vfa.tools.arguments import read_arguments
from vfa.tools.schema import input_schema, listed_schema

TOOLS = {tool.name: tool for tool in all_tools()}
CONFIG = Config()


def properties(name, config=CONFIG):
    return input_schema(TOOLS[name], config)["properties"]


def refusal(name, arguments, config=CONFIG):
    with pytest.raises(InvalidArgsError) as caught:
        read_arguments(TOOLS[name], arguments, config)
    return str(caught.value)


def read(name, **arguments):
    return read_arguments(TOOLS[name], arguments, CONFIG)


def nodes(schema):
    yield schema
    for value in schema.values():
        if isinstance(value, dict):
            yield from nodes(value)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_schema_is_one_plain_object(tool):
    schema = input_schema(tool, CONFIG)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    words = {"$ref", "$defs", "oneOf", "anyOf", "allOf", "title"}
    for node in nodes(schema | {"properties": {}}):
        assert words.isdisjoint(node)
    for prop in schema["properties"].values():
        assert isinstance(prop["type"], str)
        assert all(words.isdisjoint(node) for node in nodes(prop))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_says_what_it_is_in_a_few_words(tool):
    assert 20 < len(tool.description) < 300


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_clients_are_told_what_can_be_given_and_no_more(tool):
    told, whole = listed_schema(tool, CONFIG), input_schema(tool, CONFIG)
    assert list(told["properties"]) == list(whole["properties"])
    assert told.get("required") == whole.get("required")
    for name, known in whole["properties"].items():
        assert told["properties"][name]["type"] == known["type"]
        assert told["properties"][name].get("enum") == known.get("enum")
        if name != "tab" and known.get("default"):
            assert told["properties"][name]["default"] == known["default"]


def test_what_clients_need_not_be_told_is_not_in_the_list():
    told = listed_schema(TOOLS["browser_screenshot"], CONFIG)
    assert "additionalProperties" not in told
    assert told["properties"]["tab"] == {"type": "integer"}
    assert told["properties"]["timeout_ms"] == {"type": "number", "default": 30_000}
    assert told["properties"]["selector"] == {"type": "string"}
    assert told["properties"]["full_page"] == {"type": "boolean"}
    assert told["properties"]["quality"]["maximum"] == 100


def test_what_is_not_told_is_checked_all_the_same():
    assert "unknown argument 'zzz'" in refusal("browser_click", {"selector": "a", "zzz": 1})
    assert "10000 characters" in refusal("browser_click", {"selector": "a" * 10_001})
    assert "from 0 to 1000000, not -1" in refusal("browser_get_url", {"tab": -1})


def test_the_documented_defaults_and_ranges_are_in_the_schemas():
    assert properties("browser_navigate")["timeout_ms"] == {
        "type": "number",
        "description": "Time for the whole call.",
        "maximum": 120_000,
        "default": 30_000,
    }
    assert properties("browser_get_text")["timeout_ms"]["default"] == 10_000
    shot = properties("browser_screenshot")
    assert shot["format"]["enum"] == ["jpeg", "png", "webp"]
    assert (shot["quality"]["minimum"], shot["quality"]["maximum"]) == (1, 100)
    assert shot["quality"]["default"] == 80
    assert (shot["delay_ms"]["minimum"], shot["delay_ms"]["maximum"]) == (0, 5000)
    assert shot["full_page"]["default"] is False
    console = properties("browser_get_console")
    assert set(console["level"]["enum"]) == {"all", "error", "warning", "log", "info", "debug"}
    assert console["clear_after"]["default"] is False
    audit = properties("qa_audit_url")
    assert audit["timeout_ms"]["default"] == 120_000
    assert audit["viewport"]["properties"]["width"]["default"] == 1440
    assert audit["viewport"]["properties"]["height"]["default"] == 900
    assert audit["wait_until"]["default"] == "networkidle"
    assert (audit["max_depth"]["default"], audit["max_pages"]["default"]) == (1, 10)
    assert audit["include_screenshots"]["default"] is True
    errors = properties("qa_get_runtime_errors")
    assert (errors["clear"]["default"], errors["source"]["default"]) == (True, "all")
    assert errors["min_severity"]["default"] == "info"


def test_little_is_required():
    required = {name: input_schema(t, CONFIG).get("required", []) for name, t in TOOLS.items()}
    assert {name: names for name, names in required.items() if names} == {
        "qa_audit_url": ["url"],
        "browser_navigate": ["url"],
        "browser_type": ["text"],
        "browser_press": ["key"],
        "browser_evaluate": ["expression"],
        "browser_webgl_shim": ["mode"],
        "browser_handle_dialog": ["accept"],
        "browser_fill_form": ["fields"],
        "browser_upload": ["paths"],
        "browser_storage": ["action"],
        "browser_batch": ["steps"],
    }


def test_a_lower_cap_lowers_the_stated_maximum_and_default():
    config = Config(max_timeout_ms=5_000)
    assert properties("browser_navigate", config)["timeout_ms"]["maximum"] == 5_000
    assert properties("browser_navigate", config)["timeout_ms"]["default"] == 5_000
    assert "at most 5000" in refusal(
        "browser_navigate", {"url": "x", "timeout_ms": 6000}, config
    )
    read_arguments(TOOLS["browser_navigate"], {"url": "x"}, config)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("browser_navigate", {}, "url is missing"),
        ("browser_navigate", {"url": None}, "url is missing"),
        (
            "browser_navigate",
            {"url": 5},
            "url must be a string of 0 to 65536 characters, not 5",
        ),
        (
            "browser_navigate",
            {"url": "x", "timeout": 5},
            "'timeout' (did you mean timeout_ms?)",
        ),
        ("browser_navigate", {"url": "x", "timeout_ms": "5"}, "timeout_ms must be a number"),
        (
            "browser_navigate",
            {"url": "x", "timeout_ms": 120_001},
            "of at most 120000, not 120001",
        ),
        ("browser_navigate", {"url": "x" * 65_537}, "(65537 characters)"),
        ("browser_get_url", {"zzz": 1}, "unknown argument 'zzz'"),
        ("browser_get_text", {"selector": ["a"]}, "not a list of 1"),
        ("browser_screenshot", {"quality": 0}, "quality must be a number from 1 to 100, not 0"),
        ("browser_screenshot", {"quality": 101}, "not 101"),
        ("browser_screenshot", {"quality": True}, "not true"),
        ("browser_screenshot", {"format": "gif"}, "one of jpeg, png, webp, not 'gif'"),
        ("browser_screenshot", {"full_page": "yes"}, "full_page must be true or false"),
        ("browser_screenshot", {"delay_ms": 5001}, "from 0 to 5000"),
        ("browser_get_console", {"level": "warn"}, "level must be one of"),
        ("qa_audit_url", {"url": "x", "max_depth": 1.5}, "max_depth must be a whole number"),
        ("qa_audit_url", {"url": "x", "max_depth": -1}, "from 0 to 10, not -1"),
        ("qa_audit_url", {"url": "x", "max_pages": 10**400}, "not a number that large"),
        ("qa_audit_url", {"url": "x", "viewport": {"width": 1}}, "viewport.width must be"),
        ("qa_audit_url", {"url": "x", "viewport": {"hight": 1}}, "did you mean height?"),
        ("qa_audit_url", {"url": "x", "viewport": 3}, "viewport must be an object with width"),
        ("qa_audit_url", {"url": "x", "categories": ["visua"]}, "categories[0] must be one of"),
        ("qa_get_runtime_errors", {"clear": 1}, "clear must be true or false, not 1"),
        ("qa_get_runtime_errors", {"min_severity": "high"}, "min_severity must be one of"),
    ],
)
def test_a_wrong_argument_is_named(name, arguments, words):
    assert words in refusal(name, arguments)


def test_all_wrong_arguments_are_named_at_once():
    text = refusal("browser_screenshot", {"quality": 0, "delay_ms": -1, "fullpage": True})
    assert all(name in text for name in ("quality", "delay_ms", "fullpage", "full_page"))


def test_the_hint_lists_what_is_expected():
    with pytest.raises(InvalidArgsError) as caught:
        read_arguments(TOOLS["browser_navigate"], {"a": 1}, CONFIG)
    assert (
        caught.value.hint
        == "browser_navigate takes url (required), wait_until, tab, timeout_ms."
    )
    assert caught.value.code == "INVALID_ARGS"


def test_a_refusal_stays_short_whatever_was_sent():
    many = {f"argument_{number}": "x" * 1000 for number in range(10_000)}
    assert len(refusal("browser_get_url", many)) < 1_000
    assert len(refusal("browser_get_url", {"y" * 10_000_000: 1})) < 1_000


def test_a_whole_number_may_be_written_as_a_float():
    assert read("qa_audit_url", url="x", max_depth=2.0).max_depth == 2
    assert read("browser_screenshot", quality=5.0).quality == 5


def test_null_is_the_same_as_leaving_an_optional_argument_out():
    assert read("browser_get_text", selector=None, timeout_ms=None) == read("browser_get_text")
    assert read("qa_audit_url", url="x", viewport={"width": None}).viewport.width == 1440
