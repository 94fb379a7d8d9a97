"""Running a caller's JavaScript: the gate, the result, and whatever goes wrong."""

from __future__ import annotations

import json
from types import SimpleNamespace

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_peer import server_process, text_of
from tests.tabs import session_tab
from vfa.errors import (
    DeadlineExceededError,
    ElementNotFoundError,
    EvalDisabledError,
    InvalidArgsError,
    ScriptError,
)
from vfa.page.text import get_text
from vfa.tools.answer import encode
from vfa.tools.scripting import EvaluateArguments, _shorten_result, run_evaluate

browser = pytest.mark.browser


def stage(config, tab=None, **more):
    """Return what a handler needs of an engine."""
    settings = msgspec.structs.replace(config, **({"enable_eval_js": True} | more))
    return SimpleNamespace(config=settings, tab=lambda number: tab)


async def run(engine, expression, *, seconds=10, **arguments):
    with trio.fail_after(seconds):
        answer = await run_evaluate(
            engine, EvaluateArguments(expression=expression, **arguments), None
        )
    return answer.value


async def value_of(engine, expression, **arguments):
    return (await run(engine, expression, **arguments))["result"]


# --- before the browser -----------------------------------------------------------------


async def test_the_gate_is_shut_unless_it_was_opened_and_names_its_key(config):
    with pytest.raises(EvalDisabledError, match="SSRF") as caught:
        await run(stage(config, enable_eval_js=False), "1")
    assert "ENABLE_EVAL_JS=1" in caught.value.hint
    assert "cookies" in caught.value.message


async def test_an_expression_over_the_limit_is_refused_as_it_is_counted_in_javascript(config):
    with pytest.raises(InvalidArgsError, match="1 to 10 characters long, not 12"):
        await run(
            stage(config, max_eval_length=10),
            "'\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600'",
        )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.integers(200, 2000),
)
def test_an_answer_that_is_too_long_keeps_the_beginning_of_its_json(result, budget):
    value = {"result": result, "type": "object", "truncated": False}
    shortened = _shorten_result(value, budget)
    assert encode(result).startswith(shortened["result"])
    assert shortened["truncated"]
    assert len(encode(shortened)) <= budget


# --- what comes back --------------------------------------------------------------------

