"""Several session tabs on a real browser: numbers, popups, closing, losing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from functools import partial

import msgspec
import pytest
import trio

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tabs
from vfa.actors import desk
from vfa.engine import open_browser
from vfa.errors import InvalidArgsError, PageCrashedError, TabGoneError
from vfa.page.screenshot import Shot

pytestmark = pytest.mark.browser


async def new(tabs, url=""):
    tab = await tabs.new()
    if url:
        await tab.navigate(url)
    return tab


async def numbers(tabs):
    return [info.tab for info in await tabs.list()]


async def wait_until(condition, seconds=5.0):
    with trio.fail_after(seconds):
        while not await condition():  # noqa: ASYNC110
            await trio.sleep(0.01)


async def opened_by(tab, script):
    """Run a script that opens tabs; return what the next answer says was opened."""
    await tab.act(partial(evaluate, f"{script}; 1"))
    await tab.act(lambda page: page.settle())
    return tab.take_news().opened


async def test_tabs_have_numbers_of_their_own_that_are_never_used_again(config, site):
    url = site.page("/", "x", title="First")
    async with session_tabs(config) as (_, tabs):
        assert await numbers(tabs) == [1]  # before there is any browser
        await tabs.get().navigate(url)
        second = await new(tabs, site.page("/2", "y", title="Second"))
        assert second.number == 2
        first_info, second_info = await tabs.list()
        assert (first_info.url, first_info.title, first_info.selected) == (url, "First", True)
        assert (second_info.title, second_info.selected) == ("Second", False)
        assert (await tabs.get(2).get_url()).title == "Second"
        tabs.select(2)
        assert tabs.get() is second
        await tabs.close(2)
        assert tabs.get().number == 1
        third = await new(tabs)
        assert third.number == 3
        with pytest.raises(TabGoneError, match=r"tab 2 is gone: it was closed") as caught:
            tabs.get(2)
        assert caught.value.hint == "Open tabs: 1 (selected), 3."
        with pytest.raises(TabGoneError, match="tab 9 does not exist"):
            tabs.get(9)
        with pytest.raises(TabGoneError):
            await second.get_url()  # who still has its handle does not get another tab


async def test_closing_the_last_tab_leaves_a_blank_one_with_a_new_number(config, site):
    async with session_tabs(config) as (_, tabs):
        await tabs.get().navigate(site.page("/", "x"))
        await tabs.close(1)
        assert await numbers(tabs) == [2]
        assert (await tabs.get().get_url()).url == "about:blank"
        assert tabs.take_reset() is None  # it was asked for


async def test_tabs_run_side_by_side_and_each_has_its_own_queue(config, site):
    url = site.page("/", "hello")
    async with session_tabs(config) as (_, tabs):
        first, second = tabs.get(), await new(tabs, url)
        async with trio.open_nursery() as callers:
            for _ in range(config.queue_limit):
                callers.start_soon(first.navigate, site.hang("/slow"))
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(5):
                assert (await second.navigate(url)).status == 200
                assert await second.get_text() == "hello"
            callers.cancel_scope.cancel()


async def test_the_list_and_closing_never_wait_for_a_stuck_page(config, site):
    url = site.page("/", "x", title="Stuck")
    async with session_tabs(config) as (_, tabs):
        await tabs.get().navigate(site.page("/1", "y"))
        stuck = await new(tabs, url)
        async with trio.open_nursery() as callers:
            callers.start_soon(quietly, stuck.act, partial(evaluate, "while (true);"))
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(1):
                assert [info.title for info in await tabs.list()] == ["A page", "Stuck"]
            with trio.fail_after(2):
                await tabs.close(stuck.number)
            assert await numbers(tabs) == [1]
        assert await tabs.get().get_text() == "y"


async def quietly(call, *arguments):
    with suppress(TabGoneError):
        await call(*arguments)


async def test_a_call_in_flight_on_a_tab_that_is_closed_says_that_it_is_gone(config, site):
    async with session_tabs(config) as (_, tabs):
        await new(tabs)
        tab = tabs.get(2)
        await tab.navigate(site.page("/", "x"))
        caught = []

        async def wait_for_text():
            with pytest.raises(TabGoneError) as error:
                await tab.get_text("#never")
            caught.append(error)

        with trio.fail_after(5):
            async with trio.open_nursery() as callers:
                callers.start_soon(wait_for_text)
                await trio.testing.wait_all_tasks_blocked()
                await tabs.close(2)
        assert caught


# --- popups -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        "window.open('/popup')",
        "window.open('/popup', '', 'noopener')",
        "window.open('/popup', '', 'width=300,height=200')",
        "document.querySelector('a').click()",
    ],
    ids=["open", "noopener", "window", "target=_blank"],
)
async def test_a_tab_that_a_page_opens_is_listed_and_not_selected(config, site, script):
    popup = site.page("/popup", "<script>console.log('first word')</script>pop", title="Pop")
    url = site.page("/", "<a target=_blank href=/popup>x</a>")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(url)
        (opened,) = await opened_by(tab, script)
        assert (opened.tab, opened.url) == (2, popup)
        assert tab.take_news().opened == ()  # said once
        assert tabs.get() is tab
        other = tabs.get(2)
        assert other.opener == 1
        assert await other.get_text() == "pop"
        console = await other.console("all", clear=False)
        assert [message.text for message in console.messages] == ["first word"]


async def test_popups_of_popups_in_a_foreign_frame_are_seen_too(config, site):
    foreign = site.address.replace("127.0.0.1", "localhost")
    site.page("/popup", "pop")
    site.page("/frame", "<button onclick=\"window.open('/popup')\">x</button>")
    url = site.page("/", f"<iframe src='{foreign}/frame'></iframe>")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(url)
        await opened_by(tab, "window.open('/')")
        inner = tabs.get(2)

        async def click(page):
            for kind in ("mousePressed", "mouseReleased"):
                event = {"type": kind, "x": 40, "y": 30, "button": "left", "clickCount": 1}
                await page.session.call("Input.dispatchMouseEvent", event)
            await page.settle()

        await inner.get_text()
        await inner.act(click)
        (opened,) = inner.take_news().opened
        assert opened.tab == 3
        assert tabs.get(3).opener == 2


async def test_what_was_set_for_a_tab_holds_in_what_it_opens_from_the_first_instruction(
    config, site
):
    site.page("/popup", "<p id=p></p><script>p.textContent = innerWidth</script>")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()

        async def narrow(page):
            metrics = {"width": 345, "height": 600, "deviceScaleFactor": 1, "mobile": False}
            await page.session.call("Emulation.setDeviceMetricsOverride", metrics)

        tab.keep("viewport", narrow)
        await tab.navigate(site.page("/", "x"))
        await opened_by(tab, "window.open('/popup')")
        assert await tabs.get(2).get_text("#p") == "345"


async def test_a_page_cannot_open_tabs_without_end(config, site, monkeypatch):
    monkeypatch.setattr(desk, "MAX_TABS", 3)
    url = site.page("/", "x")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(url)
        for _ in range(5):
            await tab.act(partial(evaluate, "open('/'); 1"))
        await tab.act(lambda page: page.settle())
        news = tab.take_news()
        assert ([opened.tab for opened in news.opened], news.refused) == ([2, 3], 3)
        assert await numbers(tabs) == [1, 2, 3]
        with pytest.raises(InvalidArgsError, match="3 tabs are open already"):
            await tabs.new()


async def test_a_tab_that_its_page_closes_is_gone(config, site):
    site.page("/popup", "pop")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(site.page("/", "x"))
        await opened_by(tab, "w = window.open('/popup'); 1")
        tabs.select(2)
        await tab.act(partial(evaluate, "w.close()"))
        with pytest.raises(TabGoneError, match="its page closed it"):
            await tabs.get(2).get_text()
        assert tabs.get() is tab
        assert "Tab 2 was closed by its page: tab 1 is selected" in tabs.take_reset()
        assert tabs.take_reset() is None


# --- losing them ----------------------------------------------------------------------------


async def test_a_crashed_browser_leaves_the_selected_tab_and_says_which_are_gone(config, site):
    url = site.page("/", "x")
    async with session_tabs(config) as (browser, tabs):
        await tabs.get().navigate(url)
        second, third = await new(tabs, url), await new(tabs, url)
        tabs.select(second.number)
        async with browser.lease() as link:
            os.killpg(link.launched.process.pid, signal.SIGKILL)
            await link.over.wait()
        with pytest.raises(TabGoneError, match="restarted after a crash"):
            await third.get_url()
        assert (await second.get_url()).url == "about:blank"
        assert await numbers(tabs) == [2]
        reset = tabs.take_reset()
        assert "crash" in reset
        assert "tabs 1, 3" in reset
        assert tabs.take_reset() is None


async def test_a_renderer_that_crashes_takes_its_own_tab_only(config, site):
    url = site.page("/", "x")
    other = site.address.replace("127.0.0.1", "localhost")
    async with session_tabs(config) as (_, tabs):
        first, second = tabs.get(), await new(tabs, f"{other}/")
        await first.navigate(url)
        await first.act(partial(evaluate, "window.mark = 1"))
        with pytest.raises(PageCrashedError):
            await second.act(lambda page: page.session.call("Page.crash"))
        assert await first.act(partial(evaluate, "window.mark")) == 1
        assert await second.get_text() == "x"
        assert tabs.take_reset().startswith("Tab 2: The page's renderer crashed")


async def test_an_idle_shutdown_closes_the_other_tabs_and_says_so(config, site):
    config = msgspec.structs.replace(config, idle_shutdown_ms=300)
    async with session_tabs(config) as (browser, tabs):
        await new(tabs, site.page("/", "x"))
        async with browser.lease() as link:
            pass
        with trio.fail_after(10):
            await link.over.wait()
            await wait_until(lambda: only_the_first(tabs))
        assert "shut down" in tabs.take_reset()
        with pytest.raises(TabGoneError, match="shut down"):
            tabs.get(2)


async def only_the_first(tabs):
    return await numbers(tabs) == [1]


async def test_tabs_in_the_background_are_drawn_like_the_one_in_front(config, site):
    url = site.page("/", "x")
    async with session_tabs(config) as (_, tabs):
        all_of_them = [tabs.get(), await new(tabs), await new(tabs)]
        for tab in all_of_them:
            await tab.navigate(url)
            await opened_by(tab, "window.open('/')")
        for tab in all_of_them:
            start = trio.current_time()
            await tab.act(lambda page: page.settle(5))
            assert trio.current_time() - start < 2
            state = "document.visibilityState + document.hasFocus()"
            assert await tab.act(partial(evaluate, state)) == "visibletrue"


@pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium with a user interface")
async def test_where_there_are_windows_a_covered_tab_is_drawn_when_it_is_used(config, site):
    url = site.page("/", "x")
    with tempfile.TemporaryDirectory(prefix="v-") as short:  # a socket's path may not be long
        config = msgspec.structs.replace(
            config, chromium_path=shutil.which("chromium"), profile_root=short
        )
        async with session_tabs(config) as (_, tabs):
            first, second = tabs.get(), await new(tabs, url)
            await first.navigate(url)
            await opened_by(first, "open('/')")
            with trio.fail_after(20):
                for tab in (first, second, tabs.get(3), first):
                    assert (await tab.screenshot(Shot())).data


async def test_a_page_of_somebody_elses_browser_opens_tabs_as_well(config, site):
    config = msgspec.structs.replace(config, transport="websocket")
    popup = site.page("/popup", "pop")
    async with open_browser(config) as theirs, theirs.lease() as link:
        await link.first_tab()  # it learns the password of its proxy, which ours does not know
        attached = msgspec.structs.replace(config, cdp_url=link.launched.url)
        async with session_tabs(attached) as (_, tabs):
            tab = tabs.get()
            await tab.navigate(site.page("/", "x"))
            await tab.act(partial(evaluate, "open('/popup'); 1"))
            await wait_until(lambda: has(tabs, 2))
            await wait_until(lambda: shows(tabs.get(2), popup))
            assert await tabs.get(2).get_text() == "pop"
        targets = await link.connection.call("Target.getTargets")
        left = [target["url"] for target in targets["targetInfos"]]
        assert popup not in left  # what our pages opened goes with us


async def shows(tab, url):
    where = await tab.get_url()
    return where.url == url and where.ready_state == "complete"


async def has(tabs, number):
    return number in await numbers(tabs)


# --- the tools ------------------------------------------------------------------------------


async def told(peer, tool, **arguments):
    result = await peer.call(tool, **arguments)
    assert not result.get("isError"), result
    return json.loads(text_of(result))


async def test_a_client_works_with_tabs(environment, site):
    first = site.page("/1", "<a target=_blank href=/2>x</a><p>one</p>", title="One")
    second = site.page("/2", "<p>two</p>", title="Two")
    never = site.hang("/never")
    site.page("/slow", f"<p>early</p><img src={never}>")
    async with server_process("-m", "vfa", "serve", **environment) as (peer, _):
        await peer.initialize()
        blank = {"tab": 1, "url": "about:blank", "title": "", "selected": True}
        assert (await told(peer, "browser_tabs"))["tabs"] == [blank]
        await told(peer, "browser_navigate", url=first)
        new = await told(peer, "browser_tabs", action="new", url=second)
        assert (new["tab"], new["url"], new["status"]) == (2, second, 200)
        assert [tab["selected"] for tab in new["tabs"]] == [False, True]
        assert (await told(peer, "browser_get_url"))["title"] == "Two"
        assert (await told(peer, "browser_get_url", tab=1))["title"] == "One"
        # What cannot be shown leaves no tab behind.
        for url, code in (
            ("http://10.0.0.1/", "SSRF_BLOCKED"),
            ("file:///etc/passwd", "INVALID_URL"),
            ("http://127.0.0.1:9/", "NAVIGATION_FAILED"),
        ):
            refused = await peer.call("browser_tabs", action="new", url=url)
            assert text_of(refused).startswith(f"[{code}]")
        hung = await peer.call("browser_tabs", action="new", url=never, timeout_ms=300)
        assert text_of(hung).startswith("[TIMEOUT]")
        listed = (await told(peer, "browser_tabs"))["tabs"]
        assert [(tab["tab"], tab["selected"]) for tab in listed] == [(1, False), (2, True)]
        # History and readiness, on a tab that is not selected.
        early = await told(
            peer,
            "browser_navigate",
            url=site.url("/slow"),
            tab=1,
            wait_until="domcontentloaded",
        )
        assert early["url"] == site.url("/slow")
        back = await told(peer, "browser_back", tab=1)
        assert (back["url"], back["moved"]) == (first, True)
        ahead = await told(peer, "browser_forward", tab=1, wait_until="domcontentloaded")
        assert ahead["url"] == site.url("/slow")
        again = await told(peer, "browser_reload", tab=2)
        assert (again["url"], again["status"], again["moved"]) == (second, 200, True)
        # Gone is gone.
        left = await told(peer, "browser_tabs", action="close", tab=2)
        assert [(tab["tab"], tab["selected"]) for tab in left["tabs"]] == [(1, True)]
        gone = await peer.call("browser_get_url", tab=2)
        assert (
            text_of(gone)
            == "[TAB_GONE] tab 2 is gone: it was closed.\nOpen tabs: 1 (selected)."
        )
        for wrong in ({"action": "select"}, {"action": "list", "url": first}):
            refused = await peer.call("browser_tabs", **wrong)
            assert text_of(refused).startswith("[INVALID_ARGS]")
