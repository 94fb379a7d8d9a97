"""From what the engine says to what a client gets: shapes, budgets, files, policy."""

from __future__ import annotations

import base64
import json

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fake_engine import JPEG, NOON, FakeEngine, dialog, report
from vfa.config import Config
from vfa.errors import (
    CdpError,
    ElementNotFoundError,
    InvalidUrlError,
    SsrfBlockedError,
    UnsafePathError,
    VfaError,
)
from vfa.page.records import ConsoleMessage
from vfa.tools import all_tools
from vfa.tools.answer import (
    Answer,
    bounded,
    cut_text,
    encode,
    encoded_length,
    fail,
    keep_fitting,
    succeed,
    well_formed,
)
from vfa.tools.arguments import read_arguments
from vfa.tools.table import Call

TOOLS = {tool.name: tool for tool in all_tools()}
BUDGET = 100_000

json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=20,
)


@pytest.fixture
def engine(tmp_path):
    return FakeEngine(Config(output_dir=str(tmp_path)))


async def run(engine, tool_name, **given_arguments):
    tool = TOOLS[tool_name]
    arguments = read_arguments(tool, given_arguments, engine.config)
    with trio.fail_after(5):
        answer = await tool.run(engine, arguments, Call(lambda progress: None))
    return succeed(tool, answer, budget=engine.config.max_answer_chars)


async def value(engine, tool_name, **given_arguments):
    return json.loads((await run(engine, tool_name, **given_arguments)).texts[0])


# --- results and failures ---------------------------------------------------------------


def test_a_browser_failure_is_its_code_in_brackets_and_a_hint():
    result = fail(
        TOOLS["browser_navigate"], UnsafePathError("no", hint="Do this."), budget=BUDGET
    )
    assert result.texts == ("[UNSAFE_PATH] no\nDo this.",)
    assert result.is_error


def test_a_qa_failure_is_an_object_with_code_message_and_hint():
    error = SsrfBlockedError("refused", hint="Set it.")
    result = fail(TOOLS["qa_audit_url"], error, budget=BUDGET)
    assert json.loads(result.texts[0]) == {
        "status": "error",
        "error": {"code": "SSRF_BLOCKED", "message": "refused", "hint": "Set it."},
    }
    assert result.is_error
    assert result.structured is None


def test_a_failure_is_bounded_and_well_formed():
    error = VfaError("\ud800" + "x" * 1_000_000)
    for name in ("browser_navigate", "qa_audit_url"):
        (text,) = fail(TOOLS[name], error, budget=2_000).texts
        assert len(text) < 2_100
        text.encode()


def test_a_cdp_failure_keeps_the_words_of_the_browser():
    error = CdpError("Page.navigate", -32000, "Cannot navigate")
    (text,) = fail(TOOLS["browser_navigate"], error, budget=BUDGET).texts
    assert text.startswith("[CDP_ERROR] CDP Error: Cannot navigate")


def test_a_reset_is_an_item_of_its_own_behind_the_result():
    result = succeed(
        TOOLS["browser_get_url"],
        Answer(value={"url": "about:blank"}),
        budget=BUDGET,
        reset="crash",
    )
    assert [json.loads(text) for text in result.texts] == [
        {"url": "about:blank"},
        {"sessionReset": True, "reason": "crash"},
    ]


def test_browser_results_have_no_structured_content_and_qa_results_have():
    answer = Answer(value={"a": 1})
    assert succeed(TOOLS["browser_get_url"], answer, budget=BUDGET).structured is None
    assert succeed(TOOLS["qa_audit_url"], answer, budget=BUDGET).structured == {"a": 1}


# --- text that any client can read ------------------------------------------------------


@given(json_values)
@settings(max_examples=200, deadline=None)
def test_whatever_a_page_says_becomes_valid_json(said):
    text = encode(well_formed({"said": said}))
    text.encode("utf-8")
    assert "\x00" not in text
    assert "\\u0000" not in text
    json.loads(text)


def test_only_what_is_harmful_is_replaced():
    assert well_formed("a\ud800b\x00c\x1b[31m😀\u2028") == "a\ufffdb\ufffdc\x1b[31m😀\u2028"


@given(json_values, st.integers(1_000, 5_000))
@settings(max_examples=200, deadline=None)
def test_an_answer_is_within_its_budget(said, budget):
    value_ = well_formed({"said": said, "text": "x" * 3_000, "list": [{"a": "b" * 50}] * 50})
    cut = bounded(value_, budget)
    assert len(encode(cut)) <= budget
    assert ("answerTruncated" in cut) == (encoded_length(value_) > budget)


