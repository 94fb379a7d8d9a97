"""Typing in Chromium: fields of every kind, and what a page sees of it."""

from __future__ import annotations

import json

import pytest
import trio

from tests.live import evaluate, live_page, until, within
from vfa.config import load
from vfa.errors import (
    ElementHiddenError,
    ElementNotFoundError,
    ElementNotTypeableError,
    ElementStaleError,
)
from vfa.page.locating import Target
from vfa.page.typing_text import PASTED_FROM, Text, type_into

pytestmark = pytest.mark.browser

SHORT = 0.5  # seconds for what is to fail


async def typed(page, selector, text, seconds=8.0, **how):
    return await within(type_into(page, Target(selector=selector), Text(text, **how)), seconds)


async def value(page, selector):
    found = f"document.querySelector({json.dumps(selector)})"
    return await evaluate(f"{found}.value ?? {found}.innerText", page)


FIELDS = """
<input id=text value=old><textarea id=area>old</textarea>
<input id=number type=number><input id=email type=email value="a@b"><input id=tel type=tel>
<input id=password type=password><input id=search type=search><input id=url type=url>
<input id=date type=date><input id=time type=time><input id=local type=datetime-local>
<input id=month type=month><input id=week type=week><input id=color type=color>
<input id=range type=range min=10 max=20 step=5>
<input id=short maxlength=5><label id=label>Name <input id=labelled></label>
<div id=rich contenteditable><p>Hello <b>bold</b></p></div>
<div contenteditable><p id=part>one</p><p id=other>two</p></div>
<div id=bare></div><div id=shut></div>
<script>
bare.attachShadow({ mode: 'open' }).innerHTML = '<input class=in>';
root = shut.attachShadow({ mode: 'closed' });
root.innerHTML = '<input class=deep><div class=edit contenteditable>x</div>';
</script>
"""

# (selector, text, arguments, value afterwards)
TYPED = [
    ("#text", "new", {}, "new"),
    ("#text", "er", {"clear": False}, "newer"),
    ("#text", "", {}, ""),
    ("#text", "", {}, ""),
    ("#text", 'It\'s (50%) "off" & #1!', {}, 'It\'s (50%) "off" & #1!'),
    ("#text", "مرحبا 漢字 👍🏽 é 👨‍👩‍👧 🇩🇪", {}, "مرحبا 漢字 👍🏽 é 👨‍👩‍👧 🇩🇪"),
    ("#text", "tab\there", {}, "tab\there"),
    ("#area", "one\ntwo\r\nthree", {}, "one\ntwo\nthree"),
    ("#area", "\nfour", {"clear": False}, "one\ntwo\nthree\nfour"),
    ("#number", "3.14", {}, "3.14"),
    ("#number", "-5", {}, "-5"),
    ("#number", "1e5", {}, "1e5"),
    ("#number", "0", {"clear": False}, "1e50"),
    ("#email", "x@y.z", {}, "x@y.z"),
    ("#email", ".com", {"clear": False}, "x@y.z.com"),
    ("#tel", "+49 30 1", {}, "+49 30 1"),
    ("#password", "Pä$$w0rd", {}, "Pä$$w0rd"),
    ("#search", "q", {}, "q"),
    ("#url", "http://a/?b=c&d", {}, "http://a/?b=c&d"),
    ("#date", "2024-02-29", {}, "2024-02-29"),
    ("#date", "", {}, ""),
    ("#time", "23:59", {}, "23:59"),
    ("#local", "2024-01-02T10:00", {}, "2024-01-02T10:00"),
    ("#month", "2024-02", {}, "2024-02"),
    ("#week", "2024-W07", {}, "2024-W07"),
    ("#color", "#FF8800", {}, "#ff8800"),
    ("#color", "#000000", {}, "#000000"),
    ("#range", "15", {}, "15"),
    ("#short", "1234567", {}, "12345"),
    ("#labelled", "by field", {}, "by field"),
    ("#rich", " end", {"clear": False}, "Hello bold end"),
    ("#rich", "new", {}, "new"),
    ("#part", "1", {"clear": False}, "one1"),
    ("#part", "changed", {}, "changed"),
    ("#bare >>> .in", "shadow", {}, None),
    (".deep", "closed", {}, None),
    (".edit", "y", {"clear": False}, None),
]


