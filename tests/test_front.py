"""The front: calls, failures, deadlines, cancellation, progress, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from tests.fake_engine import FakeEngine
from tests.mcp_peer import PATIENCE, ROOT, exit_code, served, server_process, text_of
from vfa.actors.ending import wait_for_end_of_parent
from vfa.actors.front import Front
from vfa.actors.progress import ProgressReporter
from vfa.actors.stdio import LineReader, LineWriter
from vfa.audit.request import Progress
from vfa.config import Config
from vfa.tools import all_tools, offered_tools

SLOW = "http://127.0.0.1/slow"


# --- the handshake and the list ---------------------------------------------------------


async def test_the_server_introduces_itself():
    async with served(version=None) as peer:
        hello = await peer.initialize()
        assert hello["serverInfo"]["name"] == "vfa"
        assert hello["serverInfo"]["version"]
        assert hello["protocolVersion"] == "2025-11-25"
        assert "data" in hello["instructions"]
        assert "never follow" in hello["instructions"]
        assert list(hello["capabilities"]) == ["tools"]


async def test_the_list_has_every_tool_with_its_annotations():
    async with served() as peer:
        tools = (await peer.request("tools/list"))["result"]["tools"]
        offered = offered_tools(Config().tools)
        assert [tool["name"] for tool in tools] == [tool.name for tool in offered]
        by_name = {tool["name"]: tool for tool in tools}
        assert by_name["browser_get_text"]["annotations"] == {"readOnlyHint": True}
        assert by_name["browser_navigate"]["annotations"]["destructiveHint"] is False
        assert "outputSchema" in by_name["qa_audit_url"]
        assert "outputSchema" not in by_name["browser_navigate"]


# The tokens of a list were counted with the o200k_base vocabulary on what this test measures:
# all tools 24,393 characters, 5,848 tokens; those of the default 18,559 and 4,424. Words are
# the same everywhere, so the ratio holds for a list with some more of them.
CHARACTERS_PER_TOKEN = 4.17


@pytest.mark.parametrize(("families", "tokens"), [("all", 6_000), (Config().tools, 4_600)])
async def test_the_list_costs_a_client_few_tokens(families, tokens):
    async with served(config=Config(tools=families)) as peer:
        tools = (await peer.request("tools/list"))["result"]["tools"]
        assert len(tools) == len(offered_tools(families))
        text = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
        assert len(text) <= tokens * CHARACTERS_PER_TOKEN


async def test_clients_that_do_not_know_structured_content_get_none():
    async with served(version="2025-03-26") as peer:
        tools = (await peer.request("tools/list"))["result"]["tools"]
        assert not any("outputSchema" in tool for tool in tools)
        assert "structuredContent" not in await peer.call("qa_get_runtime_errors")


async def test_structured_content_does_not_make_the_answer_much_longer():
    async with served() as peer:
        result = await peer.call("qa_audit_url", url="http://127.0.0.1/")
        structured = result["structuredContent"]
        assert structured["status"] == "completed"
        assert "data" not in json.dumps(structured["screenshots"])


# --- calls ------------------------------------------------------------------------------


async def test_a_call_is_answered():
    async with served() as peer:
        result = await peer.call("browser_navigate", url="http://127.0.0.1/")
        assert result["isError"] is False
        assert json.loads(text_of(result))["url"] == "http://127.0.0.1/"


async def test_an_expected_failure_is_an_answer_with_a_code():
    async with served() as peer:
        result = await peer.call("browser_navigate", url="http://127.0.0.1/fail")
        assert result["isError"] is True
        assert text_of(result) == "[NAVIGATION_FAILED] net::ERR_CONNECTION_REFUSED\nStart it."


async def test_a_bug_is_an_internal_error_with_an_id_that_is_in_the_log(caplog):
    async with served() as peer:
        for name in ("browser_navigate", "qa_audit_url"):
            caplog.clear()
            result = await peer.call(name, url="http://127.0.0.1/bug")
            assert result["isError"] is True
            assert "INTERNAL_ERROR" in text_of(result)
            (number,) = re.findall(r"internal error (\w{8})", text_of(result))
            assert number in caplog.text
            assert "KeyError" in caplog.text
            assert "KeyError" not in text_of(result)
        assert (await peer.request("ping"))["result"] == {}


async def test_wrong_arguments_are_refused_without_touching_the_engine():
    async with served() as peer:
        result = await peer.call("browser_navigate", url=5, tiemout_ms=3)
        assert result["isError"] is True
        assert text_of(result).startswith(
            "[INVALID_ARGS] Invalid arguments for browser_navigate"
        )
        assert "did you mean timeout_ms?" in text_of(result)
        qa = await peer.call("qa_audit_url", url="x", max_depth="deep")
        assert json.loads(text_of(qa))["error"]["code"] == "INVALID_ARGS"
        assert peer.engine.session.calls == []
        assert peer.engine.requests == []


async def test_an_unknown_tool_is_a_protocol_error_that_knows_what_was_meant():
    async with served() as peer:
        error = (await peer.request("tools/call", name="browser_navigat", arguments={}))[
            "error"
        ]
        assert error["code"] == -32602
        assert error["message"] == (
            "Tool browser_navigat not found (did you mean browser_navigate?)"
        )
        assert (await peer.request("no/such"))["error"]["code"] == -32601


async def test_ten_megabytes_of_argument_are_refused_and_the_server_lives():
    async with served() as peer, trio.open_nursery() as nursery:
        answers = []

        async def listen():
            answers.append(await peer.receive())

        nursery.start_soon(listen)
        await peer.begin_call("browser_navigate", url="http://127.0.0.1/" + "x" * 10_000_000)
        await trio.testing.wait_all_tasks_blocked()
        while not answers:
            await trio.lowlevel.checkpoint()
        assert answers[0]["result"]["isError"] is True
        assert "10000017 characters" in text_of(answers[0]["result"])
        assert len(text_of(answers[0]["result"])) < 1_000
        assert (await peer.request("ping"))["result"] == {}


async def test_the_loss_of_the_page_is_told_once_with_the_first_success():
    async with served() as peer:
        peer.engine.session.reset = "Chromium restarted after a crash"
        failed = await peer.call("browser_navigate", url="http://127.0.0.1/fail")
        assert len(failed["content"]) == 1
        audited = await peer.call("qa_get_runtime_errors")
        assert len(audited["content"]) == 1
        first = await peer.call("browser_get_url")
        assert json.loads(first["content"][-1]["text"]) == {
            "sessionReset": True,
            "reason": "Chromium restarted after a crash",
        }
        assert len((await peer.call("browser_get_url"))["content"]) == 1


async def test_a_picture_comes_between_the_text_and_the_reset(tmp_path):
    async with served(config=Config(output_dir=str(tmp_path))) as peer:
        peer.engine.session.reset = "why"
        result = await peer.call("browser_screenshot")
        assert [item["type"] for item in result["content"]] == ["text", "image", "text"]
        assert result["content"][1]["mimeType"] == "image/jpeg"


# --- running side by side, giving up ----------------------------------------------------


async def test_a_slow_call_keeps_nobody_waiting():
    async with served() as peer:
        await peer.begin_call("browser_navigate", url=SLOW)
        assert (await peer.request("ping"))["result"] == {}
        assert "tools" in (await peer.request("tools/list"))["result"]
        assert (await peer.call("browser_get_url"))["isError"] is False


async def test_cancelling_a_call_stops_its_work_at_once_and_leaves_it_unanswered():
    async with served() as peer:
        number = await peer.begin_call("browser_navigate", url=SLOW)
        await peer.request("ping")
        await peer.send(method="notifications/cancelled", params={"requestId": number})
        assert (await peer.request("ping"))["result"] == {}
        assert peer.engine.session.abandoned == ["navigate"]


async def test_cancelling_reaches_a_call_that_reports_progress():
    async with served() as peer:
        number = await peer.begin_call("qa_audit_url", token="t", url=SLOW)
        assert (await peer.receive())["method"] == "notifications/progress"
        await peer.send(method="notifications/cancelled", params={"requestId": number})
        assert (await peer.request("ping"))["result"] == {}
        assert peer.engine.session.abandoned == ["audit"]


async def answer_of(engine, name, **arguments):
    """Run a call without any transport, so that the clock may jump."""
    front = Front(engine, engine.config)
    (tool,) = (tool for tool in all_tools() if tool.name == name)
    return await front._answer(tool, arguments, lambda progress: None)


async def test_a_deadline_ends_the_work_and_is_told_in_its_own_words(autojump_clock):
    engine = FakeEngine(Config())
    result = await answer_of(engine, "browser_navigate", url=SLOW, timeout_ms=2_500)
    assert result.is_error
    assert result.texts[0].startswith("[TIMEOUT] Navigation timeout after 2500 ms")
    assert trio.current_time() == pytest.approx(2.5)
    assert engine.session.abandoned == ["navigate"]


@pytest.mark.parametrize(("timeout_ms", "seconds"), [(None, 30), (0, 30), (-5, 30), (1, 0.1)])
async def test_a_deadline_is_the_documented_one(autojump_clock, timeout_ms, seconds):
    arguments = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
    await answer_of(FakeEngine(Config()), "browser_navigate", url=SLOW, **arguments)
    assert trio.current_time() == pytest.approx(seconds)


async def test_the_settings_default_and_cap_deadlines(autojump_clock):
    engine = FakeEngine(Config(tool_timeout_ms=7_000, max_timeout_ms=5_000))
    result = await answer_of(engine, "browser_get_text", selector="#never")
    assert trio.current_time() == pytest.approx(5)
    assert result.texts[0].startswith("[ELEMENT_NOT_FOUND] Element not found: #never")


async def test_an_audit_has_a_moment_more_to_answer_with_what_it_has(autojump_clock):
    result = await answer_of(FakeEngine(Config()), "qa_audit_url", url=SLOW, timeout_ms=1_000)
    assert json.loads(result.texts[0])["error"]["code"] == "TIMEOUT"
    assert trio.current_time() == pytest.approx(11)


# --- progress ---------------------------------------------------------------------------


async def test_progress_is_sent_to_clients_that_ask_for_it_and_grows():
    async with served() as peer:
        number = await peer.begin_call("qa_audit_url", token="t1", url="http://127.0.0.1/steps")
        notes = []
        while (message := await peer.receive()).get("id") != number:
            assert message["method"] == "notifications/progress"
            notes.append(message["params"])
        assert {note["progressToken"] for note in notes} == {"t1"}
        values = [note["progress"] for note in notes]
        assert values == sorted(set(values))
        assert "inspecting (2 of 3 pages)" in notes[-1]["message"]
        assert message["result"]["isError"] is False


async def test_no_progress_is_sent_without_a_token():
    async with served() as peer:
        number = await peer.begin_call("qa_audit_url", url="http://127.0.0.1/steps")
        assert (await peer.receive())["id"] == number


async def test_a_call_that_says_nothing_gives_signs_of_life(autojump_clock):
    notes = []

    async def notify(progress, total, message):
        notes.append((progress, total, message))

    reporter = ProgressReporter("browser_navigate", notify)
    with trio.move_on_after(11):
        await reporter.run()
    assert [message for _, _, message in notes] == [
        "browser_navigate: 5 s",
        "browser_navigate: 10 s",
    ]
    assert 0 < notes[0][0] < notes[1][0] < 1


async def test_progress_never_goes_back_and_a_slow_client_gets_the_newest(autojump_clock):
    notes = []

    async def notify(progress, total, message):
        notes.append((progress, total))
        await trio.sleep(1)

    reporter = ProgressReporter("qa_audit_url", notify)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reporter.run)
        for done, known in ((0, 1), (1, 5), (1, 9), (0, 9), (3, 3)):
            reporter.report(Progress("loading", done, known))
            reporter.report(Progress("inspecting", done, known))
            await trio.sleep(0.4)
        await trio.sleep(2)
        nursery.cancel_scope.cancel()
    values = [progress for progress, _ in notes]
    assert values == sorted(set(values))
    assert len(notes) < 5
    assert notes[-1] == (3, 4)
    assert all(progress < total for progress, total in notes)


# --- lines that are no messages ---------------------------------------------------------


async def test_each_line_that_is_no_message_gets_its_error_and_the_next_is_read():
    lines = {
        b"junk": (None, -32700),
        b"": (None, -32700),
        b"\xff\xfe": (None, -32700),
        b'{"jsonrpc":"2.0","id":1': (None, -32700),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\ud800"}}': (None, -32700),
        b"[" * 100_000: (None, -32700),
        b"[]": (None, -32600),
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]': (None, -32600),
        b"5": (None, -32600),
        b"{}": (None, -32600),
        b'{"jsonrpc":"1.0","id":7,"method":"ping"}': (7, -32600),
        b'{"jsonrpc":"2.0","id":"x","method":5}': ("x", -32600),
        b'{"jsonrpc":"2.0","id":8,"method":"ping","params":[1]}': (8, -32600),
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}': (None, -32600),
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}': (None, -32600),
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}': (None, -32600),
    }
    async with served() as peer:
        for line, (number, code) in lines.items():
            await peer.send_line(line)
            answer = await peer.receive()
            assert (answer["id"], answer["error"]["code"]) == (number, code), line[:100]
            assert answer["error"]["message"]
        assert (await peer.request("ping"))["result"] == {}


async def test_responses_nobody_asked_for_and_unknown_notifications_are_ignored():
    async with served() as peer:
        await peer.send(id=99, result={})
        await peer.send(method="notifications/unheard_of")
        assert (await peer.request("ping"))["result"] == {}


async def lines_of(chunks, limit=10):
    read, write = os.pipe()
    try:
        reader = LineReader(read, limit)
        for chunk in chunks:
            os.write(write, chunk)
        os.close(write)
        with trio.fail_after(PATIENCE):
            return [line async for line in reader]
    finally:
        os.close(read)


async def test_lines_are_read_whatever_their_pieces():
    assert await lines_of([b"a\nb", b"c\n", b"\n", b"d"]) == [b"a", b"bc", b"", b"d"]


async def test_a_line_over_the_limit_is_read_away_and_the_next_one_counts():
    assert await lines_of([b"0123456789\n"]) == [b"0123456789"]
    assert await lines_of([b"01234567890\nok\n"]) == [None, b"ok"]
    assert await lines_of([b"x" * 50_000 + b"\nok\n"]) == [None, b"ok"]
    assert await lines_of([b"x" * 50_000]) == [None]


async def test_a_client_that_does_not_read_stops_only_the_writer():
    read, write = os.pipe()
    writer = LineWriter(write)
    try:
        with trio.move_on_after(0) as scope:
            await writer.write(b"x" * 10_000_000)
        assert scope.cancelled_caught
    finally:
        writer.close()
        assert os.get_blocking(write)  # as it was found
        os.close(read)
        os.close(write)


async def test_a_file_can_stand_for_a_pipe(tmp_path):
    path = tmp_path / "lines"
    with path.open("wb") as out:
        writer = LineWriter(out.fileno())
        await writer.write(b"one\ntwo\n")
        writer.close()
    with path.open("rb") as file:
        assert [line async for line in LineReader(file.fileno())] == [b"one", b"two"]


# --- how it ends ------------------------------------------------------------------------


async def test_the_end_of_input_ends_the_server_even_under_a_running_call():
    async with server_process() as (peer, process):
        await peer.initialize()
        await peer.begin_call("browser_navigate", url=SLOW)
        await process.stdin.aclose()
        assert await exit_code(process) == 0


async def test_quick_questions_are_answered_although_input_ended_behind_them():
    async with server_process() as (peer, process):
        await peer.begin(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "p", "version": "1"},
        )
        await peer.send(method="notifications/initialized")
        await peer.begin("tools/list")
        await process.stdin.aclose()
        assert (await peer.receive())["result"]["serverInfo"]["name"] == "vfa"
        assert "tools" in (await peer.receive())["result"]
        assert await exit_code(process) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_server_while_input_stays_open(number):
    async with server_process() as (peer, process):
        await peer.initialize()
        await peer.begin_call("browser_navigate", url=SLOW)
        await peer.request("ping")
        process.send_signal(number)
        assert await exit_code(process) == 0


async def test_a_client_that_stops_reading_ends_the_server():
    async with server_process() as (peer, process):
        await peer.initialize()
        await process.stdout.aclose()
        await peer.begin("ping")
        assert await exit_code(process) == 0


LAUNCHER = """
import subprocess, sys, time
server = subprocess.Popen([sys.executable, "-m", "tests.serve_fake"])
sys.stderr.write(f"{server.pid}\\n")
sys.stderr.flush()
time.sleep(600)
"""


async def test_the_death_of_the_parent_ends_the_server_while_input_stays_open():
    async with server_process("-c", LAUNCHER, stderr=subprocess.PIPE) as (peer, process):
        server = int(await anext(LineReader(process.stderr.fileno())))
        try:
            await peer.initialize()
            process.kill()
            assert await peer.at_the_end()
        finally:
            await process.stderr.aclose()
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)


async def test_a_parent_is_watched_where_there_are_no_pidfds(monkeypatch, autojump_clock):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    parents = [5, 5, 5, 1]
    await wait_for_end_of_parent(5, getppid=lambda: parents.pop(0))
    assert trio.current_time() == pytest.approx(3)


async def test_a_parent_that_is_gone_already_is_not_waited_for():
    with trio.fail_after(PATIENCE):
        await wait_for_end_of_parent(os.getpid(), getppid=lambda: 1)


async def test_stray_output_does_not_reach_the_wire(tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        async with server_process(stderr=stderr) as (peer, process):
            await peer.initialize()
            result = await peer.call("browser_navigate", url="http://127.0.0.1/print")
            assert result["isError"] is False
            await process.stdin.aclose()
            assert await exit_code(process) == 0
            assert await peer.at_the_end()
    assert "this is not JSON" in log.read_text()
    assert "[MCP] Server started" in log.read_text()


async def test_the_log_never_holds_credentials_of_a_url(tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        async with server_process(stderr=stderr) as (peer, process):
            await peer.initialize()
            await peer.call("browser_navigate", url="http://u:hunter2@127.0.0.1/?token=hunter3")
            await process.stdin.aclose()
            assert await exit_code(process) == 0
    assert "hunter" not in log.read_text()
    assert "[MCP] Navigating to" in log.read_text()


# --- the weight of it -------------------------------------------------------------------

HEAVY = ("httpx2", "jsonschema", "mcp.client.client", "mcp.server.mcpserver")
OURS = ("PIL", "jinja2", "rich", "psutil", "trio_websocket", "vfa.report", "vfa.cli")


def python(program: str) -> str:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return run.stdout.strip()


REAL = """
from vfa.actors.front import serve_stdio
from vfa.config import Config
serve_stdio(Config())
"""


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
async def test_the_real_server_is_small_before_the_first_call():
    async with server_process("-c", REAL) as (peer, process):
        await peer.initialize()
        await peer.request("tools/list")
        assert resident_bytes(process.pid) < 75_000_000
        await process.stdin.aclose()
        assert await exit_code(process) == 0


def test_the_front_does_not_import_what_it_does_not_use():
    program = f"""
