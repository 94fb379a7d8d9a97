"""The pages of ``fixtures/webgl`` on a test site, and the engines that they need."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path

import trio

from tests.tabs import evaluate

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "fixtures" / "webgl"
CACHE = ROOT / ".cache" / "webgl"
WITHOUT_WEBGL = " --disable-gpu --disable-software-rasterizer"  # of documents and workers
NPM_BOUND = 180  # seconds
PATIENCE = 30.0
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
}


class Pages(dict):
    """What a test site serves: the files of both folders, and what a test adds."""

    def __contains__(self, path) -> bool:
        return super().__contains__(path) or self._file(path).is_file()

    def __getitem__(self, path):
        if super().__contains__(path):
            return super().__getitem__(path)
        file = self._file(path)
        return (200, {"Content-Type": TYPES.get(file.suffix, "text/plain")}, file.read_bytes())

    @staticmethod
    def _file(path: str) -> Path:
        if path.startswith("/lib/"):
            return CACHE / "node_modules" / path.removeprefix("/lib/")
        return PAGES / path.lstrip("/")


def install_engines() -> str:
    """Install what ``package.json`` asks for, once; return why that did not work, or ""."""
    npm = shutil.which("npm")
    if npm is None:
        return "needs npm, to install the engines"
    wanted = (PAGES / "package.json").read_text()
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = CACHE / "installed.json"
        if stamp.exists() and stamp.read_text() == wanted:
            return ""
        (CACHE / "package.json").write_text(wanted)
        quiet = ("--no-fund", "--no-audit", "--no-update-notifier", "--ignore-scripts")
        try:
            done = subprocess.run(
                [npm, "install", *quiet, "--loglevel", "error"],
                cwd=CACHE,
                capture_output=True,
                text=True,
                timeout=NPM_BOUND,
            )
        except subprocess.TimeoutExpired:
            return f"npm did not install the engines in {NPM_BOUND} s"
        if done.returncode != 0:
            return f"npm could not install the engines: {done.stderr.strip()[-300:]}"
        stamp.write_text(wanted)
    return ""


async def booted(page):
    """Return what a page of the folder says of itself, once it does."""
    promise = """new Promise(resolve => {
      const look = () => window.booted ? resolve(window.booted) : setTimeout(look, 20);
      look();
    })"""
    with trio.fail_after(PATIENCE):
        answer = await page.session.call(
            "Runtime.evaluate",
            {"expression": promise, "awaitPromise": True, "returnByValue": True},
        )
    return answer["result"]["value"]


async def ask(page, body: str, *values):
    """Run the body of a function in the page's own world; return what it returns."""
    arguments = ", ".join(json.dumps(value) for value in values)
    found = await evaluate(f"JSON.stringify((() => {{ {body} }})({arguments}))", page)
    assert found is not None, body
    return json.loads(found)
