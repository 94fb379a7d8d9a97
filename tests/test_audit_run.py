"""Audits from the URL to the report, in a real Chromium."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import msgspec
import pytest
import trio

from fixtures.shop_server import serve_shop
from vfa.engine import open_engine
from vfa.errors import (
    BrowserNotFoundError,
    DeadlineExceededError,
    InvalidUrlError,
    NavigationFailedError,
    SsrfBlockedError,
)

pytestmark = pytest.mark.browser

WHOLE = {"max_depth": 2, "max_pages": 20}
BROKEN = (
    "<img src=/gone.png><button></button><a href=/nowhere>A link</a>"
    "<script>console.warn('careful'); throw new Error('boom')</script>"
)


def rules_of(report) -> set[str]:
    return {finding.rule for finding in report.findings}


async def test_an_audit_of_the_shop_writes_nothing_and_points_at_what_it_found(config):
    # That all planted defects are found is what ./dev demo shows, and its test.
    with serve_shop(planted=True) as shop:
        async with open_engine(config) as engine:
            report = await engine.audit(shop, max_depth=1, max_pages=4)
        assert shop.shop.writes == []
    assert report.metrics["pages_audited"] == 4
    assert not report.truncated
    boxed = [finding for finding in report.findings if finding.evidence.box]
    for finding in boxed:
        shot = report.screenshots[finding.evidence.screenshot_index]
        assert (shot.name, shot.page_url) == ("annotated", finding.page_url)


async def test_the_same_shop_without_defects_gives_no_finding(config):
    with serve_shop(planted=False) as shop:
        async with open_engine(config) as engine:
            report = await engine.audit(shop, **WHOLE)
    assert [(f.rule, f.title, f.page_url) for f in report.findings] == []
    assert report.metrics["pages_audited"] == 12


async def test_the_same_page_gives_the_same_findings(config, site):
    site.page("/", BROKEN)
    async with open_engine(config) as engine:
        first = await engine.audit(site.url())
        second = await engine.audit(site.url())
    assert [f.key for f in first.findings] == [f.key for f in second.findings]
    assert {
        "functional/broken-link",
        "functional/uncaught-exception",
        "visual/broken-image",
        "accessibility/control-name",
        "accessibility/image-alt",
    } <= rules_of(first)
    assert first.run_id != second.run_id


async def test_what_pages_report_is_on_the_error_bus_under_the_run(config, site):
    site.page("/", BROKEN)
    async with open_engine(config) as engine:
        report = await engine.audit(site.url(), max_depth=0)
        entries = engine.errors.drain(run_id=report.run_id).entries
        assert engine.errors.drain().entries == ()
    assert [(e.source, e.severity) for e in entries if e.source == "pageerror"] == [
        ("pageerror", "error")
    ]
    assert ("console", "careful") in [(e.source, e.message) for e in entries]
    assert [e.status_code for e in entries if e.source == "http"] == [404]


async def test_pictures_fit_their_budgets_and_the_originals_are_saved(config, site):
    site.page("/", BROKEN + "<div style='height:3000px'></div>")
    async with open_engine(config) as engine:
        report = await engine.audit(site.url(), max_depth=0)
    assert [shot.name for shot in report.screenshots] == ["viewport", "full_page", "annotated"]
    for shot in report.screenshots:
        assert max(shot.width, shot.height) <= config.screenshot_max_side
        assert Path(shot.path).is_relative_to(config.output_path)
        assert await trio.Path(shot.path).read_bytes() > b"\xff\xd8"
    async with open_engine(config) as engine:
        report = await engine.audit(site.url(), max_depth=0, include_screenshots=False)
    assert report.screenshots == ()


async def test_progress_names_the_phases_and_counts_the_pages(config, site):
    site.page("/", "<a href=/2>two</a>")
    site.page("/2", "two")
    told = []
    async with open_engine(config) as engine:
        await engine.audit(site.url(), progress=told.append)
    phases = [progress.phase for progress in told]
    assert phases[0] == "starting"
    assert phases[-1] == "reporting"
    assert {"loading", "inspecting", "checking links"} <= set(phases)
    assert told[-1].pages_done == told[-1].pages_known == 2


async def test_depth_and_page_limits_are_kept_and_links_beyond_are_checked(config, site):
    site.page("/", "".join(f"<a href=/p{n}>page {n}</a> " for n in range(6)))
    for number in range(5):
        site.page(f"/p{number}", f"<a href=/deep{number}>deeper</a>")
    async with open_engine(config) as engine:
        report = await engine.audit(site.url(), max_depth=1, max_pages=3)
        assert report.metrics["pages_audited"] == 3
        broken = [f for f in report.findings if f.rule == "functional/broken-link"]
        assert any("/p5" in (f.selector_hint or "") for f in broken)
        site.asked.clear()
        alone = await engine.audit(site.url(), max_depth=0)
        assert alone.metrics["pages_audited"] == 1
        assert {path for _, path in site.asked} <= {"/", "/favicon.ico"}


async def test_probes_send_no_writes_and_find_the_dead_control(config, site):
    site.page(
        "/",
        "<button id=dead>Compare prices</button>"
        "<button id=live onclick=\"log.textContent = 'y'\">Show more</button>"
        "<button id=post onclick=\"fetch('/api', {method: 'POST'})\">Refresh the list</button>"
        "<p id=log></p>",
    )
    async with open_engine(config) as engine:
        report = await engine.audit(site.url(), max_depth=0)
    dead = [f.selector_hint for f in report.findings if f.rule == "functional/dead-control"]
    assert dead == ["#dead"]
    assert {method for method, _ in site.asked} <= {"GET", "HEAD"}


async def test_a_forbidden_target_is_refused_before_any_browser_starts(config, site, profiles):
    strict = msgspec.structs.replace(config, allow_local_host=False)
    async with open_engine(strict) as engine:
        for url in (site.url(), "http://localhost/", "http://[::1]/", "http://2130706433/"):
            with pytest.raises(SsrfBlockedError) as caught:
                await engine.audit(url)
            assert "VFA_ALLOW_LOCAL_HOST" in caught.value.hint
        for url in ("ftp://x/", "/relative", "javascript:alert(1)", ""):
            with pytest.raises(InvalidUrlError):
                await engine.audit(url)
        assert profiles() == []
    assert site.asked == []


async def test_an_entry_page_that_does_not_arrive_fails_with_the_reason(config):
    async with open_engine(config) as engine:
        with pytest.raises(NavigationFailedError, match="ERR_CONNECTION_REFUSED"):
            await engine.audit("http://127.0.0.1:9999/")


async def test_a_budget_that_ends_before_the_first_page_is_a_timeout(config, site):
    async with open_engine(config) as engine:
        with trio.fail_after(10), pytest.raises(DeadlineExceededError, match="1500 ms"):
            await engine.audit(site.hang("/slow"), timeout_ms=1500)


async def test_a_budget_that_ends_later_gives_what_was_found(config, site):
    site.page("/", BROKEN + "<a href=/slow>slow</a>")
    site.hang("/slow")
    async with open_engine(config) as engine:
        with trio.fail_after(15):
            report = await engine.audit(site.url(), timeout_ms=6000)
    assert report.truncated
    assert report.not_done
    assert "functional/uncaught-exception" in rules_of(report)
    assert report.answer()["truncated"] is True


async def test_giving_up_stops_the_audit_and_disposes_of_its_context(config, site):
    async with open_engine(config) as engine:
        with trio.move_on_after(1.0) as scope:
            await engine.audit(site.hang("/slow"))
        assert scope.cancelled_caught
        async with engine.browser.lease() as link:
            with trio.fail_after(5):
                while True:
                    contexts = await link.connection.call("Target.getBrowserContexts")
                    if not contexts["browserContextIds"]:
                        break


async def test_an_audit_survives_the_death_of_its_browser(config, site):
    site.page("/", BROKEN)
    killed = []
    async with open_engine(config) as engine:

        def kill_once(progress):
            if progress.phase == "inspecting" and not killed:
                (pid,) = pids
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        async with engine.browser.lease() as link:
            pids = [link.launched.process.pid]
        report = await engine.audit(site.url(), progress=kill_once, max_depth=0)
    assert killed
    assert "functional/uncaught-exception" in rules_of(report)


async def test_a_page_that_crashes_its_renderer_is_reported_not_waited_for(config, site):
    async with open_engine(config) as engine:

        async def crash_once_it_runs(link):
            with trio.fail_after(10):
                while ("GET", "/slow") not in site.asked:  # noqa: ASYNC110  # a thread's list
                    await trio.sleep(0.01)
            targets = await link.connection.call("Target.getTargets")
            (found,) = [
                target["targetId"]
                for target in targets["targetInfos"]
                if target["url"].endswith("/crash")
            ]
            (await link.session_of(found)).post("Page.crash")

        site.page("/crash", "<script>fetch('/slow')</script>x")
        site.hang("/slow")
        async with engine.browser.lease() as link, trio.open_nursery() as nursery:
            nursery.start_soon(crash_once_it_runs, link)
            with trio.fail_after(20), pytest.raises(Exception, match="crashed"):
                await engine.audit(site.url("/crash"))


async def test_two_audits_side_by_side_share_nothing(config, site):
    script = "<script>if (localStorage.mark) throw new Error('marked'); localStorage.mark = 1"
    site.page("/", script + "; document.cookie = 'mark=1'</script>")
    reports = []
    async with open_engine(config) as engine, trio.open_nursery() as audits:

        async def audit():
            reports.append(await engine.audit(site.url(), max_depth=0, categories=("network",)))

        for _ in range(2):
            audits.start_soon(audit)
    async with open_engine(config) as engine:
        reports.append(await engine.audit(site.url(), max_depth=0))
    assert [rules_of(r) & {"functional/uncaught-exception"} for r in reports] == [set()] * 3


async def test_a_missing_browser_is_said_by_an_audit_too(config, site):
    broken = msgspec.structs.replace(config, chromium_path="/no/such/browser")
    async with open_engine(broken) as engine:
        with pytest.raises(BrowserNotFoundError):
            await engine.audit(site.url())


async def test_a_phone_sees_the_page_as_a_phone_does(config, site):
    body = "<meta name=viewport content='width=device-width'><h1>x</h1>"
    site.page("/", body + "<div style='width:800px;height:10px;background:red'></div>")
    async with open_engine(config) as engine:
        phone = await engine.audit(site.url(), device="mobile", max_depth=0)
        desk = await engine.audit(site.url(), max_depth=0)
    assert "visual/horizontal-overflow" in rules_of(phone)
    assert "visual/horizontal-overflow" not in rules_of(desk)
    assert phone.viewport == (390, 844)


async def test_a_404_behind_a_link_is_a_broken_link_and_not_an_audited_page(config, site):
    site.page("/", "<a href=/gone>gone</a>")
    async with open_engine(config) as engine:
        report = await engine.audit(site.url())
    assert report.metrics["pages_audited"] == 1
    assert [f.page_url for f in report.findings if f.rule == "functional/broken-link"] == [
        site.url()
    ]


async def test_an_embedder_catches_errors_by_their_class_and_the_engine_goes_on(config, site):
    site.page("/", "x")
    async with open_engine(config) as engine:
        try:
            await engine.audit("http://127.0.0.1:9999/")
        except NavigationFailedError:
            caught = True
        report = await engine.audit(site.url(), max_depth=0)
    assert caught
    assert report.metrics["pages_audited"] == 1
