"""``python -m bench ops``: what each operation costs over the commands that it needs.

VFA's tools are called as its server calls them, without the MCP protocol around; the floor is
``bench.raw`` sending the bare commands to a browser of its own with the same flags. Settling
(two animation frames after an action) is in neither, unless ``--settle`` puts it into both:
frames come when they come, and a millisecond more may cost one more of them. Without it the
engine's in-page library does not wait for frames.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from bench.measure import Figure, keep, show, take_turns
from bench.pages import served
from bench.raw import Raw, raw_browser
from vfa.chromium.find import find_chromium
from vfa.chromium.flags import flags
from vfa.config import Config, load
from vfa.engine import open_engine
from vfa.page import page as page_module
from vfa.page.js import kit
from vfa.page.page import Page
from vfa.tools import all_tools
from vfa.tools.arguments import read_arguments
from vfa.tools.table import Call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from vfa.engine import Engine

TEXT = "twenty characters ok"
FRAMES = "new Promise(d => requestAnimationFrame(() => requestAnimationFrame(() => d(1))))"
FIND = """(() => {
  const e = document.querySelector(%r);
  e.scrollIntoViewIfNeeded();
  const r = e.getBoundingClientRect();
  const [x, y] = [r.left + r.width / 2, r.top + r.height / 2];
  return document.elementFromPoint(x, y) === e ? [x, y] : null;
})()"""


class Contestants:
    """The engine and the raw client, each with a page of its own."""

    def __init__(self, engine: Engine, raw: Raw, config: Config, *, settle: bool) -> None:
        self.engine = engine
        self.raw = raw
        self.config = config
        self.settle = settle
        self.tools = {tool.name: tool for tool in all_tools()}

    async def tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool as the front does; return the value of its answer."""
        tool = self.tools[f"browser_{name}"]
        read = read_arguments(tool, arguments, self.config)
        with trio.fail_after(30):
            return (await tool.run(self.engine, read, Call(lambda _: None))).value

    def vfa(self, name: str, **arguments: Any) -> Callable[[], Awaitable[None]]:
        """Return a contestant that calls a tool."""

        async def run() -> None:
            await self.tool(name, **arguments)

        return run

    def floor(
        self, *steps: Callable[[], object], settles: bool = True
    ) -> Callable[[], Awaitable[None]]:
        """Return a contestant that takes steps on the raw client."""

        async def run() -> None:
            for step in steps:
                step()
            if settles and self.settle:
                self.raw.evaluate(FRAMES)

        return run

    # --- what the raw client does ---------------------------------------------------------

    def aim(self, selector: str) -> tuple[float, float]:
        """Find, reveal, measure and test an element: one evaluation."""
        x, y = self.raw.evaluate(FIND % selector)
        return x, y

    def mouse(self, kind: str, x: float, y: float, button: str = "left") -> tuple[str, Any]:
        """Return a mouse event."""
        return (
            "Input.dispatchMouseEvent",
            {"type": kind, "x": x, "y": y, "button": button, "clickCount": 1},
        )

    def ask(self) -> None:
        """Ask the page what became of it: it answers once it has dealt with the input."""
        self.raw.evaluate("document.activeElement.id")

    def click(self) -> None:
        """Aim and click; ask what came of it."""
        x, y = self.aim("#go")
        self.raw.pipeline(
            [
                self.mouse("mouseMoved", x, y, "none"),
                self.mouse("mousePressed", x, y),
                self.mouse("mouseReleased", x, y),
            ]
        )
        self.ask()

    def hover(self) -> None:
        """Aim and move there; ask what came of it."""
        x, y = self.aim("#go")
        self.raw.pipeline([self.mouse("mouseMoved", x, y, "none")])
        self.ask()

    def keys(self, text: str) -> None:
        """Press and release a key for each character."""
        commands = []
        for sign in text:
            key = {"key": sign, "text": sign, "unmodifiedText": sign}
            commands.append(("Input.dispatchKeyEvent", {"type": "keyDown", **key}))
            commands.append(("Input.dispatchKeyEvent", {"type": "keyUp", "key": sign}))
        self.raw.pipeline(commands)

    def type(self) -> None:
        """Focus, select, type, read the value."""
        self.raw.evaluate(
            "(() => { const e = document.querySelector('#name'); e.focus(); e.select() })()"
        )
        self.keys(TEXT)
        self.raw.evaluate("document.querySelector('#name').value.length")


