"""The HTML report: complete, self-contained, and safe to open whatever a page was called."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from msgspec.structs import replace

from tests.scenes import BASE, empty_report, many_findings, picture, sample_report
from vfa.audit.findings import Box, PageRecord, Proof, Screenshot
from vfa.page.records import ConsoleMessage, PageException, Request
from vfa.report.html import render

LOADING = {"src", "srcset", "poster", "data", "action", "background", "xlink:href"}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style><img src=http://evil.example/x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "--><svg onload=alert(1)>",
    "gpj\u202eexe\u2066 a\x00b\x1b[31m\x85\u2028",
    "&lt;b&gt; &amp;",
)
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Document(HTMLParser):
    """What a browser makes of a report: elements in order, text, and whether tags match."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.elements = []  # (tag, attributes)
        self.texts = []
        self.inside = []
        self.mismatched = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.inside.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.inside or self.inside.pop() != tag:
            self.mismatched.append(tag)

    def handle_data(self, data):
        self.texts.append((self.inside[-1] if self.inside else "", data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, tag):
        return "".join(data for name, data in self.texts if name == tag)

    @property
    def text(self):
        shown = (data for name, data in self.texts if name not in ("style", "script"))
        return " ".join(" ".join(shown).split())

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


def hostile_report():
    """Return the sample with every text that a page can choose replaced by an attack."""
    attack = " ".join(HOSTILE)
    sample = sample_report()
    finding = replace(
        sample.findings[1],
        id=attack,
        title=attack,
        description=attack,
        selector_hint=attack,
        rule=attack,
        key=attack,
        impact=attack,
        fix_hint=attack,
        wcag=attack,
        source=attack,
        page_url="javascript:alert(1)//" + attack,
        evidence=Proof(
            box=Box(0, 0, 10, 10),
            screenshot_index=0,
            requests=(attack,) * 40,
            measured={attack: attack},
            threshold=attack,
            html=attack,
        ),
    )
    page = PageRecord(
        url="javascript:alert(1)//" + attack,
        title=attack,
        error=attack,
        readiness=attack,
        screenshots=(0, 1, 99),
        requests=(
            Request(
                url="http://a.example/" + "x" * 65_536 + attack, kind=attack, failure=attack
            ),
        ),
        console=(
            ConsoleMessage(level=attack, text=attack, timestamp=0, url=attack, stack=attack),
        ),
        exceptions=(PageException(message=attack, timestamp=0, stack=attack, url=attack),),
        vitals=replace(sample.pages[0].vitals, lcp_selector=attack),
    )
    pictures = (
        Screenshot(name=attack, mime_type="image/jpeg", data=picture(), width=10, height=10),
        Screenshot(
            name=attack, mime_type='image/svg+xml"onload="alert(1)', data=attack, path=attack
        ),
    )
    return replace(
        sample,
        url="http://" + attack,
        run_id=attack,
        started_at=attack,
        findings=(finding,),
        pages=(page,),
        screenshots=pictures,
        metrics={attack: attack},
        not_done=(attack,),
        device=attack,
    )


REPORTS = [sample_report, empty_report, many_findings, hostile_report]


@pytest.fixture(params=REPORTS, ids=lambda make: make.__name__)
def document(request):
    return Document(render(request.param()))


# --- nothing but itself -------------------------------------------------------------------


def test_nothing_is_loaded_from_anywhere(document):
    for tag, attributes in document.elements:
        for name in LOADING & attributes.keys():
            assert attributes[name].startswith("data:"), (tag, name)
        if tag in ("link", "image", "use"):
            assert attributes["href"].startswith(("data:image/", "#")), tag
    assert "url(" not in document.text_of("style")
    assert "@import" not in document.text_of("style")


def test_links_lead_into_the_report_or_to_ordinary_addresses(document):
    for attributes in document.all("a"):
        assert attributes["href"].startswith(("#", "http://", "https://"))
        if not attributes["href"].startswith("#"):
            assert "noopener" in attributes["rel"]


def test_every_link_into_the_report_arrives(document):
    inside = {
        a["href"][1:] for tag, a in document.elements if a.get("href", "").startswith("#")
    }
    assert inside <= set(document.ids)
    assert len(document.ids) == len(set(document.ids))


def test_there_is_one_script_and_one_style_and_the_policy_knows_both(document):
    policy = document.all("meta")[1]["content"]
    for tag in ("script", "style"):
        assert len(document.all(tag)) == 1
        digest = hashlib.sha256(document.text_of(tag).encode()).digest()
        assert f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "default-src 'none'" in policy


def test_no_element_has_a_style_or_a_handler_of_its_own(document):
    for tag, attributes in document.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")], (
            tag
        )


