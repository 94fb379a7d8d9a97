"""Snapshots of real pages in real Chromium."""

from __future__ import annotations

import json
import re

import pytest
import trio

from tests.live import live_page as shown
from tests.tabs import evaluate
from vfa.config import load
from vfa.errors import ElementNotFoundError, ElementStaleError
from vfa.page.locating import Target, locate, ref_of
from vfa.page.navigation import navigate
from vfa.page.snapshot import Request, elements, outline

pytestmark = pytest.mark.browser


async def lines(page, **request):
    return (await outline(page, Request(**request))).text.splitlines()


async def body(page, **request):
    """The outline without the line that says which page it is."""
    return (await lines(page, **request))[1:]


async def listed(page, most=100, **options):
    return (await elements(page, most, **({"text": True} | options))).elements


def ref_in(said, words):
    (line,) = [line for line in said if words in line]
    return re.search(r"e\d+(?= \S+ '[^']*" + re.escape(words.strip("'")) + ")", line)[0]


# --- names, roles, states, values -------------------------------------------------------

NAMED = """
<label for=a>By for</label><input id=a>
<label>Wrapping <input id=b></label>
<span id=one>Two</span><span id=two hidden>hidden</span>
<input id=c aria-labelledby="one two">
<button id=d aria-label="By label">x</button>
<img id=e alt="By alt"><input type=image id=f alt="By image alt">
<button id=g title="By title"></button>
<input id=h placeholder="By placeholder">
<input type=submit id=i value="By value"><input type=submit id=j>
<button id=k><svg><title>By svg</title></svg></button>
<a id=l href=/>By <b>nested</b> <img alt=content></a>
<input type=file id=m aria-label="By file">
<select id=n aria-label=Choice><option value=1>One<option selected>Two</select>
<details><summary id=o>More</summary>inside</details>
<div id=p role=button tabindex=0>By role</div>
<textarea id=q title=Words>some</textarea>
<button id=r aria-describedby=one>Described</button>
<input type=range id=s min=-1 max=1 value=0><input type=number id=t value=0>
<input type=date id=u value=2024-01-02><input type=color id=v><input type=time id=w>
<div id=x contenteditable aria-label=Rich>rich <i>text</i></div>
<input type=checkbox id=y checked><input type=radio id=z disabled>
"""
NAMES = {
    "a": ("textbox", "By for"),
    "b": ("textbox", "Wrapping"),
    "c": ("textbox", "Two hidden"),
    "d": ("button", "By label"),
    "f": ("button", "By image alt"),
    "g": ("button", "By title"),
    "h": ("textbox", "By placeholder"),
    "i": ("button", "By value"),
    "j": ("button", "Submit"),
    "k": ("button", "By svg"),
    "l": ("link", "By nested content"),
    "m": ("button", "By file"),
    "n": ("combobox", "Choice"),
    "o": ("disclosure", "More"),
    "p": ("button", "By role"),
    "q": ("textbox", "Words"),
    "u": ("date", ""),
    "v": ("color", ""),
    "w": ("time", ""),
    "x": ("textbox", "Rich"),
}


@pytest.fixture(params=["computed", "by markup"])
def named(request, environment):
    """Settings of a browser that computes names, and of one where the markup must do."""
    if request.param == "by markup":
        environment["VFA_CHROMIUM_ARGS"] += (
            " --disable-blink-features=ComputedAccessibilityInfo"
        )
    return load(environment)


async def test_elements_have_the_names_and_roles_that_browsers_give_them(named, site):
    async with shown(named, site.page("/", NAMED)) as page:
        found = {element["selector"]: element for element in await listed(page)}

        said = {id_: found[f"#{id_}"] for id_ in NAMES}
        names = {id_: (each["role"], each["name"]) for id_, each in said.items()}
        assert names == NAMES
        assert found["#r"]["description"] == "Two"
        assert (found["#s"]["value"], found["#t"]["value"]) == (0, 0)
        assert found["#u"]["value"] == "2024-01-02"
        assert found["#x"]["value"] == "rich text"
        assert found["#n"]["value"] == "Two"
        assert found["#y"]["state"]["checked"] == "true"
        assert found["#z"]["state"] == {"disabled": True, "checked": "false"}
        assert found["#a"]["state"] == {"readonly": False, "required": False}


