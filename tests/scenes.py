"""Scenes for tests: reports as an audit of the demo shop would write them.

Helpers, not tests. Pictures are drawn here, so that a report can be judged by eye as well.
"""

from __future__ import annotations

import base64
import functools
import io

from vfa.audit.findings import Box, Finding, PageRecord, Proof, Report, Screenshot
from vfa.page.records import ConsoleMessage, LayoutShift, PageException, Request, Vitals

BASE = "http://127.0.0.1:8790"
WIDTH, HEIGHT = 1440, 1900
HERO = Box(722, 134, 590, 442)
HINT = Box(128, 500, 520, 24)
STUDIO = Box(160, 1240, 240, 240)
STAMP = Box(1200, 96, 160, 128)
SIZES = Box(1258, 128, 92, 48)


@functools.cache
def picture(width=WIDTH, height=HEIGHT, kind="JPEG"):
    """Return base64 of a page drawn in flat shapes, at ``width`` × ``height`` pixels."""
    from PIL import Image, ImageDraw

    unit = width / WIDTH
    image = Image.new("RGB", (width, height), "#f1f5f0")
    draw = ImageDraw.Draw(image)

    def block(x, y, w, h, colour, radius=8):
        place = tuple(round(part * unit) for part in (x, y, x + w, y + h))
        if place[1] < height:
            draw.rounded_rectangle(place, radius, fill=colour)

    block(0, 0, WIDTH, 76, "#ffffff", 0)
    block(128, 26, 130, 24, "#14302f")
    for step in range(4):
        block(300 + step * 96, 30, 64, 16, "#48605b")
    block(128, 200, 430, 44, "#14302f")
    block(128, 260, 360, 44, "#14302f")
    for step in range(3):
        block(128, 340 + step * 30, 470 - step * 60, 14, "#48605b")
    block(128, 440, 150, 48, "#123c42", 24)
    block(HINT.x, HINT.y, HINT.width, 12, "#c3ccc7")
    block(HERO.x, HERO.y, HERO.width, HERO.height, "#d5dcd2", 20)
    for step, colour in enumerate(("#8eb2a0", "#e2d6c2", "#264a70", "#b04e2c")):
        block(128 + step * 304, 720, 280, 280, "#dfe4de", 16)
        block(198 + step * 304, 790, 140, 160, colour, 60)
        block(128 + step * 304, 1020, 160, 16, "#14302f")
    block(128, 1200, 1184, 320, "#e6dfd0", 20)
    block(STUDIO.x, STUDIO.y, STUDIO.width, STUDIO.height, "#9c7c5c", 12)
    block(450, 1270, 320, 28, "#14302f")
    block(0, 1620, WIDTH, 400, "#0c2a2f", 0)
    buffer = io.BytesIO()
    image.save(buffer, kind, quality=70)
    return base64.b64encode(buffer.getvalue()).decode()


def sample_report():
    """Return the report of an audit of three pages, with findings of every severity."""
    return Report(
        url=f"{BASE}/",
        run_id="run-5f0c2a",
        started_at="2026-05-02T09:14:07Z",
        duration_ms=18_430,
        findings=_findings(),
        metrics={
            "pages_audited": 3,
            "pages_skipped": 1,
            "rules_run": 34,
            "requests": 25,
            "transfer_bytes": 912_000,
            "readiness": "networkidle",
            "web_vitals": {"lcp_ms": 3120.4, "cls": 0.182},
            "by_severity": {"critical": 1, "high": 3, "medium": 3, "low": 1, "info": 1},
        },
        screenshots=(
            Screenshot(name="viewport", mime_type="image/jpeg", data=picture(1440, 900), width=1440, height=900, page_url=f"{BASE}/"),
            Screenshot(name="full_page", mime_type="image/jpeg", data=picture(), width=WIDTH, height=HEIGHT, page_url=f"{BASE}/"),
            Screenshot(name="full_page", mime_type="image/jpeg", data=picture(720, 950), width=720, height=950, scale=0.5, page_url=f"{BASE}/shop/harvest-bowl"),
            Screenshot(name="full_page", mime_type="image/jpeg", path="/home/qa/vfa-reports/account.jpg", page_url=f"{BASE}/account"),
        ),
        pages=_pages(),
        not_done=("2 pages were found and not visited (max_pages is 3)",),
        truncated=True,
    )  # fmt: skip


