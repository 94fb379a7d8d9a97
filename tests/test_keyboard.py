"""Keys as bursts of input events, and what a page sees of them."""

from __future__ import annotations

from collections import Counter
from contextlib import asynccontextmanager

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_cdp import FakeBrowser, MemoryTransport
from tests.live import evaluate, live_page, until, within
from vfa.cdp.connection import Connection
from vfa.cdp.session import Session
from vfa.errors import ElementHiddenError, ElementNotFoundError
from vfa.page.bursts import send
from vfa.page.keyboard import BURST, press, type_text
from vfa.page.keys import MODIFIERS, find_chord
from vfa.page.locating import Target
from vfa.page.page import Page
from vfa.page.typing_text import press_key

# --- pure -------------------------------------------------------------------------------


def held_after(burst):
    """Follow a burst; return what is still down, checking modifiers on the way."""
    down = Counter()
    for method, params in burst:
        if method == "Input.insertText":
            continue
        code = params["code"] or params["key"]
        if params["type"] == "keyUp":
            down[code] -= 1
            assert down[code] >= 0, f"{code} goes up twice"
        else:
            down[code] += 1
        bits = {name for name, bit in MODIFIERS.items() if params["modifiers"] & bit}
        held = {
            code.removesuffix("Left").removesuffix("Right")
            for code in down
            if down[code] and code.startswith(tuple(MODIFIERS))
        }
        assert bits == held, "the modifiers told are not those that are down"
    return +down


def typed(bursts):
    """Return the text that bursts make."""
    return "".join(
        params["text"]
        for burst in bursts
        for method, params in burst
        if method == "Input.insertText" or params.get("text")
    )


@given(st.text(max_size=200))
def test_every_burst_releases_what_it_presses(text):
    bursts = list(type_text(text))
    assert all(not held_after(burst) for burst in bursts)


@given(st.text(max_size=200))
def test_bursts_make_the_text(text):
    made = text.replace("\r\n", "\r").replace("\n", "\r")
    assert typed(type_text(text)) == made


@given(
    st.sampled_from(
        ["a", "A", "!", "Enter", "ArrowLeft", "Shift", "Numpad5", "é", "F5", "👨‍👩‍👧"]
    ),
    st.lists(st.sampled_from(sorted(MODIFIERS)), unique=True),
    st.integers(1, 5),
)
def test_a_chord_releases_what_it_presses(name, modifiers, repeat):
    assert not held_after(press(find_chord(name, modifiers), repeat))


def test_shift_is_held_for_a_run_of_characters_not_for_each():
    (burst,) = type_text("aBCd")
    shifts = [params["type"] for _, params in burst if params["key"] == "Shift"]
    assert shifts == ["rawKeyDown", "keyUp"]


def test_long_texts_are_sent_in_several_bursts():
    bursts = list(type_text("A" * (2 * BURST + 1)))
    assert [sum(bool(params.get("text")) for _, params in burst) for burst in bursts] == [
        BURST,
        BURST,
        1,
    ]


def test_no_text_is_made_while_control_is_held():
    assert not typed([press(find_chord("Control+a"))])
    assert typed([press(find_chord("Shift+a"))]) == "A"


def test_numpad_keys_say_so():
    (down, _) = press(find_chord("Numpad5"))
    assert down[1]["isKeypad"]


# --- a burst and its caller -------------------------------------------------------------


@asynccontextmanager
async def silent_page():
    """A page whose browser answers nothing, and takes commands once it is let to."""
    ours, theirs = MemoryTransport.pair()
    fake = FakeBrowser(theirs, {})
    connection = Connection(ours)
    async with trio.open_nursery() as nursery:

        async def take():
            nursery.start_soon(fake.run)
            nursery.start_soon(connection.run)
            await trio.testing.wait_all_tasks_blocked()

        yield Page(Session(connection, "S"), "T"), fake, take
        nursery.cancel_scope.cancel()


async def test_giving_up_before_a_burst_sends_nothing():
    async with silent_page() as (page, fake, take):
        with trio.CancelScope() as scope:
            scope.cancel()
            await send(page, press(find_chord("Control+k")))
        await take()
        assert fake.commands == []
        assert not page.acted


async def test_giving_up_on_a_burst_still_releases_its_keys():
    async with silent_page() as (page, fake, take):
        async with trio.open_nursery() as callers:
            callers.start_soon(send, page, press(find_chord("Control+k")))
            await trio.testing.wait_all_tasks_blocked()
            callers.cancel_scope.cancel()
        await take()
        kinds = [command["params"]["type"] for command in fake.commands]
        assert kinds == ["rawKeyDown", "rawKeyDown", "keyUp", "keyUp"]


