"""Finding elements in frames and shadow trees, in real Chromium."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
import trio

from tests.tabs import evaluate
from vfa.config import load
from vfa.engine import open_browser
from vfa.errors import ElementNotFoundError, ElementStaleError, InvalidArgsError
from vfa.page.locating import (
    Place,
    Target,
    box_of,
    check_target,
    locate,
    place_of,
    ref_of,
    steps_of,
)
from vfa.page.navigation import navigate


@asynccontextmanager
async def shown(config, url):
    async with open_browser(config) as browser, browser.page() as page:
        await navigate(page, url)
        yield page


async def name_of(page, element):
    return await page.kit("describeNumber", element.number, result=str, frame=element.frame)


def test_a_selector_is_split_into_steps_but_not_inside_strings():
    assert steps_of("#a >>> .b") == ["#a", ".b"]
    assert steps_of("[title='a >>> b']") == ["[title='a >>> b']"]
    assert steps_of(r"#a\>>> b>>>c") == [r"#a\>>> b", "c"]


@pytest.mark.parametrize("selector", ["a >>> ", ">>> b", "a >>>  >>> b"])
def test_an_empty_step_is_not_a_selector(selector):
    with pytest.raises(InvalidArgsError, match="not a valid selector"):
        steps_of(selector)


@pytest.mark.parametrize(("selector", "ref"), [("", ""), ("#a", "e1")])
def test_exactly_one_of_selector_and_ref_names_a_target(selector, ref):
    with pytest.raises(InvalidArgsError, match="exactly one"):
        check_target(selector, ref)


@pytest.mark.parametrize("ref", ["e", "12", "e12x", "fe3", "x1e2"])
def test_what_is_not_a_ref_is_refused(ref):
    with pytest.raises(InvalidArgsError, match="is not a ref"):
        check_target("", ref)


def test_the_place_of_a_frame_maps_points_and_boxes():
    place = Place(100, 50, 2, 0, 0, 2)

    assert place.point(10, 20) == (120, 90)
    assert place.box([1, 2, 3, 4]) == (102, 54, 6, 8)


CLOSED = """
<div id=host style="width:200px;height:40px"></div>
<x-card></x-card>
<script>
  const root = document.querySelector('#host').attachShadow({mode: 'closed'});
  root.innerHTML = '<button id=deep>Deep</button>';
  customElements.define('x-card', class extends HTMLElement {
    constructor() {
      super();
      const inner = this.attachShadow({mode: 'closed'});
      inner.innerHTML = '<x-inner></x-inner>';
    }
  });
  customElements.define('x-inner', class extends HTMLElement {
    constructor() {
      super();
      this.attachShadow({mode: 'open'}).innerHTML = '<a id=deeper href="#x">Deeper</a>';
    }
  });
