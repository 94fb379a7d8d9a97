"""The encoder with its real process: what it starts, survives and leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.pictures import encoded, noise, noisy, opened, plain
from vfa.actors import encoder as encoder_module
from vfa.actors import picture_process
from vfa.actors.encoder import QUEUE_LIMIT, Encoder, Tile, run
from vfa.config import Config
from vfa.errors import ActorGoneError, PictureError, QueueFullError, ScreenshotTooLargeError
from vfa.image.header import picture_format, picture_size
from vfa.image.jobs import MAX_PICTURE_BYTES, LabelledBox
from vfa.mailbox import Mailbox

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="looks at processes in /proc"
)

BOUND = 20.0  # seconds that any wait here may take on a machine that is very busy
SLOW_SIDE = 5000  # pixels; PNG of noise at this size takes seconds


class Scene:
    """An encoder, its mailbox, and a look at its process from outside."""

    def __init__(self, mailbox, background):
        self.mailbox = mailbox
        self.encoder = Encoder(mailbox)
        self.background = background

    async def small_job(self):
        picture = await self.encoder.fit(SMALL, format="jpeg")
        assert picture_format(picture.data) == "jpeg"
        return picture

    async def begin_slow_job(self, outcomes):
        """Start a job that takes seconds; return once the process works on it."""

        async def job():
            with trio.CancelScope() as scope:
                outcomes.append(scope)
                try:
                    outcomes.append(await self.encoder.fit(SLOW, format="png"))
                except Exception as error:  # the test looks at it
                    outcomes.append(error)

        self.background.start_soon(job)
        await wait_until(lambda: workers() and is_computing(workers()[0]))
        return workers()[0]


@asynccontextmanager
async def open_scene(**settings):
    mailbox = Mailbox("encoder", QUEUE_LIMIT)
    with trio.fail_after(4 * BOUND):
        async with trio.open_nursery() as nursery:
            await nursery.start(run, mailbox, Config(**settings))
            async with trio.open_nursery() as background:
                yield Scene(mailbox, background)
            nursery.cancel_scope.cancel()
    assert workers() == []


@pytest.fixture(scope="module", autouse=True)
def slow_picture():
    """Make the one large picture once, and only if a test of this file runs."""
    global SLOW
    SLOW = encoded(noisy(SLOW_SIDE, SLOW_SIDE), "jpeg")


SLOW = b""
SMALL = plain(60, 40)


def workers() -> list[int]:
    """Return the pids of our picture processes that are not zombies."""
    return [pid for pid in children(os.getpid()) if is_alive(pid)]


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_computing(pid: int) -> bool:
    """Tell whether the process has read its job: SIGIO is asked for only while it works."""
    try:
        flags = Path(f"/proc/{pid}/fdinfo/0").read_text()
    except OSError:
        return False
    return bool(int(flags.split("flags:")[1].split()[0], 8) & os.O_ASYNC)


async def wait_until(condition) -> None:
    with trio.fail_after(BOUND):
        while not condition():  # noqa: ASYNC110  # the kernel sets no trio.Event
            await trio.sleep(0.01)


# --- what it does -----------------------------------------------------------------------


async def test_no_process_is_started_before_the_first_job():
    async with open_scene() as scene:
        assert workers() == []
        await scene.small_job()
        assert len(workers()) == 1


async def test_one_process_serves_many_jobs():
    async with open_scene() as scene:
        await scene.small_job()
        [pid] = workers()
        for _ in range(20):
            await scene.small_job()
        assert workers() == [pid]


async def test_jobs_of_all_kinds_are_done():
    async with open_scene() as scene:
        fitted = await scene.encoder.fit(SMALL, format="webp", max_side=30)
        assert (fitted.width, fitted.height, fitted.scale) == (30, 20, 0.5)
        assert picture_size(fitted.data) == (30, 20)
        assert fitted.mime_type == "image/webp"
        boxes = [LabelledBox(10, 10, 40, 20, "7")]
        drawn = await scene.encoder.annotate(SMALL, boxes, format="png")
        assert opened(drawn.data).getpixel((30, 8)) == (216, 27, 96)
        tiles = [Tile(SMALL, 0, 0), Tile(SMALL, 0, 40)]
        whole = await scene.encoder.stitch(tiles, 60, 80, format="png")
        assert opened(whole.data).getcolors() == [(4800, (0, 128, 128))]


async def test_a_picture_that_fits_already_needs_no_process():
    async with open_scene() as scene:
        picture = await scene.encoder.fit(SMALL, format="png", max_bytes=len(SMALL))
        assert picture.data is SMALL
        assert (picture.width, picture.height, picture.scale) == (60, 40, 1.0)
        assert workers() == []


async def test_large_pictures_pass_both_ways():
    async with open_scene() as scene:
        picture = await scene.encoder.fit(noise(1500, 1500), format="png", max_side=1400)
        assert len(picture.data) > 1_000_000
        assert opened(picture.data).size == (1400, 1400)


async def test_a_budget_that_cannot_be_met_is_said():
    async with open_scene() as scene:
        assert not (await scene.encoder.fit(noise(50, 50), max_bytes=9)).within_budget
        with pytest.raises(ScreenshotTooLargeError):
            await scene.encoder.fit(noise(50, 50), max_bytes=9, strict=True)


async def test_jobs_asked_for_at_once_are_all_done():
    async with open_scene() as scene:
        done = []

        async def ask(side):
            picture = await scene.encoder.fit(SMALL, format="png", max_side=side)
            done.append((side, picture.width))

        async with trio.open_nursery() as askers:
            for side in range(1, QUEUE_LIMIT + 1):
                askers.start_soon(ask, side)
        assert sorted(done) == [(side, side) for side in range(1, QUEUE_LIMIT + 1)]
        assert len(workers()) == 1


# --- what it refuses --------------------------------------------------------------------


@pytest.mark.parametrize(
    "garbage", [b"", b"x" * 5000, SMALL[:50], plain(9, 9, "webp")[:30]], ids=len
)
async def test_garbage_is_a_picture_error_and_the_process_lives(garbage):
    async with open_scene() as scene:
        await scene.small_job()
        before = workers()
        with pytest.raises(PictureError):
            await scene.encoder.fit(garbage, format="jpeg", max_side=5)
        await scene.small_job()
        assert workers() == before


async def test_a_decompression_bomb_is_a_picture_error():
    async with open_scene() as scene:
        with pytest.raises(PictureError, match="more than"):
            await scene.encoder.fit(bomb(100_000, 100_000), format="jpeg")
        await scene.small_job()


async def test_a_picture_beyond_the_memory_limit_is_a_picture_error():
    async with open_scene(encoder_memory_mb=128) as scene:
        await scene.small_job()
        with pytest.raises(PictureError, match="memory") as caught:
            await scene.encoder.fit(bomb(9000, 9000), format="jpeg")
        assert "VFA_ENCODER_MEMORY_MB" in caught.value.hint
        await scene.small_job()


async def test_an_order_beyond_the_memory_limit_is_a_picture_error():
    async with open_scene(encoder_memory_mb=128) as scene:
        with pytest.raises(PictureError, match="memory"):
            await scene.encoder.fit(bytes(200_000_000), format="jpeg")
        await scene.small_job()


async def test_more_bytes_than_a_frame_may_have_are_refused_unsent():
    async with open_scene() as scene:
        tile = Tile(bytes(MAX_PICTURE_BYTES // 2 + 1), 0, 0)
        with pytest.raises(PictureError, match="more than one job takes"):
            await scene.encoder.stitch([tile, tile], 10, 10)
        assert workers() == []


async def test_the_queue_is_bounded():
    async with open_scene() as scene:
        outcomes = []
        await scene.begin_slow_job(outcomes)
        async with trio.open_nursery() as askers:
            for _ in range(QUEUE_LIMIT - 1):
                askers.start_soon(scene.small_job)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(QueueFullError):
                await scene.small_job()
            outcomes[0].cancel()
        await scene.small_job()


# --- how it ends ------------------------------------------------------------------------


async def test_an_unused_process_is_stopped_and_the_next_job_gets_a_new_one():
    async with open_scene(encoder_idle_ms=100) as scene:
        await scene.small_job()
        [first] = workers()
        await wait_until(lambda: not is_alive(first))
        await scene.small_job()
        assert workers() != [first]


async def test_a_process_is_stopped_when_unused_after_a_failure_too():
    async with open_scene(encoder_idle_ms=100) as scene:
        with pytest.raises(PictureError):
            await scene.encoder.fit(b"garbage")
        await wait_until(lambda: workers() == [])


async def test_a_job_longer_than_the_idle_time_is_not_interrupted():
    async with open_scene(encoder_idle_ms=100) as scene:
        picture = await scene.encoder.fit(SLOW, format="jpeg", max_side=3000)
        assert picture.width == 3000


async def test_giving_up_kills_the_process_at_once_and_the_next_job_works():
    async with open_scene() as scene:
        outcomes = []
        first = await scene.begin_slow_job(outcomes)
        outcomes[0].cancel()
        await scene.small_job()
        await wait_until(lambda: not is_alive(first))
        assert len(outcomes) == 1


async def test_a_deadline_is_a_way_of_giving_up():
    async with open_scene() as scene:
        with trio.move_on_after(0.2) as scope:
            await scene.encoder.fit(SLOW, format="png")
        assert scope.cancelled_caught
        await scene.small_job()
        await wait_until(lambda: len(workers()) == 1)


async def test_giving_up_at_any_moment_leaves_a_working_encoder():
    large = noise(700, 700)
    async with open_scene() as scene:
        for delay in range(0, 60, 3):
            with trio.move_on_after(delay / 1000):
                await scene.encoder.fit(large, format="png", max_side=650)
            if delay % 2:
                await scene.small_job()
        await scene.small_job()
        await wait_until(lambda: len(workers()) == 1)


async def test_a_job_without_a_deadline_is_bounded_too(monkeypatch):
    monkeypatch.setattr(encoder_module, "JOB_TIMEOUT", 0.2)
    async with open_scene() as scene:
        with pytest.raises(PictureError, match=r"more than 0\.2 s"):
            await scene.encoder.fit(SLOW, format="png")
        monkeypatch.undo()
        await scene.small_job()


async def test_a_process_killed_in_a_job_fails_that_job_only():
    async with open_scene() as scene:
        outcomes = []
        pid = await scene.begin_slow_job(outcomes)
        os.kill(pid, signal.SIGKILL)
        await wait_until(lambda: len(outcomes) == 2)
        assert isinstance(outcomes[1], PictureError)
        assert "-9" in str(outcomes[1])
        await scene.small_job()
        assert workers() != [pid]


async def test_a_process_killed_at_rest_costs_nobody_anything():
    async with open_scene() as scene:
        for _ in range(5):
            await scene.small_job()
            os.kill(workers()[0], signal.SIGKILL)
            await scene.small_job()


async def test_a_stopped_process_costs_its_asker_the_deadline():
    async with open_scene() as scene:
        await scene.small_job()
        os.kill(workers()[0], signal.SIGSTOP)
        with trio.move_on_after(0.3) as scope:
            await scene.small_job()
        assert scope.cancelled_caught
        await scene.small_job()


async def test_a_process_that_cannot_be_started_is_a_picture_error(monkeypatch):
    async with open_scene() as scene:
        monkeypatch.setattr(picture_process, "worker_command", lambda _: ["/no/such/program"])
        with pytest.raises(PictureError, match="cannot be started"):
            await scene.small_job()
        monkeypatch.undo()
        await scene.small_job()


async def test_a_process_that_ends_at_once_is_a_picture_error(monkeypatch):
    async with open_scene() as scene:
        command = [sys.executable, "-c", "raise SystemExit(7)"]
        monkeypatch.setattr(picture_process, "worker_command", lambda _: command)
        with pytest.raises(PictureError, match="exit code 7"):
            await scene.small_job()
        monkeypatch.undo()
        await scene.small_job()


async def test_stopping_the_engine_in_a_job_leaves_no_process():
    mailbox = Mailbox("encoder", QUEUE_LIMIT)
    with trio.fail_after(BOUND):
        async with trio.open_nursery() as nursery:
            await nursery.start(run, mailbox, Config())
            outcomes = []
            await Scene(mailbox, nursery).begin_slow_job(outcomes)
            nursery.cancel_scope.cancel()
    assert workers() == []
    assert not [outcome for outcome in outcomes[1:] if not isinstance(outcome, ActorGoneError)]


ENGINE = """
    import sys, trio
    from vfa.actors.encoder import Encoder, run
    from vfa.config import Config
    from vfa.mailbox import Mailbox

    async def main():
        mailbox = Mailbox("encoder")
        async with trio.open_nursery() as nursery:
            await nursery.start(run, mailbox, Config())
            picture = open(sys.argv[1], "rb").read()
            await Encoder(mailbox).fit(picture, max_side=9)
            print("ready", flush=True)
            sys.stdin.readline()
            await Encoder(mailbox).fit(picture, format="png")

    trio.run(main)