PRIMITIVES = {
    "undefined": (None, "undefined"),
    "null": (None, "object"),
    "'text'": ("text", "string"),
    "true": (True, "boolean"),
    "1.5": (1.5, "number"),
    "NaN": ("NaN", "number"),
    "-1/0": ("-Infinity", "number"),
    "-0": ("-0", "number"),
    "10n": ("10n", "bigint"),
    "Symbol('k')": ("Symbol(k)", "symbol"),
    "Promise.resolve(5)": (5, "number"),
    "({then: done => done('thenable')})": ("thenable", "string"),
    "await Promise.resolve('top')": ("top", "string"),
    "'\\ud800'": ("\ufffd", "string"),
}
T = "__type"
CUT = {T: "truncated", "reason": "maxItems", "total": 150}
OBJECTS = {
    "[undefined, null, -0, 1/0, 2n]": (
        [
            {T: "undefined"},
            None,
            {T: "number", "value": "-0"},
            {T: "number", "value": "Infinity"},
            {T: "bigint", "value": "2"},
        ],
        "array",
    ),
    "[Symbol('s')]": ([{T: "symbol", "value": "Symbol(s)"}], "array"),
    "(function name(a, b) {})": ({T: "function", "name": "name", "length": 2}, "function"),
    "({a: {b: {c: {d: {e: {}}}}}})": (
        {"a": {"b": {"c": {"d": {"e": {T: "truncated", "reason": "maxDepth"}}}}}},
        "object",
    ),
    "var o = {}; o.me = [o]; o": ({"me": [{T: "circular"}]}, "object"),
    "var twice = {}; [twice, twice]": ([{}, {}], "array"),
    "new Date(0)": ({T: "Date", "value": "1970-01-01T00:00:00.000Z"}, "date"),
    "new Date(NaN)": ({T: "Date", "value": "Invalid Date"}, "date"),
    "new RangeError('m')": ({T: "Error", "name": "RangeError", "message": "m"}, "error"),
    "[new DOMException('m', 'AbortError')]": (
        [{T: "Error", "name": "AbortError", "message": "m"}],
        "array",
    ),
    "new Map([['k', 1], [{}, [2]]])": (
        {T: "Map", "entries": [["k", 1], [{}, [2]]]},
        "map",
    ),
    "new Set([1, 'a'])": ({T: "Set", "values": [1, "a"]}, "set"),
    "document.querySelector('p')": (
        {T: "Element", "tag": "p#one.a.b", "text": "some words"},
        "node",
    ),
    "[document, document.querySelector('p').firstChild]": (
        [{T: "Node", "name": "#document"}, {T: "Node", "name": "#text"}],
        "array",
    ),
    "document.querySelectorAll('b')": ({}, "array"),
    "Array.from({length: 150}, (_, i) => i)": ([*range(100), CUT], "array"),
    "new Set(Array.from({length: 150}, (_, i) => i))": (
        {T: "Set", "values": [*range(100), CUT]},
        "set",
    ),
    "Object.fromEntries(Array.from({length: 150}, (_, i) => ['k' + i, i]))": (
        {f"k{i}": i for i in range(100)}
        | {"__truncated": {"reason": "maxProps", "total": 150}},
        "object",
    ),
    "({get bad() { throw 1 }, good: 1})": ({"bad": {T: "unserializable"}, "good": 1}, "object"),
    "new Proxy({a: 1}, {})": ({"a": 1}, "proxy"),
    "new Proxy({}, {ownKeys() { throw 1 }})": ({T: "unserializable"}, "proxy"),
    "({toJSON() { return 'forged' }, a: 1})": (
        {"toJSON": {T: "function", "name": "toJSON", "length": 0}, "a": 1},
        "object",
    ),
    "({['__proto__']: 1, __type: 'own'})": ({"__proto__": 1, T: "own"}, "object"),
    "/x/g": ({}, "regexp"),
}


@browser
async def test_every_kind_of_value_has_its_form(config, site):
    url = site.page("/", "<p id=one class='a  b'> some\n  words</p>")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        engine = stage(config, tab)
        for expression, (result, kind) in (PRIMITIVES | OBJECTS).items():
            got = await run(engine, expression)
            assert (got["result"], got["type"]) == (result, kind), expression
            assert got["truncated"] is False, expression
        pending = await run(engine, "new Promise(() => {})", await_promise=False)
        assert (pending["result"], pending["type"]) == ({}, "promise")


HOSTILE = """<p id=x class=y>text</p><form><input name=attributes><input name=id></form><script>
Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = () => 'forged';
JSON.stringify = () => 'forged';
Array.prototype[Symbol.iterator] = Array.prototype.push = () => { throw 1 };
Map.prototype[Symbol.iterator] = Map.prototype.entries = () => { throw 1 };
Function.prototype.call = Function.prototype.apply = () => { throw 1 };
Object.prototype.extra = 'inherited';
Object.defineProperty(Object.prototype, 'secret', {set() { throw 1 }, get() { throw 1 }});
window.Date = class { static now() { return 0 } };
</script>"""


@browser
async def test_a_page_that_patches_its_builtins_changes_no_result(config, site):
    url = site.page("/", HOSTILE)
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        engine = stage(config, tab)
        assert await value_of(engine, "({a: [1, {b: 'c'}], ['secret']: 2})") == {
            "a": [1, {"b": "c"}],
            "secret": 2,
        }
        filled = {T: "Map", "entries": [["k", 1]]}
        assert await value_of(engine, "var m = new Map(); m.set('k', 1); m") == filled
        element = {T: "Element", "tag": "p#x.y", "text": "text"}
        assert await value_of(engine, "[document.querySelector('p')]") == [element]
        form = await value_of(engine, "document.querySelector('form')")
        assert form == {T: "Element", "tag": "form", "text": ""}


