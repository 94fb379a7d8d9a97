"""The viewport: which arguments ask for what, what the page sees of it, how long it lasts."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from tests.tabs import evaluate, session_tab
from vfa.errors import CdpError, InvalidArgsError, PageCrashedError, ViewportError
from vfa.page.viewport import Viewport, apply_viewport
from vfa.tools.emulation import PRESETS, ResizeArguments, resize, wanted_viewport

browser = pytest.mark.browser
META = '<meta name=viewport content="width=device-width, initial-scale=1">'


def stage(tab):
    return SimpleNamespace(tab=lambda number: tab)


async def run(page_tab, **arguments):
    with trio.fail_after(10):
        return (await resize(stage(page_tab), ResizeArguments(**arguments), None)).value


# --- what is asked for ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "No viewport change"),
        ({"reset": False}, "No viewport change"),
        ({"tab": 1, "timeout_ms": 5}, "Provide one of"),
        ({"reset": True, "width": 200, "height": 200}, "cannot be combined"),
        ({"reset": True, "preset": "mobile"}, "cannot be combined"),
        ({"reset": False, "mobile": False}, "cannot be combined"),
        ({"preset": "mobile", "width": 200}, "cannot be combined"),
        ({"preset": "mobile", "height": 200}, "cannot be combined"),
        ({"width": 200}, 'Both "width" and "height"'),
        ({"height": 200, "mobile": True}, 'Both "width" and "height"'),
        ({"device_scale_factor": 2}, 'require a "preset"'),
        ({"mobile": False}, 'require a "preset"'),
    ],
)
async def test_what_does_not_say_which_viewport_is_refused_without_a_browser(arguments, words):
    with pytest.raises(InvalidArgsError, match=words):
        await run(None, **arguments)


@pytest.mark.parametrize(
    ("arguments", "viewport"),
    [
        ({"preset": "mobile"}, Viewport(390, 844, 3, mobile=True)),
        ({"preset": "tablet"}, Viewport(768, 1024, 2, mobile=True)),
        ({"preset": "desktop"}, Viewport(1280, 800, 1, mobile=False)),
        ({"preset": "mobile", "device_scale_factor": 1}, Viewport(390, 844, 1, mobile=True)),
        ({"preset": "mobile", "mobile": False}, Viewport(390, 844, 3, mobile=False)),
        ({"width": 500, "height": 400}, Viewport(500, 400, 1, mobile=False)),
        ({"reset": True}, None),
    ],
)
def test_what_says_it_is_understood(arguments, viewport):
    assert wanted_viewport(ResizeArguments(**arguments)) == viewport


def optional(values):
    return st.just(UNSET) | values


@given(
    st.builds(
        ResizeArguments,
        preset=optional(st.sampled_from(list(PRESETS))),
        width=optional(st.integers(100, 10_000)),
        height=optional(st.integers(100, 10_000)),
        device_scale_factor=optional(st.floats(1, 4)),
        mobile=optional(st.booleans()),
        reset=optional(st.booleans()),
    )
)
def test_a_viewport_is_exactly_what_was_said_or_it_is_refused(arguments):
    said = {
        name: value
        for name, value in msgspec.structs.asdict(arguments).items()
        if value is not UNSET and name not in {"tab", "timeout_ms"}
    }
    try:
        viewport = wanted_viewport(arguments)
    except InvalidArgsError:
        return
    if viewport is None:
        assert said == {"reset": True}
        return
    assert ("preset" in said) != ("width" in said and "height" in said)
    assert "reset" not in said
    for name in said.keys() - {"preset"}:
        assert getattr(viewport, name) == said[name]


async def test_a_viewport_that_chromium_refuses_is_a_failure_with_its_reason():
    async def refuse(method, params=None, result=dict):
        raise CdpError(method, -32000, "too large")

    page = SimpleNamespace(session=SimpleNamespace(call=refuse), acted=False)
    with pytest.raises(ViewportError, match="too large") as caught:
        await apply_viewport(page, Viewport(100, 100))
    assert caught.value.code == "VIEWPORT_APPLY_FAILED"


# --- what the page sees -----------------------------------------------------------------


@browser
async def test_the_page_gets_what_was_asked_for_until_it_is_reset(config, site):
    url = site.page("/", META + "<p style='height: 3000px'>x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        got = await run(tab, preset="mobile")
        assert got == {
            "resized": True,
            "width": 390,
            "height": 844,
            "deviceScaleFactor": 3,
            "mobile": True,
            "preset": "mobile",
            "reset": False,
            "measured": {
                "innerWidth": 390,
                "innerHeight": 844,
                "devicePixelRatio": 3,
                "scrollX": 0,
                "scrollWidth": 390,
            },
        }
        got = await run(tab, width=1000, height=500, device_scale_factor=1.5)
        assert got["preset"] is None
        assert got["measured"]["innerWidth"] == 1000
        assert got["measured"]["devicePixelRatio"] == 1.5
        await tab.navigate(url)  # it lasts over navigations
        size = "[innerWidth, innerHeight, devicePixelRatio].join()"
        assert await tab.read(lambda page: evaluate(size, page)) == "1000,500,1.5"
        got = await run(tab, reset=True)
        names = ("width", "height", "deviceScaleFactor", "mobile", "preset")
        assert [got[name] for name in names] == [None] * 5
        assert got["reset"] is True
        # The window's own: what browser-mcp has, so that pictures are small and quick.
        assert (got["measured"]["innerWidth"], got["measured"]["innerHeight"]) == (780, 437)
        assert got["measured"]["devicePixelRatio"] == 1


@browser
async def test_a_page_that_is_laid_out_wider_than_the_viewport_is_warned_of(config, site):
    url = site.page("/", "<p>x" + "<script>window.innerWidth = 390</script>")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        got = await run(tab, preset="mobile")
        assert got["measured"]["innerWidth"] == 980
        assert "innerWidth is 980, not 390" in got["warning"]


@browser
@pytest.mark.parametrize(
    "page", ["<form name=documentElement></form>", "<script>for(;;){}</script>"]
)
async def test_a_page_that_hides_or_hangs_costs_no_more_than_the_measures(config, site, page):
    url = site.page("/", META + page)
    async with session_tab(config) as (_, tab):
        if "script" in page:
            with trio.move_on_after(0.5):
                await tab.navigate(url)
        else:
            await tab.navigate(url)
        got = await run(tab, width=500, height=400)
        assert got["measured"] is None or got["measured"]["scrollWidth"] == 500


@browser
async def test_the_viewport_is_set_again_after_a_crash_and_not_after_a_reset(config, site):
    size = "[innerWidth, innerHeight].join()"
    async with session_tab(config) as (_, tab):
        await run(tab, width=640, height=480)

        async def process_ids(page):
            listed = await page.connection.call("SystemInfo.getProcessInfo")
            return [p["id"] for p in listed["processInfo"] if p["type"] == "browser"]

        (pid,) = await tab.read(process_ids)
        os.kill(pid, signal.SIGKILL)
        assert await tab.read(lambda page: evaluate(size, page)) == "640,480"
        assert "crash" in tab.take_reset()

        async def crash(page):
            page.session.post("Page.crash")
            await trio.sleep_forever()

        with trio.fail_after(5):
            with pytest.raises(PageCrashedError):
                await tab.act(crash)
        assert await tab.read(lambda page: evaluate(size, page)) == "640,480"
        await run(tab, reset=True)
        (pid,) = await tab.read(process_ids)
        os.kill(pid, signal.SIGKILL)
        assert await tab.read(lambda page: evaluate(size, page)) == "780,437"


@browser
async def test_the_largest_viewport_does_not_take_the_tab_down(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", META + "x"))
        got = await run(tab, width=10_000, height=10_000, device_scale_factor=4)
        assert got["measured"]["innerWidth"] == 10_000
        assert await tab.get_text() == "x"
