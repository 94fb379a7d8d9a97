"""Pictures of elements, clips and whole pages in a real Chromium."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import trio

from tests.looking import is_near, looking_at, seen
from tests.pictures import plain
from vfa.config import load
from vfa.engine import open_engine
from vfa.errors import (
    DialogError,
    ElementHiddenError,
    ElementNotFoundError,
    ElementStaleError,
    InvalidArgsError,
    ScreenshotTooLargeError,
)
from vfa.page import screenshot
from vfa.page.dialogs import Decision
from vfa.page.locating import Target, locate, ref_of
from vfa.page.screenshot import Shot
from vfa.page.viewing import Area
from vfa.tools import pictures
from vfa.tools.arguments import read_arguments
from vfa.tools.pictures import PICTURES
from vfa.tools.table import Call

pytestmark = pytest.mark.browser

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
WHOLE = Shot(full_page=True, format="png")
# What a page must look like afterwards: its scroll position, and its width without scroll bar.
STATE = (
    "[scrollX, scrollY, innerWidth, innerHeight, document.documentElement.clientWidth].join()"
)
STICKY = (
    "<style>*{margin:0}header{position:sticky;top:0;height:40px;background:#f00}"
    "footer{position:fixed;bottom:0;left:0;right:0;height:30px;background:#00f}"
    "section{height:3000px}</style><header></header><section></section><footer></footer>"
)


def spots(picture, color, x=10):
    """Return where runs of ``color`` begin and end in a column of a picture."""
    rows = [is_near(picture.getpixel((x, y)), color) for y in range(picture.height)]
    edges = zip([False, *rows], [*rows, False], strict=True)
    return [y for y, (before, after) in enumerate(edges) if before != after]


# --- elements and clips -----------------------------------------------------------------

LONG = (
    "<style>*{margin:0}</style><div style='height:1500px'></div>"
    "<div id=box style='margin-left:30px;width:120px;height:60px;background:#0f0'></div>"
    "<div style='height:3000px'></div>"
)


async def test_an_element_on_a_scrolled_page_is_exactly_what_is_in_the_picture(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        await sight.run("scrollTo(0, 1400)")
        capture = await sight.take(Shot(target=Target("#box"), format="png"))
        assert await sight.run("scrollY") == 1400  # it was in sight already
    assert (capture.width, capture.height) == (120, 60)
    assert seen(capture).getcolors() == [(120 * 60, GREEN)]
    assert capture.clip == Area(30, 1500, 120, 60)


async def test_an_element_out_of_sight_is_scrolled_into_view(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        capture = await sight.take(Shot(target=Target("#box"), format="png"))
        assert await sight.run("scrollY") > 1000
    assert seen(capture).getcolors() == [(120 * 60, GREEN)]


async def test_a_ref_names_an_element_and_a_stale_one_is_said_to_be_stale(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        ref = ref_of(sight.page, await locate(sight.page, Target("#box")))
        capture = await sight.take(Shot(target=Target(ref=ref), format="png"))
        assert seen(capture).getcolors() == [(120 * 60, GREEN)]
        await sight.run("document.querySelector('#box').remove()")
        with pytest.raises(ElementStaleError, match=ref):
            await sight.take(Shot(target=Target(ref=ref)))


async def test_an_element_in_frames_of_two_sites_is_found_where_the_screen_shows_it(
    config, site
):
    inner = "<body style='margin:0'><div style='height:700px'></div>"
    inner += "<div id=deep style='width:90px;height:50px;background:#0f0'></div>"
    inner += "<div style='height:700px'></div>"
    site.page("/inner", inner)
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    site.page("/outer", f"<div style='height:400px'></div><iframe src='{other}'></iframe>")
    url = site.page("/", "<div style='height:900px'></div><iframe src=/outer></iframe>")
    async with looking_at(config, url) as sight:
        with trio.fail_after(10):
            capture = await sight.take(Shot(target=Target("#deep"), format="png"))
    assert (capture.width, capture.height) == (90, 50)
    assert is_near(seen(capture).getpixel((45, 25)), GREEN)
    assert is_near(seen(capture).getpixel((2, 2)), GREEN)
    assert is_near(seen(capture).getpixel((87, 47)), GREEN)


async def test_an_element_that_moves_is_taken_when_it_has_come_to_rest(config, site):
    body = (
        "<style>*{margin:0}@keyframes in{from{transform:translateX(400px)}}"
        "#box{width:100px;height:50px;background:#0f0;animation:in .4s linear}</style>"
        "<div id=box></div>"
    )
    async with looking_at(config, site.page("/", body)) as sight:
        capture = await sight.take(Shot(target=Target("#box"), format="png"))
    assert capture.clip == Area(0, 0, 100, 50)
    assert seen(capture).getcolors() == [(5000, GREEN)]


@pytest.mark.parametrize("style", ["display:none", "visibility:hidden", "width:0", "opacity:0"])
async def test_an_element_that_cannot_be_seen_is_an_error_that_says_why(config, site, style):
    url = site.page("/", f"<div id=box style='height:10px;{style}'></div>")
    async with looking_at(config, url) as sight:
        with trio.fail_after(5), pytest.raises(ElementHiddenError, match="not visible"):
            await sight.take(Shot(target=Target("#box")))
        assert (await sight.take(Shot())).width


async def test_an_element_that_never_comes_is_not_found_before_the_time_is_up(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        with trio.move_on_after(0.5) as scope:
            with pytest.raises(ElementNotFoundError, match="#never"):
                await sight.take(Shot(target=Target("#never")))
        assert not scope.cancelled_caught
        with pytest.raises(InvalidArgsError, match="not a valid selector"):
            await sight.take(Shot(target=Target("##")))


async def test_an_element_larger_than_the_viewport_is_all_in_the_picture(config, site):
    body = (
        "<style>*{margin:0}header{position:sticky;top:0;height:40px;background:#f00}"
        "#tall{width:200px;height:1900px;background:#0f0}</style><header></header>"
        "<div style='height:700px'></div><div id=tall></div><div style='height:900px'></div>"
    )
    async with looking_at(config, site.page("/", body)) as sight:
        capture = await sight.take(Shot(target=Target("#tall"), format="png"))
    assert seen(capture).getcolors() == [(200 * 1900, GREEN)]  # and no header across it


async def test_an_element_is_right_where_writing_begins_on_the_right(config, site):
    body = (
        "<style>html{direction:rtl}*{margin:0}</style><div style='width:3000px;height:300px'>"
        "</div><div id=box style='width:100px;height:40px;background:#0f0;margin-right:900px'>"
    )
    async with looking_at(config, site.page("/", body)) as sight:
        capture = await sight.take(Shot(target=Target("#box"), format="png"))
    assert seen(capture).getcolors() == [(4000, GREEN)]


@pytest.mark.parametrize(
    ("clip", "start"), [(Area(10, 1480, 60, 40), 1300), (Area(10, 1480, 60, 40), 0)]
)
async def test_a_clip_is_of_the_page_whether_it_is_in_sight_or_not(config, site, clip, start):
    async with looking_at(config, site.page("/", LONG)) as sight:
        await sight.run(f"scrollTo(0, {start})")
        before = await sight.run(STATE)
        capture = await sight.take(Shot(clip=clip, format="png"))
        assert await sight.run(STATE) == before
    picture = seen(capture)
    assert picture.size == (60, 40)
    assert [picture.getpixel(at) for at in ((5, 35), (35, 10), (35, 35))] == [
        WHITE,
        WHITE,
        GREEN,
    ]


async def test_a_clip_ends_where_the_page_ends_and_one_outside_of_it_is_refused(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        capture = await sight.take(Shot(clip=Area(0, 4500, 100, 500), format="png"))
        assert (capture.width, capture.height) == (100, 60)
        with pytest.raises(InvalidArgsError, match="outside of the page"):
            await sight.take(Shot(clip=Area(0, 9000, 10, 10)))


async def test_a_scale_is_of_what_is_shown_and_is_no_truncation(config, site):
    async with looking_at(config, site.page("/", LONG)) as sight:
        width, height = await sight.run("[innerWidth, innerHeight]")
        for scale in (0.5, 2):
            for kind in ("jpeg", "webp"):
                capture = await sight.take(Shot(scale=scale, format=kind))
                assert capture.width == pytest.approx(width * scale, abs=1)
                assert capture.height == pytest.approx(height * scale, abs=1)
                assert (capture.scale, capture.truncated) == (scale, False)
        cut = await sight.take(Shot(scale=2, max_pixels=100_000))
        assert cut.truncated
        assert cut.width * cut.height <= 100_000


# --- whole pages ------------------------------------------------------------------------


async def test_what_is_fixed_or_sticky_is_once_in_a_whole_page_and_where_it_belongs(
    config, site, monkeypatch
):
    async with looking_at(config, site.page("/", STICKY)) as sight:
        await sight.run("scrollTo(0, 1200)")
        bottom = await sight.run("innerHeight")
        one = seen(await sight.take(WHOLE))
        monkeypatch.setattr(screenshot, "ONE_CLIP_PIXELS", 0)
        tiled = seen(await sight.take(WHOLE))
    for picture in (one, tiled):
        assert picture.height == 3040
        assert spots(picture, RED) == [0, 40]
        assert spots(picture, BLUE) == [bottom - 30, bottom]


async def test_a_page_is_afterwards_what_it_was_before(config, site):
    body = STICKY + (
        "<div id=inner style='height:300px;width:300px;overflow:auto'>"
        "<div style='height:4000px'></div></div><script>inner.scrollTop = 321;"
        "log = []; onresize = () => log.push([innerWidth, innerHeight].join('x'))</script>"
    )
    async with looking_at(config, site.page("/", body)) as sight:
        await sight.run("scrollTo(0, 1234)")
        inner = "[inner.scrollTop, inner.clientWidth].join()"
        before = await sight.run(STATE), await sight.run(inner)
        for _ in range(4):
            await sight.take(WHOLE)
            assert (await sight.run(STATE), await sight.run(inner)) == before


async def test_giving_up_on_a_whole_page_puts_the_page_back(config, site):
    async with looking_at(config, site.page("/", STICKY)) as sight:
        await sight.run("scrollTo(0, 1234)")
        before = await sight.run(STATE)
        with trio.move_on_after(0.2) as scope:
            await sight.take(WHOLE)
        assert scope.cancelled_caught
        assert await sight.run(STATE) == before


async def test_a_page_that_is_scrolled_and_wide_on_a_phone_is_put_back(config, site):
    body = "<style>*{margin:0}</style><div style='width:1400px;height:6000px'></div>"
    async with looking_at(config) as sight:
        await sight.emulate(390, 844, ratio=3, mobile=True)
        await sight.go(site.page("/", body))
        await sight.run("scrollTo(0, 1500)")
        before = await sight.run(STATE)
        await sight.take(Shot(full_page=True))
        assert await sight.run(STATE) == before


async def test_what_is_lazy_is_loaded_downwards_sideways_and_in_areas_of_their_own(
    config, site
):
    late = "<p id={0}>waiting</p>"
    body = (
        "<style>*{margin:0}</style><div style='width:4000px;height:2000px;position:relative'>"
        "<div style='position:absolute;left:3800px'>" + late.format("right") + "</div></div>"
        "<div id=area style='height:200px;width:400px;overflow:auto'>"
        "<div style='height:2500px'></div>" + late.format("inside") + "</div>"
        "<div style='height:1500px'></div>" + late.format("down") + "<script>"
        "const o = new IntersectionObserver(es => es.forEach(e => {"
        " if (e.isIntersecting) e.target.textContent = 'seen' }));"
        "for (const p of document.querySelectorAll('p')) o.observe(p)</script>"
    )
    async with looking_at(config, site.page("/", body)) as sight:
        capture = await sight.take(Shot(full_page=True))
        assert await sight.run("[right, inside, down].map(p => p.textContent).join()") == (
            "seen,seen,seen"
        )
    assert capture.css_width >= 4000


async def test_pictures_that_are_lazy_are_in_the_picture(config, site):
    site.pages["/green.png"] = (200, {"Content-Type": "image/png"}, plain(50, 50, color="lime"))
    body = "<style>*{margin:0}img{display:block}</style><div style='height:6000px'></div>"
    body += "<img src=/green.png loading=lazy width=50 height=50>"
    async with looking_at(config, site.page("/", body)) as sight:
        picture = seen(await sight.take(WHOLE))
    assert is_near(picture.getpixel((20, picture.height - 20)), GREEN)


async def test_a_page_that_grows_without_end_is_left_in_time(config, site):
    body = "<style>div{height:400px}</style><div id=end></div><script>setInterval(() => {"
    body += " if (end.getBoundingClientRect().top < 1500)"
    body += " for (let i = 0; i < 5; i++) end.before(document.createElement('div')) }, 5)"
    async with looking_at(config, site.page("/", body + "</script>")) as sight:
        with trio.fail_after(8):
            assert (await sight.take(Shot(full_page=True))).height > 400


async def test_a_page_of_30000_pixels_is_complete(config, site):
    body = "<style>*{margin:0}</style><div style='height:29900px'></div>"
    body += "<div style='height:100px;background:#0f0'></div>"
    async with looking_at(config, site.page("/", body)) as sight:
        with trio.fail_after(20):
            for kind in ("jpeg", "webp"):
                capture = await sight.take(Shot(full_page=True, format=kind))
                picture = seen(capture)
                assert capture.truncated
                assert is_near(picture.getpixel((50, picture.height - 10)), GREEN)
                assert is_near(picture.getpixel((50, picture.height // 2)), WHITE)
            with pytest.raises(ScreenshotTooLargeError):
                await sight.take(Shot(full_page=True, max_bytes=50, load_lazy=False))


@pytest.mark.parametrize(
    ("width", "height", "ratio", "mobile"), [(390, 844, 3, True), (800, 600, 2, False)]
)
async def test_sizes_are_foretold_at_any_device_so_that_one_capture_is_enough(
    config, site, monkeypatch, width, height, ratio, mobile
):
    grab, grabs = screenshot._grab, []

    async def counted(page, shot, clip, **more):
        grabs.append(clip)
        return await grab(page, shot, clip, **more)

    monkeypatch.setattr(screenshot, "_grab", counted)
    body = "<style>*{margin:0}</style><div style='width:2719px;height:4000px'></div>"
    async with looking_at(config) as sight:
        await sight.emulate(width, height, ratio=ratio, mobile=mobile)
        await sight.go(site.page("/", body))
        view = await sight.take(Shot())
        assert (view.width, view.height) == (width * ratio, height * ratio)
        assert (view.scale, view.pixel_ratio) == (1, ratio)
        whole = await sight.take(Shot(full_page=True, load_lazy=False))
        assert len(grabs) == 2
        assert 14_000_000 < whole.width * whole.height <= 16_000_000
        assert whole.css_width == 2719
        assert whole.width == pytest.approx(2719 * ratio * whole.scale, abs=2)


def documents(site):
    def raw(path, kind, body):
        site.pages[path] = (200, {"Content-Type": kind}, body)
        return site.url(path)

    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='1500'></svg>"
    clobber = (
        "<form name=documentElement style='height:300px;overflow:auto'><input name=scrollTo>"
        "<p style='height:900px'></form><img name=adoptedStyleSheets>"
    )
    return {
        "svg": raw("/a.svg", "image/svg+xml", svg),
        "xml": raw("/a.xml", "text/xml", "<a><b>text</b></a>"),
        "image": raw("/a.png", "image/png", plain(1200, 2000)),
        "json": raw("/a.json", "application/json", "{}"),
        "text": raw("/a.txt", "text/plain", "line\n" * 300),
        "frameset": raw("/f", "text/html", "<frameset cols='50%,50%'><frame src='/a.txt'>"),
        "no root": site.page("/1", "<script>document.documentElement.remove()</script>"),
        "clobbered": site.page("/2", clobber + "<p style='height:1500px'>"),
        "blank": "about:blank",
    }


async def test_documents_of_any_kind_can_be_taken(config, site):
    failed = {}
    async with looking_at(config) as sight:
        for name, url in documents(site).items():
            await sight.go(url)
            for shot in (Shot(), Shot(full_page=True), Shot(scale=0.5)):
                with trio.fail_after(10):
                    capture = await sight.take(shot)
                if not (capture.measured and seen(capture).size[0] > 300):
                    failed[name, shot.full_page] = capture.width
    assert failed == {}


# --- the tool ---------------------------------------------------------------------------


async def call(engine, **arguments):
    given = read_arguments(PICTURES[0], arguments, engine.config)
    answer = await pictures.screenshot(engine, given, Call(lambda progress: None))
    return answer.value, answer.pictures


async def call_again_and_again(engine, **arguments):
    while True:
        await call(engine, inline=False, **arguments)


async def test_a_page_that_is_stuck_costs_one_call_its_time_and_the_next_one_works(
    config, site
):
    stuck = site.page("/", "<script>setTimeout(() => { for (;;); }, 300)</script>x")
    async with open_engine(config) as engine:
        await engine.tab().navigate(stuck)
        for arguments in ({"full_page": True}, {}):
            with trio.move_on_after(2) as scope:
                await call_again_and_again(engine, **arguments)
            assert scope.cancelled_caught
            with trio.fail_after(10):
                assert (await call(engine))[0]["width"] > 300
            await engine.tab().navigate(stuck)


async def test_a_dialog_that_waits_is_named_and_does_not_hold_up_the_call(environment, site):
    asking = load(environment | {"VFA_DIALOGS": "ask"})
    url = site.page("/", "<script>setTimeout(() => confirm('Sure?'), 300)</script>x")
    async with open_engine(asking) as engine:
        await engine.tab().navigate(url)
        with trio.fail_after(5), pytest.raises(DialogError):
            await call_again_and_again(engine, full_page=True)
        with trio.fail_after(5), pytest.raises(DialogError):
            await call(engine)
        await engine.tab().answer_dialog(Decision(accept=True))
        with trio.fail_after(5):
            assert (await call(engine))[0]["width"] > 300


async def test_the_answer_says_what_is_in_the_picture_and_where_the_file_is(config, site):
    async with open_engine(config) as engine:
        await engine.tab().navigate(site.page("/", LONG))
        clip = {"x": 20, "y": 1490, "width": 50, "height": 40}
        facts, (picture,) = await call(engine, clip=clip, format="png", filename="a/b..c")
        assert facts["clip"] == clip
        assert (facts["width"], facts["height"], facts["measured"]) == (50, 40, True)
        assert (facts["scale"], facts["truncated"]) == (1, False)
        assert facts["path"] == str(config.output_path / "a" / "b..c.png")
        assert base64.b64decode(picture.data) == file_of(facts)
        facts, shown = await call(engine, inline=False, scale=0.5, format="webp")
        assert shown == ()
        assert "clip" not in facts
        assert facts["path"].endswith(".webp")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"full_page": True, "selector": "#a"}, "cannot be combined"),
        ({"ref": "e1", "clip": {"x": 0, "y": 0, "width": 1, "height": 1}}, "cannot be combin"),
        ({"selector": "#a", "ref": "e1"}, "exactly one"),
        ({"ref": "nonsense"}, "is not a ref"),
        ({"clip": {"x": -1, "y": 0, "width": 1, "height": 1}}, r"clip\.x must be a number"),
        ({"clip": {"x": 0, "y": 0, "width": 0, "height": 1}}, r"clip\.width must be"),
        ({"clip": {"x": 0, "y": 0}}, "clip"),
        ({"scale": 3}, "scale must be a number from 0.1 to 2"),
        ({"scale": 0}, "scale must be"),
    ],
)
async def test_arguments_are_refused_before_a_browser_starts(environment, arguments, words):
    nowhere = load(environment | {"CHROMIUM_PATH": "/nowhere"})
    async with open_engine(nowhere) as engine:
        with pytest.raises(InvalidArgsError, match=words):
            await call(engine, **arguments)


def file_of(facts):
    return Path(facts["path"]).read_bytes()