@browser
async def test_a_result_is_cut_at_the_limit_and_says_so(config, site):
    async with session_tab(config) as (_, tab):
        engine = stage(config, tab, max_eval_length=1000)
        await tab.navigate(site.page("/", "x" * 100_000 + "<p>y</p>" * 1000))
        got = await run(engine, "Array(90).fill('0123456789abcdef')")
        assert got["truncated"]
        assert got["result"] == encode(["0123456789abcdef"] * 90)[:1000]
        got = await run(engine, "'x'.repeat(5_000_000)")
        assert got["result"] == '"' + "x" * 999
        with trio.fail_after(3):  # of objects that lead to everything only a part is read
            got = await run(engine, "window")
            assert len(got["result"]) == 1000
            assert got["result"].startswith("{")
            got = await run(engine, "Array(100).fill(Array(100).fill(Array(100).fill(7)))")
            assert got["result"].startswith("[[[" + "7," * 99 + "7],[")


# --- what can go wrong ------------------------------------------------------------------


@browser
async def test_what_is_thrown_is_an_error_with_the_page_s_account_of_it(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        engine = stage(config, tab)
        with pytest.raises(ScriptError, match="TypeError: bad") as caught:
            await run(engine, "(function inner() { throw new TypeError('bad') })()")
        assert "at inner" in caught.value.message
        with pytest.raises(ScriptError, match="Error: rejected"):
            await run(engine, "Promise.reject(new Error('rejected'))")
        with pytest.raises(ScriptError, match="Uncaught 5"):
            await run(engine, "throw 5")
        with pytest.raises(ScriptError, match="SyntaxError") as caught:
            await run(engine, "return 1")
        assert "function" in caught.value.hint
        assert await value_of(engine, "1 + 1") == 2


@browser
async def test_declarations_last_and_may_be_made_again(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "<script>const own = 1; let seen = 2</script>"))
        engine = stage(config, tab)
        await run(engine, "const q = 1; let r = 1; function f() { return q + seen }")
        await run(engine, "const q = 2")
        assert await value_of(engine, "f() + own") == 5


@browser
@pytest.mark.parametrize(
    "loop",
    [
        "for (;;) {}",
        "await 0; for (;;) {}",
        "({get trap() { for (;;) {} }})",
        "new Promise(() => setTimeout(() => { for (;;) {} }))",
        "new Promise(done => { window.later = done })",
    ],
    ids=["at once", "in a microtask", "in a getter", "in a timer", "a promise"],
)
async def test_what_never_ends_is_ended_and_the_next_call_works_at_once(config, site, loop):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        engine = stage(config, tab)
        began = trio.current_time()
        with trio.fail_after(1.5), pytest.raises(DeadlineExceededError) as caught:
            await run(engine, loop, seconds=1)
        assert "Timeout: Runtime.evaluate" in caught.value.message
        assert await value_of(engine, "1 + 1") == 2
        assert trio.current_time() - began < 1.7
        assert tab.take_reset() is None


@browser
async def test_leaving_the_page_while_waiting_is_an_error_and_the_next_call_works(config, site):
    there = site.page("/there", "there")
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        engine = stage(config, tab)
        with pytest.raises(ScriptError, match="another document"):
            await run(engine, f"location.href = '{there}'; await new Promise(() => {{}})")
        assert await tab.read(get_text) == "there"
        assert await value_of(engine, "location.pathname") == "/there"


@browser
async def test_a_script_that_navigates_is_answered_when_the_new_page_is_there(config, site):
    there = site.page("/there", "there")
    here = site.page("/", "<a id=a href=/there>x</a><form id=f action=/there></form>")
    for leave in (f"location.href = '{there}'", "a.click()", "f.submit()"):
        async with session_tab(config) as (_, tab):
            await tab.navigate(here)
            got = await run(stage(config, tab), leave)
            assert got["navigated"]["url"].startswith(there), leave
            assert await tab.read(get_text) == "there", leave
            assert "navigated" not in await run(stage(config, tab), "1")


