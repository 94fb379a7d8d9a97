"""Loading one page for an audit: a tab as a visitor's device has it, and its evidence.

Needs a browser context of the run's own. One in-page pass collects the facts; protocol
events have told the rest by then.
"""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.audit.evidence import PageEvidence, decode_facts
from vfa.audit.json_body import claims_json, json_fault
from vfa.audit.request import Viewport
from vfa.errors import CdpError, CommandTimeoutError
from vfa.page.navigation import navigate
from vfa.page.readiness import MILESTONES, wait_until_ready

if TYPE_CHECKING:
    from vfa.audit.request import AuditRequest
    from vfa.page.navigation import Navigated
    from vfa.page.page import Page

logger = logging.getLogger(__name__)

MAX_JSON_BODIES = 20  # answers per page whose body is read
MAX_JSON_BYTES = 1_000_000  # of such a body; a longer one is taken on trust
BODY_BOUND = 2.0  # seconds for one body

MOBILE_AGENT = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/{major}.0.0.0 Mobile Safari/537.36"
)
# CSS pixels, device scale factor, mobile; the sizes of the resize presets.
DEVICES = {
    "desktop": (Viewport(1440, 900), 1, False),
    "tablet": (Viewport(768, 1024), 2, True),
    "mobile": (Viewport(390, 844), 3, True),
}


class Loaded(msgspec.Struct, frozen=True):
    """A page that was loaded and looked at."""

    evidence: PageEvidence
    navigated: Navigated
    readiness: str


def viewport_of(request: AuditRequest) -> Viewport:
    """Return the viewport asked for, or the device's own."""
    return request.viewport or DEVICES[request.device][0]


async def emulate(page: Page, request: AuditRequest, product: str) -> None:
    """Make the tab look like the device asked for.

    Args:
        page: A prepared tab.
        request: Names device and viewport.
        product: The browser's own "Chrome/156.0.0.0", for the user agent of phones.
    """
    _, scale, mobile = DEVICES[request.device]
    viewport = viewport_of(request)
    await page.session.call(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": viewport.width,
            "height": viewport.height,
            "deviceScaleFactor": scale,
            "mobile": mobile,
        },
    )
    if mobile:
        major = product.partition("/")[2].partition(".")[0] or "150"
        page.session.post(
            "Emulation.setUserAgentOverride", {"userAgent": MOBILE_AGENT.format(major=major)}
        )
        page.session.post("Emulation.setTouchEmulationEnabled", {"enabled": True})


async def load(page: Page, url: str, request: AuditRequest) -> Loaded:
    """Visit ``url`` and collect its evidence.

    Raises:
        NavigationFailedError: It did not arrive.
    """
    navigated = await navigate(page, url, milestone=MILESTONES[request.wait_until])
    readiness = await wait_until_ready(page, request.wait_until)
    # Roles and names are computed in one go for the whole tree once something asks for its
    # root; otherwise each of them is worked out by itself, a hundred times slower.
    page.session.post("Accessibility.enable")
    await page.session.call("Accessibility.getRootAXNode")
    facts = decode_facts(await page.call("collect", result=dict[str, Any]))
    page.session.post("Accessibility.disable")
    viewport = viewport_of(request)
    evidence = PageEvidence(
        url=url,
        final_url=navigated.url,
        status=navigated.status,
        device=request.device,
        viewport=(viewport.width, viewport.height),
        facts=facts,
        requests=page.network.records(),
        console=page.console.read(),
        exceptions=tuple(page.exceptions),
        json_faults=await _json_faults(page),
    )
    return Loaded(evidence, navigated, readiness)


async def _json_faults(page: Page) -> dict[str, str]:
    """Read the answers to scripts that claim to be JSON, and say what is wrong with them."""
    faults: dict[str, str] = {}
    answers = [
        exchange
        for exchange in page.network.exchanges()
        if exchange.kind in {"XHR", "Fetch"}
        and exchange.response is not None
        and exchange.response.status < 400
        and exchange.ended is not None
        and exchange.body <= MAX_JSON_BYTES
        and claims_json(exchange.response.mime_type)
    ]
    for exchange in answers[:MAX_JSON_BODIES]:
        body = await _body(page, exchange.id)
        if body is not None and (fault := json_fault(body)):
            faults[exchange.url] = fault
    return faults


async def _body(page: Page, request_id: str) -> bytes | None:
    with trio.move_on_after(BODY_BOUND):
        try:
            answer = await page.session.call(
                "Network.getResponseBody", {"requestId": request_id}
            )
        except (CdpError, CommandTimeoutError) as error:
            logger.debug("no body of %s: %s", request_id, error)
            return None
        text = str(answer.get("body", ""))
        return base64.b64decode(text) if answer.get("base64Encoded") else text.encode()
    return None
