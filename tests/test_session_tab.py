"""The session tab, the page and the link against a browser that lives in memory."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from tests.fake_cdp import FakeBrowser, MemoryTransport
from vfa.actors import desk
from vfa.actors.browser import Leases
from vfa.actors.encoder import Encoder
from vfa.actors.launch import Launched
from vfa.actors.link import PROBE_BOUND, Link
from vfa.actors.page_keeper import ANSWER_BOUND
from vfa.actors.tabs import Tabs
from vfa.cdp.connection import Connection
from vfa.cdp.session import COMMAND_TIMEOUT, Session
from vfa.config import Config
from vfa.errors import (
    ActorGoneError,
    CommandTimeoutError,
    ConnectionLostError,
    PageCrashedError,
    QueueFullError,
    TabGoneError,
)
from vfa.mailbox import Mailbox
from vfa.page.page import Page, Silent
from vfa.page.readiness import CAP, wait_until_ready
from vfa.supervisor import Child, Limits, Supervisor


def answers(**more):
    """What a well-behaved browser says; ``more`` by method with ``_`` for the dot."""
    script = {
        "Browser.getVersion": lambda _: {"product": "Fake/1"},
        "Target.createTarget": lambda _: {"targetId": "T"},
        "Target.attachToTarget": lambda _: {"sessionId": "S"},
        "Target.closeTarget": lambda _: {"success": True},
        "Runtime.runIfWaitingForDebugger": lambda _: {},
        "Runtime.evaluate": lambda _: {"result": {"value": 1}},
        "Page.createIsolatedWorld": lambda _: {"executionContextId": 7},
        "Runtime.callFunctionOn": lambda _: {"result": {"value": True}},
    }
    return script | {name.replace("_", "."): answer for name, answer in more.items()}


@asynccontextmanager
async def linked(script):
    """A link to a fake browser; yields both."""
    ours, theirs = MemoryTransport.pair()
    fake = FakeBrowser(theirs, script)
    connection = Connection(ours)
    link = Link(connection, Launched(None, ""), 1)

    async def talk():
        try:
            await connection.run()
        except ConnectionLostError:
            link.lose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fake.run)
        nursery.start_soon(talk)
        nursery.start_soon(link.watch)
        await link.open()
        yield link, fake
        nursery.cancel_scope.cancel()


class FakeSupervisor:
    """Hands out the links it was given, one after the other."""

    def __init__(self, *links: Link) -> None:
        self.links = list(links)
        self.ends: dict[int, str] = {}

    @asynccontextmanager
    async def lease(self):
        while self.links[0].over.is_set():
            gone = self.links.pop(0)
            self.ends[gone.generation] = gone.end
        yield self.links[0]


@asynccontextmanager
async def tabs_on(*links, **settings):
    asked, config = Mailbox("tabs"), Config(**settings)
    supervisor = FakeSupervisor(*links)
    with Tabs(asked, Encoder(Mailbox("encoder")), config) as tabs:
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(desk.run, asked, tabs, supervisor, config, Silent()))
            yield tabs
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def tab_on(*links, queue_limit=8):
    async with tabs_on(*links, queue_limit=queue_limit) as tabs:
        yield tabs.get(1)


async def nothing(page):
    return "done"


async def test_operations_of_the_queue_run_one_at_a_time_and_in_order(autojump_clock):
    log = []

    async def work(name, page):
        log.append(f"+{name}")
        await trio.sleep(1)
        log.append(f"-{name}")

    async with linked(answers()) as (link, _), tab_on(link) as tab:
        async with trio.open_nursery() as callers:
            for name in "abc":
                callers.start_soon(tab.act, partial(work, name))
                await trio.testing.wait_all_tasks_blocked()
    assert log == ["+a", "-a", "+b", "-b", "+c", "-c"]


async def test_reads_run_beside_the_queue(autojump_clock):
    async def sleep(page):
        await trio.sleep(10)

    async with linked(answers()) as (link, _), tab_on(link) as tab:
        async with trio.open_nursery() as callers:
            callers.start_soon(tab.act, sleep)
            await trio.testing.wait_all_tasks_blocked()
            start = trio.current_time()
            assert await tab.read(nothing) == "done"
            assert trio.current_time() == start
            callers.cancel_scope.cancel()


async def test_a_full_queue_refuses_and_a_caller_that_leaves_frees_its_place(autojump_clock):
    async def sleep(page):
        await trio.sleep_forever()

    async with linked(answers()) as (link, _), tab_on(link, queue_limit=2) as tab:
        async with trio.open_nursery() as callers:
            callers.start_soon(tab.act, sleep)
            callers.start_soon(tab.act, sleep)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(QueueFullError):
                await tab.act(nothing)
            callers.cancel_scope.cancel()
        with trio.fail_after(1):
            assert await tab.act(nothing) == "done"


async def test_what_acted_on_a_page_is_never_repeated_on_another_browser():
    tries = []

    async def lose(acts, page):
        tries.append(page)
        page.acted = acts
        if len(tries) == 1:
            raise ConnectionLostError("gone")
        return "done"

    async with linked(answers()) as (link, _), tab_on(link) as tab:
        with pytest.raises(ConnectionLostError):
            await tab.act(partial(lose, True))
        assert len(tries) == 1
        tries.clear()
        assert await tab.act(partial(lose, False)) == "done"
        assert len(tries) == 2


async def test_the_loss_of_the_page_is_told_once():
    async with linked(answers()) as (first, _), linked(answers()) as (second, _):
        second.generation = 2
        async with tab_on(first, second) as tab:
            await tab.act(nothing)
            first.finish("crash")
            assert await tab.act(nothing) == "done"
            assert "crash" in tab.take_reset()
            assert tab.take_reset() is None


async def test_a_stuck_script_is_ended_after_the_call_that_gave_up(autojump_clock):
    stuck = [True]

    def evaluate(_):
        return None if stuck else {"result": {"value": 1}}

    class Quiet(FakeBrowser):
        async def say(self, **frame):
            if frame.get("result") is not None:
                await super().say(**frame)

    ours, theirs = MemoryTransport.pair()
    script = answers(
        Runtime_evaluate=evaluate, Runtime_terminateExecution=lambda _: stuck.clear() or {}
    )
    fake = Quiet(theirs, script)
    connection = Connection(ours)
    link = Link(connection, Launched(None, ""), 1)

    async def forever(page):
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fake.run)
        nursery.start_soon(connection.run)
        nursery.start_soon(link.watch)
        await link.open()
        async with tab_on(link) as tab:
            await tab.act(nothing)
            with trio.move_on_after(1) as scope:
                await tab.act(forever)
            assert scope.cancelled_caught
            start = trio.current_time()
            assert await tab.act(nothing) == "done"
            assert trio.current_time() - start <= ANSWER_BOUND + 0.1
            assert "Runtime.terminateExecution" in fake.heard
            assert tab.take_reset() is None
        nursery.cancel_scope.cancel()


async def test_a_tab_that_stays_stuck_is_replaced(autojump_clock):
    script = answers()
    del script["Runtime.evaluate"]  # never answered, not even after the script was ended

    async def forever(page):
        await trio.sleep_forever()

    async with linked(script) as (link, fake), tab_on(link) as tab:
        with trio.move_on_after(1):
            await tab.act(forever)
        assert await tab.act(nothing) == "done"
        assert fake.heard.count("Target.createTarget") == 2
        assert "stuck" in tab.take_reset()


async def test_a_browser_that_does_not_answer_is_hung_after_its_bound(autojump_clock):
    script = answers()
    async with linked(script) as (link, _):
        del script["Browser.getVersion"]
        start = trio.current_time()
        assert await link.check() is False
        assert link.end == "hung"
        assert trio.current_time() - start == pytest.approx(PROBE_BOUND)


async def test_an_asker_that_leaves_does_not_end_the_check(autojump_clock):
    script = answers()
    async with linked(script) as (link, _):
        del script["Browser.getVersion"]
        with trio.move_on_after(0.1):
            await link.check()
        await link.over.wait()
        assert link.end == "hung"


async def test_a_lost_connection_ends_the_link_and_every_check(autojump_clock):
    async with linked(answers()) as (link, fake):
        fake._transport.close()
        with trio.fail_after(1):
            await link.over.wait()
            assert await link.check() is False
        assert link.end == "crash"


async def test_a_silent_command_fails_at_the_sessions_bound(autojump_clock):
    async with linked(answers()) as (link, _):
        session = Session(link.connection, "S")
        start = trio.current_time()
        with pytest.raises(CommandTimeoutError, match=r"Page\.silent"):
            await session.call("Page.silent")
        assert trio.current_time() - start == pytest.approx(COMMAND_TIMEOUT)


async def test_settling_on_a_hidden_page_costs_its_bound_and_no_more(autojump_clock):
    script = answers()
    del script["Runtime.callFunctionOn"]  # a hidden tab runs no animation frames
    async with linked(script) as (link, _):
        page = Page(Session(link.connection, "S"), "T")
        start = trio.current_time()
        await page.settle(0.5)
        assert trio.current_time() - start == pytest.approx(0.5)


async def test_a_crash_of_the_renderer_ends_what_waits_for_it(autojump_clock):
    async with linked(answers()) as (link, fake):
        page = Page(Session(link.connection, "S"), "T")

        async def crash():
            await trio.sleep(1)
            await fake.say(method="Inspector.targetCrashed", params={}, sessionId="S")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash)
            with trio.fail_after(5), pytest.raises(PageCrashedError):
                with page.guard():
                    await page.session.call("Page.silent")
        assert page.crashed


async def test_a_page_that_never_falls_silent_is_looked_at_ten_seconds_after_load(
    autojump_clock,
):
    async with linked(answers()) as (link, fake):
        page = Page(Session(link.connection, "S"), "T")

        async def poll_for_ever():
            number = 0
            while True:
                number += 1
                await fake.say(
                    method="Network.requestWillBeSent",
                    sessionId="S",
                    params={
                        "requestId": str(number),
                        "type": "Fetch",
                        "frameId": "T",
                        "timestamp": 1.0,
                        "request": {"url": "http://a/"},
                    },
                )
                await trio.sleep(0.2)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll_for_ever)
            start = trio.current_time()
            reason = await wait_until_ready(page, "networkidle")
            assert trio.current_time() - start == pytest.approx(CAP, abs=1)
            assert reason.startswith("cap")
            nursery.cancel_scope.cancel()


async def test_idleness_counts_from_the_end_of_the_last_call(autojump_clock):
    leases = Leases()
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leases.wait_for_idleness, 10)
        await trio.sleep(5)
        leases.take()
        await trio.sleep(100)
        leases.give_back()
    assert trio.current_time() - start == pytest.approx(115)


# --- several tabs -----------------------------------------------------------------------------


def target(number, opener=None):
    info = {"targetId": f"T{number}", "type": "page", "url": "", "browserContextId": "C"}
    return info | ({"openerId": opener} if opener else {})


async def attach(fake, number, opener):
    params = {"sessionId": f"S{number}", "targetInfo": target(number, opener)}
    await fake.say(method="Target.attachedToTarget", params=params)


async def detach(fake, session):
    await fake.say(method="Target.detachedFromTarget", params={"sessionId": session})


async def test_a_tab_that_a_page_opens_is_prepared_before_it_runs(autojump_clock):
    async with linked(answers()) as (link, fake), tabs_on(link) as tabs:
        tab = tabs.get()
        tab.keep("order", lambda page: page.session.call("Runtime.evaluate"))
        await tab.act(nothing)
        before = len(fake.commands)
        await fake.say(
            method="Page.windowOpen", params={"url": "http://a/wanted"}, sessionId="S"
        )
        await attach(fake, 2, "T")
        await tabs.get(1).act(nothing)
        await trio.testing.wait_all_tasks_blocked()
        sent = [c["method"] for c in fake.commands[before:] if c.get("sessionId") == "S2"]
        assert sent.index("Runtime.evaluate") < sent.index("Runtime.runIfWaitingForDebugger")
        assert sent.index("Page.enable") < sent.index("Runtime.runIfWaitingForDebugger")
        (opened,) = tab.take_news().opened
        assert (opened.tab, opened.url) == (2, "http://a/wanted")
        assert await tabs.get(2).act(nothing) == "done"


async def test_a_tab_that_goes_before_it_ran_is_gone_and_nothing_else(autojump_clock):
    async with linked(answers()) as (link, fake), tabs_on(link) as tabs:
        await tabs.get().act(nothing)
        await attach(fake, 2, "T")
        await detach(fake, "S2")
        await trio.sleep(1)
        with pytest.raises(TabGoneError):
            tabs.get(2)
        assert await tabs.get().act(nothing) == "done"
        assert tabs.take_reset() is None


async def test_a_browser_that_lets_go_of_its_tabs_and_stops_is_no_closed_tab(autojump_clock):
    async with linked(answers()) as (first, fake), linked(answers()) as (second, _):
        second.generation = 2
        async with tabs_on(first, second) as tabs:
            tab = tabs.get()
            await tab.act(nothing)
            await detach(fake, "S")
            await trio.sleep(0.1)
            fake.vanish()
            assert await tab.act(nothing) == "done"
            assert tabs.get() is tab
            assert "crash" in tabs.take_reset()


async def test_the_queues_of_two_tabs_do_not_wait_for_each_other(autojump_clock):
    async def sleep(page):
        await trio.sleep(10)

    script = answers()
    count = iter(range(1, 10))
    script["Target.createTarget"] = lambda _: {"targetId": f"T{next(count)}"}
    script["Target.attachToTarget"] = lambda given: {"sessionId": "S" + given["targetId"][1:]}
    async with linked(script) as (link, _), tabs_on(link) as tabs:
        other = await tabs.new()
        start = trio.current_time()
        async with trio.open_nursery() as callers:
            callers.start_soon(tabs.get().act, sleep)
            callers.start_soon(other.act, sleep)
        assert trio.current_time() - start < 11


async def test_closing_a_tab_ends_the_calls_that_work_or_wait_on_it(autojump_clock):
    async def sleep(page):
        await trio.sleep_forever()

    gone = []

    async def call(tab):
        try:
            await tab.act(sleep)
        except TabGoneError as error:
            gone.append(error.message)

    async with linked(answers()) as (link, fake), tabs_on(link) as tabs:
        tab = tabs.get()
        async with trio.open_nursery() as callers:
            callers.start_soon(call, tab)
            callers.start_soon(call, tab)
            await trio.testing.wait_all_tasks_blocked()
            await tabs.close(1)
        assert gone == ["tab 1 is gone: it was closed."] * 2
        assert "Target.closeTarget" in fake.heard
        assert tabs.get().number == 2


async def test_a_bug_in_an_operation_costs_the_pages_and_no_number_is_used_twice(
    autojump_clock,
):
    async def bug(page):
        raise KeyError("a bug")

    supervisor = FakeSupervisor()
    async with linked(answers()) as (link, fake):
        supervisor.links.append(link)
        asked, config = Mailbox("tabs"), Config()
        with Tabs(asked, Encoder(Mailbox("encoder")), config) as tabs:
            child = Child("tabs", partial(desk.run, asked, tabs, supervisor, config, Silent()))
            async with trio.open_nursery() as nursery:
                await nursery.start(Supervisor([child], Limits()).run)
                tab, other = tabs.get(), await tabs.new()
                await other.act(nothing)
                with pytest.raises(ActorGoneError):
                    await tab.act(bug)
                assert await tab.act(nothing) == "done"
                assert "restarted" in tabs.take_reset()
                with pytest.raises(TabGoneError):
                    tabs.get(2)
                assert (await tabs.new()).number == 3
                assert "Target.closeTarget" in fake.heard  # nothing is left behind
                # Nobody of the former life listens any more.
                await fake.say(method="Target.targetCreated", params={"targetInfo": target(9)})
                assert await tab.act(nothing) == "done"
                nursery.cancel_scope.cancel()