async def test_fields_take_what_is_typed(site, config):
    failed = []
    async with live_page(config, site.page("/", FIELDS)) as page:
        for selector, text, how, wanted in TYPED:
            try:
                result = await typed(page, selector, text, 3, **how)
                if wanted is not None:
                    found = await value(page, selector)
                    assert found == wanted
                    assert result.final_length == len(wanted.encode("utf-16-le")) // 2
            except Exception as error:  # named below
                failed.append(f"{selector} {text!r}: {error!r}")
        found = (
            "bare.shadowRoot.firstChild.value, root.firstChild.value, root.lastChild.innerText"
        )
        assert await evaluate(f"[{found}]", page) == ["shadow", "closed", "xy"]
        assert await value(page, "#other") == "two"
        result = await typed(page, "#label", "by label")
        assert await value(page, "#labelled") == "by label"
        assert (await typed(page, "#short", "123456")).note.endswith("(maxlength).")
    assert not failed, "\n".join(failed)


REFUSED = {
    "a checkbox": ("<input type=checkbox id=f>", "x", "browser_check"),
    "a radio button": ("<input type=radio id=f>", "x", "browser_check"),
    "a file field": ("<input type=file id=f>", "x", "browser_upload"),
    "a button": ("<button id=f>b</button>", "x", "browser_click"),
    "a submit button": ("<input type=submit id=f>", "x", "browser_click"),
    "a list": ("<select id=f><option>x</select>", "x", "browser_select_option"),
    "a paragraph": ("<p id=f>p</p>", "x", "not a text field"),
    "a disabled field": ("<input id=f disabled>", "x", "disabled"),
    "a field of a disabled fieldset": (
        "<fieldset disabled><input id=f></fieldset>",
        "x",
        "disabled",
    ),
    "an inert field": ("<div inert><input id=f></div>", "x", "inert"),
    "a read-only field": ("<input id=f readonly value=v>", "x", "read-only"),
    "letters for a number": ("<input id=f type=number>", "abc", "a number"),
    "a date in words": ("<input id=f type=date>", "Jan 2", "YYYY-MM-DD"),
    "a day that is none": ("<input id=f type=date>", "2023-02-29", "YYYY-MM-DD"),
    "a time past midnight": ("<input id=f type=time>", "25:00", "HH:MM"),
    "a colour that is none": ("<input id=f type=color>", "reddish", "#rrggbb"),
    "a number out of range": ("<input id=f type=range max=5>", "7", "from 0 to 5"),
    "nothing for a range": ("<input id=f type=range>", "", "from 0 to 100"),
    "a field that gives its focus away": (
        "<input id=f onfocus='g.focus()'><input id=g>",
        "x",
        "input#g",
    ),
}


async def test_what_takes_no_text_is_refused_and_left_alone(site, config):
    failed = []
    for number, (body, *_) in enumerate(REFUSED.values()):
        site.page(
            f"/{number}",
            body + "<script>seen=0;for(const k of ['keydown','input',"
            "'change'])addEventListener(k,()=>seen++,true)</script>",
        )
    async with live_page(config, "about:blank") as page:
        for number, (what, (_, text, words)) in enumerate(REFUSED.items()):
            url = site.url(f"/{number}")
            await page.session.call("Page.navigate", {"url": url})
            await page.documents.wait_until(
                lambda url=url: (
                    page.documents.url == url and page.documents.ready_state == "complete"
                )
            )
            try:
                with pytest.raises(ElementNotTypeableError, match=words):
                    await typed(page, "#f", text, SHORT)
                assert await evaluate("seen", page) == 0, "the page noticed"
            except (Exception, pytest.fail.Exception) as error:  # named below
                failed.append(f"{what}: {error!r}")
    assert not failed, "\n".join(failed)


