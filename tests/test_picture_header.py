"""Sizes read from headers, against what Pillow wrote."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.pictures import encoded
from vfa.image.header import picture_format, picture_size

SIDES = st.integers(1, 300)
VARIANTS = {
    "png": ("png", {}),
    "jpeg": ("jpeg", {}),
    "progressive jpeg": ("jpeg", {"progressive": True}),
    "jpeg with exif": ("jpeg", {"exif": b"Exif\0\0" + b"\xff\xc0" * 2000}),
    "jpeg with a large profile": ("jpeg", {"icc_profile": b"\xff\xc0\x00\x11" * 60_000}),
    "jpeg with a comment": ("jpeg", {"comment": b"\xff\xc2" * 30_000}),
    "lossy webp": ("webp", {"quality": 50}),
    "lossless webp": ("webp", {"lossless": True}),
    "extended webp": ("webp", {"icc_profile": b"profile" * 20}),
}
PICTURES = st.builds(
    lambda variant, mode, width, height: (
        width,
        height,
        encoded(Image.new(mode, (width, height)), VARIANTS[variant][0], **VARIANTS[variant][1]),
    ),
    st.sampled_from(sorted(VARIANTS)),
    st.sampled_from(["RGB", "L"]),
    SIDES,
    SIDES,
)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(deadline=None, max_examples=25)
@given(width=SIDES, height=SIDES)
def test_the_size_is_the_one_pillow_wrote(variant, width, height):
    kind, options = VARIANTS[variant]
    data = encoded(Image.new("RGB", (width, height)), kind, **options)
    assert picture_size(data) == (width, height)
    assert picture_size(memoryview(bytearray(data))) == (width, height)
    assert picture_format(data) == kind


@settings(deadline=None, max_examples=25)
@given(width=SIDES, height=SIDES, lossless=st.booleans())
def test_a_webp_with_transparency_is_read(width, height, lossless):
    image = Image.new("RGBA", (width, height), (1, 2, 3, 4))
    assert picture_size(encoded(image, "webp", lossless=lossless)) == (width, height)


def test_the_largest_webp_is_read():
    assert picture_size(encoded(Image.new("L", (16_383, 1)), "webp")) == (16_383, 1)


@settings(deadline=None)
@given(picture=PICTURES, share=st.floats(0, 1))
def test_a_cut_off_picture_has_its_size_or_none(picture, share):
    width, height, data = picture
    assert picture_size(data[: int(len(data) * share)]) in {None, (width, height)}


@settings(deadline=None, max_examples=30)
@given(picture=PICTURES, kept=st.integers(0, 15))
def test_a_picture_cut_off_in_its_first_bytes_has_no_size(picture, kept):
    assert picture_size(picture[2][:kept]) is None


@given(data=st.binary(max_size=200))
def test_garbage_has_no_size(data):
    assert picture_size(data) is None


@given(
    head=st.sampled_from(
        [
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff",
            b"RIFF\x10\0\0\0WEBPVP8 ",
            b"RIFF\x10\0\0\0WEBPVP8L",
            b"RIFF\x10\0\0\0WEBPVP8X",
            b"RIFF\x10\0\0\0WEBPABCD",
        ]
    ),
    rest=st.binary(max_size=60),
)
def test_garbage_behind_a_signature_is_never_an_exception(head, rest):
    size = picture_size(head + rest)
    assert size is None or min(size) > 0


def test_a_scan_without_a_frame_header_has_no_size():
    assert picture_size(b"\xff\xd8\xff\xda\x00\x08" + b"\0" * 50) is None


def test_fill_bytes_before_a_marker_are_skipped():
    data = encoded(Image.new("L", (7, 9)), "jpeg")
    assert picture_size(data[:2] + b"\xff\xff\xff" + data[2:]) == (7, 9)


def test_reading_a_header_needs_no_pillow():
    import subprocess

    script = (
        "import sys, vfa.image.header, vfa.image.plan, vfa.image.jobs\n"
        "sys.exit(any(name.split('.')[0] in ('PIL', 'trio') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
