"""Each rule on hand-made evidence: the defect, and what only looks like it."""

from __future__ import annotations

import re

import pytest

from tests.evidence import BOX, element, exception, make_page, request
from vfa.audit.assemble import assemble, chosen_rules, inspect
from vfa.audit.contrast import contrast_ratio, is_large
from vfa.audit.evidence import (
    ClippedText,
    Control,
    Cover,
    Document,
    Facts,
    Field,
    Form,
    Frame,
    Heading,
    Image,
    Label,
    Link,
    LinkCheck,
    ProbeResult,
    Resource,
    Text,
    Wide,
    decode_facts,
    origin,
)
from vfa.audit.findings import CATEGORIES, Box
from vfa.audit.json_body import claims_json, json_fault
from vfa.audit.rules import all_rules
from vfa.page.records import LayoutShift, Vitals

RULES = {rule.id: rule for rule in all_rules()}
LINK = "http://shop.test/gone"
COVER = Cover(selector=".shade", invisible=True)
BUTTON = {"tag": "button", "role": "button", "name": "Buy", "text": "Buy"}
PICTURE = {"url": "http://shop.test/a.png", "natural_width": 200.0, "natural_height": 100.0}
PICTURE |= {"width": 200.0, "height": 100.0, "alt": "A spade", "name": "A spade"}
BROKEN = PICTURE | {"natural_width": 0.0, "natural_height": 0.0}
PALE = {"text": "Free delivery", "colour": (170, 170, 170), "background": (255, 255, 255)}
PALE |= {"font_size": 16.0}
LABEL = {"name": "Mail", "target": "m", "bound": "#m", "nearest": "form input"}
JAVASCRIPT = {"kind": "Script", "mime_type": "text/javascript", "body_bytes": 60_000}


def probe(**fields):
    return ProbeResult(**({"selector": "#it", "name": "Buy", "clicked": True} | fields))


def link(**fields):
    return element(Link, **({"href": "/gone", "url": LINK, "name": "Parts"} | fields))


def control(**fields):
    return element(Control, **(BUTTON | fields))


def image(**fields):
    return element(Image, **(PICTURE | fields))


def timed(**vitals):
    return {"vitals": Vitals(**vitals)}


