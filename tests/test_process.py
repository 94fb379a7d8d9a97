"""Real processes: nothing survives the block."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from vfa.process import pipe, process_group

if TYPE_CHECKING:
    from collections.abc import Mapping

SH = "/bin/sh"
FORK = "sleep 300 & echo $! >&2; wait"
BOUND = 10  # seconds; what hangs should fail


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


async def wait_gone(pid: int) -> None:
    """SIGKILL is sent at once and acted on a moment later, and no event says when."""
    with trio.fail_after(BOUND):
        while is_alive(pid):  # noqa: ASYNC110  # the kernel sets no trio.Event
            await trio.sleep(0.01)


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def read_line(fd: int) -> str:
    with trio.fail_after(BOUND):
        await trio.lowlevel.wait_readable(fd)
    return os.read(fd, 4096).decode()


async def run_and_read(
    command: list[str], descriptors: dict[int, int], end: int, **options: Mapping[str, str]
) -> str:
    """Run a command to its end; return what it wrote into the pipe that ends in ``end``."""
    with trio.fail_after(BOUND):
        async with process_group(command, descriptors, **options) as process:
            await process.wait()
    return os.read(end, 65536).decode()


# --- what a child is given --------------------------------------------------------------


async def test_a_child_has_exactly_the_descriptors_it_is_promised():
    with pipe() as (there_read, _), pipe() as (read, write):
        descriptors = {1: write, 3: there_read, 4: write}
        said = await run_and_read(["/bin/ls", "/proc/self/fd"], descriptors, read)
    # 5 is the folder that ls reads: the lowest number that was free.
    assert set(said.split()) == {"0", "1", "2", "3", "4", "5"}


async def test_data_flows_through_the_descriptors_in_both_directions():
    with pipe() as (there_read, there_write), pipe() as (read, write):
        os.write(there_write, b"hello\n")
        script = [SH, "-c", "read line <&3; echo $line, back >&4"]
        said = await run_and_read(script, {3: there_read, 4: write}, read)
    assert said == "hello, back\n"


async def test_a_descriptor_that_was_inherited_here_is_not_passed_on():
    with pipe() as (inherited, _), pipe() as (read, write):
        os.set_inheritable(inherited, True)
        said = await run_and_read(["/bin/ls", "/proc/self/fd"], {1: write}, read)
    assert str(inherited) not in said.split()


async def test_descriptors_may_swap_their_numbers():
    with pipe() as (first, _), pipe() as (second, _), pipe() as (read, write):
        ours = [os.readlink(f"/proc/self/fd/{fd}") for fd in (second, first)]
        links = [f"/proc/self/fd/{fd}" for fd in (first, second)]
        descriptors = {first: second, second: first, 1: write}
        said = await run_and_read(["/bin/readlink", *links], descriptors, read)
    assert said.split() == ours


async def test_what_is_not_named_is_the_null_device():
    with pipe() as (read, write):
        links = ["/proc/self/fd/0", "/proc/self/fd/2"]
        said = await run_and_read(["/bin/readlink", *links], {1: write}, read)
    assert said.split() == ["/dev/null"] * 2


async def test_a_child_leads_a_session_of_its_own_with_default_signals():
    with pipe() as (waits, _), pipe() as (read, write):
        script = "grep -E '^Sig(Ign|Blk)' /proc/self/status >&4; read line <&3"
        async with process_group([SH, "-c", script], {3: waits, 4: write}) as process:
            assert os.getsid(process.pid) == process.pid
            assert os.getpgid(process.pid) == process.pid
            said = await read_line(read)
    masks = {line.split(":")[0]: int(line.split(":")[1], 16) for line in said.splitlines()}
    assert masks["SigBlk"] == 0
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
        assert not masks["SigIgn"] & 1 << (number - 1)


async def test_a_child_gets_the_environment_it_is_given():
    with pipe() as (read, write):
        script = [SH, "-c", "echo $COLOUR $HOME >&4"]
        said = await run_and_read(script, {4: write}, read, env={"COLOUR": "x"})
    assert said == "x\n"


# --- its end ----------------------------------------------------------------------------


async def test_a_grandchild_dies_with_its_group():
    with pipe() as (read, write):
        async with process_group([SH, "-c", FORK], {2: write}) as process:
            grandchild = int(await read_line(read))
            assert is_alive(grandchild)
    assert process.returncode == -signal.SIGKILL
    await wait_gone(grandchild)


async def test_a_grandchild_dies_even_when_its_parent_went_first():
    with pipe() as (read, write):
        script = "sleep 300 & echo $! >&2"
        async with process_group([SH, "-c", script], {2: write}) as process:
            grandchild = int(await read_line(read))
            with trio.fail_after(BOUND):
                assert await process.wait() == 0
            assert is_alive(grandchild)
    await wait_gone(grandchild)


async def test_cancellation_does_not_leak_the_group():
    with trio.CancelScope() as scope, pipe() as (read, write):
        async with process_group([SH, "-c", FORK], {2: write}) as process:
            grandchild = int(await read_line(read))
            scope.cancel(reason="the engine stops")
            await trio.sleep_forever()
    await wait_gone(grandchild)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_a_program_that_exits_in_its_grace_is_not_killed():
    async with process_group([SH, "-c", "exit 3"], {}, grace=BOUND) as process:
        pass
    assert process.returncode == 3
    assert process.poll() == 3


async def test_a_program_that_outstays_its_grace_is_killed():
    script = "trap '' TERM INT HUP; while :; do sleep 300; done"
    with trio.fail_after(BOUND):
        async with process_group([SH, "-c", script], {}, grace=0.05) as process:
            pass
    assert process.returncode == -signal.SIGKILL


async def test_waiting_ends_when_the_process_does_and_several_may_wait(nursery):
    codes = []

    async def wait() -> None:
        codes.append(await process.wait())

    with pipe() as (read, write):
        async with process_group([SH, "-c", "read line <&3; exit 7"], {3: read}) as process:
            assert process.poll() is None
            async with trio.open_nursery() as waiting:
                waiting.start_soon(wait)
                waiting.start_soon(wait)
                await trio.testing.wait_all_tasks_blocked()
                os.write(write, b"go\n")
    assert codes == [7, 7]


async def test_killing_a_group_that_is_gone_is_no_error():
    async with process_group([SH, "-c", ":"], {}) as process:
        with trio.fail_after(BOUND):
            await process.wait()
        process.kill_group()


# --- what does not start ----------------------------------------------------------------


@pytest.mark.parametrize("command", ["/nonexistent/chromium", "/etc/passwd", "/tmp"])
async def test_a_program_that_cannot_be_started_says_so_and_leaks_nothing(command):
    with pipe() as (read, write):
        before = open_descriptors()
        with pytest.raises(OSError, match=r"No such file|Permission denied"):
            async with process_group([command], {3: read, 4: write}):
                pytest.fail("it cannot have started")
        assert open_descriptors() == before


async def test_a_child_that_ran_leaves_no_descriptor_behind():
    before = open_descriptors()
    with pipe() as (read, write):
        async with process_group([SH, "-c", "exit 0"], {3: read, 4: write}, grace=BOUND):
            pass
    assert open_descriptors() == before


def test_both_ends_of_a_pipe_are_closed_and_neither_is_inherited():
    with pipe() as ends:
        assert not any(os.get_inheritable(end) for end in ends)
    for end in ends:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(end)
