"""The nineteen tools of browser-mcp as a client of it knows them, over stdio in a browser.

One server, and one browser, serve the whole module; each test begins on a page of its own.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import psutil
import pytest

from tests.client import serving
from tests.pictures import opened
from tests.site import serve_site
from vfa.config import Config
from vfa.tools import all_tools
from vfa.tools.families import family_of
from vfa.tools.schema import input_schema

TOOLS = {tool.name: tool for tool in all_tools()}
NINETEEN = [tool.name for tool in all_tools() if family_of(tool) == "core"]


@pytest.fixture(scope="module")
def site():
    with serve_site() as site:
        yield site


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with every switch on and the limits as they are by default."""
    with serving(
        tmp_path_factory.mktemp("open"), ENABLE_EVAL_JS=" True ", ENABLE_WEBGL_SHIM="YES"
    ) as client:
        yield client


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A server with no switch on and limits that are soon met."""
    limits = {
        "MAX_TEXT_LENGTH": "10",
        "MAX_CONSOLE_MESSAGES": "5",
        "MAX_CONSOLE_LINES": "2",
        "MAX_SNAPSHOT_ITEMS": "3",
        "MAX_SCREENSHOT_PIXELS": "20000",
        "TOOL_TIMEOUT_MS": "400",
        "NAVIGATION_TIMEOUT_MS": "700",
        "QUEUE_LIMIT": "3",
    }
    with serving(tmp_path_factory.mktemp("strict"), **limits) as client:
        yield client


@pytest.fixture
def show(server, site):
    """Open a page of the test's own in the shared tab."""

    def show(body, **more):
        url = site.page("/", body, **more)
        server.value("browser_navigate", url=url)
        return url

    return show


# --- arguments, defaults and ranges -----------------------------------------------------