@given(st.text(), st.integers(2, 200))
def test_a_cut_text_is_the_longest_beginning_that_fits(text, room):
    cut = cut_text(text, room)
    assert text.startswith(cut)
    assert encoded_length(cut) <= room
    if cut != text:
        assert encoded_length(text[: len(cut) + 1]) > room


def test_items_are_kept_from_the_wanted_end():
    items = ["aaaa", "bbbb", "cccc"]  # seven characters each with its comma
    assert keep_fitting(items, 14) == ["aaaa", "bbbb"]
    assert keep_fitting(items, 14, newest=True) == ["bbbb", "cccc"]
    assert keep_fitting(items, 3) == []
    assert keep_fitting(items, 3, newest=True) == []


# --- browser_navigate and browser_get_url -----------------------------------------------


async def test_navigate_answers_url_title_and_status(engine):
    assert await value(engine, "browser_navigate", url="http://127.0.0.1/") == {
        "url": "http://127.0.0.1/",
        "title": "Fake",
        "status": 200,
    }


async def test_dialogs_are_reported_once(engine):
    engine.session.dialogs.append(dialog())
    first = await value(engine, "browser_navigate", url="http://127.0.0.1/")
    assert first["dialogs"] == [{"type": "confirm", "message": "Sure?", "accepted": False}]
    assert "dialogs" not in await value(engine, "browser_get_text")


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("file:///etc/passwd", InvalidUrlError, "Rejected scheme"),
        ("javascript:alert(1)", InvalidUrlError, "Rejected scheme"),
        ("ftp://example.com/", InvalidUrlError, "Unknown scheme"),
        ("not a url", InvalidUrlError, "Invalid URL"),
        ("http://10.0.0.1/", SsrfBlockedError, "Private network blocked"),
        ("http://[::ffff:10.0.0.1]/", SsrfBlockedError, "Private network blocked"),
        ("http://printer.local/", SsrfBlockedError, "Private network blocked"),
    ],
)
async def test_a_refused_url_never_reaches_the_browser(engine, url, error, words):
    with pytest.raises(error, match=words):
        await run(engine, "browser_navigate", url=url)
    assert engine.session.calls == []


async def test_a_page_from_a_forbidden_address_is_left_again(engine, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    engine.session.remote_address = "10.0.0.1"
    with pytest.raises(SsrfBlockedError):
        await run(engine, "browser_navigate", url="http://127.0.0.1/")
    assert engine.session.calls[-1] == ("navigate", "about:blank")


async def test_a_proxys_address_says_nothing_about_the_page(engine, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://10.0.0.1:3128")
    engine.session.remote_address = "10.0.0.1"
    await run(engine, "browser_navigate", url="http://127.0.0.1/")


async def test_get_url_answers_three_fields(engine):
    assert await value(engine, "browser_get_url") == {
        "url": "http://127.0.0.1/",
        "title": "Fake",
        "readyState": "complete",
    }


# --- browser_get_text -------------------------------------------------------------------


async def test_text_has_its_length_in_utf16_units(engine):
    engine.session.text = "a😀"
    assert await value(engine, "browser_get_text") == {
        "text": "a😀",
        "truncated": False,
        "length": 3,
    }


async def test_long_text_is_cut_where_documented():
    engine = FakeEngine(Config(max_text_length=5))
    engine.session.text = "abcdefgh"
    assert await value(engine, "browser_get_text") == {
        "text": "abcde\n... [truncated]",
        "truncated": True,
        "length": 8,
    }


async def test_text_beyond_the_answers_budget_is_cut_and_says_how_to_get_the_rest():
    engine = FakeEngine(Config(max_answer_chars=1_000))
    engine.session.text = '"<é>' * 10_000
    answer = await value(engine, "browser_get_text")
    assert 800 < len(encode(answer)) <= 1_000
    assert answer["text"].endswith("\n... [truncated]")
    assert answer["truncated"] is True
    assert answer["length"] == 40_000
    assert "selector" in answer["note"]


def test_a_selector_that_never_matched_is_not_found():
    tool = TOOLS["browser_get_text"]
    arguments = read_arguments(tool, {"selector": "#x"}, Config())
    error = tool.out_of_time(arguments, 10_000)
    assert isinstance(error, ElementNotFoundError)
    assert str(error).startswith("Element not found: #x")
    stuck = tool.out_of_time(read_arguments(tool, {}, Config()), 10_000)
    assert stuck.code == "TIMEOUT"
    assert "Timed out" in str(stuck)


def test_a_page_that_does_not_load_is_a_navigation_timeout():
    tool = TOOLS["browser_navigate"]
    arguments = read_arguments(tool, {"url": "http://user:secret@h/"}, Config())
    error = tool.out_of_time(arguments, 1_500)
    assert error.code == "TIMEOUT"
    assert str(error).startswith("Navigation timeout after 1500 ms")
    assert "secret" not in str(error)


# --- browser_screenshot -----------------------------------------------------------------


async def test_a_screenshot_is_a_file_facts_and_a_picture(engine, tmp_path):
    result = await run(engine, "browser_screenshot", filename="run/01-hero.png")
    facts = json.loads(result.texts[0])
    assert facts["path"] == str(tmp_path / "run" / "01-hero.jpg")
    assert (tmp_path / "run" / "01-hero.jpg").read_bytes() == JPEG
    expected = {"size": len(JPEG), "truncated": False, "scale": 1.0, "measured": True}
    assert facts.items() >= (expected | {"width": 10, "height": 20}).items()
    (picture,) = result.pictures
    assert base64.b64decode(picture.data) == JPEG
    assert picture.mime_type == "image/jpeg"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/etc/passwd", "Absolute paths"),
        ("C:\\x.png", "Absolute paths"),
        ("\\\\host\\share\\x.png", "Absolute paths"),
        ("../x.png", "traversal"),
        ("a/../../x.png", "traversal"),
        ("a\\..\\x.png", "traversal"),
        ("a\x00.png", "Control"),
        ("x" * 300, "bytes"),
    ],
)
async def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_done(
    engine, name, words
):
    with pytest.raises(UnsafePathError, match=words):
        await run(engine, "browser_screenshot", filename=name)
    assert engine.session.calls == []


