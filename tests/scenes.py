"""Scenes for tests: reports as an audit of the demo shop would write them.

Helpers, not tests. Pictures are drawn here, so that a report can be judged by eye as well.
"""

from __future__ import annotations

import base64
import functools
import io
from pathlib import Path

from msgspec.structs import replace

from vfa.audit.findings import Box, PageRecord, Proof, Report
from vfa.report.json import from_json

SAMPLE = Path(__file__).parent / "data" / "sample_report.json"
BASE = "http://127.0.0.1:8790"
WIDTH, HEIGHT = 1440, 1900
HERO = Box(722, 134, 590, 442)
HINT = Box(128, 500, 520, 24)
STUDIO = Box(160, 1240, 240, 240)


@functools.cache
def picture(width=WIDTH, height=HEIGHT, kind="JPEG"):
    """Return base64 of a page drawn in flat shapes, at ``width`` by ``height`` pixels."""
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
    """Return the report of an audit of three pages, with findings of every severity.

    ``data/sample_report.json`` holds it, all but the pictures.
    """
    report = from_json(SAMPLE.read_bytes())
    pictures = tuple(
        replace(one, data=picture(one.width, one.height)) if one.width else one
        for one in report.screenshots
    )
    return replace(report, screenshots=pictures)


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
