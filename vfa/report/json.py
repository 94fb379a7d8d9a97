"""A report as JSON, and back. Nothing is left out, so a report can be rendered again later."""

from __future__ import annotations

import msgspec

from vfa.audit.findings import Report
from vfa.errors import InvalidArgsError

_DECODER = msgspec.json.Decoder(Report)


def to_json(report: Report) -> bytes:
    """Return ``report`` as UTF-8 JSON, indented by two spaces."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


def from_json(data: bytes | str) -> Report:
    """Return the report that :func:`to_json` wrote.

    Raises:
        InvalidArgsError: ``data`` is no JSON, or not that of a report.
    """
    try:
        return _DECODER.decode(data)
    except msgspec.DecodeError as error:
        raise InvalidArgsError(
            f"this is not the JSON of a report: {error}",
            hint="Give the file that `vfa audit --json FILE` wrote.",
        ) from error
