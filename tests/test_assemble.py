"""Drafts of many pages become one report, whatever their order."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tests.evidence import element, make_page
from vfa.audit.assemble import Drafted, assemble, chosen_rules, inspect, key_of
from vfa.audit.evidence import Control, Heading, Image
from vfa.audit.findings import SEVERITIES, Box
from vfa.audit.rule import Draft, Rule
from vfa.audit.rules import all_rules

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")


def rule(id_):
    return Rule(id=id_, title="T", source="S", impact="I", fix_hint="F", check=lambda page: ())


RULES = [rule("visual/a"), rule("network/b"), rule("functional/c")]

DRAFTED = st.builds(
    Drafted,
    rule=st.sampled_from(RULES),
    draft=st.builds(
        Draft,
        severity=st.sampled_from(SEVERITIES),
        title=st.sampled_from(["checkout form", "image", "x"]),
        description=st.sampled_from(["one", "two"]),
        selector=st.sampled_from(["", "#a", "#b"]),
        box=st.none() | st.builds(Box, *[st.integers(0, 3).map(float)] * 4),
        confidence=st.sampled_from([0.5, 1.0]),
        group=st.sampled_from(["", "li", "p"]),
        cause=st.sampled_from(["", "c"]),
        occurrences=st.integers(1, 3),
        measured=st.none() | st.integers(0, 2) | st.just({"a": 1}),
    ),
    page_url=st.sampled_from(["http://s.test/", "http://s.test/a", "http://s.test/b"]),
)


@given(
    st.lists(DRAFTED, max_size=12).flatmap(lambda d: st.tuples(st.just(d), st.permutations(d)))
)
def test_the_same_drafts_in_any_order_give_the_same_report(both):
    one, other = both
    for focus in ("", "checkout"):
        assert assemble(one, limit=5, focus=focus) == assemble(other, limit=5, focus=focus)


@given(st.lists(DRAFTED, max_size=20), st.integers(0, 10))
def test_nothing_is_lost_without_being_counted(drafted, limit):
    report = assemble(drafted, limit=limit)
    keys = {key_of(one) for one in drafted}
    assert len(report.findings) == min(limit, len(keys))
    assert len(report.findings) + report.omitted == len(keys)
    assert sum(report.by_severity.values()) == sum(report.by_category.values()) == len(keys)
    whole = assemble(drafted, limit=1000)
    assert sum(f.occurrences for f in whole.findings) == sum(
        d.draft.occurrences for d in drafted
    )


@given(st.lists(DRAFTED, max_size=20))
def test_findings_are_numbered_in_report_order_gravest_first(drafted):
    findings = assemble(drafted, limit=100).findings
    assert [finding.id for finding in findings] == [
        f"FND-{number:03d}" for number in range(1, len(findings) + 1)
    ]
    ranks = [SEVERITIES.index(finding.severity) for finding in findings]
    assert ranks == sorted(ranks)


def test_one_defect_on_two_pages_is_one_finding_shown_where_it_is_nearest_to_the_root():
    pictures = tuple(
        element(Image, f"li:nth-of-type({n}) > img", alt=None, shape="li > img") for n in (1, 2)
    )
    pages = [make_page(url, images=pictures) for url in ("http://s.test/a/b", "http://s.test/")]
    drafted = [
        one
        for page in pages
        for one in inspect(page, all_rules())
        if one.rule.id == "accessibility/image-alt"
    ]
    (finding,) = assemble(drafted, limit=10).findings
    assert finding.occurrences == 4
    assert finding.page_url == "http://s.test/"
    assert finding.selector_hint == "li:nth-of-type(1) > img"
    assert finding.wcag == "1.1.1 Non-text Content"


def test_a_key_does_not_change_with_the_port_of_a_test_server():
    keys = set()
    for port in (4711, 8080):
        page = make_page(
            f"http://127.0.0.1:{port}/",
            images=(element(Image, url=f"http://127.0.0.1:{port}/a.png", natural_width=0.0),),
        )
        keys |= {key_of(one) for one in inspect(page, all_rules())}
    assert sum(key.startswith("visual/broken-image:") for key in keys) == 1


def test_different_causes_stay_apart():
    draft = Draft(severity="low", title="t", description="d", group="li")
    one = Drafted(RULES[0], draft, "http://s.test/")
    two = Drafted(RULES[0], Draft(severity="low", title="t", description="d", group="p"), "x")
    three = Drafted(RULES[1], draft, "http://s.test/")
    assert len(assemble([one, two, three], limit=10).findings) == 3


def test_only_rules_of_the_wanted_categories_run():
    chosen = chosen_rules(all_rules(), {"network"})
    assert chosen
    assert {one.category for one in chosen} == {"network"}


@pytest.mark.parametrize("severity", ["high", "critical"])
def test_a_focus_hides_what_it_does_not_touch_but_never_a_critical_finding(severity):
    form = Drafted(
        rule("accessibility/form-label"), Draft(severity="low", title="t", description="d"), "u"
    )
    other = Drafted(
        rule("network/slow-api"), Draft(severity=severity, title="t", description="d"), "u"
    )
    report = assemble([form, other], limit=10, focus="validación de formularios")
    assert report.off_focus == (0 if severity == "critical" else 1)
    assert "accessibility/form-label" in {finding.rule for finding in report.findings}


def test_real_rules_make_a_report_of_a_bad_page():
    page = make_page(
        document={"lang": None},
        headings=(element(Heading, level=1, name="A"),),
        controls=(element(Control, tag="button", role="button"),),
    )
    report = assemble(inspect(page, all_rules()), limit=1)
    assert [finding.rule for finding in report.findings] == ["accessibility/control-name"]
    assert report.omitted == 1