import sys
from contextlib import suppress
from pathlib import Path
from vfa.actors import front, sdk
print(sdk.light, [name for name in {HEAVY + OURS} if name in sys.modules])
"""
    assert python(program) == "True []"


def test_the_rest_of_the_sdk_is_there_for_who_asks():
    program = """
from vfa.actors import sdk
import mcp, mcp.server
from mcp import Client, ClientSession
from mcp.server import MCPServer, Server
from mcp.server.lowlevel import Server as LowLevel
assert Server is LowLevel is sdk.Server
assert mcp.Client is Client
print(hasattr(mcp, "nothing_of_the_kind"), type(mcp).__name__)
"""
    assert python(program) == "False module"


@pytest.mark.parametrize(
    "spoiler",
    [
        "import mcp",
        """
import importlib
real = importlib.import_module
def without_wire_base(name, *package, **more):
    if name == "mcp_types._wire_base":
        raise ImportError(name)
    return real(name, *package, **more)
importlib.import_module = without_wire_base
""",
        """
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "mcp.server.lowlevel" else real(name)
""",
    ],
)
def test_an_sdk_that_is_not_as_expected_is_imported_plainly(spoiler):
    program = f"""
{spoiler}
from vfa.actors import sdk
print(sdk.light, sdk.Server("x").name)
"""
    assert python(program) == "False x"
