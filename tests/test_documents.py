"""Where a tab is, told by events alone."""

from __future__ import annotations

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from vfa.cdp.dialogue import Event
from vfa.page.documents import REMEMBERED, Documents


def event(method, /, **params) -> Event:
    return Event(f"Page.{method}", msgspec.Raw(msgspec.json.encode(params)), "S")


def commit(loader, url="http://a/", frame="F", **more) -> Event:
    return event("frameNavigated", frame={"id": frame, "loaderId": loader, "url": url, **more})


def milestone(loader, name, frame="F") -> Event:
    return event("lifecycleEvent", frameId=frame, loaderId=loader, name=name)


@pytest.fixture
def documents():
    return Documents("F")


def test_a_document_goes_from_loading_to_complete(documents):
    documents.hear(commit("1", "http://a/x"))
    states = [documents.ready_state]
    for name in ("DOMContentLoaded", "load"):
        documents.hear(milestone("1", name))
        states.append(documents.ready_state)
    assert states == ["loading", "interactive", "complete"]
    assert documents.url == "http://a/x"


def test_milestones_of_an_old_document_say_nothing_of_the_new_one(documents):
    documents.hear(commit("1"))
    documents.hear(commit("2"))
    documents.hear(milestone("1", "load"))
    assert documents.ready_state == "loading"
    assert documents.reached("1", "load")


def test_what_frames_do_is_not_what_the_tab_does(documents):
    documents.hear(commit("1", "http://a/"))
    documents.hear(commit("9", "http://frame/", frame="G", parentId="F"))
    documents.hear(milestone("9", "load", frame="G"))
    documents.hear(event("navigatedWithinDocument", frameId="G", url="http://frame/#x"))
    assert (documents.url, documents.loader_id, documents.commits) == ("http://a/", "1", 1)
    assert documents.ready_state == "loading"


def test_a_move_within_the_document_changes_the_url_and_nothing_else(documents):
    documents.hear(commit("1", "http://a/"))
    documents.hear(milestone("1", "load"))
    documents.hear(event("navigatedWithinDocument", frameId="F", url="http://a/#b"))
    assert (documents.url, documents.ready_state) == ("http://a/#b", "complete")
    assert (documents.commits, documents.same_document) == (1, 1)


def test_a_started_navigation_is_over_with_its_commit_or_when_loading_stops(documents):
    start = event("frameStartedNavigating", frameId="F", loaderId="1", url="http://a/")
    documents.hear(start)
    assert documents.starting == "1"
    documents.hear(commit("1"))
    assert documents.starting == ""
    documents.hear(start)
    documents.hear(event("frameStoppedLoading", frameId="F"))
    assert documents.starting == ""


@pytest.mark.parametrize(("delay", "soon"), [(0, True), (1, True), (1.1, False), (300, False)])
def test_only_a_redirect_that_is_due_soon_is_waited_for(documents, delay, soon):
    documents.hear(event("frameScheduledNavigation", frameId="F", delay=delay, url="http://b/"))
    assert documents.scheduled is soon


async def test_a_waiting_task_looks_again_after_each_event(documents, nursery):
    done = trio.Event()

    async def wait():
        await documents.wait_until(lambda: documents.ready_state == "complete")
        done.set()

    nursery.start_soon(wait)
    documents.hear(commit("1"))
    await trio.testing.wait_all_tasks_blocked()
    assert not done.is_set()
    documents.hear(milestone("1", "load"))
    await trio.testing.wait_all_tasks_blocked()
    assert done.is_set()


@given(st.lists(st.integers(0, 200), max_size=100))
def test_a_tab_that_navigates_for_ever_remembers_a_bounded_number_of_loaders(loaders):
    documents = Documents("F")
    for loader in loaders:
        documents.hear(commit(str(loader)))
        documents.hear(milestone(str(loader), "load"))
        assert documents.ready_state == "complete"
    assert len(documents._milestones) <= REMEMBERED + 1