# What the contract says of each argument: its default, and its range or its words.
TOOL_TIME, PAGE_TIME = 10_000, 30_000
DOCUMENTED = {
    "browser_navigate": {"url": "required", "timeout_ms": PAGE_TIME},
    "browser_get_url": {},
    "browser_get_text": {"selector": None, "timeout_ms": TOOL_TIME},
    "browser_screenshot": {
        "filename": None,
        "format": ("jpeg", "png"),
        "quality": (80, 1, 100),
        "full_page": False,
        "delay_ms": (0, 0, 5000),
    },
    "browser_get_console": {
        "level": ("all", "error", "warning", "log", "info", "debug"),
        "clear_after": False,
    },
    "browser_snapshot": {"include_text": True, "max_items": (None, None, 200)},
    "browser_click": {"selector": None, "force": False, "timeout_ms": TOOL_TIME},
    "browser_type": {
        "selector": None,
        "text": "required",
        "clear_first": True,
        "timeout_ms": TOOL_TIME,
    },
    "browser_wait_for": {"selector": None, "text": None, "timeout_ms": 15_000},
    "browser_scroll": {
        "direction": (None, "up", "down", "left", "right", "top", "bottom"),
        "selector": None,
        "x": None,
        "y": None,
        "pixels": None,
    },
    "browser_resize": {
        "preset": (None, "mobile", "tablet", "desktop"),
        "width": (None, 100, 10_000),
        "height": (None, 100, 10_000),
        "device_scale_factor": (None, 1, 4),
        "mobile": None,
        "reset": None,
        "timeout_ms": TOOL_TIME,
    },
    "browser_evaluate": {
        "expression": "required",
        "await_promise": True,
        "user_gesture": False,
        "timeout_ms": TOOL_TIME,
    },
    "browser_hover": {"selector": None, "timeout_ms": TOOL_TIME},
    "browser_press": {
        "key": "required",
        "modifiers": None,
        "selector": None,
        "repeat": (1, 1, 100),
        "timeout_ms": TOOL_TIME,
    },
    "browser_webgl_info": {},
    "browser_canvas_info": {"max_canvases": (None, 1, 200)},
    "browser_webgl_shim": {"mode": "required", "reload": True, "timeout_ms": PAGE_TIME},
    "browser_webgl_trace": {"clear": False},
    "browser_capture_frames": {
        "count": (4, 1, 60),
        "interval_ms": (200, 0, 5000),
        "format": ("jpeg", "png"),
        "quality": (80, 1, 100),
        "strategy": ("screencast", "poll"),
        "pump": ("screenshot", "none"),
        "selector": None,
        "filename_prefix": ("frame",),
        "timeout_ms": PAGE_TIME,
    },
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_documented_argument_has_its_default_and_its_range(name):
    schema = input_schema(TOOLS[name], Config())
    for argument, documented in DOCUMENTED[name].items():
        known = schema["properties"][argument]
        if documented == "required":
            assert argument in schema["required"]
        elif isinstance(documented, tuple) and isinstance(documented[-1], int):
            default, low, high = documented
            assert (known.get("default"), known.get("minimum"), known["maximum"]) == (
                default,
                low,
                high,
            )
        elif isinstance(documented, tuple):
            assert known.get("default") == documented[0]
            assert set(documented) - {None} <= set(known.get("enum", documented))
        elif documented is not None:
            assert known["default"] == documented


def test_the_nineteen_are_all_there():
    assert sorted(NINETEEN) == sorted(DOCUMENTED)


VALID = {
    "browser_navigate": {"url": "about:blank"},
    "browser_type": {"selector": "a", "text": "x"},
    "browser_press": {"key": "a"},
    "browser_evaluate": {"expression": "1"},
    "browser_webgl_shim": {"mode": "off"},
    "browser_click": {"selector": "a"},
    "browser_hover": {"selector": "a"},
}
WRONG_TYPES = {
    "string": [5, True, ["a"], {}],
    "boolean": ["yes", 1, []],
    "number": ["5", True, [1]],
    "integer": ["5", 1.5, True],
    "array": ["a", 1, [7]],
    "object": ["a", 1, []],
}


def wrong_values(schema):
    yield from WRONG_TYPES[schema["type"]]
    if "enum" in schema:
        yield "nonsense"
    if "minimum" in schema:
        yield schema["minimum"] - 1
    if "maximum" in schema:
        yield schema["maximum"] + 1
    if "maxLength" in schema and schema["maxLength"] < 20_000:
        yield "x" * (schema["maxLength"] + 1)


def wrong_calls():
    for name in NINETEEN:
        schema = input_schema(TOOLS[name], Config())
        for argument, known in schema["properties"].items():
            for value in wrong_values(known):
                yield name, argument, VALID.get(name, {}) | {argument: value}
        for argument in schema.get("required", []):
            given = {k: v for k, v in VALID[name].items() if k != argument}
            yield name, argument, given
        yield name, "zzz", VALID.get(name, {}) | {"zzz": 1}


CODES = {("mode", "nonsense"): "WEBGL_SHIM_MODE_INVALID"}  # where it has one of its own

# The words are those that clients of the original look for.
REFUSED_AT_ONCE = [
    ("browser_navigate", {"url": "file:///etc/passwd"}, "INVALID_URL", "Rejected scheme"),
    ("browser_navigate", {"url": "JavaScript:alert(1)"}, "INVALID_URL", "Rejected scheme"),
    ("browser_navigate", {"url": "ftp://a.test/"}, "INVALID_URL", "Unknown scheme"),
    ("browser_navigate", {"url": "no url"}, "INVALID_URL", "Invalid URL"),
    (
        "browser_navigate",
        {"url": "http://10.1.2.3/"},
        "SSRF_BLOCKED",
        "Private network blocked",
    ),
    ("browser_navigate", {"url": "http://192.168.0.1"}, "SSRF_BLOCKED", "ALLOW_PRIVATE_NET"),
    ("browser_screenshot", {"filename": "/tmp/a.png"}, "UNSAFE_PATH", "Absolute paths"),
    ("browser_screenshot", {"filename": "../a.png"}, "UNSAFE_PATH", "traversal"),
    ("browser_capture_frames", {"filename_prefix": "/a"}, "UNSAFE_PATH", "Absolute paths"),
    ("browser_capture_frames", {"filename_prefix": "a/../../b"}, "UNSAFE_PATH", "traversal"),
    ("browser_wait_for", {}, "INVALID_ARGS", "at least one"),
    ("browser_wait_for", {"selector": "", "text": ""}, "INVALID_ARGS", "at least one"),
    ("browser_scroll", {}, "INVALID_ARGS", "Provide one of"),
    ("browser_scroll", {"pixels": 100}, "INVALID_ARGS", "exactly one"),
    ("browser_scroll", {"direction": "up", "x": 1}, "INVALID_ARGS", "exactly one"),
    ("browser_resize", {}, "INVALID_ARGS", "No viewport change"),
    ("browser_resize", {"reset": False}, "INVALID_ARGS", "No viewport change"),
    ("browser_resize", {"width": 500}, "INVALID_ARGS", 'Both "width" and "height"'),
    ("browser_resize", {"height": 500}, "INVALID_ARGS", 'Both "width" and "height"'),
    ("browser_resize", {"mobile": True}, "INVALID_ARGS", 'require a "preset"'),
    ("browser_resize", {"device_scale_factor": 2}, "INVALID_ARGS", 'require a "preset"'),
    (
        "browser_resize",
        {"preset": "mobile", "width": 9_00},
        "INVALID_ARGS",
        "cannot be combined",
    ),
    (
        "browser_resize",
        {"reset": True, "preset": "mobile"},
        "INVALID_ARGS",
        "cannot be combined",
    ),
    ("browser_resize", {"reset": False, "mobile": True}, "INVALID_ARGS", "cannot be combined"),
    ("browser_resize", {"preset": "phone"}, "INVALID_ARGS", "Unknown preset"),
    ("browser_press", {"key": "Entr"}, "KEY_NOT_SUPPORTED", "Unsupported key"),
    ("browser_press", {"key": "Entr"}, "KEY_NOT_SUPPORTED", "Enter"),
    (
        "browser_press",
        {"key": "a", "modifiers": ["Hyper"]},
        "INVALID_ARGS",
        "Unknown modifier",
    ),
    ("browser_evaluate", {"expression": "1"}, "EVAL_DISABLED", "ENABLE_EVAL_JS=1"),
    ("browser_webgl_shim", {"mode": "mock"}, "WEBGL_SHIM_DISABLED", "ENABLE_WEBGL_SHIM=1"),
    ("browser_get_text", {"selector": "a >>> "}, "INVALID_ARGS", "not a valid selector"),
    ("browser_click", {"selector": "", "ref": ""}, "INVALID_ARGS", "exactly one"),
    ("browser_get_url", {"tab": 99}, "TAB_GONE", "99"),
]


@pytest.mark.browser
def test_whatever_is_refused_is_refused_with_its_code_and_words_before_a_browser_starts(
    tmp_path,
):
    failed = []
    with serving(tmp_path) as client:
        for name, argument, arguments in wrong_calls():
            text = client.refusal(name, **arguments)
            code = CODES.get((argument, str(arguments.get(argument))), "INVALID_ARGS")
            if not text.startswith(f"[{code}] Invalid arguments for {name}: "):
                failed.append((name, arguments, text))
            elif argument not in text:
                failed.append((name, argument, text))
        for name, arguments, code, words in REFUSED_AT_ONCE:
            text = client.refusal(name, **arguments)
            if not text.startswith(f"[{code}] ") or words not in text:
                failed.append((name, arguments, text))
        assert psutil.Process(client.process.pid).children(recursive=True) == []
    assert failed == []


# --- browser_navigate, browser_get_url --------------------------------------------------


@pytest.mark.browser
def test_navigate_answers_where_it_led_with_title_and_status(server, site):
    new = site.page("/new", "x", title="New")
    site.pages["/old"] = (302, {"Location": "/new"}, "")

    def went(url):
        return server.value("browser_navigate", url=url)

    assert went(site.url("/old")) == {"url": new, "title": "New", "status": 200}
    assert went(new + "#part") == {"url": new + "#part", "title": "New", "status": 200}
    assert went(site.url("/none"))["status"] == 404
    assert went("about:blank") == {"url": "about:blank", "title": "", "status": None}


@pytest.mark.browser
def test_navigate_says_what_kept_a_page_from_coming(strict, site):
    refused = strict.refusal("browser_navigate", url="http://127.0.0.1:9999/")
    assert refused.startswith("[NAVIGATION_FAILED]")
    assert "ERR_CONNECTION_REFUSED" in refused
    slow = strict.refusal("browser_navigate", url=site.hang("/slow"))
    assert slow.startswith("[TIMEOUT] Navigation timeout after 700 ms")
    slow = strict.refusal("browser_navigate", url=site.url("/slow"), timeout_ms=300)
    assert "after 300 ms" in slow


@pytest.mark.browser
def test_get_url_answers_url_title_and_ready_state(server, show):
    url = show("x", title="Here")
    assert server.value("browser_get_url") == {
        "url": url,
        "title": "Here",
        "readyState": "complete",
    }


# --- browser_get_text -------------------------------------------------------------------


@pytest.mark.browser
def test_get_text_reads_the_page_an_element_or_the_value_of_a_field(server, show):
    show(
        "<h1>Shop</h1><p hidden>secret</p><input value=typed><textarea>long</textarea>"
        "<select><option>a<option selected>b</select><p id=empty></p><p id=u>a😀</p>"
    )

    def text(**arguments):
        return server.value("browser_get_text", **arguments)

    whole = text(selector="")
    assert whole["text"].startswith("Shop")
    assert "secret" not in whole["text"]
    assert text() == whole
    assert text(selector="h1") == {"text": "Shop", "truncated": False, "length": 4}
    assert text(selector="input")["text"] == "typed"
    assert text(selector="textarea")["text"] == "long"
    assert text(selector="select")["text"] == "b"
    assert text(selector="#empty") == {"text": "", "truncated": False, "length": 0}
    assert text(selector="#u")["length"] == 3  # UTF-16 units


@pytest.mark.browser
def test_get_text_keeps_to_its_limit_and_to_its_time(strict, site):
    strict.value("browser_navigate", url=site.page("/", "<p>0123456789abcdef</p>"))
    assert strict.value("browser_get_text") == {
        "text": "0123456789\n... [truncated]",
        "truncated": True,
        "length": 16,
    }
    missing = strict.refusal("browser_get_text", selector="#none")  # TOOL_TIMEOUT_MS
    assert missing.startswith("[ELEMENT_NOT_FOUND] Element not found: #none")


# --- browser_screenshot -----------------------------------------------------------------

NAMES = {
    "01-hero.png": ("jpeg", "01-hero.jpg"),
    "photo.webp": ("png", "photo.png"),
    "already.JPEG": ("jpeg", "already.JPEG"),
    "needs-ext": ("jpeg", "needs-ext.jpg"),
    "deep/er/x.png": ("png", "deep/er/x.png"),
}


@pytest.mark.browser
def test_screenshots_are_files_of_the_right_name_and_pictures_in_the_answer(server, show):
    show("<body style='background:#0f0'>")
    for filename, (format_, expected) in NAMES.items():
        result = server.call("browser_screenshot", filename=filename, format=format_)
        facts, picture = json.loads(result["content"][0]["text"]), result["content"][1]
        assert facts["path"] == str(server.output / expected)
        data = Path(facts["path"]).read_bytes()
        assert picture["type"] == "image"
        assert picture["mimeType"] == f"image/{format_}"
        assert base64.b64decode(picture["data"]) == data
        assert facts["size"] == len(data)
        assert (facts["truncated"], facts["scale"], facts["measured"]) == (False, 1, True)
        assert opened(data).size == (facts["width"], facts["height"])
    unnamed = server.value("browser_screenshot", filename="", delay_ms=10)["path"]
    assert re.search(r"screenshot-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.jpe?g$", unnamed)
    good = server.value("browser_screenshot", quality=100)["size"]
    assert server.value("browser_screenshot", quality=1)["size"] < good


@pytest.mark.browser
def test_a_full_page_is_all_of_it_and_too_many_pixels_are_scaled_down(server, strict, site):
    url = site.page("/", "<style>*{margin:0}</style><div style='height:2000px'>x</div>")
    server.value("browser_navigate", url=url)
    assert server.value("browser_screenshot", full_page=True)["height"] == 2000
    strict.value("browser_navigate", url=url)
    for full_page in (False, True):
        facts = strict.value(
            "browser_screenshot", full_page=full_page, format="png", timeout_ms=10_000
        )
        assert facts["truncated"] is True
        assert facts["scale"] < 1
        assert facts["width"] * facts["height"] <= 20_000


@pytest.mark.browser
def test_a_picture_that_no_scale_makes_small_enough_says_how_large_it_is(tmp_path, site):
    with serving(tmp_path, MAX_IMAGE_BYTES="60") as client:
        client.value("browser_navigate", url=site.page("/", "<p>x</p>" * 50))
        large = client.refusal("browser_screenshot", format="png")
        assert large.startswith("[SCREENSHOT_TOO_LARGE]")
        assert re.search(r"\d+ bytes", large)
        frame = client.refusal("browser_capture_frames", count=1)
        assert frame.startswith("[SCREENSHOT_TOO_LARGE]")
        assert client.value("browser_get_url")["readyState"] == "complete"


# --- browser_get_console ----------------------------------------------------------------


@pytest.mark.browser
def test_the_console_has_levels_places_and_uncaught_exceptions(server, show):
    url = show(
        "<script>console.log('a', 1, null, undefined, true);console.warn('careful');"
        "console.error('bad');console.info('i');console.debug('d');null.x</script>"
    )

    def read(**arguments):
        return server.value("browser_get_console", **arguments)

    everything = read(level="all")
    assert (everything["count"], everything["cleared"]) == (6, False)
    assert (everything["truncated"], everything["droppedCount"]) == (False, 0)
    first = everything["messages"][0]
    assert (first["level"], first["text"]) == ("log", "a 1 null undefined true")
    assert first["url"].startswith(url)
    assert first["timestamp"] > 1_700_000_000_000  # ms since 1970
    assert [m["text"] for m in read(level="warning")["messages"]] == ["careful"]
    errors = read(level="error", clear_after=True)
    assert errors["messages"][0]["text"] == "bad"
    assert errors["messages"][1]["text"].startswith("[Exception] ")
    assert errors["cleared"] is True
    assert read()["count"] == 0  # the whole ring was emptied, not the level alone


@pytest.mark.browser
def test_the_console_keeps_the_newest_and_counts_the_others(strict, site):
    url = site.page("/", "<script>for (let i = 0; i < 8; i++) console.log(i)</script>")
    strict.value("browser_navigate", url=url)
    read = strict.value("browser_get_console")
    assert [message["text"] for message in read["messages"]] == ["6", "7"]
    assert (read["count"], read["truncated"]) == (5, True)
    assert read["droppedCount"] == 6  # three had no room in the ring, three in the answer
    strict.value("browser_navigate", url=site.page("/other", "x"))
    assert strict.value("browser_get_console")["count"] == 0


# --- browser_snapshot -------------------------------------------------------------------


@pytest.mark.browser
def test_a_snapshot_lists_what_can_be_used_with_selectors_and_states(server, show, strict):
    url = show(
        "<button id=b disabled>Save</button><input type=checkbox checked aria-label=Agree>"
        "<input placeholder=Name value=Ann required><a href=/x>More</a><p>text</p>"
    )
    snap = server.value("browser_snapshot")
    assert (snap["count"], snap["truncated"], snap["evaluateEnabled"]) == (4, False, True)
    button, box, field, link = snap["elements"]
    assert (button["role"], button["name"], button["selector"]) == ("button", "Save", "#b")
    assert button["state"]["disabled"] is True
    assert (box["role"], box["state"]["checked"]) == ("checkbox", "true")
    assert (field["role"], field["name"], field["value"]) == ("textbox", "Name", "Ann")
    assert field["state"]["required"] is True
    assert (link["role"], link["name"]) == ("link", "More")
    assert all("description" in element for element in snap["elements"])
    for element in snap["elements"]:
        found = server.script(f"document.querySelectorAll({element['selector']!r}).length")
        assert found == 1
    bare = server.value("browser_snapshot", include_text=False)
    assert all("value" not in element for element in bare["elements"])
    short = server.value("browser_snapshot", max_items=2)
    assert (short["count"], short["truncated"]) == (2, True)
    assert server.value("browser_snapshot", max_items=0)["count"] == 1
    strict.value("browser_navigate", url=url)
    limited = strict.value("browser_snapshot", timeout_ms=5000)  # MAX_SNAPSHOT_ITEMS
    assert (limited["count"], limited["truncated"]) == (3, True)
    assert limited["evaluateEnabled"] is False


# --- browser_click, browser_hover -------------------------------------------------------

TARGETS = """<style>*{margin:0}button{position:absolute;width:100px;height:40px}</style>
<script>let hits = []</script>
<button id=ok style="left:0;top:0" onclick="hits.push(event.isTrusted)">ok</button>
<button id=hidden style="display:none" onclick="hits.push('hidden')">h</button>
<button id=under style="left:0;top:100px" onclick="hits.push(event.isTrusted)">u</button>
<div id=over class="modal big" style="position:absolute;left:0;top:90px;width:300px;height:60px"
></div>"""


@pytest.mark.browser
def test_a_click_answers_its_point_and_says_what_prevents_it(server, show):
    show(TARGETS)
    clicked = server.value("browser_click", selector="#ok")
    assert clicked.pop("ref")
    assert clicked == {"clicked": True, "selector": "#ok", "x": 50, "y": 20}

    def refusal(**arguments):
        return server.refusal("browser_click", timeout_ms=300, **arguments)

    assert refusal(selector="#none").startswith("[ELEMENT_NOT_FOUND] Element not found: #none")
    assert refusal(selector="#hidden").startswith("[ELEMENT_HIDDEN] Element is not visible")
    assert refusal(selector="#hidden", force=True).startswith("[ELEMENT_HIDDEN]")
    covered = refusal(selector="#under")
    assert covered.startswith("[ELEMENT_NOT_CLICKABLE]")
    assert "covered by div#over.modal" in covered
    assert "SyntaxError" in refusal(selector="##")
    assert server.script("hits") == [True]
    forced = server.value("browser_click", selector="#under", force=True)
    assert forced["forced"] is True
    assert server.script("hits.length") == 2


@pytest.mark.browser
def test_a_hover_says_whether_the_page_feels_it(server, show):
    show(TARGETS)
    hovered = server.value("browser_hover", selector="#ok")
    assert (hovered["hovered"], hovered["selector"]) == (True, "#ok")
    assert (hovered["x"], hovered["y"], hovered["matchesHover"]) == (50, 20, True)
    covered = server.value("browser_hover", selector="#under", timeout_ms=400)
    assert (covered["y"], covered["matchesHover"]) == (120, False)
    missing = server.refusal("browser_hover", selector="#none", timeout_ms=200)
    assert missing.startswith("[ELEMENT_NOT_FOUND] Element not found")
    hidden = server.refusal("browser_hover", selector="#hidden", timeout_ms=200)
    assert hidden.startswith("[ELEMENT_HIDDEN]")
    assert "not visible" in hidden


# --- browser_type, browser_press --------------------------------------------------------


@pytest.mark.browser
def test_typing_replaces_or_appends_and_tells_both_lengths(server, show):
    show(
        "<input id=f value=old><div id=e contenteditable>start</div><select><option>a</select>"
        "<button>b</button>"
    )

    def typed(selector, text, **more):
        value = server.value("browser_type", selector=selector, text=text, **more)
        assert (value["typed"], value["selector"]) == (True, selector)
        return value["length"], value["finalLength"]

    assert typed("#f", "a😀") == (3, 3)
    assert typed("#f", "b.'(", clear_first=False) == (4, 7)
    assert server.script("document.querySelector('#f').value") == "a😀b.'("
    assert typed("#f", "") == (0, 0)
    assert typed("#e", "ed", clear_first=False) == (2, 7)
    assert server.script("document.querySelector('#e').textContent") == "started"
    for selector in ("select", "button"):
        refused = server.refusal("browser_type", selector=selector, text="x", timeout_ms=300)
        assert refused.startswith("[ELEMENT_NOT_TYPEABLE]")
    missing = server.refusal("browser_type", selector="#none", text="pa55word", timeout_ms=200)
    assert missing.startswith("[ELEMENT_NOT_FOUND] Element not found: #none")
    assert "pa55word" not in missing


@pytest.mark.browser
def test_a_press_answers_the_key_its_modifiers_and_whether_it_was_focused(server, show):
    show("<input id=f value=ab><p id=h hidden>x</p>")
    pressed = server.value("browser_press", key="End", selector="#f")
    assert pressed.pop("ref")
    assert pressed == {
        "pressed": True,
        "key": "End",
        "modifiers": [],
        "count": 1,
        "selector": "#f",
        "focused": True,
    }
    again = server.value("browser_press", key="Backspace", repeat=2)
    assert (again["count"], again["selector"], again["focused"]) == (2, None, False)
    assert server.script("document.querySelector('#f').value") == ""
    assert server.value("browser_press", key="Esc")["key"] == "Escape"
    assert server.value("browser_press", key="Space")["key"] == " "
    chord = server.value("browser_press", key="a", modifiers=["Control", "Shift"])
    assert chord["modifiers"] == ["Control", "Shift"]
    missing = server.refusal("browser_press", key="a", selector="#none", timeout_ms=200)
    assert missing.startswith("[ELEMENT_NOT_FOUND]")
    hidden = server.refusal("browser_press", key="a", selector="#h", timeout_ms=200)
    assert hidden.startswith("[ELEMENT_HIDDEN]")


# --- browser_wait_for, browser_scroll ---------------------------------------------------


@pytest.mark.browser
def test_waiting_needs_all_that_is_asked_for_and_names_what_is_missing(server, show):
    show(
        "<script>setTimeout(() => document.body.append(document.createElement('b')), 150);"
        "setTimeout(() => document.querySelector('b').append('It  is\\nhere'), 300)</script>x"
    )
    found = server.value("browser_wait_for", selector="b", text="It is here")
    assert found.pop("elapsed_ms") >= 0
    assert found.pop("ref")
    assert found == {"found": True, "selector": "b", "text": "It is here"}
    only = server.value("browser_wait_for", text="is here")
    assert (only["selector"], only["text"]) == (None, "is here")
    late = server.refusal("browser_wait_for", selector="#no", text="never", timeout_ms=200)
    assert late.startswith("[TIMEOUT] Timed out")
    assert "#no" in late
    assert "never" in late
    assert "Timed out" in server.refusal("browser_wait_for", text="it is here", timeout_ms=150)
    assert "not a valid selector" in server.refusal("browser_wait_for", selector="##")


@pytest.mark.browser
def test_scrolling_by_each_of_its_ways_answers_where_that_led(server, show):
    show(
        "<style>*{margin:0}</style><div style='height:3000px;width:3000px'></div><p id=p>x</p>"
    )
    height = server.script("innerHeight")

    def scroll(**arguments):
        value = server.value("browser_scroll", **arguments)
        return value["scrollX"], value["scrollY"], value

    x, y, value = scroll(direction="down")
    assert (x, y) == (0, round(0.8 * height))
    assert (value["mode"], value["direction"]) == ("direction", "down")
    assert scroll(direction="right", pixels=120.4)[:2] == (120, y)
    assert scroll(direction="up", pixels=50)[:2] == (120, y - 50)
    assert scroll(direction="left", pixels=20)[:2] == (100, y - 50)
    assert scroll(direction="top")[1] == 0
    assert scroll(direction="bottom")[1] > 2000
    x, y, value = scroll(x=30, y=0, pixels=5)
    assert (x, y, value["mode"], value["x"], value["y"]) == (30, 0, "position", 30, 0)
    x, y, value = scroll(y=400)
    assert (x, y, value["x"], value["y"]) == (30, 400, None, 400)
    _, y, value = scroll(selector="#p", pixels=3)
    assert y > 2000
    assert (value["mode"], value["selector"]) == ("element", "#p")
    assert (value["inViewport"], value["fullyInViewport"]) == (True, True)
    missing = server.refusal("browser_scroll", selector="#none", timeout_ms=200)
    assert missing.startswith("[ELEMENT_NOT_FOUND]")


# --- browser_resize ---------------------------------------------------------------------


@pytest.mark.browser
def test_a_viewport_is_set_measured_kept_and_given_back(server, show):
    url = show("<meta name=viewport content='width=device-width'>x")
    before = server.script("[innerWidth, innerHeight]")
    presets = {
        "mobile": (390, 844, 3, True),
        "tablet": (768, 1024, 2, True),
        "desktop": (1280, 800, 1, False),
    }
    for preset, expected in presets.items():
        value = server.value("browser_resize", preset=preset, timeout_ms=5000)
        said = tuple(value[k] for k in ("width", "height", "deviceScaleFactor", "mobile"))
        assert said == expected
        assert (value["resized"], value["preset"], value["reset"]) == (True, preset, False)
        assert set(value["measured"]) == {
            "innerWidth",
            "innerHeight",
            "devicePixelRatio",
            "scrollX",
            "scrollWidth",
        }
        assert value["measured"]["innerWidth"] == expected[0]
        assert "warning" not in value
    value = server.value("browser_resize", width=640, height=480)
    assert (value["deviceScaleFactor"], value["mobile"], value["preset"]) == (1, False, None)
    value = server.value("browser_resize", preset="mobile", device_scale_factor=2, mobile=False)
    assert (value["deviceScaleFactor"], value["mobile"]) == (2, False)
    server.value("browser_navigate", url=url)  # it lasts over navigations
    assert server.script("innerWidth") == 390
    server.value("browser_resize", preset="mobile")
    show("<div style='width:1200px'>no viewport meta</div>")
    wide = server.value("browser_resize", preset="mobile")
    assert "innerWidth" in wide["warning"]
    back = server.value("browser_resize", reset=True)
    assert back.pop("measured")["innerWidth"] == before[0]
    assert back == {
        "resized": True,
        "width": None,
        "height": None,
        "deviceScaleFactor": None,
        "mobile": None,
        "preset": None,
        "reset": True,
    }


# --- browser_evaluate -------------------------------------------------------------------

RESULTS = {
    "undefined": (None, "undefined"),
    "null": (None, "object"),
    "'a'": ("a", "string"),
    "1.5": (1.5, "number"),
    "true": (True, "boolean"),
    "NaN": ("NaN", "number"),
    "-Infinity": ("-Infinity", "number"),
    "-0": ("-0", "number"),
    "10n": ("10n", "bigint"),
    "Symbol('s')": ("Symbol(s)", "symbol"),
    "[1, undefined, NaN]": (
        [1, {"__type": "undefined"}, {"__type": "number", "value": "NaN"}],
        "array",
    ),
    "new Map([[1, 'a']])": ({"__type": "Map", "entries": [[1, "a"]]}, "map"),
    "new Set([1])": ({"__type": "Set", "values": [1]}, "set"),
    "new Date(0)": ({"__type": "Date", "value": "1970-01-01T00:00:00.000Z"}, "date"),
    "new RangeError('no')": (
        {"__type": "Error", "name": "RangeError", "message": "no"},
        "error",
    ),
    "(function f(a, b) {})": ({"__type": "function", "name": "f", "length": 2}, "function"),
    "document.querySelector('div')": (
        {"__type": "Element", "tag": "div#d.c1.c2", "text": "some text"},
        "node",
    ),
    "({a: {b: {c: {d: {e: {}}}}}})": (
        {"a": {"b": {"c": {"d": {"e": {"__type": "truncated", "reason": "maxDepth"}}}}}},
        "object",
    ),
    "(() => { const o = {}; o.self = o; return o })()": (
        {"self": {"__type": "circular"}},
        "object",
    ),
    "({get a() { throw 1 }})": ({"a": {"__type": "unserializable"}}, "object"),
    "Promise.resolve(7)": (7, "number"),
}


@pytest.mark.browser
def test_values_of_every_kind_have_the_documented_form(server, show):
    show("<div id=d class='c1 c2'> some\n text </div>")
    failed = {}
    for expression, (result, type_) in RESULTS.items():
        value = server.value("browser_evaluate", expression=expression)
        if value != {"result": result, "type": type_, "truncated": False}:
            failed[expression] = value
    assert failed == {}
    pending = server.value(
        "browser_evaluate", expression="Promise.resolve(7)", await_promise=False
    )
    assert (pending["result"], pending["type"]) == ({}, "promise")
    many = server.value("browser_evaluate", expression="Array(105).fill(1)")["result"]
    assert many[100:] == [{"__type": "truncated", "reason": "maxItems", "total": 105}]
    gesture = server.value(
        "browser_evaluate", expression="navigator.userActivation.isActive", user_gesture=True
    )
    assert gesture["result"] is True


@pytest.mark.browser
def test_what_a_script_throws_or_never_ends_is_told(server, show):
    show("x")
    for expression in (
        "throw new TypeError('no good')",
        "Promise.reject(new Error('no good'))",
    ):
        thrown = server.refusal("browser_evaluate", expression=expression)
        assert thrown.startswith("[EVAL_ERROR]")
        assert "no good" in thrown
    endless = server.refusal("browser_evaluate", expression="for (;;);", timeout_ms=300)
    assert endless.startswith("[TIMEOUT]")
    assert "Timeout: Runtime.evaluate" in endless
    assert server.script("1 + 1") == 2
    server.refusal("browser_evaluate", expression="x" * 100_001)
    long = server.value("browser_evaluate", expression="'x'.repeat(200000)")
    assert long["truncated"] is True
    assert long["result"].startswith('"xxx')


# --- WebGL and canvases -----------------------------------------------------------------


@pytest.mark.browser
def test_webgl_info_has_the_documented_shape(server, show):
    show("<canvas></canvas><script>console.error('WebGL: context lost')</script>")
    info = server.value("browser_webgl_info")
    assert {"usable", "effective", "webgl", "webgl2", "offscreen", "interfaces", "shim"} <= set(
        info
    )
    assert (info["effective"], info["usable"]) == ("real", True)
    for version in ("webgl", "webgl2"):
        told = info[version]
        assert (told["ok"], told["mock"]) == (True, False)
        assert set(told) >= {
            "vendor",
            "renderer",
            "version",
            "maxTextureSize",
            "maxRenderbufferSize",
            "extensionCount",
            "extensions",
            "unmasked",
        }
        assert len(told["extensions"]) <= 20
        assert info["offscreen"][version]["supported"] is True
    assert set(info["interfaces"]) == {
        "WebGLRenderingContext",
        "WebGL2RenderingContext",
        "OffscreenCanvas",
        "WebGPUNavigator",
    }
    assert info["shim"] == {"active": False, "mode": None, "mockedContexts": 0}
    assert "context lost" in info["consoleHits"][0]["text"]


@pytest.mark.browser
def test_canvases_are_described_with_what_is_on_them(server, show):
    show(
        "<canvas id=a class=k width=64 height=32></canvas><canvas></canvas><script>"
        "let c = a.getContext('2d');c.fillStyle='red';c.fillRect(0,0,9,9)</script>"
    )
    info = server.value("browser_canvas_info")
    assert (info["count"], info["blank"], info["truncated"]) == (2, 1, False)
    first, second = info["canvases"]
    assert (first["index"], first["id"], first["className"]) == (0, "a", "k")
    assert first["attributeSize"] == {"width": 64, "height": 32}
    assert {"cssSize", "position", "mockContextType", "pixels", "verdict"} <= set(first)
    assert "pixel content" in first["verdict"].lower()
    assert first["pixels"]["blank"] is False
    assert second["pixels"]["blank"] is True
    one = server.value("browser_canvas_info", max_canvases=1)
    assert (one["count"], one["sampled"], one["truncated"]) == (2, 1, True)


@pytest.mark.browser
def test_the_stand_in_is_installed_traced_cleared_and_taken_back(server, show):
    show(
        "<canvas id=c></canvas><script>let gl=c.getContext('webgl');"
        "gl.drawArrays(gl.TRIANGLES,0,6)</script>"
    )
    unshimmed = server.refusal("browser_webgl_trace")
    assert unshimmed.startswith("[WEBGL_TRACE_UNAVAILABLE]")
    later = server.value("browser_webgl_shim", mode="mock", reload=False)
    assert later.pop("identifier")
    assert later.pop("appliesTo")
    assert later.pop("note")
    assert later == {
        "mode": "mock",
        "shimmed": True,
        "reloadRequired": True,
        "reloaded": False,
    }
    now = server.value("browser_webgl_shim", mode="trace", timeout_ms=9000)
    assert (now["reloaded"], now["reloadRequired"]) == (True, False)
    trace = server.value("browser_webgl_trace", clear=True)
    assert (trace["available"], trace["installed"], trace["mode"]) == (True, True, "trace")
    assert set(trace) >= {
        "stats",
        "recordCount",
        "counts",
        "shaders",
        "draws",
        "uniforms",
        "textures",
        "other",
        "cleared",
    }
    assert (trace["stats"]["draws"], trace["stats"]["triangles"]) == (1, 2)
    assert server.value("browser_webgl_trace")["recordCount"] == 0
    off = server.value("browser_webgl_shim", mode="off")
    assert (off["identifier"], off["shimmed"], off["appliesTo"]) == (None, False, "nothing")


# --- browser_capture_frames -------------------------------------------------------------


@pytest.mark.browser
def test_frames_are_numbered_files_with_what_the_strategy_did(server, show):
    show("<style>*{margin:0}</style><div id=box style='width:50px;height:40px'>x</div>")
    cast = server.value("browser_capture_frames", count=2, interval_ms=50, format="png")
    assert (cast["strategy"], cast["requested"], cast["captured"]) == ("screencast", 2, 2)
    assert (cast["format"], cast["pump"]) == ("png", "screenshot")
    assert cast["pumpCount"] >= 0
    assert "clip" not in cast
    assert [frame["index"] for frame in cast["frames"]] == [1, 2]
    for number, frame in enumerate(cast["frames"], 1):
        assert frame["path"] == str(server.output / f"frame-{number:02}.png")
        data = Path(frame["path"]).read_bytes()
        assert (frame["size"], opened(data).size) == (
            len(data),
            (frame["width"], frame["height"]),
        )
    poll = server.value(
        "browser_capture_frames",
        count=1,
        strategy="poll",
        selector="#box",
        filename_prefix="boxes/b",
        quality=50,
    )
    assert poll["clip"] == {"x": 0, "y": 0, "width": 50, "height": 40, "scale": 1}
    assert "pump" not in poll
    assert poll["frames"][0]["path"] == str(server.output / "boxes" / "b-01.jpg")
    short = server.value("browser_capture_frames", count=9, pump="none", timeout_ms=900)
    assert short["shortBy"] == 9 - short["captured"]
    assert short["note"]
    for selector, code in (("#none", "ELEMENT_NOT_FOUND"), ("script", "ELEMENT_HIDDEN")):
        show("x<script></script>")
        refused = server.refusal(
            "browser_capture_frames", strategy="poll", selector=selector, timeout_ms=400
        )
        assert refused.startswith(f"[{code}]")


# --- what all of them have in common ----------------------------------------------------


@pytest.mark.browser
def test_the_log_has_the_words_that_clients_look_for(tmp_path, site):
    with serving(tmp_path) as client:
        client.value("browser_navigate", url=site.page("/", "x"))
    log = client.log()
    for words in ("[MCP] Server started", "[MCP] Navigating to", "Profile dir: /"):
        assert words in log
    assert re.search(r"Chromium PID: \d+", log)
    assert "Shutting down" in log
    assert "[Browser] Cleanup complete" in log