SEEDED = [
    ("functional/broken-link", {"links": (link(),), "link_checks": {LINK: LinkCheck(404)}}),
    (
        "functional/broken-link",
        {"links": (link(url=LINK + "#a"),), "link_checks": {LINK: LinkCheck(503)}},
    ),
    (
        "functional/broken-link",
        {"links": (link(),), "link_checks": {LINK: LinkCheck(error="timeout")}},
    ),
    ("functional/dead-control", {"controls": (control(),), "dead_controls": (probe(),)}),
    ("functional/dead-href", {"links": (link(href="#", url="http://shop.test/list#"),)}),
    ("functional/dead-href", {"links": (link(href=" javascript:void(0); "),)}),
    ("functional/dead-href", {"links": (link(href="#ship", fragment_found=False),)}),
    ("functional/dead-href", {"links": (link(href="http://", url=""),)}),
    (
        "functional/dead-href",
        {
            "links": (link(href="#", scripted=True),),
            "dead_controls": (probe(effects=("fragment", "scroll")),),
        },
    ),
    ("functional/uncaught-exception", {"exceptions": (exception(),)}),
    ("functional/unhandled-rejection", {"exceptions": (exception(unhandled_rejection=True),)}),
    ("functional/duplicate-id-label", {"labels": (element(Label, same_id=2, **LABEL),)}),
    (
        "functional/duplicate-id-label",
        {"labels": (element(Label, same_id=1, bound_labels=2, **LABEL),)},
    ),
    ("functional/covered-control", {"controls": (control(cover=COVER),)}),
    (
        "functional/covered-control",
        {
            "controls": (
                control(cover=Cover(selector="#c", pinned=True, share=1.0, invisible=True)),
            )
        },
    ),
    (
        "functional/covered-control",
        {"controls": (control(pinned=True, cover=Cover(selector="#c", pinned=True)),)},
    ),
    (
        "visual/horizontal-overflow",
        {"document": {"scroll_width": 2200}, "wide": (element(Wide, beyond=760),)},
    ),
    ("visual/broken-image", {"images": (image(**BROKEN),)}),
    (
        "visual/broken-image",
        {
            "images": (image(**(BROKEN | {"url": "http://shop.test/a.svg"})),),
            "requests": (request("/a.svg", status=404),),
        },
    ),
    ("visual/distorted-image", {"images": (image(width=100.0),)}),
    (
        "visual/clipped-text",
        {"clipped": (element(ClippedText, text="Delivery", axis="x", hidden=50.0),)},
    ),
    ("visual/missing-viewport-meta", {"document": {"viewport_meta": None}}),
    ("visual/missing-viewport-meta", {"document": {"viewport_meta": "width=1024"}}),
    ("visual/blank-page", {"document": {"text_length": 0, "painted": 0}}),
    ("accessibility/control-name", {"controls": (control(name=""),)}),
    ("accessibility/image-alt", {"images": (image(alt=None, name=""),)}),
    ("accessibility/image-alt", {"images": (image(kind="input", alt=None, name="Submit"),)}),
    ("accessibility/image-alt", {"images": (image(alt="DSC_001.jpg", name="DSC_001.jpg"),)}),
    ("accessibility/link-name", {"links": (link(name=""),)}),
    ("accessibility/form-label", {"fields": (element(Field, type="text"),)}),
    (
        "accessibility/form-label",
        {"fields": (element(Field, type="text", name="Mail", named_by="placeholder"),)},
    ),
    ("accessibility/html-lang", {"document": {"lang": None}}),
    ("accessibility/html-lang", {"document": {"lang": "english"}}),
    ("accessibility/page-title", {"document": {"title": " "}}),
    ("accessibility/page-title", {"document": {"title": "Vite App"}}),
    ("accessibility/contrast", {"texts": (element(Text, **PALE),)}),
    ("accessibility/frame-title", {"frames": (element(Frame, src="http://maps.test/"),)}),
    (
        "accessibility/zoom-disabled",
        {"document": {"viewport_meta": "width=device-width,user-scalable=no"}},
    ),
    (
        "accessibility/zoom-disabled",
        {"document": {"viewport_meta": "width=device-width; maximum-scale=1.0"}},
    ),
    (
        "accessibility/heading-order",
        {
            "headings": (
                element(Heading, level=1, name="A"),
                element(Heading, level=3, name="B"),
            )
        },
    ),
    ("accessibility/missing-h1", {"headings": (element(Heading, level=2, name="B"),)}),
    ("accessibility/positive-tabindex", {"controls": (control(tabindex=2),)}),
    ("performance/lcp", timed(lcp_ms=2600.0, lcp_selector="#hero")),
    ("performance/cls", timed(cls=0.2, shifts=(LayoutShift(0.2, 10.0, ("#b",)),))),
    (
        "performance/oversized-image",
        {
            "images": (image(natural_width=2000.0, natural_height=1000.0),),
            "requests": (request("/a.png", transfer_bytes=400_000),),
        },
    ),
    ("performance/missing-compression", {"requests": (request("/a.js", **JAVASCRIPT),)}),
    ("performance/missing-caching", {"requests": (request("/a.js", **JAVASCRIPT),)}),
    ("performance/unsized-image", {"images": (image(sized=False),)}),
    (
        "performance/render-blocking",
        timed(fcp_ms=2500.0)
        | {
            "resources": (
                Resource(
                    url="http://shop.test/a.css", start_ms=50, end_ms=2200, render_blocking=True
                ),
            )
        },
    ),
    ("network/http-error", {"requests": (request("/a.js", kind="Script", status=404),)}),
    (
        "network/http-error",
        {
            "requests": (request("/favicon.ico", status=404),),
            "document": {"icons": ("http://shop.test/favicon.ico",)},
        },
    ),
    (
        "network/failed-request",
        {"requests": (request(status=None, failure="net::ERR_CONNECTION_REFUSED"),)},
    ),
    (
        "network/redirect-chain",
        {
            "requests": (
                request(redirects=("http://a.test/", "http://b.test/", "http://c.test/")),
            )
        },
    ),
    ("network/redirect-chain", {"requests": (request(failure="net::ERR_TOO_MANY_REDIRECTS"),)}),
    (
        "network/mixed-content",
        {
            "url": "https://shop.test/",
            "requests": (request("http://cdn.test/a.js", kind="Script"),),
        },
    ),
    (
        "network/mixed-content",
        {
            "url": "https://shop.test/",
            "forms": (element(Form, action="http://shop.test/login"),),
        },
    ),
    ("network/slow-api", {"requests": (request(start_ms=100.0, first_byte_ms=3400.0),)}),
    (
        "network/invalid-json",
        {"requests": (request("/a"),), "json_faults": {"http://shop.test/a": "it is HTML"}},
    ),
]