def test_every_element_that_is_opened_is_closed(document):
    assert document.mismatched == []
    assert document.inside == []


# --- hostile pages ------------------------------------------------------------------------


def test_what_a_page_wrote_stays_text():
    document = Document(render(hostile_report()))
    assert "<script>alert(1)</script>" in document.text
    assert "{{ 7 * 7 }}" in document.text
    assert "&lt;b&gt; &amp;" in document.text
    assert "alert(1)" not in document.text_of("script")
    assert document.all("img") == []


def test_no_address_of_a_page_becomes_a_script_link():
    assert "javascript:" not in "".join(
        a.get("href", "") for _, a in Document(render(hostile_report())).elements
    )


def test_characters_that_reorder_or_control_are_shown_by_name():
    source = render(hostile_report())
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028]", source
    )
    assert "[U+202E]" in source
    assert "\u2400" in source


def test_monstrous_addresses_and_texts_are_cut():
    assert len(render(hostile_report())) < len(render(empty_report())) + len(picture()) + 60_000


def test_half_of_a_character_does_not_keep_the_report_from_being_written():
    broken = replace(sample_report().findings[0], title="half \ud83d here")
    render(replace(sample_report(), findings=(broken,))).encode()


def test_a_picture_that_is_none_is_left_out():
    pictures = (
        Screenshot(name="a", mime_type="text/html", data="PGI+"),
        Screenshot(name="b", mime_type="image/png", data='"><script>'),
        Screenshot(name="c", mime_type="image/png", data=""),
        Screenshot(name="d", mime_type="image/png", data="AAAA", width=0, height=0),
    )
    document = Document(render(replace(sample_report(), screenshots=pictures)))
    assert document.all("image") == []
    assert document.all("use") == []


# --- what it says --------------------------------------------------------------------------


def test_every_finding_is_there_with_its_evidence():
    document = Document(render(sample_report()))
    for finding in sample_report().findings:
        assert " ".join(finding.description.split()) in document.text
        assert finding.fix_hint in document.text
        assert finding.impact in document.text
        assert finding.wcag in document.text
        assert finding.evidence.html in document.text
        assert (finding.selector_hint or "") in document.text
    assert len(document.all("article")) == 9 + 3
    assert "1.77" in document.text
    assert "95 %" in document.text
    assert "3 times" in document.text


def test_a_picture_is_embedded_once_however_often_it_is_shown():
    source = render(many_findings())
    assert source.count("data:image/jpeg") == len(Document(source).all("image")) == 3
    assert len(Document(source).all("use")) > 100


def test_a_finding_is_framed_on_its_own_part_of_the_picture():
    document = Document(render(sample_report()))
    boxes = [
        tuple(map(float, a["viewbox"].split()))
        for a in document.all("svg")
        if a.get("class") == "crop"
    ]
    hint = next(box for box in boxes if box[1] <= 500 <= box[1] + box[3] and box[0] <= 128)
    assert hint[2] < 900
    assert all(
        x >= 0 and y >= 0 and x + w <= 1440.1 and y + h <= 1900.1 for x, y, w, h in boxes
    )


def test_a_page_s_picture_leads_to_its_findings():
    source = render(sample_report())
    region = source[source.index('id="picture-1"') : source.index('id="picture-2"')]
    assert re.findall(r'href="#finding-(\d)"', region) == ["7", "6", "8", "5", "4"]