async def test_a_folder_that_cannot_be_written_costs_the_path_but_not_the_picture(tmp_path):
    blocked = tmp_path / "a-file"
    blocked.write_bytes(b"")
    engine = FakeEngine(Config(output_dir=str(blocked)))
    result = await run(engine, "browser_screenshot")
    facts = json.loads(result.texts[0])
    assert facts["path"] is None
    assert "OUTPUT_DIR" in facts["note"]
    assert result.pictures


async def test_the_budgets_of_the_settings_reach_the_camera():
    engine = FakeEngine(Config(max_screenshot_pixels=1000, max_image_bytes=2000))
    with trio.fail_after(5):
        arguments = {"full_page": True, "quality": 50, "delay_ms": 7, "format": "png"}
        tool = TOOLS["browser_screenshot"]
        engine.config = Config(
            max_screenshot_pixels=1000, max_image_bytes=2000, output_dir="/proc/nowhere"
        )
        await tool.run(engine, read_arguments(tool, arguments, engine.config), Call(print))
    ((_, shot),) = engine.session.calls
    assert (shot.max_pixels, shot.max_bytes) == (1000, 2000)
    assert (shot.full_page, shot.quality, shot.delay_ms, shot.format) == (True, 50, 7, "png")


# --- browser_get_console ----------------------------------------------------------------


def said(text, level="log"):
    return ConsoleMessage(level=level, text=text, timestamp=NOON)


async def test_the_console_reads_like_the_contract(engine):
    engine.session.messages = (said("a"), said("b", "error"))
    assert await value(engine, "browser_get_console", level="error", clear_after=True) == {
        "messages": [{"level": "error", "text": "b", "timestamp": 1736850161512, "url": None}],
        "count": 1,
        "cleared": True,
        "truncated": False,
        "droppedCount": 0,
    }
    assert (await value(engine, "browser_get_console"))["count"] == 0


async def test_the_newest_lines_are_kept_and_the_others_counted():
    engine = FakeEngine(Config(max_console_lines=2))
    engine.session.messages = tuple(said(word) for word in "abcd")
    engine.session.dropped = 3  # lost by the ring before
    answer = await value(engine, "browser_get_console")
    assert [message["text"] for message in answer["messages"]] == ["c", "d"]
    assert (answer["count"], answer["truncated"], answer["droppedCount"]) == (4, True, 5)


async def test_a_console_beyond_the_budget_loses_its_oldest_lines():
    engine = FakeEngine(Config(max_answer_chars=1_000))
    engine.session.messages = tuple(said(f"{number:03d}" + "x" * 100) for number in range(50))
    answer = await value(engine, "browser_get_console")
    assert len(encode(answer)) <= 1_000
    assert answer["messages"][-1]["text"].startswith("049")
    assert answer["count"] == 50
    assert answer["droppedCount"] == 50 - len(answer["messages"])


