"""Finding an element by selector or ref, in whichever frame and shadow tree it is.

A *target* is what a caller names: a CSS selector, or a ref of a snapshot. An *element* is what
that comes to: a frame and the number that the kit in that frame's document knows it by. The
number is bound to one DOM node and to nothing else: if the node goes, it is stale.

A selector is searched in the main frame first, then in the other frames in the order they
came; in each in the document, then in its shadow trees, open and closed. ``a >>> b`` searches
``b`` in the shadow tree, or in the frame, of the first match of ``a``. Waiting is done in the
pages, by observers; each wait ends a little before the caller's deadline, so that there is
time to say why.

Source: CDP ``DOM.describeNode``, ``DOM.resolveNode``, ``DOM.getFrameOwner``,
``DOM.getContentQuads``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import (
    CdpError,
    ElementNotFoundError,
    ElementStaleError,
    InvalidArgsError,
    ScriptError,
)
from vfa.page.page import Handle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vfa.page.frames import Frame
    from vfa.page.page import Page

REF = re.compile(r"(t\d+)?(?:f(\d+))?e(\d+)")
MARGIN = 0.06  # seconds before the caller's deadline at which a wait gives up and says why
LONGEST = 20.0  # seconds of one wait in a page; a longer one is made of several
ROUND = 1.0  # seconds of one wait in several frames; then frames that came are looked at, too
_STEP = re.compile(r""">>>|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\\.|.""", re.DOTALL)


class Target(msgspec.Struct, frozen=True):
    """What a caller names: exactly one of the two."""

    selector: str = ""
    ref: str = ""

    def __str__(self) -> str:
        return self.selector or self.ref


class Element(msgspec.Struct, frozen=True):
    """What a target came to."""

    frame: Frame
    number: int  # in the kit of the frame's document
    matches: int = 1  # of the selector, in the tree it was found in


class _Found(msgspec.Struct, frozen=True):
    number: int = 0
    matches: int = 1
    rest: tuple[str, ...] = ()
    suspects: bool = False


def check_target(selector: str, ref: str) -> Target:
    """Return what is named.

    Raises:
        InvalidArgsError: Neither or both are given, or what is given is none.
    """
    if bool(selector) == bool(ref):
        raise InvalidArgsError(
            "Provide exactly one of selector and ref",
            hint="selector is CSS; ref comes from browser_snapshot, such as e12.",
        )
    if ref and not REF.fullmatch(ref):
        raise InvalidArgsError(
            f"{ref[:40]!r} is not a ref", hint="Refs come from browser_snapshot, such as e12."
        )
    if selector:
        steps_of(selector)
    return Target(selector, ref)


def steps_of(selector: str) -> list[str]:
    """Split a selector at ``>>>``, where that is not inside a string.

    Raises:
        InvalidArgsError: A step is empty.
    """
    steps = [""]
    for token in _STEP.findall(selector):
        if token == ">>>":
            steps.append("")
        else:
            steps[-1] += token
    steps = [step.strip() for step in steps]
    if not all(steps):
        raise InvalidArgsError(
            f"{selector[:200]!r} is not a valid selector (SyntaxError): a step is empty",
            hint="Give a CSS selector such as `#id`, `.class` or `[name=email]`.",
        )
    return steps


def ref_of(page: Page, element: Element) -> str:
    """Return the ref of an element."""
    return f"{page.frames.name(element.frame)}e{element.number}"


def time_left() -> float:
    """Return the milliseconds that a wait in a page may take."""
    left = trio.current_effective_deadline() - trio.current_time() - MARGIN
    return 1000 * max(0.0, min(left, LONGEST))


async def locate(page: Page, target: Target, *, wait: bool = True) -> Element:
    """Return the element that ``target`` names.

    Args:
        page: The tab.
        target: A selector, or a ref.
        wait: For a selector: until it matches, or the caller's time is almost up.

    Raises:
        ElementNotFoundError: The selector matched nothing in time.
        ElementStaleError: The ref's element is gone.
        InvalidArgsError: The selector is not a CSS selector.
    """
    if target.ref:
        return await by_ref(page, target.ref)
    began = trio.current_time()
    steps = steps_of(target.selector)
    while True:
        element = await _search(page, steps, 0)
        if element is None and wait and time_left() > 0:
            element = await _await_match(page, steps)
        if element is not None:
            return element
        if not wait or time_left() <= 0:
            raise not_found(target.selector, trio.current_time() - began)


async def by_ref(page: Page, ref: str) -> Element:
    """Return the element of a ref.

    Raises:
        ElementStaleError: It, or its document or frame, is gone; or the ref is another tab's.
    """
    match = REF.fullmatch(ref)
    if match is None:
        raise InvalidArgsError(f"{ref[:40]!r} is not a ref")
    if (match[1] or "") != page.frames.refs.prefix:
        raise ElementStaleError(
            f"{ref} belongs to another tab",
            hint=f"Give the tab's number along with it: tab {(match[1] or 't1')[1:]}.",
        )
    frame = page.frames.by_number(int(match[2] or 0))
    if frame is not None:
        try:
            box = await page.kit("describeNumber", int(match[3]), result=str, frame=frame)
        except CdpError:
            box = ""
        if box:
            return Element(frame, int(match[3]))
    raise stale(ref)


def not_found(selector: str, waited_s: float) -> ElementNotFoundError:
    """Return the error for a selector that matched nothing in time."""
    return ElementNotFoundError(
        f"Element not found: {selector} (waited {waited_s:.2g} s)",
        hint="Check the selector against the page, or wait longer with timeout_ms.",
    )


def stale(ref: str) -> ElementStaleError:
    """Return the error for a ref whose element is gone."""
    return ElementStaleError(
        f"{ref} is stale: its element, or the document it was in, is gone",
        hint="Take a new browser_snapshot and use its refs.",
    )


def bad_selector(selector: str, error: ScriptError) -> InvalidArgsError | ScriptError:
    """Return what to raise for an error of a function that was given a selector."""
    if "SyntaxError" in error.message or "not a valid selector" in error.message:
        return InvalidArgsError(
            f"{selector[:200]!r} is not a valid selector (SyntaxError)",
            hint="Give a CSS selector such as `#id`, `.class` or `[name=email]`.",
        )
    return error


# --- searching ----------------------------------------------------------------------------


async def _search(page: Page, steps: Sequence[str], budget: float) -> Element | None:
    """Look into every frame; the first one in order that has a match wins."""
    for frame in page.frames:
        element = await _search_frame(page, frame, steps, budget)
        if element is not None:
            return element
    return None


async def _search_frame(
    page: Page, frame: Frame, steps: Sequence[str], budget: float
) -> Element | None:
    while True:
        try:
            found = await page.kit("find", list(steps), budget, result=_Found, frame=frame)
        except ScriptError as error:
            raise bad_selector(" >>> ".join(steps), error) from None
        except CdpError:
            if frame is page.frames.main:
                raise
            return None  # the frame left
        if not found.suspects:
            break
        await pierce(page, frame)
    if not found.number:
        return None
    if not found.rest:
        return Element(frame, found.number, found.matches)
    inner = await frame_inside(page, Element(frame, found.number))
    return None if inner is None else await _search_frame(page, inner, found.rest, budget)


async def _await_match(page: Page, steps: Sequence[str]) -> Element | None:
    """Wait for a match in any frame, for a round or as long as there is time."""
    alone = len(page.frames) == 1 and len(steps) == 1
    budget = time_left() if alone else min(time_left(), ROUND * 1000)
    if alone:
        return await _search_frame(page, page.frames.main, steps, budget)
    found: list[Element] = []
    async with trio.open_nursery() as waits:

        async def wait_in(frame: Frame) -> None:
            element = await _search_frame(page, frame, steps, budget)
            if element is not None:
                found.append(element)
                waits.cancel_scope.cancel(reason="a match was found")

        for frame in page.frames:
            waits.start_soon(wait_in, frame)
    return found[0] if found else None


class _Node(msgspec.Struct, frozen=True, rename="camel"):
    backend_node_id: int = 0
    frame_id: str = ""
    shadow_roots: tuple[_Node, ...] = ()
    shadow_root_type: str = ""


class _Described(msgspec.Struct, frozen=True):
    node: _Node


async def frame_inside(page: Page, owner: Element) -> Frame | None:
    """Return the frame that an ``iframe`` element holds."""
    handle = await page.kit_object("element", owner.number, frame=owner.frame)
    if handle is None:
        return None
    described = await owner.frame.session.call(
        "DOM.describeNode", {"objectId": handle.object_id}, _Described
    )
    return page.frames.by_id(described.node.frame_id)


class _Object(msgspec.Struct, frozen=True, rename="camel"):
    object_id: str = ""


class _Resolved(msgspec.Struct, frozen=True):
    object: _Object


class _Property(msgspec.Struct, frozen=True):
    name: str
    value: _Object | None = None


class _Properties(msgspec.Struct, frozen=True):
    result: tuple[_Property, ...]


async def pierce(page: Page, frame: Frame) -> None:
    """Find the closed shadow roots of a document and tell its kit about them."""
    suspects = await page.kit_object("suspects", frame=frame)
    if suspects is None:
        return
    session = frame.session
    listed = await session.call(
        "Runtime.getProperties",
        {"objectId": suspects.object_id, "ownProperties": True},
        _Properties,
    )
    hosts = [each.value for each in listed.result if each.name.isdigit() and each.value]

    async def look(host: _Object) -> None:
        described = await session.call(
            "DOM.describeNode", {"objectId": host.object_id}, _Described
        )
        for root in described.node.shadow_roots:
            if root.shadow_root_type == "closed":
                await _teach(page, frame, host, root.backend_node_id)

    async with trio.open_nursery() as looks:
        for host in hosts:
            looks.start_soon(look, host)
    session.post("Runtime.releaseObject", {"objectId": suspects.object_id})


async def _teach(page: Page, frame: Frame, host: _Object, root: int) -> None:
    handle = await resolve(frame, root)
    await page.kit("learnRoot", Handle(host.object_id), handle, result=bool, frame=frame)


async def resolve(frame: Frame, backend_node_id: int) -> Handle:
    """Return a node as an object of our world in a frame's document."""
    resolved = await frame.session.call(
        "DOM.resolveNode",
        {"backendNodeId": backend_node_id, "executionContextId": frame.world},
        _Resolved,
    )
    return Handle(resolved.object.object_id)


