"""A connection under loss, silence and giving up."""

from __future__ import annotations

import msgspec
import pytest
import trio
import trio.testing

from tests.fake_cdp import FakeBrowser, MemoryTransport
from vfa.cdp.connection import Connection
from vfa.cdp.session import COMMAND_TIMEOUT, Session
from vfa.errors import CdpError, CommandTimeoutError, ConnectionLostError, SessionGoneError

SCRIPT = {"Browser.getVersion": lambda _: {"product": "Fake/1"}}


class Version(msgspec.Struct, frozen=True):
    product: str


class Scene:
    """A running connection and the browser at its other end."""

    def __init__(self) -> None:
        ours, theirs = MemoryTransport.pair()
        self.browser = FakeBrowser(theirs, SCRIPT)
        self.connection = Connection(ours)
        self.lost_with: ConnectionLostError | None = None

    async def run(self) -> None:
        try:
            await self.connection.run()
        except ConnectionLostError as error:
            self.lost_with = error

    async def works(self) -> bool:
        with trio.fail_after(5):
            answer = await self.connection.call("Browser.getVersion", {}, Version)
        return answer == Version("Fake/1")


@pytest.fixture
async def scene(nursery):
    scene = Scene()
    nursery.start_soon(scene.browser.run)
    nursery.start_soon(scene.run)
    return scene


# --- calls ------------------------------------------------------------------------------


async def test_a_call_returns_the_decoded_result(scene):
    assert await scene.connection.call("Browser.getVersion", {}, Version) == Version("Fake/1")
    assert await scene.connection.call("Browser.getVersion") == {"product": "Fake/1"}


async def test_a_refused_command_raises_with_its_number(scene, nursery):
    async def refuse() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await scene.browser.say(id=1, error={"code": -32602, "message": "no such node"})

    nursery.start_soon(refuse)
    with pytest.raises(CdpError, match="no such node") as caught:
        await scene.connection.call("DOM.focus")
    assert caught.value.number == -32602


async def test_giving_up_on_one_call_leaves_the_connection_usable(scene, autojump_clock):
    with trio.move_on_after(30) as scope:
        await scene.connection.call("Page.neverAnswers")
    assert scope.cancelled_caught
    assert await scene.works()
    await scene.browser.say(id=1, result={"product": "late"})  # ignored, not an error
    assert await scene.works()
    assert scene.connection.statistics.pending == 0


async def test_a_call_given_up_before_it_was_written_is_never_sent(scene, nursery):
    with trio.CancelScope() as scope:
        scope.cancel(reason="gave up")
        await scene.connection.call("Page.neverSent")
    assert await scene.works()
    assert scene.browser.heard == ["Browser.getVersion"]


async def test_calls_to_a_browser_that_reads_no_more_do_not_pile_up(nursery, autojump_clock):
    ours, theirs = MemoryTransport.pair()
    connection = Connection(ours)
    nursery.start_soon(connection.run)
    for _ in range(50):
        with trio.move_on_after(1):
            await connection.call("Page.navigate")
    browser = FakeBrowser(theirs, SCRIPT)
    nursery.start_soon(browser.run)
    await connection.call("Browser.getVersion")
    assert browser.heard == ["Page.navigate", "Browser.getVersion"]  # one was half sent


async def test_commands_are_sent_in_the_order_they_were_given(scene, nursery):
    async with trio.open_nursery() as callers:
        scene.connection.post("First.posted")
        callers.start_soon(scene.connection.call, "Browser.getVersion")
        await trio.testing.wait_all_tasks_blocked()
        scene.connection.post("Last.posted")
    await trio.testing.wait_all_tasks_blocked()
    assert scene.browser.heard == ["First.posted", "Browser.getVersion", "Last.posted"]


# --- loss -------------------------------------------------------------------------------


async def test_losing_the_browser_fails_every_call_that_waits(scene):
    failed = []

    async def call() -> None:
        with pytest.raises(ConnectionLostError, match=r"Page\.neverAnswers"):
            await scene.connection.call("Page.neverAnswers")
        failed.append(1)

    async with trio.open_nursery() as callers:
        for _ in range(3):
            callers.start_soon(call)
        await trio.testing.wait_all_tasks_blocked()
        scene.browser.vanish()
    assert len(failed) == 3
    assert scene.lost_with is not None
    assert scene.connection.lost.is_set()
    assert scene.connection.statistics.pending == 0
    with pytest.raises(ConnectionLostError):
        await scene.connection.call("Browser.getVersion")


