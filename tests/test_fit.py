"""Pictures within their budgets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.pictures import encoded, noise, noisy, opened, plain
from vfa.errors import PictureError, ScreenshotTooLargeError
from vfa.image import decode, fit
from vfa.image.header import picture_format, picture_size
from vfa.image.jobs import Target


@pytest.mark.parametrize("source", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("wanted", ["png", "jpeg", "webp"])
def test_every_format_becomes_the_format_asked_for(source, wanted):
    done = fit.fit(plain(40, 30, source), Target(wanted))
    assert picture_format(done.data) == wanted
    assert (done.width, done.height) == picture_size(done.data) == (40, 30)
    assert done.scale == 1
    red, green, blue = opened(done.data).convert("RGB").getpixel((20, 15))
    assert red < 20
    assert 110 < green < 145
    assert 110 < blue < 145


@settings(deadline=None, max_examples=40)
@given(
    width=st.integers(1, 200),
    height=st.integers(1, 200),
    side=st.integers(1, 100),
    pixels=st.integers(1, 10_000),
)
def test_a_picture_is_reduced_to_its_budgets_and_keeps_its_shape(width, height, side, pixels):
    done = fit.fit(plain(width, height), Target("png", max_side=side, max_pixels=pixels))
    assert max(done.width, done.height) <= side
    assert done.width * done.height <= pixels or min(done.width, done.height) == 1
    assert done.width == pytest.approx(width * done.scale, abs=1)
    assert done.height == pytest.approx(height * done.scale, abs=1)
    assert done.within_budget


def test_a_picture_is_never_enlarged():
    assert fit.fit(plain(10, 10), Target(max_side=1000)).scale == 1


def test_the_whole_picture_is_still_there():
    halves = Image.new("RGB", (400, 100), "red")
    halves.paste("blue", (200, 0, 400, 100))
    small = opened(fit.fit(encoded(halves, "png"), Target("png", max_side=40)).data)
    assert small.getpixel((2, 5)) == (255, 0, 0)
    assert small.getpixel((37, 5)) == (0, 0, 255)


def test_a_byte_budget_lowers_the_quality_before_the_size():
    data = noise(300, 200)
    full = fit.fit(data, Target("jpeg", 90))
    done = fit.fit(data, Target("jpeg", 90, max_bytes=len(full.data) * 2 // 3))
    assert done.within_budget
    assert len(done.data) <= len(full.data) * 2 // 3
    assert (done.width, done.height) == (300, 200)


@pytest.mark.parametrize("kind", ["jpeg", "webp", "png"])
def test_a_tight_byte_budget_reduces_the_size(kind):
    done = fit.fit(noise(400, 300), Target(kind, max_bytes=8000))
    assert done.within_budget
    assert len(done.data) <= 8000
    assert picture_format(done.data) == kind
    assert done.width == pytest.approx(400 * done.scale, abs=1)
    assert done.scale < 1


def test_quality_never_falls_below_what_keeps_text_readable(monkeypatch):
    seen = record_encodes(monkeypatch)
    fit.fit(noise(300, 200), Target("jpeg", 80, max_bytes=3000))
    assert min(quality for quality, _ in seen) == fit.LOWEST_QUALITY
    assert seen[0] == (80, (300, 200))


def test_a_lower_quality_that_was_asked_for_is_kept(monkeypatch):
    seen = record_encodes(monkeypatch)
    fit.fit(noise(300, 200), Target("jpeg", 20, max_bytes=3000))
    assert {quality for quality, _ in seen} == {20}


@pytest.mark.parametrize("kind", ["jpeg", "webp", "png"])
def test_an_impossible_byte_budget_costs_a_bounded_number_of_attempts(monkeypatch, kind):
    seen = record_encodes(monkeypatch)
    done = fit.fit(noise(600, 400), Target(kind, max_bytes=10))
    assert not done.within_budget
    assert len(done.data) > 10
    assert len(seen) <= fit.MAX_ENCODES
    assert picture_size(done.data) == (done.width, done.height)


def test_a_strict_byte_budget_that_cannot_be_met_is_an_error():
    with pytest.raises(ScreenshotTooLargeError, match="10 are allowed") as caught:
        fit.fit(plain(50, 50), Target(max_bytes=10, strict=True))
    assert caught.value.hint


def test_a_webp_above_the_limit_of_the_format_is_reduced():
    done = fit.fit(plain(20, 17_000), Target("webp"))
    assert done.height == 16_383
    assert done.scale == pytest.approx(16_383 / 17_000)


def test_transparency_becomes_white_in_a_jpeg_and_stays_in_the_others():
    clear = encoded(Image.new("RGBA", (20, 20), (255, 0, 0, 0)), "png")
    assert opened(fit.fit(clear, Target("jpeg")).data).getpixel((5, 5)) == (255, 255, 255)
    assert opened(fit.fit(clear, Target("png")).data).getpixel((5, 5))[3] == 0
    assert opened(fit.fit(clear, Target("webp")).data).getpixel((5, 5))[3] == 0


def test_an_alpha_channel_that_hides_nothing_is_dropped():
    opaque = encoded(Image.new("RGBA", (20, 20), (9, 9, 9, 255)), "png")
    assert opened(fit.fit(opaque, Target("png")).data).mode == "RGB"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_every_mode_of_png_is_read(mode):
    data = encoded(Image.new(mode, (30, 20)), "png")
    assert fit.fit(data, Target("jpeg", max_side=15)).width == 15


def test_a_palette_with_transparency_is_read():
    image = Image.new("RGB", (20, 20), "red").quantize(4)
    data = encoded(image, "png", transparency=image.getpixel((3, 3)))
    assert opened(fit.fit(data, Target("jpeg")).data).getpixel((3, 3)) == (255, 255, 255)


def test_a_large_jpeg_is_reduced_to_exactly_the_size_its_scale_says():
    done = fit.fit(encoded(noisy(1003, 777), "jpeg"), Target(max_side=100))
    assert (done.width, done.height) == (100, 77)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_off_picture_is_a_picture_error(kind, share):
    data = noise(200, 200, kind)
    with pytest.raises(PictureError, match="decoded"):
        fit.fit(data[: int(len(data) * share)], Target("png"))


@settings(deadline=None)
@given(data=st.data(), kind=st.sampled_from(["jpeg", "png", "webp"]))
def test_a_damaged_picture_is_a_picture_or_a_picture_error(data, kind):
    bytes_ = bytearray(SAMPLES[kind])
    for _ in range(data.draw(st.integers(1, 8))):
        bytes_[data.draw(st.integers(0, len(bytes_) - 1))] = data.draw(st.integers(0, 255))
    try:
        done = fit.fit(bytes(bytes_), Target("png", max_side=50))
    except PictureError:
        return
    assert max(done.width, done.height) <= 50


def test_more_pixels_than_any_page_has_are_refused_before_decoding(monkeypatch):
    monkeypatch.setattr(decode, "MAX_PIXELS", 99)
    with pytest.raises(PictureError, match="10 x 10 pixels"):
        fit.fit(plain(10, 10), Target())


SAMPLES = {kind: noise(24, 16, kind) for kind in ("jpeg", "png", "webp")}


def record_encodes(monkeypatch) -> list[tuple[int, tuple[int, int]]]:
    seen = []
    real = fit.encode

    def encode(image, kind, quality):
        seen.append((quality, image.size))
        return real(image, kind, quality)

    monkeypatch.setattr(fit, "encode", encode)
    return seen
