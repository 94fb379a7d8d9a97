"""One audit from its first page to its report.

    visit (load, collect, picture) ─▶ follow links ─▶ check the other links
      └▶ probe a copy of the page       └▶ rules over the evidence ─▶ merged findings ─▶ report

Pages are visited one after the other in a context of the run's own. The run keeps a reserve
of its time budget for reporting: what could not be done in time is said in the report, and
only a run that saw no page at all fails.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import trio

from vfa.actors.pictures import Pictures
from vfa.actors.witness import BusWitness
from vfa.audit.assemble import assemble, chosen_rules, inspect
from vfa.audit.evidence import LinkCheck
from vfa.audit.findings import CATEGORIES, SEVERITIES, PageRecord, Report
from vfa.audit.frontier import Frontier
from vfa.audit.link_check import check_link
from vfa.audit.loading import emulate, load, viewport_of
from vfa.audit.probe import Prober, candidates, try_probe
from vfa.audit.request import Progress
from vfa.audit.rules import all_rules
from vfa.egress.hosts import read_hosts
from vfa.errors import (
    CommandTimeoutError,
    DeadlineExceededError,
    PageError,
    SsrfBlockedError,
)
from vfa.policy.resolve import Policy, check_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.actors.encoder import Encoder
    from vfa.actors.error_bus import ErrorBus
    from vfa.actors.link import Link, TargetInfo
    from vfa.audit.assemble import Assembled
    from vfa.audit.evidence import PageEvidence
    from vfa.audit.findings import Screenshot
    from vfa.audit.frontier import Goal
    from vfa.audit.loading import Loaded
    from vfa.audit.request import AuditRequest
    from vfa.cdp.session import Session
    from vfa.config import Config
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

RESERVE = 0.15  # of the budget, kept for rules, pictures and the report
MAX_RESERVE = 10.0  # seconds
BROKEN = 400  # HTTP statuses from here on say that there is no page
LINK_CHECKS = 100  # links checked without a visit
LINK_WORKERS = 6  # at a time
PROBE_BOUND = 30.0  # seconds of trial clicks on one page


class _Visit(msgspec.Struct):
    """One page of the run, while it is put together."""

    record: PageRecord
    evidence: PageEvidence | None = None


class AuditRun:
    """The state of one audit.

    Args:
        link: The browser, leased by the caller.
        request: What to do.
        progress: Told how it gets on.
        encoder: Works on the pictures.
        errors: Gets what the pages report.
        config: The settings.
        started: When the caller began to wait, trio clock.
    """

    def __init__(
        self,
        link: Link,
        request: AuditRequest,
        progress: Callable[[Progress], None],
        encoder: Encoder,
        errors: ErrorBus,
        config: Config,
        started: float,
    ) -> None:
        self._link = link
        self._request = request
        self._progress = progress
        self._config = config
        self._started = started
        self._policy = Policy.for_audits(config)
        self._resolver = read_hosts(config.hosts)
        self._run_id = secrets.token_hex(6)
        self._witness = BusWitness(errors, self._run_id)
        self._pictures = Pictures(encoder, config, self._run_id)
        self._frontier = Frontier(
            request.url, max_depth=request.max_depth, max_pages=request.max_pages
        )
        self._visits: list[_Visit] = []
        self._link_checks: dict[str, LinkCheck] = {}
        self._not_done: list[str] = []
        self._began = datetime.now(UTC)
        self._phase = "starting"
        self._prober: Prober | None = None

    async def run(self) -> Report:
        """Carry out the audit.

        Raises:
            NavigationFailedError: The entry page did not arrive.
            SsrfBlockedError: It was served from an address that the policy refuses.
            DeadlineExceededError: The budget ended before the entry page was collected.
        """
        self._tell("starting")
        budget = self._request.timeout_ms / 1000
        deadline = self._started + budget - min(MAX_RESERVE, budget * RESERVE)
        with trio.move_on_at(deadline) as scope:
            async with AsyncExitStack() as stack:
                context = await stack.enter_async_context(
                    self._link.context(self._adopt_popup, policy=self._policy)
                )
                await self._fence(context)
                await self._visit_all(context)
        if scope.cancelled_caught:
            self._note_what_is_missing()
        self._tell("reporting")
        return await self._report()

    async def _fence(self, context: str) -> None:
        """Deny downloads and permissions to the context."""
        await self._link.connection.call(
            "Browser.setDownloadBehavior",
            {"behavior": "deny", "browserContextId": context, "eventsEnabled": True},
        )

    def _adopt_popup(self, info: TargetInfo, session: Session) -> None:
        """Note a tab that a page opened, and keep it from doing anything: it is not audited."""
        if self._prober is not None:
            self._prober.saw("popup")
        session.post("Runtime.runIfWaitingForDebugger")
        session.connection.post("Target.closeTarget", {"targetId": info.target_id})

    # --- visiting -----------------------------------------------------------------------

    async def _visit_all(self, context: str) -> None:
        async with self._link.page(context, witness=self._witness, keep_bodies=True) as page:
            await emulate(page, self._request, self._link.version.product)
            while (goal := self._frontier.next()) is not None:
                await self._visit(context, page, goal)
            self._tell("checking links")
            await self._check_links(page)

    async def _visit(self, context: str, page: Page, goal: Goal) -> None:
        self._tell("loading", goal.url)
        try:
            with page.guard():
                await check_target(goal.url, self._policy, resolver=self._resolver)
                loaded = await load(page, goal.url, self._request)
                self._check_origin(loaded)
        except (PageError, SsrfBlockedError, CommandTimeoutError) as error:
            if goal.depth == 0:
                raise
            self._link_checks[goal.url] = LinkCheck(
                error=getattr(error, "net_error", "") or error.code
            )
            record = PageRecord(url=goal.url, depth=goal.depth, error=error.message)
            self._visits.append(_Visit(record))
            return
        self._link_checks[goal.url] = LinkCheck(status=loaded.navigated.status)
        status = loaded.navigated.status or 200
        if goal.depth > 0 and status >= BROKEN:
            # The broken link is the finding; what an error page looks like is not.
            record = PageRecord(url=goal.url, depth=goal.depth, error=f"answers {status}")
            self._visits.append(_Visit(record))
            return
        if not self._frontier.arrived(loaded.evidence):
            return
        visit = _Visit(_record(loaded, goal.depth), loaded.evidence)
        self._visits.append(visit)
        await self._examine(context, page, visit)

    def _check_origin(self, loaded: Loaded) -> None:
        """Judge where the page really came from, after redirects and name resolution."""
        address = loaded.navigated.remote_address
        if address:
            self._policy.check_address(address, urlsplit(loaded.navigated.url).hostname or "")

    async def _examine(self, context: str, page: Page, visit: _Visit) -> None:
        """Take pictures of a page that was loaded, and try its controls on a copy."""
        assert visit.evidence is not None
        address = visit.evidence.address
        self._tell("inspecting", address)
        if self._request.include_screenshots:
            try:
                with page.guard():
                    await self._pictures.take(page, address, entry=visit.record.depth == 0)
            except (PageError, CommandTimeoutError) as error:
                logger.warning("no pictures of %s: %s", address, error.message)
        if "functional" in self._request.categories:
            self._tell("probing", address)
            await self._probe(context, visit)

    async def _probe(self, context: str, visit: _Visit) -> None:
        evidence = visit.evidence
        assert evidence is not None
        if not candidates(evidence):
            return
        async with self._link.page(context) as copy:
            await emulate(copy, self._request, self._link.version.product)
            self._prober = Prober(copy, self._request)
            try:
                with trio.move_on_after(PROBE_BOUND), copy.guard():
                    probes = await try_probe(self._prober, evidence)
                    visit.evidence = msgspec.structs.replace(evidence, dead_controls=probes)
            except (PageError, CommandTimeoutError) as error:
                logger.info("the trial clicks on %s ended: %s", evidence.url, error.message)
            finally:
                self._prober.close()
                self._prober = None

    async def _check_links(self, page: Page) -> None:
        """Ask for the status of links that were not visited."""
        if self._request.max_depth < 1:
            return
        waiting = [u for u in self._frontier.not_visited if u not in self._link_checks]
        if len(waiting) > LINK_CHECKS:
            self._not_done.append(f"{len(waiting) - LINK_CHECKS} links were not checked")
        waiting = waiting[:LINK_CHECKS]

        async def work() -> None:
            while waiting:
                url = waiting.pop(0)
                self._link_checks[url] = await check_link(page, url)

        async with trio.open_nursery() as workers:
            for _ in range(LINK_WORKERS):
                workers.start_soon(work)

    def _note_what_is_missing(self) -> None:
        if not any(visit.evidence for visit in self._visits):
            raise DeadlineExceededError(
                f"the audit of {self._request.url} ended after {self._request.timeout_ms} ms, "
                "before the page was ready to be looked at",
                hint="Raise timeout_ms, or wait for less with wait_until: domcontentloaded.",
            )
        if self._frontier.waiting:
            self._not_done.append(f"{self._frontier.waiting} pages were not visited")
        self._not_done.append(f"time ran out while {self._phase}")

    # --- reporting ----------------------------------------------------------------------

    async def _report(self) -> Report:
        pages = [
            msgspec.structs.replace(visit.evidence, link_checks=self._link_checks)
            for visit in self._visits
            if visit.evidence is not None
        ]
        rules = chosen_rules(all_rules(), self._request.categories)
        drafted = [draft for page in pages for draft in inspect(page, rules)]
        assembled = assemble(
            drafted, limit=self._config.max_findings, focus=self._request.focus
        )
        shots, findings = await self._pictures.finish(assembled.findings)
        viewport = viewport_of(self._request)
        return Report(
            url=self._request.url,
            run_id=self._run_id,
            started_at=self._began.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            duration_ms=self._elapsed_ms(),
            findings=findings,
            metrics=self._metrics(assembled, pages, len(rules)),
            screenshots=shots,
            pages=tuple(_with_pictures(visit.record, shots) for visit in self._visits),
            findings_omitted=assembled.omitted,
            truncated=bool(self._not_done),
            not_done=tuple(self._not_done),
            viewport=(viewport.width, viewport.height),
            device=self._request.device,
        )

    def _metrics(
        self, assembled: Assembled, pages: list[PageEvidence], rules: int
    ) -> dict[str, Any]:
        requests = [request for page in pages for request in page.requests]
        entry = self._visits[0].record
        return {
            "pages_audited": len(pages),
            "pages_skipped": self._frontier.left_out + len(self._visits) - len(pages),
            "links_checked": len(self._link_checks),
            "controls_tried": sum(len(page.dead_controls) for page in pages),
            "console_errors": sum(page.console_errors for page in pages),
            "http_errors": sum((request.status or 0) >= 400 for request in requests),
            "duration_ms": self._elapsed_ms(),
            "rules_run": rules,
            "requests": len(requests),
            "transfer_bytes": sum(request.transfer_bytes for request in requests),
            "web_vitals": _vitals(entry),
            "readiness": entry.readiness,
            "by_severity": {s: assembled.by_severity.get(s, 0) for s in SEVERITIES},
            "by_category": {c: assembled.by_category.get(c, 0) for c in CATEGORIES},
        }

    def _elapsed_ms(self) -> int:
        return round((trio.current_time() - self._started) * 1000)

    def _tell(self, phase: str, url: str = "") -> None:
        self._phase = phase
        done = sum(visit.evidence is not None for visit in self._visits)
        known = done + self._frontier.waiting + (phase == "loading")
        self._progress(Progress(phase, done, known, url))


def _record(loaded: Loaded, depth: int) -> PageRecord:
    evidence = loaded.evidence
    return PageRecord(
        url=evidence.address,
        title=evidence.title,
        status=evidence.status,
        depth=depth,
        readiness=loaded.readiness,
        vitals=evidence.vitals,
        dom_elements=evidence.facts.document.elements,
        requests=evidence.requests,
        console=evidence.console,
        exceptions=evidence.exceptions,
    )


def _with_pictures(record: PageRecord, shots: tuple[Screenshot, ...]) -> PageRecord:
    indexes = tuple(i for i, shot in enumerate(shots) if shot.page_url == record.url)
    return msgspec.structs.replace(record, screenshots=indexes)


def _vitals(record: PageRecord) -> dict[str, float]:
    """Return the entry page's vitals that were seen, times in whole milliseconds."""
    vitals = record.vitals
    seen = {
        "ttfb_ms": vitals.ttfb_ms,
        "fcp_ms": vitals.fcp_ms,
        "lcp_ms": vitals.lcp_ms,
        "cls": vitals.cls,
        "load_ms": vitals.load_ms,
        "long_task_ms": vitals.long_task_ms,
    }
    return {
        name: round(value, 4 if name == "cls" else 0)
        for name, value in seen.items()
        if value is not None
    }
