"""Trial clicks: which controls do nothing at all?

A probe works on a copy of the page, in a tab of its own that is thrown away, and sends
nothing that could change the world: requests other than reads are answered here, and
controls that pay, delete, send, sign out or submit are not clicked. An effect is anything a
visitor or a script could notice; a control without one, twice, is dead.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.audit.evidence import ProbeResult
from vfa.errors import CdpError, CommandTimeoutError, ScriptError, VfaError
from vfa.page.navigation import navigate
from vfa.page.readiness import MILESTONES

if TYPE_CHECKING:
    from vfa.audit.evidence import Control, PageEvidence
    from vfa.audit.request import AuditRequest
    from vfa.cdp.dialogue import Event
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

MAX_PROBES = 12  # controls of a page that are tried; one of each kind first
PATIENCE_MS = 1_500  # until a click without effect is called that
TRIES = 2
READS = frozenset({"GET", "HEAD", "OPTIONS"})
WITHIN = frozenset({"sameDocument", "historySameDocument"})  # CDP's words for no new document
LEAVES = frozenset({"navigation", "popup", "download"})  # after these the copy is made anew


class _Paused(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    request: dict[str, Any]


class _Starting(msgspec.Struct, frozen=True, rename="camel"):
    navigation_type: str = ""


class _Aim(msgspec.Struct, frozen=True):
    x: float = 0.0
    y: float = 0.0
    problem: str = ""


def candidates(evidence: PageEvidence) -> list[Control]:
    """Return the controls worth a trial click, each kind once before any twice."""
    wanted = [
        control
        for control in evidence.facts.controls
        if control.probe
        and control.enabled
        and control.visible
        and not control.danger
        and not control.submits
        and not control.state
        and control.cover is None
    ]
    first: list[Control] = []
    again: list[Control] = []
    seen: set[str] = set()
    for control in wanted:
        kind = control.shape or control.selector
        (again if kind in seen else first).append(control)
        seen.add(kind)
    return (first + again)[:MAX_PROBES]


class Prober:
    """Tries the controls of one page on a tab that holds a copy of it.

    Args:
        page: A prepared tab, emulating the same device as the original.
        request: The audit's; says when a page counts as loaded.
    """

    def __init__(self, page: Page, request: AuditRequest) -> None:
        self._page = page
        self._milestone = MILESTONES[request.wait_until]
        self._url = ""
        self._seen: set[str] = set()  # effects that protocol events told of
        self.writes_held_back = 0
        self._stop = page.session.listen(self._hear)

    def close(self) -> None:
        """Stop listening."""
        self._stop()

    def saw(self, effect: str) -> None:
        """Note an effect that shows outside the tab: a popup, a download."""
        self._seen.add(effect)

    async def probe(self, url: str, controls: list[Control]) -> tuple[ProbeResult, ...]:
        """Click each of ``controls`` of the page at ``url``; return what that did."""
        self._page.leave_paused_requests()
        await self._page.session.call(
            "Fetch.enable", {"patterns": [{"urlPattern": "*", "requestStage": "Request"}]}
        )
        self._url = url
        await self._copy()
        return tuple([await self._probe_one(control) for control in controls])

    async def _copy(self) -> None:
        await navigate(self._page, self._url, milestone=self._milestone)
        with trio.move_on_after(2):
            await self._page.network.wait_for_silence(0.2)

    async def _probe_one(self, control: Control) -> ProbeResult:
        effects: set[str] = set()
        problem = ""
        for _ in range(TRIES):
            try:
                effects, problem = await self._click(control.selector)
            except (CdpError, ScriptError, CommandTimeoutError) as error:
                logger.debug("probe of %s: %s", control.selector, error)
                effects, problem = {"navigation"}, ""  # the document went from under us
            if effects or problem:
                break
        if effects & LEAVES:
            await self._copy()
        return ProbeResult(
            selector=control.selector,
            name=control.name or control.text,
            role=control.role,
            box=control.box,
            html=control.html,
            effects=tuple(sorted(effects)),
            clicked=not problem,
            skipped_reason=problem,
        )

    async def _click(self, selector: str) -> tuple[set[str], str]:
        """Click once; return the effects, or why it was not clicked."""
        page = self._page
        aim = await page.call("probe_aim", selector, result=_Aim)
        if aim.problem:
            return set(), aim.problem
        await page.call("probe_watch", selector, result=bool)
        self._seen.clear()
        page.take_dialogs()
        commits, moves = page.documents.commits, page.documents.same_document
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            event = {"type": kind, "x": aim.x, "y": aim.y}
            if kind != "mouseMoved":
                event |= {"button": "left", "clickCount": 1}
            page.session.post("Input.dispatchMouseEvent", event)
        effects = set(await page.call("probe_effects", PATIENCE_MS, result=list[str]))
        effects |= self._seen
        if page.documents.commits != commits or page.documents.starting:
            effects.add("navigation")
        elif page.documents.same_document != moves and not effects & {"fragment", "navigation"}:
            effects.add("navigation")  # a route of its own, by the history API
        if page.take_dialogs():
            effects.add("dialog")
        return effects, ""

    def _hear(self, event: Event) -> None:
        if event.method == "Fetch.requestPaused":
            self._judge(msgspec.json.decode(event.params, type=_Paused))
        elif event.method == "Page.frameStartedNavigating":
            if msgspec.json.decode(event.params, type=_Starting).navigation_type not in WITHIN:
                self._seen.add("navigation")
        elif event.method == "Page.downloadWillBegin":
            self._seen.add("download")

    def _judge(self, paused: _Paused) -> None:
        """Let reads through; answer everything else ourselves."""
        self._seen.add("request")
        if paused.request.get("method", "GET") in READS:
            self._page.session.post("Fetch.continueRequest", {"requestId": paused.request_id})
            return
        self.writes_held_back += 1
        self._page.session.post(
            "Fetch.fulfillRequest",
            {
                "requestId": paused.request_id,
                "responseCode": 200,
                "responseHeaders": [{"name": "Content-Type", "value": "application/json"}],
                "body": "e30=",  # {}
            },
        )


async def try_probe(prober: Prober, evidence: PageEvidence) -> tuple[ProbeResult, ...]:
    """Probe the page of ``evidence``; a copy that cannot be made proves nothing."""
    controls = candidates(evidence)
    if not controls:
        return ()
    try:
        return await prober.probe(evidence.final_url or evidence.url, controls)
    except VfaError as error:
        logger.info("no probes on %s: %s", evidence.url, error.message)
        return ()
