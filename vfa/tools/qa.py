"""The ``qa_*`` tools: audits, and what pages reported while they ran.

Parameters, result shapes and failures are the published contract; fields are only ever added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vfa.audit.findings import Category  # noqa: TC001  # msgspec reads the annotation
from vfa.audit.request import AuditRequest, Device, Viewport, WaitUntil
from vfa.tools.answer import Answer, Picture, encoded_length, keep_fitting
from vfa.tools.qa_schemas import AUDIT_RESULT, ERRORS_RESULT
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.audit.findings import Report
    from vfa.config import Config
    from vfa.engine import Engine

MAX_URL = 65_536  # characters
MAX_FOCUS = 2_000
MAX_RUN_ID = 100
AUDIT_TIMEOUT_MS = 120_000
AUDIT_GRACE = 10.0  # seconds; an audit whose budget ends answers with what it has
ERRORS_TIMEOUT_MS = 5_000  # nothing there waits


# --- qa_audit_url -----------------------------------------------------------------------


class ViewportArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The size of the window."""

    width: Annotated[int, Meta(ge=100, le=8192)] = 1440
    height: Annotated[int, Meta(ge=100, le=8192)] = 900


class AuditArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``qa_audit_url``."""

    url: Annotated[str, Meta(max_length=MAX_URL, description="Absolute http(s) URL.")]
    viewport: ViewportArguments | UnsetType = UNSET
    device: Device = "desktop"
    wait_until: WaitUntil = "networkidle"
    max_depth: Annotated[
        int,
        Meta(ge=0, le=10, description="Links to follow; 0: this page only."),
    ] = 1
    max_pages: Annotated[int, Meta(ge=1, le=200)] = 10
    include_screenshots: bool = True
    focus: Annotated[
        str,
        Meta(max_length=MAX_FOCUS, description="What matters, in words."),
    ] = ""
    categories: Annotated[
        tuple[Category, ...] | UnsetType, Meta(description="Default: all.")
    ] = UNSET
    model: Annotated[
        Literal["auto", "off"],
        Meta(description="May a model add to the rules?"),
    ] = "auto"
    timeout_ms: Annotated[
        int, Meta(ge=0, description="Budget; what is found by then is returned.")
    ] = 0


async def audit_url(engine: Engine, arguments: AuditArguments, call: Call) -> Answer:
    """Audit a page and what it links to."""
    report = await engine.audit(_request(arguments, engine.config), progress=call.progress)
    return _answer(report, engine.config.screenshots)


def _request(arguments: AuditArguments, config: Config) -> AuditRequest:
    options: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in (
            "device",
            "wait_until",
            "max_depth",
            "max_pages",
            "include_screenshots",
            "focus",
            "model",
        )
    }
    if isinstance(arguments.viewport, ViewportArguments):
        options["viewport"] = Viewport(arguments.viewport.width, arguments.viewport.height)
    if arguments.categories:
        options["categories"] = tuple(dict.fromkeys(arguments.categories))
    budget = config.timeout_s(arguments.timeout_ms, AUDIT_TIMEOUT_MS)
    return AuditRequest(url=arguments.url, timeout_ms=round(budget * 1000), **options)


def _answer(report: Report, where: Literal["inline", "image", "path"]) -> Answer:
    """Put the report's pictures where ``VFA_SCREENSHOTS`` wants them."""
    value = report.answer()
    inline: dict[int, str] = {}
    pictures: list[Picture] = []
    for index, shot in enumerate(value["screenshots"]):
        data = shot.pop("data", "")
        if not data or where == "path":
            continue
        if where == "inline":
            inline[index] = data
        else:
            pictures.append(Picture(data, shot["mime_type"]))
            shot["content_index"] = len(pictures)  # in the answer's content; 0 is this text
    return Answer(
        value=value, inline=inline, pictures=tuple(pictures), shorten=_shorten_findings
    )


def _shorten_findings(value: dict[str, Any], budget: int) -> dict[str, Any]:
    findings = value["findings"]
    reason = "The answer is full: see findings_omitted, and narrow with focus or categories."
    rest = value | {"findings": [], "findings_omitted": 0, "note": reason}
    kept = keep_fitting(findings, budget - encoded_length(rest) - 20)
    omitted = value.get("findings_omitted", 0) + len(findings) - len(kept)
    return rest | {"findings": kept, "findings_omitted": omitted}


def _audit_time(config: Config) -> int:  # the default is the contract's
    return AUDIT_TIMEOUT_MS


# --- qa_get_runtime_errors --------------------------------------------------------------


class ErrorsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``qa_get_runtime_errors``."""

    clear: Annotated[bool, Meta(description="Remove what is returned.")] = True
    source: Literal["all", "console", "pageerror", "http"] = "all"
    min_severity: Literal["info", "warning", "error"] = "info"
    run_id: Annotated[str, Meta(max_length=MAX_RUN_ID, description="Of one audit.")] = ""
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 1_000


async def get_runtime_errors(engine: Engine, arguments: ErrorsArguments, call: Call) -> Answer:
    """Drain the error bus; no browser is started for that."""
    # Nothing below awaits: what is looked at first is what is then removed.
    limit = _fitting(engine, arguments)
    drained = engine.errors.drain(
        clear=arguments.clear,
        source=arguments.source,
        min_severity=arguments.min_severity,
        run_id=arguments.run_id,
        limit=limit,
    )
    value: dict[str, Any] = {
        "status": "completed",
        "count": len(drained.entries),
        "entries": [entry.to_answer() for entry in drained.entries],
        "dropped": drained.dropped,
    }
    if drained.remaining:
        value["remaining"] = drained.remaining
        value["note"] = "More entries match: call again for the next ones."
    return Answer(value=value)


ENVELOPE = 300  # characters of an answer around its entries


def _fitting(engine: Engine, arguments: ErrorsArguments) -> int:
    """Return how many entries the answer can hold, so that none is removed unseen."""
    peeked = engine.errors.drain(
        clear=False,
        source=arguments.source,
        min_severity=arguments.min_severity,
        run_id=arguments.run_id,
        limit=arguments.limit,
    )
    entries = [entry.to_answer() for entry in peeked.entries]
    room = engine.config.max_answer_chars - ENVELOPE
    return max(len(keep_fitting(entries, room)), 1)


def _errors_time(config: Config) -> int:  # nothing there can take long
    return ERRORS_TIMEOUT_MS


# --- the table --------------------------------------------------------------------------

QA_TOOLS: tuple[Tool, ...] = (
    Tool(
        name="qa_audit_url",
        description="Audit a page and those it links to, in a fresh browser context: "
        "functional, visual, accessibility, performance and network defects with evidence, "
        "metrics and screenshots. Ends within timeout_ms.",
        hints=Hints(read_only=True),
        arguments=AuditArguments,
        run=audit_url,
        default_timeout_ms=_audit_time,
        grace_s=AUDIT_GRACE,
        output_schema=AUDIT_RESULT,
    ),
    Tool(
        name="qa_get_runtime_errors",
        description="Console messages, uncaught exceptions and failed requests of all calls so "
        "far, oldest first.",
        hints=Hints(read_only=False, open_world=False),
        arguments=ErrorsArguments,
        run=get_runtime_errors,
        default_timeout_ms=_errors_time,
        output_schema=ERRORS_RESULT,
    ),
)