@browser
async def test_a_dialog_does_not_hang_the_script_and_is_reported(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        got = await run(stage(config, tab), "[alert('hi'), confirm('sure?')]")
        assert got["result"] == [{T: "undefined"}, False]
        assert [dialog["message"] for dialog in got["dialogs"]] == ["hi", "sure?"]


@browser
async def test_a_gesture_is_one_only_where_it_is_asked_for(config, site):
    async with session_tab(config) as (_, tab):
        engine = stage(config, tab)
        asked = "navigator.userActivation.isActive"
        await tab.navigate(site.page("/", "x"))
        assert await value_of(engine, asked) is False
        assert await value_of(engine, asked, user_gesture=True) is True


@browser
@pytest.mark.parametrize("more", ["", " --site-per-process"], ids=["one process", "two"])
async def test_a_script_runs_in_a_frame_of_this_site_or_of_another(config, site, more):
    site.page("/inner", "<script>var name = 'inner'</script>")
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    frames = f"<iframe id=own src=/inner></iframe><iframe id=other src='{other}'></iframe>"
    url = site.page("/", f"<p>x</p>{frames}<script>var name = 'outer'</script>")
    apart = msgspec.structs.replace(config, chromium_args=config.chromium_args + more)
    async with session_tab(apart) as (_, tab):
        await tab.navigate(url)
        engine = stage(config, tab)
        asked = "[name, location.hostname, document.body.localName].join()"
        assert await value_of(engine, asked) == "outer,127.0.0.1,body"
        assert await value_of(engine, asked, frame="#own") == "inner,127.0.0.1,body"
        assert await value_of(engine, asked, frame="#other") == "inner,localhost,body"
        with pytest.raises(ElementNotFoundError, match="holds no frame"):
            await run(engine, asked, frame="p")


@browser
async def test_no_handle_outlives_its_call(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        engine = stage(config, tab)
        await run(engine, "class Heavy {}; 1")
        for _ in range(5):
            await run(engine, "new Heavy()")

        async def count(page):
            await page.session.call("HeapProfiler.collectGarbage")
            found = await page.session.call(
                "Runtime.evaluate", {"expression": "Heavy.prototype", "replMode": True}
            )
            left = await page.session.call(
                "Runtime.queryObjects", {"prototypeObjectId": found["result"]["objectId"]}
            )
            return left["objects"]["description"]

        assert await tab.read(count) == "Array(0)"


# --- the whole server -------------------------------------------------------------------


@browser
async def test_a_shut_gate_starts_no_browser_and_an_open_one_logs_no_expression(
    environment, site, tmp_path
):
    serve = ("-W", "error", "-m", "vfa", "serve")
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        async with server_process(*serve, stderr=stderr, **environment) as (peer, _):
            await peer.initialize()
            refused = await peer.call("browser_evaluate", expression="'secret'")
            assert refused["isError"] is True
            assert text_of(refused).startswith("[EVAL_DISABLED]")
            assert "ENABLE_EVAL_JS=1" in text_of(refused)
            wrong = await peer.call("browser_evaluate", expression="")
            assert text_of(wrong).startswith("[INVALID_ARGS]")
    assert "Chromium PID" not in log.read_text()
    opened = environment | {
        "ENABLE_EVAL_JS": "1",
        "MAX_EVAL_LENGTH": "100",
        "VFA_TOOLS": "all",
    }
    with log.open("wb") as stderr:
        async with server_process(*serve, stderr=stderr, **opened) as (peer, _):
            await peer.initialize()
            answer = await peer.call("browser_evaluate", expression="'secret'")
            expected = {"result": "secret", "type": "string", "truncated": False}
            assert json.loads(text_of(answer)) == expected
            long = await peer.call("browser_evaluate", expression="'secret'" + " " * 100)
            assert text_of(long).startswith("[INVALID_ARGS]")
            late = await peer.call("browser_evaluate", expression="for (;;) {}", timeout_ms=500)
            assert text_of(late).startswith("[TIMEOUT] Timeout: Runtime.evaluate")
            resized = await peer.call("browser_resize", preset="desktop")
            assert json.loads(text_of(resized))["measured"]["innerWidth"] == 1280
            emulated = await peer.call("browser_emulate", color_scheme="dark")
            assert json.loads(text_of(emulated)) == {"inForce": {"color_scheme": "dark"}}
    assert "8 characters" in log.read_text()
    assert "secret" not in log.read_text()
