"""Where browser-mcp hangs, loses its place or says too little: what happens here instead.

Bad input, a full queue, lost pages and long use, as a client meets them over stdio. One server
and one browser serve most of the module.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial

import msgspec
import psutil
import pytest
import trio

from tests.client import serving
from tests.site import serve_site
from tests.tabs import evaluate, session_tab

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site():
    with serve_site() as site:
        yield site


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(
        tmp_path_factory.mktemp("server"), ENABLE_EVAL_JS="1", QUEUE_LIMIT="3"
    ) as client:
        yield client


@pytest.fixture
def show(server, site):
    """Open a page of the test's own in the shared tab."""

    def show(body, **more):
        url = site.page("/", body, **more)
        server.value("browser_navigate", url=url)
        return url

    return show


@contextmanager
def at_most(seconds):
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def resets(result):
    return [item for item in result["content"] if '"sessionReset":true' in item.get("text", "")]


# --- bad input --------------------------------------------------------------------------

# Every tool that is given an element, with what else it needs.
ELEMENT_TOOLS = {
    "browser_click": {},
    "browser_hover": {},
    "browser_type": {"text": "x"},
    "browser_press": {"key": "x"},
    "browser_scroll": {},
    "browser_wait_for": {},
    "browser_get_text": {},
    "browser_screenshot": {"inline": False},
    "browser_capture_frames": {"strategy": "poll", "count": 1},
    "browser_check": {},
    "browser_select_option": {"values": ["a"]},
    "browser_drag": {"dx": 5},
}
FORM = """<style>*{margin:0}</style><script>let hits = []
for (const kind of ["keydown", "mousedown", "click", "input", "focusin"])
  addEventListener(kind, event => hits.push(kind), true)</script>
<input class=f id=first><input class=f id=second><input id=hidden style='display:none'>
<p>text</p>"""


def failures(server, code, words, tools=ELEMENT_TOOLS, **named):
    """Return what the tools say that is not as wanted, and what the page noticed of it."""
    failed = []
    for name, more in tools.items():
        with at_most(3):
            text = server.refusal(name, **more, **named, timeout_ms=200)
        if not text.startswith(f"[{code}] ") or words not in text:
            failed.append((name, text))
    if hits := server.script("hits"):
        failed.append(("the page noticed", hits))
    return failed


def test_what_is_no_selector_is_refused_by_each_tool(server, show):
    show(FORM)
    for selector in ("##", "p >>> ", "[", "'); alert(1); ('"):
        assert failures(server, "INVALID_ARGS", "not a valid selector", selector=selector) == []


def test_what_is_not_there_is_not_found_by_each_tool(server, show):
    show(FORM)
    tools = {k: v for k, v in ELEMENT_TOOLS.items() if k != "browser_wait_for"}
    assert failures(server, "ELEMENT_NOT_FOUND", "#none", tools, selector="#none") == []


def test_what_is_hidden_is_said_to_be_by_each_tool_that_needs_to_see_it(server, show):
    show(FORM)
    seeing = ("click", "hover", "type", "press", "screenshot", "capture_frames", "drag")
    tools = {f"browser_{name}": ELEMENT_TOOLS[f"browser_{name}"] for name in seeing}
    assert failures(server, "ELEMENT_HIDDEN", "not visible", tools, selector="#hidden") == []


def test_a_selector_that_several_elements_match_means_the_first_and_says_so(server, show):
    failed = {}
    for name, more in ELEMENT_TOOLS.items():
        show(
            "<select class=f><option>a</select><select class=f></select>"
            if name == "browser_select_option"
            else "<input class=f type=checkbox><input class=f type=checkbox>"
            if name == "browser_check"
            else FORM
        )
        value = server.value(name, **more, selector=".f")
        if value.get("matches") != 2:
            failed[name] = value
    assert failed == {}
    show(FORM)
    server.value("browser_type", selector=".f", text="x")
    assert server.script("[first.value, second.value]") == ["x", ""]


def test_a_gone_ref_is_stale_for_each_tool(server, show):
    show(FORM)
    ref = server.value("browser_wait_for", selector="#second")["ref"]
    server.script("second.remove()")
    tools = {k: v for k, v in ELEMENT_TOOLS.items() if k != "browser_wait_for"}
    assert failures(server, "ELEMENT_STALE", "is stale", tools, ref=ref) == []


