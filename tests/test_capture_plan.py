"""How large a capture may be, and what to do when it was too large."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.image.jobs import Target
from vfa.image.plan import (
    LONGEST_SIDE,
    TILE_PIXELS,
    budget_scale,
    corrected_scale,
    plan_capture,
    scaled_size,
    tile_clips,
)

CSS = st.floats(1, 30_000)
FACTORS = st.sampled_from([1.0, 1.25, 2.0, 3.0])
FORMATS = st.sampled_from(["jpeg", "png", "webp"])


def test_a_page_within_its_budget_is_captured_as_it_is():
    plan = plan_capture(1440, 900, max_pixels=16_000_000)
    assert (plan.scale, plan.width, plan.height) == (1.0, 1440, 900)
    assert not plan.truncated
    assert plan.tiles == 1


def test_a_long_page_is_scaled_to_the_pixel_budget():
    plan = plan_capture(3000, 19_400, max_pixels=16_000_000)
    assert plan.scale == pytest.approx(math.sqrt(16e6 / (3000 * 19_400)) * 0.98)
    assert plan.truncated
    assert plan.tiles > 1


@given(
    width=CSS, height=CSS, factor=FACTORS, budget=st.integers(1000, 20_000_000), kind=FORMATS
)
def test_a_plan_is_within_the_budget_and_the_format(width, height, factor, budget, kind):
    plan = plan_capture(width, height, factor=factor, max_pixels=budget, format=kind)
    assert max(plan.width, plan.height) <= LONGEST_SIDE[kind]
    assert plan.width * plan.height <= budget or min(plan.width, plan.height) == 1
    assert plan.truncated == (plan.scale < 1)


def test_a_webp_is_never_planned_above_what_the_format_holds():
    plan = plan_capture(1000, 20_000, format="webp")
    assert plan.height <= 16_383
    assert plan.truncated


def test_a_device_scale_factor_counts():
    assert plan_capture(1000, 1000, factor=2, max_pixels=1_000_000).scale == pytest.approx(0.49)


@given(
    width=st.integers(1, 5000),
    height=st.floats(1, 40_000),
    factor=FACTORS,
    scale=st.floats(0.05, 1),
)
def test_tiles_cover_the_page_without_a_gap(width, height, factor, scale):
    clips = tile_clips(width, height, factor=factor, scale=scale)
    assert clips[0].y == 0
    assert clips[-1].y + clips[-1].height == pytest.approx(height)
    for clip in clips:
        assert clip.height > 0
        assert clip.y * factor * scale == pytest.approx(clip.top)
    for upper, lower in pairwise(clips):
        rows = math.floor(upper.height * factor * scale + 1e-6)
        assert upper.top < lower.top <= upper.top + rows


@given(width=st.integers(100, 5000), height=st.integers(100, 40_000), scale=st.floats(0.1, 1))
def test_no_tile_is_larger_than_it_may_be(width, height, scale):
    for clip in tile_clips(width, height, scale=scale):
        assert math.ceil(width * scale) * clip.height * scale <= TILE_PIXELS * 1.01


def test_the_plan_knows_how_many_tiles_there_will_be():
    plan = plan_capture(3000, 19_400, max_pixels=16_000_000)
    assert plan.tiles == len(tile_clips(3000, 19_400, scale=plan.scale))


def test_a_capture_within_its_budgets_needs_no_correction():
    assert corrected_scale(1, (100, 100), 5000, max_pixels=10_000, max_bytes=5000) is None
    assert corrected_scale(1, (100, 100), 5000) is None


def test_the_correction_follows_the_budget_that_is_overrun_most():
    scale = corrected_scale(0.5, (200, 100), 40_000, max_pixels=10_000, max_bytes=10_000)
    assert scale == pytest.approx(0.5 * 0.5 * 0.98)


def test_an_unmeasured_capture_is_judged_by_its_bytes_alone():
    assert corrected_scale(1, None, 100, max_pixels=1, max_bytes=100) is None
    assert corrected_scale(1, None, 400, max_pixels=1, max_bytes=100) == pytest.approx(0.49)


@given(
    width=st.integers(1, 70_000),
    height=st.integers(1, 70_000),
    kind=FORMATS,
    pixels=st.none() | st.integers(1, 10**8),
    side=st.none() | st.integers(1, 70_000),
)
def test_a_budget_scale_meets_every_budget(width, height, kind, pixels, side):
    target = Target(format=kind, max_pixels=pixels, max_side=side)
    scale = budget_scale(width, height, target)
    wide, high = scaled_size(width, height, scale)
    assert 0 < scale <= 1
    assert max(wide, high) <= min(side or LONGEST_SIDE[kind], LONGEST_SIDE[kind])
    assert pixels is None or wide * high <= pixels or min(wide, high) == 1


def test_an_exact_scale_is_not_rounded_down_by_a_float():
    assert scaled_size(1000, 30, 500 / 1000) == (500, 15)
    assert scaled_size(3, 4, 0.001) == (1, 1)
