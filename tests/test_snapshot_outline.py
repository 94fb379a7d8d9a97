"""Writing outlines: lines, noise, budgets, and continuations that reach everything."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vfa.page.outline import (
    NEWLINE,
    TERSENESS,
    Entry,
    blocks_of,
    build,
    cost,
    lines_of,
    measure,
    quoted,
    write,
)

FULL = TERSENESS[0]
CONTINUATION = re.compile(r"… \d+ more: (?:under=(\w+))? ?(?:offset=(\d+))?")


def outline(entries, room=100_000, terse=FULL):
    blocks = blocks_of(build(entries, ""), terse)
    measure(blocks, 0)
    lines, _ = write(blocks, 0, room, ask="")
    return lines


def text(name, depth=0):
    return Entry(role="text", name=name, depth=depth)


# --- lines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (Entry(role="link", number=4, name="Home", url="/"), "e4 link 'Home' /"),
        (
            Entry(role="checkbox", number=5, name="Yes", state={"checked": "true"}),
            "e5 checkbox 'Yes' [checked]",
        ),
        (Entry(role="slider", number=6, value=0), "e6 slider = 0"),
        (
            Entry(role="textbox", number=7, name="Mail", hint="a@b", value="x"),
            "e7 textbox 'Mail' = 'x' hint 'a@b'",
        ),
        (
            Entry(role="combobox", number=8, value="B", options=("A", "B"), more_options=7),
            "e8 combobox = 'B' of 'A' | 'B' | 7 more",
        ),
        (
            Entry(role="button", number=9, name="Menu", state={"expanded": False}),
            "e9 button 'Menu' [collapsed]",
        ),
        (Entry(role="text", name="just text"), "'just text'"),
    ],
)
def test_a_line_says_what_there_is_to_say(entry, line):
    assert outline([entry]) == [line]


@given(st.text(max_size=200))
def test_what_a_page_says_cannot_be_taken_for_the_outline(said):
    line = quoted(said, 100)

    assert len(line) <= 102
    assert len(line.splitlines()) == 1
    inner = line[1:-1]
    assert not re.search(r"(?<!\w)'|'(?!\w)", inner)


def test_a_small_group_is_one_line():
    entries = [
        Entry(role="list", number=1),
        Entry(role="listitem", number=2, depth=1),
        Entry(role="link", number=3, name="Chair", url="/c", depth=2),
        text("€ 49", 2),
        Entry(role="button", number=4, name="Add", depth=2),
    ]

    assert outline(entries) == ["e1 list", "  - e3 link 'Chair' /c · '€ 49' · e4 button 'Add'"]


def test_a_heading_does_not_say_again_what_its_link_says():
    entries = [
        Entry(role="h2", number=1, name="Chair"),
        Entry(role="link", number=2, name="Chair", url="/c", depth=1),
    ]

    assert outline(entries) == ["e1 h2 · e2 link 'Chair' /c"]


def test_a_picture_beside_its_caption_and_a_second_link_to_the_same_are_left_out():
    entries = [
        Entry(role="item", number=1),
        Entry(role="link", number=2, name="Chair", url="/c", depth=1),
        Entry(role="image", number=3, name="Chair", depth=1),
        Entry(role="h3", number=4, name="Chair", depth=1),
        Entry(role="link", number=5, name="Chair", url="/c", depth=2),
        Entry(role="link", number=6, name="Chair", url="/other", depth=1),
    ]

    (line,) = outline(entries)

    assert line == "- e4 h3 · e5 link 'Chair' /c · e6 link 'Chair' /other"


# --- budgets ----------------------------------------------------------------------------


@st.composite
def pages(draw):
    """Entries of a page whose leaves all have names of their own."""
    entries = []
    number = 0

    def grow(depth, most):
        nonlocal number
        for _ in range(draw(st.integers(1, most))):
            number += 1
            if depth < 5 and draw(st.booleans()):
                role = draw(st.sampled_from(["list", "listitem", "main", "form", "clickable"]))
                entries.append(Entry(role=role, number=number, depth=depth))
                grow(depth + 1, 7)
            elif draw(st.booleans()):
                entries.append(text(f"name{number}x" + "y" * draw(st.integers(0, 140)), depth))
            else:
                entries.append(
                    Entry(role="link", number=number, name=f"name{number}x", depth=depth)
                )

    grow(0, 25)
    return entries


def part(nodes, under, offset, room):
    """Show the parts of a node from an offset on, as the in-page walk would cut them."""
    if under:
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if node.ref == under:
                nodes = node.children
    blocks = blocks_of(nodes[offset:], FULL)
    measure(blocks, 0)
    ask = f"under={under}" if under else ""
    return write(blocks, 0, room, ask=ask, base=offset)


@settings(deadline=None, max_examples=50)
@given(pages(), st.integers(600, 4_000))
def test_an_outline_is_never_above_its_budget(entries, room):
    lines, omitted = part(build(entries, ""), "", 0, room)

    assert sum(cost(line) for line in lines) <= room
    assert (omitted > 0) is any("more:" in line for line in lines)
    assert len(msgspec.json.encode("\n".join(lines)).decode()) <= room + NEWLINE


@settings(deadline=None, max_examples=50)
@given(pages(), st.integers(600, 2_000))
def test_every_element_is_reached_by_following_what_the_outline_says(entries, room):
    nodes = build(entries, "")
    seen = ""
    waiting = [("", 0)]
    asked = set()
    while waiting:
        request = waiting.pop()
        assert request not in asked, "a continuation leads nowhere new"
        asked.add(request)
        for line in part(nodes, *request, room)[0]:
            seen += line + "\n"
            if match := CONTINUATION.search(line):
                waiting.append((match[1] or "", int(match[2] or 0)))

    for entry in entries:
        if entry.name:
            assert f"{entry.name[:12]}" in seen


def test_large_parts_share_the_room_and_small_ones_are_whole():
    entries = [
        Entry(role="navigation", number=1),
        *[Entry(role="link", number=n, name=f"nav {n}", depth=1) for n in range(2, 600)],
        Entry(role="main", number=600),
        *[Entry(role="link", number=n, name=f"main {n}", depth=1) for n in range(601, 900)],
        Entry(role="contentinfo", number=900),
        Entry(role="link", number=901, name="Imprint", depth=1),
    ]
    said = outline(entries, 3_000)

    assert "  e901 link 'Imprint'" in said
    assert "  e601 link 'main 601'" in said
    assert sum("nav" in line for line in said) > 30
    assert sum(line.startswith("  …") for line in said) == 2


def test_lines_have_the_keys_of_their_elements():
    link = Entry(role="link", number=2, depth=1)
    entries = [Entry(role="main", number=1), text("a", 1), link, text("b", 1), text("c")]
    keys = [(key, parent) for key, parent, _ in lines_of(blocks_of(build(entries, ""), FULL))]

    assert keys == [
        ("e1", ""),
        ("e1/1", "e1"),
        ("e2", "e1"),
        ("e1/2", "e1"),
        ("/1", ""),
    ]
