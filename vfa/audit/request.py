"""What an audit is asked to do, and what it tells while it does it."""

from __future__ import annotations

from typing import Literal

import msgspec

from vfa.audit.findings import CATEGORIES, Category

WaitUntil = Literal["load", "domcontentloaded", "networkidle"]
Device = Literal["desktop", "mobile", "tablet"]


class Viewport(msgspec.Struct, frozen=True):
    """CSS pixels."""

    width: int = 1440
    height: int = 900


class AuditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of ``qa_audit_url``, validated and with defaults filled in."""

    url: str
    viewport: Viewport | None = None  # None: the device's own
    device: Device = "desktop"
    wait_until: WaitUntil = "networkidle"
    max_depth: int = 1
    max_pages: int = 10
    include_screenshots: bool = True
    focus: str = ""
    categories: tuple[Category, ...] = CATEGORIES
    timeout_ms: int = 120_000
    model: Literal["auto", "off"] = "auto"


class Progress(msgspec.Struct, frozen=True):
    """How far an audit is. ``total`` grows while pages are discovered."""

    phase: str  # "starting", "loading", "inspecting", "probing", "checking links", "reporting"
    pages_done: int
    pages_known: int
    url: str = ""
