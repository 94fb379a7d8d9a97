"""The collection pass in real Chromium: what it sees, how it names it, how long it takes."""

from __future__ import annotations

import pytest

from tests.rule_lab import FLAGS, open_lab
from tests.rule_server import serve

pytestmark = pytest.mark.browser

BUDGET_MS = 3000  # of CPU time, for 20,000 elements: what else the machine does is no matter


@pytest.fixture(scope="module")
def origin():
    with serve() as address:
        yield address


@pytest.fixture(scope="module")
def lab():
    with open_lab() as laboratory:
        yield laboratory


def collect(lab, origin, name):
    return lab.load(f"{origin}/collect/{name}.html").facts


def test_a_selector_is_readable_and_matches_one_element(lab, origin):
    facts = collect(lab, origin, "selectors")
    selectors = [control.selector for control in facts.controls]
    assert selectors == [
        "button[data-testid='trial-cta']",
        "#save",
        "input[name='coupon']",
        "button.apply",
        "a[href='/_/make/x?1']",
        "ul.cards > li:nth-of-type(1) > button",
        "ul.cards > li:nth-of-type(2) > a",
        "ul.cards > li:nth-of-type(2) > button",
        "ul.cards > li:nth-of-type(3) > a",
        "ul.cards > li:nth-of-type(3) > button",
        "button[aria-label='It\\'s \"quoted\"']",
        "body > button:nth-of-type(3)",
        "body > button:nth-of-type(4)",
        "body > x-card:nth-of-type(1) >>> div > button",
        "body > x-card:nth-of-type(2) >>> div > button",
    ]


def test_roles_and_names_are_those_of_chromium(lab, origin):
    facts = collect(lab, origin, "controls")
    found = {control.selector: (control.role, control.name) for control in facts.controls}
    assert found["#plain"] == ("button", "Show more")
    assert found["#file"] == ("button", "Photo: No file chosen")
    assert found["#mail"] == ("button", "Write to us")


def test_without_the_computed_properties_names_come_from_the_markup(origin):
    with open_lab([flag for flag in FLAGS if "blink-features" not in flag]) as plain:
        facts = collect(plain, origin, "controls")
    found = {control.selector: (control.role, control.name) for control in facts.controls}
    assert found["#plain"] == ("button", "Show more")
    assert found["#mailbox"] == ("textbox", "Mail")
    assert found["#real"] == ("link", "Real")


def test_what_is_worth_a_probe_is_marked_and_what_is_dangerous_too(lab, origin):
    controls = {one.selector: one for one in collect(lab, origin, "controls").controls}
    probed = {selector for selector, one in controls.items() if one.probe}
    danger = {selector for selector, one in controls.items() if one.danger}
    assert probed == {
        "#plain",
        "#pay",
        "#borrar",
        "#salir",
        "#display",
        "#void",
        "#mail",
        "#go",
        "#tile",
        "#inner",
    }
    assert danger == {"#pay", "#borrar", "#salir", "#mail", "#file"}
    assert [selector for selector, one in controls.items() if one.submits] == ["#go"]
    assert "#prose" not in controls


def test_twenty_thousand_elements_are_collected_in_time(lab, origin):
    assert lab.cost(f"{origin}/_/rows/2000") < BUDGET_MS


def test_lists_keep_to_their_caps_and_say_what_was_left_out(lab, origin):
    facts = lab.load(f"{origin}/_/rows/2000").facts
    assert facts.document.elements > 20_000
    assert len(facts.controls) == 500
    assert facts.omitted["controls"] == 5500
    assert facts.omitted["links"] == 500
    assert "computed" not in facts.omitted
    assert [text.count for text in facts.texts] == [2000]