# --- where a frame's points are on the screen ---------------------------------------------


class _Owner(msgspec.Struct, frozen=True, rename="camel"):
    backend_node_id: int


class _BoxModel(msgspec.Struct, frozen=True):
    content: tuple[float, ...]


class _Boxed(msgspec.Struct, frozen=True):
    model: _BoxModel


async def owner_of(page: Page, frame: Frame) -> Element:
    """Return the element that holds a frame, in its parent's document.

    Raises:
        ElementStaleError: The frame is gone.
    """
    parent = frame.parent
    if parent is None or frame.gone:
        raise stale("the frame")
    try:
        owner = await parent.session.call("DOM.getFrameOwner", {"frameId": frame.id}, _Owner)
        await page.kit("describeNumber", 0, result=str, frame=parent)  # the world is there
        handle = await resolve(parent, owner.backend_node_id)
        number = await page.kit("number", handle, result=int, frame=parent)
    except CdpError:
        raise stale("the frame") from None
    return Element(parent, number)


class Place(msgspec.Struct, frozen=True):
    """Where the content of a frame is in the viewport of the tab: an affine map.

    Source: the content quad of the frame's element, CDP ``DOM.getBoxModel``.
    """

    x: float = 0.0
    y: float = 0.0
    a: float = 1.0  # what one px to the right in the frame is, to the right
    b: float = 0.0  # … and down
    c: float = 0.0  # what one px down in the frame is, to the right
    d: float = 1.0  # … and down

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return the viewport's point of a frame's point, CSS px."""
        return self.x + self.a * x + self.c * y, self.y + self.b * x + self.d * y

    def box(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        """Return the bounding box (left, top, width, height) of a frame's box."""
        left, top, width, height = box
        corners = [self.point(left + dx, top + dy) for dx in (0, width) for dy in (0, height)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


async def place_of(page: Page, frame: Frame) -> Place:
    """Return where a frame's viewport is in that of the tab.

    Raises:
        ElementStaleError: The frame is gone.
    """
    place = Place()
    while frame is not page.frames.main:
        owner = await owner_of(page, frame)
        inner = await _content_of(page, owner, frame)
        # A quad is in the coordinates of the process's topmost frame: skip up to that one.
        place = _compose(inner, place)
        session = owner.frame.session
        frame = owner.frame
        while frame.parent is not None and frame.parent.session.id == session.id:
            frame = frame.parent
    return place


async def _content_of(page: Page, owner: Element, frame: Frame) -> Place:
    handle = await page.kit_object("element", owner.number, frame=owner.frame)
    if handle is None:
        raise stale("the frame")
    try:
        boxed = await owner.frame.session.call(
            "DOM.getBoxModel", {"objectId": handle.object_id}, _Boxed
        )
        width, height = await page.kit("viewport", result=tuple[float, float], frame=frame)
    except CdpError:
        raise stale("the frame") from None
    x0, y0, x1, y1, _, _, x3, y3 = boxed.model.content
    width, height = width or 1.0, height or 1.0
    return Place(
        x0, y0, (x1 - x0) / width, (y1 - y0) / width, (x3 - x0) / height, (y3 - y0) / height
    )


def _compose(outer: Place, inner: Place) -> Place:
    x, y = outer.point(inner.x, inner.y)
    return Place(
        x,
        y,
        outer.a * inner.a + outer.c * inner.b,
        outer.b * inner.a + outer.d * inner.b,
        outer.a * inner.c + outer.c * inner.d,
        outer.b * inner.c + outer.d * inner.d,
    )


async def box_of(
    page: Page, element: Element, *, reveal: bool = False
) -> tuple[float, float, float, float]:
    """Return (left, top, width, height) of an element in the tab's viewport, CSS px.

    Args:
        page: The tab.
        element: What ``locate`` returned.
        reveal: Scroll it, and the frames it is in, into view first.

    Raises:
        ElementStaleError: It is gone.
    """
    if reveal:
        await reveal_frames(page, element.frame)
    function = "reveal" if reveal else "box"
    box = await page.kit(function, element.number, result=list[float], frame=element.frame)
    if not box:
        raise stale(ref_of(page, element))
    return (await place_of(page, element.frame)).box(box)


async def reveal_frames(page: Page, frame: Frame) -> None:
    """Scroll a frame, and those around it, into view; the outermost first."""
    if frame is page.frames.main:
        return
    owner = await owner_of(page, frame)
    await reveal_frames(page, owner.frame)
    await page.kit("reveal", owner.number, result=list, frame=owner.frame)
