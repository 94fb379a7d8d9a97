"""A client that waits for its answers, and a server that lasts for a module of tests."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.conftest import NO_OUTSIDE

ROOT = Path(__file__).parent.parent
PATIENCE = 20.0  # seconds


class Client:
    """One conversation with a server of its own, over stdio."""

    def __init__(self, process: subprocess.Popen, folder: Path) -> None:
        self.process = process
        self.output = folder / "output"
        self._log = folder / "stderr"
        self._last = 0
        self._answers: dict[int, queue.Queue[dict]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") in self._answers:
                self._answers[message["id"]].put(message)

    def send(self, **message) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, name: str, **arguments) -> int:
        """Call a tool; return the number that its answer is to be had under."""
        return self.request("tools/call", name=name, arguments=arguments)

    def request(self, method: str, **params) -> int:
        self._last += 1
        self._answers[self._last] = queue.Queue()
        self.send(id=self._last, method=method, params=params)
        return self._last

    def answer(self, number: int) -> dict:
        """Wait for the answer to a request."""
        message = self._answers[number].get(timeout=PATIENCE)
        del self._answers[number]
        return message["result"]

    def call(self, name: str, **arguments) -> dict:
        return self.answer(self.begin(name, **arguments))

    def value(self, name: str, **arguments) -> dict:
        """Return what a call answers that has to work."""
        result = self.call(name, **arguments)
        assert not result.get("isError"), result["content"][0]["text"]
        return json.loads(result["content"][0]["text"])

    def refusal(self, name: str, **arguments) -> str:
        """Return what a call answers that has to fail."""
        result = self.call(name, **arguments)
        text = result["content"][0]["text"]
        assert result.get("isError"), text
        return text

    def script(self, expression: str):
        """Return the value of an expression in the page."""
        return self.value("browser_evaluate", expression=expression)["result"]

    def log(self) -> str:
        return self._log.read_text()

    def browsers(self) -> list[psutil.Process]:
        """The browser processes of the server, without those that a browser starts."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if "chrom" in child.name()]


@contextmanager
def serving(folder: Path, **environment: str):
    """Run a server whose every file lies in ``folder``; yield its client."""
    variables = {
        "OUTPUT_DIR": str(folder / "output"),
        "VFA_PROFILE_ROOT": str(folder),
        "VFA_CHROMIUM_ARGS": NO_OUTSIDE,
        "VFA_HOSTS": "*=-",
        "VFA_TOOLS": "all",
    }
    with (folder / "stderr").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "vfa", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=os.environ | variables | environment,
        )
    client = Client(process, folder)
    try:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
        client.answer(
            client.request(
                "initialize", **hello, clientInfo={"name": "a client", "version": "1"}
            )
        )
        client.send(method="notifications/initialized")
        yield client
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        client._reader.join(5)
        process.stdout.close()
