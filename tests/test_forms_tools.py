"""Choosing, checking and filling forms, in real Chromium."""

from __future__ import annotations

import json
import logging
import re
from contextlib import asynccontextmanager

import pytest
import trio

from tests.fake_engine import FakeEngine
from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate
from vfa.config import Config, load
from vfa.engine import open_browser
from vfa.errors import (
    ElementHiddenError,
    ElementNotClickableError,
    ElementNotFoundError,
    InvalidArgsError,
    PageError,
)
from vfa.page.forms import Field, Wish, check, choose, fill, find_field, submit
from vfa.page.locating import Target
from vfa.page.navigation import navigate
from vfa.tools.arguments import read_arguments
from vfa.tools.forms import FORMS
from vfa.tools.table import Call

TOOLS = {tool.name: tool for tool in FORMS}


@asynccontextmanager
async def shown(config, url):
    async with open_browser(config) as browser, browser.page() as page:
        await navigate(page, url)
        yield page


async def refused(name, **arguments):
    """Return why a tool refuses arguments, before any browser starts."""
    tool = TOOLS[name]
    try:
        given = read_arguments(tool, arguments, Config())
        await tool.run(FakeEngine(Config()), given, Call(lambda progress: None))
    except InvalidArgsError as error:
        return error.message
    return "nothing was refused"


# --- without a browser ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("browser_select_option", {"selector": "a"}, "at least one of labels"),
        (
            "browser_select_option",
            {"selector": "a", "none": True, "labels": ["x"]},
            "at least one of labels",
        ),
        ("browser_select_option", {"labels": ["x"]}, "exactly one"),
        ("browser_select_option", {"selector": "a", "indexes": [-1]}, "indexes[0]"),
        ("browser_check", {"selector": "a", "ref": "e1"}, "exactly one"),
        ("browser_check", {"selector": "a >>> "}, "not a valid selector"),
        ("browser_fill_form", {"fields": []}, "fields must be a list"),
        ("browser_fill_form", {"fields": [{"value": "x"}]}, "fields[0]: provide exactly one"),
        (
            "browser_fill_form",
            {"fields": [{"label": "a", "value": "x"}, {"label": "a", "ref": "e1"}]},
            "fields[1]: provide exactly one of label",
        ),
        ("browser_fill_form", {"fields": [{"label": "a"}]}, "one of value, checked"),
        (
            "browser_fill_form",
            {"fields": [{"label": "a", "value": "x", "checked": True}]},
            "one of value, checked",
        ),
        ("browser_fill_form", {"fields": [{"label": " ", "value": "x"}]}, "is empty"),
        ("browser_fill_form", {"fields": [{"lable": "a"}]}, "did you mean label?"),
    ],
)
async def test_what_makes_no_sense_is_refused_before_a_browser_starts(name, arguments, words):
    assert words in await refused(name, **arguments)


# --- choosing -------------------------------------------------------------------------------


SELECTS = """<label for=color>Colour</label>
<select id=color><option value=r>Red</option><option value=g>  Green
 tea</option>
<optgroup label=Dark disabled><option value=b>Black</option></optgroup>
<option value=x disabled>Gone</option></select>
<select id=many multiple><option selected>one<option>two<option>three</select>
<select id=off disabled><option>a</select><select id=hid style="display:none"><option>a</select>
<select id=late></select><p id=not>no list</p>
<script>
  const log = [];
  for (const kind of ['input', 'change'])
    addEventListener(kind, ({ type, target, bubbles, composed }) =>
      log.push(`${type} ${target.id} ${bubbles} ${composed}`));
  setTimeout(() => { late.innerHTML = '<option>Now</option>' }, 200);
</script>"""


async def test_options_are_chosen_and_the_page_is_told_as_a_browser_tells_it(config, site):
    async with shown(config, site.page("/", SELECTS)) as page:
        color, many = Target("#color"), Target("#many")

        assert (await choose(page, color, Wish(values=("g",)))).labels == ("Green tea",)
        assert await evaluate("color.value", page) == "g"
        assert await evaluate("log.splice(0)", page) == [
            "input color true true",
            "change color true false",
        ]
        again = await choose(page, color, Wish(labels=("Green tea",)))
        assert (again.changed, again.selected) == (False, ("g",))
        assert await evaluate("log.splice(0)", page) == []
        assert (await choose(page, Target("label"), Wish(indexes=(0,)))).selected == ("r",)
        some = await choose(page, many, Wish(labels=("two",), indexes=(2,)))
        assert some.selected == ("two", "three")
        assert await evaluate("[...many.selectedOptions].length", page) == 2
        assert (await choose(page, many, Wish())).selected == ()
        assert (await choose(page, Target("#late"), Wish(labels=("Now",)))).changed is False


