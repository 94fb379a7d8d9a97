"""Going somewhere, reading, and taking pictures, in a real Chromium."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import partial

import msgspec
import pytest
import trio
from PIL import Image

from tests.tabs import evaluate, session_tab, session_tabs
from vfa.errors import (
    ElementNotFoundError,
    InvalidArgsError,
    NavigationFailedError,
    ScreenshotTooLargeError,
    TabGoneError,
)
from vfa.page import screenshot
from vfa.page.screenshot import Shot

pytestmark = pytest.mark.browser


def html(body, status=200, **headers):
    return (status, {"Content-Type": "text/html", **headers}, body)


# --- navigation -------------------------------------------------------------------------


async def test_a_redirect_chain_ends_where_it_leads(config, site):
    site.pages["/a"] = (302, {"Location": "/b"}, "")
    site.pages["/b"] = (301, {"Location": "/c"}, "")
    there = site.page("/c", "here", title="The end")
    async with session_tab(config) as (_, tab):
        place = await tab.navigate(site.url("/a"))
    assert (place.url, place.title, place.status) == (there, "The end", 200)
    assert place.remote_address == "127.0.0.1"


async def test_the_status_is_the_documents_own_and_not_a_frames(config, site):
    url = site.page("/", '<iframe src="/missing"></iframe>')
    async with session_tab(config) as (_, tab):
        assert (await tab.navigate(url)).status == 200
        assert (await tab.navigate(site.url("/missing"))).status == 404


@pytest.mark.parametrize("fragment", ["#", "#there"])
async def test_a_move_within_the_document_does_not_wait_for_a_load(config, site, fragment):
    url = site.page("/", "<p id=there>x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        asked = len(site.asked)
        with trio.fail_after(3):
            assert (await tab.navigate(url + fragment)).url == url + fragment
        assert len(site.asked) == asked


async def test_an_answer_without_content_leaves_the_page_and_says_so(config, site):
    url = site.page("/", "still here")
    site.pages["/nothing"] = (204, {}, "")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        with trio.fail_after(3):
            place = await tab.navigate(site.url("/nothing"))
        assert (place.url, place.status) == (url, 204)
        assert "204" in place.note
        assert await tab.get_text() == "still here"


async def test_a_download_leaves_the_page_and_says_so(config, site):
    url = site.page("/", "still here")
    disposition = {"Content-Disposition": "attachment; filename=x.bin"}
    site.pages["/file"] = (200, {"Content-Type": "application/x", **disposition}, b"data")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        with trio.fail_after(3):
            place = await tab.navigate(site.url("/file"))
        assert place.url == url
        assert "download" in place.note


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9999/", "ERR_CONNECTION_REFUSED"),
        ("http://no-such-host.example/", "ERR_NAME_NOT_RESOLVED"),
        ("http://127.0.0.1:22/", "ERR_UNSAFE_PORT"),
    ],
)
async def test_what_does_not_arrive_is_an_error_with_the_reason_and_advice(
    config, site, url, reason
):
    async with session_tab(config) as (_, tab):
        with trio.fail_after(10), pytest.raises(NavigationFailedError, match=reason) as caught:
            await tab.navigate(url)
        assert caught.value.net_error == f"net::{reason}"
        assert caught.value.hint
        assert (await tab.navigate(site.page("/", "x"))).status == 200


async def test_a_page_that_wants_to_keep_its_visitor_does_not_trap_the_tab(config, site):
    trap = "<script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>"
    first, second = site.page("/1", trap), site.page("/2", "free")
    async with session_tab(config) as (_, tab):
        await tab.navigate(first)
        await tab.act(partial(click, 20, 20))
        with trio.fail_after(5):
            assert (await tab.navigate(second)).url == second
        (dialog,) = tab.take_news().dialogs
        assert (dialog.kind, dialog.accepted) == ("beforeunload", True)


async def click(x, y, page):
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        await page.session.call("Input.dispatchMouseEvent", event)


async def test_dialogs_never_block_and_are_reported(config, site):
    url = site.page("/", "<script>alert('a'); confirm('b'); prompt('c')</script>done")
    async with session_tab(config) as (_, tab):
        with trio.fail_after(5):
            await tab.navigate(url)
        assert [(d.kind, d.message, d.accepted) for d in tab.take_news().dialogs] == [
            ("alert", "a", False),
            ("confirm", "b", False),
            ("prompt", "c", False),
        ]
        assert tab.take_news().dialogs == ()


@pytest.mark.parametrize(
    "redirect",
    [
        "<meta http-equiv=refresh content='0;url=/end'>",
        "<script>location.href = '/end'</script>",
        "<body onload=\"setTimeout(() => location.replace('/end'))\">",
    ],
)
async def test_a_redirect_by_the_page_itself_is_followed(config, site, redirect):
    site.pages["/start"] = html(redirect)
    end = site.page("/end", "arrived", title="End")
    async with session_tab(config) as (_, tab):
        place = await tab.navigate(site.url("/start"))
    assert (place.url, place.title) == (end, "End")


async def test_a_page_that_sends_the_tab_round_in_circles_is_left_alone(config, site):
    site.pages["/a"] = html("<meta http-equiv=refresh content='0;url=/b'>a")
    site.pages["/b"] = html("<meta http-equiv=refresh content='0;url=/a'>b")
    async with session_tab(config) as (_, tab):
        with trio.fail_after(10):
            place = await tab.navigate(site.url("/a"))
    assert "keeps navigating" in place.note


async def test_a_navigation_that_is_given_up_is_stopped_and_the_old_page_stays(config, site):
    url, slow = site.page("/", "the old page"), site.hang("/slow")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        with trio.move_on_after(0.5) as scope:
            await tab.navigate(slow)
        assert scope.cancelled_caught
        with trio.fail_after(3):
            assert (await tab.get_url()).url == url
            assert await tab.get_text() == "the old page"


async def test_a_read_waits_for_the_navigation_in_flight(config, site):
    old, new = site.page("/old", "old"), site.page("/new", "<p>new</p>")
    async with session_tab(config) as (_, tab):
        await tab.navigate(old)
        async with trio.open_nursery() as callers:
            callers.start_soon(tab.navigate, new)
            await trio.testing.wait_all_tasks_blocked()
            assert await tab.get_text() == "new"


async def test_about_blank_is_a_place_like_any_other(config):
    async with session_tab(config) as (_, tab):
        place = await tab.navigate("about:blank")
        assert (place.url, place.title, place.status) == ("about:blank", "", None)
        where = await tab.get_url()
        assert (where.url, where.title, where.ready_state) == ("about:blank", "", "complete")


async def test_a_link_to_a_new_tab_slows_nothing_down(config, site):
    site.page("/other", "other")
    url = site.page("/", "<a href=/other target=_blank style='position:fixed;inset:0'>x</a>")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        await tab.act(partial(click, 50, 50))
        with trio.fail_after(2):
            assert await tab.read(partial(evaluate, "document.hasFocus() || 1"))
            await tab.screenshot(Shot())
            assert (await tab.get_url()).url == url


# --- text -------------------------------------------------------------------------------


async def test_text_is_what_a_reader_sees_and_fields_give_their_value(config, site):
    body = (
        "<h1>Title</h1><p style='display:none'>hidden</p>"
        "<input id=i value=typed><textarea id=t>area</textarea>"
        "<select id=s><option>one<option selected>two</select>"
        "<svg><text id=svg>drawn</text></svg><p id=empty></p>"
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        assert "hidden" not in await tab.get_text()
        for selector, text in [
            ("h1", "Title"),
            ("#i", "typed"),
            ("#t", "area"),
            ("#s", "two"),
            ("#svg", "drawn"),
            ("#empty", ""),
        ]:
            assert await tab.get_text(selector) == text


async def test_text_of_an_element_that_comes_later_is_waited_for(config, site):
    body = "<script>setTimeout(() => document.body.append(Object.assign("
    body += "document.createElement('p'), {id: 'late', textContent: 'here'})), 300)</script>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        with trio.fail_after(3):
            assert await tab.get_text("#late") == "here"
        with trio.fail_after(0.3), pytest.raises(ElementNotFoundError):
            await tab.get_text("#never")
        assert await tab.get_text("#late") == "here"


@pytest.mark.parametrize("selector", ["##", "[", "'); alert(1); ('"])
async def test_a_selector_that_is_none_is_refused_at_once(config, site, selector):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        with trio.fail_after(2), pytest.raises(InvalidArgsError, match="not a valid selector"):
            await tab.get_text(selector)
        assert tab.take_news().dialogs == ()


async def test_text_with_lone_surrogates_and_controls_arrives(config, site):
    body = "<p id=p></p><script>p.textContent = 'a\\ud800b\\u0000c\\u2028d'</script>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        text = await tab.get_text("#p")
    assert text.startswith("a")
    assert "b" in text


async def test_a_page_that_breaks_its_own_world_does_not_break_ours(config, site):
    hostile = (
        "<p id=p>text</p><script>"
        "Document.prototype.querySelector = () => { throw 1 };"
        "Object.defineProperty(HTMLElement.prototype, 'innerText', {get: () => 'forged'});"
        "window.requestAnimationFrame = () => {}; window.Promise = null; Object.freeze(Object);"
        "window.MutationObserver = class { constructor() { throw 1 } };"
        "document.title = 'still a title'</script>"
    )
    async with session_tab(config) as (_, tab):
        with trio.fail_after(5):
            place = await tab.navigate(site.page("/", hostile))
            assert place.title == "still a title"
            assert await tab.get_text("#p") == "text"
            await tab.screenshot(Shot(full_page=True))


# --- console ----------------------------------------------------------------------------


async def test_the_console_is_kept_by_level_until_the_next_document(config, site):
    script = (
        "<script>console.log('l', 1, {a: 1}); console.info('i'); console.warn('w');"
        "console.error('e'); console.debug('d'); console.assert(false, 'wrong');"
        "setTimeout(() => { throw new TypeError('boom') })</script>"
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", script))
        levels = [m.level for m in (await tab.console("all", clear=False)).messages]
        assert levels == ["log", "info", "warning", "error", "debug", "error", "error"]
        texts = [m.text for m in (await tab.console("error", clear=True)).messages]
        assert texts == ["e", "Assertion failed: wrong", "[Exception] TypeError: boom"]
        assert (await tab.console("all", clear=False)).messages == ()
        await tab.navigate(site.page("/2", "<script>console.log('new')</script>"))
        (message,) = (await tab.console("all", clear=False)).messages
        assert (message.text, message.url) == ("new", site.url("/2"))


async def test_a_flood_on_the_console_is_bounded_and_counted(config, site):
    config = msgspec.structs.replace(config, max_console_messages=10)
    flood = "<script>for (let i = 0; i < 100; i++) console.log('x'.repeat(1e6) + i)</script>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", flood))
        console = await tab.console("all", clear=False)
    assert (len(console.messages), console.dropped) == (10, 90)
    assert max(len(m.text) for m in console.messages) < 11_000


# --- pictures ---------------------------------------------------------------------------


def opened(capture) -> Image.Image:
    return Image.open(io.BytesIO(capture.data)).convert("RGB")


async def test_a_viewport_picture_shows_what_is_scrolled_to(config, site):
    body = "<style>*{margin:0}</style><div style='height:2000px'></div>"
    body += (
        "<div style='height:2000px;background:#0f0'></div><script>scrollTo(0, 2000)</script>"
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        await tab.read(partial(evaluate, "scrollTo(0, 2000)"))
        capture = await tab.screenshot(Shot(format="png"))
    assert opened(capture).getpixel((100, 100)) == (0, 255, 0)
    assert capture.scroll_y == 2000
    assert (capture.scale, capture.truncated, capture.measured) == (1, False, True)


async def test_a_full_page_keeps_the_scroll_position_and_loads_what_is_lazy(config, site):
    body = (
        "<style>*{margin:0}</style><div style='height:3000px'></div><p id=late>waiting</p>"
        "<script>new IntersectionObserver(e => { if (e[0].isIntersecting) late.textContent ="
        " 'seen' }).observe(late)</script><div style='height:500px'></div>"
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        await tab.read(partial(evaluate, "scrollTo(0, 700)"))
        capture = await tab.screenshot(Shot(full_page=True))
        assert await tab.read(partial(evaluate, "scrollY")) == 700
        assert await tab.get_text("#late") == "seen"
    assert capture.height > 3500


async def test_a_picture_over_its_budget_is_scaled_and_never_cropped(config, site):
    body = "<style>*{margin:0}</style><div style='height:4000px;background:#00f'></div>"
    body += "<div style='height:100px;background:#f00'></div>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        capture = await tab.screenshot(Shot(full_page=True, max_pixels=200_000, format="png"))
        picture = opened(capture)
        assert picture.width * picture.height <= 200_000
        assert capture.truncated
        red, _, blue = picture.getpixel((picture.width // 2, picture.height - 2))
        assert red > blue
        with pytest.raises(ScreenshotTooLargeError, match="bytes"):
            await tab.screenshot(Shot(full_page=True, max_bytes=100))


async def test_the_page_of_3000_by_19400_pixels_is_captured(config, site):
    body = "<style>*{margin:0}</style><div style='width:3000px;height:19390px;background:#eee'>"
    body += "</div><div style='width:3000px;height:10px;background:#f00'></div>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        with trio.fail_after(30):
            capture = await tab.screenshot(Shot(full_page=True))
        picture = opened(capture)
        assert 15_000_000 < picture.width * picture.height <= 16_000_000
        assert abs(picture.height / picture.width - 19400 / 3000) < 0.01
        assert picture.getpixel((50, picture.height - 1))[1] < 150


async def test_what_one_capture_cannot_hold_is_put_together_from_tiles(
    config, site, monkeypatch
):
    monkeypatch.setattr(screenshot, "ONE_CLIP_PIXELS", 0)
    body = "<style>*{margin:0}</style>" + "".join(
        f"<div style='height:1000px;background:rgb({shade},0,0)'></div>"
        for shade in range(0, 250, 25)
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        tiled = await tab.screenshot(Shot(full_page=True, format="png"))
    picture = opened(tiled)
    assert picture.height == 10_000
    assert [picture.getpixel((10, y))[0] for y in range(500, 10_000, 1000)] == list(
        range(0, 250, 25)
    )


async def test_a_refused_capture_falls_back_to_tiles(config, site, monkeypatch):
    grab = screenshot._grab
    asked = []

    async def grab_only_small(page, shot, clip, **more):
        asked.append(clip)
        if clip is not None and clip["height"] > 6000:
            return b""  # what Chromium answers for a picture that its format cannot have
        return await grab(page, shot, clip, **more)

    monkeypatch.setattr(screenshot, "_grab", grab_only_small)
    body = "<style>*{margin:0}</style><div style='height:12000px;background:#0a0'></div>"
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", body))
        capture = await tab.screenshot(Shot(full_page=True))
    assert len(asked) > 2
    assert capture.height == 12_000
    assert opened(capture).getpixel((10, 11_990))[1] > 150


async def test_a_tab_that_closes_itself_is_replaced_and_that_is_said(config, site):
    url = site.page("/", "x")
    async with session_tabs(config) as (_, tabs):
        first = tabs.get()
        await first.navigate(url)
        with trio.fail_after(5):
            with suppress(TabGoneError):
                await first.read(lambda page: page.session.call("Page.close"))
                await first.get_url()
            where = await tabs.get().get_url()
        assert where.url == "about:blank"
        assert tabs.get() is not first
        assert "closed" in tabs.take_reset()
        assert (await tabs.get().navigate(url)).status == 200