def empty_report():
    """Return the report of an audit that saw one page and found nothing."""
    page = PageRecord(
        url=f"{BASE}/", title="Ostermill Pottery", status=200, readiness="networkidle"
    )
    return Report(
        url=f"{BASE}/",
        run_id="run-000000",
        started_at="2026-05-02T09:14:07Z",
        duration_ms=2_100,
        findings=(),
        metrics={},
        pages=(page,),
    )


def many_findings(count=100):
    """Return a report with ``count`` findings on one page, each with a box of its own."""
    from msgspec.structs import replace

    sample = sample_report()
    findings = tuple(
        replace(
            sample.findings[number % len(sample.findings)],
            id=f"FND-{number + 1:03}",
            page_url=f"{BASE}/",
            evidence=Proof(
                screenshot_index=1, box=Box(10 + number * 7, 20 + number * 15, 120, 40)
            ),
        )
        for number in range(count)
    )
    ordered = sorted(findings, key=lambda one: _RANK[one.severity])
    return replace(sample, findings=tuple(ordered))


_RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3, "info": 4}


def _findings():
    return (
        Finding(
            id="FND-001", severity="critical", category="network",
            title="GET /api/orders answers 500 Internal Server Error",
            description=f"{BASE}/api/orders (Fetch) was answered with 500 Internal Server Error.",
            rule="network/http-error", key="network-http-error-7f0a11",
            impact="What the request was to bring is missing from the page.",
            fix_hint="Correct the address, or look into the server's log for why it refused.",
            page_url=f"{BASE}/account",
            evidence=Proof(console_errors=1, requests=(f"{BASE}/api/orders",), measured=500, threshold="a status below 400"),
        ),
        Finding(
            id="FND-002", severity="high", category="functional",
            title="“Sizes” is covered and cannot be clicked",
            description="Wherever it is clicked, an invisible element takes the click: div.firing.",
            selector_hint="button[data-opens='size-guide']",
            rule="functional/covered-control", key="functional-covered-control-1c09d2", confidence=0.9,
            impact="Visitors see the control and cannot use it.",
            fix_hint="Move or remove the covering element, lower its z-index, or give it pointer-events: none if it is only decoration.",
            page_url=f"{BASE}/shop/harvest-bowl",
            evidence=Proof(
                screenshot_index=2, box=SIZES,
                measured={"covered_by": "div.firing", "html": "<div class=\"firing\" aria-hidden=\"true\">"},
                threshold="at least one of five points reachable",
                html='<button class="button button--quiet size-button" type="button" data-opens="size-guide">Sizes',
            ),
        ),
        Finding(
            id="FND-003", severity="high", category="functional",
            title="Uncaught exception: “TypeError: Cannot set properties of null (setting 'textContent')”",
            description="A script threw in /js/contact.js, line 17 and nothing caught it.\nat http://127.0.0.1:8790/js/contact.js:17:44",
            rule="functional/uncaught-exception", key="functional-uncaught-exception-9a2f00",
            impact="The code after the exception did not run: what it was to set up is missing.",
            fix_hint="Follow the stack to the line that threw, and handle the case that it did not expect.",
            page_url=f"{BASE}/account",
            evidence=Proof(console_errors=1, requests=(f"{BASE}/js/contact.js",), measured="TypeError: Cannot set properties of null (setting 'textContent')", threshold="no uncaught exception"),
        ),
        Finding(
            id="FND-004", severity="high", category="accessibility",
            title="A button has no name",
            description="button.view-switch has no text, label or title, so a screen reader says only “button”.",
            selector_hint="button.view-switch", rule="accessibility/control-name", key="accessibility-control-name-33aa01",
            wcag="4.1.2 Name, Role, Value",
            impact="People who use a screen reader or voice control cannot tell what it does.",
            fix_hint="Put text into it, or an aria-label where it shows only an icon.",
            page_url=f"{BASE}/", occurrences=3,
            evidence=Proof(screenshot_index=1, box=Box(1268, 20, 44, 44), measured="", threshold="a name that is not empty", html='<button class="view-switch" type="button" data-view="">'),
        ),
        Finding(
            id="FND-005", severity="medium", category="accessibility",
            title="Text “Sent in paper and straw within three w…” has too little contrast (1.77 : 1)",
            description="#aebbb5 on #f1f5f0 at 15 px gives 1.77 : 1; 4.5 : 1 is needed.",
            selector_hint="p.hint", rule="accessibility/contrast", key="accessibility-contrast-b1c9e4", confidence=0.95,
            wcag="1.4.3 Contrast (Minimum)",
            impact="People with low vision, or in sunlight, cannot read the text.",
            fix_hint="Darken the text or lighten its background until the ratio is reached.",
            page_url=f"{BASE}/",
            evidence=Proof(screenshot_index=1, box=HINT, measured=1.77, threshold=4.5, html='<p class="hint">Sent in paper and straw within three working days. Delivery is free above £90.'),
        ),
        Finding(
            id="FND-006", severity="medium", category="performance",
            title="The page jumps while it loads (CLS 0.18)",
            description="What moved most: div.hero, section#favourites.",
            selector_hint="div.hero", rule="performance/cls", key="performance-cls-000001", confidence=0.9,
            impact="Visitors lose their place, and click what has just moved under the pointer.",
            fix_hint="Reserve the space of pictures, embeds, fonts and banners that arrive later.",
            page_url=f"{BASE}/",
            evidence=Proof(box=HERO, measured={"cls": 0.182, "shifts": 1}, threshold=0.1),
        ),
        Finding(
            id="FND-007", severity="medium", category="visual",
            title="The page is 80 px wider than the screen",
            description="It is 1520 px wide in a viewport of 1440 px and scrolls sideways because of div.bleed.",
            selector_hint="div.bleed", rule="visual/horizontal-overflow", key="visual-horizontal-overflow-7",
            wcag="1.4.10 Reflow",
            impact="Visitors have to scroll sideways, and miss what lies beyond the edge.",
            fix_hint="Let the element shrink (max-width: 100%, min-width: 0, flex-wrap), or scroll it inside a container of its own.",
            page_url=f"{BASE}/",
            evidence=Proof(screenshot_index=1, box=Box(0, 1200, 1520, 320), measured=1520.0, threshold=1440.0),
        ),
        Finding(
            id="FND-008", severity="low", category="performance",
            title="Image “Three shelves of finished pots in the studio” is far too large",
            description="2400 by 2400 pixels (431 kB) are shown at 240 by 240; about 414 kB are for nothing.",
            selector_hint="img[src='/img/studio-shelf.jpg']", rule="performance/oversized-image", key="performance-oversized-image-2",
            impact="The page loads slowly and costs visitors data for pixels nobody sees.",
            fix_hint="Scale the file down, or offer sizes with srcset and sizes.",
            page_url=f"{BASE}/",
            evidence=Proof(screenshot_index=1, box=STUDIO, requests=(f"{BASE}/img/studio-shelf.jpg",), measured=413_887, threshold=100_000),
        ),
        Finding(
            id="FND-009", severity="info", category="network",
            title="The chat's presence was asked for twice", source="model:example",
            description="Two requests for the same answer were sent within 40 ms.",
            rule="network/repeated-request", key="network-repeated-request-1", confidence=0.55,
            page_url=f"{BASE}/account",
        ),
    )  # fmt: skip


