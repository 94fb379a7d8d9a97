"""The browser supervisor: starts, watches, restarts, idles and stops Chromium.

One task lives the browser's life, one browser after the other: wait until somebody needs
it, start it, serve until it is over (crash, hang, idle, stop), clean up, begin again. A
crash of Chromium is not a crash of this actor. Callers borrow a link with ``lease``; a
lease holds off the idle shutdown, and callers that come while a browser starts or stops
simply wait for the next one.

The profile belongs to the engine: it survives crashes and idle shutdowns, and goes with the
engine. Profiles that killed engines left behind are removed when this actor starts.
"""

from __future__ import annotations

import logging
import tempfile
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from vfa.actors.launch import START_TIMEOUT, find_running, launch
from vfa.actors.link import Link
from vfa.cdp.connection import Connection
from vfa.egress.exits import Exits
from vfa.errors import (
    BrowserRestartError,
    BrowserStartError,
    ConnectionLostError,
    VfaError,
)
from vfa.mailbox import Request
from vfa.policy.network import Policy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from vfa.actors.launch import Launched
    from vfa.cdp.transport import Transport
    from vfa.config import Config
    from vfa.mailbox import Mailbox
    from vfa.page.page import Page, Witness

logger = logging.getLogger(__name__)

# A browser that crashes this often with no call succeeding in between is not started again
# for the call that needs it; the next call may try.
MAX_CRASHES_IN_A_ROW = 3
RESTART_DELAY = 0.25  # seconds before a second start for the same call
STARTS_PER_CALL = 2  # after a crash; a first start that fails is reported at once
RECONNECT_DELAYS = (0.1, 0.2, 0.4)  # seconds before each attempt to reach the same browser
DEATH_BOUND = 0.2  # seconds between a socket's end and the exit of the process that had it
CLOSE_BOUND = 1.0  # seconds for Browser.close to be answered


class Acquire(Request[Link], frozen=True):
    """Give me a browser that answers."""


class Leases:
    """How many calls use the browser, and since when none does."""

    def __init__(self) -> None:
        self.taken = 0
        self.free_since = trio.current_time()
        self._changed = trio.Event()

    def take(self) -> None:
        """Hold off the idle shutdown."""
        self.taken += 1
        self._ring()

    def give_back(self) -> None:
        """End one ``take``."""
        self.taken -= 1
        self.free_since = trio.current_time()
        self._ring()

    async def wait_for_idleness(self, seconds: float) -> None:
        """Return once nobody has used the browser for ``seconds``."""
        while True:
            wake_at = self.free_since + seconds if not self.taken else float("inf")
            if wake_at <= trio.current_time():
                return
            with trio.move_on_at(wake_at):
                await self._changed.wait()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


class Browser:
    """How others reach the browser."""

    def __init__(self, mailbox: Mailbox[Acquire], config: Config) -> None:
        self._mailbox = mailbox
        self._config = config
        self.leases = Leases()
        self.crashes_in_a_row = 0
        self.ends: dict[int, str] = {}  # generation -> how its link ended

    @asynccontextmanager
    async def lease(self) -> AsyncIterator[Link]:
        """Borrow a browser for the length of the block; it is started if none runs.

        Raises:
            BrowserError: There is none to be had; the message says why.
        """
        self.leases.take()
        try:
            link = await self._mailbox.ask(Acquire())
            yield link
            self.crashes_in_a_row = 0
        finally:
            self.leases.give_back()

    @asynccontextmanager
    async def page(self, *, witness: Witness | None = None) -> AsyncIterator[Page]:
        """A tab in a browser context of its own, both gone after the block."""
        async with (
            self.lease() as link,
            link.context() as context,
            link.page(
                context, witness=witness, console_capacity=self._config.max_console_messages
            ) as page,
        ):
            yield page


class _Attempt:
    """One start that callers wait for: a link, or why there is none."""

    def __init__(self) -> None:
        self._done = trio.Event()
        self._link: Link | None = None
        self._error: VfaError | None = None

    @property
    def settled(self) -> bool:
        return self._done.is_set()

    def succeed(self, link: Link) -> None:
        self._link = link
        self._done.set()

    def fail(self, error: VfaError) -> None:
        self._error = error
        self._done.set()

    async def outcome(self) -> Link:
        await self._done.wait()
        if self._error is not None:
            raise self._error
        assert self._link is not None
        return self._link


