"""Waiting for elements, texts, addresses and loading, in real Chromium."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_engine import FakeEngine
from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab
from vfa.config import Config, load
from vfa.engine import open_browser
from vfa.errors import (
    DeadlineExceededError,
    ElementStaleError,
    InvalidArgsError,
    PageCrashedError,
)
from vfa.page.locating import Target, locate, ref_of
from vfa.page.navigation import navigate
from vfa.page.waiting import Wanted, url_matches, wait_for
from vfa.tools.arguments import read_arguments
from vfa.tools.table import Call
from vfa.tools.waiting import WAITING, WaitForArguments, read_wanted

WAIT_FOR = WAITING[0]


@asynccontextmanager
async def shown(config, url):
    async with open_browser(config) as browser, browser.page() as page:
        await navigate(page, url)
        yield page


def element(selector, **more):
    return Wanted(target=Target(selector), **more)


async def run_later(page, code, milliseconds=60):
    """Run code in the page after a while; say so at once."""
    await evaluate(f"setTimeout(() => {{ {code} }}, {milliseconds})", page)


# --- without a browser ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [{}, {"selector": "", "text": ""}, {"text": " \n "}, {"state": "gone"}],
)
async def test_nothing_to_wait_for_is_refused_before_a_browser_starts(arguments):
    engine = FakeEngine(Config())
    call = Call(lambda progress: None)
    with pytest.raises(InvalidArgsError, match="at least one"):
        await WAIT_FOR.run(engine, WaitForArguments(**arguments), call)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"selector": "a", "ref": "e1"}, "exactly one"),
        ({"selector": "a >>> "}, "not a valid selector"),
        ({"ref": "x1"}, "is not a ref"),
    ],
)
def test_what_cannot_be_waited_for_is_refused(arguments, words):
    with pytest.raises(InvalidArgsError, match=words):
        read_wanted(WaitForArguments(**arguments))


def test_fifteen_seconds_are_the_default_whatever_the_other_tools_have():
    assert WAIT_FOR.default_timeout_ms(Config(tool_timeout_ms=1000)) == 15_000
    assert read_arguments(WAIT_FOR, {"text": "x"}, Config()).timeout_ms == 0


def test_the_failure_names_everything_that_was_waited_for():
    arguments = WaitForArguments(selector="#a", text="Done", state="gone", url="/x")
    error = WAIT_FOR.out_of_time(arguments, 300)

    assert error.code == "TIMEOUT"
    assert error.message == (
        "Timed out after 300 ms waiting for element '#a' and text 'Done' to be gone, url '/x'"
    )


@pytest.mark.parametrize(
    ("wanted", "url", "holds"),
    [
        ("/done", "http://a/done?x", True),
        ("/done", "http://a/doing", False),
        ("*/done", "http://a/done", True),
        ("*/done", "http://a/done?x", False),
        ("http://a/*/c", "http://a/b/c", True),
        ("http://a/**/c", "http://a/b/b/c", True),
        ("http://a/b*b/c", "http://a/b/c", False),
        ("*?q=1*", "http://a/?q=1&r", True),
        ("*.html", "http://a/xhtml", False),
    ],
)
def test_a_url_is_a_part_or_a_pattern_for_the_whole(wanted, url, holds):
    assert url_matches(wanted, url) is holds


@given(st.lists(st.text("ab/", max_size=4), min_size=2, max_size=5), st.text("ab/", max_size=4))
def test_a_pattern_matches_whatever_stands_for_its_stars(parts, filling):
    assert url_matches("*".join(parts), filling.join(parts))


# --- in a page ------------------------------------------------------------------------------


COMING = {
    "an element": (element("#late"), "box.innerHTML = '<i id=late></i>'"),
    "an element by its class": (element("#box.on"), "box.className = 'on'"),
    "an element to be seen": (
        element("#dim", state="visible"),
        "dim.style.display = 'block'",
    ),
    "one of several to be seen": (
        element(".many", state="visible"),
        "many.style.display = 'block'",
    ),
    "a text": (Wanted(text="All  done\nhere"), "box.innerHTML = 'All done <b>here</b>'"),
    "a text shown by a style": (Wanted(text="dimmed"), "dim.style.display = 'block'"),
    "a text in a shadow tree": (
        Wanted(text="from the shadow"),
        "box.attachShadow({mode: 'open'}).innerHTML = '<p>from the <b>shadow</b></p>'",
    ),
    "a text in a closed shadow tree": (
        Wanted(text="from behind"),
        "box.attachShadow({mode: 'closed'}).innerHTML = '<p>from behind</p>'",
    ),
    "both at once": (
        element("#late", text="ready"),
        "box.innerHTML = '<i id=late></i>'; setTimeout(() => box.append('ready'), 60)",
    ),
    "an element to hide": (element("#bright", state="hidden"), "bright.style.opacity = 0"),
    "an element to go": (element("#bright", state="gone"), "bright.remove()"),
    "a text to go": (Wanted(text="shining", state="gone"), "bright.hidden = true"),
    "both to go": (
        element("#bright", text="other", state="gone"),
        "bright.remove(); setTimeout(() => other.remove(), 60)",
    ),
    "an address in the document": (Wanted(url="#part"), "location.hash = 'part'"),
    "an address with a pattern": (
        Wanted(url="http://*/other?a=*"),
        "history.pushState(0, '', '/other?a=1')",
    ),
    "an address and an element": (
        element("#late", url="#part"),
        "box.innerHTML = '<i id=late></i>'; setTimeout(() => location.hash = 'part', 60)",
    ),
}
CHANGING = """<style>#dim, .many { display: none }</style><div id=box></div>
<p id=dim>dimmed</p><p class=many>1</p><p class=many id=many>2</p>
<p id=bright>shining</p><p id=other>other</p>"""


async def test_waits_for_what_comes_and_for_what_goes(config, site):
    failures = {}
    url = site.page("/", CHANGING)
    async with shown(config, url) as page:
        for name, (wanted, change) in COMING.items():
            await navigate(page, url)
            done = trio.Event()

            async def wait(wanted=wanted, done=done):
                await wait_for(page, wanted)
                done.set()

            with trio.move_on_after(5) as limit:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(wait)
                    with trio.move_on_after(0.15):
                        await done.wait()
                    if done.is_set():
                        failures[name] = "it ended too soon"
                    await evaluate(f"{{ {change} }}", page)
            if limit.cancelled_caught:
                failures[name] = "it did not end"
    assert failures == {}


async def test_what_is_there_already_needs_no_waiting(config, site):
    async with shown(config, site.page("/", "<p id=a>a</p><p>Grüße</p>")) as page:
        found = await wait_for(page, element("p"))
        assert found.matches == 2
        assert await locate(page, Target(ref=found.ref)) == await locate(page, Target("#a"))
        await wait_for(page, element("#b", state="gone"))
        await wait_for(page, element("#b", state="hidden"))
        await wait_for(page, Wanted(text="Grüße", load_state="networkidle"))
        for missing in (Wanted(text="grüße"), Wanted(text="Grusse")):
            with trio.fail_after(0.4), pytest.raises(DeadlineExceededError):
                await wait_for(page, missing)


async def test_what_holds_by_turns_does_not_hold_at_once(config, site):
    turns = """<p id=a>a</p><script>
    setInterval(() => { a.className = a.className ? '' : 'on';
      a.textContent = a.className ? 'off' : 'lit'; }, 5)</script>"""
    async with shown(config, site.page("/", turns)) as page:
        with trio.fail_after(0.5), pytest.raises(DeadlineExceededError, match="the element is"):
            await wait_for(page, element("#a.on", text="lit"))


async def test_the_failure_says_what_is_missing_and_comes_before_the_deadline(config, site):
    async with shown(config, site.page("/", "<p id=a>a</p>")) as page:
        with trio.fail_after(0.4), pytest.raises(DeadlineExceededError) as caught:
            await wait_for(page, element("#a", text="nowhere"))

        assert "the element is there, the text is not there" in caught.value.message
        with trio.fail_after(0.3), pytest.raises(DeadlineExceededError, match="the address is"):
            await wait_for(page, Wanted(url="/elsewhere"))


@pytest.mark.parametrize("selector", ["###", "p >>> a["])
async def test_what_is_no_selector_is_refused_at_once(config, site, selector):
    async with shown(config, site.page("/", "<p>x</p>")) as page:
        with trio.fail_after(5), pytest.raises(InvalidArgsError, match="not a valid selector"):
            await wait_for(page, element(selector))


async def test_a_wait_goes_on_in_the_next_document(config, site):
    site.page("/3", "<p id=goal>goal</p>")
    site.page("/2", f"<script>setTimeout(() => location = '{site.url('/3')}', 50)</script>")
    first = site.page(
        "/",
        f"<p id=x>x</p><script>setTimeout(() => location = '{site.url('/2')}', 100)</script>",
    )
    async with shown(config, first) as page:
        with trio.fail_after(5):
            await wait_for(page, element("#goal", text="goal", url="/3", load_state="load"))
            await navigate(page, first)
            await wait_for(page, element("#x", state="gone"))
            await wait_for(page, Wanted(url="/3"))


async def test_a_ref_is_waited_for_and_its_loss_is_told(config, site):
    body = "<p id=a hidden>a</p><p id=b>b</p>"
    async with shown(config, site.page("/", body)) as page:
        a, b = [ref_of(page, await locate(page, Target(f"#{name}"))) for name in "ab"]
        await run_later(page, "a.hidden = false")
        with trio.fail_after(5):
            await wait_for(page, Wanted(target=Target(ref=a), state="visible"))
            await run_later(page, "b.remove()")
            await wait_for(page, Wanted(target=Target(ref=b), state="gone"))
            await wait_for(page, Wanted(target=Target(ref=b), state="hidden"))
            with pytest.raises(ElementStaleError, match="stale"):
                await wait_for(page, Wanted(target=Target(ref=b)))
            with pytest.raises(ElementStaleError, match="another tab"):
                await wait_for(page, Wanted(target=Target(ref="t7e1"), state="gone"))
            await run_later(page, "a.hidden = true; setTimeout(() => a.remove(), 60)")
            await wait_for(page, Wanted(target=Target(ref=a), state="hidden"))
            with pytest.raises(ElementStaleError):
                await wait_for(page, Wanted(target=Target(ref=a), state="visible"))


@pytest.fixture(params=["", " --site-per-process"], ids=["one process", "a process a site"])
def framed(request, environment):
    environment["VFA_CHROMIUM_ARGS"] += request.param
    return load(environment)


async def test_frames_are_looked_into_also_those_that_come_later(framed, site):
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    site.page(
        "/inner",
        "<p id=in>in</p><script>setTimeout(() => document.body.append('late words'), 300);"
        "setTimeout(() => document.querySelector('#in').remove(), 600)</script>",
    )
    add = (
        "const f = document.createElement('iframe'); f.id = 'f'; "
        f"f.src = '{other}'; document.body.append(f)"
    )
    async with shown(framed, site.page("/", "<h1 id=top>top words</h1>")) as page:
        await run_later(page, add, 100)
        with trio.fail_after(10):
            found = await wait_for(page, element("#f >>> #in"))
            assert found.ref.startswith("f1e")
            await wait_for(page, element("#top", text="late words"))
            await wait_for(page, element("#f >>> #in", state="gone"))
            await wait_for(page, element("#in", text="nowhere", state="hidden"))
            await run_later(page, "document.querySelector('#f').remove()")
            await wait_for(page, Wanted(text="late words", state="gone"))
            with trio.move_on_after(0.3), pytest.raises(DeadlineExceededError):
                await wait_for(page, Wanted(text="top words", state="gone"))


async def test_loading_and_silence_are_waited_for(config, site):
    site.hang("/slow.png")
    site.page("/late", "late")
    url = site.page("/slow", "<script>fetch('/late')</script><img src=/slow.png>")
    async with shown(config, site.page("/start", "start")) as page:
        await page.session.call("Runtime.evaluate", {"expression": f"location = '{url}'"})
        with trio.fail_after(5):
            await wait_for(page, Wanted(url=url, load_state="domcontentloaded"))
        with trio.fail_after(0.3), pytest.raises(DeadlineExceededError, match="is loading"):
            await wait_for(page, Wanted(load_state="load"))
        site.released.set()
        with trio.fail_after(5):
            await wait_for(page, Wanted(load_state="networkidle"))
        assert page.network.loading() == 0


async def test_a_page_that_does_nothing_is_asked_once(config, site):
    async with shown(config, site.page("/", "<p>still</p>")) as page:
        asked = []
        call = page.session.connection.call

        async def count(method, *rest, **more):
            asked.append(method)
            return await call(method, *rest, **more)

        await page.kit("viewport", result=list)
        page.session.connection.call = count
        with trio.fail_after(1.0), pytest.raises(DeadlineExceededError):
            await wait_for(page, element("#never"))
        assert len(asked) <= 2


async def test_a_wait_that_is_given_up_leaves_nothing_in_the_page(config, site):
    async with shown(config, site.page("/", "<p id=a>a</p>")) as page:
        with trio.fail_after(0.3), pytest.raises(DeadlineExceededError):
            await wait_for(page, element("#never"))
        # Its observer would see to it that the kit looks at each change.
        await page.kit("viewport", result=list)
        await page.session.call(
            "Runtime.evaluate",
            {
                "expression": "vfa.looks = 0; const query = vfa.query;"
                "vfa.query = (steps) => { vfa.looks += 1; return query(steps) }",
                "contextId": page.frames.main.world,
            },
        )
        await trio.sleep(0.15)  # the observer leaves at its next look
        await evaluate("a.className = 'x'", page)
        await page.settle()
        answer = await page.session.call(
            "Runtime.evaluate",
            {"expression": "vfa.looks", "contextId": page.frames.main.world},
        )
        assert answer["result"]["value"] == 0


# --- through a session, and through the server ------------------------------------------------


async def test_a_crash_of_the_renderer_does_not_end_a_wait(config, site):
    site.page(
        "/",
        "<p>x</p><script>if (sessionStorage.again) document.body.id = 'again';"
        "sessionStorage.again = 1</script>",
    )
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.url())
        async with trio.open_nursery() as nursery:

            async def crash(page):
                with pytest.raises(PageCrashedError), page.guard():
                    await page.session.call("Page.crash")

            async def wait():
                with trio.fail_after(10):
                    await tab.read(lambda page: wait_for(page, element("body#again")))

            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(PageCrashedError):
                await tab.act(crash)


@pytest.mark.browser
async def test_the_server_answers_waits_in_few_words(environment, site):
    url = site.page("/", "<p id=a>a</p>")
    serve = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*serve, **environment) as (peer, _):
        await peer.initialize()
        await peer.call("browser_navigate", url=url)
        answer = text_of(await peer.call("browser_wait_for", selector="#a", text="a"))
        value = json.loads(answer)
        assert value.pop("elapsed_ms") >= 0
        assert value == {"found": True, "selector": "#a", "text": "a", "ref": "e1"}
        assert len(answer) < 120
        missing = await peer.call("browser_wait_for", text="b", timeout_ms=200)
        assert missing["isError"]
        assert text_of(missing).startswith("[TIMEOUT] Timed out after")
        bad = await peer.call("browser_wait_for", selector="###")
        assert text_of(bad).startswith("[INVALID_ARGS]")