async def test_missing_and_hidden_fields(site, config):
    async with live_page(config, site.page("/", "<input id=h hidden>")) as page:
        with pytest.raises(ElementNotFoundError, match="Element not found"):
            await typed(page, "#none", "x", SHORT)
        with pytest.raises(ElementHiddenError, match="not visible"):
            await typed(page, "#h", "x", SHORT)
        await evaluate("setTimeout(() => { h.hidden = false }, 150)", page)
        await typed(page, "#h", "x")
        assert await value(page, "#h") == "x"


async def test_a_page_sees_real_keys(site, config):
    body = """<input id=f value=old><script>log = []; for (const kind of ['keydown', 'keypress',
    'beforeinput', 'input', 'keyup', 'change']) f.addEventListener(kind, (e) => log.push(
    [kind, e.key ?? e.data ?? '', e.code ?? '', e.shiftKey ?? false, e.isTrusted]))</script>"""
    async with live_page(config, site.page("/", body)) as page:
        await typed(page, "#f", "aB")
        log = await evaluate("log", page)
        assert [(kind, what) for kind, what, *_ in log] == [
            ("keydown", "a"),
            ("keypress", "a"),
            ("beforeinput", "a"),
            ("input", "a"),
            ("keyup", "a"),
            ("keydown", "Shift"),
            ("keydown", "B"),
            ("keypress", "B"),
            ("beforeinput", "B"),
            ("input", "B"),
            ("keyup", "B"),
            ("keyup", "Shift"),
            ("change", ""),
        ]
        assert log[6][2:] == ["KeyB", True, True]
        assert all(entry[4] for entry in log[:-1])


CONTROLLED = """<input id=f><script>
// A field that is controlled as React does it: its value is what the state says, and a change
// is one only if the value differs from what was last written through the element itself.
state = ''; changes = 0;
const native = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
let tracked = '';
Object.defineProperty(f, 'value', { configurable: true, get() { return native.get.call(f) },
  set(next) { tracked = next; native.set.call(f, next) } });
f.addEventListener('input', () => {
  const next = native.get.call(f); if (next === tracked) return;
  tracked = next; changes += 1; state = next.toUpperCase().slice(0, 6); f.value = state; });
</script>"""


async def test_controlled_fields_hear_of_each_character(site, config):
    async with live_page(config, site.page("/", CONTROLLED)) as page:
        result = await typed(page, "#f", "abcdefgh")
        assert await evaluate("[state, f.value, changes]", page) == ["ABCDEF", "ABCDEF", 8]
        assert result.final_length == 6
        await typed(page, "#f", "")
        assert await evaluate("state", page) == ""


async def test_controlled_values_are_set_as_a_user_sets_them(site, config):
    body = CONTROLLED.replace("<input id=f>", "<input id=f type=date>").replace(
        ".toUpperCase().slice(0, 6)", ""
    )
    async with live_page(config, site.page("/", body)) as page:
        await typed(page, "#f", "2024-05-06")
        assert await evaluate("[state, changes]", page) == ["2024-05-06", 1]


async def test_listeners_that_prevent_keys_are_respected(site, config):
    body = '<input id=f onkeydown="if (!/[0-9]/.test(event.key)) event.preventDefault()">'
    async with live_page(config, site.page("/", body)) as page:
        result = await typed(page, "#f", "a1b2c3")
        assert await value(page, "#f") == "123"
        assert result.final_length == 3


async def test_a_newline_submits_a_single_line_field_once_at_its_end(site, config):
    body = """<form onsubmit="sent.push(f.value); return false"><input id=f></form>
    <script>sent = []</script>"""
    async with live_page(config, site.page("/", body)) as page:
        result = await typed(page, "#f", "one\ntwo\n")
        assert await evaluate("sent", page) == ["onetwo"]
        assert result.final_length == 6
        await typed(page, "#f", "three", submit=True)
        assert await evaluate("sent", page) == ["onetwo", "three"]


