"""A focus text is understood by its words, in English and Spanish."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from vfa.audit.findings import Finding
from vfa.audit.focus import Focus, words


def finding(
    rule="visual/broken-image", title="Image does not load", severity="medium", **fields
):
    return Finding(
        id="",
        severity=severity,
        category=rule.partition("/")[0],
        title=title,
        description="",
        rule=rule,
        **fields,
    )


FORM = finding("accessibility/form-label", "A form field (email) has no label")
CHECKOUT = finding("network/http-error", "POST fails", page_url="http://s.test/checkout")
PICTURE = finding()


@pytest.mark.parametrize(
    ("focus", "wanted"),
    [
        ("checkout funnel and form validation", [FORM, CHECKOUT]),
        ("Revisa los formularios", [FORM]),
        ("el proceso de compra", [CHECKOUT]),
        ("imágenes rotas", [PICTURE]),
        ("broken pictures", [PICTURE]),
        ("", [FORM, CHECKOUT, PICTURE]),
        ("please check the site", [FORM, CHECKOUT, PICTURE]),
        ("zeppelins", [FORM, CHECKOUT, PICTURE]),
    ],
)
def test_a_focus_keeps_what_its_words_touch(focus, wanted):
    assert Focus(focus).narrow([FORM, CHECKOUT, PICTURE]) == wanted


def test_the_more_a_finding_is_about_the_focus_the_higher_it_ranks():
    focus = Focus("forms at checkout")
    both = finding("accessibility/form-label", page_url="http://s.test/checkout")
    assert focus.relevance(both) > focus.relevance(FORM) > focus.relevance(PICTURE) == 0


def test_case_accents_and_plurals_do_not_matter():
    assert words("Navegación Menús BUTTONS") == words("navegacion menu button")


@given(st.text())
def test_any_text_is_a_focus(text):
    assert PICTURE in Focus(text).narrow([PICTURE])