REFUSED = {
    "an option that is missing": (
        "#color",
        Wish(labels=("Blue",)),
        ElementNotFoundError,
        "Option not found: 'Blue'.*'Red', 'Green tea', 'Black', 'Gone'",
    ),
    "an option that is off": ("#color", Wish(values=("x",)), ElementNotClickableError, "'x'"),
    "one of a group that is": ("#color", Wish(values=("b",)), ElementNotClickableError, "off"),
    "two of a list for one": (
        "#color",
        Wish(values=("r", "g")),
        InvalidArgsError,
        "takes one option",
    ),
    "none of a list for one": ("#color", Wish(), InvalidArgsError, "takes one option"),
    "a list that is off": ("#off", Wish(indexes=(0,)), ElementNotClickableError, "disabled"),
    "a list nobody sees": ("#hid", Wish(indexes=(0,)), ElementHiddenError, "not visible"),
    "what is no list": (
        "#not",
        Wish(indexes=(0,)),
        InvalidArgsError,
        "is no list: it is p#not",
    ),
    "what is not there": (
        "#nope",
        Wish(indexes=(0,)),
        ElementNotFoundError,
        "Element not found",
    ),
}


async def test_what_cannot_be_chosen_is_refused_and_nothing_is_changed(config, site):
    failures = {}
    async with shown(config, site.page("/", SELECTS)) as page:
        for name, (selector, wish, kind, words) in REFUSED.items():
            try:
                with trio.fail_after(0.4):
                    await choose(page, Target(selector), wish)
                failures[name] = "it was chosen"
            except kind as error:
                if not re.search(words.replace("off", "disabled"), error.message):
                    failures[name] = error.message
            except (PageError, InvalidArgsError, trio.TooSlowError) as error:
                failures[name] = repr(error)
        assert await evaluate("log", page) == []
    assert failures == {}


async def test_a_choice_that_the_page_takes_back_is_no_success(config, site):
    stubborn = """<select id=a><option>one<option>two</select>
    <script>a.onchange = () => { a.selectedIndex = 0 }</script>"""
    async with shown(config, site.page("/", stubborn)) as page:
        with pytest.raises(PageError, match="did not keep the choice: 'one'"):
            await choose(page, Target("#a"), Wish(labels=("two",)))


LISTS = """<style>[role=option] { padding: 4px }</style>
<ul role=listbox id=box aria-label=Fruit>
  <li role=option aria-selected=true>Apple<li role=option aria-selected=false>Pear
  <li role=option aria-disabled=true>Stone</ul>
<ul role=listbox id=several aria-multiselectable=true>
  <li role=option aria-selected=true>One<li role=option aria-selected=false>Two
  <li role=option aria-selected=false>Three</ul>
<button id=choice role=combobox aria-haspopup=listbox aria-expanded=false aria-controls=menu
  >Choose</button>
<ul role=listbox id=menu hidden></ul>
<input id=typed role=combobox aria-expanded=false aria-controls=found>
<div role=listbox id=found hidden></div>
<ul role=listbox id=dead><li role=option aria-selected=false>Dead</ul>
<script>
  const mark = (list, row, more) => {
    for (const each of list.children) if (!more) each.ariaSelected = 'false';
    row.ariaSelected = more && row.ariaSelected === 'true' ? 'false' : 'true';
  };
  box.onclick = (e) => mark(box, e.target);
  several.onclick = (e) => mark(several, e.target, true);
  choice.onclick = () => {
    choice.ariaExpanded = 'true';
    menu.hidden = false;
    const rows = '<li role=option>Small<li role=option data-value=L>Large';
    setTimeout(() => { menu.innerHTML = rows }, 80);
  };
  menu.onclick = (e) => {
    choice.textContent = e.target.textContent;
    choice.ariaExpanded = 'false';
    menu.hidden = true;
  };
  typed.oninput = () => {
    found.hidden = false;
    typed.ariaExpanded = 'true';
    const words = ['Berlin', 'Bern'].filter((word) => word.startsWith(typed.value));
    found.innerHTML = words.map((word) => `<div role=option>${word}</div>`).join('');
  };
  found.onclick = (e) => { typed.value = e.target.textContent; found.hidden = true; };
</script>"""