"""


@pytest.mark.parametrize("in_a_job", [False, True])
async def test_the_process_ends_by_itself_when_its_engine_is_killed(in_a_job, tmp_path):
    file = tmp_path / "slow.jpg"
    file.write_bytes(SLOW)
    engine = subprocess.Popen(  # noqa: ASYNC220  # a few milliseconds, nothing else runs
        [sys.executable, "-c", textwrap.dedent(ENGINE), str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    with engine:
        assert engine.stdout.readline() == b"ready\n"
        [pid] = children(engine.pid)
        if in_a_job:
            engine.stdin.write(b"go\n")
            engine.stdin.flush()
            await wait_until(lambda: is_computing(pid))
        engine.kill()
    with trio.fail_after(1):  # a job of several seconds would take longer than this
        while is_alive(pid):  # noqa: ASYNC110
            await trio.sleep(0.01)


# --- what it is made of -----------------------------------------------------------------


def test_the_engine_side_does_not_import_pillow():
    script = (
        "import sys, vfa.actors.encoder\n"
        "sys.exit(any(name.split('.')[0] == 'PIL' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_process_imports_neither_trio_nor_what_only_some_jobs_need():
    script = (
        "import sys, vfa.image.worker\n"
        "print(*{n.split('.')[0] for n in sys.modules}, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    names = done.stdout.decode().split()
    assert not {"trio", "asyncio", "mcp", "vfa.mailbox", "PIL.ImageFont"} & set(names)


async def test_the_process_gets_no_secrets_from_our_environment(monkeypatch):
    monkeypatch.setenv("VFA_LICENSE_KEY", "secret-of-a-customer")
    async with open_scene() as scene:
        await scene.small_job()
        assert b"secret-of-a-customer" not in environment(workers()[0])


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few kilobytes that claims a size it would take gigabytes to hold."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body))
            + kind
            + body
            + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(2_000_000))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", pixels)
        + chunk(b"IEND", b"")
    )
