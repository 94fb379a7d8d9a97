"""Following the frames of a tab through the events of its sessions."""

from __future__ import annotations

import msgspec
import pytest

from vfa.cdp.dialogue import Event
from vfa.cdp.session import Session
from vfa.page.frames import MAX_FRAMES, Frames, Refs, Tree

MAIN, CHILD = Session(None, "main"), Session(None, "child")  # nothing is sent


def event(method, **params):
    return Event(method, msgspec.Raw(msgspec.json.encode(params)), None)


def attached(frame, parent):
    return event("Page.frameAttached", frameId=frame, parentFrameId=parent)


def navigated(frame, parent=None, url="https://a.example/"):
    return event("Page.frameNavigated", frame={"id": frame, "parentId": parent, "url": url})


def detached(frame, reason="remove"):
    return event("Page.frameDetached", frameId=frame, reason=reason)


@pytest.fixture
def frames():
    return Frames(MAIN, "top", Refs())


def ids(frames):
    return [frame.id for frame in frames]


def test_frames_are_kept_in_the_order_they_came(frames):
    for each in (attached("a", "top"), attached("b", "a"), attached("c", "top")):
        frames.hear(each, MAIN)

    assert ids(frames) == ["top", "a", "b", "c"]
    assert frames.by_id("b").parent is frames.by_id("a")


def test_a_frame_that_is_removed_takes_those_inside_with_it(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.hear(attached("b", "a"), MAIN)
    inner = frames.by_id("b")
    frames.hear(detached("a"), MAIN)

    assert ids(frames) == ["top"]
    assert inner.gone


def test_a_frame_that_moves_to_another_process_keeps_its_place(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.by_id("a").world = 7
    frames.enter("a", CHILD)
    frames.hear(detached("a", "swap"), MAIN)

    assert frames.by_id("a").session is CHILD
    assert frames.by_id("a").world is None


def test_a_frame_that_comes_back_from_another_process_is_reached_by_the_tab_again(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.enter("a", CHILD)
    frames.hear(navigated("a", "top"), MAIN)
    frames.leave("child")

    assert frames.by_id("a").session is MAIN


def test_frames_of_a_session_that_is_over_are_forgotten(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.enter("a", CHILD)
    frames.hear(attached("b", "a"), CHILD)
    frames.leave("child")

    assert ids(frames) == ["top"]


def test_a_new_document_has_none_of_the_frames_of_the_old_one(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.main.world = 3
    frames.hear(navigated("top"), MAIN)

    assert ids(frames) == ["top"]
    assert frames.main.world is None
    assert frames.main.url == "https://a.example/"


def test_the_main_frame_may_get_another_id(frames):
    frames.hear(navigated("other"), MAIN)

    assert ids(frames) == ["other"]
    assert frames.main.id == "other"


def test_frames_are_numbered_when_they_are_named_and_never_alike(frames):
    frames.hear(attached("a", "top"), MAIN)
    frames.hear(attached("b", "top"), MAIN)
    assert frames.name(frames.main) == ""
    assert frames.name(frames.by_id("b")) == "f1"
    assert frames.name(frames.by_id("a")) == "f2"
    assert frames.name(frames.by_id("b")) == "f1"
    frames.hear(detached("b"), MAIN)
    frames.hear(attached("c", "top"), MAIN)

    assert frames.by_number(1) is None
    assert frames.name(frames.by_id("c")) == "f3"


def test_names_go_on_where_a_page_before_left_off():
    refs = Refs("t2")
    old = Frames(MAIN, "top", refs)
    old.hear(attached("a", "top"), MAIN)
    assert old.name(old.by_id("a")) == "t2f1"
    new = Frames(CHILD, "next", refs)
    new.hear(attached("a", "next"), CHILD)

    assert new.name(new.main) == "t2"
    assert new.name(new.by_id("a")) == "t2f2"


def test_what_was_there_before_is_taken_over(frames):
    tree = {
        "frame": {"id": "top", "url": "https://a.example/"},
        "childFrames": [
            {
                "frame": {
                    "id": "a",
                    "parentId": "top",
                    "url": "https://b.example/",
                    "urlFragment": "#x",
                }
            }
        ],
    }
    frames.seed(msgspec.convert(tree, Tree), MAIN)

    assert ids(frames) == ["top", "a"]
    assert frames.by_id("a").url == "https://b.example/#x"


def test_a_page_cannot_make_us_follow_any_number_of_frames(frames):
    for number in range(MAX_FRAMES + 50):
        frames.hear(attached(f"f{number}", "top"), MAIN)

    assert len(frames) == MAX_FRAMES
