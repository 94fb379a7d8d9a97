"""The ``mcp`` SDK's own client against our server, in both eras of the protocol."""

from __future__ import annotations

import base64
import json
import sys

import pytest
import trio
from mcp import Client, MCPError, StdioServerParameters

from tests.fake_engine import JPEG
from tests.mcp_peer import PATIENCE, ROOT
from vfa.config import Config
from vfa.tools import offered_tools

pytestmark = pytest.mark.client

ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def client(mode, **environment):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", "-m", "tests.serve_fake"],
        cwd=ROOT,
        env=environment,
    )
    return Client(server, mode=mode)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_session_from_the_greeting_to_the_end(mode, tmp_path):
    with trio.fail_after(3 * PATIENCE):
        async with client(mode, OUTPUT_DIR=str(tmp_path)) as peer:
            assert peer.session.protocol_version == ERAS[mode]

            tools = {tool.name: tool for tool in (await peer.list_tools()).tools}
            assert list(tools) == [tool.name for tool in offered_tools(Config().tools)]
            assert tools["browser_get_url"].annotations.read_only_hint is True
            assert tools["qa_audit_url"].output_schema["type"] == "object"

            there = await peer.call_tool("browser_navigate", {"url": "http://127.0.0.1/"})
            assert json.loads(there.content[0].text)["status"] == 200

            shot = await peer.call_tool("browser_screenshot", {"filename": "a"})
            assert base64.b64decode(shot.content[1].data) == JPEG
            assert (tmp_path / "a.jpg").read_bytes() == JPEG


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_structured_content_passes_the_clients_own_check(mode):
    with trio.fail_after(3 * PATIENCE):
        async with client(mode) as peer:
            notes = []

            async def note(progress, total, message):
                notes.append(progress)

            # The client raises where the structured content does not fit the output schema.
            report = await peer.call_tool(
                "qa_audit_url", {"url": "http://127.0.0.1/steps"}, progress_callback=note
            )
            assert report.structured_content["findings"][0]["id"] == "FND-001"
            assert "data" in json.loads(report.content[0].text)["screenshots"][0]
            assert notes
            errors = await peer.call_tool("qa_get_runtime_errors", {})
            assert errors.structured_content["count"] == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_failures_arrive_as_failures(mode):
    with trio.fail_after(3 * PATIENCE):
        async with client(mode) as peer:
            refused = await peer.call_tool("browser_navigate", {"url": "file:///etc/passwd"})
            assert refused.is_error
            assert refused.content[0].text.startswith("[INVALID_URL] Rejected scheme")
            audit = await peer.call_tool("qa_audit_url", {"url": "x", "depth": 2})
            assert audit.is_error
            assert json.loads(audit.content[0].text)["error"]["code"] == "INVALID_ARGS"
            with pytest.raises(MCPError, match="not found"):
                await peer.call_tool("no_such_tool", {})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_that_the_client_gives_up_is_cancelled(mode):
    with trio.fail_after(3 * PATIENCE):
        async with client(mode) as peer:
            scope = trio.CancelScope()

            async def give_up(progress, total, message):
                scope.cancel()  # the server works on it by now

            with scope:
                await peer.call_tool(
                    "qa_audit_url",
                    {"url": "http://127.0.0.1/slow"},
                    progress_callback=give_up,
                )
            assert scope.cancelled_caught
            console = await peer.call_tool("browser_get_console", {})
            (message,) = json.loads(console.content[0].text)["messages"]
            assert message["text"] == "audit was cancelled"
