"""Several browser tools in one call."""

from __future__ import annotations

import json

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_engine import FakeEngine
from tests.mcp_peer import served, server_process, text_of
from vfa.config import Config
from vfa.errors import DialogOpenedError, EvalDisabledError, InvalidArgsError
from vfa.tools.answer import encoded_length, succeed
from vfa.tools.arguments import read_arguments
from vfa.tools.batch import BATCH, GRACE, MAX_STEPS, share
from vfa.tools.table import Call

BATCH_TOOL = BATCH[0]
CONFIG = Config(tools="all")
HOME = "http://127.0.0.1/"


def step(tool, **arguments):
    return {"tool": f"browser_{tool}", "arguments": arguments}


async def run(*steps, engine=None, seen=None, **more):
    """Run a batch on a fake engine; return its answer."""
    engine = engine or FakeEngine(CONFIG)
    arguments = read_arguments(BATCH_TOOL, {"steps": list(steps), **more}, engine.config)
    seen = [] if seen is None else seen
    return await BATCH_TOOL.run(engine, arguments, Call(seen.append))


async def test_steps_run_in_order_and_their_answers_stand_in_one():
    engine = FakeEngine(CONFIG)
    progress = []
    answer = await run(
        step("navigate", url=HOME + "a"),
        step("navigate", url=HOME + "b"),
        step("get_url"),
        engine=engine,
        seen=progress,
    )

    assert engine.session.calls == [("navigate", HOME + "a"), ("navigate", HOME + "b")]
    value = answer.value
    assert (value["completed"], value["failed"], value["notRun"]) == (3, [], 0)
    assert [each["step"] for each in value["steps"]] == [1, 2, 3]
    assert [each["tool"] for each in value["steps"]][2] == "browser_get_url"
    assert value["steps"][1]["result"]["url"] == HOME + "b"
    assert [(each.pages_done, each.pages_known) for each in progress] == [
        (0, 3),
        (1, 3),
        (2, 3),
    ]


async def test_the_first_failure_ends_a_batch():
    engine = FakeEngine(CONFIG)
    answer = await run(step("navigate", url=HOME + "fail"), step("get_url"), engine=engine)

    value = answer.value
    assert (value["completed"], value["failed"], value["notRun"]) == (0, [1], 1)
    assert value["steps"] == [
        {
            "step": 1,
            "tool": "browser_navigate",
            "ok": False,
            "error": {
                "code": "NAVIGATION_FAILED",
                "message": "net::ERR_CONNECTION_REFUSED",
                "hint": "Start it.",
            },
        }
    ]


async def test_a_batch_can_go_on_after_a_failure():
    answer = await run(
        step("navigate", url=HOME + "fail"), step("get_url"), stop_on_error=False
    )

    assert (answer.value["failed"], answer.value["completed"]) == ([1], 1)
    assert answer.value["steps"][1]["result"]["title"] == "Fake"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"tool": "browser_batch", "arguments": {"steps": []}}, "cannot contain another"),
        ({"tool": "qa_audit_url", "arguments": {"url": HOME}}, "qa_* tools cannot be steps"),
        ({"tool": "browser_navigat"}, "did you mean browser_navigate?"),
        (step("navigate"), "steps[1] (browser_navigate): Invalid arguments"),
        (step("navigate", url=5), "url must be a string"),
        (step("navigate", url=HOME, timeout_ms=10**9), "of at most 120000"),
    ],
)
async def test_a_bad_step_is_named_and_none_is_run(bad, words):
    engine = FakeEngine(CONFIG)
    with pytest.raises(InvalidArgsError) as caught:
        await run(step("navigate", url=HOME), bad, engine=engine)

    assert words in caught.value.message
    assert "Nothing was run" in caught.value.message
    assert engine.session.calls == []


async def test_all_bad_steps_are_named_up_to_a_number():
    with pytest.raises(InvalidArgsError) as caught:
        await run(*[step("nothing")] * 9)

    assert "steps[4]" in caught.value.message
    assert "and 4 more" in caught.value.message


async def test_a_step_whose_switch_is_off_stops_the_batch_before_it_begins():
    engine = FakeEngine(CONFIG)
    with pytest.raises(EvalDisabledError):
        await run(step("navigate", url=HOME), step("evaluate", expression="1"), engine=engine)
    assert engine.session.calls == []


async def test_only_tools_that_the_server_offers_can_be_steps():
    engine = FakeEngine(Config(tools="core,batch"))
    with pytest.raises(InvalidArgsError, match="there is no such tool"):
        await run(step("storage", action="cookies"), engine=engine)


def test_a_batch_has_one_to_fifty_steps():
    for steps in ([], [step("get_url")] * (MAX_STEPS + 1)):
        with pytest.raises(InvalidArgsError, match="steps must be a list"):
            read_arguments(BATCH_TOOL, {"steps": steps}, CONFIG)


