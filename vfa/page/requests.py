"""Which requests of a page somebody asks for, and what is said of each. Pure.

``Wanted`` picks from the network log; ``brief`` is a request in a list, ``full`` all that is
known of one, bodies apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import InvalidArgsError
from vfa.policy.redact import redact_url
from vfa.policy.redact_http import redact_headers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.page.exchange import Exchange
    from vfa.page.network_events import Timing

# CDP ``Network.ResourceType``, as clients may write them.
KINDS = (
    "document",
    "stylesheet",
    "image",
    "media",
    "font",
    "script",
    "texttrack",
    "xhr",
    "fetch",
    "prefetch",
    "eventsource",
    "websocket",
    "manifest",
    "signedexchange",
    "ping",
    "cspviolationreport",
    "preflight",
    "fedcm",
    "other",
)
MAX_SHOWN_URL = 300  # characters of a URL in a list; the whole of it is with the one request
_STATUS = re.compile(r"(\d{3})(?:-(\d{3}))?|(\d)xx", re.IGNORECASE)
_PHASES = {  # what a phase is called: where it begins and ends in CDP's timing
    "dns": ("dns_start", "dns_end"),
    "connect": ("connect_start", "connect_end"),
    "tls": ("ssl_start", "ssl_end"),
    "send": ("send_start", "send_end"),
    "wait": ("send_end", "receive_headers_end"),
}


class Wanted(msgspec.Struct, frozen=True):
    """Which requests; each field narrows, and its default does not."""

    url: str = ""  # part of it, in any case
    kinds: frozenset[str] = frozenset()  # of ``KINDS``
    lowest: int = 0  # status
    highest: int = 999
    failed: bool = False

    def matches(self, exchange: Exchange) -> bool:
        """Say whether ``exchange`` is one of them."""
        status = status_of(exchange)
        return (
            self.url.lower() in exchange.url.lower()
            and (not self.kinds or exchange.kind.lower() in self.kinds)
            and self.lowest <= status <= self.highest
            and (not self.failed or bool(exchange.failure) or status >= 400)
        )

    def pick(self, exchanges: Iterable[Exchange]) -> list[Exchange]:
        """Return those of ``exchanges`` that match, in their order."""
        return [exchange for exchange in exchanges if self.matches(exchange)]


def read_wanted(url: str, kind: str, status: str, *, failed: bool) -> Wanted:
    """Return what a client asked for, in its words.

    Args:
        url: Part of the URL.
        kind: Kinds, with commas between them; all if empty.
        status: "404", "4xx" or "400-499"; any if empty.
        failed: Only what got no answer, or one of 400 and above.

    Raises:
        InvalidArgsError: There is no such kind, or that is no status.
    """
    kinds = frozenset(name for part in kind.split(",") if (name := part.strip().lower()))
    if unknown := sorted(kinds.difference(KINDS)):
        raise InvalidArgsError(
            f"there is no kind {', '.join(repr(name[:40]) for name in unknown[:3])}",
            hint="The kinds are " + ", ".join(KINDS) + ".",
        )
    if not status.strip():
        return Wanted(url, kinds, failed=failed)
    match = _STATUS.fullmatch(status.strip())
    if match is None:
        raise InvalidArgsError(
            f"status {status[:40]!r} is none", hint="Write 404, 4xx or 400-499."
        )
    first, last, hundreds = match.groups()
    lowest = int(hundreds) * 100 if hundreds else int(first)
    highest = lowest + 99 if hundreds else int(last or first)
    return Wanted(url, kinds, lowest, highest, failed)


def status_of(exchange: Exchange) -> int:
    """Return the status that ``exchange`` was answered with; 0 if it was not."""
    return exchange.response.status if exchange.response else 0


def brief(exchange: Exchange, *, reveal: bool = False) -> dict[str, Any]:
    """Return ``exchange`` as one of many; what is not there is left out."""
    url = exchange.url if reveal else redact_url(exchange.url)
    answer = exchange.response
    facts = {
        "id": exchange.number,
        "method": exchange.method,
        "url": url if len(url) <= MAX_SHOWN_URL else url[:MAX_SHOWN_URL] + "…",
        "kind": exchange.kind,
        "status": status_of(exchange) or None,
        "failure": exchange.failure,
        "cancelled": exchange.cancelled,
        "pending": exchange.ended is None and not exchange.failure,
        "ms": _duration(exchange),
        "bytes": int(exchange.transferred),
        "redirects": len(exchange.hops),
        "fromCache": exchange.cached or bool(answer and answer.from_disk_cache),
        "fromServiceWorker": bool(answer and answer.from_service_worker),
        "source": _source(exchange),
    }
    return {name: value for name, value in facts.items() if value not in (None, "", False, 0)}


def full(exchange: Exchange, *, reveal: bool = False) -> dict[str, Any]:
    """Return all that is known of ``exchange`` but its bodies."""
    url = (lambda given: given) if reveal else redact_url
    headers = dict if reveal else redact_headers
    answer = exchange.response
    facts: dict[str, Any] = brief(exchange, reveal=reveal) | {"url": url(exchange.url)}
    if answer is not None:
        address = answer.remote_ip_address.strip("[]")
        shown = f"[{address}]" if ":" in address else address
        facts |= {
            "statusText": answer.status_text,
            "mimeType": answer.mime_type,
            "protocol": answer.protocol,
            "remoteAddress": f"{shown}:{answer.remote_port}" if address else "",
            "serviceWorkerSource": answer.service_worker_response_source,
            "timing": _timing(exchange, answer.timing),
        }
    facts |= {
        "bodyBytes": exchange.body,
        "startedAt": round(exchange.wall_time * 1000),
        "initiator": _initiator(exchange.initiator, url),
        "redirects": [
            {
                "method": hop.method,
                "url": url(hop.url),
                "status": hop.response.status,
                "responseHeaders": headers(exchange.hop_headers(index)),
            }
            for index, hop in enumerate(exchange.hops)
        ],
        "blockedCookies": [
            {
                "name": cookie.name,
                "of": "response" if cookie.received else "request",
                "reasons": list(cookie.reasons),
            }
            for cookie in exchange.extras.blocked
        ],
    }
    if exchange.kind == "WebSocket":
        facts["frames"] = {
            "sent": exchange.frames[0],
            "sentCharacters": exchange.frame_bytes[0],
            "received": exchange.frames[1],
            "receivedCharacters": exchange.frame_bytes[1],
        }
    facts = {name: value for name, value in facts.items() if value not in (None, "", 0, [], {})}
    return facts | {
        "requestHeaders": headers(exchange.request_headers),
        "responseHeaders": headers(exchange.response_headers),
    }


def _source(exchange: Exchange) -> str:
    """Return who made the request, unless the top document did."""
    if exchange.source in {"", "iframe"}:
        return "" if exchange.main_frame else "frame"
    return exchange.source


def _duration(exchange: Exchange) -> float | None:
    if exchange.ended is None or not exchange.started:
        return None
    return max(round((exchange.ended - exchange.started) * 1000, 1), 0.0)


def _timing(exchange: Exchange, timing: Timing | None) -> dict[str, float]:
    """Return the milliseconds that each phase took; what did not happen is left out."""
    if timing is None:
        return {}
    phases = {}
    if timing.request_time and exchange.started:
        phases["queued"] = (timing.request_time - exchange.started) * 1000
    for name, (begin, end) in _PHASES.items():
        begun, ended = getattr(timing, begin), getattr(timing, end)
        if begun >= 0 and ended >= 0:
            phases[name] = ended - begun
    if exchange.ended is not None and timing.receive_headers_end >= 0:
        arrived = timing.request_time + timing.receive_headers_end / 1000
        phases["download"] = (exchange.ended - arrived) * 1000
    return {name: round(max(took, 0.0), 1) for name, took in phases.items()}


def _initiator(initiator: dict[str, Any], url: Any) -> dict[str, Any]:
    """Return what made the page ask: a script's line, the parser or the like."""
    frames = (initiator.get("stack") or {}).get("callFrames") or [{}]
    where = frames[0] if frames[0].get("url") else initiator
    facts = {
        "type": initiator.get("type", ""),
        "url": url(str(where.get("url", ""))[:1000]),
        "line": where["lineNumber"] + 1 if "lineNumber" in where else None,
        "function": str(where.get("functionName", ""))[:200],
    }
    return {name: value for name, value in facts.items() if value}
