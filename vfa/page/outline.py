"""The outline of a page: one line an element, within a budget, nothing left out in silence.

Pure: takes what the in-page walk found as a tree of nodes, makes it a tree of blocks (a block
is a line, and the blocks below it), and writes as much of that as a budget of characters
allows. What does not fit is counted where it belongs, with what to ask for to get it:
``… 34 more: under=e12 offset=8`` are the direct parts of e12 from the ninth on.

    e3 navigation 'Main'
      e4 link 'Home' /
    e9 main
      - e10 link 'Blue chair' /p/1 · '€ 49.00' · e11 button 'Add to cart'
      e12 checkbox 'Remember me' [checked]

All text of the page is in single quotes and on one line, so that it can be told from the
outline itself whatever a page says. Apostrophes are kept, other single quotes are replaced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INLINE = 240  # characters of a group of elements that share a line
ATOMIC = 400  # characters of a block that is shown whole or not at all
NOTE = 64  # characters that a note of what was left out takes, at most, its indent apart
DEEPEST = 12  # levels that are told apart by their indent
NEWLINE = 2  # characters, as JSON writes it
BULLETS = frozenset({"listitem", "item", "row"})
# What may share its line with what is in it, whatever that is.
SHARING = BULLETS | {"article", "figure", "clickable", "link", "button"}
HEADINGS = frozenset({f"h{level}" for level in range(1, 10)})
SHARING |= HEADINGS
SEPARATOR = " · "
RAISED_COMMA = "\N{RIGHT SINGLE QUOTATION MARK}"
_LOOSE_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")


class Entry(msgspec.Struct, frozen=True, rename="camel"):
    """What the in-page walk says of one node, in the order of the page."""

    role: str
    number: int = 0  # of its element; 0: it is text
    name: str = ""
    depth: int = 0
    left: int = 0  # children that were not described
    state: dict[str, Any] = {}
    marks: tuple[str, ...] = ()
    url: str = ""
    hint: str = ""
    value: Any = None
    options: tuple[str, ...] = ()
    more_options: int = 0


class Node:
    """A node of the page's tree, across frames."""

    def __init__(self, entry: Entry, ref: str) -> None:
        self.entry = entry
        self.ref = ref  # "" for text
        self.children: list[Node] = []
        self.left = entry.left


class Terse(msgspec.Struct, frozen=True):
    """How much of a node's particulars is said."""

    name: int  # characters of a name or a text
    url: int  # characters of an address; 0: none
    options: int  # of a choice that are listed
    omits: str = ""  # what to tell the reader


TERSENESS = (
    Terse(150, 80, 12),
    Terse(100, 40, 6, "long texts and addresses are cut"),
    Terse(80, 0, 3, "addresses of links are left out"),
)


class Block:
    """One line, and what is below it."""

    def __init__(self, line: str, key: str, ref: str, index: int) -> None:
        self.line = line
        self.key = key  # names it among all blocks of the outline
        self.ref = ref  # what to ask for to see what is below it
        self.index = index  # among the parts of what it is in
        self.children: list[Block] = []
        self.left = 0
        self.size = 0  # characters of it and all below, notes included


def build(entries: Sequence[Entry], prefix: str) -> list[Node]:
    """Return the topmost nodes of a document's entries.

    Args:
        entries: In the order of the page, with depths.
        prefix: What refs in this document begin with.
    """
    top: list[Node] = []
    path: list[Node] = []
    for entry in entries:
        node = Node(entry, f"{prefix}e{entry.number}" if entry.number else "")
        del path[entry.depth :]
        (path[-1].children if path else top).append(node)
        path.append(node)
    return top


# --- words ------------------------------------------------------------------------------------


def quoted(text: str, limit: int) -> str:
    """Return ``text`` in single quotes, on one line, in at most ``limit`` characters."""
    text = " ".join(text.split())
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    if "'" in text:
        text = _LOOSE_QUOTE.sub(RAISED_COMMA, text)
    return f"'{text}'"


def describe(node: Node, terse: Terse, *, name: bool = True) -> str:
    """Return what is said of a node itself."""
    entry = node.entry
    if entry.role == "text":
        return quoted(entry.name, terse.name)
    words = [node.ref, entry.role]
    if name and entry.name:
        words.append(quoted(entry.name, terse.name))
    if entry.value is not None and entry.value != entry.name:
        value = entry.value
        words.append(
            "= " + (quoted(value, terse.name) if isinstance(value, str) else f"{value}")
        )
    if marks := list(_states(entry)):
        words.append(f"[{', '.join(marks)}]")
    if entry.hint:
        words.append("hint " + quoted(entry.hint, terse.name))
    if entry.options:
        words.append(_choices(entry, terse))
    if entry.url and terse.url:
        words.append(_address(entry.url, terse.url))
    return " ".join(words)