class _Life:
    """The state of the actor: the link of now, the attempt of now, the profile."""

    def __init__(self, browser: Browser, config: Config, background: trio.Nursery) -> None:
        self._browser = browser
        self._config = config
        self._background = background
        self._exits = Exits(config, background)
        self._profile: Path | None = None
        self._generation = 0
        self._link: Link | None = None
        self._attempt: _Attempt | None = None
        self._wanted = trio.Event()
        self._last_lines: tuple[str, ...] = ()

    # --- what callers ask ---------------------------------------------------------------

    async def acquire(self, _request: Acquire) -> Link:
        while True:
            link = self._link
            if link is None or link.over.is_set():
                link = await self._next_attempt().outcome()
            if await link.check():
                return link

    def _next_attempt(self) -> _Attempt:
        if self._attempt is None or self._attempt.settled:
            self._attempt = _Attempt()
            self._wanted.set()
        return self._attempt

    # --- the life -----------------------------------------------------------------------

    async def live(self) -> None:
        while True:
            while self._attempt is None or self._attempt.settled:
                self._wanted = trio.Event()
                await self._wanted.wait()
            try:
                await self._one_browser()
            except BaseException:
                self._fail(BrowserStartError("the engine stopped while Chromium started"))
                raise

    async def _one_browser(self) -> None:
        """Start a browser, hand it out, and stay with it until it is over."""
        crashes = self._browser.crashes_in_a_row
        starts = STARTS_PER_CALL if crashes else 1
        if crashes > MAX_CRASHES_IN_A_ROW:
            starts = 0
            self._browser.crashes_in_a_row = MAX_CRASHES_IN_A_ROW
        error: VfaError | None = None
        for number in range(starts):
            if number:
                await trio.sleep(RESTART_DELAY)
            try:
                await self._start_and_serve()
            except VfaError as failure:
                error = failure
                logger.warning("[Browser] did not start: %s", failure.message)
            else:
                return
        self._fail(self._refusal(error, after_crash=bool(crashes)))

    def _refusal(self, error: VfaError | None, *, after_crash: bool) -> VfaError:
        if error is not None and (not after_crash or not isinstance(error, BrowserStartError)):
            return error
        lines = self._last_lines if error is None else error.last_lines
        why = "it crashes again and again" if error is None else error.message.split("\n")[0]
        return BrowserRestartError(
            f"Chromium restart failed: {why}",
            lines,
            hint="The next call tries again. `vfa doctor` checks the installation.",
        )

    async def _start_and_serve(self) -> None:
        async with self._browser_process() as launched:
            try:
                link = await self._serve_links(launched)
            except BrowserStartError as error:
                if error.last_lines:
                    raise
                raise BrowserStartError(
                    error.message, await launched.last_lines(), hint=error.hint
                ) from error
            if link.end in {"crash", "hung"}:
                self._browser.crashes_in_a_row += 1
                self._last_lines = await launched.last_lines()
                logger.warning("[Browser] ended: %s", link.end)
            else:
                logger.info("[Browser] stops: %s", link.end)

    @asynccontextmanager
    async def _browser_process(self) -> AsyncIterator[Launched]:
        if self._config.cdp_url:
            yield await find_running(self._config.cdp_url)
            return
        logger.info("[MCP] Starting browser")
        profile = await self._ready_profile()
        async with (
            self._exits.open(Policy.for_browser(self._config)) as listener,
            launch(self._config, profile, self._background, listener) as launched,
        ):
            yield launched

    async def _ready_profile(self) -> Path:
        """Return the engine's profile, made or tidied up for the next browser."""
        from vfa.chromium.profile import create_profile, prepare_for_restart

        if self._profile is None:
            self._profile = await trio.to_thread.run_sync(create_profile, _root(self._config))
            logger.info("[Browser] Profile dir: %s", self._profile)
        else:
            await trio.to_thread.run_sync(prepare_for_restart, self._profile)
        return self._profile

    async def _serve_links(self, launched: Launched) -> Link:
        """Serve until the browser is over; a connection that only dropped is made anew."""
        async with launched.connect(self._background) as transport:
            link = await self._serve_link(launched, transport)
        while link.end == "dropped":
            if await _has_died(launched):
                link.end = self._browser.ends[link.generation] = "crash"
                return link
            again = await self._reconnect(launched)
            if again is None:
                return link
            link = again
        return link

    async def _reconnect(self, launched: Launched) -> Link | None:
        """Reach the same browser again and serve it; None if that cannot be done."""
        error: VfaError | None = None
        for delay in RECONNECT_DELAYS:
            await trio.sleep(delay)
            try:
                async with launched.connect(self._background) as transport:
                    return await self._serve_link(launched, transport)
            except VfaError as failure:
                error = failure
        logger.warning("[Browser] reconnection failed: %s", error)
        self._fail(
            ConnectionLostError(
                f"Reconnection failed after {len(RECONNECT_DELAYS)} attempts: {error}",
                hint="The next call tries again.",
            )
        )
        return None

    async def _serve_link(self, launched: Launched, transport: Transport) -> Link:
        connection = Connection(transport)
        self._generation += 1
        link = Link(connection, launched, self._generation, self._exits)
        talking = trio.CancelScope()
        self._background.start_soon(_talk, link, talking)
        try:
            with _started_in_time():
                await link.open()
            logger.info("[Browser] Ready on %s", launched.url or "port: none, a pipe")
            self._link = link
            if self._attempt is not None:
                self._attempt.succeed(link)
            await self._until_over(link)
        finally:
            self._link = None
            link.finish("stopped")
            self._browser.ends[link.generation] = link.end
            await self._part(link)  # noqa: ASYNC102  # shields and bounds itself
            talking.cancel(reason="the link is over")
        return link

    async def _until_over(self, link: Link) -> None:
        """Watch over a link: the process, the connection, suspicions and idleness."""
        async with trio.open_nursery() as watchers:
            watchers.start_soon(link.watch)
            if link.launched.process is not None:
                watchers.start_soon(self._watch_process, link)
            if self._config.idle_shutdown_ms > 0 and link.launched.process is not None:
                watchers.start_soon(self._watch_idleness, link)
            await link.over.wait()
            watchers.cancel_scope.cancel(reason="the link is over")

    async def _watch_process(self, link: Link) -> None:
        process = link.launched.process
        assert process is not None
        code = await process.wait()
        logger.warning("[Browser] Chromium %d exited with code %d", process.pid, code)
        link.finish("crash")

    async def _watch_idleness(self, link: Link) -> None:
        await self._browser.leases.wait_for_idleness(self._config.idle_shutdown_ms / 1000)
        # No await between the last look at the leases and this: who comes now, waits.
        link.finish("idle")
        logger.info("[MCP] Idle timeout reached: the browser is shut down")

    async def _part(self, link: Link) -> None:
        """End a browser that is ours: politely if it may still listen, else by signal."""
        process = link.launched.process
        if process is None:
            return
        if link.end == "dropped":
            return
        if link.end in {"idle", "stopped"}:
            with trio.move_on_after(CLOSE_BOUND, shield=True):
                try:
                    await link.connection.call("Browser.close")
                except VfaError:
                    logger.debug("the browser went before it was asked to")
        else:
            process.kill_group()

    def _fail(self, error: VfaError) -> None:
        if self._attempt is not None and not self._attempt.settled:
            self._attempt.fail(error)

    async def remove_profile(self) -> None:
        """Remove the engine's profile; what resists is reaped at the next start."""
        from vfa.chromium.profile import remove_profile

        if self._profile is not None:
            with trio.CancelScope(shield=True):  # remove_profile bounds itself
                await trio.to_thread.run_sync(remove_profile, self._profile)
            logger.info("[Browser] Cleanup complete")