async def test_lists_of_other_elements_are_opened_and_clicked(config, site):
    async with shown(config, site.page("/", LISTS)) as page:
        with trio.fail_after(15):
            pear = await choose(page, Target("#box"), Wish(labels=("Pear",)))
            assert (pear.labels, pear.changed) == (("Pear",), True)
            assert (await choose(page, Target("#box"), Wish(labels=("Pear",)))).changed is False
            await choose(page, Target("#several"), Wish(labels=("Two", "Three")))
            selected = "[...several.children].map((row) => row.ariaSelected)"
            assert await evaluate(selected, page) == ["false", "true", "true"]
            await choose(page, Target("#choice"), Wish(values=("L",)))
            assert await evaluate("choice.textContent", page) == "Large"
            await choose(page, Target("#typed"), Wish(labels=("Berlin",)))
            assert await evaluate("typed.value", page) == "Berlin"
        with trio.fail_after(0.5), pytest.raises(ElementNotFoundError, match="'Apple', 'Pear'"):
            await choose(page, Target("#box"), Wish(labels=("Plum",)))
        with trio.fail_after(0.5), pytest.raises(ElementNotClickableError, match="Stone"):
            await choose(page, Target("#box"), Wish(labels=("Stone",)))
        with pytest.raises(PageError, match="nothing shows that it is chosen"):
            await choose(page, Target("#dead"), Wish(labels=("Dead",)))


# As component libraries make them: what is chosen is shown beside the field, with no role.
COMBOS = """<style>[role=option] { padding: 4px } .sr { position: absolute; opacity: 0.01 }
[hidden] { display: none !important }</style>
<label for=one>Flavour of the day: Vanilla?</label>
<div class=pick data-many=""><div><span class=held></span><input id=one role=combobox
  aria-expanded=false size=4></div></div>
<div class=pick data-many=yes><div><span class=held></span><input id=many role=combobox
  aria-label=Several aria-expanded=false size=4></div></div>
<div class=pick data-many="" data-deaf=yes><div><span class=held></span><input id=deaf
  role=combobox aria-label=Deaf aria-expanded=false size=4></div></div>
<x-select id=pet><x-option role=option>Cat</x-option>
  <x-option role=option>Dog</x-option></x-select>
<div role=combobox id=tags aria-expanded=false tabindex=0><span id=chips></span>
  <input id=tag type=search aria-label=Tags>
  <div role=listbox aria-multiselectable=true id=tagged hidden></div></div>
<script>
  const NAMES = ['Chocolate', 'Strawberry', 'Vanilla'];
  for (const pick of document.querySelectorAll('.pick')) {
    const field = pick.querySelector('input'), held = pick.querySelector('.held');
    const several = pick.dataset.many === 'yes';
    const chosen = new Set();
    const open = () => {
      if (pick.querySelector('[role=listbox]')) return;
      field.ariaExpanded = 'true';
      const list = document.createElement('div');
      list.setAttribute('role', 'listbox');
      if (several) list.ariaMultiSelectable = 'true';
      list.id = field.id + '-list';
      field.setAttribute('aria-controls', list.id);
      const left = NAMES.filter((name) => !(several && chosen.has(name)));
      list.innerHTML = left.map((name) => `<div role=option>${name}</div>`).join('') +
        '<span class=sr aria-live=polite></span>';
      list.onmouseover = (e) => { list.lastChild.textContent = `${e.target.textContent} here` };
      list.onclick = (e) => {
        list.remove();
        field.ariaExpanded = 'false';
        if (pick.dataset.deaf) return;
        if (!several) chosen.clear();
        chosen.add(e.target.textContent);
        held.innerHTML = [...chosen].map((name) => `<b>${name}</b> `).join('');
      };
      pick.append(list);
    };
    field.onclick = open;
  }
  customElements.define('x-select', class extends HTMLElement {
    constructor() {
      super();
      const root = this.attachShadow({ mode: 'open' });
      root.innerHTML = `<input role=combobox readonly aria-expanded=false aria-controls=list
        aria-label=Pet><div id=list role=listbox hidden><slot></slot></div>`;
      const field = root.querySelector('input'), list = root.querySelector('div');
      field.onclick = () => { list.hidden = false; field.ariaExpanded = 'true' };
      this.onclick = (e) => {
        if (e.target.localName !== 'x-option') return;
        field.value = e.target.textContent;
        field.ariaExpanded = 'false';
        list.animate([{ opacity: 1 }, { opacity: 0 }], 150).onfinish = () => {
          list.hidden = true }; // whatever has opened it meanwhile
      };
    }
  });
  // The option that Enter would choose is "selected", though nobody has chosen it.
  const show = () => {
    if (!tagged.hidden) return;
    const left = ['Red', 'Green'].filter((name) => !chips.textContent.includes(name));
    tagged.innerHTML = left.map((name) =>
      `<div role=option aria-selected=false>${name}</div>`).join('');
    tagged.firstChild.ariaSelected = 'true';
    tagged.hidden = false;
    tags.ariaExpanded = 'true';
  };
  tags.onclick = show;
  tagged.onclick = (e) => {
    e.stopPropagation();
    chips.innerHTML += `<i>${e.target.textContent}</i> `;
    tagged.hidden = true;
    tags.ariaExpanded = 'false';
  };
</script>"""


