"""Getting to a browser: start one on a pipe or a port, or attach to one that runs.

Owns the process, its stderr and the transport for as long as the block lasts. Does not
decide when to start or stop: that is the browser actor's business.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import trio

from vfa.cdp.pipe import PipeTransport
from vfa.chromium.find import find_chromium
from vfa.chromium.flags import flags, sandboxed
from vfa.chromium.profile import TMP_FOLDER
from vfa.errors import BrowserStartError, ConnectionLostError
from vfa.policy.address import judge_address
from vfa.policy.url import is_local_name
from vfa.process import Process, pipe, process_group

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from vfa.cdp.transport import Transport
    from vfa.chromium.find import Found
    from vfa.config import Config
    from vfa.egress.listener import Listener

logger = logging.getLogger(__name__)

START_TIMEOUT = 30.0  # seconds for a browser to open its DevTools; slow boards need many
EXIT_GRACE = 3.0  # seconds to exit after Browser.close; a healthy one needs 0.1
CLOSE_BOUND = 1.0  # seconds to close the pipe
LAST_LINES = 20  # of Chromium's stderr, shown when it fails
LINE_LENGTH = 500  # characters kept of one such line
LAST_WORDS = 0.5  # seconds to read what an exited browser had still in its pipe
LISTENING = "DevTools listening on "


class Launched:
    """A browser that can be talked to.

    Args:
        process: The browser's process; None: attached to one that is not ours.
        url: Its DevTools WebSocket; empty: driven over ``pipe``.
        pipe: The transport of a browser on a pipe.
        account: What it says on stderr.
        profile: Its user data directory, if the browser is ours.
    """

    def __init__(
        self,
        process: Process | None,
        url: str,
        pipe: Transport | None = None,
        account: Account | None = None,
        profile: Path | None = None,
    ) -> None:
        self.process = process
        self.url = url
        self.profile = profile
        self.listener: Listener | None = None  # the way out of its own context
        self._pipe = pipe
        self._account = account or Account()

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, and can reach a port of ours."""
        host = (urlsplit(self.url).hostname or "") if self.process is None else "localhost"
        return is_local_name(host) or judge_address(host) == "loopback"

    @property
    def exited(self) -> bool:
        """Whether the process is known to be gone. Never true of a browser attached to."""
        return self.process is not None and self.process.poll() is not None

    @asynccontextmanager
    async def connect(self, background: trio.Nursery) -> AsyncIterator[Transport]:
        """A transport to the browser: the pipe, or a new WebSocket.

        Raises:
            BrowserStartError: Nothing at ``url`` speaks DevTools.
        """
        if self._pipe is not None:
            yield self._pipe
            return
        from vfa.cdp.websocket import connect_websocket  # costs start-up time

        try:
            socket = await connect_websocket(self.url, background)
        except ConnectionLostError as error:
            raise BrowserStartError(
                f"no DevTools at {error.message}",
                hint="Start the browser with --remote-debugging-port, or unset VFA_CDP_URL.",
            ) from error
        try:
            yield socket
        finally:
            await socket.aclose()

    async def last_lines(self) -> tuple[str, ...]:
        """Return the end of what Chromium wrote to stderr, all of it if it has exited."""
        return await self._account.read(self.process)


