"""Dialogs: decided at once, held until answered, never in the way of other calls."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial

import msgspec
import pytest
import trio

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab, session_tabs
from vfa.errors import DialogError, DialogOpenedError
from vfa.page.dialogs import MAX_DIALOGS, Decision, Dialogs, Opening

CONFIRM = Opening("confirm", "Sure?")
PROMPT = Opening("prompt", "Name?", "nobody")
LEAVE = Opening("beforeunload")


# --- decisions ------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "accept"), [("dismiss", False), ("accept", True)])
def test_a_dialog_is_answered_at_once_and_remembered(mode, accept):
    dialogs = Dialogs(mode)
    assert dialogs.open(CONFIRM).accept is accept
    (told,) = dialogs.take()
    assert (told.kind, told.message, told.accepted) == ("confirm", "Sure?", accept)
    assert dialogs.take() == ()


def test_leaving_a_page_is_always_allowed_unless_somebody_is_asked():
    assert Dialogs("dismiss").open(LEAVE).accept is True
    assert Dialogs("accept").open(LEAVE).accept is True
    asking = Dialogs("ask")
    assert asking.open(LEAVE) is None
    assert asking.held == LEAVE


def test_a_decision_for_the_next_dialog_holds_for_one_and_not_for_leaving():
    dialogs = Dialogs("dismiss")
    dialogs.next = Decision(accept=True, text="me")
    assert dialogs.open(LEAVE) == Decision(accept=True)
    assert dialogs.open(PROMPT) == Decision(accept=True, text="me")
    assert dialogs.open(PROMPT) == Decision(accept=False)


def test_accepting_a_prompt_without_a_text_gives_what_the_page_proposes():
    assert Dialogs("accept").open(PROMPT).text == "nobody"
    asking = Dialogs("ask")
    asking.open(PROMPT)
    assert asking.answer(Decision(accept=True)) == (
        PROMPT,
        Decision(accept=True, text="nobody"),
    )


def test_a_held_dialog_is_told_of_once_it_is_answered():
    dialogs = Dialogs("ask")
    assert dialogs.open(CONFIRM) is None
    assert dialogs.take() == ()
    dialogs.answer(Decision(accept=True))
    assert dialogs.held is None
    assert [dialog.accepted for dialog in dialogs.take()] == [True]
    with pytest.raises(DialogError, match="no dialog is open"):
        dialogs.answer(Decision(accept=True))


def test_a_page_that_opens_dialogs_without_end_fills_no_memory():
    dialogs = Dialogs()
    for _ in range(10 * MAX_DIALOGS):
        dialogs.open(Opening("alert", "x" * 5000))
    told = dialogs.take()
    assert len(told) == MAX_DIALOGS
    assert max(len(dialog.message) for dialog in told) == 1000


async def test_a_call_that_a_dialog_holds_up_is_ended_and_one_that_ends_by_itself_is_not(
    autojump_clock,
):
    dialogs = Dialogs("ask")

    async def wait_for_ever():
        with dialogs.interrupting():
            dialogs.open(CONFIRM)
            await trio.sleep_forever()

    with pytest.raises(DialogOpenedError, match="Sure"):
        await wait_for_ever()
    with dialogs.interrupting():
        await trio.sleep(0.01)
    dialogs.forget()
    with dialogs.interrupting():
        dialogs.open(CONFIRM)
        dialogs.answer(Decision(accept=True))
        await trio.sleep(10)


# --- pages ----------------------------------------------------------------------------------


@pytest.fixture
def asking(config):
    return msgspec.structs.replace(config, dialogs="ask")


async def click(page):
    page.acted = True
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": 30, "y": 20, "button": "left", "clickCount": 1}
        await page.session.call("Input.dispatchMouseEvent", event)
    await page.settle()
    return "clicked"


def button(script):
    return f"<button style='position:fixed;inset:0' onclick=\"{script}\">x</button><p>text</p>"


async def held(tab):
    """Wait until a dialog is held."""
    with trio.fail_after(5):
        while tab.page is None or tab.page.dialogs.held is None:  # noqa: ASYNC110
            await trio.sleep(0.01)
    return tab.page.dialogs.held


@pytest.mark.browser
async def test_the_next_dialog_can_be_accepted_without_being_asked(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        await tab.decide_next_dialog(Decision(accept=True, text="Ada"))
        assert await tab.act(partial(evaluate, "prompt('name?')")) == "Ada"
        assert await tab.act(partial(evaluate, "prompt('name?')")) is None
        assert [dialog.accepted for dialog in tab.take_news().dialogs] == [True, False]


@pytest.mark.browser
async def test_everything_is_accepted_where_that_is_set(config, site):
    config = msgspec.structs.replace(config, dialogs="accept")
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        assert await tab.act(partial(evaluate, "prompt('name?', 'Bob')")) == "Bob"
        assert await tab.act(partial(evaluate, "confirm('sure?')")) is True


@pytest.mark.browser
async def test_a_click_that_opens_a_dialog_is_over_at_once_and_the_answer_reaches_the_page(
    asking, site
):
    url = site.page("/", button("document.title = confirm('Sure?')"))
    async with session_tabs(asking) as (_, tabs):
        tab, other = tabs.get(), await tabs.new()
        await tab.navigate(url)
        await other.navigate(url)
        with trio.fail_after(2):
            with pytest.raises(DialogOpenedError, match="Sure"):
                await tab.act(click)
            # What needs the page is refused, and nothing is left to be done later.
            for refused in (
                tab.get_text,
                partial(tab.act, partial(evaluate, "document.body.remove()")),
            ):
                with pytest.raises(DialogError, match=r"confirm dialog is open.*Sure"):
                    await refused()
            # Everything else works.
            assert (await tab.console("all", clear=False)).messages == ()
            assert (await tab.get_url()).url == url
            info = (await tabs.list())[0]
            assert info.dialog.message == "Sure?"
            assert "text" in await other.get_text()
            assert tab.take_news().dialog.type == "confirm"
            assert (await tab.answer_dialog(Decision(accept=True))).type == "confirm"
            assert (await tab.get_url()).title == "true"
            assert "text" in await tab.get_text()
        news = tab.take_news()
        assert news.dialog is None
        assert [dialog.accepted for dialog in news.dialogs] == [True]


@pytest.mark.browser
async def test_a_dialog_that_comes_later_does_not_spoil_the_click_that_caused_it(asking, site):
    url = site.page("/", button("setTimeout(() => confirm('Later?'))"))
    async with session_tab(asking) as (_, tab):
        await tab.navigate(url)
        with trio.fail_after(1):
            assert await tab.act(click) == "clicked"
        assert (await held(tab)).message == "Later?"
        await tab.answer_dialog(Decision(accept=False))
        assert "text" in await tab.get_text()


@pytest.mark.browser
async def test_a_dialog_on_load_lets_the_page_load_once_it_is_answered(asking, site):
    url = site.page("/", "<script>alert('Welcome')</script><p>there</p>")
    async with session_tab(asking) as (_, tab):
        with trio.fail_after(3), pytest.raises(DialogOpenedError, match="Welcome"):
            await tab.navigate(url)
        await tab.answer_dialog(Decision(accept=True))
        assert await tab.get_text("p") == "there"
        assert (await tab.get_url()).ready_state == "complete"


@pytest.mark.browser
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "foreign"])
async def test_a_dialog_of_a_frame_is_held_and_answered(asking, site, host):
    frame = site.page(
        "/frame", "<script>setTimeout(() => { r = prompt('q', 'dflt') })</script>"
    )
    url = site.page("/", f"<iframe src='{frame.replace('127.0.0.1', host)}'></iframe>")
    async with session_tab(asking) as (_, tab):
        with trio.move_on_after(3):
            with suppress(DialogOpenedError):
                await tab.navigate(url)
        assert (await held(tab)).default_prompt == "dflt"
        await tab.answer_dialog(Decision(accept=True, text="z"))
        assert await tab.get_text() == ""


@pytest.mark.browser
async def test_staying_on_a_page_and_leaving_it_are_both_to_be_had(asking, site):
    trap = (
        "<button style='position:fixed;inset:0'>x</button><script>"
        "onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>"
    )
    first, second = site.page("/1", trap), site.page("/2", "free")
    async with session_tab(asking) as (_, tab):
        await tab.navigate(first)
        await tab.act(click)
        for accept, where in ((False, first), (True, second)):
            with trio.fail_after(5):
                with pytest.raises(DialogOpenedError, match="beforeunload"):
                    await tab.navigate(second)
                await tab.answer_dialog(Decision(accept=accept))
                await tab.get_text()
            assert (await tab.get_url()).url == where


@pytest.mark.browser
async def test_an_open_dialog_is_forgotten_with_its_document(asking, site):
    url = site.page("/", "x")
    async with session_tabs(asking) as (browser, tabs):
        tab = tabs.get()
        await tab.navigate(url)

        async def open_one():
            with pytest.raises(DialogError):
                await tab.act(partial(evaluate, "confirm('q')"))
            await held(tab)

        await open_one()
        with trio.fail_after(3):
            assert (await tab.navigate(url)).status == 200  # going elsewhere always works
        assert tab.page.dialogs.held is None
        await open_one()
        with trio.fail_after(3):
            await tabs.close(1)
        tab = tabs.get()
        await tab.navigate(url)
        await open_one()
        async with browser.lease() as link:
            link.launched.process.kill_group()
            await link.over.wait()
        assert (await tab.get_url()).url == "about:blank"
        assert await tab.get_text() == ""


@pytest.mark.browser
async def test_a_call_given_up_under_a_dialog_leaves_it_open_and_the_page_whole(asking, site):
    async with session_tab(asking) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        with trio.move_on_after(0.05):
            await tab.act(partial(evaluate, "window.r = confirm('q')"))
        await held(tab)
        await tab.answer_dialog(Decision(accept=True))
        with trio.fail_after(5):
            assert await tab.act(partial(evaluate, "window.r")) is True


# --- the tool -------------------------------------------------------------------------------


@pytest.mark.browser
async def test_a_client_answers_a_dialog(environment, site):
    url = site.page("/", "<script>r = prompt('Name?', 'nobody')</script><p>there</p>")
    more = {"VFA_DIALOGS": "ask", "VFA_TOOLS": "all"}
    async with server_process("-m", "vfa", "serve", **(environment | more)) as (peer, _):
        await peer.initialize()
        opened = json.loads(text_of(await peer.call("browser_navigate", url=url)))
        assert opened["interrupted"] is True
        assert opened["dialog"] == {
            "type": "prompt",
            "message": "Name?",
            "defaultText": "nobody",
        }
        refused = await peer.call("browser_get_text")
        assert refused["isError"]
        assert text_of(refused).startswith("[DIALOG] a prompt dialog is open")
        handled = await peer.call("browser_handle_dialog", accept=True, text="Ada")
        handled = json.loads(text_of(handled))
        assert handled == {
            "handled": True,
            "dialogs": [{"type": "prompt", "message": "Name?", "accepted": True}],
        }
        text = json.loads(text_of(await peer.call("browser_get_text", selector="p")))
        assert text["text"] == "there"
        nothing = await peer.call("browser_handle_dialog", accept=True)
        assert "no dialog is open" in text_of(nothing)
