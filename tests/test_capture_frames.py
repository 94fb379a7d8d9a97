"""Frames in a row in a real Chromium: what they show, and what is left when time is up."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import trio

from tests.looking import is_near, looking_at, seen
from tests.mcp_peer import server_process, text_of
from tests.pictures import opened
from vfa.config import load
from vfa.engine import open_engine
from vfa.errors import (
    CommandTimeoutError,
    ElementHiddenError,
    ElementNotFoundError,
    ScreenshotTooLargeError,
    UnsafePathError,
)
from vfa.page import frame_capture
from vfa.page.frame_capture import Recording, Wanted, record
from vfa.page.locating import Target
from vfa.tools.answer import encode
from vfa.tools.recording import CaptureFramesArguments, capture_frames
from vfa.tools.table import Call

pytestmark = pytest.mark.browser

GREEN = (0, 255, 0)
MOVING = (
    "<style>*{margin:0}@keyframes k{to{transform:translateX(300px)}}"
    "#dot{width:40px;height:40px;background:#f00;animation:k .7s linear infinite alternate}"
    "</style><div id=dot></div>"
)
SCROLLED = (
    "<style>*{margin:0}</style><div style='height:1500px'></div>"
    "<div id=box style='margin-left:30px;width:120px;height:60px;background:#0f0'></div>"
    "<div style='height:3000px'></div>"
)


# --- recording --------------------------------------------------------------------------


async def film(sight, *, seconds=10.0, keep=None, **more):
    """Record; return the snaps and the counts."""
    snaps, recording = [], Recording()

    async def store(snap):
        snaps.append(snap)

    settings = {"count": 4, "interval_s": 0.1} | more
    wanted = Wanted(deadline=trio.current_time() + seconds, **settings)
    await record(sight.page, wanted, keep or store, recording)
    return snaps, recording


def gaps(snaps):
    return [later.at - earlier.at for earlier, later in pairwise(snaps)]


@pytest.mark.parametrize("strategy", ["screencast", "poll"])
async def test_frames_of_a_moving_page_differ_and_keep_the_interval(config, site, strategy):
    async with looking_at(config, site.page("/", MOVING)) as sight:
        snaps, recording = await film(sight, strategy=strategy, count=5, interval_s=0.15)
    assert recording.kept == len(snaps) == 5
    assert recording.pumps == 0
    assert len({snap.data for snap in snaps}) > 2
    assert sum(gaps(snaps)) == pytest.approx(0.6, abs=0.15)
    assert min(gaps(snaps)) > 0.05


@pytest.mark.parametrize("strategy", ["screencast", "poll"])
async def test_an_idle_page_gives_as_many_frames_at_the_same_interval(config, site, strategy):
    async with looking_at(config, site.page("/", "still")) as sight:
        snaps, recording = await film(sight, strategy=strategy, interval_s=0.2)
    assert len(snaps) == 4
    assert len({snap.data for snap in snaps}) == 1
    assert sum(gaps(snaps)) == pytest.approx(0.6, abs=0.3)
    assert (recording.pumps > 0) is (strategy == "screencast")


async def test_an_idle_page_that_is_not_pumped_ends_the_recording_early(config, site):
    async with looking_at(config, site.page("/", "still")) as sight:
        with trio.fail_after(5):
            snaps, recording = await film(sight, pump=False)
    assert 1 <= len(snaps) < 4
    assert not recording.ran_out
    assert recording.pumps == 0


@pytest.mark.parametrize("ratio", [1, 2])
@pytest.mark.parametrize("strategy", ["screencast", "poll"])
async def test_an_element_on_a_scrolled_page_is_what_is_recorded(config, site, strategy, ratio):
    async with looking_at(config) as sight:
        await sight.emulate(800, 600, ratio=ratio)
        await sight.go(site.page("/", SCROLLED))
        await sight.run("scrollTo(0, 1400)")
        snaps, recording = await film(
            sight, strategy=strategy, target=Target("#box"), format="png"
        )
        clip = recording.clip
        assert (clip.x, clip.y, clip.width, clip.height) == (30, 1500, 120, 60)
        for snap in snaps:
            picture = seen(snap)
            if snap.part is not None:
                left, top, width, height = snap.part
                assert (width, height) == (120, 60)  # of a screencast: CSS px
                picture = picture.crop((left, top, left + width, top + height))
            assert all(is_near(color, GREEN) for _, color in picture.getcolors())


async def test_an_element_is_followed_while_the_page_scrolls(config, site):
    async with looking_at(config, site.page("/", SCROLLED)) as sight:
        await sight.run("scrollTo(0, 1400)")
        await sight.run("setInterval(() => scrollBy(0, -3), 20), 0")
        for strategy in ("screencast", "poll"):
            snaps, _ = await film(
                sight, strategy=strategy, target=Target("#box"), format="png", interval_s=0.05
            )
            for snap in snaps:
                picture = seen(snap)
                if snap.part is not None:
                    left, top, width, height = snap.part
                    picture = picture.crop((left, top, left + width, top + height))
                assert is_near(picture.getpixel((60, 30)), GREEN)


async def test_every_frame_is_acknowledged_and_the_screencast_is_always_stopped(config, site):
    async with looking_at(config, site.page("/", MOVING)) as sight:
        heard = []
        sight.page.session.listen(lambda event: heard.append(event.method))
        snaps, recording = await film(sight, count=10, interval_s=0)
        assert len(snaps) == 10
        assert recording.seen >= 10
        with trio.move_on_after(0.3):
            await film(sight, count=60, interval_s=1)
        await sight.page.settle()
        heard.clear()
        for _ in range(5):
            await sight.page.settle()
        assert "Page.screencastFrame" not in heard


async def test_frames_that_are_due_while_there_is_no_room_are_dropped_and_counted(
    config, site, monkeypatch
):
    monkeypatch.setattr(frame_capture, "QUEUE", 1)
    stored = []
    async with looking_at(config, site.page("/", MOVING)) as sight:

        async def slowly(snap):
            stored.append(snap)
            await sight.run("new Promise(done => setTimeout(done, 200))")

        _, recording = await film(sight, keep=slowly, count=4, interval_s=0)
    assert len(stored) == 4
    assert recording.dropped > 5


async def test_the_time_covers_everything_and_leaves_what_there_is(config, site):
    async with looking_at(config, site.page("/", MOVING)) as sight:
        for strategy in ("screencast", "poll"):
            began = trio.current_time()
            snaps, recording = await film(
                sight, seconds=1, strategy=strategy, count=60, interval_s=0.3
            )
            assert trio.current_time() - began < 1.5
            assert 2 <= len(snaps) <= 4
            assert recording.ran_out


@pytest.mark.parametrize("strategy", ["screencast", "poll"])
async def test_a_page_that_is_stuck_is_a_timeout_that_keeps_the_frames_before_it(
    config, site, strategy
):
    async with looking_at(config, site.page("/", "still")) as sight:
        await sight.run("setTimeout(() => { for (;;); }, 600), 0")
        snaps, recording = [], Recording()

        async def store(snap):
            snaps.append(snap)

        wanted = Wanted(
            deadline=trio.current_time() + 2, count=60, interval_s=0.1, strategy=strategy
        )
        with trio.fail_after(5), pytest.raises(CommandTimeoutError, match="Timed out"):
            await record(sight.page, wanted, store, recording)
        assert len(snaps) > 0
        sight.page.session.post("Runtime.terminateExecution")
        with trio.fail_after(5):
            assert len((await film(sight))[0]) == 4


async def test_an_element_that_is_not_there_or_not_to_be_seen_is_an_error(config, site):
    url = site.page("/", "<div id=box style='width:0;height:10px'></div>")
    async with looking_at(config, url) as sight:
        with pytest.raises(ElementHiddenError):
            await film(sight, target=Target("#box"))
        with pytest.raises(ElementNotFoundError):
            await film(sight, seconds=0.5, target=Target("#never"))


# --- the tool ---------------------------------------------------------------------------


@asynccontextmanager
async def engine_at(config, url):
    async with open_engine(config) as engine:
        await engine.tab().navigate(url)
        yield engine


def file_of(facts):
    return Path(facts["path"]).read_bytes()


async def call(engine, **arguments):
    answer = await capture_frames(
        engine, CaptureFramesArguments(**arguments), Call(lambda progress: None)
    )
    return json.loads(encode(answer.value)), answer.pictures


async def test_frames_are_files_with_their_times(config, site):
    async with engine_at(config, site.page("/", MOVING)) as engine:
        value, pictures = await call(
            engine, count=3, interval_ms=100, filename_prefix="run/a..b", timeout_ms=5000
        )
    assert pictures == ()
    assert (value["requested"], value["captured"], value["strategy"]) == (3, 3, "screencast")
    assert (value["pump"], value["pumpCount"], value["format"]) == ("screenshot", 0, "jpeg")
    assert value["extraCaptured"] > 0
    assert not {"clip", "shortBy", "dropped", "note", "preview"} & set(value)
    folder = config.output_path / "run"
    assert sorted(os.listdir(folder)) == [f"a..b-0{number}.jpg" for number in (1, 2, 3)]
    for number, frame in enumerate(value["frames"], 1):
        data = file_of(frame)
        assert (frame["index"], frame["size"]) == (number, len(data))
        assert (frame["width"], frame["height"]) == seen(data).size
    assert value["frames"][0]["t_ms"] == 0
    first, last = value["frames"][0], value["frames"][-1]
    assert last["t_ms"] == pytest.approx(200, abs=80)
    assert last["timestamp"] - first["timestamp"] == pytest.approx(last["t_ms"], abs=2)


async def test_an_element_of_a_screencast_is_cut_out_and_says_where_it_was(config, site):
    async with engine_at(config, site.page("/", SCROLLED)) as engine:
        value, _ = await call(engine, count=2, selector="#box", interval_ms=0)
    assert value["clip"] == {"x": 30, "y": 1500, "width": 120, "height": 60, "scale": 1}
    assert "same" in value["note"]
    for frame in value["frames"]:
        assert (frame["width"], frame["height"]) == (120, 60)
        assert is_near(seen(file_of(frame)).getpixel((60, 30)), GREEN)


@pytest.mark.parametrize(("preview", "kind"), [("sheet", "jpeg"), ("webp", "webp")])
async def test_a_preview_shows_all_frames_in_one_picture(config, site, preview, kind):
    async with engine_at(config, site.page("/", MOVING)) as engine:
        value, (picture,) = await call(engine, count=5, interval_ms=60, preview=preview)
    assert picture.mime_type == f"image/{kind}"
    image = opened(file_of(value["preview"]))
    assert image.size == (value["preview"]["width"], value["preview"]["height"])
    if preview == "webp":
        assert image.n_frames == 5
    assert value["captured"] == 5


async def test_what_was_captured_in_time_is_the_answer_and_not_an_error(config, site):
    async with engine_at(config, site.page("/", MOVING)) as engine:
        with trio.fail_after(5):
            value, _ = await call(engine, count=60, interval_ms=300, timeout_ms=1000)
    assert value["shortBy"] == 60 - value["captured"] > 50
    assert "time was up" in value["note"]


async def test_a_stuck_page_gives_what_it_has_and_the_next_call_works(config, site):
    async with engine_at(config, site.page("/", "still")) as engine:

        async def wedge(page):
            page.session.post(
                "Runtime.evaluate", {"expression": "setTimeout(() => { for (;;); }, 500)"}
            )

        await engine.tab().act(wedge)
        value, _ = await call(engine, count=60, interval_ms=100, timeout_ms=1500)
        assert 0 < value["captured"] < 60
        assert "Ended early" in value["note"]
        with trio.fail_after(10):
            value, _ = await call(engine, count=2, interval_ms=0)
        assert value["captured"] == 2


async def test_a_name_that_leads_out_is_refused_before_a_browser_starts(environment):
    missing = load(environment | {"CHROMIUM_PATH": "/nowhere"})
    async with open_engine(missing) as engine:
        for prefix in ("../x", "/etc/x", "a/../../b"):
            with pytest.raises(UnsafePathError):
                await call(engine, filename_prefix=prefix)


async def test_a_link_in_the_place_of_any_frame_is_refused_before_the_first_one(config, site):
    config.output_path.mkdir()
    (config.output_path / "frame-04.jpg").symlink_to("/etc/passwd")
    async with engine_at(config, site.page("/", "x")) as engine:
        with pytest.raises(UnsafePathError):
            await call(engine)
    assert os.listdir(config.output_path) == ["frame-04.jpg"]


async def test_a_frame_over_its_budget_is_an_error_and_those_before_it_are_kept(
    environment, site
):
    small = load(environment | {"MAX_IMAGE_BYTES": "900"})
    async with engine_at(small, site.page("/", "x" * 3000)) as engine:
        with pytest.raises(ScreenshotTooLargeError, match="frame 1"):
            await call(engine)


async def test_pictures_and_frames_over_the_protocol(environment, site):
    command = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*command, **environment) as (peer, _):
        await peer.initialize()
        await peer.call("browser_navigate", url=site.page("/", SCROLLED))
        shot = await peer.call(
            "browser_screenshot", selector="#box", format="webp", inline=False
        )
        facts = json.loads(text_of(shot))
        assert len(shot["content"]) == 1
        assert (facts["width"], facts["height"]) == (120, 60)
        assert facts["clip"]["y"] == 1500
        assert facts["path"].endswith(".webp")
        both = await peer.call("browser_screenshot", selector="#box", full_page=True)
        assert text_of(both).startswith("[INVALID_ARGS]")
        gone = await peer.call("browser_screenshot", selector="#never", timeout_ms=300)
        assert text_of(gone).startswith("[ELEMENT_NOT_FOUND]")
        assert "Element not found" in text_of(gone)
        frames = await peer.call("browser_capture_frames", count=2, preview="sheet")
        assert json.loads(text_of(frames))["captured"] == 2
        assert frames["content"][1]["mimeType"] == "image/jpeg"