async def test_what_the_contract_lists_is_what_chromiums_tree_has(config, site):
    async with shown(config, site.page("/", NAMED)) as page:
        ours = await listed(page)
        tree = await page.session.call("Accessibility.getFullAXTree")
        theirs = set()
        for node in tree["nodes"]:
            if node.get("ignored") or "backendDOMNodeId" not in node:
                continue
            theirs.add((node["role"]["value"], node["name"]["value"]))

        plain = {"button", "link", "textbox", "checkbox", "radio", "combobox", "option"}
        for element in ours:
            if element["role"] in plain and element["selector"] not in ("#m", "#x"):
                assert (element["role"], element["name"]) in theirs


async def test_passwords_are_dots_and_include_text_leaves_values_out(config, site):
    form = "<input type=password value=secret><input id=t value=plain>"
    async with shown(config, site.page("/", form)) as page:
        password, plain = await listed(page)
        assert (password["value"], plain["value"]) == ("••••••", "plain")
        assert all("value" not in each for each in await listed(page, text=False))
        assert "secret" not in "".join(await lines(page))


async def test_hidden_things_are_left_out_and_hidden_fields_stand_at_their_labels(config, site):
    things = """<button style='display:none'>gone</button>
    <button style='visibility:hidden'>unseen</button>
    <div aria-hidden=true>icon</div><div inert><button>inert</button></div>
    <input type=checkbox id=c style='display:none'><label for=c>Promoted</label>
    <details><summary>Closed</summary><a href=/>inside</a></details>"""
    async with shown(config, site.page("/", things)) as page:
        said = await body(page)

        assert [line.split(" ", 1)[1] for line in said] == [
            "checkbox 'Promoted'",
            "disclosure 'Closed' [collapsed]",
        ]


async def test_what_looks_clickable_is_listed_without_a_role(config, site):
    things = """<div style='cursor:pointer'>pointer <b>in one</b></div>
    <span onclick='1'>handler</span><div tabindex=0>focusable</div>
    <li style='cursor:pointer'><a href=/x>only a link</a></li>"""
    async with shown(config, site.page("/", things)) as page:
        said = [line.split(" ", 1)[1] for line in await body(page)]

        assert said == [
            "clickable 'pointer in one'",
            "clickable 'handler'",
            "clickable 'focusable'",
            "link 'only a link' /x",
        ]


DRAWN = """<canvas id=plain>Get a newer browser</canvas>
<canvas aria-label="Votes by year" width=90 height=40></canvas>
<canvas width=1 height=1></canvas>
<canvas hidden></canvas><video width=90 height=40></video>
<div role=combobox aria-label=Tags aria-expanded=false>red<div role=listbox hidden>
<div role=option>red</div><div role=option>green</div></div></div>"""


async def test_what_is_drawn_or_played_is_in_the_outline(config, site):
    async with shown(config, site.page("/", DRAWN)) as page:
        said = [line.split(" ", 1)[1] for line in await body(page)]

        assert said == [
            "canvas",
            "canvas 'Votes by year'",
            "video",
            "combobox 'Tags' = 'red' [collapsed]",
        ]


async def test_a_modal_dialog_hides_the_page_behind_it(config, site):
    modal = "<button>behind</button><dialog id=d><button>in front</button></dialog>"
    modal += "<script>d.showModal()</script>"
    async with shown(config, site.page("/", modal)) as page:
        said = "\n".join(await body(page))

        assert "modal dialog" in said
        assert "in front" in said
        assert "behind'" not in said


async def test_headings_and_landmarks_are_listed_on_request(config, site):
    things = "<main><h2>Title</h2><a href=/>x</a></main><nav><a href=/y>y</a></nav>"
    async with shown(config, site.page("/", things)) as page:
        assert [each["role"] for each in await listed(page)] == ["link", "link"]
        both = await listed(page, headings=True, landmarks=True)
        assert [each["role"] for each in both] == [
            "main",
            "heading",
            "link",
            "navigation",
            "link",
        ]
        assert both[1]["level"] == 2


# --- selectors --------------------------------------------------------------------------

