"""Reading text from real pages: as innerText has it, with shadow trees and frames."""

from __future__ import annotations

import pytest
import trio

from tests.live import evaluate
from tests.live import live_page as shown
from vfa.config import load
from vfa.errors import ElementNotFoundError, ElementStaleError
from vfa.page.locating import Target, locate, ref_of
from vfa.page.text import get_text

pytestmark = pytest.mark.browser

PLAIN = """<h1>Title</h1><p>One <b>two</b><br>three</p><p>Para</p><ul><li>a<li>b</ul>
<table><tr><td>1<td>2<tr><td>3</table><pre>x
 y</pre><p style='text-transform:uppercase'>loud</p><p hidden>hidden</p>
<span style='visibility:hidden'>unseen</span><select><option>o1<option>o2</select>
<button>Press</button><details><summary>Sum</summary>inside</details>"""


async def test_the_text_of_a_plain_page_is_its_inner_text(config, site):
    async with shown(config, site.page("/", PLAIN)) as page:
        assert await get_text(page) == await evaluate("document.body.innerText", page)


async def test_a_shadow_tree_beside_it_changes_no_word_of_plain_text(config, site):
    body = PLAIN + "<div id=host></div>"
    body += "<script>host.attachShadow({mode:'open'}).innerHTML = '<p>shade</p>'</script>"
    async with shown(config, site.page("/", body)) as page:
        inner = await evaluate("document.body.innerText", page)

        text = await get_text(page)
        assert text.split() == [*inner.split(), "shade"]
        assert text.startswith("Title\n\nOne two\nthree\n\nPara\n\na\nb\n1\t2\n3")


async def test_shadow_trees_are_read_where_they_are_shown(config, site):
    body = """<p>before</p><x-a>light</x-a><p>after</p><script>
    customElements.define('x-a', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode: 'closed'}).innerHTML =
        '<style>b{}</style>in [<slot></slot>] <x-b></x-b>'; } });
    customElements.define('x-b', class extends HTMLElement { constructor() { super();
      this.attachShadow({mode: 'open'}).innerHTML = 'deep <i>er</i>'; } });</script>"""
    async with shown(config, site.page("/", body)) as page:
        assert await get_text(page) == "before\n\nin [light] deep er\n\nafter"
        assert await get_text(page, "x-a >>> x-b >>> i") == "er"


@pytest.mark.parametrize("flag", ["", " --site-per-process"])
async def test_frames_are_read_where_they_are_shown(environment, site, flag):
    environment["VFA_CHROMIUM_ARGS"] += flag
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    site.page("/inner", "<p>inner</p><iframe srcdoc='<b id=b>innermost</b>'></iframe>")
    hidden = "<iframe style='display:none' srcdoc='nobody'></iframe>"
    url = site.page("/", f"<p>before</p><iframe src='{other}'></iframe>{hidden}<p>after</p>")
    async with shown(load(environment), url) as page:
        assert await get_text(page) == "before\ninner\ninnermost\nafter"
        assert await get_text(page, "#b") == "innermost"


async def test_an_element_is_read_by_its_ref_until_it_is_gone(config, site):
    async with shown(config, site.page("/", "<p id=p>text</p><input id=i value=v>")) as page:
        refs = [ref_of(page, await locate(page, Target(id_))) for id_ in ("#p", "#i")]
        assert [await get_text(page, ref=ref) for ref in refs] == ["text", "v"]
        await evaluate("document.querySelector('#p').remove()", page)
        with pytest.raises(ElementStaleError):
            await get_text(page, ref=refs[0])


async def test_what_never_comes_is_not_found_just_before_the_deadline(config, site):
    async with shown(config, site.page("/", "x")) as page:
        with trio.fail_after(0.4), pytest.raises(ElementNotFoundError, match="#never"):
            await get_text(page, "#never")


async def test_a_picture_document_is_text_too(config, site):
    svg = "<svg xmlns='http://www.w3.org/2000/svg'><text>drawn</text></svg>"
    site.pages["/d.svg"] = (200, {"Content-Type": "image/svg+xml"}, svg)
    async with shown(config, site.url("/d.svg")) as page:
        assert await get_text(page) == "drawn"
