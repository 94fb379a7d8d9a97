"""Dragging in Chromium: HTML drag and drop, sliders and sorters."""

from __future__ import annotations

import pytest
import trio

from tests.live import evaluate, live_page, until, within
from vfa.errors import ElementNotClickableError, ElementNotFoundError
from vfa.page.dragging import Drag, drag
from vfa.page.locating import Target
from vfa.page.pointer import Click, click

pytestmark = pytest.mark.browser


def named(selector):
    return Target(selector=selector)


async def dragged(page, source, destination=None, seconds=8.0, **how):
    onto = named(destination) if destination else None
    return await within(drag(page, Drag(named(source), onto, **how)), seconds)


BOARD = """<body style="margin:0">
<style>div { width: 100px; height: 60px; margin: 20px }</style>
<div id=card draggable=true>card</div><div id=basket>basket</div><div id=wall>wall</div>
<div style="height:2500px"></div><div id=far>far</div><button onclick="hits += 1">b</button>
<script>log = []; hits = 0;
for (const kind of ['dragstart', 'drop', 'dragend', 'mousedown', 'mouseup'])
  document.addEventListener(kind, (e) => log.push(kind + ' ' + e.target.id), true);
card.addEventListener('dragstart', (e) => e.dataTransfer.setData('text/plain', 'the card'));
for (const place of [basket, far]) {
  place.addEventListener('dragover', (e) => e.preventDefault());
  place.addEventListener('drop', (e) => {
    e.preventDefault(); e.stopImmediatePropagation();
    place.textContent = e.dataTransfer.getData('text/plain') });
}</script>"""


async def test_html_drag_and_drop(site, config):
    async with live_page(config, site.page("/", BOARD)) as page:
        result = await dragged(page, "#card", "#basket")
        assert result.mode == "html"
        assert await evaluate("basket.textContent", page) == "the card"
        log = await evaluate("log.splice(0)", page)
        assert log == [
            "mousedown card",
            "dragstart card",
            "drop basket",
            "dragend card",
            "mouseup basket",
        ]
        await within(click(page, named("button"), Click()))
        assert await evaluate("hits", page) == 1


async def test_a_destination_out_of_view_is_scrolled_to_on_the_way(site, config):
    async with live_page(config, site.page("/", BOARD)) as page:
        await dragged(page, "#card", "#far")
        assert await evaluate("far.textContent", page) == "the card"


async def test_a_refused_drop_is_an_error(site, config):
    async with live_page(config, site.page("/", BOARD)) as page:
        with pytest.raises(ElementNotClickableError, match="#wall refused the drop"):
            await dragged(page, "#card", "#wall")
        log = await evaluate("log", page)
        assert "dragend card" in log
        await dragged(page, "#card", "#basket")
        assert await evaluate("basket.textContent", page) == "the card"


async def test_nothing_is_picked_up_for_a_destination_that_is_not_there(site, config):
    async with live_page(config, site.page("/", BOARD)) as page:
        with pytest.raises(ElementNotFoundError):
            await dragged(page, "#card", "#nowhere", seconds=0.4)
        assert await evaluate("log", page) == []


SLIDER = """<body style="margin:0"><input id=slider type=range value=0
style="position:absolute;left:0;top:0;width:200px">
<div id=box style="position:absolute;left:20px;top:50px;width:40px;height:40px"></div><script>
moves = 0; up = 0; document.addEventListener('pointerup', () => up++);
box.onpointerdown = (e) => { box.setPointerCapture(e.pointerId); box.onpointermove = (m) => {
  moves += 1; held = m.buttons; box.style.left = m.clientX - 20 + 'px' } };
box.onpointerup = () => { box.onpointermove = null };</script>"""


