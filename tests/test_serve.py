"""The real server with a real browser, as a client starts it: ``vfa serve`` over stdio."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
import trio

from tests.mcp_peer import ROOT, exit_code, server_process, text_of

pytestmark = pytest.mark.browser

SERVE = ("-W", "error", "-m", "vfa", "serve")
INSPECTOR = ROOT / ".cache" / "node" / "node_modules" / ".bin" / "mcp-inspector"
BARE = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="x", input_schema={"type": "object"})])

server = Server("bare", version="1", on_list_tools=tools)

async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main, backend="trio")
"""


@pytest.fixture
def serve(environment):
    """Start servers whose files all lie below the test's folder."""

    @asynccontextmanager
    async def start(**more):
        async with server_process(*SERVE, **(environment | more)) as (peer, process):
            await peer.initialize()
            yield peer, process

    return start


@pytest.fixture
def left(tmp_path):
    """Processes that have the test's folder on their command line."""

    def processes():
        found = []
        for process in psutil.process_iter(["cmdline", "status"]):
            line = " ".join(process.info["cmdline"] or ())
            if str(tmp_path) in line and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    return processes


async def wait_until(condition, seconds=5.0):
    """Wait for what the kernel does in its own time."""
    with trio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.02)


def browsers(processes):
    return [p for p in processes if not any("--type=" in part for part in p.cmdline())]


def picture_processes(server) -> list[psutil.Process]:
    children = psutil.Process(server.pid).children()
    return [child for child in children if "python" in child.name()]


async def test_a_session_with_every_tool(serve, site, left, profiles):
    site.page("/", "<h1>Hello</h1><img src=/gone.png><script>console.error('bad')</script>")
    async with serve() as (peer, process):
        assert left() == []  # nothing is started before it is needed
        place = json.loads(text_of(await peer.call("browser_navigate", url=site.url())))
        assert (place["url"], place["status"]) == (site.url("/"), 200)
        where = json.loads(text_of(await peer.call("browser_get_url")))
        assert where == {"url": site.url("/"), "title": "A page", "readyState": "complete"}
        text = json.loads(text_of(await peer.call("browser_get_text", selector="h1")))
        assert text["text"] == "Hello"
        console = json.loads(text_of(await peer.call("browser_get_console", level="error")))
        assert [message["text"] for message in console["messages"]] == ["bad"]
        shot = await peer.call("browser_screenshot", filename="a.png", full_page=True)
        facts = json.loads(text_of(shot))
        assert Path(facts["path"]).name == "a.jpg"
        assert shot["content"][1]["mimeType"] == "image/jpeg"
        report = await peer.call("qa_audit_url", url=site.url(), max_depth=0)
        found = json.loads(text_of(report))
        assert found["status"] == "completed"
        assert "visual/broken-image" in {f["rule"] for f in found["findings"]}
        assert found["screenshots"][0]["data"]
        errors = json.loads(text_of(await peer.call("qa_get_runtime_errors")))
        assert {entry["source"] for entry in errors["entries"]} == {"console", "http"}
        await process.stdin.aclose()
        assert await exit_code(process) == 0
    await wait_until(lambda: left() == [])
    assert profiles() == []


@pytest.mark.parametrize("busy", [False, True], ids=["at rest", "in the middle"])
@pytest.mark.parametrize("ending", ["EOF", signal.SIGTERM, signal.SIGINT])
async def test_however_the_server_is_ended_nothing_is_left(
    serve, site, left, profiles, ending, busy
):
    async with serve() as (peer, process):
        await peer.call("browser_navigate", url=site.page("/", "x"))
        if busy:
            await peer.begin_call("browser_navigate", url=site.hang("/slow"))
            await peer.begin_call("qa_audit_url", url=site.url())
            await wait_until(lambda: ("GET", "/slow") in site.asked)
        if ending == "EOF":
            await process.stdin.aclose()
        else:
            process.send_signal(ending)
        assert await exit_code(process) == 0
    await wait_until(lambda: left() == [])
    assert profiles() == []


@pytest.mark.parametrize("busy", [False, True], ids=["at rest", "in the middle"])
async def test_a_killed_server_leaves_no_process_and_the_next_one_cleans_up(
    serve, site, left, profiles, busy
):
    async with serve() as (peer, process):
        await peer.call("browser_navigate", url=site.page("/", "x"))
        if busy:
            await peer.begin_call("qa_audit_url", url=site.url())
            await peer.begin_call("browser_navigate", url=site.hang("/slow"))
            await wait_until(lambda: ("GET", "/slow") in site.asked)
        process.kill()
        await exit_code(process)
    await wait_until(lambda: left() == [])
    assert len(profiles()) == 1
    async with serve() as (_, process):
        await wait_until(lambda: profiles() == [])
        await process.stdin.aclose()
        assert await exit_code(process) == 0


async def test_a_killed_browser_costs_its_call_and_the_next_one_works(serve, site, left):
    async with serve() as (peer, _):
        await peer.call("browser_navigate", url=site.page("/", "x"))
        number = await peer.begin_call("browser_navigate", url=site.hang("/slow"))
        await wait_until(lambda: ("GET", "/slow") in site.asked)
        (browser,) = browsers(left())
        browser.kill()
        answer = await peer.receive()
        assert answer["id"] == number
        assert answer["result"]["isError"] is True
        assert "[CDP_ERROR]" in text_of(answer["result"])
        again = await peer.call("browser_navigate", url=site.url("/"))
        assert not again.get("isError")
        assert json.loads(again["content"][-1]["text"])["sessionReset"] is True
        assert len((await peer.call("browser_get_url"))["content"]) == 1  # said once