async def test_what_a_combo_box_shows_beside_its_field_proves_the_choice(config, site):
    async with shown(config, site.page("/", COMBOS)) as page:
        with trio.fail_after(15):
            await choose(page, Target("#one"), Wish(labels=("Vanilla",)))
            held = "document.querySelector('.held').textContent.trim()"
            assert await evaluate(held, page) == "Vanilla"
            assert await evaluate("one.value", page) == ""
        with trio.fail_after(15), pytest.raises(PageError, match="nothing shows that"):
            await choose(page, Target("#deaf"), Wish(labels=("Vanilla",)))


async def test_a_list_that_closes_after_each_choice_is_opened_for_the_next(config, site):
    async with shown(config, site.page("/", COMBOS)) as page:
        with trio.fail_after(15):
            both = ("Chocolate", "Vanilla")
            result = await choose(page, Target("#many"), Wish(labels=both))
            assert (result.labels, result.changed) == (both, True)
            held = "many.previousSibling.textContent.trim()"
            assert await evaluate(held, page) == "Chocolate Vanilla"


async def test_a_component_whose_field_cannot_be_typed_into_is_chosen_from(config, site):
    async with shown(config, site.page("/", COMBOS)) as page:
        with trio.fail_after(15):
            value = "pet.shadowRoot.querySelector('input').value"
            await choose(page, Target("#pet >>> input"), Wish(labels=("Dog",)))
            assert await evaluate(value, page) == "Dog"
            await choose(page, Target("#pet"), Wish(labels=("Cat",)))
            assert await evaluate(value, page) == "Cat"
        with trio.fail_after(1.5), pytest.raises(ElementNotFoundError, match="'Cat', 'Dog'"):
            await choose(page, Target("#pet"), Wish(labels=("Fish",)))


async def test_the_option_that_is_only_active_is_not_taken_for_chosen(config, site):
    async with shown(config, site.page("/", COMBOS)) as page:
        with trio.fail_after(15):
            result = await choose(page, Target("#tag"), Wish(labels=("Red",)))
            assert result.changed
            assert await evaluate("chips.textContent", page) == "Red "
            await choose(page, Target("#tag"), Wish(labels=("Green",)))
            assert await evaluate("chips.textContent", page) == "Red Green "


async def test_an_option_that_is_not_the_active_one_leaves_that_alone(config, site):
    async with shown(config, site.page("/", COMBOS)) as page:
        with trio.fail_after(15):
            await choose(page, Target("#tag"), Wish(labels=("Green",)))
            assert await evaluate("chips.textContent", page) == "Green "


# --- checking -------------------------------------------------------------------------------


BOXES = """<style>.away { position: absolute; opacity: 0 } span { padding: 4px }</style>
<input type=checkbox id=box><input type=checkbox id=half>
<input type=radio name=r id=r1 checked><input type=radio name=r id=r2>
<label id=covering><input type=checkbox class=away id=covered><span>Under a label</span></label>
<div role=switch aria-checked=false id=switch tabindex=0>Switch</div>
<div id=wrap><b>Wrapped</b> <input type=checkbox id=wrapped></div>
<div role=checkbox aria-checked=false id=third>Third</div>
<input type=checkbox id=off disabled><input type=checkbox id=no onclick="return false">
<input type=checkbox id=away style="display:none"><p id=not>text</p>
<div id=redrawn></div>
<script>
  half.indeterminate = true;
  let clicks = 0;
  addEventListener('click', (e) => { clicks += e.isTrusted });
  document.querySelector('#switch').onclick = (e) => setTimeout(() => {
    e.target.ariaChecked = e.target.ariaChecked === 'true' ? 'false' : 'true' }, 100);
  third.onclick = () => {
    third.ariaChecked = third.ariaChecked === 'false' ? 'mixed' : 'true' };
  const draw = (on) => {
    redrawn.innerHTML = `<input type=checkbox id=fresh ${on ? 'checked' : ''}>`;
    fresh.onchange = () => draw(fresh.checked);
  };
  draw(false);
</script>"""


