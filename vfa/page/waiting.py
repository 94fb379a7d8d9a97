"""Waiting for something on a page: an element, a text, an address, the end of loading.

The pages look for themselves (``kit/waiting.js``), one observer in each frame, and answer when
things change; nothing is asked twice while nothing happens. A document that leaves takes its
observer with it, and the wait goes on in the next one. What is wanted must hold all at once.

A wait ends a little before the caller's deadline, so that there is time to say what was
missing.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.errors import (
    CdpError,
    DeadlineExceededError,
    ElementStaleError,
    ScriptError,
    SessionGoneError,
    VfaError,
)
from vfa.page.js import source
from vfa.page.locating import (
    REF,
    Element,
    Target,
    bad_selector,
    by_ref,
    frame_inside,
    pierce,
    ref_of,
    stale,
    steps_of,
    time_left,
)
from vfa.page.readiness import QUIET

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.cdp.dialogue import Event
    from vfa.page.frames import Frame
    from vfa.page.page import Page

State = Literal["attached", "visible", "hidden", "gone"]
LoadState = Literal["domcontentloaded", "load", "networkidle"]

COMING = frozenset({"attached", "visible"})  # the states that something has to reach
ROUND = 20_000.0  # ms of one wait in a page; a command may not be silent for longer
NEXT_DOCUMENT = 0.25  # seconds after which a frame that lost its document is asked again
DIAGNOSIS = 0.04  # seconds for a last look that tells what is missing
UNKNOWN = "?"  # what is asked with where any answer is news
SHOWN = 200  # characters of a selector or text that an error repeats
# Events after which there may be another frame, or another document in one.
MOVES = frozenset(
    {
        "Page.frameAttached",
        "Page.frameDetached",
        "Page.frameNavigated",
        "Target.attachedToTarget",
        "Target.detachedFromTarget",
    }
)

_ids = itertools.count(1)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is waited for; all of it must hold at once."""

    target: Target | None = None
    text: str = ""
    state: State = "attached"
    url: str = ""  # a part of the address, or a pattern with "*" for all of it
    load_state: LoadState | None = None

    def __str__(self) -> str:
        parts = []
        if self.target is not None:
            parts.append(f"element {str(self.target)[:SHOWN]!r}")
        if self.text:
            parts.append(f"text {self.text[:SHOWN]!r}")
        words = " and ".join(parts)
        if parts and self.state != "attached":
            words += f" to be {self.state}"
        if self.url:
            parts.append(f"url {self.url[:SHOWN]!r}")
            words += f"{', ' if words else ''}{parts[-1]}"
        if self.load_state:
            words += f"{', ' if words else ''}load state {self.load_state}"
        return words


class Found(msgspec.Struct, frozen=True):
    """How a wait ended."""

    ref: str = ""  # of the element that came
    matches: int = 0  # of the selector, where that element was found
    url: str = ""


class _Seen(msgspec.Struct, frozen=True):
    """How things stand in one frame."""

    element: bool = False
    text: bool = False
    number: int = 0
    matches: int = 1
    enter: tuple[tuple[int, tuple[str, ...]], ...] = ()
    gone: bool = False
    suspects: bool = False
    late: bool = False
    key: str = ""


async def wait_for(page: Page, wanted: Wanted) -> Found:
    """Return once everything that is wanted holds.

    Raises:
        DeadlineExceededError: It did not in the caller's time.
        InvalidArgsError: The selector is not one.
        ElementStaleError: The ref's element, which was to appear, is gone.
    """
    began = trio.current_time()
    with trio.move_on_after(time_left() / 1000):
        while True:
            await _wait_for_place(page, wanted)
            found = await _wait_for_things(page, wanted)
            if _is_at(page, wanted.url) and _is_loaded(page, wanted.load_state):
                return msgspec.structs.replace(found, url=page.documents.url)
    raise await _out_of_time(page, wanted, trio.current_time() - began)


def timed_out(wanted: Wanted, milliseconds: float, why: str = "") -> DeadlineExceededError:
    """Return the error for a wait that ended without what was wanted."""
    return DeadlineExceededError(
        f"Timed out after {milliseconds:.0f} ms waiting for {wanted}" + (why and f": {why}"),
        hint="Check it against the page (browser_snapshot), or allow more with timeout_ms.",
    )


async def _out_of_time(page: Page, wanted: Wanted, seconds: float) -> DeadlineExceededError:
    missing = []
    if not _is_at(page, wanted.url):
        missing.append(f"the address is {page.documents.url[:SHOWN]}")
    if not _is_loaded(page, wanted.load_state):
        missing.append("the page is loading")
    elif wanted.load_state == "networkidle" and (loading := page.network.loading()):
        missing.append(f"requests in flight: {loading}")
    if wanted.target is not None and wanted.text:
        with trio.move_on_after(DIAGNOSIS):
            missing += await _Watch(page, wanted).say_what_is_missing()
    return timed_out(wanted, 1000 * seconds, ", ".join(missing))


