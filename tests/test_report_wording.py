"""How reports put values into words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.report import wording
from vfa.report.view import understanding


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_keeps_a_character_that_hides_or_reorders(text):
    shown = wording.visible(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n"]
    assert not [
        c for c in shown if unicodedata.bidirectional(c) in ("RLO", "LRO", "RLI", "PDF")
    ]
    shown.encode()


@pytest.mark.parametrize(
    "text", ["plain", "naïve café", "שלום", "日本", "👩‍👩‍👧 family", "a\tb\nc"]
)
def test_ordinary_text_of_any_script_is_left_alone(text):
    assert wording.visible(text) == text


def test_hidden_characters_are_named():
    assert wording.visible("a\x00b\u202ec\x85") == "a\u2400b[U+202E]c[U+0085]"


@given(st.text(max_size=50), st.integers(10, 30))
def test_the_middle_is_cut_out_to_the_letter(text, limit):
    assert len(wording.cut_middle(text, limit)) == min(len(text), limit)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://a/\u202e",
        "//a",
        "",
        "http://a/" + "x" * 3000,
    ],
)
def test_only_ordinary_web_addresses_are_linked(url):
    assert wording.linkable(url) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        ("", "nothing"),
        (0, "0"),
        (413_887, "413,887"),
        (1.77, "1.77"),
        (0.1, "0.1"),
        (1520.0, "1520"),
        (True, "yes"),
        ({"cls": 0.182, "shifts": 1}, "cls: 0.182; shifts: 1"),
        (["a", 2], "a, 2"),
    ],
)
def test_values_are_written_as_people_write_them(value, text):
    assert wording.value(value) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, wording.DASH),
        (0, "0 ms"),
        (999.4, "999 ms"),
        (1500, "1.5 s"),
        (61_000, "1 min 1 s"),
    ],
)
def test_times_have_a_unit(milliseconds, text):
    assert wording.duration(milliseconds) == text


def test_addresses_of_the_audited_site_are_shown_as_paths():
    base = "http://shop.example:81/a"
    assert wording.short_url("http://shop.example:81/b?c=d", base) == "/b?c=d"
    assert wording.short_url("http://shop.example/b", base) == "shop.example/b"
    assert wording.short_url("http://[broken", base) == "http://[broken"


def test_criteria_lead_to_their_explanation():
    place = "https://www.w3.org/WAI/WCAG22/Understanding/"
    assert understanding("1.4.3 Contrast (Minimum)") == place + "contrast-minimum"
    assert understanding("2.4.4 Link Purpose (In Context)") == place + "link-purpose-in-context"
    assert understanding("contrast") == ""
