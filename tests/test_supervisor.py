"""Order, budget and escalation."""

from __future__ import annotations

import logging
from functools import partial

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from vfa.errors import RestartsExhaustedError
from vfa.supervisor import Child, Limits, RestartBudget, Supervisor


class Stage:
    """Three actors that write down when they start and stop, and crash on command."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.crash = {name: trio.Event() for name in "abc"}

    async def actor(self, name: str, *, task_status: trio.TaskStatus[None]) -> None:
        self.crash[name] = trio.Event()
        self.log.append(f"+{name}")
        try:
            task_status.started()
            await self.crash[name].wait()
            raise ValueError(name)
        finally:
            self.log.append(f"-{name}")

    def children(self, names: str = "abc") -> list[Child]:
        return [Child(name, partial(self.actor, name)) for name in names]


async def test_children_start_left_to_right_and_stop_right_to_left():
    stage = Stage()
    async with trio.open_nursery() as nursery:
        await nursery.start(Supervisor(stage.children(), Limits()).run)
        nursery.cancel_scope.cancel(reason="stopped")
    assert stage.log == ["+a", "+b", "+c", "-c", "-b", "-a"]


async def test_a_crash_restarts_the_child_and_what_was_built_on_it(autojump_clock):
    stage = Stage()
    async with trio.open_nursery() as nursery:
        await nursery.start(Supervisor(stage.children(), Limits()).run)
        stage.log.clear()
        stage.crash["b"].set()
        await trio.sleep(1)
        assert stage.log == ["-b", "-c", "+b", "+c"]
        nursery.cancel_scope.cancel(reason="stopped")


async def test_a_child_that_returns_has_crashed(autojump_clock):
    async def brief(*, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()

    with pytest.raises(RestartsExhaustedError) as caught:
        await Supervisor([Child("brief", brief)], Limits(intensity=0)).run()
    assert str(caught.value.__cause__) == "brief returned"


async def test_too_many_crashes_escalate_with_the_last_one_as_cause(autojump_clock):
    stage = Stage()

    async def crash_often() -> None:
        while True:
            await trio.sleep(1)
            stage.crash["a"].set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(crash_often)
        with pytest.raises(RestartsExhaustedError) as caught:
            await Supervisor(stage.children("a"), Limits(intensity=2, period=60)).run()
        nursery.cancel_scope.cancel(reason="seen enough")
    assert isinstance(caught.value.__cause__, ValueError)
    assert stage.log == ["+a", "-a"] * 3


async def test_crashes_far_apart_never_escalate(autojump_clock):
    stage = Stage()
    async with trio.open_nursery() as nursery:
        await nursery.start(Supervisor(stage.children("a"), Limits(intensity=1)).run)
        for _ in range(10):
            await trio.sleep(120)
            stage.crash["a"].set()
        await trio.sleep(1)
        assert stage.log == ["+a", "-a"] * 10 + ["+a"]
        nursery.cancel_scope.cancel(reason="stopped")


async def test_the_delay_before_a_restart_doubles(autojump_clock):
    starts = []

    async def hopeless(*, task_status: trio.TaskStatus[None]) -> None:
        starts.append(trio.current_time())
        raise ValueError("hopeless")

    with pytest.raises(RestartsExhaustedError):
        await Supervisor([Child("hopeless", hopeless)], Limits(first_delay=1)).run()
    begin = starts[0]
    assert [round(start - begin, 2) for start in starts] == [0, 1, 3, 7]


async def test_a_child_that_never_gets_ready_counts_as_a_crash(autojump_clock):
    async def sleepy(*, task_status: trio.TaskStatus[None]) -> None:
        await trio.sleep_forever()

    start = trio.current_time()
    children = [Child("sleepy", sleepy, start_timeout=10)]
    with pytest.raises(RestartsExhaustedError) as caught:
        await Supervisor(children, Limits(intensity=1)).run()
    assert isinstance(caught.value.__cause__, trio.TooSlowError)
    assert trio.current_time() - start == pytest.approx(20.25)


@pytest.mark.parametrize("ready", [False, True], ids=["before", "right after"])
async def test_a_crash_around_started_is_contained(ready, autojump_clock):
    async def hasty(*, task_status: trio.TaskStatus[None]) -> None:
        if ready:
            task_status.started()
        raise ValueError("hasty")

    with pytest.raises(RestartsExhaustedError) as caught:
        await Supervisor([Child("hasty", hasty)], Limits(intensity=1)).run()
    assert repr(caught.value.__cause__) == "ValueError('hasty')"


async def test_a_child_stuck_in_its_cleanup_is_named_and_the_others_are_stopped(
    autojump_clock, caplog
):
    stage = Stage()

    async def stuck(*, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(60)
            stage.log.append("-stuck")

    children = [*stage.children("a"), Child("stuck", stuck, stop_timeout=5)]
    async with trio.open_nursery() as nursery:
        await nursery.start(Supervisor(children, Limits()).run)
        nursery.cancel_scope.cancel(reason="stopped")
    assert stage.log == ["+a", "-a", "-stuck"]
    (critical,) = (r for r in caplog.records if r.levelno == logging.CRITICAL)
    assert "stuck" in critical.getMessage()


@given(st.lists(st.floats(0, 100), max_size=30), st.integers(0, 5), st.floats(0.1, 50))
def test_the_budget_refuses_exactly_when_a_window_is_overfull(times, intensity, period):
    times.sort()
    budget = RestartBudget(Limits(intensity=intensity, period=period))
    for index, now in enumerate(times):
        in_window = sum(then >= now - period for then in times[: index + 1])
        assert (budget.spend(now) is None) == (in_window > intensity)
