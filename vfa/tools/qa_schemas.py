"""Output schemas of the ``qa_*`` tools.

They describe what clients may rely on: fields of the contract, no more. Objects stay open,
since fields are added over time. Failures (``isError``) have no structured content.
"""

from __future__ import annotations

from typing import Any

from vfa.audit.findings import CATEGORIES, SEVERITIES

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer"}


def _object(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


AUDIT_RESULT = _object(
    ("status", "url", "duration_ms", "findings", "metrics", "screenshots"),
    status=_one_of("completed"),
    url=_TEXT,
    run_id=_TEXT,
    duration_ms=_COUNT,
    findings=_list(
        _object(
            ("id", "severity", "category", "title", "description"),
            id=_TEXT,
            severity=_one_of(*SEVERITIES),
            category=_one_of(*CATEGORIES),
            title=_TEXT,
            description=_TEXT,
            evidence={"type": "object"},
        )
    ),
    metrics={"type": "object"},
    screenshots=_list(_object(("name", "mime_type"), name=_TEXT, mime_type=_TEXT, path=_TEXT)),
)

ERRORS_RESULT = _object(
    ("status", "count", "entries"),
    status=_one_of("completed"),
    count=_COUNT,
    entries=_list(
        _object(
            ("id", "source", "severity", "message", "url", "timestamp"),
            id=_TEXT,
            source=_one_of("console", "pageerror", "http"),
            severity=_one_of("info", "warning", "error"),
            message=_TEXT,
            url=_TEXT,
            timestamp=_TEXT,
        )
    ),
)
