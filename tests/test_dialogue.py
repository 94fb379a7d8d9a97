"""The CDP conversation, without a socket."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from vfa.cdp.dialogue import Answer, Detached, Dialogue, Event
from vfa.errors import CdpError, SessionGoneError


def said(**frame: object) -> bytes:
    return msgspec.json.encode(frame)


def attached(session_id: str, *, by: str | None = None) -> bytes:
    above = {"sessionId": by} if by else {}
    return said(method="Target.attachedToTarget", params={"sessionId": session_id}, **above)


def detached(session_id: str, *, by: str | None = None) -> bytes:
    above = {"sessionId": by} if by else {}
    return said(method="Target.detachedFromTarget", params={"sessionId": session_id}, **above)


def test_a_command_is_a_frame_of_flat_cdp():
    id_, frame = Dialogue().command("Page.navigate", {"url": "about:blank"}, "S")
    assert msgspec.json.decode(frame) == {
        "id": id_,
        "method": "Page.navigate",
        "params": {"url": "about:blank"},
        "sessionId": "S",
    }
    _, frame = Dialogue().command("Browser.getVersion", {})
    assert "sessionId" not in msgspec.json.decode(frame)


def test_answers_may_arrive_in_any_order():
    dialogue = Dialogue()
    first, _ = dialogue.command("Page.navigate", {"url": "about:blank"})
    second, _ = dialogue.command("Page.enable", {}, session_id="S")
    for id_ in (second, first):
        heard = dialogue.receive(said(id=id_, result={}))
        assert isinstance(heard, Answer)
        assert heard.id == id_
    assert dialogue.pending == set()


def test_an_error_names_the_command_it_answers():
    dialogue = Dialogue()
    id_, _ = dialogue.command("DOM.getDocument", {})
    heard = dialogue.receive(said(id=id_, error={"code": -32000, "message": "no"}))
    assert isinstance(heard, Answer)
    assert isinstance(heard.outcome, CdpError)
    assert str(heard.outcome) == "CDP Error: no (DOM.getDocument, -32000)"


def test_a_command_to_a_session_that_is_gone_already_fails_as_such():
    dialogue = Dialogue()
    id_, _ = dialogue.command("Page.enable", {}, "S")
    error = {"code": -32001, "message": "Session with given id not found."}
    heard = dialogue.receive(said(id=id_, error=error))
    assert isinstance(heard, Answer)
    assert isinstance(heard.outcome, SessionGoneError)


def test_an_event_keeps_its_parameters_undecoded():
    heard = Dialogue().receive('{"method":"Page.loadEventFired","params":{"timestamp":1.5}}')
    assert isinstance(heard, Event)
    assert bytes(heard.params) == b'{"timestamp":1.5}'


def test_a_command_that_cannot_be_encoded_leaves_nothing_behind():
    dialogue = Dialogue()
    with pytest.raises(TypeError):
        dialogue.command("Page.navigate", {"url": object()})
    assert dialogue.pending == set()


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"{}",
        b"[1]",
        b"nonsense",
        b'{"id":"1"}',
        b'{"method":"Target.detachedFromTarget","params":{}}',
        b'{"id":1,"result":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"id":1,"result":"\\ud8',
    ],
)
def test_a_frame_that_is_not_cdp_is_refused(frame):
    with pytest.raises(msgspec.DecodeError):
        Dialogue().receive(frame)


@pytest.mark.parametrize("kind", [bytes, str])
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"a\ud800b", "a\ufffdb"),
        (rb"\uDC00", "\ufffd"),
        (rb"\ud83d\ude00 \ud83d", "\U0001f600 \ufffd"),
        (rb"\ud800\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\ud800\u0041", "\ufffdA"),
        (rb"\\ud800 \udfff", r"\ud800 " + "\ufffd"),
        (rb"\\\ud800", "\\\ufffd"),
        (rb"\\ud83d\udc00", r"\ud83d" + "\ufffd"),
        (rb"\ud800\n", "\ufffd\n"),
    ],
)
def test_half_a_surrogate_pair_in_a_page_does_not_spoil_the_frame(written, meant, kind):
    frame = b'{"method":"Log.entryAdded","params":["' + written + b'"]}'
    heard = Dialogue().receive(frame if kind is bytes else frame.decode())
    assert isinstance(heard, Event)
    assert msgspec.json.decode(heard.params) == [meant]


UNITS = st.sampled_from([0x41, 0x5C, 0x75, 0xD83D, 0xD800, 0xDBFF, 0xDC00, 0xDE00, 0xDFFF])


@given(st.lists(UNITS))
def test_any_text_of_javascript_arrives(units):
    escaped = "".join(f"\\u{unit:04x}" for unit in units)
    heard = Dialogue().receive(f'{{"method":"m","params":"{escaped}"}}')
    assert isinstance(heard, Event)
    utf16 = b"".join(unit.to_bytes(2, "big") for unit in units)
    expected = "".join(
        "\ufffd" if "\ud800" <= c <= "\udfff" else c
        for c in utf16.decode("utf-16-be", "surrogatepass")
    )
    assert msgspec.json.decode(heard.params) == expected


def test_a_session_that_ends_orphans_its_commands_and_no_others():
    dialogue = Dialogue()
    ours, _ = dialogue.command("Runtime.evaluate", {}, "S")
    other, _ = dialogue.command("Runtime.evaluate", {}, "T")
    browsers, _ = dialogue.command("Browser.getVersion", {})
    heard = dialogue.receive(detached("S"))
    assert isinstance(heard, Detached)
    assert heard.sessions == ("S",)
    assert heard.orphans == (ours,)
    assert dialogue.pending == {other, browsers}
    assert dialogue.receive(said(id=ours, result={})) is None


def test_a_session_takes_the_ones_below_it_along():
    dialogue = Dialogue()
    for frame in (attached("tab"), attached("frame", by="tab"), attached("worker", by="frame")):
        dialogue.receive(frame)
    dialogue.receive(attached("other"))
    id_, _ = dialogue.command("Runtime.evaluate", {}, "worker")
    heard = dialogue.receive(detached("tab"))
    assert isinstance(heard, Detached)
    assert heard.sessions == ("tab", "frame", "worker")
    assert heard.orphans == (id_,)


def test_a_session_that_ended_first_is_not_ended_again_with_its_parent():
    dialogue = Dialogue()
    dialogue.receive(attached("frame", by="tab"))
    dialogue.receive(detached("frame", by="tab"))
    heard = dialogue.receive(detached("tab"))
    assert isinstance(heard, Detached)
    assert heard.sessions == ("tab",)


def test_closing_returns_the_commands_that_will_never_be_answered():
    dialogue = Dialogue()
    ids = [dialogue.command("Page.enable", {})[0] for _ in range(3)]
    dialogue.forget(ids[1])
    assert dialogue.close() == [ids[0], ids[2]]
    assert dialogue.pending == set()


def test_the_dialogue_needs_no_event_loop():
    check = "import sys, vfa.cdp.dialogue; sys.exit('trio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


class Conversation(RuleBasedStateMachine):
    """Any interleaving of commands, answers, give-ups and lost sessions ends each one once."""

    sessions = st.sampled_from([None, "A", "B"])

    def __init__(self) -> None:
        super().__init__()
        self.dialogue = Dialogue()
        self.open: dict[int, str | None] = {}
        self.sent: list[int] = []

    @rule(method=st.sampled_from(["Page.enable", "Runtime.evaluate"]), session=sessions)
    def send(self, method, session):
        id_, _ = self.dialogue.command(method, {}, session)
        assert id_ not in self.sent
        self.sent.append(id_)
        self.open[id_] = session

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), fails=st.booleans())
    def answer(self, data, fails):
        id_ = data.draw(st.sampled_from(self.sent))  # answered or forgotten ones as well
        body = {"error": {"code": 1, "message": "m"}} if fails else {"result": {}}
        heard = self.dialogue.receive(said(id=id_, **body))
        assert (heard is not None) == (id_ in self.open)
        self.open.pop(id_, None)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def give_up(self, data):
        id_ = data.draw(st.sampled_from(sorted(self.open)))
        self.dialogue.forget(id_)
        del self.open[id_]

    @rule(session=st.sampled_from(["A", "B"]))
    def lose_session(self, session):
        heard = self.dialogue.receive(detached(session))
        assert isinstance(heard, Detached)
        lost = {id_ for id_, of in self.open.items() if of == session}
        assert set(heard.orphans) == lost
        for id_ in lost:
            del self.open[id_]

    @rule()
    def close(self):
        assert set(self.dialogue.close()) == set(self.open)
        self.open.clear()

    @invariant()
    def nothing_leaks(self):
        assert self.dialogue.pending == set(self.open)


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=50, deadline=None)
