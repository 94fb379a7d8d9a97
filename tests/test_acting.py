"""The acting tools through the front: arguments, answers and failures as clients see them."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest

from tests.mcp_peer import served, server_process, text_of

SERVE = ("-W", "error", "-m", "vfa", "serve")


# --- refused before any browser starts --------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("browser_click", {}, "[INVALID_ARGS] Provide exactly one of selector and ref"),
        ("browser_click", {"selector": "a", "ref": "e1"}, "exactly one"),
        ("browser_click", {"ref": "button"}, "is not a ref"),
        ("browser_click", {"selector": "a", "modifiers": ["Hyper"]}, "Unknown modifier"),
        ("browser_click", {"selector": "a", "count": 4}, "count"),
        ("browser_click", {"selector": "a", "button": "side"}, "button"),
        ("browser_hover", {}, "exactly one"),
        ("browser_type", {"selector": "a"}, "text"),
        ("browser_type", {"text": "x"}, "exactly one"),
        ("browser_press", {"key": "Entr"}, "[KEY_NOT_SUPPORTED] Unsupported key"),
        ("browser_press", {"key": "Entr"}, "Enter"),
        ("browser_press", {"key": ""}, "key"),
        ("browser_press", {"key": "a", "modifiers": ["Foo"]}, "Unknown modifier"),
        ("browser_press", {"key": "a", "repeat": 101}, "repeat"),
        ("browser_scroll", {}, "[INVALID_ARGS] Provide one of"),
        ("browser_scroll", {"pixels": 10}, "exactly one"),
        ("browser_scroll", {"direction": "down", "selector": "a"}, "exactly one"),
        ("browser_scroll", {"selector": "a", "x": 1}, "exactly one"),
        ("browser_scroll", {"selector": "a", "container": "b"}, "cannot be combined"),
        ("browser_scroll", {"direction": "sideways"}, "direction"),
        ("browser_drag", {"selector": "a"}, "exactly one"),
        ("browser_drag", {"selector": "a", "to_selector": "b", "dx": 5}, "exactly one"),
    ],
)
async def test_wrong_arguments_are_refused_at_once(tool, arguments, words):
    async with served() as peer:
        result = await peer.call(tool, **arguments)
    assert result["isError"]
    assert words in text_of(result)


# --- in a real browser ------------------------------------------------------------------

PAGE = """<body style="margin:0;height:3000px">
<button id=b style="position:absolute;left:0;top:0;width:100px;height:40px"
 onclick="document.title = 'clicked'">b</button>
<input id=f style="position:absolute;left:0;top:100px"><a href=/next
 style="position:absolute;left:0;top:150px">next</a>
<button id=covered style="position:absolute;left:0;top:200px">c</button>
<div id=overlay class=modal style="position:absolute;left:0;top:190px;width:300px;height:60px">
</div><button id=confirm style="position:absolute;left:0;top:300px"
 onclick="document.title = confirm('Sure?')">confirm</button>"""


@asynccontextmanager
async def client(environment):
    """A client of a real server; yields a function that calls a tool."""
    async with server_process(*SERVE, **environment) as (peer, _):
        await peer.initialize()

        async def call(tool, **arguments):
            result = await peer.call(tool, **arguments)
            text = text_of(result)
            return text if result.get("isError") else json.loads(text)

        yield call


@pytest.mark.browser
async def test_the_tools_end_to_end(site, environment):
    site.page("/next", "<h1>there</h1>", title="Next")
    url = site.page("/", PAGE)
    async with client(environment) as call:
        await call("browser_navigate", url=url)
        assert await call("browser_click", selector="#b") == {
            "clicked": True,
            "selector": "#b",
            "ref": "e1",
            "x": 50,
            "y": 20,
        }
        assert (await call("browser_get_url"))["title"] == "clicked"
        hovered = await call("browser_hover", ref="e1")
        assert hovered["hovered"]
        assert hovered["matchesHover"]
        assert hovered["selector"] is None

        typed = await call("browser_type", selector="#f", text="ab👍")
        assert (typed["typed"], typed["length"], typed["finalLength"]) == (True, 4, 4)
        typed = await call("browser_type", selector="#f", text="c", clear_first=False)
        assert (typed["length"], typed["finalLength"]) == (1, 5)
        pressed = await call("browser_press", key="Esc", selector="#f")
        assert pressed["key"] == "Escape"
        assert pressed["focused"]
        pressed = await call("browser_press", key="Control+a", repeat=2)
        assert (pressed["key"], pressed["modifiers"]) == ("a", ["Control"])
        assert (pressed["count"], pressed["selector"], pressed["focused"]) == (2, None, False)

        scrolled = await call("browser_scroll", direction="down", pixels=100)
        assert (scrolled["scrollY"], scrolled["mode"]) == (100, "direction")
        assert (scrolled["direction"], scrolled["moved"]) == ("down", {"x": 0, "y": 100})
        scrolled = await call("browser_scroll", y=50)
        assert (scrolled["mode"], scrolled["x"], scrolled["y"]) == ("position", None, 50)
        scrolled = await call("browser_scroll", selector="#f")
        assert (scrolled["mode"], scrolled["fullyInViewport"]) == ("element", True)
        dragged = await call("browser_drag", selector="#b", dx=10, dy=0)
        assert (dragged["dragged"], dragged["mode"]) == (True, "pointer")

        confirmed = await call("browser_click", selector="#confirm")
        assert confirmed["dialogs"][0]["message"] == "Sure?"

        refused = await call("browser_click", selector="#covered", timeout_ms=300)
        assert refused.startswith("[ELEMENT_NOT_CLICKABLE]")
        assert "covered by div#overlay.modal" in refused
        missing = await call("browser_click", selector="#none", timeout_ms=300)
        assert missing.startswith("[ELEMENT_NOT_FOUND] Element not found: #none")
        wrong = await call("browser_type", selector="#b", text="x")
        assert wrong.startswith("[ELEMENT_NOT_TYPEABLE]")
        stale = await call("browser_click", ref="e99")
        assert stale.startswith("[ELEMENT_STALE]")

        left = await call("browser_click", selector="a")
        assert left["navigated"] == {"url": site.url("/next")}
        stale = await call("browser_click", ref="e1")
        assert stale.startswith("[ELEMENT_STALE]")
        assert (await call("browser_get_url"))["title"] == "Next"