CLEAN = [
    ("functional/broken-link", {"links": (link(),), "link_checks": {LINK: LinkCheck(200)}}),
    ("functional/broken-link", {"links": (link(),), "link_checks": {LINK: LinkCheck(403)}}),
    ("functional/broken-link", {"links": (link(),)}),
    (
        "functional/dead-control",
        {"controls": (control(),), "dead_controls": (probe(effects=("dom",)),)},
    ),
    (
        "functional/dead-control",
        {"dead_controls": (probe(clicked=False, skipped_reason="danger"),)},
    ),
    (
        "functional/dead-control",
        {"controls": (control(state="current"),), "dead_controls": (probe(),)},
    ),
    (
        "functional/dead-control",
        {"controls": (control(tag="a", href="#"),), "dead_controls": (probe(),)},
    ),
    ("functional/dead-href", {"links": (link(href="#", name="Back to top"),)}),
    ("functional/dead-href", {"links": (link(href="#", scripted=True),)}),
    (
        "functional/dead-href",
        {"links": (link(href="#"),), "dead_controls": (probe(effects=("dom", "fragment")),)},
    ),
    (
        "functional/dead-href",
        {"links": (link(href="#ship", fragment_found=True), link(href="#", visible=False))},
    ),
    ("functional/dead-href", {"links": (link(href="javascript:openMenu()"),)}),
    (
        "functional/uncaught-exception",
        {
            "exceptions": (
                exception("ResizeObserver loop completed with undelivered notifications."),
            )
        },
    ),
    ("functional/uncaught-exception", {"exceptions": (exception(unhandled_rejection=True),)}),
    (
        "functional/unhandled-rejection",
        {"exceptions": (exception("AbortError: signal is aborted", unhandled_rejection=True),)},
    ),
    (
        "functional/duplicate-id-label",
        {"labels": (element(Label, same_id=2, **(LABEL | {"nearest": "#m"})),)},
    ),
    (
        "functional/duplicate-id-label",
        {"labels": (element(Label, same_id=1, bound_labels=1, **LABEL),)},
    ),
    (
        "functional/covered-control",
        {"controls": (control(cover=Cover(selector="#d", modal=True)),)},
    ),
    (
        "functional/covered-control",
        {"controls": (control(cover=Cover(selector="#s", pinned=True, share=1.0)),)},
    ),
    (
        "functional/covered-control",
        {
            "document": {"scroll_height": 3000},
            "controls": (control(cover=Cover(selector="#bar", pinned=True)),),
        },
    ),
    ("visual/horizontal-overflow", {"document": {"scroll_width": 1443}}),
    ("visual/horizontal-overflow", {"document": {"scroll_width": 2200, "scrolls_x": False}}),
    (
        "visual/broken-image",
        {"images": (image(**(BROKEN | {"complete": False})), image(**(BROKEN | {"url": ""})))},
    ),
    (
        "visual/broken-image",
        {"images": (image(**(BROKEN | {"url": "http://shop.test/a.svg"})),)},
    ),
    (
        "visual/distorted-image",
        {"images": (image(width=100.0, fit="cover"), image(width=203.0))},
    ),
    (
        "visual/clipped-text",
        {"clipped": (element(ClippedText, text="x", axis="x", hidden=50.0, affordance=True),)},
    ),
    ("visual/blank-page", {"status": 404, "document": {"text_length": 0, "painted": 0}}),
    ("visual/blank-page", {"document": {"text_length": 0, "painted": 1}}),
    (
        "accessibility/control-name",
        {
            "controls": (
                control(name="", exposed=False),
                control(name="", visible=False),
                control(name="", tag="input", role="textbox"),
            )
        },
    ),
    (
        "accessibility/image-alt",
        {
            "images": (
                image(alt="", name="", decorative=True),
                image(alt=None, name="", exposed=False),
                image(alt=None, name="", box=Box(0, 0, 1, 1)),
            )
        },
    ),
    (
        "accessibility/link-name",
        {"links": (link(name="", exposed=False), link(name="", visible=False))},
    ),
    (
        "accessibility/form-label",
        {
            "fields": (
                element(Field, name="Find", named_by="placeholder", search=True),
                element(Field, visible=False),
            )
        },
    ),
    ("accessibility/html-lang", {"document": {"lang": "zh-Hant-TW"}}),
    ("accessibility/html-lang", {"document": {"lang": None, "content_type": "image/png"}}),
    (
        "accessibility/contrast",
        {
            "texts": (
                element(Text, **(PALE | {"colour": (118, 118, 118)})),
                element(Text, **(PALE | {"colour": (148, 148, 148), "font_size": 24.0})),
            )
        },
    ),
    (
        "accessibility/frame-title",
        {
            "frames": (
                element(Frame, name="Map"),
                element(Frame, box=Box(0, 0, 1, 1)),
                element(Frame, tabindex=-1),
            )
        },
    ),
    (
        "accessibility/zoom-disabled",
        {"document": {"viewport_meta": "width=device-width, maximum-scale=5"}},
    ),
    (
        "accessibility/heading-order",
        {
            "headings": (
                element(Heading, level=3, name="A"),
                element(Heading, level=1, name="B"),
                element(Heading, level=2, name="C"),
            )
        },
    ),
    ("accessibility/missing-h1", {"document": {"text_length": 100}}),
    (
        "accessibility/positive-tabindex",
        {"controls": (control(tabindex=0), control(tabindex=-1))},
    ),
    ("performance/lcp", timed(lcp_ms=2500.0)),
    ("performance/cls", timed(cls=0.1)),
    (
        "performance/oversized-image",
        {
            "images": (image(natural_width=400.0, natural_height=200.0),),
            "requests": (request("/a.png", transfer_bytes=900_000),),
        },
    ),
    (
        "performance/missing-compression",
        {
            "requests": (
                request("/a.js", encoding="br", **JAVASCRIPT),
                request("/b.png", mime_type="image/png", body_bytes=900_000),
            )
        },
    ),
    (
        "performance/missing-caching",
        {
            "requests": (
                request("/a.js", cache_control="max-age=600", **JAVASCRIPT),
                request("http://cdn.test/b.js", **JAVASCRIPT),
            )
        },
    ),
    (
        "performance/unsized-image",
        {"images": (image(sized=False, in_flow=False), image(sized=False, height=24.0))},
    ),
    (
        "performance/render-blocking",
        timed(fcp_ms=1500.0)
        | {
            "resources": (
                Resource(url="http://shop.test/a.css", end_ms=1400, render_blocking=True),
            )
        },
    ),
    (
        "network/http-error",
        {
            "requests": (
                request("/favicon.ico", status=404),
                request("/p", kind="Ping", status=404),
            )
        },
    ),
    (
        "network/http-error",
        {
            "images": (image(**BROKEN),),
            "requests": (request("/a.png", kind="Image", status=404),),
        },
    ),
    (
        "network/failed-request",
        {
            "requests": (
                request(status=None, failure="net::ERR_ABORTED"),
                request(status=None, failure="net::ERR_FAILED", cancelled=True),
                request(failure="blocked: mixed-content"),
            )
        },
    ),
    (
        "network/redirect-chain",
        {"requests": (request(redirects=("http://a.test/", "https://a.test/")),)},
    ),
    ("network/mixed-content", {"requests": (request("http://cdn.test/a.js"),)}),
    (
        "network/mixed-content",
        {
            "url": "https://shop.test/",
            "requests": (request("http://127.0.0.1:9/a.js"), request("http://localhost/b")),
        },
    ),
    (
        "network/slow-api",
        {
            "requests": (
                request("/poll", end_ms=9000.0),
                request(end_ms=2900.0),
                request(kind="Script", end_ms=9000.0),
                request(end_ms=None),
            )
        },
    ),
    (
        "network/invalid-json",
        {
            "requests": (request("/a", status=500),),
            "json_faults": {"http://shop.test/a": "it is HTML"},
        },
    ),
]