async def test_a_killed_picture_process_costs_at_most_a_picture(serve, site):
    site.page("/", "<img src=/gone.png>" + "<p>x</p>" * 500)
    async with serve() as (peer, process):
        number = await peer.begin_call("qa_audit_url", url=site.url(), max_depth=0)
        await wait_until(lambda: picture_processes(process), 20)
        for child in picture_processes(process):
            child.kill()
        answer = await peer.receive()
        assert answer["id"] == number
        assert json.loads(text_of(answer["result"]))["status"] == "completed"
        again = await peer.call("qa_audit_url", url=site.url(), max_depth=0)
        shots = json.loads(text_of(again))["screenshots"]
        assert {"viewport", "full_page"} <= {shot["name"] for shot in shots}


async def test_a_wedged_page_costs_its_own_call_its_time_and_nobody_else_anything(serve, site):
    url = site.page("/", "<script>onload = () => setTimeout(() => { while (true); })</script>")
    async with serve() as (peer, _):
        await peer.call("browser_navigate", url=url)
        text = await peer.begin_call("browser_get_text", timeout_ms=1500)
        with trio.fail_after(1.2):
            where = await peer.begin_call("browser_get_url")
            answer = await peer.receive()
        assert answer["id"] == where
        assert json.loads(text_of(answer["result"]))["url"] == url
        answer = await peer.receive()
        assert answer["id"] == text
        assert "[TIMEOUT]" in text_of(answer["result"])
        healthy = await peer.call("browser_navigate", url=site.page("/fine", "fine"))
        assert not healthy.get("isError")


async def test_a_cancelled_call_is_stopped_and_frees_the_queue(serve, site):
    async with serve(QUEUE_LIMIT="1") as (peer, _):
        await peer.call("browser_navigate", url=site.page("/", "x"))
        number = await peer.begin_call("browser_navigate", url=site.hang("/slow"))
        await wait_until(lambda: ("GET", "/slow") in site.asked)
        full = await peer.call("browser_navigate", url=site.url())
        assert "[BUSY_QUEUE_FULL]" in text_of(full)
        await peer.send(method="notifications/cancelled", params={"requestId": number})
        for _ in range(50):
            free = await peer.call("browser_navigate", url=site.url())
            if not free.get("isError"):
                break
        assert json.loads(text_of(free))["status"] == 200


async def test_errors_are_coded_for_both_families(serve, site):
    async with serve(VFA_ALLOW_LOCAL_HOST="false") as (peer, _):
        refused = await peer.call("qa_audit_url", url=site.url())
        error = json.loads(text_of(refused))
        assert (error["status"], error["error"]["code"]) == ("error", "SSRF_BLOCKED")
        assert "VFA_ALLOW_LOCAL_HOST" in error["error"]["hint"]
        for url, code in [
            ("file:///etc/passwd", "[INVALID_URL]"),
            ("http://10.0.0.1/", "[SSRF_BLOCKED]"),
            ("http://127.0.0.1:9999/", "[NAVIGATION_FAILED]"),
        ]:
            answer = await peer.call("browser_navigate", url=url)
            assert answer["isError"] is True
            assert text_of(answer).startswith(code)
        missing = await peer.call("browser_get_text", selector="#no", timeout_ms=300)
        assert text_of(missing).startswith("[ELEMENT_NOT_FOUND]")


async def test_initialize_is_answered_about_as_fast_as_by_a_bare_server(serve):
    async def seconds(*command):
        begun = trio.current_time()
        async with server_process(*command) as (peer, _):
            await peer.initialize()
            return trio.current_time() - begun

    ours, bare = [], []
    for _ in range(4):  # in turn, since the machine's speed drifts
        ours.append(await seconds("-m", "vfa", "serve"))
        bare.append(await seconds("-c", BARE))
    assert min(ours) <= 1.2 * min(bare)


async def test_the_server_is_small_before_its_first_call(serve):
    async with serve() as (peer, process):
        await peer.request("tools/list")
        assert psutil.Process(process.pid).memory_info().rss <= 75_000_000


@pytest.mark.client
@pytest.mark.skipif(
    shutil.which("node") is None or not INSPECTOR.exists(),
    reason="needs Node.js and the MCP inspector, which ./dev test installs",
)
async def test_the_inspector_lists_and_calls_our_tools(environment, site):
    url = site.page("/", "x", title="Seen by the inspector")

    async def inspect(*arguments):
        done = await trio.run_process(
            [str(INSPECTOR), "--cli", sys.executable, "-m", "vfa", "serve", *arguments],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, **environment},
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    with trio.fail_after(60):
        listed = await inspect("--method", "tools/list")
        assert "qa_audit_url" in {tool["name"] for tool in listed["tools"]}
        call = ("--method", "tools/call", "--tool-name")
        answer = await inspect(*call, "browser_navigate", "--tool-arg", f"url={url}")
        assert "Seen by the inspector" in answer["content"][0]["text"]