async def run(
    mailbox: Mailbox[Acquire],
    browser: Browser,
    config: Config,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    """Serve ``mailbox`` until cancelled; then stop Chromium and remove its profile."""
    until = trio.CancelScope(shield=True)
    async with trio.open_nursery() as nursery:
        try:
            background = await _open_background(nursery, until)
            life = _Life(browser, config, background)
            try:
                background.start_soon(_reap, _root(config))
                task_status.started()
                async with trio.open_nursery() as work:
                    work.start_soon(life.live)
                    work.start_soon(mailbox.serve_concurrently, life.acquire)
            finally:
                await life.remove_profile()  # noqa: ASYNC102  # shields and bounds itself
        finally:
            until.cancel(reason="the browser actor stops")


async def _open_background(nursery: trio.Nursery, until: trio.CancelScope) -> trio.Nursery:
    """Open a nursery for what moves bytes: it outlives a cancellation until goodbye is said.

    Not by ``nursery.start``, which when cancelled waits for its child, and the child here is
    shielded until we end ``until``.
    """
    give, take = trio.open_memory_channel[trio.Nursery](1)

    async def hold() -> None:
        with until:
            async with trio.open_nursery() as background:
                give.send_nowait(background)
                await trio.sleep_forever()

    nursery.start_soon(hold, name="browser background")
    return await take.receive()


async def _has_died(launched: Launched) -> bool:
    """Say whether the process behind a dropped connection is gone, or about to be."""
    if launched.process is None:
        return False
    with trio.move_on_after(DEATH_BOUND):
        await launched.process.wait()
    return launched.exited


async def _reap(root: Path) -> None:
    """Remove what killed engines left behind; in a thread, beside everything else."""
    from vfa.chromium.profile import reap_stale

    for profile in await trio.to_thread.run_sync(reap_stale, root, abandon_on_cancel=True):
        logger.info("[Browser] removed the profile of a dead engine: %s", profile)


async def _talk(link: Link, until: trio.CancelScope) -> None:
    """Run a connection; its end is news for the link, not a crash."""
    with until:
        try:
            await link.connection.run()
        except ConnectionLostError:
            link.lose()


@contextmanager
def _started_in_time() -> Iterator[None]:
    """Bound the opening of a link, and say what was going on when the bound was hit."""
    try:
        with trio.fail_after(START_TIMEOUT):
            yield
    except (trio.TooSlowError, ConnectionLostError) as error:
        raise BrowserStartError(
            "Chromium was started, but does not talk DevTools",
            hint="`vfa doctor` starts it and shows what it says.",
        ) from error


def _root(config: Config) -> Path:
    return Path(config.profile_root or tempfile.gettempdir())
