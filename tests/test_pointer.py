"""Clicking and hovering in Chromium: what is hit, what is not, and what is said of it."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from tests.live import evaluate, live_page, until, within
from vfa.config import load
from vfa.errors import (
    ElementHiddenError,
    ElementNotClickableError,
    ElementNotFoundError,
    ElementStaleError,
    InvalidArgsError,
)
from vfa.page.dialogs import Decision, Dialogs
from vfa.page.locating import Target
from vfa.page.pointer import Click, Place, click, hover
from vfa.page.pointer import _inverse as inverse

pytestmark = pytest.mark.browser

SHORT = 0.5  # seconds for what is to fail


def on_localhost(url: str) -> str:
    """The same server under the name of another site."""
    return url.replace("127.0.0.1", "localhost")


async def clicked(page, selector, seconds=8.0, **how):
    return await within(click(page, Target(selector=selector), Click(**how)), seconds)


# Each: what is on the page, the selector, and what must be true after the click.
HITS = {
    "a plain button": ("<button onclick='hit=1'>Go</button>", "button"),
    "one far below": (
        "<p style='height:3000px'></p><button onclick='hit=1'>Go</button>",
        "button",
    ),
    "one far to the right": (
        "<button style='position:absolute;left:4000px;top:50px' onclick='hit=1'>Go</button>",
        "button",
    ),
    "a link over several lines, whose middle is empty": (
        "<p style='width:200px'>lorem ipsum dolor sit amet <a href='#x' onclick='hit=1'>"
        "a link that goes on</a> and on and on and on</p>",
        "a",
    ),
    "a rotated element": (
        "<div style='width:200px;height:20px;margin:100px;transform:rotate(60deg)'"
        " onclick='hit=1'>slant</div>",
        "div",
    ),
    "a mostly covered button": (
        "<button style='width:200px;height:60px' onclick='hit=1'>Go</button>"
        "<div style='position:absolute;left:0;top:0;width:190px;height:200px'></div>",
        "button",
    ),
    "one that a sticky header would cover": (
        "<header style='position:sticky;top:0;height:70vh;background:#ccc'>head</header>"
        "<p style='height:1000px'></p><button onclick='hit=1'>Go</button>"
        "<p style='height:1000px'></p>",
        "button",
    ),
    "a checkbox hidden behind its label": (
        "<input type=checkbox id=c style='display:none' onchange='hit=1'>"
        "<label for=c>Agree to <a href='#terms'>terms</a></label>",
        "#c",
    ),
    "a transparent radio button in its label": (
        "<label style='display:block;padding:20px'><input type=radio style='opacity:0' "
        "onchange='hit=1'>One</label>",
        "input",
    ),
    "an icon in a button that lets the pointer through": (
        "<button onclick='hit=1'><svg width=20 height=20 style='pointer-events:none'>"
        "<rect width=20 height=20 /></svg></button>",
        "svg",
    ),
    "an item of a list that scrolls in a list that scrolls": (
        "<div style='height:200px;overflow:auto'><p style='height:900px'></p>"
        "<div style='height:100px;overflow:auto'><p style='height:900px'></p>"
        "<button onclick='hit=1'>Go</button></div></div>",
        "button",
    ),
    "a link around a floating picture": (
        "<a href='#x' onclick='hit=1'><img style='float:left;width:50px;height:50px'></a>",
        "a",
    ),
    "one in an open shadow tree": (
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = "
        "'<button onclick=\"hit=1\">Go</button>'</script>",
        "#host >>> button",
    ),
    "one in a closed shadow tree": (
        "<div id=host></div><script>host.attachShadow({mode: 'closed'}).innerHTML = "
        "'<button onclick=\"hit=1\">Go</button>'</script>",
        "button",
    ),
    "one in a frame": (
        '<p style="height:2000px"></p><iframe srcdoc="<p style=height:900px></p>'
        "<button onclick='parent.hit=1'>Go</button>\"></iframe>",
        "iframe >>> button",
    ),
    "one in a scaled and rotated frame": (
        '<iframe style="transform:rotate(30deg) scale(.7);border:9px solid" srcdoc="'
        "<button style='margin:60px' onclick='parent.hit=1'>Go</button>\"></iframe>",
        "button",
    ),
    "a frame itself": (
        '<iframe srcdoc="<body onclick=parent.hit=1 style=height:90px>"></iframe>',
        "iframe",
    ),
    "a box around a frame": (
        '<div style="width:300px">'
        '<iframe srcdoc="<body onclick=parent.hit=1 style=height:90px>"></iframe></div>',
        "div",
    ),
    "one whose page has names of its own for everything": (
        "<form><input name=parentNode><input name=matches><input name=id></form>"
        "<p id=addEventListener></p><p id=innerWidth></p>"
        "<form id=vfa><input name=getClientRects>"
        "<button type=button onclick='hit=1'>Go</button></form>",
        "#vfa button",
    ),
}


async def test_the_pointer_finds_its_way(site, config):
    for number, (body, _) in enumerate(HITS.values()):
        site.page(f"/{number}", f"<body style='margin:0'>{body}")
    failed = []
    async with live_page(config, "about:blank") as page:
        for number, (what, (_, selector)) in enumerate(HITS.items()):
            await page.session.call("Page.navigate", {"url": site.url(f"/{number}")})
            await page.documents.wait_until(
                lambda n=number: (
                    page.documents.url == site.url(f"/{n}")
                    and page.documents.ready_state == "complete"
                )
            )
            try:
                await clicked(page, selector, 3)
                assert await evaluate("window.hit", page) == 1, "it was not hit"
            except Exception as error:  # named below
                failed.append(f"{what}: {error!r}")
    assert not failed, "\n".join(failed)


async def test_a_click_says_where_and_what(site, config):
    body = "<body style='margin:0'><p style='margin:0;height:40px'></p>" + (
        "<button style='display:block;width:100px;height:20px'>b</button>" * 3
    )
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "button")
        assert (result.aimed.x, result.aimed.y) == (50, 50)
        assert result.aimed.element.matches == 3
        assert result.ref == "e1"
        assert not result.forced
        again = await within(click(page, Target(ref=result.ref), Click()))
        assert again.aimed.element.number == result.aimed.element.number


EVENTS = """
<button id=b style="width:80px;height:40px">b</button>
<script>log = []; for (const kind of ['mousedown','mouseup','click','dblclick','auxclick',
'contextmenu','keydown','keyup'])
document.addEventListener(kind, (e) => { log.push(kind + (e.button ?? '') +
(e.ctrlKey ? 'C' : '') + (e.shiftKey ? 'S' : '')); e.preventDefault(); });</script>
"""


async def test_buttons_counts_and_modifiers(site, config):
    async with live_page(config, site.page("/", EVENTS)) as page:

        async def log(**how):
            await evaluate("log.length = 0", page)
            await clicked(page, "#b", **how)
            await page.settle()
            return await evaluate("log", page)

        assert await log() == ["mousedown0", "mouseup0", "click0"]
        assert await log(button="right") == [
            "mousedown2",
            "contextmenu2",
            "mouseup2",
            "auxclick2",
        ]
        assert await log(button="middle") == ["mousedown1", "mouseup1", "auxclick1"]
        assert (await log(count=2))[-1] == "dblclick0"
        assert await log(modifiers=("Control", "Shift")) == [
            "keydownC",
            "keydownCS",
            "mousedown0CS",
            "mouseup0CS",
            "click0CS",
            "keyupC",
            "keyup",
        ]


# Each: the page, the selector, the error, what it must say.
MISSES = {
    "missing": ("<p>", "#nowhere", ElementNotFoundError, "Element not found"),
    "no selector": ("<p>", "##", InvalidArgsError, "not a valid selector"),
    "display none": (
        "<button id=b style='display:none'>b</button>",
        "#b",
        ElementHiddenError,
        "not visible.*display: none",
    ),
    "visibility hidden": (
        "<button id=b style='visibility:hidden'>b</button>",
        "#b",
        ElementHiddenError,
        "not visible.*visibility: hidden",
    ),
    "an ancestor's opacity": (
        "<div style='opacity:0'><button id=b>b</button></div>",
        "#b",
        ElementHiddenError,
        "not visible.*opacity: 0",
    ),
    "an option of a list": (
        "<select><option id=b>b</select>",
        "#b",
        ElementHiddenError,
        "browser_select_option",
    ),
    "no size": (
        "<button id=b style='width:0;height:0;padding:0;border:0;overflow:hidden'></button>",
        "#b",
        ElementHiddenError,
        "not visible.*no size",
    ),
    "closed details": (
        "<details><summary>s</summary><button id=b>b</button></details>",
        "#b",
        ElementHiddenError,
        "not visible",
    ),
    "covered": (
        "<button id=b>b</button><div id=overlay class='modal open' "
        "style='position:fixed;inset:0;background:red'></div>",
        "#b",
        ElementNotClickableError,
        r"covered by div#overlay\.modal",
    ),
    "covered by a frame": (
        "<button id=b>b</button><iframe id=ad style='position:fixed;inset:0;width:100%;"
        "height:100%'></iframe>",
        "#b",
        ElementNotClickableError,
        "covered by iframe#ad",
    ),
    "a frame that is covered": (
        "<iframe srcdoc='<button id=b>b</button>'></iframe><div id=o style='position:fixed;"
        "inset:0;background:red'></div>",
        "#b",
        ElementNotClickableError,
        "covered by div#o",
    ),
    "disabled": (
        "<button id=b disabled>b</button>",
        "#b",
        ElementNotClickableError,
        "disabled",
    ),
    "in a disabled fieldset": (
        "<fieldset disabled><button id=b>b</button></fieldset>",
        "#b",
        ElementNotClickableError,
        "disabled fieldset",
    ),
    "aria-disabled": (
        "<div aria-disabled=true><span id=b role=button>b</span></div>",
        "#b",
        ElementNotClickableError,
        "disabled",
    ),
    "the label of a disabled field": (
        "<label id=b><input type=checkbox disabled>b</label>",
        "#b",
        ElementNotClickableError,
        "disabled",
    ),
    "inert": (
        "<div inert><button id=b>b</button></div>",
        "#b",
        ElementNotClickableError,
        "inert",
    ),
    "pointer-events none": (
        "<div id=b style='pointer-events:none'>b</div>",
        "#b",
        ElementNotClickableError,
        "pointer-events: none",
    ),
    "clipped away": (
        "<div style='height:0;overflow:clip'><button id=b>b</button></div>",
        "#b",
        ElementNotClickableError,
        None,
    ),
}


async def test_what_cannot_be_clicked_is_told_why_and_nothing_is_done(site, config):
    watch = (
        "<script>hits = 0; for (const kind of ['pointerdown','mousedown','click'])"
        "addEventListener(kind, () => hits++, true)</script>"
    )
    for number, (body, *_) in enumerate(MISSES.values()):
        site.page(f"/{number}", f"{watch}{body}<p><button id=after>after</button>")
    failed = []
    async with live_page(config, "about:blank") as page:
        for number, (what, (_, selector, expected, words)) in enumerate(MISSES.items()):
            url = site.url(f"/{number}")
            await page.session.call("Page.navigate", {"url": url})
            await page.documents.wait_until(
                lambda url=url: (
                    page.documents.url == url and page.documents.ready_state == "complete"
                )
            )
            try:
                with pytest.raises(expected, match=words):
                    await clicked(page, selector, SHORT)
                assert await evaluate("hits", page) == 0, "the page noticed"
            except (Exception, pytest.fail.Exception) as error:  # named below
                failed.append(f"{what}: {error!r}")
    assert not failed, "\n".join(failed)


# Each: the page, and what happens to it while the click waits.
LATER = {
    "appears": ("<div id=p></div>", "p.innerHTML = '<button id=b onclick=hit=1>b</button>'"),
    "is shown": (
        "<button id=b style='display:none' onclick=hit=1>b</button>",
        "b.style.display = ''",
    ),
    "is enabled": ("<button id=b disabled onclick=hit=1>b</button>", "b.disabled = false"),
    "is uncovered": (
        "<button id=b onclick=hit=1>b</button><div id=o style='position:fixed;inset:0'></div>",
        "o.remove()",
    ),
    "is replaced": (
        "<div id=p><button id=b disabled>b</button></div>",
        "p.innerHTML = '<button id=b onclick=hit=1>b</button>'",
    ),
}


async def test_a_click_waits_until_it_can_be_done(site, config):
    failed = []
    for number, (body, change) in enumerate(LATER.values()):
        site.page(f"/{number}", f"<body>{body}<script>change = () => {{ {change} }}</script>")
    async with live_page(config, "about:blank") as page:
        for number, what in enumerate(LATER):
            url = site.url(f"/{number}")
            await page.session.call("Page.navigate", {"url": url})
            await page.documents.wait_until(
                lambda url=url: (
                    page.documents.url == url and page.documents.ready_state == "complete"
                )
            )
            await evaluate("setTimeout(change, 150); 1", page)
            try:
                await clicked(page, "#b")
                assert await evaluate("window.hit", page) == 1, "it was not hit"
            except Exception as error:  # named below
                failed.append(f"{what}: {error!r}")
    assert not failed, "\n".join(failed)


async def test_a_moving_element_is_hit_once_it_stands_still(site, config):
    body = """<style>@keyframes go { to { transform: translateX(400px) } }
    #b { animation: go .4s linear forwards }</style><button id=b>b</button>
    <script>b.onclick = (e) => { at = b.getBoundingClientRect().left }</script>"""
    async with live_page(config, site.page("/", body)) as page:
        await clicked(page, "#b")
        assert await evaluate("at", page) >= 400


async def test_an_element_that_never_stands_still_is_hit_all_the_same(site, config):
    body = """<style>@keyframes go { to { transform: translateX(40px) } }
    #b { animation: go .5s linear infinite alternate }</style>
    <button id=b style="width:200px" onclick="hit=1">b</button>"""
    async with live_page(config, site.page("/", body)) as page:
        await clicked(page, "#b")
        assert await evaluate("hit", page) == 1


async def test_an_overlay_that_appears_under_the_pointer_gets_no_click(site, config):
    body = """<button id=b onclick="hits.push('b')">b</button><div id=o
    style="display:none;position:fixed;inset:0;background:red"></div><script>hits = [];
    for (const kind of ['pointerdown', 'mousedown', 'mouseup', 'click'])
      o.addEventListener(kind, () => hits.push(kind));
    b.addEventListener('mousemove', () => { o.style.display = 'block' })</script>"""
    async with live_page(config, site.page("/", body)) as page:
        with pytest.raises(ElementNotClickableError, match="covered by div#o"):
            await clicked(page, "#b", 1)
        assert await evaluate("hits", page) == []
        # The guard has left: the overlay can be clicked, and the page goes on.
        await clicked(page, "#o")
        assert await evaluate("hits", page) == ["pointerdown", "mousedown", "mouseup", "click"]


async def test_an_overlay_that_leaves_again_only_delays_the_click(site, config):
    body = """<button id=b onclick="hits = (window.hits || 0) + 1">b</button>
    <div id=o style="display:none;position:fixed;inset:0"></div><script>
    b.addEventListener('mousemove', () => { o.style.display = 'block';
      setTimeout(() => o.remove(), 200) }, { once: true })</script>"""
    async with live_page(config, site.page("/", body)) as page:
        await clicked(page, "#b")
        assert await evaluate("hits", page) == 1


async def test_force_clicks_what_is_covered_but_not_what_is_hidden(site, config):
    body = """<button id=b onclick="hit=1">b</button><button id=h hidden>h</button>
    <div style="position:fixed;inset:0"></div>"""
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "#b", force=True)
        assert result.forced
        assert await evaluate("hit", page) == 1
        with pytest.raises(ElementHiddenError, match="not visible"):
            await clicked(page, "#h", SHORT, force=True)


async def test_force_uses_the_pointer_where_it_can(site, config):
    body = "<button id=b onclick='trusted=event.isTrusted'>b</button>"
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "#b", force=True)
        assert not result.forced
        assert await evaluate("trusted", page) is True


async def test_a_gone_ref_is_never_another_element(site, config):
    body = "<div id=p><button onclick='hit=1'>b</button></div>"
    async with live_page(config, site.page("/", body)) as page:
        ref = (await clicked(page, "button")).ref
        await evaluate("p.innerHTML = p.innerHTML; hit = 0", page)
        with pytest.raises(ElementStaleError):
            await within(click(page, Target(ref=ref), Click()), SHORT)
        assert await evaluate("hit", page) == 0


async def test_a_ref_that_goes_while_it_is_waited_for_is_stale(site, config):
    body = "<button id=b>b</button>"
    async with live_page(config, site.page("/", body)) as page:
        ref = (await clicked(page, "#b")).ref
        await evaluate("b.disabled = true; setTimeout(() => b.remove(), 150); 1", page)
        with pytest.raises(ElementStaleError):
            await within(click(page, Target(ref=ref), Click()), 3)


async def test_a_click_that_leaves_the_page_waits_for_the_next_one(site, config):
    site.page("/next", "<h1>there</h1>")
    body = "<a href=/next>go</a>"
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "a")
        assert result.effects.as_fields() == {"navigated": {"url": site.url("/next")}}
        assert await evaluate("document.body.innerText", page) == "there"
        result = await clicked(page, "h1")
        assert result.effects.as_fields() == {}


async def test_a_page_that_leaves_in_the_middle_of_the_click(site, config):
    site.page("/next", "<h1>there</h1>")
    body = "<button onmousedown='location.href = \"/next\"'>go</button>"
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "button")
        assert result.effects.navigated == site.url("/next")


async def test_moves_within_the_document_are_told(site, config):
    body = "<a href='#part'>go</a>"
    async with live_page(config, site.page("/", body)) as page:
        result = await clicked(page, "a")
        assert result.effects.as_fields() == {
            "navigated": {"url": site.url("/#part"), "sameDocument": True}
        }


async def test_a_page_that_does_not_arrive_costs_no_more_than_the_deadline(site, config):
    site.hang("/never")
    body = "<a href=/never>go</a>"
    async with live_page(config, site.page("/", body)) as page:
        began = trio.current_time()
        result = await clicked(page, "a", 1)
        assert trio.current_time() - began < 1
        assert result.effects.as_fields()["navigated"]["loading"]


async def test_a_dialog_that_is_held_does_not_hold_up_the_click(site, config):
    body = "<button onclick='answer = confirm(\"Sure?\")'>b</button>"
    async with live_page(config, site.page("/", body)) as page:
        page.dialogs = Dialogs("ask")
        await clicked(page, "button", 3)
        assert page.dialogs.held is not None
        _, decision = page.dialogs.answer(Decision(accept=True))
        await page.session.call("Page.handleJavaScriptDialog", {"accept": decision.accept})
        await until("window.answer", page)


async def test_two_frames_of_other_sites_deep(site, environment):
    environment["VFA_CHROMIUM_ARGS"] += " --site-per-process"
    site.page("/inner", "<p style='height:900px'></p><button onclick='hit=1'>Go</button>")
    inner = site.url("/inner")
    site.page("/middle", f"<p>m</p><iframe style='border:7px solid' src='{inner}'></iframe>")
    middle = on_localhost(site.url("/middle"))
    outer = site.page(
        "/",
        f"<p style='height:1500px'></p><iframe style='height:400px' src='{middle}'></iframe>",
    )
    async with live_page(load(environment), outer) as page:
        assert len({frame.session.id for frame in page.frames}) == 3
        for selector in ("button", "iframe >>> iframe >>> button"):
            result = await clicked(page, selector)
            frame = result.aimed.element.frame
            assert frame.url == inner
            assert await page.call("location", result=object, frame=frame)
            hit = await frame.session.call("Runtime.evaluate", {"expression": "hit"})
            assert hit["result"]["value"] == 1
            await frame.session.call("Runtime.evaluate", {"expression": "hit = 0"})
        hovered = await within(hover(page, Target(selector="button")))
        assert hovered.matches_hover


async def test_hovering(site, config):
    body = """<style>#menu { display: none } #top:hover #menu { display: block }
    button:hover { color: red }</style><div id=top>menu
    <div id=menu><button>b</button></div></div>
    <button id=far style="position:absolute;top:3000px">far</button><i id=h hidden>h</i>
    <button id=off disabled>off</button>"""
    async with live_page(config, site.page("/", body)) as page:
        over = partial(hover, page)
        assert (await within(over(Target(selector="#top")))).matches_hover
        assert (await within(over(Target(selector="#menu button")))).matches_hover
        assert (await within(over(Target(selector="#far")))).matches_hover
        assert (await within(over(Target(selector="#off")))).matches_hover
        with pytest.raises(ElementHiddenError, match="not visible"):
            await within(over(Target(selector="#h")), SHORT)
        with pytest.raises(ElementNotFoundError):
            await within(over(Target(selector="#none")), SHORT)
        await evaluate(
            "document.body.insertAdjacentHTML('beforeend',"
            "'<div id=o style=\"position:fixed;inset:0\"></div>'); 1",
            page,
        )
        result = await within(over(Target(selector="#far")))
        assert not result.matches_hover
        assert result.aimed.covered == "covered by div#o"


async def test_a_page_that_is_zoomed_out_like_on_a_phone(site, config):
    url = site.page(
        "/",
        "<div style='width:2000px;height:2000px'></div>"
        "<button style='position:absolute;left:1500px;top:900px' onclick='hit=1'>b",
    )
    async with live_page(config, url) as page:
        await page.session.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True},
        )
        await page.session.call("Page.reload")
        await page.documents.wait_until(lambda: page.documents.commits >= 2)
        await until("document.readyState", page, "complete")
        await clicked(page, "button")
        assert await evaluate("window.hit", page) == 1


async def test_a_page_notices_nothing_but_the_mouse(site, config):
    body = """<button>b</button><script>
    added = []; changes = 0; names = 0; names = Object.getOwnPropertyNames(window).length;
    new MutationObserver((list) => { changes += list.length }).observe(document,
      { subtree: true, childList: true, attributes: true, characterData: true });
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (kind, ...rest) {
      added.push(kind); return add.call(this, kind, ...rest) }</script>"""
    async with live_page(config, site.page("/", body)) as page:
        await clicked(page, "button")
        await within(hover(page, Target(selector="button")))
        told = await evaluate(
            "[Object.getOwnPropertyNames(window).length - names, changes, added.length]", page
        )
        assert told == [0, 0, 0]


def test_places_are_mapped_there_and_back():
    place = Place(10, 20, 0.5, 0.2, -0.3, 0.9)
    assert inverse(place, *place.point(7, 11)) == pytest.approx((7, 11))
    assert inverse(Place(0, 0, 0, 0, 0, 0), 1, 1) == (0, 0)
