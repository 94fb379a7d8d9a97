"""Chromium's life: started once, watched, brought back, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import msgspec
import psutil
import pytest
import trio

from tests.tabs import evaluate, session_tab
from vfa.engine import open_browser
from vfa.errors import (
    BrowserNotFoundError,
    BrowserRestartError,
    BrowserStartError,
    NavigationFailedError,
    PageCrashedError,
    QueueFullError,
)

pytestmark = pytest.mark.browser


async def pid_of(browser) -> int:
    async with browser.lease() as link:
        return link.launched.process.pid


async def wait_gone(pid: int) -> None:
    with trio.fail_after(5):
        while psutil.pid_exists(pid):  # noqa: ASYNC110  # the kernel sets no trio.Event
            await trio.sleep(0.01)


@pytest.fixture(params=["pipe", "websocket"])
def any_transport(request, config):
    return msgspec.structs.replace(config, transport=request.param)


async def test_ten_parallel_first_calls_start_one_browser(config):
    generations = []
    async with open_browser(config) as browser:

        async def first_call():
            async with browser.lease() as link:
                generations.append((link.generation, link.launched.process.pid))

        async with trio.open_nursery() as callers:
            for _ in range(10):
                callers.start_soon(first_call)
    assert len(generations) == 10
    assert len(set(generations)) == 1


async def test_nothing_is_started_before_the_first_call_nor_left_after_the_last(
    config, profiles
):
    async with open_browser(config) as browser:
        await trio.testing.wait_all_tasks_blocked()
        assert profiles() == []
        pid = await pid_of(browser)
        (profile,) = profiles()
        assert profile.stat().st_mode & 0o777 == 0o700
    await wait_gone(pid)
    assert profiles() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTRAP])
async def test_the_first_call_after_a_crash_works_and_says_once_that_state_was_lost(
    any_transport, site, number, profiles
):
    url = site.page("/", "hello")
    async with session_tab(any_transport) as (browser, tab):
        await tab.navigate(url)
        assert tab.take_reset() is None
        before = profiles()
        os.kill(await pid_of(browser), number)
        with trio.fail_after(10):
            assert (await tab.navigate(url)).status == 200  # nobody had noticed the crash yet
        assert "crash" in tab.take_reset()
        assert tab.take_reset() is None
        assert profiles() == before


async def test_cookies_survive_a_crash(config, site):
    site.pages["/"] = (
        200,
        {"Set-Cookie": "a=1; Max-Age=1000", "Content-Type": "text/html"},
        "x",
    )
    async with session_tab(config) as (browser, tab):
        await tab.navigate(site.url())
        await tab.act(lambda page: page.session.call("Storage.getCookies"))
        async with browser.lease() as link:
            await link.connection.call(
                "Browser.close"
            )  # writes the profile, and is a crash to us
            await link.over.wait()
        await tab.navigate(site.url())
        assert await tab.read(partial(evaluate, "document.cookie")) == "a=1"
        assert tab.take_reset()


async def test_a_browser_that_does_not_answer_is_replaced(config, site):
    url = site.page("/", "hello")
    async with session_tab(config) as (browser, tab):
        await tab.navigate(url)
        pid = await pid_of(browser)
        os.kill(pid, signal.SIGSTOP)
        with trio.fail_after(15):
            assert (await tab.get_url()).url == "about:blank"
        assert "did not answer" in tab.take_reset()
        await wait_gone(pid)


async def test_a_call_with_a_short_deadline_also_gets_a_hung_browser_replaced(config, site):
    url = site.page("/", "hello")
    async with session_tab(config) as (browser, tab):
        await tab.navigate(url)
        os.kill(await pid_of(browser), signal.SIGSTOP)
        with trio.move_on_after(0.2) as short:
            await tab.get_text()
        assert short.cancelled_caught
        async with browser.lease():
            pass
        with trio.fail_after(10):
            await tab.navigate(url)


async def test_an_endless_script_costs_its_own_call_and_nobody_else(config, site):
    url = site.page("/", "still here")
    async with session_tab(config) as (browser, tab):
        await tab.navigate(url)
        async with browser.page() as other:
            with trio.move_on_after(0.5) as scope:
                await tab.act(partial(evaluate, "while (true);"))
            assert scope.cancelled_caught
            with trio.fail_after(1):
                assert (await tab.get_url()).url == url  # the renderer is still stuck
                assert await evaluate("6 * 7", other) == 42
            with trio.fail_after(10):
                assert await tab.get_text() == "still here"
        assert tab.take_reset() is None  # the script was ended, the page kept


async def test_a_renderer_crash_is_noticed_at_once_and_the_tab_loaded_again(config, site):
    url = site.page("/", "hello again")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        with trio.fail_after(5), pytest.raises(PageCrashedError):
            await tab.act(lambda page: page.session.call("Page.crash"))
        with trio.fail_after(10):
            assert await tab.get_text() == "hello again"
        assert "renderer crashed" in tab.take_reset()


async def test_an_idle_browser_is_stopped_and_the_next_call_gets_a_new_one(config, site):
    url = site.page("/", "hello")
    config = msgspec.structs.replace(config, idle_shutdown_ms=150)
    async with session_tab(config) as (browser, tab):
        async with browser.lease() as link:
            first = link
            pid = link.launched.process.pid
        await tab.navigate(url)
        with trio.fail_after(5):
            await first.over.wait()
        assert first.end == "idle"
        with trio.fail_after(10):
            assert (await tab.get_url()).url == "about:blank"  # also while the old one stops
        assert "shut down" in tab.take_reset()
        await wait_gone(pid)
        with trio.fail_after(5):
            while browser.leases.taken == 0 and "idle" not in browser.ends.get(2, ""):  # noqa: ASYNC110
                await trio.sleep(0.05)
        await tab.get_url()
        assert tab.take_reset() is None  # a blank page is no loss


async def test_an_idle_shutdown_never_happens_under_a_running_call(config):
    config = msgspec.structs.replace(config, idle_shutdown_ms=100)
    async with session_tab(config) as (browser, tab):
        script = "new Promise(done => setTimeout(() => done('finished'), 700))"
        answer = await tab.act(
            lambda page: page.session.call(
                "Runtime.evaluate", {"expression": script, "awaitPromise": True}
            )
        )
        assert answer["result"]["value"] == "finished"
        assert browser.ends == {}


async def test_a_browser_that_crashes_again_and_again_is_given_up_for_a_call(config, site):
    async with session_tab(config) as (browser, tab):
        browser.crashes_in_a_row = 4
        with pytest.raises(BrowserRestartError, match="restart failed") as caught:
            await tab.get_url()
        assert caught.value.code == "CHROMIUM_RESTART_FAILED"
        assert (await tab.get_url()).url == "about:blank"  # a later call may try again


async def test_a_missing_browser_is_said_with_what_was_tried(config):
    config = msgspec.structs.replace(config, chromium_path="/no/such/chromium")
    async with session_tab(config) as (_, tab):
        for _ in range(2):
            with trio.fail_after(2), pytest.raises(BrowserNotFoundError, match="no/such"):
                await tab.get_url()


async def test_a_program_that_is_no_browser_is_reported_with_its_last_lines(
    config, tmp_path, profiles
):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho 'I am not a browser' >&2\nexit 3\n")
    fake.chmod(0o755)
    config = msgspec.structs.replace(config, chromium_path=str(fake))
    async with session_tab(config) as (_, tab):
        with trio.fail_after(5), pytest.raises(BrowserStartError, match="I am not a browser"):
            await tab.get_url()
    assert profiles() == []
    assert not [p for p in psutil.Process().children() if p.status() == psutil.STATUS_ZOMBIE]


async def test_attaching_to_a_running_browser_never_closes_it(config, site):
    url = site.page("/", "hello")
    config = msgspec.structs.replace(config, transport="websocket")
    async with open_browser(config) as theirs, theirs.lease() as link:
        address = link.launched.url
        attached = msgspec.structs.replace(config, cdp_url=address)
        async with session_tab(attached) as (_, tab):
            await tab.navigate(url)
            targets = await link.connection.call("Target.getTargets")
            assert url in [t["url"] for t in targets["targetInfos"]]
        assert not link.over.is_set()
        assert await link.check()
        targets = await link.connection.call("Target.getTargets")
        assert url not in [t["url"] for t in targets["targetInfos"]]  # our tab went with us


async def test_attaching_by_http_address_finds_the_websocket(config):
    config = msgspec.structs.replace(config, transport="websocket")
    async with open_browser(config) as theirs, theirs.lease() as link:
        port = link.launched.url.partition("127.0.0.1:")[2].partition("/")[0]
        attached = msgspec.structs.replace(config, cdp_url=f"http://127.0.0.1:{port}")
        async with session_tab(attached) as (_, tab):
            assert (await tab.get_url()).url == "about:blank"


async def test_a_dropped_websocket_is_made_anew_and_the_page_is_still_there(config, site):
    url = site.page("/", "hello")
    config = msgspec.structs.replace(config, transport="websocket")
    async with session_tab(config) as (browser, tab):
        await tab.navigate(url)
        async with browser.lease() as link:
            pid = link.launched.process.pid
            await link.connection._transport.aclose()
        with trio.fail_after(10):
            assert (await tab.get_url()).url == url
        assert await pid_of(browser) == pid
        assert tab.take_reset() is None


async def test_nobody_at_the_address_to_attach_to_is_a_clear_error(config):
    config = msgspec.structs.replace(config, cdp_url="http://127.0.0.1:9")
    async with session_tab(config) as (_, tab):
        with pytest.raises(BrowserStartError, match="no DevTools at"):
            await tab.get_url()


async def test_the_queue_refuses_what_exceeds_its_limit_and_is_free_again_when_callers_leave(
    config, site
):
    config = msgspec.structs.replace(config, queue_limit=3)
    url = site.hang("/slow")
    async with session_tab(config) as (_, tab):
        await tab.get_url()
        async with trio.open_nursery() as callers:
            for _ in range(3):
                callers.start_soon(tab.navigate, url)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(QueueFullError, match="queue is full"):
                await tab.navigate(url)
            callers.cancel_scope.cancel()
        with trio.fail_after(5):
            assert (await tab.navigate(site.page("/", "x"))).status == 200


async def test_what_a_dead_engine_left_behind_is_removed_at_the_next_start(config, profiles):
    script = (
        "import sys, trio\n"
        "from vfa.config import Config\n"
        "from vfa.engine import open_browser\n"
        "async def main():\n"
        "    async with open_browser(Config(profile_root=sys.argv[1])) as browser:\n"
        "        async with browser.lease() as link:\n"
        "            print(link.launched.process.pid, flush=True)\n"
        "            await trio.sleep_forever()\n"
        "trio.run(main)\n"
    )
    engine = await trio.lowlevel.open_process(
        [sys.executable, "-c", script, config.profile_root],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    pid = int(await engine.stdout.receive_some())
    await engine.stdout.aclose()
    engine.kill()
    await engine.wait()
    await wait_gone(pid)  # the pipe closed, and Chromium with it
    (left,) = profiles()
    async with open_browser(config) as browser:
        with trio.fail_after(5):
            while left.exists():  # noqa: ASYNC110
                await trio.sleep(0.01)
        await pid_of(browser)
    assert profiles() == []


async def test_cancelling_a_start_half_way_leaves_nothing(config, profiles):
    before = set(psutil.Process().children(recursive=True))
    for delay in (0.0, 0.01, 0.05, 0.1):
        with trio.move_on_after(delay):
            async with open_browser(config) as browser, browser.lease():
                await trio.sleep_forever()
        assert profiles() == []
    with trio.fail_after(5):
        while set(psutil.Process().children(recursive=True)) - before:  # noqa: ASYNC110
            await trio.sleep(0.01)


def chromium_folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("org.chromium.*"))


async def test_chromium_leaves_no_folders_in_the_temporary_directory(config, tmp_path):
    before = chromium_folders()
    async with session_tab(config) as (browser, tab):
        os.kill(await pid_of(browser), signal.SIGKILL)
        await tab.get_url()
    assert chromium_folders() == before
    assert not list(tmp_path.rglob("org.chromium.*"))


async def test_a_refused_connection_is_a_failed_navigation_with_its_reason(config):
    async with session_tab(config) as (_, tab):
        with pytest.raises(NavigationFailedError, match="ERR_CONNECTION_REFUSED"):
            await tab.navigate("http://127.0.0.1:9999/")