AWKWARD = """
<button>same</button><button>same</button><div><button>same</button></div>
<input type=radio name=r value=1><input type=radio name=r value=2>
<a href="/a?b=1&c='x'">q</a><a href=/b>w</a><a href=/b>w again</a>
<button id="a:b">colon</button><button id=1x>digit</button>
<button id=dup>first</button><button id=dup>second</button>
<input name='quote"d'><button aria-label='back\\slash'>y</button>
<select id=s><option value=1>One</select><select><option value=1>One</select>
<button id=save-as>Save as</button><button>Save</button>
<form><input name=children><input name=parentNode><input name=localName></form>
<x-card></x-card><div id=closed style='width:99px;height:20px'></div>
<script>
customElements.define('x-card', class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({mode: 'open'}).innerHTML =
      '<button>same</button><button>same</button><div><button>same</button></div>';
  }
});
const root = document.querySelector('#closed').attachShadow({mode: 'closed'});
root.innerHTML = '<p><button>deep</button><button>deeper</button></p>';
</script>
"""


async def test_each_selector_matches_exactly_its_element(config, site):
    frame = "<iframe srcdoc='<button>in</button><p><button>in</button></p>'></iframe>"
    async with shown(config, site.page("/", AWKWARD + frame * 2)) as page:
        found = await listed(page)

        assert len(found) > 30
        assert all(element["selector"] for element in found)
        selectors = [element["selector"] for element in found]
        assert len(set(selectors)) == len(selectors)
        for element in found:
            located = await locate(page, Target(element["selector"]), wait=False)
            assert ref_of(page, located) == element["ref"], element
            assert located.matches == 1
            if ">>>" not in element["selector"]:
                count = f"document.querySelectorAll({json.dumps(element['selector'])}).length"
                assert await evaluate(count, page) == 1


async def test_max_items_ends_the_list_and_says_so(config, site):
    async with shown(config, site.page("/", "<button>b</button>" * 30)) as page:
        short = await elements(page, 10, text=True)
        exact = await elements(page, 30, text=True)

        assert (len(short.elements), short.more) == (10, True)
        assert (len(exact.elements), exact.more) == (30, False)


# --- frames and shadow trees ------------------------------------------------------------


@pytest.fixture(params=["", " --site-per-process"], ids=["one process", "a process a site"])
def framed(request, environment):
    environment["VFA_CHROMIUM_ARGS"] += request.param
    return load(environment)


async def test_frames_two_deep_are_where_they_are_shown(framed, site):
    other = site.url("/middle").replace("127.0.0.1", "localhost")
    site.page("/leaf", "<button>Leaf</button>")
    site.page("/middle", f"<a href=/m>Middle</a><iframe src='{site.url('/leaf')}'></iframe>")
    hidden = "<iframe style='display:none' srcdoc='<button>nobody</button>'></iframe>"
    url = site.page(
        "/",
        f"<h1>Top</h1><iframe title=Shop src='{other}'></iframe>{hidden}<button>End</button>",
    )
    async with shown(framed, url) as page:
        said = await body(page)
        plain = [re.sub(r"\b(f\d+)?e\d+ ", "", line) for line in said]

        assert plain == [
            "h1 'Top'",
            "iframe 'Shop'",
            "  link 'Middle' /m",
            "  iframe",
            "    button 'Leaf'",
            "button 'End'",
        ]
        ref = re.search(r"f\d+e\d+", next(line for line in said if "Leaf" in line))[0]
        leaf = await locate(page, Target(ref=ref))
        (button,) = [each for each in await listed(page) if each["name"] == "Leaf"]
        assert button["ref"] == ref
        assert (await locate(page, Target(button["selector"]))) == leaf
        within = await body(page, under=Target("iframe[title=Shop]"))
        assert "Leaf" in "\n".join(within)
        assert "Top" not in "\n".join(within)


async def test_shadow_trees_are_in_the_outline_where_they_are_shown(config, site):
    things = """<div id=host style='width:200px;height:40px'><a href=/s slot=s>Slotted</a></div>
    <script>host.attachShadow({mode: 'closed'}).innerHTML =
      '<button>Before</button><slot name=s></slot><button>After</button>'</script>"""
    async with shown(config, site.page("/", things)) as page:
        said = [line.split("'")[1] for line in await body(page)]

        assert said == ["Before", "Slotted", "After"]


# --- asking for parts -------------------------------------------------------------------


