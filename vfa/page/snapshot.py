"""Snapshots: what a page consists of, as an outline for models or as a list of elements.

Each document is walked in the page, in one round trip, all frames side by side; what comes
back is capped by what the answer has room for. Here the parts are put together and written.

An outline is remembered for a while under an id, so that the next one can be asked for as a
list of changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.page import delta
from vfa.page.locating import Target, frame_inside, locate, ref_of
from vfa.page.outline import (
    NEWLINE,
    TERSENESS,
    Block,
    Entry,
    Node,
    blocks_of,
    build,
    cost,
    lines_of,
    measure,
    quoted,
    write,
)
from vfa.page.stitching import Part, Reading, read_document, read_frames

if TYPE_CHECKING:
    from vfa.page.frames import Frame
    from vfa.page.page import Page

NODE_CHARS = 7  # of an outline that a node takes at least, on average
MIN_NODES = 2_000  # that are described in any case: they are what a delta is made from
MUCH = 2.5  # times the room: more is not saved by leaving out particulars
FEW = 10  # changes that are told however small the page is
DEFAULT_CHARS = 11_000  # of an outline: under 4,000 tokens (o200k_base) on a shop page


# --- the outline ------------------------------------------------------------------------------


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Which outline is wanted."""

    under: Target | None = None  # only what is in this element
    depth: int = 0  # levels; 0: all
    offset: int = 0  # parts at the top that are skipped
    find: str = ""  # only what has this text, and what it is in
    changed_since: str = ""  # the id of an outline
    max_chars: int = DEFAULT_CHARS  # of the outline as JSON


class Outline(msgspec.Struct, frozen=True):
    """An outline, or what changed since an earlier one."""

    text: str
    id: str  # for ``changed_since``; "" where only a part was shown
    omitted: int  # parts that are not in it, but said to be there
    changes: bool = False  # it is a list of changes


class _Walked(Reading, frozen=True):
    nodes: tuple[Entry, ...] = ()
    left: int = 0
    modal: bool = False
    title: str = ""
    url: str = ""