async def run(rounds: int, *, settle: bool) -> list[Figure]:
    """Measure, print and keep the figures."""
    config = load({**os.environ, "ENABLE_EVAL_JS": "1", "IDLE_SHUTDOWN_MS": "0"})
    found = find_chromium(config.chromium_path)
    arguments = flags(
        found,
        transport="pipe",
        profile=Path("unused"),
        root=os.geteuid() == 0,
        sandbox=config.sandbox,
        extra=config.chromium_args,
    )
    arguments = [each for each in arguments if not each.startswith("--user-data-dir")]
    if not settle:
        setattr(Page, "settle", _at_once)  # noqa: B010  # in both contestants or in neither
        setattr(page_module, "kit", _without_frames)  # noqa: B010
    figures: list[Figure] = []
    with served() as address, raw_browser(str(found.path), arguments) as raw:
        async with open_engine(config) as engine:
            both = Contestants(engine, raw, config, settle=settle)
            raw.open(f"{address}/small")
            await both.tool("navigate", url=f"{address}/small")
            for what, contestants in _on_a_small_page(both).items():
                figures += await take_turns(what, contestants, rounds=rounds)
            for size in ("2000", "20000"):
                await both.tool("navigate", url=f"{address}/{size}")
                turns = {
                    "json": both.vfa("snapshot"),
                    "outline": both.vfa("snapshot", format="outline"),
                }
                figures += await take_turns(
                    f"snapshot of {size}", turns, rounds=max(3, rounds // 10)
                )
    show("operations", figures, floor="raw")
    keep("ops", figures)
    return figures


async def _at_once(_page: Page, _bound: float = 0) -> None:
    """Stand in for settling."""


@cache
def _without_frames() -> str:
    """Return the in-page library with no wait for animation frames.

    Not even for a turn of the event loop: after input Chromium renders first. Only one in
    many does, so that what waits in vain does not hang the page.
    """
    frame = "requestAnimationFrame(() => resolve());"
    whole = kit()
    assert whole.count(frame) == 1
    count = "vfa.turns = (vfa.turns ?? 0) + 1"
    at_once = f"if (({count}) % 64) resolve(); else setTimeout(resolve);"
    return whole.replace(frame, at_once)


def _on_a_small_page(both: Contestants) -> dict[str, dict[str, Callable[[], Awaitable[None]]]]:
    raw = both.raw
    jpeg = {"format": "jpeg", "quality": 80}
    return {
        "click": {"raw": both.floor(both.click), "vfa": both.vfa("click", selector="#go")},
        "hover": {"raw": both.floor(both.hover), "vfa": both.vfa("hover", selector="#go")},
        "type 20": {
            "raw": both.floor(both.type),
            "vfa": both.vfa("type", selector="#name", text=TEXT),
        },
        "press": {"raw": both.floor(lambda: both.keys("a")), "vfa": both.vfa("press", key="a")},
        "scroll": {
            "raw": both.floor(lambda: raw.evaluate("[scrollTo(0, 0), scrollX, scrollY]")),
            "vfa": both.vfa("scroll", direction="top"),
        },
        "evaluate": {
            "raw": both.floor(lambda: raw.evaluate("1 + 1"), settles=False),
            "vfa": both.vfa("evaluate", expression="1 + 1"),
        },
        "get_text": {
            "raw": both.floor(lambda: raw.evaluate("document.body.innerText"), settles=False),
            "vfa": both.vfa("get_text"),
        },
        "wait_for": {
            "raw": both.floor(
                lambda: raw.evaluate("!!document.querySelector('#end')"), settles=False
            ),
            "vfa": both.vfa("wait_for", selector="#end"),
        },
        "screenshot": {
            "raw": both.floor(
                lambda: raw.call("Page.captureScreenshot", **jpeg), settles=False
            ),
            "vfa": both.vfa("screenshot", filename="bench.jpg"),
        },
    }
