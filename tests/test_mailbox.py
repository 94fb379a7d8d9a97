"""What an asker can rely on."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from vfa.errors import ActorGoneError, QueueFullError, VfaError
from vfa.mailbox import Mailbox, Request


class Double(Request[int], frozen=True):
    number: int


async def double(request: Double) -> int:
    return request.number * 2


class Stuck:
    """A handler that works until it is cancelled or released, and writes down what it does."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.release = trio.Event()

    async def __call__(self, request: Double) -> int:
        self.log.append(f"+{request.number}")
        try:
            await self.release.wait()
        finally:
            self.log.append(f"-{request.number}")
        return request.number * 2


async def ask_until_it_fails(mailbox: Mailbox[Double], failures: list[str]) -> None:
    with pytest.raises(ActorGoneError) as caught:
        await mailbox.ask(Double(1))
    failures.append(caught.value.name)


# --- answers ----------------------------------------------------------------------------


async def test_an_answer_comes_back(nursery):
    mailbox = Mailbox[Double]("doubler")
    nursery.start_soon(mailbox.serve, double)
    assert await mailbox.ask(Double(21)) == 42


async def test_an_expected_failure_is_an_answer_and_the_actor_lives_on(nursery):
    async def handle(request: Double) -> int:
        if request.number < 0:
            raise VfaError("negative")
        return request.number

    mailbox = Mailbox[Double]("picky")
    nursery.start_soon(mailbox.serve, handle)
    with pytest.raises(VfaError, match="negative"):
        await mailbox.ask(Double(-1))
    assert await mailbox.ask(Double(1)) == 1


async def test_letters_are_served_in_the_order_they_came(nursery):
    served = []

    async def handle(request: Double) -> int:
        served.append(request.number)
        return 0

    mailbox = Mailbox[Double]("orderly")
    async with trio.open_nursery() as askers:
        for number in range(5):
            askers.start_soon(mailbox.ask, Double(number))
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(mailbox.serve, handle)
    assert served == [0, 1, 2, 3, 4]


async def test_a_bug_fails_its_asker_and_crashes_the_actor():
    async def handle(request: Double) -> int:
        raise ZeroDivisionError

    mailbox = Mailbox[Double]("buggy")
    with pytest.RaisesGroup(ZeroDivisionError):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mailbox.serve, handle)
            with trio.CancelScope(shield=True), pytest.raises(ActorGoneError, match="buggy"):
                await mailbox.ask(Double(1))


async def test_letters_that_wait_outlive_a_crash_of_the_actor():
    async def crash(request: Double) -> int:
        raise ZeroDivisionError

    mailbox = Mailbox[Double]("restarted")
    failures, answers = [], []

    async def ask_second() -> None:
        answers.append(await mailbox.ask(Double(2)))

    async with trio.open_nursery() as askers:
        askers.start_soon(ask_until_it_fails, mailbox, failures)
        await trio.testing.wait_all_tasks_blocked()
        askers.start_soon(ask_second)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ZeroDivisionError):
            await mailbox.serve(crash)
        assert mailbox.load == 1
        with trio.move_on_after(5) as incarnation:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(mailbox.serve, double)
                await trio.testing.wait_all_tasks_blocked()
                incarnation.cancel(reason="seen enough")
    assert failures == ["restarted"]
    assert answers == [4]


# --- giving up --------------------------------------------------------------------------


async def test_the_asker_decides_how_long_the_work_may_take(nursery, autojump_clock):
    worked_until = []

    async def handle(request: Double) -> int:
        try:
            await trio.sleep_forever()
        finally:
            worked_until.append(trio.current_time())
        return 0

    mailbox = Mailbox[Double]("slow")
    nursery.start_soon(mailbox.serve, handle)
    start = trio.current_time()
    with pytest.raises(trio.TooSlowError), trio.fail_after(30):
        await mailbox.ask(Double(1))
    await trio.testing.wait_all_tasks_blocked()
    assert worked_until == [start + 30]


async def test_a_cancelled_asker_cancels_the_work_at_once_and_the_next_is_served(nursery):
    mailbox, stuck = Mailbox[Double]("stuck"), Stuck()
    nursery.start_soon(mailbox.serve, stuck)
    async with trio.open_nursery() as asker:
        asker.start_soon(mailbox.ask, Double(1))
        await trio.testing.wait_all_tasks_blocked()
        asker.cancel_scope.cancel(reason="the client went away")
    await trio.testing.wait_all_tasks_blocked()
    assert stuck.log == ["+1", "-1"]
    stuck.release.set()
    assert await mailbox.ask(Double(2)) == 4


async def test_giving_up_withdraws_a_letter_that_still_waits(nursery):
    mailbox, stuck = Mailbox[Double]("stuck"), Stuck()
    nursery.start_soon(mailbox.serve, stuck)
    async with trio.open_nursery() as first:
        first.start_soon(mailbox.ask, Double(1))
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as second:
            second.start_soon(mailbox.ask, Double(2))
            await trio.testing.wait_all_tasks_blocked()
            assert mailbox.load == 2
            second.cancel_scope.cancel(reason="gave up")
        assert mailbox.load == 1
        stuck.release.set()
    await trio.testing.wait_all_tasks_blocked()
    assert stuck.log == ["+1", "-1"]  # the second was never begun


