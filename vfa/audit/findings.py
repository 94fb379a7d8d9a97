"""Findings and reports: what an audit says, to the letter of the tools' contract.

Fields may be added here, never renamed or dropped.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from vfa.page.records import ConsoleMessage, PageException, Request, Vitals

Severity = Literal["critical", "high", "medium", "low", "info"]
Category = Literal["functional", "visual", "accessibility", "performance", "network"]

SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low", "info")
CATEGORIES: tuple[Category, ...] = (
    "functional",
    "visual",
    "accessibility",
    "performance",
    "network",
)


class Box(msgspec.Struct, frozen=True):
    """A rectangle in page coordinates, CSS pixels."""

    x: float
    y: float
    width: float
    height: float


class Proof(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The ``evidence`` of a finding: what was seen, measured and compared with what."""

    screenshot_index: int | None = None  # into Report.screenshots
    box: Box | None = None
    console_errors: int = 0
    requests: tuple[str, ...] = ()
    measured: Any = None  # number, string, or a small object; JSON
    threshold: Any = None
    html: str = ""  # the element's opening, at most 300 characters


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One defect."""

    id: str  # FND-001 … in report order
    severity: Severity
    category: Category
    title: str
    description: str
    selector_hint: str | None = None
    evidence: Proof = Proof()
    rule: str = ""  # "functional/dead-control"
    key: str = ""  # stable over runs and page order
    confidence: float = 1.0  # 0 … 1
    wcag: str = ""  # "1.4.3 Contrast (Minimum)"
    impact: str = ""  # who is hurt, and how
    fix_hint: str = ""
    page_url: str = ""
    occurrences: int = 1
    source: str = "rule"


class Screenshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture of a page. ``data`` is base64; ``path`` is the saved original."""

    name: str  # "viewport", "full_page", "annotated" …
    mime_type: str
    data: str = ""
    path: str = ""
    width: int = 0  # pixels of ``data``
    height: int = 0
    scale: float = 1.0  # pixels of ``data`` per CSS pixel of the page
    page_url: str = ""


class PageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One audited page, with what a report shows of it."""

    url: str
    title: str = ""
    status: int | None = None
    depth: int = 0  # clicks from the entry page
    readiness: str = ""  # which condition ended the wait
    error: str = ""  # why it could not be audited; empty if it was
    vitals: Vitals = Vitals()
    dom_elements: int = 0
    requests: tuple[Request, ...] = ()
    console: tuple[ConsoleMessage, ...] = ()
    exceptions: tuple[PageException, ...] = ()
    screenshots: tuple[int, ...] = ()  # indexes into Report.screenshots


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything an audit found; ``answer`` is what the MCP tool returns of it."""

    url: str
    run_id: str
    started_at: str  # ISO 8601 UTC
    duration_ms: int
    findings: tuple[Finding, ...]  # report order: severity, then confidence
    metrics: dict[str, Any]
    screenshots: tuple[Screenshot, ...] = ()
    pages: tuple[PageRecord, ...] = ()
    findings_omitted: int = 0
    truncated: bool = False
    not_done: tuple[str, ...] = ()  # what the budget cut off
    viewport: tuple[int, int] = (1440, 900)
    device: str = "desktop"

    def answer(self) -> dict[str, Any]:
        """Return the result object of ``qa_audit_url``."""
        result: dict[str, Any] = {
            "status": "completed",
            "url": self.url,
            "run_id": self.run_id,
            "duration_ms": self.duration_ms,
            "findings": msgspec.to_builtins(self.findings),
            "metrics": self.metrics,
            "screenshots": msgspec.to_builtins(self.screenshots),
        }
        if self.findings_omitted:
            result["findings_omitted"] = self.findings_omitted
        if self.truncated:
            result |= {"truncated": True, "not_done": list(self.not_done)}
        return result