def drafts(rule_id, parts):
    return list(RULES[rule_id].check(make_page(**parts)))


@pytest.mark.parametrize(("rule_id", "parts"), SEEDED, ids=[rule for rule, _ in SEEDED])
def test_a_defect_is_found(rule_id, parts):
    assert drafts(rule_id, parts)


@pytest.mark.parametrize(("rule_id", "parts"), CLEAN, ids=[rule for rule, _ in CLEAN])
def test_a_lookalike_is_left_alone(rule_id, parts):
    assert drafts(rule_id, parts) == []


def test_a_faultless_page_has_no_finding():
    page = make_page(
        headings=(element(Heading, level=1, name="Tools"),),
        controls=(control(),),
        links=(link(),),
        images=(image(),),
        fields=(element(Field, type="text", name="Mail", named_by="label"),),
        requests=(request("/list", document=True, kind="Document"),),
    )
    assert [rule.id for rule in all_rules() if list(rule.check(page))] == []


def test_there_are_rules_of_every_category_and_each_is_tested_both_ways():
    assert {rule.category for rule in all_rules()} == set(CATEGORIES)
    assert {rule_id for rule_id, _ in SEEDED} == set(RULES)
    assert set(RULES) - {rule_id for rule_id, _ in CLEAN} == {
        "visual/missing-viewport-meta",  # the faultless page is their clean twin
        "accessibility/page-title",
    }


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_says_where_it_comes_from_whom_it_hurts_and_what_to_do(rule):
    module = rule.check.__module__.split(".")
    assert rule.id == f"{module[-2]}/{module[-1].replace('_', '-')}"
    assert rule.title
    assert rule.source
    assert rule.impact
    assert rule.fix_hint
    if rule.category == "accessibility":
        assert re.fullmatch(r"\d\.\d\.\d+ .+", rule.wcag)