def test_an_element_that_goes_in_the_middle_is_stale_and_gets_nothing(server, show):
    show(FORM + "<button id=b disabled onclick='hits.push(1)'>b</button>")
    ref = server.value("browser_wait_for", selector="#b")["ref"]
    server.script("setTimeout(() => b.remove(), 300)")
    with at_most(3):
        gone = server.refusal("browser_click", ref=ref, timeout_ms=4000)
    assert gone.startswith("[ELEMENT_STALE]")
    assert server.script("hits") == []
    show(FORM + "<script>first.oninput = () => first.remove()</script>")
    cut = server.refusal("browser_type", selector="#first", text="abc", timeout_ms=2000)
    assert cut.startswith("[ELEMENT_")
    assert server.value("browser_type", selector="#second", text="ok")["finalLength"] == 2


def test_a_frame_that_is_gone_takes_its_refs_along_and_nothing_else(server, show, site):
    inner = site.page("/inner", "<button id=in>in</button>")
    show(FORM + f"<iframe src='{inner}'></iframe>")
    ref = server.value("browser_wait_for", selector="iframe >>> #in")["ref"]
    server.value("browser_hover", ref=ref)
    server.script("document.querySelector('iframe').remove(); hits = []")
    tools = {k: v for k, v in ELEMENT_TOOLS.items() if k != "browser_wait_for"}
    assert failures(server, "ELEMENT_STALE", ref, tools, ref=ref) == []
    gone = server.refusal("browser_click", selector="iframe >>> #in", timeout_ms=200)
    assert gone.startswith("[ELEMENT_NOT_FOUND]")


def test_a_tab_that_is_gone_or_never_was_is_an_error_of_every_tool(server, show):
    show(FORM)
    number = server.value("browser_tabs", action="new")["tab"]
    server.value("browser_tabs", action="close", tab=number)
    for tab, words in ((number, "is gone"), (999, "does not exist")):
        assert failures(server, "TAB_GONE", words, selector="#first", tab=tab) == []
        for name in ("browser_get_url", "browser_get_console", "browser_webgl_info"):
            assert server.refusal(name, tab=tab).startswith("[TAB_GONE]")
        gone = server.refusal("browser_navigate", url="about:blank", tab=tab)
        assert gone.startswith("[TAB_GONE]")


def test_calls_on_a_page_that_is_on_its_way_wait_for_it_or_run_out_of_time(server, show, site):
    show(FORM)
    slow = server.begin("browser_navigate", url=site.hang("/slow"), timeout_ms=1200)
    waiting = {
        server.begin("browser_get_text", timeout_ms=300): "[TIMEOUT]",
        server.begin("browser_click", selector="#first", timeout_ms=300): "[TIMEOUT]",
        slow: "[TIMEOUT] Navigation timeout",
    }
    for number, words in waiting.items():
        result = server.answer(number)
        assert result["isError"]
        assert result["content"][0]["text"].startswith(words)
    assert server.script("hits") == []  # the old page is there, and nothing was done to it
    assert server.value("browser_click", selector="#first")["clicked"] is True


def test_a_full_queue_refuses_clicks_at_once_and_the_waiting_ones_do_no_harm(server, show):
    show("<script>let hits = 0</script><button id=b onclick='hits++'>b</button>")
    stuck = server.begin("browser_click", selector="#none", timeout_ms=1000)
    waiting = [server.begin("browser_click", selector="#b", timeout_ms=300) for _ in range(2)]
    with at_most(0.5):
        refused = server.refusal("browser_click", selector="#b")
    assert refused.startswith("[BUSY_QUEUE_FULL]")
    assert "queue is full" in refused
    server.value("browser_get_text")  # reads have no part in it
    for number in (*waiting, stuck):  # time in the queue is time of the call
        assert server.answer(number)["isError"]
    assert server.script("hits") == 0
    server.value("browser_click", selector="#b")
    assert server.script("hits") == 1


# --- one thing at a time ----------------------------------------------------------------


def test_a_scroll_waits_for_the_picture_of_the_full_page(server, show):
    show("<style>*{margin:0}</style><div style='height:4000px'>x</div>")
    picture = server.begin("browser_screenshot", full_page=True, inline=False)
    scroll = server.begin("browser_scroll", y=500)
    assert not server.answer(picture).get("isError")
    assert not server.answer(scroll).get("isError")
    assert server.script("scrollY") == 500


