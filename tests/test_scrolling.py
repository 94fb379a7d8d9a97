"""Scrolling in Chromium: the window, what scrolls in its place, and elements into view."""

from __future__ import annotations

import pytest

from tests.live import evaluate, live_page, within
from vfa.config import load
from vfa.errors import ElementNotFoundError, ElementStaleError
from vfa.page.locating import Target
from vfa.page.scrolling import scroll_into_view, scroll_to, scroll_towards

pytestmark = pytest.mark.browser

TALL = """<body style="margin:0"><div id=wide style="width:4000px;height:5000px"></div>
<button id=low style="position:absolute;top:4000px;left:10px">low</button>
<style>html { scroll-behavior: smooth }</style>"""


async def test_the_window_scrolls_in_every_direction(site, config):
    async with live_page(config, site.page("/", TALL)) as page:
        width, height = await evaluate("[innerWidth, innerHeight]", page)
        down = await scroll_towards(page, None, "down", 0)
        assert (down.y, down.moved_y, down.scroller) == (
            round(0.8 * height),
            round(0.8 * height),
            "window",
        )
        assert (await scroll_towards(page, None, "down", 100)).y == down.y + 100
        assert (await scroll_towards(page, None, "up", 50)).moved_y == -50
        assert (await scroll_towards(page, None, "right", 0)).x == round(0.8 * width)
        assert (await scroll_towards(page, None, "left", 10)).moved_x == -10
        end = await scroll_towards(page, None, "bottom", 0)
        assert end.at_end
        assert end.y == await evaluate("Math.round(scrollY)", page) > 4000
        assert (await scroll_towards(page, None, "down", 0)).moved_y == 0
        top = await scroll_towards(page, None, "top", 0)
        assert (top.y, top.at_end) == (0, False)


async def test_a_position_keeps_the_axis_that_is_left_out(site, config):
    async with live_page(config, site.page("/", TALL)) as page:
        assert (await scroll_to(page, None, 300, 700)).y == 700
        result = await scroll_to(page, None, None, 100)
        assert (result.x, result.y) == (300, 100)
        result = await scroll_to(page, None, 0, None)
        assert (result.x, result.y) == (0, 100)
        assert (await scroll_to(page, None, 0, 10**7)).at_end


INNER = """<body style="margin:0;overflow:hidden;height:100vh">
<div id=side style="float:left;width:100px;height:100vh;overflow:auto"><p id=item
style="height:3000px">side</p></div>
<main id=main class=list style="height:100vh;overflow:auto"><div style="height:2000px">
<div id=nested style="height:100px;overflow:auto"><p style="height:500px">n</p></div>
</div></main>
"""


async def test_what_scrolls_in_place_of_the_window_is_found_and_told(site, config):
    async with live_page(config, site.page("/", INNER)) as page:
        result = await scroll_towards(page, None, "down", 120)
        assert result.scroller == "main#main.list"
        assert (result.y, result.moved_y) == (120, 120)
        assert await evaluate("[main.scrollTop, side.scrollTop]", page) == [120, 0]
        assert (await scroll_towards(page, None, "bottom", 0)).at_end


async def test_a_container_is_scrolled_instead(site, config):
    async with live_page(config, site.page("/", INNER)) as page:
        for container, scroller in (("#side", "div#side"), ("#item", "div#side")):
            target = Target(selector=container)
            result = await within(scroll_towards(page, target, "down", 50))
            assert result.scroller == scroller
        assert await evaluate("side.scrollTop", page) == 100
        result = await within(scroll_to(page, Target(selector="#nested"), None, 30))
        assert (result.scroller, result.y) == ("div#nested", 30)
        with pytest.raises(ElementNotFoundError):
            await within(scroll_towards(page, Target(selector="#no"), "down", 1), 0.3)


async def test_an_element_is_scrolled_into_view(site, config):
    async with live_page(config, site.page("/", TALL)) as page:
        shown = await within(scroll_into_view(page, Target(selector="#low")))
        assert shown.in_viewport
        assert shown.fully
        assert shown.y == await evaluate("Math.round(scrollY)", page) > 3000
        assert shown.ref == "e1"
        shown = await within(scroll_into_view(page, Target(selector="#wide")))
        assert shown.in_viewport
        assert not shown.fully  # it is larger than the window
        await evaluate("low.remove()", page)
        with pytest.raises(ElementStaleError):
            await within(scroll_into_view(page, Target(ref="e1")), 1)


async def test_elements_in_shadow_trees_and_frames_of_other_sites(site, environment):
    environment["VFA_CHROMIUM_ARGS"] += " --site-per-process"
    site.page("/inner", "<p style='height:2000px'></p><button id=b>b</button>")
    inner = site.url("/inner").replace("127.0.0.1", "localhost")
    url = site.page(
        "/",
        f"""<p style='height:3000px'></p><iframe src='{inner}'></iframe>
        <p style='height:2000px'></p><div id=host></div><script>host.attachShadow(
        {{ mode: 'closed' }}).innerHTML = '<button id=s>s</button>'</script>""",
    )
    async with live_page(load(environment), url) as page:
        for selector in ("#b", "#s"):
            shown = await within(scroll_into_view(page, Target(selector=selector)))
            assert shown.in_viewport, selector
            assert shown.fully, selector
        target = Target(selector="#b")
        result = await within(scroll_towards(page, target, "up", 100))
        assert (result.scroller, result.moved_y) == ("window", -100)
        assert await evaluate("scrollY", page) > 4000  # the frame's window, not the tab's