async def test_keys_held_for_the_mouse_are_released_when_a_caller_gives_up(autojump_clock):
    async with silent_page() as (page, fake, take):
        with trio.move_on_after(1) as scope:
            then = [("Input.dispatchKeyEvent", {"type": "keyUp"})]
            await send(page, [("Input.dispatchMouseEvent", {})], then)
        assert scope.cancelled_caught
        await take()
        assert fake.heard == ["Input.dispatchMouseEvent", "Input.dispatchKeyEvent"]


# --- in Chromium ------------------------------------------------------------------------

LOGGING = """
<input id=field value=abc><button id=button>b</button><div id=plain>plain</div>
<div id=gone style="display:none" tabindex=0>hidden</div>
<script>
log = [];
for (const kind of ['keydown', 'keyup'])
  document.addEventListener(kind, (e) => log.push(
    [kind, e.key, e.code, e.keyCode, e.shiftKey, e.ctrlKey, e.location, e.target.id]));
</script>
"""


@pytest.mark.browser
async def test_a_page_sees_the_keys_of_a_real_keyboard(site, config):
    async with live_page(config, site.page("/", LOGGING)) as page:
        field = Target(selector="#field")

        async def pressed(name, target=None, modifiers=(), repeat=1):
            await evaluate("log.length = 0", page)
            chord = find_chord(name, modifiers)
            result = await within(press_key(page, target, chord, repeat))
            return result, await evaluate("log", page)

        result, log = await pressed(".", field)
        assert result.focused
        assert result.ref == "e1"
        assert log[0] == ["keydown", ".", "Period", 190, False, False, 0, "field"]
        assert await evaluate("field.value", page) in {".abc", "abc."}

        await pressed("a", field, ["Control"])
        _, log = await pressed("(", field)
        assert [entry[1] for entry in log] == ["Shift", "(", "(", "Shift"]
        assert log[1] == ["keydown", "(", "Digit9", 57, True, False, 0, "field"]
        assert await evaluate("field.value", page) == "("

        _, log = await pressed("Control+Shift+K", None)
        assert [(entry[0], entry[1]) for entry in log] == [
            ("keydown", "Control"),
            ("keydown", "Shift"),
            ("keydown", "K"),
            ("keyup", "K"),
            ("keyup", "Shift"),
            ("keyup", "Control"),
        ]
        assert log[2][4:6] == [True, True]

        _, log = await pressed("x", field, repeat=3)
        assert await evaluate("field.value", page) == "(xxx"
        _, log = await pressed("NumpadEnter", field)
        assert log[0][:4] == ["keydown", "Enter", "NumpadEnter", 13]
        assert log[0][6] == 3

        for character in ("é", "漢", "😀", "👨‍👩‍👧"):
            await pressed("Control+a", field)
            await pressed(character, field)
            assert await evaluate("field.value", page) == character

        result, _ = await pressed("Tab", field)
        assert await evaluate("document.activeElement.id", page) == "button"
        result, log = await pressed("a", Target(selector="#plain"))
        assert not result.focused  # and no other element gets the key
        assert log[0][7] == ""


@pytest.mark.browser
async def test_a_key_for_an_element_waits_for_it(site, config):
    async with live_page(config, site.page("/", LOGGING)) as page:
        chord = find_chord("Enter")
        with pytest.raises(ElementHiddenError, match="not visible"):
            await within(press_key(page, Target(selector="#gone"), chord, 1), 0.4)
        with pytest.raises(ElementNotFoundError, match="Element not found"):
            await within(press_key(page, Target(selector="#nowhere"), chord, 1), 0.4)
        assert await evaluate("log.length", page) == 0
        await evaluate("setTimeout(() => { gone.style.display = 'block' }, 100)", page)
        result = await within(press_key(page, Target(selector="#gone"), chord, 1))
        assert result.focused
        await until("log.length", page, 2)


RATING = """<x-rating id=stars></x-rating><script>
stars.attachShadow({ mode: 'open' }).innerHTML = '<b>Stars</b> <div tabindex=0>*</div>';
keys = '';
stars.shadowRoot.querySelector('div').onkeydown = (e) => { keys += e.key };
</script>"""


@pytest.mark.browser
async def test_a_key_for_a_component_goes_to_what_takes_the_focus_in_it(site, config):
    async with live_page(config, site.page("/", RATING)) as page:
        result = await within(press_key(page, Target(selector="#stars"), find_chord("End"), 1))
        assert result.focused
        assert await evaluate("keys", page) == "End"


@pytest.mark.browser
async def test_enter_that_submits_a_form_waits_for_the_next_page(site, config):
    site.page("/next", "<h1>there</h1>")
    url = site.page("/", "<form action=/next><input id=q name=q></form>")
    async with live_page(config, url) as page:
        result = await within(press_key(page, Target(selector="#q"), find_chord("Enter"), 1))
        assert result.effects.navigated.startswith(site.url("/next"))
        assert result.effects.loaded
        assert await evaluate("document.body.innerText", page) == "there"