def test_text_after_a_click_that_leads_away_is_that_of_the_new_page(server, show, site):
    there = site.page("/there", "the new page")
    show(f"<a href='{there}'>go</a> the old page")
    assert server.value("browser_click", selector="a")["navigated"]["url"] == there
    assert server.value("browser_get_text")["text"] == "the new page"


# --- what is lost, and what is said of it -----------------------------------------------


def test_the_loss_of_the_browser_is_told_once_however_many_tabs_there_are(tmp_path, site):
    url = site.page("/", "hello")
    with serving(tmp_path, ENABLE_EVAL_JS="1") as client:
        client.value("browser_navigate", url=url)
        for _ in range(2):
            client.value("browser_tabs", action="new", url=url)
        (browser,) = client.browsers()
        script = "document.body.append('begun'); new Promise(() => 0)"
        number = client.begin("browser_evaluate", expression=script)
        client.value("browser_wait_for", text="begun")
        browser.kill()
        lost = client.answer(number)
        assert lost["content"][0]["text"].startswith("[CDP_ERROR]")
        assert resets(lost) == []  # a failure does not use it up
        assert client.refusal("browser_navigate", url="file:///").startswith("[INVALID_URL]")
        calls = [client.begin("browser_get_url", tab=tab) for tab in (3, 0, 3, 0, 1, 2)]
        answers = [client.answer(number) for number in calls]
        answers += [client.call("browser_navigate", url=url), client.call("browser_tabs")]
        (told,) = [answer for answer in answers if resets(answer)]
        assert not told.get("isError")
        assert [told["content"][-1]] == resets(told)  # behind the result


async def test_a_browser_that_is_attached_to_anew_repeats_no_console_messages(config, site):
    url = site.page("/", "<script>console.log('only once');open('about:blank')</script>")
    config = msgspec.structs.replace(config, transport="websocket")
    async with session_tab(config) as (browser, tab):
        await tab.navigate(url)
        await tab.act(partial(evaluate, "open('about:blank') && console.log('popped up')"))
        async with browser.lease() as link:
            await link.connection._transport.aclose()
        with trio.fail_after(10):
            assert (await tab.get_url()).url == url  # not the popup
            console = await tab.console("all", clear=False)
        texts = [message.text for message in console.messages]
        assert texts.count("only once") <= 1
        assert texts.count("popped up") <= 1
        await tab.act(partial(evaluate, "console.log('new')"))
        console = await tab.console("all", clear=False)
        assert [message.text for message in console.messages].count("new") == 1