async def test_boxes_switches_and_radio_buttons_get_the_wanted_state(config, site):
    async with shown(config, site.page("/", BOXES)) as page:

        async def done(selector, checked=True):
            result = await check(page, Target(selector), checked=checked)
            assert result.checked is checked
            return result.changed

        assert [await done("#box"), await done("#box"), await done("#box", False)] == [
            True,
            False,
            True,
        ]
        assert await evaluate("clicks", page) == 2
        assert await done("#r2")
        assert await evaluate("[r1.checked, r2.checked]", page) == [False, True]
        assert not await done("#r1", False)
        assert await done("#covering")
        assert await done("#covered", False)
        assert await done("#switch")
        assert await done("#wrap")
        assert await done("#half")
        assert await evaluate("[half.checked, half.indeterminate]", page) == [True, False]
        assert await done("#fresh")


CANNOT = {
    "a radio button to be unchecked": ("#r1", False, InvalidArgsError, "cannot be unchecked"),
    "what has no state": ("#not", True, InvalidArgsError, "has no state to check: it is p#not"),
    "a box that is off": ("#off", True, ElementNotClickableError, "disabled"),
    "a box nobody sees": ("#away", True, ElementHiddenError, "not visible"),
    "a box that refuses": ("#no", True, PageError, "was clicked, but it is not checked"),
    "a box with a third state": ("#third", True, PageError, "neither checked nor not"),
}


async def test_what_cannot_be_checked_is_refused(config, site):
    failures = {}
    async with shown(config, site.page("/", BOXES)) as page:
        for name, (selector, checked, kind, words) in CANNOT.items():
            try:
                with trio.fail_after(1.5):
                    await check(page, Target(selector), checked=checked)
                failures[name] = "it was checked"
            except (PageError, InvalidArgsError, trio.TooSlowError) as error:
                if not isinstance(error, kind) or words not in str(error):
                    failures[name] = repr(error)
    assert failures == {}


async def test_a_box_that_leads_to_another_page_says_that_nobody_can_tell(config, site):
    site.page("/2", "<p>next</p>")
    leaving = "<input type=checkbox id=a onclick=\"location = '/2'\">"
    async with shown(config, site.page("/", leaving)) as page:
        done = await check(page, Target("#a"), checked=True)

        assert done.checked is None
        assert done.effects.navigated == site.url("/2")


# --- filling --------------------------------------------------------------------------------


FORM = """<form action=/sent method=get>
<label>Full name * <input name=name></label>
<label for=mail>E-mail:</label><input id=mail type=email>
<input aria-label=Password type=password name=secret>
<input placeholder="Your city" name=city>
<label>Born <input type=date name=born></label>
<label>Colour <select name=color><option value=r>Red<option value=g>Green</select></label>
<fieldset><legend>Size</legend><label><input type=radio name=size value=s>Small</label>
<label><input type=radio name=size value=l>Large</label></fieldset>
<label><input type=checkbox name=terms>I agree</label>
<label>File <input type=file></label>
<label>Note <textarea name=note></textarea></label>
<button type=button>Help</button><button>Send</button></form>"""

FIELDS = (
    Field(label="Full name *", value="Ada L."),
    Field(label="e-mail", value="ada@example.org"),
    Field(label="Password", value="s3cret-words"),
    Field(label="Your city", value="London"),
    Field(label="Born", value="1815-12-10"),
    Field(label="Colour", value="Green"),
    Field(label="Size", value="Large"),
    Field(label="I agree", checked=True),
    Field(target=Target("textarea"), value="a\nb"),
)