async def outline(page: Page, request: Request) -> Outline:
    """Return the outline of a page.

    Raises:
        ElementNotFoundError: ``under`` matches nothing.
        ElementStaleError: The element of ``under`` is gone.
    """
    frame, number, ask = await _beginning(page, request)
    quota = max(MIN_NODES, request.max_chars // NODE_CHARS)
    options = {"quota": quota, "depth": request.depth, "find": request.find}

    async def read(each: Frame) -> _Walked:
        first = each is frame
        with page.ax_trees.held(each):
            return await read_document(
                page,
                each,
                "outline",
                number if first else 0,
                options | {"offset": request.offset if first else 0},
                result=_Walked,
            )

    part = await read_frames(page, frame, read, _frames_in)
    nodes, left = _stitch(page, part)
    blocks = blocks_of(nodes, TERSENESS[0])
    lines = list(lines_of(blocks))
    name = f"s{page.frames.refs.snapshots + 1}"
    head = _head(part.value, request, ask, name)
    scope = (page.documents.loader_id, ask, request.find, f"{request.depth} {request.offset}")
    text = ""
    if request.changed_since:
        text, reason = _changes(page, scope, lines, head, request)
        head += [reason] if reason else []
    page.frames.refs.snapshots += 1
    page.outlines.keep(name, scope, lines)
    if text:
        return Outline(text, name, 0, changes=True)
    text, omitted = await _write(nodes, blocks, left, head, request, ask)
    return Outline(text, name, omitted)


async def _beginning(page: Page, request: Request) -> tuple[Frame, int, str]:
    """Return the frame and the number to begin at, and what the answer calls it."""
    if request.under is None:
        return page.frames.main, 0, ""
    element = await locate(page, request.under)
    inner = await frame_inside(page, element)
    ask = f"under={ref_of(page, element)}"
    if inner is not None and inner.parent is element.frame:
        return inner, 0, ask
    return element.frame, element.number, ask


def _frames_in(walked: _Walked) -> list[int]:
    return [entry.number for entry in walked.nodes if entry.role == "iframe"]


def _stitch(page: Page, part: Part[_Walked]) -> tuple[list[Node], int]:
    """Return the nodes of a document with those of its frames in their places."""
    nodes = build(part.value.nodes, page.frames.name(part.frame))
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        waiting += node.children
        inner = part.inner.get(node.entry.number) if node.entry.role == "iframe" else None
        if inner is not None:
            node.children, node.left = _stitch(page, inner)
    return nodes, part.value.left


def _head(walked: _Walked, request: Request, ask: str, name: str) -> list[str]:
    """Return the first lines: which page it is, and which part of it."""
    address = walked.url if len(walked.url) <= 120 else walked.url[:119] + "…"
    parts = [f"page {quoted(walked.title, 80)} {address} (snapshot {name})"]
    asked = [ask] if ask else []
    asked += [f"offset={request.offset}"] if request.offset else []
    asked += [f"depth={request.depth}"] if request.depth else []
    asked += [f"find={quoted(request.find, 60)}"] if request.find else []
    if asked:
        parts.append("only " + " ".join(asked))
    if walked.modal:
        parts.append("only the modal dialog: the page behind it cannot be used")
    return parts


def _changes(
    page: Page,
    scope: tuple[str, ...],
    lines: list[delta.Line],
    head: list[str],
    request: Request,
) -> tuple[str, str]:
    """Return the changes as text; or "", and why the outline itself says it better."""
    since = request.changed_since
    old = page.outlines.recall(since, scope)
    if isinstance(old, str):
        return "", f"no changes since {since} ({old}): this is all"
    said = delta.write(old, delta.compare(old, lines))
    if not said:
        return "\n".join([*head, f"unchanged since {since}"]), ""
    size = sum(cost(line) for line in said)
    if size > request.max_chars // 2 or len(said) > max(FEW, len(lines) // 2):
        return "", f"no changes since {since} (most of the page changed): this is all"
    count = "1 change" if len(said) == 1 else f"{len(said)} changes"
    return "\n".join([*head, f"{count} since {since}:", *said]), ""


async def _write(
    nodes: list[Node],
    blocks: list[Block],
    left: int,
    head: list[str],
    request: Request,
    ask: str,
) -> tuple[str, int]:
    """Write as much as there is room for, first with fewer particulars, then with fewer lines.

    Args:
        nodes: The page's.
        blocks: The same, with all particulars.
        left: Parts at the top that are not among them.
        head: The first lines.
        request: What was asked for.
        ask: What to ask for to get the parts at the top.
    """
    room = request.max_chars - sum(len(line) + NEWLINE for line in head)
    size = measure(blocks, 0)
    if size > room and size <= MUCH * room and not left:
        for terse in TERSENESS[1:]:
            await trio.lowlevel.checkpoint()
            shorter = blocks_of(nodes, terse)
            if measure(shorter, 0) + len(terse.omits) + NEWLINE <= room:
                head, blocks = [*head, terse.omits], shorter
                room -= len(terse.omits) + NEWLINE
                break
    await trio.lowlevel.checkpoint()
    lines, omitted = write(blocks, left, room, ask=ask, base=request.offset)
    if not lines:
        lines = ["nothing has this text" if request.find else "nothing to see"]
    return "\n".join([*head, *lines]), omitted


# --- the list of elements ---------------------------------------------------------------------


class Listing(msgspec.Struct, frozen=True):
    """The elements of a page that one can use, in the order of the page."""

    elements: list[dict[str, Any]]
    more: bool


class _Item(msgspec.Struct, frozen=True):
    number: int = 0
    role: str = ""
    name: str = ""
    description: str = ""
    selector: str = ""
    state: dict[str, Any] = {}
    value: Any = None
    level: int = 0
    frame: int = 0  # the number of a frame's element; it stands for what is in it


class _Listed(Reading, frozen=True):
    elements: tuple[_Item, ...] = ()
    more: bool = False


async def elements(
    page: Page, most: int, *, text: bool, headings: bool = False, landmarks: bool = False
) -> Listing:
    """Return the first elements of a page that one can use.

    Args:
        page: The tab.
        most: How many at most.
        text: Say what fields hold.
        headings: Include headings.
        landmarks: Include landmarks.
    """
    include = {"text": text, "headings": headings, "landmarks": landmarks}

    async def read(frame: Frame) -> _Listed:
        with page.ax_trees.held(frame):
            return await read_document(page, frame, "elements", most, include, result=_Listed)

    part = await read_frames(
        page, page.frames.main, read, lambda listed: [each.frame for each in listed.elements]
    )
    found: list[dict[str, Any]] = []
    more = _list(page, part, "", found, most)
    return Listing(found[:most], more or len(found) > most)


def _list(
    page: Page, part: Part[_Listed], way: str | None, found: list[dict[str, Any]], most: int
) -> bool:
    """Add the elements of a document and of its frames; say whether some were left out.

    Args:
        page: The tab.
        part: What was read.
        way: The steps that lead a selector here; None: there is no selector for the frame.
        found: Grows.
        most: Elements at most.
    """
    prefix = page.frames.name(part.frame)
    more = part.value.more
    for item in part.value.elements:
        if len(found) > most:
            return True
        selector = f"{way}{item.selector}" if item.selector and way is not None else None
        if item.frame:
            if (inner := part.inner.get(item.frame)) is not None:
                into = None if selector is None else f"{selector} >>> "
                more = _list(page, inner, into, found, most) or more
            continue
        element: dict[str, Any] = {
            "role": item.role,
            "name": item.name,
            "description": item.description,
            "selector": selector,
            "state": item.state,
            "ref": f"{prefix}e{item.number}",
        }
        if item.value is not None:
            element["value"] = item.value
        if item.level:
            element["level"] = item.level
        found.append(element)
    return more
