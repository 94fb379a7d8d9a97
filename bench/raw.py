"""The floor of the browser: a DevTools client that does nothing but write and read the pipe.

Blocking, without checks, without subscribers: what any engine on this protocol must pay.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOWEST_SPARE = 10  # descriptors above those that the browser is promised


class Raw:
    """One tab of one browser."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._rest = b""
        self._last = 0
        self.session = ""

    def send(self, method: str, **params: Any) -> int:
        """Write a command; return its number."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        return self._last

    def receive(self, number: int) -> dict[str, Any]:
        """Read until the answer to a command is there; return its result."""
        while True:
            while b"\0" not in self._rest:
                self._rest += os.read(self._read, 1 << 20)
            frame, _, self._rest = self._rest.partition(b"\0")
            if b'"id":%d,' % number in frame[:40]:
                answer = json.loads(frame)
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return dict(answer["result"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        return self.receive(self.send(method, **params))

    def pipeline(self, commands: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Send commands in one go and wait for the last one."""
        number = 0
        for method, params in commands:
            number = self.send(method, **params)
        self.receive(number)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        return answer["result"].get("value")

    def open(self, url: str) -> None:
        """Open a tab and wait for its load event."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.session = session
        self.call("Page.enable")
        self.call("Page.navigate", url=url)
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : "
            "addEventListener('load', () => done()))"
        )


@contextmanager
def raw_browser(program: str, flags: Sequence[str]) -> Iterator[Raw]:
    """A browser of its own, ended with the block."""
    profile = tempfile.mkdtemp(prefix="bench-raw-")
    out_read, out_write = os.pipe()
    in_read, in_write = os.pipe()
    theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, LOWEST_SPARE) for fd in (out_read, in_write)]

    def arrange() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(theirs[1], 4)

    process = subprocess.Popen(
        [program, *flags, f"--user-data-dir={profile}"],
        preexec_fn=arrange,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for fd in (out_read, in_write, *theirs):
        os.close(fd)
    raw = Raw(out_write, in_read)
    try:
        yield raw
    finally:
        os.close(out_write)  # the browser ends itself
        process.wait(10)
        os.close(in_read)
        shutil.rmtree(Path(profile), ignore_errors=True)
