"""What changed between two outlines of a page, as lines that can be acted upon.

Pure. An outline is a list of (key, key of the parent, line), parents first; keys are refs, or
made from the ref of what a text is in. Each change keeps the refs of the lines it is about::

    ~ e12 checkbox 'Remember me' [checked]
    + in e9 after e11: e15 button 'Undo'
    - e8 link 'Log in'
    > e4 link 'Home': now in e3, after e5

``apply`` is what a reader does with them; it is here so that a test can show that the changes
are all there is to know.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REMEMBERED = 4  # outlines of a tab's page

Line = tuple[str, str, str]  # key, key of the parent ("" at the top), what it says


class Placed(msgspec.Struct, frozen=True):
    """Where a line is now that was not there, or not anywhere, before."""

    key: str
    parent: str
    after: str  # the key of what is before it in the same parent; "" for nothing
    line: str


class Delta(msgspec.Struct, frozen=True):
    """All that changed."""

    removed: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()  # key, what it says now
    added: tuple[Placed, ...] = ()  # in the order of the page
    moved: tuple[Placed, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.removed or self.changed or self.added or self.moved)


class Outlines:
    """The last outlines of a tab's page, as lines by id."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[str, ...], list[Line]]] = {}

    def keep(self, name: str, scope: tuple[str, ...], lines: list[Line]) -> None:
        """Remember an outline; the oldest one is forgotten."""
        self._kept[name] = (scope, lines)
        while len(self._kept) > REMEMBERED:
            del self._kept[next(iter(self._kept))]

    def recall(self, name: str, scope: tuple[str, ...]) -> list[Line] | str:
        """Return the lines of an outline, or why they cannot be compared with."""
        if name not in self._kept:
            return f"{name} is not known any more"
        kept, lines = self._kept[name]
        if kept[0] != scope[0]:
            return f"the document is another one than in {name}"
        return lines if kept == scope else f"{name} was asked for with other arguments"


def compare(old: Sequence[Line], new: Sequence[Line]) -> Delta:
    """Return what turns ``old`` into ``new``."""
    before = {key: (parent, line) for key, parent, line in old}
    after = {key: (parent, line) for key, parent, line in new}
    was, now = _children(old), _children(new)
    added: list[Placed] = []
    moved: list[Placed] = []
    for parent, keys in now.items():
        stayed = [
            key for key in was.get(parent, ()) if key in after and after[key][0] == parent
        ]
        steady = _steady(stayed, keys)
        previous = ""
        for key in keys:
            if key not in steady:
                placed = Placed(key, parent, previous, after[key][1])
                (moved if key in before else added).append(placed)
            previous = key
    order = {key: index for index, (key, _, _) in enumerate(new)}
    return Delta(
        removed=tuple(key for key, _, _ in old if key not in after),
        changed=tuple(
            (key, line) for key, _, line in new if key in before and before[key][1] != line
        ),
        added=tuple(sorted(added, key=lambda each: order[each.key])),
        moved=tuple(sorted(moved, key=lambda each: order[each.key])),
    )


def apply(old: Sequence[Line], delta: Delta) -> list[Line]:
    """Return ``old`` with the changes made."""
    lines = {key: line for key, _, line in old} | dict(delta.changed)
    gone = set(delta.removed) | {placed.key for placed in delta.moved}
    children = {
        parent: [key for key in keys if key not in gone]
        for parent, keys in _children(old).items()
    }
    parents = {placed.key: placed for placed in (*delta.added, *delta.moved)}
    for placed in parents.values():
        lines[placed.key] = placed.line
    # What is put beside something that was itself put there comes after it.
    waiting = list(parents.values())
    while waiting:
        later = []
        for placed in waiting:
            beside = children.setdefault(placed.parent, [])
            if placed.after and placed.after not in beside:
                later.append(placed)
            else:
                position = beside.index(placed.after) + 1 if placed.after else 0
                beside.insert(position, placed.key)
        waiting = later
    return list(_in_order(children, lines, ""))


def write(old: Sequence[Line], delta: Delta) -> list[str]:
    """Return the changes as lines; only the topmost of what was removed has one."""
    said = {key: line for key, _, line in old}
    removed = set(delta.removed)
    below: dict[str, int] = {}
    tops = []
    owner: dict[str, str] = {}
    for key, parent, _ in old:
        if key not in removed:
            continue
        if parent in removed:
            owner[key] = owner.get(parent, parent)
            below[owner[key]] = below.get(owner[key], 0) + 1
        else:
            tops.append(key)
    lines = [f"~ {line}" for _, line in delta.changed]
    lines += [
        f"- {said[key]}" + (f" (and {below[key]} below it)" if key in below else "")
        for key in tops
    ]
    depths: dict[str, int] = {}
    for placed in delta.added:
        if placed.parent in depths:
            depths[placed.key] = depths[placed.parent] + 1
            lines.append("+ " + "  " * min(depths[placed.key], 12) + placed.line)
        else:
            depths[placed.key] = 0
            lines.append(f"+ {_where(placed)}{placed.line}")
    lines += [f"> {_where(placed)}{placed.line}" for placed in delta.moved]
    return lines


def _where(placed: Placed) -> str:
    """Return the place of a line in words; texts have no ref to name it by."""
    words = []
    if _is_ref(placed.parent):
        words.append(f"in {placed.parent}")
    if _is_ref(placed.after):
        words.append(f"after {placed.after}")
    return " ".join(words) + ": " if words else ""


def _is_ref(key: str) -> bool:
    return bool(key) and "/" not in key


def _children(lines: Sequence[Line]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for key, parent, _ in lines:
        children.setdefault(parent, []).append(key)
    return children


def _steady(old: Sequence[str], new: Sequence[str]) -> set[str]:
    """Return a largest set of keys that are in both in the same order."""
    position = {key: index for index, key in enumerate(old)}
    common = [key for key in new if key in position]
    ends: list[int] = []  # the smallest last position of a run of each length
    at: list[int] = []
    for key in common:
        length = bisect_left(ends, position[key])
        ends[length : length + 1] = [position[key]]
        at.append(length)
    steady = set()
    wanted = len(ends) - 1
    limit = len(old)
    for index in reversed(range(len(common))):
        if at[index] == wanted and position[common[index]] < limit:
            steady.add(common[index])
            limit = position[common[index]]
            wanted -= 1
    return steady


def _in_order(
    children: dict[str, list[str]], lines: dict[str, str], parent: str
) -> Iterator[Line]:
    for key in children.get(parent, ()):
        yield key, parent, lines[key]
        yield from _in_order(children, lines, key)
