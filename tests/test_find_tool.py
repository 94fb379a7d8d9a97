"""Finding text in real pages, and the reading tools over the whole server."""

from __future__ import annotations

import json

import pytest
import trio

from tests.live import live_page as shown
from tests.mcp_peer import server_process, text_of
from vfa.errors import InvalidArgsError
from vfa.page.finding import Search, find
from vfa.page.locating import Target, locate

pytestmark = pytest.mark.browser

THINGS = """<p>The <b>blue</b> chair <i>is</i> here</p><div>one</div><div>two</div>
<a href=/x>A <span>red chair</span></a><input placeholder='Chair colour' value=sofa>
<button aria-label='Buy chair'>+</button><p hidden>hidden chair</p>
<script>var chair</script><div id=host></div>
<iframe srcdoc='<button>Green chair</button>'></iframe>
<script>host.attachShadow({mode: 'open'}).innerHTML = '<label>Shady chair</label>'</script>"""


async def described(page, ref):
    element = await locate(page, Target(ref=ref))
    return await page.kit("describeNumber", element.number, result=str, frame=element.frame)


async def test_text_is_found_in_blocks_names_placeholders_shadow_trees_and_frames(config, site):
    async with shown(config, site.page("/", THINGS)) as page:
        found = await find(page, Search(text="CHAIR"))

        said = [(m.where, m.context, await described(page, m.ref)) for m in found.matches]
        assert said == [
            ("text", "The blue chair is here", "p"),
            ("text", "A red chair", "a"),
            ("placeholder", "Chair colour", "input"),
            ("name", "Buy chair", "button"),
            ("text", "Shady chair", "label"),
            ("text", "Green chair", "button"),
        ]
        assert found.count == 6
        assert found.matches[-1].frame == "about:srcdoc"


@pytest.mark.parametrize(
    ("search", "contexts"),
    [
        (Search(text="blue  chair is"), ["The blue chair is here"]),
        (Search(text="chair", exact=True, limit=1), ["The blue chair is here"]),
        (Search(text="onetwo"), []),
        (Search(text="a.*b"), []),
        (Search(regex=r"\b(blue|red) chair"), ["The blue chair is here", "A red chair"]),
        (Search(regex="^one$"), ["one"]),
        (Search(text="sofa"), ["sofa"]),
        (Search(regex="x*"), ["A red chair"][:0]),
    ],
)
async def test_texts_and_patterns(config, site, search, contexts):
    async with shown(config, site.page("/", THINGS)) as page:
        found = await find(page, search)

        assert [match.context for match in found.matches] == contexts


async def test_a_pattern_that_is_none_is_refused(config, site):
    async with shown(config, site.page("/", THINGS)) as page:
        with pytest.raises(InvalidArgsError, match="not a regular expression"):
            await find(page, Search(regex="(a"))


async def test_a_pattern_that_takes_for_ever_is_ended_and_the_page_lives_on(config, site):
    async with shown(config, site.page("/", f"<p>{'a' * 60}!</p><b>end</b>")) as page:
        with trio.fail_after(8), pytest.raises(InvalidArgsError, match="takes too long"):
            await find(page, Search(regex="(a+)+$"))
        assert (await find(page, Search(text="end"))).count == 1


async def test_the_reading_tools_over_the_whole_server(environment, site):
    serve = ("-W", "error", "-m", "vfa", "serve")
    tools = {"VFA_TOOLS": "all", "ENABLE_EVAL_JS": "1", "MAX_SNAPSHOT_ITEMS": "300"}
    many = "<button>b</button>" * 250
    async with server_process(*serve, **(environment | tools)) as (peer, _):
        await peer.initialize()

        async def value(tool, **arguments):
            return json.loads(text_of(await peer.call(f"browser_{tool}", **arguments)))

        await value("navigate", url=site.page("/", THINGS + many))
        listing = await value("snapshot")
        assert listing["count"] == len(listing["elements"]) > 200
        assert (listing["truncated"], listing["evaluateEnabled"]) == (False, True)
        first = listing["elements"][0]
        assert first.keys() == {"role", "name", "description", "selector", "state", "ref"}
        assert (await value("snapshot", max_items=0))["count"] == 1

        outline = await value("snapshot", format="outline", max_chars=1000)
        assert outline["truncated"] is True
        assert "more: offset=" in outline["outline"]
        changes = await value("snapshot", format="outline", changed_since=outline["snapshot"])
        assert "unchanged since" in changes["outline"]

        hit = (await value("find", text="red chair"))["matches"][0]
        assert await value("get_text", ref=hit["ref"]) == {
            "text": "A red chair",
            "truncated": False,
            "length": 11,
        }
        assert "messages" in await value("get_console", tab=1)

        for tool, arguments, words in [
            ("snapshot", {"depth": 2}, "cannot be combined with format json"),
            ("snapshot", {"max_items": 201}, "max_items"),
            ("find", {}, "exactly one of text and regex"),
            ("get_text", {"selector": "a", "ref": "e1"}, "exactly one"),
            ("get_text", {"selector": "##"}, "not a valid selector"),
            ("get_text", {"selector": "#no", "timeout_ms": 300}, "Element not found: #no"),
            ("get_text", {"tab": 9}, "tab"),
        ]:
            refused = await peer.call(f"browser_{tool}", **arguments)
            assert refused["isError"] is True
            assert words in text_of(refused)