async def test_fields_of_every_kind_are_filled_by_their_labels_and_sent(
    config, site, caplog, monkeypatch
):
    site.page("/sent", "<p>thanks</p>")
    caplog.set_level(logging.DEBUG)
    async with shown(config, site.page("/", FORM)) as page:
        with trio.fail_after(20):
            filled = [await fill(page, field) for field in FIELDS]
            kinds = [each.kind for each in filled]
            assert kinds == ["text"] * 5 + ["select", "radio", "checkbox", "text"]
            assert filled[0].final_length == 6
            assert (filled[5].selected, filled[7].checked) == (("Green",), True)
            sent = await submit(page, filled[-1].ref)

        assert (sent.by, sent.effects.loaded) == ("button", True)
        assert (
            "name=Ada+L.&secret=s3cret-words&city=London&born=1815-12-10" in site.asked[-1][1]
        )
        assert "color=g&size=l&terms=on&note=a%0D%0Ab" in site.asked[-1][1]
    assert "s3cret" not in caplog.text


UNFIT = {
    "a label that is not there": (
        Field(label="Nickname", value="x"),
        "There are: 'Full name \\*'",
    ),
    "a file": (Field(label="File", value="x"), "browser_upload"),
    "a text for a box": (Field(label="I agree", value="yes"), "is a checkbox field"),
    "an option of a text": (Field(label="Born", option="x"), "has no options"),
    "a box that is none": (Field(label="Born", checked=True), "no state to check"),
    "a radio button that is not there": (
        Field(label="Size", option="Huge"),
        "The group has: 'Small', 'Large'",
    ),
    "an option that is not there": (Field(label="Colour", option="Blue"), "'Red', 'Green'"),
}


async def test_what_does_not_fit_a_field_is_refused(config, site):
    failures = {}
    async with shown(config, site.page("/", FORM)) as page:
        for name, (field, words) in UNFIT.items():
            try:
                with trio.fail_after(0.4):
                    await fill(page, field)
                failures[name] = "it was filled"
            except (PageError, InvalidArgsError, trio.TooSlowError) as error:
                if not re.search(words, str(error) + getattr(error, "hint", "")):
                    failures[name] = repr(error)
    assert failures == {}


async def test_a_field_is_found_in_a_frame_and_when_it_comes_later(environment, site):
    environment["VFA_CHROMIUM_ARGS"] += " --site-per-process"
    site.page("/inner", "<label>Deep <input id=deep></label>")
    url = site.url("/inner").replace("127.0.0.1", "localhost")
    body = f"""<iframe src='{url}'></iframe><div id=box></div><script>setTimeout(() => {{
    const inner = box.attachShadow({{mode: 'closed'}});
    inner.innerHTML = '<input aria-label=Late>' }}, 300)</script>"""
    async with shown(load(environment), site.page("/", body)) as page:
        with trio.fail_after(10):
            deep = await find_field(page, "Deep")
            assert deep.frame is not page.frames.main
            late = await fill(page, Field(label="late", value="abc"))
            assert late.final_length == 3


# --- through the server ---------------------------------------------------------------------


@pytest.mark.browser
async def test_the_server_fills_forms_and_says_how_far_it_came(environment, site):
    url = site.page("/", FORM + SELECTS)
    serve = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*serve, **environment, stderr=-1) as (peer, process):
        await peer.initialize()
        await peer.call("browser_navigate", url=url)
        chosen = json.loads(
            text_of(await peer.call("browser_select_option", selector="#color", values=["g"]))
        )
        assert chosen["selected"] == ["g"]
        box = json.loads(text_of(await peer.call("browser_check", selector="[name=terms]")))
        assert (box["checked"], box["changed"]) == (True, True)
        fields = [
            {"label": "Full name *", "value": "Ada"},
            {"label": "Password", "value": "s3cret-words"},
            {"label": "I agree", "checked": False},
        ]
        filled = json.loads(text_of(await peer.call("browser_fill_form", fields=fields)))
        assert [field["kind"] for field in filled["filled"]] == ["text", "text", "checkbox"]
        assert filled["filled"][1]["finalLength"] == 12
        fields[2] = {"label": "Colour", "value": "Blue"}
        failed = await peer.call("browser_fill_form", fields=fields, timeout_ms=1500)
        assert failed["isError"]
        words = text_of(failed)
        assert words.startswith("[ELEMENT_NOT_FOUND] Field 3 of 3 (label 'Colour')")
        assert "Filled before it: label 'Full name *', label 'Password'." in words
        process.terminate()
        said = b""
        with trio.fail_after(10):
            async for part in process.stderr:
                said += part
        assert b"browser_fill_form" in said
        assert b"s3cret" not in said