def _states(entry: Entry) -> Iterator[str]:
    state = entry.state
    checked = state.get("checked")
    if checked in ("true", "mixed"):
        yield "checked" if checked == "true" else "half checked"
    for name in ("selected", "disabled", "readonly", "required"):
        if state.get(name) is True:
            yield name
    if "expanded" in state and not entry.options:
        yield "expanded" if state["expanded"] else "collapsed"
    yield from entry.marks


def _choices(entry: Entry, terse: Terse) -> str:
    shown = [quoted(option, 40) for option in entry.options[: terse.options]]
    more = len(entry.options) - len(shown) + entry.more_options
    return "of " + " | ".join([*shown, f"{more} more"] if more else shown)


def _address(url: str, limit: int) -> str:
    url = re.sub(r"\s", "%20", url)
    return url if len(url) <= limit else url[: limit - 1] + "…"


# --- blocks -----------------------------------------------------------------------------------


def blocks_of(nodes: Sequence[Node], terse: Terse, parent: str = "") -> list[Block]:
    """Return nodes as blocks; those that only repeat what is beside them have none."""
    blocks = []
    texts = 0
    repeats = _repeats(nodes)
    for index, node in enumerate(nodes):
        key = node.ref
        if not key:
            texts += 1
            key = f"{parent}/{texts}"
        if index not in repeats:
            blocks.append(_block(node, key, index, terse))
    return blocks


def _block(node: Node, key: str, index: int, terse: Terse) -> Block:
    line = _on_one_line(node, terse)
    if line is not None and len(line) <= INLINE:
        return Block(line, key, node.ref, index)
    block = Block(describe(node, terse), key, node.ref, index)
    block.children = blocks_of(_told_apart(node), terse, node.ref)
    block.left = node.left
    return block


def _told_apart(node: Node) -> list[Node]:
    """Return the children of a node without a text that says its name again."""
    children = node.children
    if not node.left and len(children) == 1 and children[0].entry.role == "text":
        return [child for child in children if child.entry.name != node.entry.name]
    return children


def _on_one_line(node: Node, terse: Terse) -> str | None:
    """Return a node and all below it as one line; None if that cannot be."""
    if node.left:
        return None
    role = node.entry.role
    children = _told_apart(node)
    if not children:
        return ("- " if role in BULLETS else "") + describe(node, terse)
    if role not in SHARING and any(child.entry.role != "text" for child in children):
        return None
    repeats = _repeats(children)
    parts = []
    for index, child in enumerate(children):
        if index in repeats:
            continue
        part = _on_one_line(child, terse)
        if part is None or len(part) > INLINE:
            return None
        parts.append(part.removeprefix("- "))
    inside = SEPARATOR.join(parts)
    if role in BULLETS:
        return f"- {inside}"
    said = " ".join(child.entry.name for child in children)
    return describe(node, terse, name=said != node.entry.name) + SEPARATOR + inside


def _repeats(nodes: Sequence[Node]) -> set[int]:
    """Return which of some nodes beside each other only say again what another one says.

    A picture beside a link or a heading of its name; a second link to the same place; the
    same text twice in a row.
    """
    names = {node.entry.name for node in nodes if node.entry.role != "image"}
    titles = {_only_link(node) for node in nodes if node.entry.role in HEADINGS}
    repeats = set()
    previous: tuple[str, str, str] | None = None
    links: set[tuple[str, str]] = set()
    for index, node in enumerate(nodes):
        entry = node.entry
        said = (entry.role, entry.name, entry.url)
        if node.children or node.left:
            previous = None
            continue
        if (entry.role == "image" and entry.name in names) or (
            entry.role == "text" and said == previous
        ):
            repeats.add(index)
        if entry.role == "link" and entry.name and len(nodes) <= 12:
            link = (entry.name, entry.url)
            if (link in links or link in titles) and not entry.marks:
                repeats.add(index)
            links.add(link)
        previous = said
    return repeats


def _only_link(node: Node) -> tuple[str, str] | None:
    if len(node.children) != 1 or node.children[0].entry.role != "link":
        return None
    return node.children[0].entry.name, node.children[0].entry.url


