"""The tool that shows what a page asked of the network, and what it got."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import UNSET, Meta, UnsetType

from vfa.errors import RequestNotFoundError
from vfa.page.bodies import Body, request_body, response_body
from vfa.page.requests import Wanted, brief, full, read_wanted
from vfa.policy.redact_http import redact_body
from vfa.tools.answer import Answer, cut_text, encoded_length, keep_fitting
from vfa.tools.fields import TabNumber, dialogs, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.page.exchange import Exchange
    from vfa.page.page import Page

SHOWN = 50  # requests of a list, unless the caller says otherwise
SHOWN_BODY = 2_000  # characters of a body, likewise
LONG = 200_000  # characters that are searched for secrets in a thread

# --- browser_network --------------------------------------------------------------------


class NetworkArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_network``."""

    id: Annotated[int, Meta(ge=0, description="All about this one.")] = 0
    url: Annotated[str, Meta(description="Part of it.")] = ""
    kind: Annotated[
        str,
        Meta(description="document, script, image, fetch, xhr, websocket …"),
    ] = ""
    status: Annotated[str, Meta(description="404, 4xx or 400-499.")] = ""
    failed: Annotated[bool, Meta(description="Errors, blocked, status ≥ 400.")] = False
    order: Literal["newest", "oldest"] = "newest"
    offset: Annotated[int, Meta(ge=0, description="With id: in the bodies.")] = 0
    limit: Annotated[
        int, Meta(ge=0, le=1_000_000, description="Default 50; with id 2000 characters.")
    ] = 0
    reveal: Annotated[bool, Meta(description="Show secrets.")] = False
    clear: Annotated[bool, Meta(description="Then forget all.")] = False
    preserve: Annotated[
        bool | UnsetType, Meta(description="Keep the list over navigations.")
    ] = UNSET
    tab: TabNumber = 0


class _Listed(msgspec.Struct, frozen=True):
    """What the log of a page holds."""

    exchanges: tuple[Exchange, ...]
    dropped: int
    preserve: bool


async def network(engine: Engine, arguments: NetworkArguments, call: Call) -> Answer:
    """List the requests of a tab, or show one."""
    wanted = read_wanted(
        arguments.url, arguments.kind, arguments.status, failed=arguments.failed
    )
    session = engine.tab(arguments.tab)
    if arguments.preserve is not UNSET:
        # A page that takes the place of a crashed one shall go on in the same way.
        session.keep("network", _preserve if arguments.preserve else None)

    async def look(page: Page) -> _Listed | dict[str, Any]:
        if arguments.preserve is not UNSET:
            page.network.preserve = bool(arguments.preserve)
        if arguments.id:
            return await _one(page, arguments)
        log = page.network
        listed = _Listed(log.exchanges(), log.dropped, log.preserve)
        if arguments.clear:
            log.clear()
        return listed

    seen = await session.read(look)
    if isinstance(seen, dict):
        return Answer(value=seen | dialogs(session), shorten=_shorten_one)
    return Answer(
        value=_list(seen, wanted, arguments) | dialogs(session), shorten=_shorten_list
    )


async def _preserve(page: Page) -> None:
    page.network.preserve = True


def _list(seen: _Listed, wanted: Wanted, arguments: NetworkArguments) -> dict[str, Any]:
    found = wanted.pick(seen.exchanges)
    if arguments.order == "newest":
        found.reverse()
    shown = found[arguments.offset :][: arguments.limit or SHOWN]
    value: dict[str, Any] = {
        "requests": [brief(exchange, reveal=arguments.reveal) for exchange in shown],
        "count": len(found),
        "total": len(seen.exchanges),
        "dropped": seen.dropped,
        "offset": arguments.offset,
        "order": arguments.order,
        "preserve": seen.preserve,
        "cleared": arguments.clear,
    }
    return value | _rest(value)


def _rest(value: dict[str, Any]) -> dict[str, Any]:
    """Say what a list leaves out, and how to get it."""
    end = value["offset"] + len(value["requests"])
    left = value["count"] - end
    if left <= 0:
        return {"truncated": False}
    if value["cleared"]:
        return {"truncated": True, "note": f"{left} more were left out, and are cleared."}
    return {"truncated": True, "note": f"{left} more: offset={end}, or narrow the list."}


