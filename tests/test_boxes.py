"""Labelled boxes: readable, inside the picture, not on one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.pictures import opened, plain
from vfa.errors import PictureError
from vfa.image.boxes import annotate, draw_boxes, text_color
from vfa.image.jobs import DEFAULT_COLOR, LabelledBox, Target
from vfa.image.labels import Rect, place_labels

PINK = (216, 27, 96)
PNG = Target("png")


@st.composite
def scenes(draw):
    width, height = draw(st.integers(1, 500)), draw(st.integers(1, 500))
    boxes, labels = [], []
    for _ in range(draw(st.integers(0, 12))):
        left, top = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
        right = draw(st.integers(left + 1, width))
        boxes.append(Rect(left, top, right, draw(st.integers(top + 1, height))))
        labels.append((draw(st.integers(1, 60)), draw(st.integers(1, 30))))
    return boxes, labels, (width, height)


@given(scenes())
def test_a_label_is_inside_the_picture_or_not_there(scene):
    boxes, labels, picture = scene
    for place, size in zip(place_labels(boxes, labels, picture), labels, strict=True):
        if place is None:
            assert size[0] > picture[0] or size[1] > picture[1]
        else:
            assert 0 <= place.left < place.right <= picture[0]
            assert 0 <= place.top < place.bottom <= picture[1]
            assert (place.width, place.height) == size


@given(
    box=st.builds(
        lambda left, top, w, h: Rect(left, top, left + w, top + h),
        st.integers(0, 700),
        st.integers(0, 500),
        st.integers(1, 100),
        st.integers(1, 100),
    ),
    count=st.integers(1, 30),
)
def test_labels_of_boxes_in_one_place_do_not_cover_one_another(box, count):
    places = place_labels([box] * count, [(24, 18)] * count, (800, 600))
    for index, place in enumerate(places):
        assert not any(place.overlaps(other) for other in places[:index])


def test_a_label_stands_on_top_of_its_box():
    [place] = place_labels([Rect(50, 60, 90, 80)], [(20, 10)], (200, 200))
    assert place == Rect(50, 50, 70, 60)


def test_labels_of_a_list_stand_beside_their_lines():
    lines = [Rect(50, top, 200, top + 20) for top in (60, 82, 104)]
    places = place_labels(lines, [(18, 16)] * 3, (400, 400))
    for place, line in zip(places, lines, strict=True):
        assert not any(place.overlaps(other) for other in lines if other != line)


def test_a_label_that_does_not_fit_above_goes_inside_the_picture():
    [place] = place_labels([Rect(190, 0, 200, 10)], [(20, 10)], (200, 200))
    assert place == Rect(180, 0, 200, 10)


def test_a_box_is_drawn_where_its_scale_puts_it():
    image = opened(annotate(plain(200, 200), [box(20, 30, 40, 20)], PNG, scale=2.0).data)
    assert image.getpixel((80, 58)) == PINK
    assert image.getpixel((38, 80)) == PINK
    # What is framed stays visible to its edge.
    assert image.crop((40, 60, 120, 100)).getcolors() == [(80 * 40, (0, 128, 128))]


def test_a_picture_is_reduced_before_it_is_drawn_on():
    done = annotate(plain(400, 400), [box(100, 100, 200, 100)], Target("png", max_side=200))
    assert (done.width, done.scale) == (200, 0.5)
    assert opened(done.data).getpixel((100, 48)) == PINK


def test_boxes_outside_the_picture_are_left_out():
    outside = [
        box(-50, 10, 20, 20),
        box(500, 10, 20, 20),
        box(10, float("nan"), 20, 20),
        box(float("inf"), 0, 1, 1),
        box(50, 50, -20, -20),
        box(50, 50, 0, 0),
    ]
    image = opened(annotate(plain(100, 100), outside, PNG).data)
    assert image.getcolors() == [(10_000, (0, 128, 128))]


@pytest.mark.parametrize("size", [(1, 1), (5, 5), (300, 3), (3, 300)])
def test_the_smallest_pictures_can_be_drawn_on(size):
    done = annotate(plain(*size), [box(-10, -10, 900, 900), box(1, 1, 1, 1)], PNG)
    assert (done.width, done.height) == size


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_the_text_has_contrast_on_every_colour(color):
    assert contrast(color, text_color(color)) >= 4.5


def test_a_label_has_both_its_colours():
    image = Image.new("RGB", (200, 100), "white")
    draw_boxes(image, [box(20, 50, 100, 30, label="12")], 1.0)
    label = image.crop((20, 30, 50, 50))
    seen = {color for _, color in label.getcolors(10_000)}
    assert PINK in seen
    assert max(contrast(PINK, color) for color in seen) > 4.5


def test_a_long_label_is_cut():
    image = Image.new("RGB", (2000, 100), "white")
    draw_boxes(image, [box(20, 50, 100, 30, label="x" * 5000)], 1.0)
    assert PINK in {color for _, color in image.getcolors(10_000)}


def test_a_colour_that_is_none_is_a_picture_error():
    with pytest.raises(PictureError, match="not a colour"):
        annotate(plain(50, 50), [box(1, 1, 20, 20, color="no such")], PNG)


def test_many_boxes_are_drawn():
    boxes = [box(x * 9, y * 9, 8, 8, label=str(x * y)) for x in range(30) for y in range(20)]
    assert annotate(plain(300, 200), boxes, PNG).width == 300


def box(x, y, width, height, label="1", color=DEFAULT_COLOR):
    return LabelledBox(x, y, width, height, label, color)


def contrast(one, other):
    """WCAG 2.2 contrast ratio, written down a second time."""

    def luminance(color):
        linear = [
            c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in color
        ]
        return sum(f * c for f, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