def lines_of(blocks: Sequence[Block], parent: str = "") -> Iterator[tuple[str, str, str]]:
    """Give (key, key of the parent, line) of all blocks, parents first."""
    for block in blocks:
        yield block.key, parent, block.line
        yield from lines_of(block.children, block.key)


# --- within a budget --------------------------------------------------------------------------


def cost(line: str) -> int:
    """Return how many characters a line takes in an answer."""
    return len(line) + line.count('"') + line.count("\\") + NEWLINE


def indent(depth: int) -> int:
    """Return how many characters a line at a depth is indented; at most a line's share."""
    return 2 * min(depth, DEEPEST)


def measure(blocks: Sequence[Block], depth: int) -> int:
    """Work out the sizes of blocks at a depth; return their sum."""
    for block in blocks:
        block.size = indent(depth) + cost(block.line) + measure(block.children, depth + 1)
        if block.left:
            block.size += indent(depth + 1) + NOTE
    return sum(block.size for block in blocks)


class Cut:
    """What has been left out so far."""

    def __init__(self) -> None:
        self.parts = 0


def write(
    blocks: Sequence[Block], left: int, room: int, *, ask: str, base: int = 0, depth: int = 0
) -> tuple[list[str], int]:
    """Return the lines of blocks in at most ``room`` characters, and how many parts they omit.

    Small blocks are shown whole; large ones share what is left evenly, each at least with its
    own line and a note of what is below; when not even that fits, the last ones make room.

    Args:
        blocks: Beside each other; measured.
        left: Parts after them that are not known.
        room: At least enough for a note.
        ask: What to ask for to get the parts of what they are in: "under=e12", or "".
        base: The index of the first part that there is to show.
        depth: How far they are indented.
    """
    total = sum(block.size for block in blocks)
    note = indent(depth) + NOTE
    if total + (note if left else 0) <= room:
        return _write_all(blocks, left, ask=ask, base=base, depth=depth)
    least = [_least(block, depth) for block in blocks]
    shown, taken = 0, note
    while shown < len(blocks) and taken + least[shown] <= room:
        taken += least[shown]
        shown += 1
    shares = _shares([block.size for block in blocks[:shown]], least[:shown], room - note)
    lines: list[str] = []
    omitted = 0
    for block, share in zip(blocks[:shown], shares, strict=True):
        more, gone = _write_one(block, share, depth)
        lines += more
        omitted += gone
    rest = len(blocks) - shown + left
    if rest:
        offset = base + (blocks[shown].index if shown < len(blocks) else _end(blocks))
        lines.append(_note(rest, ask, offset, depth))
    return lines, omitted + rest


def _write_all(
    blocks: Sequence[Block], left: int, *, ask: str, base: int, depth: int
) -> tuple[list[str], int]:
    lines: list[str] = []
    omitted = left
    for block in blocks:
        more, gone = _write_one(block, block.size, depth)
        lines += more
        omitted += gone
    if left:
        lines.append(_note(left, ask, base + _end(blocks), depth))
    return lines, omitted


def _write_one(block: Block, room: int, depth: int) -> tuple[list[str], int]:
    line = " " * indent(depth) + block.line
    below = room - indent(depth) - cost(block.line)
    if not block.children and not block.left:
        return [line], 0
    lines, omitted = write(
        block.children, block.left, below, ask=f"under={block.ref}", depth=depth + 1
    )
    return [line, *lines], omitted


def _least(block: Block, depth: int) -> int:
    """Return the characters with which a block can be shown at all."""
    if block.size <= ATOMIC:
        return block.size
    own = indent(depth) + cost(block.line)
    return own if not block.children and not block.left else own + indent(depth + 1) + NOTE


def _end(blocks: Sequence[Block]) -> int:
    return blocks[-1].index + 1 if blocks else 0


def _note(parts: int, ask: str, offset: int, depth: int) -> str:
    how = " ".join(word for word in (ask, f"offset={offset}" if offset else "") if word)
    return " " * indent(depth) + f"… {parts} more: {how}"


def _shares(sizes: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Share out ``room``: each gets what it wants if that is little, the others the same."""
    shares = list(least)
    spare = room - sum(least)
    wanting = [index for index, size in enumerate(sizes) if size > least[index]]
    while spare > 0 and wanting:
        each = max(spare // len(wanting), 1)
        for index in list(wanting):
            more = min(each, sizes[index] - shares[index], spare)
            shares[index] += more
            spare -= more
            if shares[index] >= sizes[index]:
                wanting.remove(index)
    return shares