async def test_the_loss_leaves_run_outside_of_any_group():
    ours, theirs = MemoryTransport.pair()
    theirs.close()
    with pytest.raises(ConnectionLostError):
        await Connection(ours).run()


async def test_a_peer_that_only_stops_reading_is_lost_as_well(nursery):
    class DeafTransport(MemoryTransport):
        async def send(self, frame: bytes) -> None:
            raise ConnectionLostError("the peer closed its reading end")

    ours, _ = DeafTransport.pair()
    connection = Connection(ours)
    connection.post("Page.enable")
    with trio.fail_after(5), pytest.raises(ConnectionLostError, match="its reading end"):
        await connection.run()


async def test_cancelling_run_fails_the_calls_that_wait(nursery):
    ours, _ = MemoryTransport.pair()
    connection = Connection(ours)
    failed = trio.Event()

    async def call() -> None:
        with pytest.raises(ConnectionLostError, match="was closed"):
            await connection.call("Browser.getVersion")
        failed.set()

    async with trio.open_nursery() as running:
        await running.start(connection.run)
        nursery.start_soon(call)
        await trio.testing.wait_all_tasks_blocked()
        running.cancel_scope.cancel(reason="stopped")
    with trio.fail_after(5):
        await failed.wait()
    assert connection.lost.is_set()


@pytest.mark.parametrize(
    "frame",
    [b"nonsense", b"{}", b'{"id":"one"}', b'{"method":"Target.detachedFromTarget"}'],
)
async def test_a_frame_that_is_not_cdp_ends_the_connection_cleanly(scene, nursery, frame):
    async def talk_nonsense() -> None:
        await trio.testing.wait_all_tasks_blocked()
        await scene.browser.say_raw(frame)

    nursery.start_soon(talk_nonsense)
    with trio.fail_after(5), pytest.raises(ConnectionLostError, match="does not speak CDP"):
        await scene.connection.call("Page.neverAnswers")
    assert scene.lost_with is not None


async def test_half_a_character_in_a_page_does_not_end_the_connection(scene):
    titles = []
    scene.connection.listen("S", lambda event: titles.append(msgspec.json.decode(event.params)))
    await scene.browser.say_raw(b'{"method":"m","sessionId":"S","params":["\\ud83d"]}')
    assert await scene.works()
    assert titles == [["\ufffd"]]


# --- post -------------------------------------------------------------------------------


async def test_post_never_waits_even_for_a_browser_that_does_not_read(nursery):
    ours, _ = MemoryTransport.pair()
    connection = Connection(ours)
    nursery.start_soon(connection.run)
    for _ in range(1000):
        connection.post("Input.dispatchMouseEvent")
    assert connection.statistics.pending == 0


async def test_the_answer_to_a_post_is_ignored_even_if_it_is_an_error(scene):
    scene.connection.post("Page.enable", session_id="S")
    await trio.testing.wait_all_tasks_blocked()
    await scene.browser.say(id=1, error={"code": -32601, "message": "not here"})
    assert await scene.works()


async def test_a_post_to_a_browser_that_is_gone_is_dropped(scene):
    scene.browser.vanish()
    await scene.connection.lost.wait()
    scene.connection.post("Page.enable")


# --- events -----------------------------------------------------------------------------


async def test_a_listener_hears_its_session_and_no_other(scene):
    heard = {"A": [], "B": [], None: []}
    for session_id, methods in heard.items():
        scene.connection.listen(session_id, lambda event, to=methods: to.append(event.method))
    await scene.browser.say(method="one", sessionId="A")
    await scene.browser.say(method="two", sessionId="B")
    await scene.browser.say(method="three")
    assert await scene.works()
    assert heard == {"A": ["one"], "B": ["two"], None: ["three"]}


async def test_listeners_of_one_session_are_called_in_the_order_they_came(scene):
    called = []
    for name in "abc":
        scene.connection.listen("S", lambda _, name=name: called.append(name))
    await scene.browser.say(method="m", sessionId="S")
    assert await scene.works()
    assert called == ["a", "b", "c"]


async def test_a_listener_that_was_stopped_hears_nothing_any_more(scene):
    called = []

    def first(_: object) -> None:
        called.append("first")
        stop_second()

    scene.connection.listen("S", first)
    stop_second = scene.connection.listen("S", lambda _: called.append("second"))
    await scene.browser.say(method="m", sessionId="S")
    assert await scene.works()
    stop_second()  # a second time is no error
    assert called == ["first"]


