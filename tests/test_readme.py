"""README.md says what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vfa.cli.group import MODULES
from vfa.cli.manual import TABLES, filled_in
from vfa.config import knobs
from vfa.tools import all_tools

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
AGAIN = "run: python -m vfa.cli.manual README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_tables_of_settings_and_errors_are_those_of_the_code():
    assert filled_in(README) == README, AGAIN


def test_every_table_has_its_place():
    for name, table in TABLES.items():
        assert f"<!-- {name}:begin -->\n{table()}\n<!-- {name}:end -->" in README


def test_every_setting_that_the_text_names_exists():
    named = set(re.findall(r"\b(?:VFA_[A-Z_]+[A-Z]|[A-Z]+_TIMEOUT_MS)\b", README))
    assert named - {knob.variable for knob in knobs().values()} == set()


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_every_tool_is_there_with_every_argument(tool):
    assert f"`{tool.name}`" in README
    section = README.split(f"#### `{tool.name}`")[-1].split("####")[0]
    row = next(
        (line for line in README.splitlines() if line.startswith(f"| `{tool.name}`")), ""
    )
    for field in tool.arguments.__struct_fields__:
        assert f"`{field}`" in (row or section), field


def test_no_tool_is_promised_that_does_not_exist():
    promised = set(re.findall(r"^(?:#### |\| )`((?:qa|browser)_\w+)`", README, re.MULTILINE))
    assert promised == {tool.name for tool in all_tools()}


@pytest.mark.parametrize("command", MODULES)
def test_every_command_is_there(command):
    assert f"`vfa {command}" in README


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_python_that_uses_what_there_is(example):
    names: dict[str, object] = {}
    exec(compile(example.rsplit("trio.run", 1)[0], "README.md", "exec"), names)
    used = re.findall(r"\bvfa\.([a-z_]\w*)\(", example)
    assert used
    assert all(hasattr(names["vfa"], name) for name in used)


@pytest.mark.browser
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run_as_they_are_written(example, site, environment):
    site.pages["/"] = "<!doctype html><title>Example</title><h1>It works</h1>"
    done = subprocess.run(
        [sys.executable, "-c", example.replace("https://example.com", site.url("/"))],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "does not state its language" in done.stdout or done.stdout == "It works\n"