# --- qa_audit_url -----------------------------------------------------------------------


async def test_an_audit_is_asked_for_with_the_contracts_defaults(engine):
    await run(engine, "qa_audit_url", url="http://127.0.0.1/", viewport={"width": 800})
    (request,) = engine.requests
    assert (request.viewport.width, request.viewport.height) == (800, 900)
    assert (request.wait_until, request.max_depth, request.max_pages) == ("networkidle", 1, 10)
    assert request.timeout_ms == 120_000
    assert len(request.categories) == 5


async def test_an_audit_without_a_viewport_has_its_devices(engine):
    await run(
        engine,
        "qa_audit_url",
        url="http://127.0.0.1/",
        device="mobile",
        categories=["visual", "visual"],
        timeout_ms=5000,
    )
    (request,) = engine.requests
    assert request.viewport is None
    assert request.categories == ("visual",)
    assert request.timeout_ms == 5_000


async def test_pictures_are_in_the_text_and_not_sent_twice(engine):
    result = await run(engine, "qa_audit_url", url="http://127.0.0.1/")
    (shot,) = json.loads(result.texts[0])["screenshots"]
    assert base64.b64decode(shot["data"]) == JPEG
    assert shot["mime_type"] == "image/jpeg"
    assert "data" not in result.structured["screenshots"][0]
    assert result.structured["findings"] == json.loads(result.texts[0])["findings"]
    assert result.pictures == ()


async def test_pictures_may_be_image_content_instead():
    engine = FakeEngine(Config(screenshots="image"))
    result = await run(engine, "qa_audit_url", url="http://127.0.0.1/")
    (shot,) = json.loads(result.texts[0])["screenshots"]
    assert "data" not in shot
    assert shot["content_index"] == 1
    assert base64.b64decode(result.pictures[0].data) == JPEG


async def test_pictures_may_be_left_out_for_their_paths():
    engine = FakeEngine(Config(screenshots="path"))
    result = await run(engine, "qa_audit_url", url="http://127.0.0.1/")
    (shot,) = json.loads(result.texts[0])["screenshots"]
    assert "data" not in shot
    assert shot["path"] == "/out/1.jpg"
    assert result.pictures == ()


async def test_findings_beyond_the_budget_are_counted(monkeypatch):
    engine = FakeEngine(Config(max_answer_chars=5_000))

    async def audit(request, *, progress):
        return report(request.url, findings=80)

    monkeypatch.setattr(engine, "audit", audit)
    result = await run(engine, "qa_audit_url", url="http://127.0.0.1/")
    answer = json.loads(result.texts[0])
    assert answer["findings"][0]["id"] == "FND-001"
    assert answer["findings_omitted"] == 80 - len(answer["findings"])
    assert len(encode(result.structured)) <= 5_000


# --- qa_get_runtime_errors --------------------------------------------------------------


def fill(engine, count):
    for number in range(count):
        engine.errors.publish(
            source="console",
            severity="error",
            level="error",
            message=f"{number:04d} " + "x" * 100,
            url="https://shop.example/",
            timestamp=NOON,
        )


async def test_errors_read_like_the_contract(engine):
    fill(engine, 1)
    answer = await value(engine, "qa_get_runtime_errors")
    assert answer["status"] == "completed"
    assert answer["count"] == 1
    assert answer["entries"][0]["id"] == "ERR-0001"
    assert answer["dropped"] == 0
    assert (await value(engine, "qa_get_runtime_errors"))["count"] == 0


async def test_what_an_answer_cannot_hold_is_left_for_the_next_one():
    engine = FakeEngine(Config(max_answer_chars=2_000))
    fill(engine, 20)
    seen = []
    while True:
        result = await run(engine, "qa_get_runtime_errors")
        answer = json.loads(result.texts[0])
        assert len(result.texts[0]) <= 2_000
        assert "answerTruncated" not in answer
        seen += [entry["id"] for entry in answer["entries"]]
        if "remaining" not in answer:
            break
    assert seen == [f"ERR-{number:04d}" for number in range(1, 21)]


async def test_peeking_and_filters_reach_the_bus(engine):
    fill(engine, 2)
    peek = {"clear": False, "source": "console", "limit": 1}
    assert (await value(engine, "qa_get_runtime_errors", **peek))["remaining"] == 1
    assert (await value(engine, "qa_get_runtime_errors", source="http"))["count"] == 0
    assert (await value(engine, "qa_get_runtime_errors", run_id="none"))["count"] == 0
    assert (await value(engine, "qa_get_runtime_errors"))["count"] == 2