def test_a_picture_with_boxes_in_its_pixels_gets_links_and_no_second_boxes():
    sample = sample_report()
    pictures = tuple(replace(one, name="annotated") for one in sample.screenshots[:3])
    document = Document(render(replace(sample, screenshots=pictures)))
    classes = [attributes.get("class") for attributes in document.all("rect")]
    assert "chip" not in classes
    assert "frame" in classes
    assert {"href": "#finding-5"} in document.all("a")


def test_pages_that_could_not_be_audited_are_not_counted_as_audited():
    sample = sample_report()
    failed = replace(sample.pages[2], error="answers 404")
    text = Document(render(replace(sample, pages=(*sample.pages[:2], failed)))).text
    assert "9 findings on 2 pages" in text
    assert "answers 404" in text


def test_saved_pictures_are_named_where_they_are_not_embedded():
    assert "/home/qa/vfa-reports/account.jpg" in Document(render(sample_report())).text


def test_vitals_are_rated_in_words():
    text = Document(render(sample_report())).text
    assert "LCP 3.1 s needs improvement good up to 2.5 s" in text
    assert "LCP 5.2 s poor" in text
    assert "CLS 0.000 good" in text


def test_requests_are_a_table_that_needs_no_eyes():
    document = Document(render(sample_report()))
    assert "/img/ines.jpeg Image 404" in document.text
    assert "connection refused" in document.text
    assert "4 redirects" in document.text
    assert "running" in document.text
    assert len([a for a in document.all("th") if a.get("scope") == "row"]) > 20


def test_console_and_exceptions_are_quoted():
    text = Document(render(sample_report())).text
    assert "orders: retry in 5 s" in text
    assert "rejection TypeError: Cannot read properties of undefined" in text


def test_what_was_not_done_is_said():
    assert "2 pages were found and not visited" in Document(render(sample_report())).text
    assert "Not everything was done" not in Document(render(empty_report())).text


def test_a_report_without_findings_says_so_and_has_no_filters():
    document = Document(render(empty_report()))
    assert "No findings on 1 page" in document.text
    assert document.all("input") == []


def test_a_report_without_anything_can_be_read():
    bare = replace(empty_report(), pages=())
    assert "No page was recorded" in Document(render(bare)).text


def test_each_filter_has_a_rule_that_works_without_a_script():
    document = Document(render(sample_report()))
    style = document.text_of("style")
    for attributes in document.all("input"):
        if attributes["type"] == "checkbox":
            assert f"#{attributes['id']}:not(:checked)" in style


def test_the_same_report_gives_the_same_bytes():
    assert render(sample_report()) == render(sample_report())


def test_requests_beyond_what_anybody_reads_are_counted():
    request = sample_report().pages[0].requests[0]
    page = replace(sample_report().pages[0], requests=(request,) * 400)
    assert (
        "250 more requests left out"
        in Document(render(replace(sample_report(), pages=(page,)))).text
    )


# --- who can read it -----------------------------------------------------------------------


def test_headings_skip_no_level(document):
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_there_are_landmarks_a_skip_link_and_a_language(document):
    assert document.all("html")[0]["lang"] == "en"
    for tag in ("header", "nav", "main", "footer"):
        assert len(document.all(tag)) == 1
    assert document.all("a")[0]["href"] == "#findings"


def test_colours_reach_aa_in_both_schemes():
    style = Document(render(empty_report())).text_of("style")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    for scheme in (colours(light), colours(light) | colours(dark)):
        for text, ground in PAIRS:
            assert contrast(scheme[text], scheme[ground]) >= 4.5, (text, ground)
        for mark in ("critical", "high", "medium", "low", "info", "strong", "receiving"):
            assert contrast(scheme[mark], scheme["card"]) >= 2.5, mark


PAIRS = [
    *(
        (text, ground)
        for text in ("ink", "muted", "link")
        for ground in ("ground", "card", "sunk")
    ),
    *(
        (f"{name}-text", f"{name}-tint")
        for name in ("critical", "high", "medium", "low", "info", "good")
    ),
    ("critical-text", "card"),
    ("on-top", "top"),
]


def colours(block):
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_links_to_the_audited_page_survive():
    assert {"href": f"{BASE}/account", "rel": "noopener noreferrer nofollow"} in Document(
        render(sample_report())
    ).all("a")