def test_a_browser_that_does_not_start_gives_each_call_its_reason_at_once(tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho 'no display for me' >&2\nexit 3\n")
    fake.chmod(0o755)
    with serving(tmp_path, CHROMIUM_PATH=str(fake)) as client:
        for _ in range(2):
            with at_most(6):
                text = client.refusal("browser_get_url")
            assert text.startswith("[BROWSER_UNAVAILABLE]")
            assert "no display for me" in text


# --- snapshots --------------------------------------------------------------------------

ODD = """<button>Save</button><button id=save-as>Save as</button>
<button id="a:b">odd id</button>
<button id="1x">digit</button><button name='q"]'>quote</button>
<label><input type=radio name=r>one</label><label><input type=radio name=r>two</label>
<select id=s1><option value=v>first</select><select id=s2><option value=v>second</select>
<details><summary>More</summary>x</details><input type=date aria-label=Day>
<input type=color aria-label=Colour><div contenteditable aria-label=Note>n</div>
<input type=range min=0 max=5 value=0 aria-label=Volume><a href=/x>nameless link</a>
<select multiple aria-label=List><option>l1</select>"""


def test_every_element_of_a_snapshot_has_a_selector_of_its_own_and_nothing_is_missing(
    server, show
):
    show(ODD)
    elements = server.value("browser_snapshot")["elements"]
    names = [element["name"] for element in elements]
    for name in ("Save", "odd id", "digit", "quote", "one", "two", "first", "second"):
        assert name in names
    for name in ("More", "Day", "Colour", "Note", "Volume", "nameless link", "List"):
        assert name in names
    assert not {"Month", "Year", "Show date picker"} & set(names)  # parts of the browser's own
    (volume,) = [element for element in elements if element["name"] == "Volume"]
    assert str(volume["value"]) == "0"
    selectors = [element["selector"] for element in elements]
    assert len(set(selectors)) == len(selectors)
    counts = server.script(f"{selectors!r}.map(s => document.querySelectorAll(s).length)")
    assert set(counts) == {1}
    (save,) = [element["selector"] for element in elements if element["name"] == "Save"]
    assert server.value("browser_get_text", selector=save)["text"] == "Save"


# --- the console ------------------------------------------------------------------------


def test_console_messages_can_be_looked_for_by_their_text(server, show):
    show(
        "<script>for (const text of ['Cart: 1', 'other', 'cart: 2']) console.log(text)</script>"
    )
    found = server.value("browser_get_console", find="CART")
    assert [message["text"] for message in found["messages"]] == ["Cart: 1", "cart: 2"]
    assert (found["count"], found["droppedCount"]) == (2, 0)
    assert server.value("browser_get_console", find="cart", level="error")["count"] == 0
    assert server.value("browser_get_console")["count"] == 3


# --- settings, and the log --------------------------------------------------------------


def test_limits_beyond_a_tools_range_break_no_call_that_leaves_them_out(tmp_path, site):
    odd = {
        "MAX_TIMEOUT_MS": "4000",
        "MAX_SNAPSHOT_ITEMS": "500",
        "MAX_WEBGL_CANVASES": "500",
        "TOOL_TIMEOUT_MS": "9000",
        "ENABLE_EVAL_JS": "1",
        "ENABLE_WEBGL_SHIM": "1",
    }
    with serving(tmp_path, **odd) as client:
        url = site.page("/", "<canvas></canvas>" + "<button>b</button>" * 250)
        client.value("browser_navigate", url=url)
        assert client.value("browser_snapshot")["count"] == 250
        assert client.value("browser_canvas_info")["count"] == 1
        client.value("browser_wait_for", selector="button")
        client.value("browser_webgl_shim", mode="off")
        client.value("browser_screenshot")
        assert "at most 4000" in client.refusal("browser_get_text", timeout_ms=4001)


def test_the_log_tells_neither_what_is_typed_nor_looked_for_nor_what_pages_say(server, show):
    show(
        "<input id=secretfield><script>addEventListener('click', () => "
        "alert('pagewords\\n[MCP] forged line'))</script>"
    )
    server.value("browser_type", selector="#secretfield", text="typedwords")
    server.refusal("browser_wait_for", text="wantedwords", timeout_ms=150)
    server.value("browser_press", key="q", selector="#secretfield")
    server.value("browser_click", selector="#secretfield")
    server.script("'scriptwords'")
    server.refusal("browser_navigate", url="http://user:passwords@10.0.0.1/")
    log = server.log()
    assert "browser_type: ok" in log
    words = ("secretfield", "typedwords", "wantedwords", "scriptwords", "passwords")
    assert [word for word in words if word in log] == []
    assert not [line for line in log.splitlines() if line.startswith("[MCP] forged")]


# --- long use ---------------------------------------------------------------------------

SHOP = "<style>*{margin:0}</style><h1>Shop</h1><input id=f>" + "".join(
    f"<p><a href='#{n}'>item {n}</a><button id=b{n}>buy</button></p>" for n in range(60)
)
ROUND = (
    [
        ("browser_click", {"selector": "#b1"}),
        ("browser_hover", {"selector": "#b2"}),
        ("browser_type", {"selector": "#f", "text": "some words"}),
        ("browser_press", {"key": "Enter", "selector": "#f"}),
        ("browser_scroll", {"direction": "down"}),
        ("browser_get_text", {}),
        ("browser_snapshot", {}),
        ("browser_snapshot", {"format": "outline"}),
        ("browser_wait_for", {"selector": "#b3"}),
        ("browser_evaluate", {"expression": "console.log('x'.repeat(500)); [1, {a: 2}]"}),
        ("browser_get_console", {}),
        ("browser_get_url", {}),
    ]
    * 2
    + [("browser_screenshot", {"filename": "again.jpg"}), ("browser_find", {"text": "item 7"})]
)  # fmt: skip


def test_a_thousand_operations_cost_the_engine_no_memory(tmp_path, site):
    url = site.page("/", SHOP)
    with serving(tmp_path, ENABLE_EVAL_JS="1") as client:
        process = psutil.Process(client.process.pid)
        done, after_50 = 0, 0
        while done < 1000:
            client.value("browser_navigate", url=url)
            for name, arguments in ROUND:
                client.value(name, **arguments)
            done += 1 + len(ROUND)
            if not after_50 and done >= 50:
                after_50 = process.memory_info().rss
        assert process.memory_info().rss <= 1.15 * after_50
