"""Tiles put together."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from tests.pictures import encoded, noisy, opened, plain
from vfa.errors import PictureError
from vfa.image.header import picture_format
from vfa.image.jobs import Target
from vfa.image.plan import tile_clips
from vfa.image.stitch import stitch

PNG = Target("png")


def test_tiles_are_put_where_they_belong():
    tiles = [(plain(10, 20, color="red"), 0, 0), (plain(10, 30, color="blue"), 0, 20)]
    done = stitch(tiles, 10, 50, PNG)
    image = opened(done.data)
    assert (done.width, done.height, done.scale) == (10, 50, 1)
    assert [image.getpixel((5, y)) for y in (0, 19, 20, 49)] == [
        (255, 0, 0),
        (255, 0, 0),
        (0, 0, 255),
        (0, 0, 255),
    ]


def test_later_tiles_cover_earlier_ones_and_gaps_are_white():
    tiles = [(plain(10, 20, color="red"), 0, 0), (plain(10, 10, color="blue"), 0, 15)]
    image = opened(stitch(tiles, 10, 40, PNG).data)
    assert [image.getpixel((5, y)) for y in (14, 15, 24, 25)] == [
        (255, 0, 0),
        (0, 0, 255),
        (0, 0, 255),
        (255, 255, 255),
    ]


def test_a_tile_that_sticks_out_is_clipped():
    image = opened(stitch([(plain(30, 30, color="red"), -10, 5)], 20, 20, PNG).data)
    assert image.size == (20, 20)
    assert image.getpixel((19, 19)) == (255, 0, 0)
    assert image.getpixel((0, 4)) == (255, 255, 255)


@settings(deadline=None, max_examples=30)
@given(side=st.integers(5, 90), edges=st.lists(st.integers(1, 99), max_size=5, unique=True))
def test_no_line_shows_between_tiles_at_any_scale(side, edges):
    edges = [0, *sorted(edges), 100]
    tiles = [
        (plain(60, lower - upper, color="black"), 0, upper) for upper, lower in pairwise(edges)
    ]
    image = opened(stitch(tiles, 60, 100, Target("png", max_side=side)).data)
    assert image.getcolors() == [(image.width * image.height, (0, 0, 0))]


def test_planned_tiles_make_the_whole_again():
    page = noisy(120, 1000)
    clips = tile_clips(120, 1000, tile_pixels=20_000)
    assert len(clips) > 5
    tiles = [
        (encoded(page.crop((0, round(c.y), 120, round(c.y + c.height))), "png"), c.left, c.top)
        for c in clips
    ]
    whole = opened(stitch(tiles, 120, 1000, PNG).data)
    assert ImageChops.difference(page, whole).getbbox() is None


def test_budgets_hold_for_the_whole():
    tiles = [(encoded(noisy(400, 500), "jpeg"), 0, y) for y in range(0, 2000, 500)]
    done = stitch(tiles, 400, 2000, Target("webp", max_pixels=200_000, max_bytes=30_000))
    assert done.width * done.height <= 200_000
    assert len(done.data) <= 30_000
    assert picture_format(done.data) == "webp"
    assert done.width == pytest.approx(400 * done.scale, abs=1)


def test_a_picture_taller_than_the_format_is_reduced():
    done = stitch([(plain(20, 20_000), 0, 0)], 20, 20_000, Target("webp"))
    assert done.height == 16_383


def test_transparent_tiles_lie_on_white():
    clear = encoded(Image.new("RGBA", (10, 10), (0, 0, 0, 0)), "png")
    assert opened(stitch([(clear, 0, 0)], 10, 10, PNG).data).getpixel((5, 5)) == (255,) * 3


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (-5, 5)])
def test_an_impossible_size_is_a_picture_error(size):
    with pytest.raises(PictureError, match="cannot have"):
        stitch([], *size, PNG)


def test_a_size_beyond_reason_is_refused_before_it_is_allocated():
    with pytest.raises(PictureError, match="more than"):
        stitch([], 10**6, 10**6, PNG)


def test_a_broken_tile_is_a_picture_error():
    with pytest.raises(PictureError):
        stitch([(plain(10, 10), 0, 0), (b"broken", 0, 10)], 10, 20, PNG)