# --- addresses and loading ----------------------------------------------------------------


def url_matches(wanted: str, url: str) -> bool:
    """Say whether an address is the wanted one.

    Args:
        wanted: A part of it; with "*" in it, all of it, "*" standing for anything.
        url: The address.
    """
    if "*" not in wanted:
        return wanted in url
    first, *inner, last = re.sub(r"\*+", "*", wanted).split("*")
    if not url.startswith(first):
        return False
    at = len(first)
    for part in inner:
        at = url.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return len(url) - len(last) >= at and url.endswith(last)


def _is_at(page: Page, url: str) -> bool:
    return not url or url_matches(url, page.documents.url)


def _is_loaded(page: Page, load_state: LoadState | None) -> bool:
    documents = page.documents
    if load_state is None:
        return True
    if documents.starting or documents.scheduled:
        return False
    if not documents.commits and not documents.loader_id:
        return True  # the blank document that every tab begins with
    ready = documents.ready_state
    return ready == "complete" or (ready == "interactive" and load_state == "domcontentloaded")


async def _wait_for_place(page: Page, wanted: Wanted) -> None:
    """Wait for the address and for the state of loading."""
    documents = page.documents

    def is_there() -> bool:
        return _is_at(page, wanted.url) and _is_loaded(page, wanted.load_state)

    while True:
        await documents.wait_until(is_there)
        if wanted.load_state != "networkidle":
            return
        commits = documents.commits
        await page.network.wait_for_silence(QUIET)
        if is_there() and documents.commits == commits:
            return


# --- elements and text --------------------------------------------------------------------


async def _wait_for_things(page: Page, wanted: Wanted) -> Found:
    """Wait for the element and the text."""
    if wanted.target is None and not wanted.text:
        return Found()
    return await _Watch(page, wanted).run()


