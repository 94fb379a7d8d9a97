"""Every rule on pages that have its defect, and on lookalikes that must stay silent.

A file ``fixtures/rules/<category>/<rule>/seeded-*.html`` or ``clean-*.html`` is a test. A
comment ``<!-- also: rule, rule -->`` names grave findings of other rules that belong to it; a
name with ``mobile`` is looked at as a phone does.
"""

from __future__ import annotations

import re

import pytest

from tests.rule_lab import open_lab
from tests.rule_server import FIXTURES, serve
from vfa.audit.rules import all_rules

pytestmark = pytest.mark.browser

PAGES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("*.html"))
SEEDED = [page for page in PAGES if "/seeded-" in page]
CLEAN = [page for page in PAGES if "/clean-" in page]
GRAVE = ("critical", "high")


@pytest.fixture(scope="module")
def origin():
    with serve() as address:
        yield address


@pytest.fixture(scope="module")
def lab():
    with open_lab() as laboratory:
        yield laboratory


def findings(lab, origin, page):
    device = "mobile" if "mobile" in page else "desktop"
    evidence = lab.load(
        f"{origin}/rules/{page}", device, probe=page.startswith("functional/dead")
    )
    return [(rule.id, draft) for rule in all_rules() for draft in rule.check(evidence)]


def rule_of(page):
    return page.rpartition("/")[0]


@pytest.mark.parametrize("page", SEEDED)
def test_a_seeded_page_gives_the_finding_of_its_rule_and_no_grave_other(lab, origin, page):
    found = findings(lab, origin, page)
    rule = rule_of(page)
    allowed = re.findall(r"[\w/-]+", "".join(re.findall(r"<!-- also: (.*?) -->", text(page))))
    others = [(id_, draft.title) for id_, draft in found if id_ != rule and id_ not in allowed]
    grave = [(id_, d.title) for id_, d in found if d.severity in GRAVE and id_ not in allowed]
    assert rule in {id_ for id_, _ in found}, f"only {others}"
    assert [entry for entry in grave if entry[0] != rule] == []


@pytest.mark.parametrize("page", CLEAN)
def test_a_clean_page_gives_no_finding_of_its_rule(lab, origin, page):
    found = findings(lab, origin, page)
    mine = [(draft.title, draft.selector) for id_, draft in found if id_ == rule_of(page)]
    assert mine == []


def text(page):
    return (FIXTURES / page).read_text(encoding="utf-8")