async def test_only_the_last_picture_is_sent_and_that_only_if_wanted(monkeypatch, tmp_path):
    engine = FakeEngine(Config(tools="all", output_dir=str(tmp_path)))
    shots = [step("screenshot", filename="a"), step("screenshot", filename="b")]
    answer = await run(*shots, step("get_url"), engine=engine)
    bare = await run(*shots, engine=engine, inline=False)

    assert len(answer.pictures) == 1
    assert bare.pictures == ()
    paths = [each["result"]["path"] for each in bare.value["steps"]]
    assert [path.rpartition("/")[2] for path in paths] == ["a.jpg", "b.jpg"]


async def test_a_dialog_that_cuts_a_step_short_is_an_answer():
    engine = FakeEngine(CONFIG)

    async def ask(*_, **__):
        raise DialogOpenedError("a dialog", kind="confirm", text="Sure?", hint="Answer it.")

    engine.session.navigate = ask
    answer = await run(step("navigate", url=HOME), step("get_url"), engine=engine)

    assert answer.value["completed"] == 2
    assert answer.value["steps"][0]["result"]["dialog"] == {
        "type": "confirm",
        "message": "Sure?",
    }


async def test_each_step_has_its_own_time(autojump_clock):
    began = trio.current_time()
    answer = await run(step("navigate", url=HOME + "slow", timeout_ms=2000), step("get_url"))

    assert trio.current_time() - began == pytest.approx(2)
    assert answer.value["steps"][0]["error"]["code"] == "TIMEOUT"
    assert answer.value["notRun"] == 1


async def test_when_the_time_of_the_batch_is_up_it_answers_with_what_it_has(autojump_clock):
    slow = step("navigate", url=HOME + "slow", timeout_ms=8000)
    with trio.fail_after(10 + GRACE):
        answer = await run(step("get_url"), slow, slow, slow, stop_on_error=False)

    value = answer.value
    assert (value["completed"], value["failed"], value["notRun"]) == (1, [2, 3], 1)


# --- staying within the budget ----------------------------------------------------------------


async def test_a_long_answer_is_shortened_where_it_is_long():
    engine = FakeEngine(CONFIG)
    engine.session.text = "word " * 40_000
    answer = await run(step("get_text"), step("get_url"), step("get_text"), engine=engine)
    result = succeed(BATCH_TOOL, answer, budget=20_000)
    value = json.loads(result.texts[0])

    assert len(result.texts[0]) <= 20_000
    assert "answerTruncated" not in value
    assert value["steps"][1]["result"]["title"] == "Fake"
    texts = [value["steps"][index]["result"] for index in (0, 2)]
    assert all(text["truncated"] and len(text["text"]) > 9_000 for text in texts)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=20), st.integers(0, 8_000))
def test_shares_fit_the_room_and_waste_nothing(lengths, room):
    limit = share(lengths, room)
    taken = sum(min(length, limit) for length in lengths)

    assert taken <= room or room == 0
    if sum(lengths) <= room:
        assert taken == sum(lengths)
    else:
        assert taken > room - len(lengths)


def test_the_answer_is_json_whatever_the_steps_are():
    assert msgspec.json.decode(msgspec.json.encode({"a": encoded_length([1, "\ud800"])}))


# --- through the server -----------------------------------------------------------------------


async def test_the_front_answers_a_batch_once():
    async with served(config=CONFIG) as peer:
        result = await peer.call(
            "browser_batch",
            steps=[step("navigate", url=HOME + "fail"), step("get_url")],
        )
        assert "isError" not in result or not result["isError"]
        assert json.loads(text_of(result))["failed"] == [1]
        bad = await peer.call("browser_batch", steps=[{"tool": "browser_batch"}])
        assert bad["isError"]
        assert text_of(bad).startswith("[INVALID_ARGS] Nothing was run.")


@pytest.mark.browser
async def test_a_batch_works_on_a_real_page(environment, site):
    form = """<label>Name <input id=who></label>
    <button onclick="out.textContent = 'Hello ' + who.value">Greet</button><p id=out></p>"""
    url = site.page("/", form)
    serve = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*serve, **environment, VFA_TOOLS="all") as (peer, _):
        await peer.initialize()
        answer = await peer.call(
            "browser_batch",
            steps=[
                step("navigate", url=url),
                step("fill_form", fields=[{"label": "Name", "value": "Ada"}]),
                step("click", selector="button"),
                step("wait_for", text="Hello Ada"),
                step("get_text", selector="#out"),
                step("screenshot"),
            ],
        )
        value = json.loads(text_of(answer))
        assert (value["completed"], value["failed"]) == (6, [])
        assert value["steps"][4]["result"]["text"] == "Hello Ada"
        assert [item["type"] for item in answer["content"]] == ["text", "image"]
        failed = await peer.call(
            "browser_batch",
            steps=[step("check", selector="#none", timeout_ms=300), step("get_url")],
        )
        value = json.loads(text_of(failed))
        assert value["steps"][0]["error"]["code"] == "ELEMENT_NOT_FOUND"
        assert value["notRun"] == 1
