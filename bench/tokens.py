"""``python -m bench tokens``: what the tool list and a snapshot cost a model.

Counted with the o200k_base vocabulary, by the npm package ``gpt-tokenizer`` where Node is;
without it by the ratio of characters to tokens that was measured for such text.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile

import trio

from bench.measure import keep
from bench.ops import Contestants
from bench.pages import served
from vfa.config import load
from vfa.engine import open_engine
from vfa.tools import all_tools, offered_tools
from vfa.tools.schema import listed_schema

PACKAGE = "gpt-tokenizer@3"
RATIO = 4.0  # characters of JSON Schema or outline to a token, about
COUNT = (
    "const {encode} = require('gpt-tokenizer/encoding/o200k_base');"
    "const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    "console.log(JSON.stringify(texts.map(text => encode(text).length)))"
)


def count(texts: list[str]) -> tuple[list[int], bool]:
    """Return the tokens of each text, and whether they were really counted."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm and node:
        with tempfile.TemporaryDirectory(prefix="bench-tokens-") as folder:
            quiet = ["--silent", "--no-audit", "--no-fund"]
            got = subprocess.run([npm, "install", *quiet, PACKAGE], cwd=folder, check=False)
            if got.returncode == 0:
                done = subprocess.run(
                    [node, "-e", COUNT],
                    cwd=folder,
                    input=json.dumps(texts),
                    capture_output=True,
                    text=True,
                    check=True,
                )
                return json.loads(done.stdout), True
    return [round(len(text) / RATIO) for text in texts], False


async def run() -> None:
    """Measure, print and keep the figures."""
    config = load({**os.environ, "IDLE_SHUTDOWN_MS": "0"})
    texts = {
        f"tool list, {name}": json.dumps(
            [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": listed_schema(tool, config),
                }
                for tool in tools
            ],
            separators=(",", ":"),
        )
        for name, tools in (("default", offered_tools(config.tools)), ("all", all_tools()))
    }
    with served() as address:
        async with open_engine(config) as engine:
            both = Contestants(engine, None, config, settle=False)  # type: ignore[arg-type]
            for page in ("small", "shop", "2000"):
                await both.tool("navigate", url=f"{address}/{page}")
                for form in ("outline", "json"):
                    value = await both.tool("snapshot", format=form)
                    text = value.get("outline") or json.dumps(value, separators=(",", ":"))
                    texts[f"snapshot of {page}, {form}"] = text
    numbers, counted = await trio.to_thread.run_sync(count, list(texts.values()))
    for (what, text), number in zip(texts.items(), numbers, strict=True):
        print(f"{what:<32}{len(text):>9} characters {number:>8} tokens")
    if not counted:
        print("(tokens estimated: no npm here)")
    keep("tokens", dict(zip(texts, numbers, strict=True)))