class Account:
    """What a browser tells of itself on stderr: its last lines, and where DevTools listens."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=LAST_LINES)
        self.url = ""
        self.listening = trio.Event()
        self.ended = trio.Event()

    def add(self, line: str) -> None:
        """Take one line."""
        self.lines.append(line)
        if line.startswith(LISTENING):
            self.url = line.removeprefix(LISTENING).strip()
            self.listening.set()

    async def read(self, process: Process | None) -> tuple[str, ...]:
        """Return the last lines; those of a process that has exited are waited for."""
        if process is not None and process.poll() is not None:
            with trio.move_on_after(LAST_WORDS):
                await self.ended.wait()
        return tuple(self.lines)


@asynccontextmanager
async def launch(
    config: Config, profile: Path, background: trio.Nursery, listener: Listener | None = None
) -> AsyncIterator[Launched]:
    """Start Chromium on ``profile``; end it, with everything it started, on the way out.

    With a ``listener``, that is its only way to the network.

    Whoever leaves the block has asked the browser to close; it is given a grace to do so.
    Its stderr is read in ``background``, a nursery of the caller's: one of our own around
    the block would wrap every error that passes through.

    Raises:
        BrowserNotFoundError: There is no Chromium.
        BrowserStartError: It could not be started, or did not open its DevTools.
    """
    found = find_chromium(config.chromium_path)
    logger.info("[Browser] Found Chromium: %s", found.path)
    command = [str(found.path), *_flags(config, found, profile, listener)]
    account = Account()
    async with AsyncExitStack() as stack:
        process, ends = await _start(stack, config, command, profile)
        reading = trio.CancelScope()
        stack.callback(reading.cancel, reason="the browser is gone")
        background.start_soon(_drain, ends["stderr"], account, reading)
        url, transport = "", None
        if config.transport == "pipe":
            transport = PipeTransport(read_fd=ends["read"], write_fd=ends["write"])
        else:
            url = await _devtools_url(process, account)
        logger.info("[Browser] Chromium PID: %d", process.pid)
        if not sandboxed(root=_is_root(), sandbox=config.sandbox):
            logger.warning("[Browser] Chromium runs without its sandbox: %s", _why(config))
        try:
            launched = Launched(process, url, transport, account, profile)
            launched.listener = listener
            yield launched
        finally:
            with trio.move_on_after(EXIT_GRACE, shield=True):
                await process.wait()
            process.kill_group()
            if transport is not None:
                with trio.move_on_after(CLOSE_BOUND, shield=True):
                    await transport.aclose()


async def find_running(url: str) -> Launched:
    """Find the running browser at ``url``; it is never closed by us.

    Raises:
        BrowserStartError: Nothing there speaks DevTools.
    """
    address = url if url.startswith("ws") else await _browser_url(url)
    logger.info("[Browser] attaching to %s", url)
    return Launched(None, address)


def _flags(config: Config, found: Found, profile: Path, listener: Listener | None) -> list[str]:
    return flags(
        found,
        transport=config.transport,
        profile=profile,
        root=_is_root(),
        sandbox=config.sandbox,
        extra=config.chromium_args,
        shm_bytes=_shm_bytes(),
        proxy="" if listener is None else listener.server,
    )


def _is_root() -> bool:
    return os.geteuid() == 0


def _why(config: Config) -> str:
    return "VFA_SANDBOX=off" if config.sandbox == "off" else "root cannot use it"


def _shm_bytes() -> int | None:
    """Bytes of /dev/shm; None where there is none."""
    try:
        shm = os.statvfs("/dev/shm")
    except OSError:
        return None
    return shm.f_frsize * shm.f_blocks


async def _start(
    stack: AsyncExitStack, config: Config, command: list[str], profile: Path
) -> tuple[Process, dict[str, int]]:
    """Start the process; return it with our ends of its pipes."""
    with pipe() as commands, pipe() as answers, pipe() as stderr:
        descriptors = {2: stderr[1]}
        if config.transport == "pipe":
            descriptors |= {3: commands[0], 4: answers[1]}
        try:
            process = await stack.enter_async_context(
                process_group(command, descriptors, env=_environment(profile))
            )
        except OSError as error:
            raise BrowserStartError(
                f"{command[0]} could not be started: {error.strerror}",
                hint="Check that the file is executable, or set CHROMIUM_PATH.",
            ) from error
        ends = {"stderr": os.dup(stderr[0])}
        if config.transport == "pipe":
            ends |= {"read": os.dup(answers[0]), "write": os.dup(commands[1])}
        return process, ends


def _environment(profile: Path) -> dict[str, str]:
    """Chromium leaves folders in the temporary directory when it is killed: give it its own."""
    return {**os.environ, "TMPDIR": str(profile / TMP_FOLDER)}


async def _drain(fd: int, account: Account, until: trio.CancelScope) -> None:
    """Read Chromium's stderr to its end, or it would stall when the pipe is full."""
    rest = b""
    stream = trio.lowlevel.FdStream(fd)
    try:
        with until:
            async for chunk in stream:
                *whole, rest = (rest + chunk).split(b"\n")
                rest = rest[-LINE_LENGTH * 8 :]
                for raw in whole:
                    line = raw.decode("utf-8", "replace")[:LINE_LENGTH]
                    account.add(line)
                    logger.debug("chromium: %s", line)
    finally:
        stream.close()
        account.ended.set()


async def _devtools_url(process: Process, account: Account) -> str:
    async def until_exit(scope: trio.CancelScope) -> None:
        await process.wait()
        scope.cancel(reason="Chromium exited")

    with trio.move_on_after(START_TIMEOUT):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_exit, nursery.cancel_scope)
            await account.listening.wait()
            nursery.cancel_scope.cancel(reason="found")
    if not account.url:
        raise BrowserStartError(
            "Chromium did not open its DevTools port",
            await account.read(process),
            hint="Run `vfa doctor`.",
        )
    return account.url


async def _browser_url(url: str) -> str:
    """Ask ``/json/version`` for the browser's WebSocket."""
    import json
    import urllib.request  # in the standard library, used once in a while

    address = url.rstrip("/") + "/json/version"

    def fetch() -> str:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(address, timeout=5) as answer:
            return str(json.load(answer)["webSocketDebuggerUrl"])

    try:
        with trio.fail_after(START_TIMEOUT):
            return await trio.to_thread.run_sync(fetch, abandon_on_cancel=True)
    except (OSError, ValueError, KeyError, trio.TooSlowError) as error:
        raise BrowserStartError(
            f"no DevTools at {address}: {error}",
            hint="Start the browser with --remote-debugging-port, or unset VFA_CDP_URL.",
        ) from error