@pytest.mark.parametrize(
    ("rule_id", "parts", "severity"),
    [
        (
            "functional/broken-link",
            {"links": (link(visible=False),), "link_checks": {LINK: LinkCheck(404)}},
            "medium",
        ),
        (
            "functional/uncaught-exception",
            {"exceptions": (exception(url="http://ads.test/a.js"),)},
            "medium",
        ),
        ("functional/uncaught-exception", {"exceptions": (exception("Script error."),)}, "low"),
        (
            "visual/horizontal-overflow",
            {"device": "mobile", "document": {"client_width": 390, "scroll_width": 600}},
            "high",
        ),
        (
            "accessibility/contrast",
            {"texts": (element(Text, **(PALE | {"colour": (120, 120, 120)})),)},
            "low",
        ),
        (
            "accessibility/contrast",
            {"texts": (element(Text, **(PALE | {"colour": (230, 230, 230)})),)},
            "high",
        ),
        ("performance/lcp", timed(lcp_ms=4500.0), "high"),
        ("performance/cls", timed(cls=0.3), "high"),
        (
            "network/http-error",
            {"requests": (request("/", document=True, status=500),)},
            "critical",
        ),
        ("network/http-error", {"requests": (request("/me", status=401),)}, "low"),
    ],
)
def test_severity_follows_the_measured_impact(rule_id, parts, severity):
    assert [draft.severity for draft in drafts(rule_id, parts)] == [severity]


def test_the_contrast_ratio_is_that_of_wcag():
    assert contrast_ratio((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast_ratio((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)
    assert contrast_ratio((255, 255, 255), (255, 255, 255)) == 1
    assert is_large(24, 400)
    assert is_large(18.66, 700)
    assert not is_large(23, 400)


def test_json_is_judged_by_its_type_and_its_body():
    assert claims_json("application/problem+json; charset=utf-8")
    assert not claims_json("application/x-ndjson")
    assert not claims_json("text/html")
    assert json_fault(b'{"a": 1}') == json_fault(b"") == json_fault(b")]}'\n[1]") == ""
    assert "character 1" in json_fault(b"[")
    assert "begins with “<h1>”" in json_fault(b"<h1>")
    assert json_fault(b'"\xff"') == "the body is not UTF-8"


def test_an_origin_has_no_default_port():
    assert origin("https://a.test:443/x") == "https://a.test"
    assert origin("http://a.test:8080/x") == "http://a.test:8080"
    assert origin("http://[::1]:99999/") == origin("mailto:a@b.test") == ""


def test_facts_decode_from_what_the_page_returns():
    facts = Facts(document=Document(title="T"), controls=(control(box=BOX, cover=COVER),))
    assert decode_facts({"document": {"title": "T"}}).document.title == "T"
    import msgspec

    assert decode_facts(msgspec.json.encode(facts)) == facts


def test_links_of_different_looks_to_one_missing_page_are_one_finding():
    links = tuple(
        element(Link, f"#{name}", url=LINK, href="/gone", shape=name, visible=name != "menu")
        for name in ("menu", "teaser", "footer")
    )
    page = make_page(links=links, link_checks={LINK: LinkCheck(404)})
    drafted = inspect(page, chosen_rules(all_rules(), ["functional"]))
    (finding,) = assemble(drafted, limit=9).findings
    assert (finding.rule, finding.occurrences, finding.severity) == (
        "functional/broken-link",
        3,
        "high",
    )