def _pages():
    home = (
        _request("/", "Document", 0, 14, 22, 2_900, document=True),
        _request("/css/site.css", "Stylesheet", 26, 34, 52, 4_100, render_blocking=True),
        _request("/js/site.js", "Script", 27, 36, 48, 1_200),
        _request("/img/hero.jpg", "Image", 30, 58, 310, 98_600),
        _request("/img/stillwater-vase-card.jpg", "Image", 31, 66, 180, 16_600),
        _request("/img/studio-shelf.jpg", "Image", 33, 120, 1_480, 431_300),
        _request("/img/ines.jpeg", "Image", 34, 50, 52, 1_600, status=404, status_text="Not Found"),
        _request("/media/2019/morning-cup-detail.jpg", "Image", 35, 160, 190, 24_700, redirects=("/a", "/b", "/c", "/d")),
        _request("/api/promotion", "Fetch", 320, 590, 592, 800),
        Request(url="http://127.0.0.1:40915/presence", kind="Fetch", failure="net::ERR_CONNECTION_REFUSED", start_ms=330, end_ms=334),
        Request(url=f"{BASE}/events", kind="EventSource", status=200, start_ms=400, first_byte_ms=420, transfer_bytes=60),
        _request("/js/search-index.js", "Script", 600, 640, 900, 97_900),
        Request(url=f"{BASE}/img/touch-icon.png", kind="Image", status=200, from_cache=True, start_ms=602, first_byte_ms=603, end_ms=603),
    )  # fmt: skip
    shift = LayoutShift(0.182, 640.0, ("div.hero", "section#favourites"))
    return (
        PageRecord(
            url=f"{BASE}/", title="Ostermill Pottery: cups, bowls and vases for every day", status=200,
            readiness="networkidle", dom_elements=214, requests=home, screenshots=(0, 1),
            vitals=Vitals(ttfb_ms=14, fcp_ms=180, lcp_ms=3120.4, cls=0.182, lcp_selector="img[src='/img/hero.jpg']", shifts=(shift,), dom_content_loaded_ms=140, load_ms=1_520, long_task_ms=64, long_tasks=1),
            console=(ConsoleMessage(level="warning", text="The resource /img/hero.jpg was preloaded but not used within a few seconds.", timestamp=1.0, url=f"{BASE}/"),),
        ),
        PageRecord(
            url=f"{BASE}/shop/harvest-bowl", title="Harvest Bowl | Ostermill Pottery", status=200, depth=1,
            readiness="networkidle", dom_elements=166, screenshots=(2,), requests=home[:4],
            vitals=Vitals(ttfb_ms=11, fcp_ms=160, lcp_ms=640, cls=0.0, load_ms=700),
        ),
        PageRecord(
            url=f"{BASE}/account", title="Your account | Ostermill Pottery", status=200, depth=1, readiness="load + 10 s",
            dom_elements=120, screenshots=(3,), vitals=Vitals(ttfb_ms=980, fcp_ms=3400, lcp_ms=5200, cls=0.3, load_ms=5300, long_task_ms=720, long_tasks=6),
            requests=(*home[:3], _request("/api/orders", "Fetch", 80, 120, 122, 300, status=500, status_text="Internal Server Error")),
            console=(
                ConsoleMessage(level="error", text="Failed to load resource: the server responded with a status of 500 (Internal Server Error)", timestamp=2.0, url=f"{BASE}/api/orders", line=1),
                ConsoleMessage(level="log", text="orders: retry in 5 s", timestamp=2.1, url=f"{BASE}/js/account.js", line=22),
            ),
            exceptions=(PageException(message="TypeError: Cannot read properties of undefined (reading 'find')", timestamp=2.2, stack=f"at showDelivery ({BASE}/js/cart.js:58:22)\nat async {BASE}/js/cart.js:64:1", url=f"{BASE}/js/cart.js", line=58, unhandled_rejection=True),),
        ),
    )  # fmt: skip


def _request(path, kind, start, first, end, size, status=200, **more):
    return Request(
        url=BASE + path, kind=kind, status=status, start_ms=start, first_byte_ms=first,
        end_ms=end, transfer_bytes=size, body_bytes=size, protocol="http/1.1", **more,
    )  # fmt: skip