async def test_parts_levels_offsets_and_texts_can_be_asked_for(config, site):
    rows = "".join(
        f"<li><a href=/{n}>Thing {n}</a> <b>{n} €</b> <button>Add</button></li>"
        for n in range(30)
    )
    url = site.page("/", f"<nav><a href=/x>Nav</a></nav><main><ul>{rows}</ul></main>")
    async with shown(config, url) as page:
        whole = await body(page)
        main = re.search(r"e\d+", next(line for line in whole if " main" in line))[0]
        under = await body(page, under=Target(ref=main))
        skipped = await body(page, under=Target(ref=main), offset=28)
        shallow = await body(page, depth=1)
        found = await body(page, find="thing 17")

        assert "Nav" not in "\n".join(under)
        assert len(under) == 31
        assert len([line for line in skipped if "Thing" in line]) == 2
        assert f"… 30 more: under={main}" in "\n".join(shallow)
        (line,) = [line for line in found if "Thing" in line]
        assert "Thing 17" in line
        assert "button 'Add'" in line


async def test_a_part_that_is_not_there_is_an_error(config, site):
    async with shown(config, site.page("/", "<button id=b>x</button>")) as page:
        with trio.fail_after(0.5), pytest.raises(ElementNotFoundError):
            await outline(page, Request(under=Target("#nowhere")))
        ref = re.search(r"e\d+", (await body(page))[0])[0]
        await evaluate("document.querySelector('#b').remove()", page)
        with pytest.raises(ElementStaleError):
            await outline(page, Request(under=Target(ref=ref)))


# --- changes ----------------------------------------------------------------------------


async def test_changes_since_a_snapshot_have_the_refs_of_what_changed(config, site):
    things = "".join(f"<p>Text {n}</p><button id=b{n}>Button {n}</button>" for n in range(30))
    async with shown(config, site.page("/", things)) as page:
        first = await outline(page, Request())
        same = await outline(page, Request(changed_since=first.id))
        await evaluate(
            "b3.disabled = true; b4.remove(); b5.insertAdjacentHTML("
            "'afterend', '<a href=/new>New</a>')",
            page,
        )
        changed = await outline(page, Request(changed_since=same.id))

        assert same.text.splitlines()[1:] == [f"unchanged since {first.id}"]
        assert [re.sub(r"e\d+", "e", line) for line in changed.text.splitlines()[2:]] == [
            "~ e button 'Button 3' [disabled]",
            "- e button 'Button 4'",
            "+ after e: e link 'New' /new",
        ]
        assert changed.changes
        assert len(changed.text) / 3.6 < 150


async def test_when_changes_cannot_be_told_the_whole_outline_says_so(config, site):
    first, second = site.page("/", "<button>a</button>"), site.page("/2", "<button>b</button>")
    async with shown(config, first) as page:
        before = await outline(page, Request())
        await navigate(page, second)
        after = await outline(page, Request(changed_since=before.id))
        unknown = await outline(page, Request(changed_since="s99"))

        assert "button 'b'" in after.text
        assert f"no changes since {before.id} (the document is another one" in after.text
        assert "s99 is not known" in unknown.text
        assert not after.changes


# --- budgets ----------------------------------------------------------------------------


def shop():
    links = "".join(
        f"<li><a href='/category/kind-{n}'>Category {n}</a></li>" for n in range(100)
    )
    cards = "".join(
        f"<div class='card p{n}'><a href='/p/{n}'><img alt='Lovely chair {n}'></a>"
        f"<h3><a href='/p/{n}'>Lovely chair {n}</a></h3><span aria-label='{n % 5} of 5 stars'>"
        f"*****</span><p>€ {n}.00</p><button>Add to cart</button></div>"
        for n in range(60)
    )
    return f"<nav><ul>{links}</ul></nav><main><h1>Chairs</h1><div>{cards}</div></main>"


async def test_a_shop_fits_into_its_budget_with_every_product(config, site):
    async with shown(config, site.page("/", shop())) as page:
        said = (await outline(page, Request())).text

        # Names, refs and addresses take about 3.6 characters a token.
        assert len(said) / 3.6 < 4_000
        for n in range(60):
            assert re.search(rf"e\d+ link 'Lovely chair {n}' .*e\d+ button 'Add to cart'", said)
        assert len(re.findall("Category", said)) == 100


async def test_twenty_thousand_elements_take_less_than_two_seconds(config, site):
    row = "<tr><td>Cell</td><td><a href=/x>Link</a></td><td><button>Go</button></td></tr>"
    url = site.page("/", f"<table>{row * 3_000}</table><footer><a href=/f>Foot</a></footer>")
    async with shown(config, url) as page:
        with trio.fail_after(2 * 3):  # three times that: tests share their machine
            said = await outline(page, Request())
        assert said.omitted > 2_000
        assert "Foot" in said.text
        assert len(json.dumps(said.text, ensure_ascii=False)) <= 14_010