async def test_an_actor_that_is_stopped_fails_the_letter_it_works_on(nursery):
    mailbox, stuck = Mailbox[Double]("stopped"), Stuck()
    failures: list[str] = []
    async with trio.open_nursery() as actor:
        actor.start_soon(mailbox.serve, stuck)
        nursery.start_soon(ask_until_it_fails, mailbox, failures)
        await trio.testing.wait_all_tasks_blocked()
        actor.cancel_scope.cancel(reason="stopped by its supervisor")
    await trio.testing.wait_all_tasks_blocked()
    assert failures == ["stopped"]
    assert mailbox.load == 0


# --- bounds -----------------------------------------------------------------------------


async def test_the_limit_counts_running_and_waiting_letters(nursery):
    mailbox, stuck = Mailbox[Double]("narrow", limit=2), Stuck()
    nursery.start_soon(mailbox.serve, stuck)
    async with trio.open_nursery() as askers:
        for number in (1, 2):
            askers.start_soon(mailbox.ask, Double(number))
            await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(QueueFullError, match="2 operations"):
            await mailbox.ask(Double(3))
        stuck.release.set()
    assert await mailbox.ask(Double(4)) == 8
    assert mailbox.peak == 2
    assert stuck.log == ["+1", "-1", "+2", "-2", "+4", "-4"]


async def test_giving_up_makes_room_in_a_full_mailbox(nursery):
    mailbox, stuck = Mailbox[Double]("narrow", limit=2), Stuck()
    nursery.start_soon(mailbox.serve, stuck)
    async with trio.open_nursery() as askers:
        for number in (1, 2):
            askers.start_soon(mailbox.ask, Double(number))
        await trio.testing.wait_all_tasks_blocked()
        askers.cancel_scope.cancel(reason="gave up")
    await trio.testing.wait_all_tasks_blocked()
    assert mailbox.load == 0
    stuck.release.set()
    assert await mailbox.ask(Double(3)) == 6


# --- the end ----------------------------------------------------------------------------


async def test_letters_that_wait_when_the_mailbox_closes_are_failed(nursery):
    failures: list[str] = []
    with Mailbox[Double]("never served") as mailbox:
        for _ in range(3):
            nursery.start_soon(ask_until_it_fails, mailbox, failures)
        await trio.testing.wait_all_tasks_blocked()
    await trio.testing.wait_all_tasks_blocked()
    assert failures == ["never served"] * 3
    with pytest.raises(ActorGoneError):
        await mailbox.ask(Double(1))


async def test_serving_ends_when_the_mailbox_closes():
    mailbox = Mailbox[Double]("closing")
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(mailbox.serve, double)
            nursery.start_soon(mailbox.serve_concurrently, double)
            await trio.testing.wait_all_tasks_blocked()
            mailbox.close()


# --- several at once --------------------------------------------------------------------


async def test_concurrent_service_lets_a_quick_letter_pass_a_slow_one(nursery):
    mailbox, stuck = Mailbox[Double]("parallel"), Stuck()

    async def handle(request: Double) -> int:
        return await (stuck if request.number == 1 else double)(request)

    nursery.start_soon(mailbox.serve_concurrently, handle)
    async with trio.open_nursery() as askers:
        askers.start_soon(mailbox.ask, Double(1))
        await trio.testing.wait_all_tasks_blocked()
        assert await mailbox.ask(Double(2)) == 4
        assert stuck.log == ["+1"]
        stuck.release.set()


async def test_giving_up_on_one_of_several_letters_leaves_the_others_alone(nursery):
    mailbox, stuck = Mailbox[Double]("parallel"), Stuck()
    nursery.start_soon(mailbox.serve_concurrently, stuck)
    answers = []

    async def ask_first() -> None:
        answers.append(await mailbox.ask(Double(1)))

    async with trio.open_nursery() as askers:
        askers.start_soon(ask_first)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as second:
            second.start_soon(mailbox.ask, Double(2))
            await trio.testing.wait_all_tasks_blocked()
            second.cancel_scope.cancel(reason="gave up")
        await trio.testing.wait_all_tasks_blocked()
        assert stuck.log == ["+1", "+2", "-2"]
        stuck.release.set()
    assert answers == [2]


async def test_a_bug_in_one_of_several_letters_fails_them_all():
    mailbox, stuck = Mailbox[Double]("parallel"), Stuck()

    async def handle(request: Double) -> int:
        if request.number == 1:
            raise ZeroDivisionError
        return await stuck(request)

    failures: list[str] = []

    async def ask_second() -> None:
        with pytest.raises(ActorGoneError):
            await mailbox.ask(Double(2))
        failures.append("second")

    async with trio.open_nursery() as askers:
        askers.start_soon(ask_second)
        await trio.testing.wait_all_tasks_blocked()
        askers.start_soon(ask_until_it_fails, mailbox, failures)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.RaisesGroup(ZeroDivisionError):
            await mailbox.serve_concurrently(handle)
    assert sorted(failures) == ["parallel", "second"]
