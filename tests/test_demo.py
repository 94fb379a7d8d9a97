"""The demo: what counts as found, and that all of it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.demo import Defect, compare, planted
from vfa.audit.findings import Finding, Proof

ROOT = Path(__file__).parent.parent
DEAD = Defect("dead-button", "/cart", "functional/dead-control", "#buy", "A typo.")
UNTITLED = Defect("no-title", "/cart", "accessibility/page-title", "", "Forgotten.")


def finding(rule, page="/cart", **fields):
    return Finding(
        id="FND-001",
        severity="high",
        category="functional",
        title="A title",
        description="A description.",
        rule=rule,
        page_url=f"http://127.0.0.1:8000{page}",
        **fields,
    )


def test_a_finding_of_the_rule_that_names_the_element_is_a_hit():
    hit = finding(DEAD.rule, selector_hint="form > #buy")
    assert compare([hit], [DEAD]).found == ((DEAD, hit),)


def test_a_name_may_stand_in_the_html_or_in_a_request():
    for evidence in (Proof(html="<a id=#buy>"), Proof(requests=("http://a/#buy",))):
        assert compare([finding(DEAD.rule, evidence=evidence)], [DEAD]).missed == ()


def test_the_same_rule_about_another_element_is_a_miss_and_a_finding_of_its_own():
    other = finding(DEAD.rule, selector_hint="#sell")
    result = compare([other], [DEAD])
    assert (result.missed, result.others) == ((DEAD,), (other,))


def test_another_rule_about_the_element_is_a_miss():
    assert compare([finding("visual/overlap", selector_hint="#buy")], [DEAD]).missed == (DEAD,)


def test_a_merged_finding_counts_on_its_page():
    merged = finding(DEAD.rule, selector_hint="#other", occurrences=2)
    assert compare([merged], [DEAD]).missed == ()


def test_a_defect_of_a_whole_page_is_found_on_that_page_only():
    assert compare([finding(UNTITLED.rule)], [UNTITLED]).missed == ()
    assert compare([finding(UNTITLED.rule, page="/help")], [UNTITLED]).missed == (UNTITLED,)


def test_what_follows_from_a_planted_defect_is_no_false_alarm():
    defect = Defect(
        "x", "/cart", "visual/broken-image", "a.png", "Gone.", ("network/http-error",)
    )
    echo = finding("network/http-error")
    assert compare([echo], [defect]).consequences == (echo,)


def test_every_planted_defect_is_of_a_rule_that_exists():
    from vfa.audit.rules import all_rules

    defects = planted()
    assert len(defects) >= 20
    assert {defect.rule for defect in defects} <= {rule.id for rule in all_rules()}


@pytest.mark.browser
def test_the_demo_finds_everything_that_was_planted(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fixtures.demo", "--output", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MISSED" not in done.stdout
    assert "not planted" not in done.stdout
    assert (tmp_path / "shop.html").stat().st_size > 10_000
    assert (tmp_path / "shop.json").stat().st_size > 10_000
