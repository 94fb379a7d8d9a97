"""Changes between two outlines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vfa.page.delta import apply, compare, write

KEYS = [f"e{number}" for number in range(1, 13)]


@st.composite
def outlines(draw):
    """Some of the keys, as a tree, with short texts."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=10))
    parents = {}
    for index, key in enumerate(keys):
        parents[key] = draw(st.sampled_from(["", *keys[:index]]))
    children = {}
    for key, parent in parents.items():
        children.setdefault(parent, []).append(key)

    def lines(parent):
        for key in children.get(parent, ()):
            yield key, parent, f"{key} {draw(st.sampled_from('abc'))}"
            yield from lines(key)

    return list(lines(""))


@settings(deadline=None, max_examples=300)
@given(outlines(), outlines())
def test_a_delta_applied_to_the_old_outline_gives_the_new_one(old, new):
    assert apply(old, compare(old, new)) == new


@settings(deadline=None)
@given(outlines())
def test_nothing_changed_between_an_outline_and_itself(outline):
    assert not compare(outline, outline)


@settings(deadline=None, max_examples=200)
@given(outlines(), outlines())
def test_every_line_that_came_or_changed_is_said_with_its_ref(old, new):
    said = "\n".join(write(old, compare(old, new)))
    before = {key: line for key, _, line in old}
    for key, _, line in new:
        if before.get(key) != line:
            assert line in said


def test_a_change_of_value_is_one_line():
    old = [("e1", "", "e1 checkbox 'Remember me'")]
    new = [("e1", "", "e1 checkbox 'Remember me' [checked]")]

    assert write(old, compare(old, new)) == ["~ e1 checkbox 'Remember me' [checked]"]


def test_what_is_removed_with_all_below_it_is_one_line():
    old = [("e1", "", "e1 list"), ("e2", "e1", "e2 link 'a'"), ("e3", "e1", "e3 link 'b'")]

    assert write(old, compare(old, [])) == ["- e1 list (and 2 below it)"]


def test_what_is_added_says_where_and_what_is_below_it_is_indented():
    old = [("e1", "", "e1 main"), ("e2", "e1", "e2 link 'a'")]
    new = [*old, ("e3", "e1", "e3 list"), ("e4", "e3", "e4 link 'b'")]

    assert write(old, compare(old, new)) == [
        "+ in e1 after e2: e3 list",
        "+   e4 link 'b'",
    ]


def test_what_only_moved_is_not_new():
    old = [("e1", "", "e1 a"), ("e2", "", "e2 b"), ("e3", "", "e3 c")]
    new = [old[2], old[0], old[1]]

    assert write(old, compare(old, new)) == ["> e3 c"]
