"""Areas of a page, and which frames of a recording are due."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.page.frame_capture import EARLY, Grid
from vfa.page.viewing import Area, View

# --- areas ------------------------------------------------------------------------------

SIDES = st.floats(0, 1000)
AREAS = st.builds(Area, SIDES, SIDES, SIDES, SIDES)


@given(one=AREAS, other=AREAS)
def test_what_two_areas_share_is_inside_of_both(one, other):
    shared = one.within(other)
    assert shared.is_empty or (one.holds(shared) and other.holds(shared))
    assert shared == other.within(one)


@given(area=AREAS)
def test_an_area_holds_itself_and_shares_all_of_it(area):
    assert area.holds(area)
    assert area.within(area) == Area(
        area.x, area.y, *(pytest.approx(side) for side in (area.width, area.height))
    )


def test_what_is_in_sight_is_the_viewport_and_less_of_it_where_the_page_is_zoomed():
    view = View(800, 600, 2, 0, -5, seen_width=785, seen_height=585, page_x=40, page_y=70)
    assert view.seen == Area(40, 70, 800, 600)
    zoomed = View(800, 600, 2, 0, 0, 2, seen_width=400, seen_height=300, page_y=70, offset_x=10)
    assert zoomed.seen == Area(10, 70, 400, 300)


# --- which frames are due ---------------------------------------------------------------

GAPS = st.lists(st.floats(0.001, 0.5), min_size=1, max_size=60)


def kept(gaps, interval):
    grid, at, times = Grid(interval), 1000.0, []
    for gap in gaps:
        at += gap
        if grid.is_due(at):
            grid.take(at)
            times.append(at)
    return times


@given(gaps=GAPS, interval=st.floats(0.02, 1))
def test_frames_keep_to_the_interval_and_what_was_missed_is_not_made_up_for(gaps, interval):
    times = kept(gaps, interval)
    assert len(times) >= 1
    for number, at in enumerate(times):
        assert at - times[0] >= number * interval - EARLY - 1e-6
    slots = [math.floor((at - times[0] + EARLY) / interval + 1e-9) for at in times]
    assert all(earlier < later for earlier, later in pairwise(slots))


@given(gaps=GAPS)
def test_without_an_interval_every_frame_is_due(gaps):
    assert len(kept(gaps, 0)) == len(gaps)


def test_a_late_frame_does_not_move_those_after_it():
    times = kept([0.1, 0.13, 0.07, 0.1, 0.1], 0.1)
    assert [round(at - times[0], 2) for at in times] == [0, 0.13, 0.2, 0.3, 0.4]
