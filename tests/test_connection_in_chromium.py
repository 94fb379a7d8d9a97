"""The connection against a real Chromium, over both transports."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from vfa.cdp.connection import Connection
from vfa.cdp.pipe import PipeTransport
from vfa.cdp.session import Session
from vfa.cdp.websocket import connect_websocket
from vfa.errors import ConnectionLostError, SessionGoneError
from vfa.process import pipe, process_group

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from vfa.cdp.transport import Transport

BOUND = 60  # seconds for one test on a busy machine
LARGE = 60 * 10**6  # characters

CHROMIUM = next(
    (
        path
        for path in (
            "/usr/lib/chromium/chromium-headless-shell",
            "/usr/lib/chromium/chromium",
            shutil.which("chromium-headless-shell"),
            shutil.which("chromium"),
            shutil.which("google-chrome"),
        )
        if path and os.access(path, os.X_OK)
    ),
    None,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `vfa browser install`"),
]


class Evaluated(msgspec.Struct, frozen=True):
    result: dict[str, object]


def command(profile: Path, transport: str) -> list[str]:
    assert CHROMIUM is not None
    flags = [
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--disable-gpu",
        f"--user-data-dir={profile}",
    ]
    if "headless-shell" not in CHROMIUM:
        flags.append("--headless")
    flags.append(
        "--remote-debugging-pipe" if transport == "pipe" else "--remote-debugging-port=0"
    )
    return [CHROMIUM, *flags]


@asynccontextmanager
async def browser(
    profile: Path, kind: str, background: trio.Nursery
) -> AsyncIterator[Connection]:
    """Run Chromium and a connection to it; both are gone afterwards."""
    async with AsyncExitStack() as stack:
        transport = await start(stack, profile, kind, background)
        connection = Connection(transport)
        background.start_soon(run_until_lost, connection)
        yield connection
        connection.post("Browser.close")
        await connection.lost.wait()
        await transport.aclose()


async def start(
    stack: AsyncExitStack, profile: Path, kind: str, background: trio.Nursery
) -> Transport:
    """Start Chromium for as long as ``stack`` lives; return a transport to it.

    The ends of the pipes that are the browser's are closed here once it has them: the end of
    file that tells of its end would not come while anybody else could still write.
    """
    temporary = profile / "tmp"
    temporary.mkdir(parents=True)
    env = {**os.environ, "TMPDIR": str(temporary)}
    with pipe() as there, pipe() as back, pipe() as stderr:
        descriptors = {3: there[0], 4: back[1]} if kind == "pipe" else {2: stderr[1]}
        chromium = process_group(command(profile, kind), descriptors, env=env, grace=5)
        await stack.enter_async_context(chromium)
        if kind == "pipe":
            return PipeTransport(os.dup(back[0]), os.dup(there[1]))
        return await connect_websocket(await devtools_url(stderr[0]), background)


async def run_until_lost(connection: Connection) -> None:
    with pytest.raises(ConnectionLostError):
        await connection.run()


async def devtools_url(stderr: int) -> str:
    said = ""
    while "DevTools listening on" not in said or not said.endswith("\n"):
        await trio.lowlevel.wait_readable(stderr)
        said += os.read(stderr, 4096).decode()
    return said.split("DevTools listening on ")[1].split()[0]


@pytest.fixture(params=["pipe", "websocket"])
async def connection(request, tmp_path, nursery):
    with trio.fail_after(BOUND):
        async with browser(tmp_path / "profile", request.param, nursery) as connection:
            yield connection
    nursery.cancel_scope.cancel(reason="the test is over")


async def open_page(connection: Connection) -> Session:
    page = await connection.call("Target.createTarget", {"url": "about:blank"})
    attached = await connection.call(
        "Target.attachToTarget", {"targetId": page["targetId"], "flatten": True}
    )
    return Session(connection, attached["sessionId"])


async def evaluate(session: Session, expression: str) -> object:
    parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    evaluated = await session.call("Runtime.evaluate", parameters, Evaluated)
    return evaluated.result.get("value")


async def test_the_browser_tells_its_version(connection):
    version = await connection.call("Browser.getVersion")
    assert "Chrome/" in version["product"]


async def test_a_result_of_60_mb_arrives_whole(connection):
    page = await open_page(connection)
    assert await evaluate(page, f"'x'.repeat({LARGE})") == "x" * LARGE
    assert await evaluate(page, "1 + 1") == 2


async def test_300_calls_with_random_deadlines_leave_the_connection_usable(connection):
    page = await open_page(connection)
    dice = random.Random(300)
    answered, given_up = [], []

    async def call(number: int) -> None:
        with trio.move_on_after(dice.uniform(0, 0.25)) as scope:
            wait = dice.choice([0, 0, 10, 100])
            text = f"new Promise(done => setTimeout(() => done({number}), {wait}))"
            answered.append(await evaluate(page, text) == number)
        if scope.cancelled_caught:
            given_up.append(number)

    async with trio.open_nursery() as callers:
        for number in range(300):
            callers.start_soon(call, number)
    assert len(answered) + len(given_up) == 300
    assert given_up
    assert all(answered)
    assert connection.statistics.pending == 0
    assert await evaluate(page, "'still here'") == "still here"


async def test_a_page_that_closes_fails_its_calls_at_once_and_later_ones_as_well(connection):
    page, other = await open_page(connection), await open_page(connection)

    async def close() -> None:
        await evaluate(page, "1")
        await connection.call("Target.detachFromTarget", {"sessionId": page.id})

    async with trio.open_nursery() as nursery:
        nursery.start_soon(close)
        with pytest.raises(SessionGoneError):
            await evaluate(page, "new Promise(() => {})")
    with pytest.raises(SessionGoneError):
        await evaluate(page, "1")
    assert await evaluate(other, "1 + 1") == 2


async def test_a_session_that_ends_takes_its_workers_along(connection):
    page = await open_page(connection)
    workers: list[Session] = []

    class Attached(msgspec.Struct, rename="camel"):
        session_id: str

    def hear(event) -> None:
        if event.method == "Target.attachedToTarget":
            attached = msgspec.json.decode(event.params, type=Attached)
            workers.append(Session(connection, attached.session_id))

    page.listen(hear)
    await page.call(
        "Target.setAutoAttach",
        {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True},
    )
    await evaluate(
        page,
        """new Promise(done => {
            const source = new Blob(["setInterval(() => {}, 1000); postMessage(1)"]);
            globalThis.worker = new Worker(URL.createObjectURL(source));
            worker.onmessage = done;
        })""",
    )
    (worker,) = workers
    assert await evaluate(worker, "1 + 1") == 2
    async with trio.open_nursery() as nursery:
        detach = {"sessionId": page.id}
        nursery.start_soon(connection.call, "Target.detachFromTarget", detach)
        with pytest.raises(SessionGoneError):
            await evaluate(worker, "new Promise(() => {})")


async def test_half_a_character_in_a_page_does_not_end_the_connection(connection):
    page = await open_page(connection)
    heard: list[bytes] = []
    page.listen(lambda event: heard.append(bytes(event.params)))
    await page.call("Runtime.enable")
    assert await evaluate(page, r"console.log('\ud800'); '\udc00'") == "\ufffd"
    assert any("\ufffd" in str(msgspec.json.decode(params)) for params in heard)
    assert not connection.lost.is_set()
