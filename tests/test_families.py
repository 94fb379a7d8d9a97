"""Which tools a client sees, and what `vfa tools` says of them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from vfa.cli.group import commands
from vfa.config import TOOL_FAMILIES, Config, load
from vfa.errors import ConfigError
from vfa.tools import all_tools, offered_tools
from vfa.tools.families import OTHERS, family_of

NINETEEN = {
    f"browser_{name}"
    for name in [
        "navigate",
        "get_url",
        "get_text",
        "screenshot",
        "get_console",
        "snapshot",
        "click",
        "type",
        "wait_for",
        "scroll",
        "resize",
        "evaluate",
        "hover",
        "press",
        "webgl_info",
        "canvas_info",
        "webgl_shim",
        "webgl_trace",
        "capture_frames",
    ]
}


def names(setting):
    return {tool.name for tool in offered_tools(setting)}


def run(*arguments, **environment):
    return CliRunner().invoke(commands, ["tools", *arguments], env=environment)


def test_the_core_family_is_the_nineteen_tools_of_browser_mcp():
    assert names("core") == NINETEEN


def test_every_tool_is_in_one_family_and_every_family_has_tools():
    assert {family_of(tool) for tool in all_tools()} == set(TOOL_FAMILIES)
    assert set().union(*OTHERS.values()) <= {tool.name for tool in all_tools()}


def test_by_default_clients_see_the_nineteen_the_qa_tools_tabs_and_forms():
    assert names(Config().tools) == NINETEEN | names("qa") | OTHERS["tabs"] | OTHERS["forms"]


def test_all_is_everything_in_the_order_of_the_table():
    assert offered_tools("core,all") == all_tools()


@pytest.mark.parametrize("setting", ["", "core,", "cor", "core;qa"])
def test_a_family_that_does_not_exist_stops_the_start(setting):
    with pytest.raises(ConfigError, match="VFA_TOOLS"):
        load({"VFA_TOOLS": setting or "none"})


def test_the_command_lists_what_the_setting_offers():
    listed = run(VFA_TOOLS="network").output
    assert "browser_network" in listed
    assert "browser_click" not in listed
    assert "browser_click" in run("--all", VFA_TOOLS="network").output


def test_the_command_explains_a_tool_by_its_short_name():
    output = run("click").output
    assert "browser_click" in output
    assert "selector: a string" in output
    assert "returns" in output


def test_the_command_suggests_a_name_for_a_misspelt_one():
    result = run("browser_clik")
    assert result.exit_code != 0
    assert "browser_click" in result.output


def test_the_command_prints_what_clients_get():
    listed = json.loads(run("--json", "--all").output)
    assert [tool["name"] for tool in listed] == [tool.name for tool in all_tools()]


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_every_browser_tool_says_for_people_what_it_returns(tool):
    assert tool.is_qa or "`" in tool.returns
