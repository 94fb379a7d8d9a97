"""The HTML report in Chromium: it loads nothing, fits a phone, and passes our own rules."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import trio
from msgspec.structs import replace

from tests import rule_lab
from tests.scenes import empty_report, many_findings, sample_report
from vfa.audit.rules import all_rules
from vfa.cdp.session import Session
from vfa.chromium.find import find_chromium
from vfa.image.header import picture_size
from vfa.page.navigation import navigate
from vfa.page.page import Page
from vfa.report.html import render

pytestmark = pytest.mark.browser

PHONE = 360  # CSS pixels; the narrowest screen in common use
SHOWN = "[...document.querySelectorAll('.finding')].filter(one => one.checkVisibility()).length"
GROUND = "getComputedStyle(document.body).backgroundColor"
REPORTS = {"sample": sample_report, "empty": empty_report, "many": many_findings}


@pytest.fixture(scope="module")
def lab():
    with rule_lab.open_lab() as laboratory:
        yield laboratory


@pytest.fixture(params=REPORTS)
def report_url(request, tmp_path):
    return written(REPORTS[request.param](), tmp_path)


@pytest.fixture
def sample_url(tmp_path):
    return written(sample_report(), tmp_path)


def written(report, folder):
    file = folder / "report.html"
    file.write_text(render(report), encoding="utf-8")
    return file.as_uri()


def look(lab, url, *expressions, width=1280, dark=False, scripts=True):
    """Open ``url`` and return the values of ``expressions``, evaluated one after the other."""
    return trio.from_thread.run(
        _look, lab.connection, url, expressions, width, dark, scripts, trio_token=lab.token
    )


async def _look(connection, url, expressions, width, dark, scripts):
    with trio.fail_after(rule_lab.PATIENCE):
        context = await connection.call("Target.createBrowserContext")
        try:
            session, page = await _open(connection, context["browserContextId"])
            await session.call("Emulation.setDeviceMetricsOverride", _screen(width))
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            await session.call("Emulation.setEmulatedMedia", {"features": [scheme]})
            await session.call("Emulation.setScriptExecutionDisabled", {"value": not scripts})
            await navigate(page, url)
            return [await _value(session, expression) for expression in expressions]
        finally:
            connection.post("Target.disposeBrowserContext", context)


async def _open(connection, context_id):
    where = {"url": "about:blank", "browserContextId": context_id}
    made = await connection.call("Target.createTarget", where)
    tab = {"targetId": made["targetId"], "flatten": True}
    attached = await connection.call("Target.attachToTarget", tab)
    session = Session(connection, attached["sessionId"])
    page = Page(session, made["targetId"])
    await page.prepare()
    return session, page


def _screen(width):
    return {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}


async def _value(session, expression):
    asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    answer = await session.call("Runtime.evaluate", asked)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


@pytest.mark.parametrize("device", ["desktop", "mobile"])
def test_our_own_rules_find_nothing_in_our_own_report(lab, report_url, device):
    evidence = lab.load(report_url, device)
    found = [
        (rule.id, draft.title, draft.selector)
        for rule in all_rules()
        for draft in rule.check(evidence)
    ]
    assert found == []


def test_opening_a_report_asks_for_nothing_but_the_report(lab, report_url):
    evidence = lab.load(report_url)
    asked = {one.url for one in evidence.requests if not one.url.startswith("data:")}
    assert asked == {report_url}
    assert evidence.console == ()
    assert evidence.exceptions == ()


@pytest.mark.parametrize("unfolded", [False, True])
def test_a_narrow_phone_need_not_scroll_sideways(lab, report_url, unfolded):
    unfold = "for (const one of document.querySelectorAll('details')) one.open = true"
    width = "document.scrollingElement.scrollWidth"
    *_, seen = look(lab, report_url, unfold if unfolded else "0", width, width=PHONE)
    assert seen <= PHONE


def test_pictures_are_really_shown(lab, sample_url):
    drawn = "Promise.all([...document.querySelectorAll('image')].map(async one => {"
    drawn += " const i = new Image(); i.src = one.href.baseVal; await i.decode();"
    drawn += " return [i.naturalWidth, one.width.baseVal.value]; }))"
    # The policy of the report allows pictures from itself, so decoding them works here too.
    assert look(lab, sample_url, drawn) == [[[1440, 1440], [1440, 1440], [720, 720]]]


@pytest.mark.parametrize("scripts", [True, False])
def test_filters_work_with_and_without_a_script(lab, sample_url, scripts):
    click = "document.querySelector('#show-{}').click()"
    before, _, less, _, least = look(
        lab,
        sample_url,
        SHOWN,
        click.format("medium"),
        SHOWN,
        click.format("functional"),
        SHOWN,
        scripts=scripts,
    )
    assert (before, less, least) == (9, 6, 4)


def test_words_filter_findings_and_the_count_says_so(lab, sample_url):
    write = "{const w = document.querySelector('#words'); w.value = 'hint contrast';"
    write += " w.dispatchEvent(new Event('input'))}"
    count = "document.querySelector('#shown').textContent"
    assert look(lab, sample_url, count, write, SHOWN, count) == [
        "9 of 9 shown",
        True,
        1,
        "1 of 9 shown",
    ]


def test_a_number_on_a_picture_leads_to_its_finding(lab, sample_url):
    fold = "for (const one of document.querySelectorAll('details')) one.open = false"
    follow = "new Promise(done => { addEventListener('hashchange', () => setTimeout(done, 0));"
    follow += " location.hash = '#finding-8' })"
    opened = "document.querySelector('#finding-8 details').open"
    assert look(lab, sample_url, fold, follow, opened)[-1] is True


def test_dark_and_light_are_two_schemes(lab, sample_url):
    light, dark = look(lab, sample_url, GROUND), look(lab, sample_url, GROUND, dark=True)
    assert light == ["rgb(244, 246, 248)"]
    assert dark == ["rgb(17, 21, 27)"]


def test_a_hostile_title_runs_nothing(lab, tmp_path):
    attack = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)>"
    sample = sample_report()
    finding = replace(
        sample.findings[0], title=attack, description=attack, selector_hint=attack
    )
    url = written(replace(sample, url=f"http://a/{attack}", findings=(finding,)), tmp_path)
    evidence = lab.load(url)
    assert evidence.title.startswith("1 finding: ")
    assert evidence.exceptions == ()
    assert {one.url for one in evidence.requests if one.url.startswith("http")} == set()


def test_chromium_paints_the_report_from_its_command_line(sample_url, tmp_path):
    picture, profile = tmp_path / "report.png", tmp_path / "profile"
    command = [
        str(find_chromium("").path),
        "--headless",
        "--no-sandbox",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
        f"--screenshot={picture}",
        "--window-size=1280,2000",
        sample_url,
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert picture_size(picture.read_bytes()) == (1280, 2000)
    shutil.rmtree(profile, ignore_errors=True)