async def test_an_event_nobody_listens_for_is_counted_and_dropped(scene):
    for _ in range(3):
        await scene.browser.say(method="Log.entryAdded", sessionId="nobody's")
    assert await scene.works()
    assert scene.connection.statistics.unheard == 3


async def test_a_listener_may_listen_and_post_from_within(scene):
    late = []

    def greet(event: object) -> None:
        scene.connection.listen("S", lambda event: late.append(event.method))
        scene.connection.post("Runtime.runIfWaitingForDebugger", session_id="S")

    scene.connection.listen(None, greet)
    await scene.browser.say(method="Target.attachedToTarget", params={"sessionId": "S"})
    await scene.browser.say(method="first", sessionId="S")
    assert await scene.works()
    assert late == ["first"]
    assert scene.browser.heard[0] == "Runtime.runIfWaitingForDebugger"


async def test_a_bug_in_a_listener_ends_the_run_and_fails_the_calls():
    ours, theirs = MemoryTransport.pair()
    connection = Connection(ours)
    connection.listen(None, lambda _: 1 / 0)
    with pytest.RaisesGroup(pytest.RaisesGroup(ZeroDivisionError)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.run)
            with trio.CancelScope(shield=True):
                await theirs.send(b'{"method":"m"}')
                with pytest.raises(ConnectionLostError):
                    await connection.call("Page.neverAnswers")


# --- sessions ---------------------------------------------------------------------------


async def test_a_session_that_is_detached_fails_its_calls_at_once_and_no_others(scene):
    outcomes = {}

    async def call(name: str, session_id: str | None) -> None:
        try:
            await scene.connection.call("Page.neverAnswers", session_id=session_id)
        except ConnectionLostError as error:
            outcomes[name] = type(error)

    async with trio.open_nursery() as callers:
        callers.start_soon(call, "ours", "S")
        callers.start_soon(call, "below", "frame of S")
        callers.start_soon(call, "other", "T")
        callers.start_soon(call, "browser", None)
        await trio.testing.wait_all_tasks_blocked()
        await scene.browser.say(
            method="Target.attachedToTarget", sessionId="S", params={"sessionId": "frame of S"}
        )
        await scene.browser.say(
            method="Target.detachedFromTarget", params={"sessionId": "S", "targetId": "x"}
        )
        await trio.testing.wait_all_tasks_blocked()
        assert outcomes == {"ours": SessionGoneError, "below": SessionGoneError}
        callers.cancel_scope.cancel(reason="seen enough")
    assert await scene.works()


async def test_whoever_listens_hears_that_a_session_ended_and_its_listeners_are_dropped(scene):
    heard = []
    scene.connection.listen(None, lambda event: heard.append(event.method))
    scene.connection.listen("S", lambda event: heard.append(event.method))
    await scene.browser.say(method="Target.detachedFromTarget", params={"sessionId": "S"})
    await scene.browser.say(method="ghost", sessionId="S")
    assert await scene.works()
    assert heard == ["Target.detachedFromTarget"]
    assert scene.connection.statistics.unheard == 1


async def test_a_session_speaks_and_listens_under_its_own_id(scene):
    session, heard = Session(scene.connection, "S"), []
    stop = session.listen(lambda event: heard.append(event.method))
    assert await session.call("Browser.getVersion", {}, Version) == Version("Fake/1")
    session.post("Page.enable")
    await scene.browser.say(method="Page.loadEventFired", sessionId="S")
    assert await scene.works()
    assert [command.get("sessionId") for command in scene.browser.commands] == ["S", "S", None]
    assert heard == ["Page.loadEventFired"]
    stop()


async def test_a_silent_renderer_costs_one_command_its_bound(scene, autojump_clock):
    session = Session(scene.connection, "S")
    start = trio.current_time()
    with pytest.raises(CommandTimeoutError, match=r"Page\.neverAnswers"):
        await session.call("Page.neverAnswers")
    assert trio.current_time() - start == pytest.approx(COMMAND_TIMEOUT)
    assert await scene.works()


async def test_a_caller_may_give_up_earlier_than_the_bound(scene, autojump_clock):
    session = Session(scene.connection, "S")
    with pytest.raises(trio.TooSlowError), trio.fail_after(1):
        await session.call("Page.neverAnswers")
