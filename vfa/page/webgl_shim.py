"""The WebGL stand-in of a page: where it is installed, and reading what it recorded.

It is installed before the first script of each document, in every frame and worker, until it
is taken back; documents that are there already stay as they are. Its sources are static; what
travels with them is the mode and a secret that no page gets to see. By the secret a document's
stand-in is asked from our isolated world, and a worker's through its own session: so nothing a
page defines can answer in its place. Workers are only asked if they were met before they ran,
since one that was not could have put something of its own there.

Source: CDP ``Page.addScriptToEvaluateOnNewDocument``, ``Target.attachedToTarget``.
"""

from __future__ import annotations

import json
import math
import secrets
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import CdpError, ConnectionLostError, ScriptError, SessionGoneError
from vfa.page.js import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vfa.page.page import Page

Mode = Literal["off", "mock", "trace"]

# One for the process: documents outlive a change of the mode, and can still be asked.
TOKEN = secrets.token_hex(16)
PARTS = ("recorder", "glsl", "tables", "mock")
FIRST = "1"  # CDP's identifier for the first script of a new session
REALM_BOUND = 2.0  # seconds for one frame or worker to answer; a busy one is left out


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What one document or worker recorded. Times are milliseconds since ``origin``."""

    mode: str
    stats: dict[str, float]
    contexts: dict[str, int]  # real and mocked ones that were given out
    counts: dict[str, int]  # of records by kind, those that the ring dropped too
    records: tuple[dict[str, Any], ...]  # the last ones, oldest first
    shaders: tuple[dict[str, Any], ...]  # the last sources, however many records followed
    textures: tuple[dict[str, Any], ...]
    origin: float  # of the realm's clock: ms since the epoch
    realm: str = "page"  # page, frame or worker


class _Registered(msgspec.Struct, frozen=True):
    identifier: str


class _OnPage:
    """What is installed on one page."""

    def __init__(self) -> None:
        self.mode: Mode = "off"
        self.scripts: dict[str, tuple[Session, str]] = {}  # session id -> its registration
        self.workers: set[str] = set()  # session ids of those that have the stand-in


_pages: WeakKeyDictionary[Page, _OnPage] = WeakKeyDictionary()


@cache
def script(mode: Mode) -> str:
    """Return the program that installs the stand-in."""
    parts = ",\n".join(f"{name}: {_expression(f'webgl_{name}')}" for name in PARTS)
    arguments = f"{json.dumps(mode)}, {json.dumps(TOKEN)}, {{ {parts} }}"
    return f'"use strict";\n({_expression("webgl_shim")})({arguments})'


def _expression(name: str) -> str:
    """Return a static source without the comment that it begins with."""
    lines = source(name).splitlines()
    while lines and lines[0].startswith("//"):
        del lines[0]
    return "\n".join(lines)


async def install(page: Page, mode: Mode) -> str | None:
    """Have ``mode`` apply to the documents that ``page`` will show; return its registration.

    A registration that is there is taken back first. None: the mode is "off".
    """
    on_page = _pages.setdefault(page, _OnPage())
    await _take_back(on_page)
    on_page.mode = mode
    if mode == "off":
        page.for_children("webgl shim", None)
        return None
    page.for_children("webgl shim", lambda child: _equip(page, on_page, child))
    identifier = await _register(on_page, page.session)
    for session in _other_processes(page):
        try:
            await _register(on_page, session)
        except (CdpError, SessionGoneError):
            continue  # the frame is gone, or is going
    return identifier


def _other_processes(page: Page) -> Iterator[Session]:
    sessions = {frame.session.id: frame.session for frame in page.frames}
    sessions.pop(page.session.id, None)
    yield from sessions.values()


async def _register(on_page: _OnPage, session: Session) -> str:
    wanted = {"source": script(on_page.mode)}
    method = "Page.addScriptToEvaluateOnNewDocument"
    made = await session.call(method, wanted, _Registered)
    on_page.scripts[session.id] = (session, made.identifier)
    return made.identifier


async def _take_back(on_page: _OnPage) -> None:
    while on_page.scripts:
        _, (session, identifier) = on_page.scripts.popitem()
        try:
            await session.call(
                "Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier}
            )
        except (CdpError, SessionGoneError):
            continue  # it went with its frame


def _equip(page: Page, on_page: _OnPage, child: Session) -> None:
    """Install in a frame of another process, or in a worker, that has not run yet."""
    kind = page.fresh.get(child.id)
    if kind == "worker":
        child.post("Runtime.evaluate", {"expression": script(on_page.mode)})
        on_page.workers.add(child.id)
    elif kind == "iframe":
        wanted = {"source": script(on_page.mode)}
        child.post("Page.addScriptToEvaluateOnNewDocument", wanted)
        on_page.scripts[child.id] = (child, FIRST)


async def read(page: Page, *, clear: bool = False) -> list[Recorded]:
    """Return what the stand-ins of the page's documents and workers recorded.

    Args:
        page: The tab.
        clear: Have them forget it once it is read.
    """
    found: list[Recorded] = []
    for frame in page.frames:
        main = frame is page.frames.main
        with trio.move_on_after(math.inf if main else REALM_BOUND):
            try:
                answers = await page.call(
                    "webgl_read", TOKEN, clear, result=list[Recorded], frame=frame
                )
            except (CdpError, ScriptError, SessionGoneError):
                if main:
                    raise
                continue
            realm = "page" if main else "frame"
            found += [msgspec.structs.replace(answer, realm=realm) for answer in answers]
    found += await _read_workers(page, clear=clear)
    return found


async def _read_workers(page: Page, *, clear: bool) -> list[Recorded]:
    on_page = _pages.get(page)
    if on_page is None:
        return []
    on_page.workers &= page.fresh.keys()
    asked = f"__mcpWebglRead({json.dumps(TOKEN)}, {json.dumps(clear)})"
    found = []
    for session_id in sorted(on_page.workers):
        session = Session(page.connection, session_id)
        with trio.move_on_after(REALM_BOUND):
            try:
                answer = await session.call(
                    "Runtime.evaluate", {"expression": asked, "returnByValue": True}
                )
            except (CdpError, ConnectionLostError):
                continue
            value = answer["result"].get("value")
            if value is not None:
                found.append(msgspec.convert({**value, "realm": "worker"}, Recorded))
    return found
