"""Contact sheets, moving pictures and parts of pictures."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageSequence

from tests.pictures import encoded, noisy, opened, plain
from vfa.errors import PictureError
from vfa.image.crop import crop
from vfa.image.header import picture_format
from vfa.image.jobs import Target
from vfa.image.preview import contact_sheet, moving_picture, sheet_columns

COLORS = ["red", "lime", "blue", "yellow", "cyan"]
PNG, WEBP = Target("png"), Target("webp")


def test_a_sheet_shows_every_frame_with_its_label_in_order():
    done = contact_sheet(
        [plain(60, 40, color=color) for color in COLORS], [f"{n} ms" for n in range(5)], PNG
    )
    image = opened(done.data).convert("RGB")
    assert image.size == (done.width, done.height)
    found = [image.getpixel((x, y)) for y in (10, 80) for x in (10, 80)]
    assert found[:4] == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)]
    below = image.crop((6, 46, 66, 68))
    assert len(below.getcolors()) > 1  # something is written there


@settings(deadline=None, max_examples=25)
@given(
    count=st.integers(1, 60),
    width=st.integers(1, 900),
    height=st.integers(1, 900),
    side=st.integers(400, 1600),
)
def test_a_sheet_stays_within_its_side(count, width, height, side):
    done = contact_sheet(
        [plain(width, height)] * count, ["x"] * count, Target("png", max_side=side)
    )
    assert max(done.width, done.height) <= side


@given(count=st.integers(1, 60), aspect=st.floats(0.05, 20))
def test_a_sheet_has_a_place_for_every_frame_and_no_empty_row(count, aspect):
    columns = sheet_columns(count, aspect)
    assert 1 <= columns <= count
    rows = -(-count // columns)
    assert (rows - 1) * columns < count


def test_a_moving_picture_has_the_frames_their_times_and_goes_on():
    frames = [plain(60, 40, color=color) for color in COLORS]
    done = moving_picture(frames, [100, 50, 200, 30, 1000], WEBP)
    image = opened(done.data)
    assert picture_format(done.data) == "webp"
    assert (image.n_frames, image.size, image.info["loop"]) == (5, (60, 40), 0)
    shown = [frame.convert("RGB").getpixel((30, 20)) for frame in ImageSequence.Iterator(image)]
    assert len(set(shown)) == 5


def test_a_moving_picture_is_reduced_to_its_side_and_its_bytes():
    frames = [encoded(noisy(400, 300), "jpeg") for _ in range(3)]
    done = moving_picture(frames, [100] * 3, Target("webp", max_side=200, max_bytes=8_000))
    assert max(done.width, done.height) <= 200
    assert len(done.data) <= 8_000


def test_a_frame_of_other_proportions_is_fitted_into_the_first_ones():
    done = moving_picture([plain(60, 40), plain(40, 60, color="red")], [100, 100], WEBP)
    assert (done.width, done.height) == (60, 40)


@pytest.mark.parametrize("make", [contact_sheet, moving_picture])
def test_no_frames_or_broken_ones_are_picture_errors(make):
    with pytest.raises(PictureError):
        make([], [], WEBP)
    with pytest.raises(PictureError):
        make([b"broken"], [1], WEBP)


def test_a_part_is_cut_out_exactly():
    page = noisy(80, 60)
    done = crop(encoded(page, "png"), (10, 20, 30, 15), PNG)
    assert (done.width, done.height) == (30, 15)
    assert opened(done.data).tobytes() == page.crop((10, 20, 40, 35)).tobytes()


def test_a_part_ends_where_the_picture_ends_and_must_not_be_outside_of_it():
    done = crop(plain(50, 40), (-10, 30, 100, 100), PNG)
    assert (done.width, done.height) == (50, 10)
    with pytest.raises(PictureError, match="nothing of a picture"):
        crop(plain(50, 40), (60, 0, 10, 10), PNG)