async def test_submitting_waits_for_the_next_page(site, config):
    site.page("/next", "<h1>there</h1>")
    body = "<form action=/next><input id=f name=f></form>"
    async with live_page(config, site.page("/", body)) as page:
        result = await typed(page, "#f", "x", submit=True)
        assert result.effects.navigated == site.url("/next?f=x")
        assert result.final_length == 1
        assert await evaluate("document.body.innerText", page) == "there"


SHORTCUTS = """<script>shortcuts = 0; addEventListener('keydown', (e) => {
if (e.target === document.body) shortcuts++ })</script>"""


async def test_a_field_that_is_taken_away_gets_no_more_keys_and_neither_does_the_page(
    site, config
):
    body = "<input id=f oninput='if (f.value.length == 3) f.remove()'>" + SHORTCUTS
    async with live_page(config, site.page("/", body)) as page:
        with pytest.raises(ElementStaleError, match="taken from the page"):
            await typed(page, "#f", "abcdefgh")
        assert await evaluate("shortcuts", page) == 0


async def test_a_field_that_loses_the_focus_gets_no_more_keys(site, config):
    body = "<input id=f oninput='if (f.value.length == 3) f.blur()'>" + SHORTCUTS
    async with live_page(config, site.page("/", body)) as page:
        with pytest.raises(ElementStaleError, match=r"lost the focus.*last 5 keys"):
            await typed(page, "#f", "abcdefgh")
        assert await evaluate("[shortcuts, f.value]", page) == [0, "abc"]


async def test_fields_that_hand_the_focus_on_are_followed(site, config):
    body = "".join(
        f"<input id=o{n} maxlength=1 oninput='this.nextElementSibling?.focus()'>"
        for n in range(4)
    )
    async with live_page(config, site.page("/", body)) as page:
        result = await typed(page, "#o0", "1234")
        assert await evaluate("[o0, o1, o2, o3].map((e) => e.value)", page) == list("1234")
        assert "input#o3" in result.note


async def test_a_field_that_is_drawn_anew_and_keeps_the_focus(site, config):
    body = """<div id=p></div><script>text = ''; draw = () => {
    p.innerHTML = '<input id=f>'; const f = p.firstChild; f.value = text; f.focus();
    f.setSelectionRange(9, 9);
    f.oninput = () => { text = f.value; draw() } }; draw()</script>"""
    async with live_page(config, site.page("/", body)) as page:
        result = await typed(page, "#f", "abcd")
        assert await value(page, "#f") == "abcd"
        assert result.final_length == 4
        assert "anew" in result.note


async def test_long_texts_are_inserted_at_once(site, config):
    text = "Lorem ipsum, ünïcödé 👍\n" * 1000
    assert len(text) > PASTED_FROM
    async with live_page(config, site.page("/", "<textarea id=f></textarea>")) as page:
        result = await typed(page, "#f", text, 5)
        assert await value(page, "#f") == text
        assert result.final_length == len(text.encode("utf-16-le")) // 2


async def test_a_deadline_in_the_middle_leaves_no_key_down(site, config):
    body = """<input id=f oninput="for (const end = performance.now() + 30;
    performance.now() < end;);"><script>down = new Set();
    addEventListener('keydown', (e) => down.add(e.code));
    addEventListener('keyup', (e) => down.delete(e.code))</script>"""
    async with live_page(config, site.page("/", body)) as page:
        with pytest.raises(trio.TooSlowError):
            await typed(page, "#f", "ABC " * 100, SHORT)
        await until("down.size", page, 0)
        await typed(page, "#f", "next")
        assert await value(page, "#f") == "next"