class _Watch:
    """Looks into all frames of a page until what is wanted is there, or gone."""

    def __init__(self, page: Page, wanted: Wanted) -> None:
        self._page = page
        self._wanted = wanted
        self._coming = wanted.state in COMING
        selector = wanted.target.selector if wanted.target else ""
        self._steps = steps_of(selector) if selector else None
        self._seen: dict[Frame, _Seen] = {}
        self._inner: dict[Frame, dict[Frame, list[str]]] = {}  # searches by where they began
        self._running: dict[Frame, tuple[dict[str, Any], trio.CancelScope]] = {}
        self._bell = trio.Event()
        self._failure: VfaError | None = None
        self._heard: dict[str, Callable[[], None]] = {}  # by session: how to stop listening

    async def run(self) -> Found:
        """Return once it is so."""
        if await self._is_gone_already():
            return Found()
        if (found := await self._at_a_glance()) is not None:
            return found
        try:
            async with trio.open_nursery() as looks:
                found = await self._watch(looks)
                looks.cancel_scope.cancel(reason="the wait is over")
        finally:
            for stop in self._heard.values():
                stop()
        if self._failure is not None:
            raise self._failure
        assert found is not None
        return found

    async def _at_a_glance(self) -> Found | None:
        """Return what is there already: often all is, and nothing has to be watched."""
        if not self._coming or len(self._page.frames) > 1:
            return None
        frame = self._page.frames.main
        try:
            self._seen[frame] = await self._ask(frame, self._spec(frame), UNKNOWN, 0)
        except (CdpError, SessionGoneError):
            return None
        found = self._whole()
        self._seen.clear()
        return found

    async def say_what_is_missing(self) -> list[str]:
        """Return which of element and text is missing, or still there."""
        await self._look_everywhere()
        element = any(seen.element for seen in self._seen.values())
        text = any(seen.text for seen in self._seen.values())
        words = {True: "there", False: "not there"}
        return [f"the element is {words[element]}", f"the text is {words[text]}"]

    async def _is_gone_already(self) -> bool:
        """See to it that a ref is this tab's and, if it is to be there, that it is."""
        target = self._wanted.target
        if target is None or not target.ref:
            return False
        match = REF.fullmatch(target.ref)
        ours = match is not None and (match[1] or "") == self._page.frames.refs.prefix
        try:
            await by_ref(self._page, target.ref)
        except ElementStaleError:
            if self._coming or not ours:
                raise
            return not self._wanted.text
        return False

    async def _watch(self, looks: trio.Nursery) -> Found | None:
        while self._failure is None:
            bell = self._bell
            self._watch_all_frames(looks)
            found = self._whole()
            if found is not None and (len(self._running) == 1 or await self._is_so_at_once()):
                return found
            await bell.wait()
        return None

    def _ring(self) -> None:
        self._bell.set()
        self._bell = trio.Event()

    def _hear(self, event: Event) -> None:
        if event.method in MOVES:
            self._ring()

    def _watch_all_frames(self, looks: trio.Nursery) -> None:
        """Have each frame watched for what it is to be watched for now."""
        there = set(self._page.frames)
        for frame in self._running.keys() - there:
            self._running.pop(frame)[1].cancel(reason="the frame is gone")
            self._seen.pop(frame, None)
            self._inner.pop(frame, None)
        for frame in self._page.frames:
            if frame.session.id not in self._heard:
                self._heard[frame.session.id] = frame.session.listen(self._hear)
            spec = self._spec(frame)
            if frame in self._running:
                before, scope = self._running[frame]
                if before == spec:
                    continue
                scope.cancel(reason="it is to look for something else")
                self._seen.pop(frame, None)
            scope = trio.CancelScope()
            self._running[frame] = spec, scope
            looks.start_soon(self._watch_frame, frame, spec, scope)

    def _spec(self, frame: Frame) -> dict[str, Any]:
        """Return what the kit is to look for in a frame."""
        searches = [self._steps] if self._steps else []
        searches += [begun[frame] for begun in self._inner.values() if frame in begun]
        target = self._wanted.target
        match = REF.fullmatch(target.ref) if target else None
        ours = match and self._page.frames.by_number(int(match[2] or 0)) is frame
        return {
            "searches": searches,
            "number": int(match[3]) if match and ours else 0,
            "text": " ".join(self._wanted.text.split()),
            "state": self._wanted.state,
            "alone": len(self._page.frames) == 1,
        }

    async def _watch_frame(
        self, frame: Frame, spec: dict[str, Any], scope: trio.CancelScope
    ) -> None:
        known = ""
        with scope:
            while True:
                try:
                    seen = await self._ask(frame, spec, known, ROUND)
                    if seen.suspects:
                        await pierce(self._page, frame)
                        continue
                    if seen.late:
                        continue
                    await self._follow(frame, seen)
                except (CdpError, SessionGoneError) as error:
                    if self._is_the_end(error, frame):
                        return
                    self._seen.pop(frame, None)  # until its next document is there
                    known = ""
                    with trio.move_on_after(NEXT_DOCUMENT):
                        await self._bell.wait()
                    continue
                except VfaError as error:
                    self._fail(error)
                    return
                known = seen.key
                self._seen[frame] = seen
                self._ring()

    def _is_the_end(self, error: VfaError, frame: Frame) -> bool:
        """Fail if it is not just a frame that went, or moved to another process."""
        if isinstance(error, CdpError) or frame.session.id != self._page.session.id:
            return False
        self._fail(error)
        return True

    def _fail(self, error: VfaError) -> None:
        self._failure = error
        self._ring()

    async def _ask(
        self, frame: Frame, spec: dict[str, Any], known: str, budget: float
    ) -> _Seen:
        number = next(_ids)
        try:
            return await self._page.kit(
                "waitFor", spec | {"id": number}, known, budget, result=_Seen, frame=frame
            )
        except ScriptError as error:
            selector = self._wanted.target.selector if self._wanted.target else ""
            raise bad_selector(selector, error) from None
        except trio.Cancelled:
            _call_off(frame, number)
            raise

    async def _follow(self, frame: Frame, seen: _Seen) -> None:
        """Have searches that lead into frames go on there."""
        if seen.gone and self._coming and self._wanted.target is not None:
            raise stale(self._wanted.target.ref)
        begun = {}
        for number, rest in seen.enter:
            inner = await frame_inside(self._page, Element(frame, number))
            if inner is not None:
                begun[inner] = list(rest)
        self._inner[frame] = begun

    def _whole(self) -> Found | None:
        """Return what was found if all frames together are as wanted."""
        wanted = self._wanted
        element = next(((f, s) for f, s in self._seen.items() if s.element), None)
        text = any(seen.text for seen in self._seen.values())
        if not self._coming:
            everywhere = self._seen.keys() >= set(self._page.frames)
            return None if element or text or not everywhere else Found()
        if (wanted.target is not None and element is None) or (wanted.text and not text):
            return None
        if element is None:
            return Found()
        frame, seen = element
        return Found(ref_of(self._page, Element(frame, seen.number)), seen.matches)

    async def _is_so_at_once(self) -> bool:
        """Look into all frames again: what each said may be of another moment."""
        for seen in self._seen.values():  # one frame by itself is
            if self._coming and seen.element and (seen.text or not self._wanted.text):
                return True
            if self._coming and seen.text and self._wanted.target is None:
                return True
        await self._look_everywhere()
        return self._whole() is not None

    async def _look_everywhere(self) -> None:
        async def look(frame: Frame) -> None:
            try:
                self._seen[frame] = await self._ask(frame, self._spec(frame), UNKNOWN, 0)
            except (CdpError, SessionGoneError):
                self._seen.pop(frame, None)
            except VfaError as error:
                self._fail(error)

        async with trio.open_nursery() as looks:
            for frame in self._page.frames:
                looks.start_soon(look, frame)


def _call_off(frame: Frame, number: int) -> None:
    """Have a wait end in the page, too: an observer costs it time."""
    if frame.world is not None and not frame.gone:
        frame.session.post(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": source("invoke"),
                "executionContextId": frame.world,
                "arguments": [{"value": "stopWaiting"}, {"value": number}],
            },
        )