def _shorten_list(value: dict[str, Any], budget: int) -> dict[str, Any]:
    rest = value | {"requests": []}
    rest |= _rest(rest | {"count": value["count"] + 1})
    kept = keep_fitting(value["requests"], budget - encoded_length(rest) - 20)
    shorter = value | {"requests": kept}
    return shorter | _rest(shorter)


# --- one request --------------------------------------------------------------------------


async def _one(page: Page, arguments: NetworkArguments) -> dict[str, Any]:
    exchange = page.network.by_number(arguments.id)
    if exchange is None:
        raise RequestNotFoundError(
            f"there is no request {arguments.id} in the log of this tab",
            hint="List them anew: a navigation empties the log, unless preserve is true.",
        )
    value = full(exchange, reveal=arguments.reveal)
    for name, body in (
        ("requestBody", await request_body(page, exchange)),
        ("responseBody", await response_body(page, exchange)),
    ):
        if body is not None:
            value[name] = await _show(body, arguments)
    return value


async def _show(body: Body, arguments: NetworkArguments) -> dict[str, Any]:
    """Return the part of a body that was asked for: text as text, all else as base64."""
    if body.missing:
        return {"missing": body.missing}
    start, end = arguments.offset, arguments.offset + (arguments.limit or SHOWN_BODY)
    if body.data is not None:
        part = body.data[start:end]
        shown: dict[str, Any] = {"base64": base64.b64encode(part).decode(), "unit": "bytes"}
        size = len(body.data)
    else:
        text = body.text or ""
        if not arguments.reveal:
            text = await _redacted(text)
        shown, size = {"text": text[start:end]}, len(text)
    shown |= {"size": size, "offset": start, "truncated": end < size}
    if end < size:
        shown["next"] = f"offset={end}"
    return shown


async def _redacted(text: str) -> str:
    if len(text) < LONG:
        return redact_body(text)
    return await trio.to_thread.run_sync(redact_body, text)


def _shorten_one(value: dict[str, Any], budget: int) -> dict[str, Any]:
    """Cut the bodies, then leave out the headers, the longest part first."""
    for name in ("responseBody", "requestBody"):
        if (over := encoded_length(value) - budget) > 0 and name in value:
            value = value | {name: _cut_body(value[name], over)}
    for name in ("redirects", "responseHeaders", "requestHeaders"):
        if encoded_length(value) > budget and name in value:
            value = value | {name: f"left out: {len(value[name])} entries, too long"}
    return value


def _cut_body(shown: dict[str, Any], over: int) -> dict[str, Any]:
    for field in ("text", "base64"):
        if field in shown:
            # A little less than fits: what follows says where to go on.
            room = max(encoded_length(shown[field]) - over - 60, 0)
            # Base64 can be cut after each group of four characters, which is three bytes.
            kept = (
                cut_text(shown[field], room) if field == "text" else shown[field][: room & ~3]
            )
            end = shown["offset"] + (len(kept) if field == "text" else len(kept) // 4 * 3)
            return shown | {field: kept, "truncated": True, "next": f"offset={end}"}
    return shown


# --- the table ------------------------------------------------------------------------------

NETWORK: tuple[Tool, ...] = (
    Tool(
        name="browser_network",
        description="Requests since the page was loaded, frames and workers included, "
        "filtered; or one with headers, timing, bodies. Secrets are hidden.",
        hints=Hints(read_only=True),
        returns="`requests`: each `id`, `method`, `url`, `kind`, and, where there is one, "
        "`status`, `failure` (also why it was blocked), `cancelled`, `pending`, `ms`, "
        "`bytes`, `redirects`, `fromCache`, `fromServiceWorker`, `source` (frame, "
        "worker, service_worker); `count`, `total`, `dropped`, `offset`, `order`, "
        "`preserve`, `cleared`, `truncated`, `note`. With `id`: besides "
        "`requestHeaders`, `responseHeaders`, `timing` (ms), `remoteAddress`, "
        "`initiator`, the chain of `redirects`, `blockedCookies`, `frames` of a "
        "WebSocket, and `requestBody`, `responseBody`: `text` or `base64`, `size`, "
        "`truncated`, `next`, or why it is `missing`.",
        arguments=NetworkArguments,
        run=network,
        default_timeout_ms=tool_time,
    ),
)
