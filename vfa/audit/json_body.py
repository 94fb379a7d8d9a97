"""Whether the body of an answer is the JSON that its type promises."""

from __future__ import annotations

import json
import re

JSON_TYPE = re.compile(r"^(application|text)/(json|[\w.+-]+\+json)$", re.IGNORECASE)
# Prefixes that keep other sites from running the answer as a script; clients cut them off.
GUARDS = (b")]}'", b"while(1);", b"for(;;);")


def claims_json(mime_type: str) -> bool:
    """Tell whether a body of this type must be one JSON text."""
    kind = mime_type.partition(";")[0].strip()
    return JSON_TYPE.match(kind) is not None and "ndjson" not in kind and "seq" not in kind


def json_fault(body: bytes) -> str:
    """Return what is wrong with ``body`` as half a sentence, or "" if it is JSON.

    An empty body is no fault: answers to HEAD, 204 and 304 have none.
    """
    if not body.strip() or body.lstrip().startswith(GUARDS):
        return ""
    try:
        json.loads(body)
    except UnicodeDecodeError:
        return "the body is not UTF-8"
    except json.JSONDecodeError as error:
        start = " ".join(body[:60].decode("utf-8", "replace").split())
        return f"the body does not parse at character {error.pos} (it begins with “{start}”)"
    return ""