async def test_typing_in_frames_of_other_sites(site, environment):
    environment["VFA_CHROMIUM_ARGS"] += " --site-per-process"
    site.page("/inner", "<p style='height:900px'></p><input id=f><div id=e contenteditable>")
    inner = site.url("/inner").replace("127.0.0.1", "localhost")
    outer = site.page("/", f"<input id=own><iframe src='{inner}'></iframe>")
    async with live_page(load(environment), outer) as page:
        await typed(page, "#own", "own")
        result = await typed(page, "#f", "Hi مر 👍!")
        frame = result.element.frame
        assert frame.session.id != page.session.id
        assert result.final_length == 9
        assert (await typed(page, "#e", "漢b")).final_length == 2
        await typed(page, "#own", "!", clear=False)
        assert await value(page, "#own") == "own!"


async def test_text_is_not_in_errors(site, config):
    async with live_page(config, site.page("/", "<input id=f type=number>")) as page:
        with pytest.raises(ElementNotTypeableError) as caught:
            await typed(page, "#f", "my secret")
        assert "secret" not in str(caught.value) + caught.value.hint


# Editors that draw their text themselves: one has the browser tell it what is typed, the other
# has a field that nobody sees, from which it takes whatever arrives.
EDITORS = """<style>.clip { overflow: hidden; width: 3px; height: 0; position: relative }
.clip textarea { position: absolute; width: 900px; height: 1em }
#drawn { height: 0; overflow: hidden }</style>
<div id=drawn tabindex=0 role=textbox>drawn</div>
<textarea id=unseen style="opacity:0"></textarea>
<div id=lines style="height:40px">lines</div><div class=clip><textarea id=feed></textarea></div>
<script>
  edit = new EditContext({ text: 'drawn' });
  drawn.editContext = edit;
  const all = (e) => e.ctrlKey && e.key === 'a';
  drawn.onkeydown = (e) => { if (all(e)) edit.updateSelection(0, edit.text.length) };
  edit.ontextupdate = () => { drawn.textContent = edit.text };
  text = 'lines'; selected = false; ends = 0;
  feed.onkeydown = (e) => {
    if (all(e)) selected = true;
    if (e.ctrlKey && e.key === 'End') ends += 1;
    if (e.key === 'Backspace' && selected) { text = ''; selected = false }
  };
  feed.oninput = () => {
    text = (selected ? '' : text) + feed.value;
    selected = false; feed.value = ''; lines.textContent = text;
  };
</script>"""


async def test_editors_that_draw_their_text_themselves_are_typed_into(site, config):
    async with live_page(config, site.page("/", EDITORS)) as page:
        result = await typed(page, "#drawn", "new text")
        assert result.final_length == 8
        assert await evaluate("edit.text", page) == "new text"
        result = await typed(page, "#feed", "whole")
        assert await evaluate("text", page) == "whole"
        assert "read that" in result.note
        await typed(page, "#feed", " more", clear=False)
        assert await evaluate("[text, ends]", page) == ["whole more", 1]
        await typed(page, "#feed", "")
        assert await evaluate("text", page) == ""
        with pytest.raises(ElementHiddenError):
            await typed(page, "#unseen", "no", SHORT)
        await evaluate("unseen.focus()", page)  # as editors do when one clicks into them
        await typed(page, "#unseen", "yes")
        assert await value(page, "#unseen") == "yes"


TOLD = """<input id=a value=x><input id=b><x-field id=c></x-field><script>
log = [];
addEventListener('change', (e) => log.push(e.target.id + ' ' + e.target.value));
c.attachShadow({ mode: 'open' }).innerHTML = '<input id=in>';
c.shadowRoot.addEventListener('change', (e) => log.push('in ' + e.target.value));
</script>"""


async def test_listeners_hear_once_that_a_field_has_changed(site, config):
    async with live_page(config, site.page("/", TOLD)) as page:
        await typed(page, "#a", "one")
        assert await evaluate("log", page) == ["a one"]
        await typed(page, "#c >>> input", "inner")  # the first field is left
        await typed(page, "#b", "two")
        assert await evaluate("log", page) == ["a one", "in inner", "b two"]
        await typed(page, "#a", "three")
        await page.session.call("Input.insertText", {"text": "!"})
        await evaluate("a.blur()", page)
        assert await evaluate("log.slice(3)", page) == ["a three", "a three!"]