</script>
"""


async def test_elements_in_open_and_closed_shadow_trees_are_found(config, site):
    async with shown(config, site.page("/", CLOSED)) as page:
        deep = await locate(page, Target("#deep"))
        deeper = await locate(page, Target("x-card >>> x-inner >>> #deeper"))

        assert await name_of(page, deep) == "button#deep"
        assert await name_of(page, deeper) == "a#deeper"


async def test_a_page_does_not_notice_that_its_closed_roots_are_known(config, site):
    async with shown(config, site.page("/", CLOSED)) as page:
        await locate(page, Target("#deep"))

        assert await evaluate("document.querySelector('#host').shadowRoot", page) is None
        assert await evaluate("typeof vfa", page) == "undefined"
        assert (
            await evaluate("document.documentElement.outerHTML.includes('vfa')", page) is False
        )


async def test_names_that_a_page_gives_its_fields_do_not_hide_the_document_from_us(
    config, site
):
    clobbered = """<div id=vfa></div><img name=querySelectorAll>
    <form id=f><input name=localName><input name=matches>
    <input name=children id=inner></form>"""
    async with shown(config, site.page("/", clobbered)) as page:
        inner = await locate(page, Target("#f input[name=children]"))
        form = await locate(page, Target("form"))

        assert await name_of(page, inner) == "input#inner"
        assert await name_of(page, form) == "form#f"


@pytest.fixture(params=["", " --site-per-process"], ids=["one process", "a process a site"])
def framed(request, environment):
    """Settings of a browser where frames of other sites are, or are not, in other processes."""
    environment["VFA_CHROMIUM_ARGS"] += request.param
    return load(environment)


def nested(site):
    """A page, in it a frame of another site, in that one a frame of the first site again."""
    other = site.url("/middle").replace("127.0.0.1", "localhost")
    site.page(
        "/leaf",
        "<body style='margin:0'><p style='height:30px'>leaf</p><button id=leaf>L</button>",
    )
    site.page(
        "/middle",
        f"<body style='margin:0'><h2>m</h2><iframe id=two src='{site.url('/leaf')}' "
        "style='border:5px solid;padding:3px;width:200px;height:150px'></iframe>",
    )
    return site.page(
        "/",
        "<body style='margin:0'><div style='height:1200px'>tall</div>"
        f"<iframe id=one src='{other}' "
        "style='margin-left:40px;border:0;width:300px;height:300px'></iframe>"
        "<iframe id=local srcdoc='<b id=near>near</b>'></iframe>",
    )


async def test_elements_are_found_two_frames_deep_across_sites(framed, site):
    async with shown(framed, nested(site)) as page:
        leaf = await locate(page, Target("#leaf"))
        chained = await locate(page, Target("#one >>> #two >>> button"))
        near = await locate(page, Target("#near"))

        assert len(page.frames) == 4
        assert leaf == chained
        separate = "--site-per-process" in framed.chromium_args
        assert (leaf.frame.session.id != page.session.id) is separate
        assert await name_of(page, leaf) == "button#leaf"
        assert await name_of(page, near) == "b#near"


async def test_the_box_of_an_element_in_frames_is_where_the_screen_shows_it(framed, site):
    async with shown(framed, nested(site)) as page:
        leaf = await locate(page, Target("#leaf"))
        left, top, width, height = await box_of(page, leaf, reveal=True)
        near = await locate(page, Target("#near"))
        place = await place_of(page, near.frame)

        offset = await evaluate(
            "[document.querySelector('#one').getBoundingClientRect().top,"
            "document.querySelector('#local').getBoundingClientRect().left]",
            page,
        )
        heading = 12 + 28 + 20  # of the middle frame's h2, about
        assert left == pytest.approx(40 + 5 + 3, abs=2)
        assert top == pytest.approx(offset[0] + heading + 8 + 30 + 16, abs=25)
        assert width > 10
        assert height > 10
        assert place.x == pytest.approx(offset[1] + 2, abs=0.6)  # and its border


async def test_refs_name_one_element_and_are_never_handed_out_again(config, site):
    first, second = site.page("/", "<button id=a>a</button>"), site.page("/2", "<i id=b>b</i>")
    async with shown(config, first) as page:
        element = await locate(page, Target("#a"))
        ref = ref_of(page, element)
        again = await locate(page, Target(ref=ref))
        await evaluate("document.querySelector('#a').outerHTML += ''", page)
        replaced = await locate(page, Target("#a"))

        assert again == element
        assert ref_of(page, replaced) != ref
        with pytest.raises(ElementStaleError, match="stale"):
            await locate(page, Target(ref=ref))

        await navigate(page, second)
        with pytest.raises(ElementStaleError):
            await locate(page, Target(ref=ref_of(page, replaced)))
        other = await locate(page, Target("#b"))
        assert other.number > replaced.number


async def test_an_element_that_comes_later_is_waited_for(config, site):
    late = """<div id=box></div>
    <script>setTimeout(() => box.innerHTML = '<u id=late>x</u>', 150)</script>"""
    async with shown(config, site.page("/", late)) as page:
        with trio.fail_after(5):
            element = await locate(page, Target("#late"))

        assert await name_of(page, element) == "u#late"


async def test_an_element_that_comes_later_in_a_frame_is_waited_for(framed, site):
    url = nested(site)
    async with shown(framed, url) as page:
        leaf = await locate(page, Target("#leaf"))
        await leaf.frame.session.call(
            "Runtime.evaluate",
            {
                "expression": "setTimeout(() => document.body.append("
                "Object.assign(document.createElement('s'), {id: 'late'})), 200)",
                "contextId": leaf.frame.world,
            },
        )
        with trio.fail_after(5):
            late = await locate(page, Target("#late"))

        assert late.frame is leaf.frame


async def test_a_selector_without_a_match_is_not_found_just_before_the_deadline(config, site):
    async with shown(config, site.page("/", "<p>nothing</p>")) as page:
        with (
            trio.fail_after(0.5),
            pytest.raises(ElementNotFoundError, match="Element not found"),
        ):
            await locate(page, Target("#nowhere"))


@pytest.mark.parametrize("selector", ["###", "a[", "div:nope("])
async def test_what_is_no_selector_is_refused_at_once(config, site, selector):
    async with shown(config, site.page("/", "<p>x</p>")) as page:
        with trio.fail_after(5), pytest.raises(InvalidArgsError, match="not a valid selector"):
            await locate(page, Target(selector))
