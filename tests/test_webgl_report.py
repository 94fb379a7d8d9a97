"""What is said about WebGL: verdicts, traces in brief, and answers within their limits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.config import Config
from vfa.errors import InvalidArgsError
from vfa.page.records import ConsoleMessage
from vfa.page.webgl import Canvas, Canvases, Pixels, Position, Size
from vfa.page.webgl_report import (
    RING,
    console_hits,
    describe_canvases,
    describe_webgl,
    effective,
    summarise,
    verdict,
)
from vfa.page.webgl_shim import TOKEN, Recorded, script
from vfa.tools.answer import encode
from vfa.tools.arguments import read_arguments
from vfa.tools.webgl import WEBGL, within

TOOLS = {tool.name: tool for tool in WEBGL}


def context(ok, mock=False):
    return {"ok": True, "mock": mock} if ok else {"ok": False, "error": "no driver"}


def probed(webgl, webgl2, shim=None):
    return {
        "webgl": context(webgl),
        "webgl2": context(webgl2),
        "offscreen": {
            "webgl": {"supported": True, "ok": webgl, "mock": False},
            "webgl2": {"supported": False},
        },
        "interfaces": {"OffscreenCanvas": True},
        "shim": shim,
    }


ABOUT = {
    "vendor": "v",
    "renderer": "r",
    "version": "WebGL 1.0 (m)",
    "maxTextureSize": 1,
    "maxRenderbufferSize": 1,
    "extensions": [f"E{number}" for number in range(30)],
}
SHIM = {"mode": "trace", "mockedContexts": 2, "about": {"webgl": ABOUT, "webgl2": ABOUT}}


@pytest.mark.parametrize(
    ("webgl", "webgl2", "shim", "word", "usable"),
    [
        (True, True, None, "real", True),
        (True, False, None, "real", True),
        (False, False, None, "unavailable", False),
        (False, False, SHIM, "shimmed", False),
        (True, False, SHIM, "mixed", True),
        (True, True, SHIM, "real", True),
    ],
)
def test_one_word_says_what_a_page_gets(webgl, webgl2, shim, word, usable):
    value = describe_webgl(probed(webgl, webgl2, shim), [])
    assert (value["effective"], value["usable"]) == (word, usable)
    assert ("reason" in value) == ("advice" in value) == (word != "real")
    assert value["shim"]["active"] is (shim is not None)
    assert "consoleHits" not in value


def test_a_mixture_says_which_is_which():
    value = describe_webgl(probed(webgl=True, webgl2=False, shim=SHIM), [])
    assert value["effectiveBy"] == {"webgl": "real", "webgl2": "shimmed"}
    assert value["webgl2"]["mock"] is True
    assert (value["webgl2"]["extensionCount"], len(value["webgl2"]["extensions"])) == (30, 20)
    assert value["webgl2"]["realError"] == "no driver"
    assert value["reason"].startswith("webgl2 is a stand-in")
    assert value["offscreen"] == {
        "webgl": {"supported": True, "ok": True, "mock": False},
        "webgl2": {"supported": False},
    }


def test_missing_webgl_names_chromiums_reason_and_both_ways_out():
    value = describe_webgl(probed(webgl=False, webgl2=False), [])
    assert "no driver" in value["reason"]
    assert "ENABLE_WEBGL_SHIM=1" in value["advice"]
    assert effective({"webgl": "unavailable", "webgl2": "real"}) == "real"


def message(text, level="error"):
    return ConsoleMessage(level=level, text=text, timestamp=0.0)


def test_the_console_is_read_for_the_complaints_of_engines():
    hits = console_hits(
        [
            message("THREE.WebGLRenderer: A WebGL context could not be created."),
            message("Babylon.js: WebGL not supported"),
            message("PixiJS: WebGL is gone", level="warning"),
            message("Failed to initialize WebGL"),
            message("unrelated"),
            message("WebGL is fine", level="log"),
            message("GPU stall " + "x" * 1000),
        ]
    )
    assert [hit["library"] for hit in hits] == [
        "three.js",
        "babylon.js",
        "pixijs",
        "mapbox/maplibre",
        None,
    ]
    assert len(hits[-1]["text"]) == 300
    assert len(console_hits([message("webgl")] * 50)) == 10


def canvas(**more):
    size = Size(10, 10)
    return Canvas(
        id=None,
        class_name=None,
        attribute_size=size,
        css_size=size,
        position=Position(0, 0),
        light=True,
        **more,
    )


BLANK = Pixels(unique_colors=1, blank=True, color=(0, 0, 0, 0))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (canvas(), "zero size"),
        (canvas(pixels=BLANK), "nothing drawn"),
        (canvas(pixels=BLANK, mock_context_type="webgl2"), "blank on purpose: its webgl2"),
        (canvas(pixels=BLANK, transferred=True), "offscreencanvas"),
        (canvas(pixels=BLANK, webgl="webgl", preserved=False), "proves nothing"),
        (canvas(pixels=BLANK, webgl="webgl", preserved=True), "nothing drawn"),
        (canvas(pixels=Pixels(error="SecurityError", tainted=True)), "tainted"),
        (canvas(pixels=Pixels(error="out of memory")), "could not be read (out of memory)"),
        (canvas(pixels=Pixels(unique_colors=1, color=(1, 2, 3, 128))), "rgba(1, 2, 3, 0.502)"),
        (canvas(pixels=Pixels(unique_colors=9)), "has pixel content"),
        (canvas(pixels=Pixels(unique_colors=9), in_frame=True), "within an animation frame"),
    ],
)
def test_each_state_of_a_canvas_has_its_words(one, words):
    assert words in verdict(one).lower()


def test_what_was_left_out_is_said():
    value = describe_canvases(Canvases(7, (canvas(pixels=BLANK),)))
    assert (value["count"], value["truncated"], value["blank"]) == (7, True, 1)


def recorded(records=(), origin=0.0, realm="page", **more):
    counts = {}
    for record in records:
        counts[record["kind"]] = counts.get(record["kind"], 0) + 1
    stats = {"draws": float(len(records)), "triangles": 2.0}
    return Recorded(
        mode=more.pop("mode", "trace"),
        stats=stats,
        contexts={"real": 0, "mocked": 1},
        counts=counts,
        records=tuple(records),
        shaders=(),
        textures=(),
        origin=origin,
        realm=realm,
    )


def draw(at, index=1):
    return {"kind": "drawArrays", "t": at, "mode": 4, "count": 3, "drawIndex": index}


def test_what_several_realms_did_is_told_in_the_order_of_time():
    page = recorded([draw(5, 1), draw(30, 2)], origin=1000)
    worker = recorded([draw(1, 3)], origin=1010, realm="worker")
    value = summarise([page, worker], cleared=True)
    assert [record["drawIndex"] for record in value["draws"]] == [1, 3, 2]
    assert value["stats"] == {"draws": 3, "triangles": 4}
    assert value["contexts"] == {"real": 0, "mocked": 2}
    assert [realm["realm"] for realm in value["realms"]] == ["page", "worker"]
    assert value["cleared"] is True


@given(st.lists(st.integers(0, 600), min_size=1, max_size=3))
def test_a_trace_never_has_more_than_its_ring(sizes):
    realms = [recorded([draw(at) for at in range(size)]) for size in sizes]
    value = summarise(realms, cleared=False)
    assert value["recordCount"] == min(RING, sum(sizes))
    assert value["recordCount"] + value["droppedRecords"] == sum(sizes)
    assert len(value["draws"]) == min(60, sum(sizes))
    assert ("note" in value) == (sum(sizes) == 0)


@given(st.text(max_size=3000), st.integers(400, 3000))
def test_a_trace_is_cut_to_its_limit_and_says_so(text, limit):
    value = {
        "available": True,
        "shaders": [{"source": text.encode("utf-8", "replace").decode()}],
    }
    cut = within(value, limit)
    if len(encode(value)) <= limit:
        assert cut == value
    else:
        assert len(encode(cut)) <= limit
        assert cut["truncated"] is True
        assert "MAX_WEBGL_TRACE_LENGTH" in cut["reason"]
        assert encode(value).startswith(cut["json"])


def test_the_sources_are_static_and_the_secret_is_not_in_them():
    program = script("trace")
    assert program.startswith('"use strict";')
    assert program.count(TOKEN) == 1
    assert json.dumps("trace") in program
    assert "</script" not in program


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("browser_canvas_info", {"max_canvases": 0}),
        ("browser_canvas_info", {"max_canvases": 201}),
        ("browser_webgl_shim", {}),
        ("browser_webgl_shim", {"mode": "on"}),
        ("browser_webgl_trace", {"clear": "yes"}),
        ("browser_webgl_info", {"mode": "x"}),
    ],
)
def test_wrong_arguments_are_refused_before_anything_starts(name, arguments):
    with pytest.raises(InvalidArgsError):
        read_arguments(TOOLS[name], arguments, Config())