async def test_pointers_move_what_listens_to_them(site, config):
    async with live_page(config, site.page("/", SLIDER)) as page:
        result = await dragged(page, "#box", offset=(150, 0), steps=8)
        assert (result.mode, result.moved) == ("pointer", True)
        assert await evaluate("box.style.left", page) == "170px"
        moves, held = await evaluate("[moves, held]", page)
        assert moves >= 8
        assert held == 1
        result = await dragged(page, "#slider", offset=(60, 0))
        assert result.moved
        assert await evaluate("Number(slider.value)", page) > 50


async def test_the_button_is_released_when_the_time_is_up(site, config):
    slow = """<script>box.addEventListener('pointermove', () => {
    for (const end = performance.now() + 60; performance.now() < end;); })</script>"""
    async with live_page(config, site.page("/", SLIDER + slow)) as page:
        with pytest.raises(trio.TooSlowError):
            await dragged(page, "#box", offset=(150, 0), steps=100, seconds=0.6)
        await until("up", page, 1)


async def test_a_covered_source_is_not_picked_up(site, config):
    cover = "<div id=o style='position:fixed;inset:0'></div>"
    async with live_page(config, site.page("/", SLIDER + cover)) as page:
        with pytest.raises(ElementNotClickableError, match="covered by div#o"):
            await dragged(page, "#box", offset=(50, 0), seconds=0.5)


async def test_a_drag_that_the_page_forbids_goes_on_with_the_pointer(site, config):
    body = """<body style="margin:0">
    <div id=a draggable=true style="width:50px;height:50px">a</div>
    <div id=b style="width:50px;height:50px;margin:50px">b</div><script>
    a.ondragstart = (e) => e.preventDefault(); b.onmouseup = () => { b.textContent = 'up' }
    </script>"""
    async with live_page(config, site.page("/", body)) as page:
        result = await dragged(page, "#a", "#b")
        assert (result.mode, result.changed) == ("pointer", True)
        assert await evaluate("b.textContent", page) == "up"


# A sorter of a common make: it moves what is dragged while the pointer passes over others, not
# while these are still on their way; and one that has no drag events looks now and then only.
SORTER = """<style>body { margin: 0 } li { height: 40px; list-style: none }</style>
<ul id=a><li draggable=true>1<li draggable=true>2<li draggable=true>3<li draggable=true>4</ul>
<ul id=b><li>1<li>2<li>3<li>4</ul><script>
const sorter = (list) => {
  let dragged = null, busy = null;
  const over = (place) => {
    if (!dragged || !place || place === dragged || place === busy || place.parentNode !== list)
      return;
    const after = dragged.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING;
    place[after ? 'after' : 'before'](dragged);
    busy = place;
    place.animate([{ opacity: 1 }, { opacity: 0.5 }], 100).onfinish = () => {
      if (busy === place) busy = null };
  };
  return { over, start: (e) => { requestAnimationFrame(() => { dragged = e.target }) },
           end: () => { dragged = null } };
};
const html = sorter(a), pointed = sorter(b);
a.ondragstart = html.start; a.ondragend = html.end;
let last = 0;
a.ondragover = (e) => { e.preventDefault();
  requestAnimationFrame((now) => { if (now > last) html.over(e.target); last = now }) };
let at = null;
b.onmousedown = (e) => { e.preventDefault(); pointed.start(e) };
addEventListener('mousemove', (e) => { at = e });
addEventListener('mouseup', pointed.end);
const under = () => document.elementFromPoint(at.clientX, at.clientY);
setInterval(() => { if (at) pointed.over(under()) }, 50);
</script>"""


@pytest.mark.parametrize("name", ["a", "b"])
async def test_a_list_that_sorts_itself_on_the_way_gets_the_time_it_needs(site, config, name):
    async with live_page(config, site.page("/", SORTER)) as page:
        order = f"[...{name}.children].map((each) => each.textContent).join('')"
        await dragged(page, f"#{name} li:nth-child(1)", f"#{name} li:nth-child(3)")
        assert await evaluate(order, page) == "2314"
        await dragged(page, f"#{name} li:nth-child(4)", f"#{name} li:nth-child(1)")
        assert await evaluate(order, page) == "4231"
