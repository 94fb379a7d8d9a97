"""Back, forward and reload in a real Chromium."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from tests.tabs import evaluate, session_tab
from vfa.errors import InvalidUrlError, NavigationFailedError
from vfa.page import history

pytestmark = pytest.mark.browser


async def allow(url):
    await trio.lowlevel.checkpoint()


async def step(tab, steps, check=allow):
    with trio.fail_after(5):
        return await tab.leave(lambda page: history.step(page, steps, check, milestone="load"))


async def reload(tab, *, ignore_cache=False):
    with trio.fail_after(5):
        return await tab.leave(
            lambda page: history.reload(page, ignore_cache=ignore_cache, milestone="load")
        )


async def test_back_and_forward_go_through_the_pages_and_stop_at_the_ends(config, site):
    first, second = site.page("/1", "one", title="One"), site.page("/2", "two", title="Two")
    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.navigate(second)
        there = await step(tab, -1)
        assert (there.there.url, there.there.title) == (first, "One")
        assert there.moved
        assert await tab.get_text() == "one"
        assert (await step(tab, -1)).there.url == "about:blank"
        start = await step(tab, -1)
        assert (start.moved, start.there.note) == (
            False,
            "There is no earlier page in this tab.",
        )
        assert (await step(tab, 1)).there.url == first
        assert (await step(tab, 1)).there.url == second
        end = await step(tab, 1)
        assert (end.moved, end.there.url) == (False, second)
        assert end.there.note == "There is no later page."


async def test_moves_within_a_document_bring_no_load_event_and_need_none(config, site):
    url = site.page("/", "<script>history.pushState(1, '', '/pushed')</script>x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        await tab.act(partial(evaluate, "location.hash = 'part'; 1"))
        assert (await step(tab, -1)).there.url == site.url("/pushed")
        assert (await step(tab, -1)).there.url == url
        forward = await step(tab, 1)
        assert (forward.there.url, forward.moved) == (site.url("/pushed"), True)


async def test_a_page_comes_back_from_the_cache_ready_to_be_read(config, site):
    first = site.page("/1", "<p>one</p><script>mark = 1</script>")
    second = site.page("/2", "<p>two</p>")
    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.navigate(second)
        moved = await step(tab, -1)
        assert moved.there.url == first
        assert await tab.get_text("p") == "one"
        assert (await tab.get_url()).ready_state == "complete"
        assert (await step(tab, 1)).there.url == second


async def test_a_page_that_history_leads_to_is_judged_before_anything_is_done(config, site):
    first, second = site.page("/1", "one"), site.page("/2", "two")

    async def refuse(url):
        assert url == first
        raise InvalidUrlError("not this one")

    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.navigate(second)
        with pytest.raises(InvalidUrlError):
            await step(tab, -1, refuse)
        assert await tab.get_text() == "two"


async def test_reload_fetches_the_page_again_and_what_is_cached_only_if_told(config, site):
    headers = {"Content-Type": "text/javascript", "Cache-Control": "max-age=1000"}
    site.pages["/a.js"] = (200, headers, "1")
    url = site.page("/", "<script src=/a.js></script>x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        moved = await reload(tab)
        assert (moved.moved, moved.there.status) == (True, 200)
        asked = [path for _, path in site.asked]
        assert (asked.count("/"), asked.count("/a.js")) == (2, 1)
        await reload(tab, ignore_cache=True)
        assert [path for _, path in site.asked].count("/a.js") == 2


async def test_what_cannot_be_loaded_again_is_a_failure_and_the_tab_stays_usable(config, site):
    url = site.page("/", "x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        with pytest.raises(NavigationFailedError):
            await tab.navigate("http://127.0.0.1:9/")
        with pytest.raises(NavigationFailedError, match=r"127\.0\.0\.1:9"):
            await reload(tab)
        assert (await step(tab, -1)).there.url == url


async def test_a_page_that_turned_into_a_download_stays_as_it_is(config, site):
    first, second = site.page("/1", "one"), site.page("/2", "two")
    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.navigate(second)
        headers = {"Content-Disposition": "attachment", "Cache-Control": "no-store"}
        site.pages["/2"] = (200, headers, "x")
        moved = await reload(tab)
        assert (moved.moved, moved.there.note) == (False, history.NOTHING_CAME)
        assert await tab.get_text() == "two"


async def test_a_trap_before_leaving_does_not_hold(config, site):
    trap = "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>"
    first, second = site.page("/1", "one"), site.page("/2", trap)
    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.navigate(second)
        await tab.act(partial(evaluate, "1"))  # with a user gesture
        assert (await step(tab, -1)).there.url == first


async def test_a_move_that_is_given_up_leaves_the_tab_usable(config, site):
    url = site.page("/", "x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/slow", "slow"))
        site.hang("/slow")
        with trio.move_on_after(0.5) as scope:
            await reload(tab)
        assert scope.cancelled_caught
        with trio.fail_after(3):
            assert (await tab.navigate(url)).status == 200
