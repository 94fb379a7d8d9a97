"""The tool for cookies, local and session storage, and files of all of them."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import UNSET, Meta, UnsetType

from vfa.errors import InvalidArgsError
from vfa.page.origin import origin_of
from vfa.page.state import load_state, save_state
from vfa.page.state_file import MAX_FILE, read_state, write_state
from vfa.page.storage import (
    CookieFilter,
    area_of,
    delete_cookies,
    get_cookies,
    set_cookies,
)
from vfa.policy.paths import read_output, resolve_output, write_output
from vfa.policy.url import parse_url
from vfa.tools.answer import Answer, encoded_length, keep_fitting
from vfa.tools.fields import MAX_FILENAME, TabNumber, dialogs, navigation_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from pathlib import Path

    from vfa.engine import Engine
    from vfa.page.page import Page
    from vfa.page.state_file import State
    from vfa.page.storage import Cookie

logger = logging.getLogger(__name__)

SHOWN = 100  # entries, unless the caller says otherwise
SHOWN_VALUE = 2_000  # characters of a value in a list; all of it if it is asked for by name
PRIVATE = 0o600  # a state file is as good as a password
LEFT_OUT = "IndexedDB, caches and service workers are not part of a state file."

# --- browser_storage --------------------------------------------------------------------


class StorageArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_storage``."""

    action: Literal["get", "set", "delete", "clear", "save", "load"]
    area: Literal["cookies", "local", "session"] = "cookies"
    name: str = ""
    value: str = ""
    url: Annotated[str, Meta(description="Cookies sent there, or a frame's origin.")] = ""
    domain: str = ""
    path: str = ""
    http_only: bool = False
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] | UnsetType = UNSET
    expires: Annotated[float, Meta(ge=0, description="Unix seconds; 0: session.")] = 0
    filename: Annotated[str, Meta(max_length=MAX_FILENAME, description="Below OUTPUT_DIR.")] = (
        ""
    )
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=10_000)] = SHOWN
    tab: TabNumber = 0


async def storage(engine: Engine, arguments: StorageArguments, call: Call) -> Answer:
    """Do what ``action`` says with what ``area`` names."""
    _check(arguments)
    if arguments.action in {"save", "load"}:
        return await _file(engine, arguments)
    session = engine.tab(arguments.tab)
    on_page = _on_cookies if arguments.area == "cookies" else _on_area

    async def operation(page: Page) -> dict[str, Any]:
        return await on_page(page, arguments)

    run = session.read if arguments.action == "get" else session.act
    value = await run(operation)
    return Answer(value=value | dialogs(session), shorten=_shorten)


def _check(arguments: StorageArguments) -> None:
    """Refuse what cannot be meant, before a browser starts."""
    action, area = arguments.action, arguments.area
    if action in {"set", "delete"} and not arguments.name:
        raise InvalidArgsError(f"{action} needs the name of what is to be {action}")
    if action == "load" and not arguments.filename:
        raise InvalidArgsError("load needs the filename of a saved state")
    if arguments.url:
        parse_url(arguments.url)
    if area != "cookies" and (arguments.domain or arguments.path):
        raise InvalidArgsError(
            f"domain and path are of cookies; {area} storage is told apart by its origin",
            hint="Give the origin as url.",
        )


# --- cookies ----------------------------------------------------------------------------


async def _on_cookies(page: Page, arguments: StorageArguments) -> dict[str, Any]:
    wanted = CookieFilter(arguments.name, arguments.url, arguments.domain, path=arguments.path)
    if arguments.action == "get":
        cookies = await get_cookies(page, wanted)
        return _entries("cookies", [_cookie(cookie) for cookie in cookies], arguments)
    if arguments.action == "set":
        await set_cookies(page, [_parameters(page, arguments)])
        return {"action": "set", "area": "cookies", "name": arguments.name, "count": 1}
    count = await delete_cookies(page, wanted)
    return {"action": arguments.action, "area": "cookies", "count": count}


def _cookie(cookie: Cookie) -> dict[str, Any]:
    facts = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": cookie.expires,
        "session": cookie.expires < 0,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
    }
    if cookie.same_site:
        facts["sameSite"] = cookie.same_site
    if cookie.partition_key is not None:
        facts["partition"] = cookie.partition_key.top_level_site
    return facts


def _parameters(page: Page, arguments: StorageArguments) -> dict[str, Any]:
    """Return CDP ``Network.CookieParam``; whose cookie it is, is the page's URL by default."""
    parameters: dict[str, Any] = {
        "name": arguments.name,
        "value": arguments.value,
        "httpOnly": arguments.http_only,
        "secure": arguments.secure,
        # Not the URL's, as it would be otherwise: a cookie is meant for the site.
        "path": arguments.path or "/",
    }
    url = arguments.url or ("" if arguments.domain else page.documents.url)
    if arguments.domain:
        parameters["domain"] = "." + arguments.domain.lstrip(".")
    if url:
        if not origin_of(url):
            raise InvalidArgsError(
                "a cookie needs the url or the domain it is for: the page has none",
                hint="Give url, such as https://example.com/.",
            )
        parameters["url"] = url
    if arguments.same_site is not UNSET:
        parameters["sameSite"] = arguments.same_site
    if arguments.expires:
        parameters["expires"] = arguments.expires
    return parameters


# --- local and session storage ----------------------------------------------------------


async def _on_area(page: Page, arguments: StorageArguments) -> dict[str, Any]:
    origin = origin_of(arguments.url)
    area = await area_of(page, origin, local=arguments.area == "local")
    facts = {
        "action": arguments.action,
        "area": arguments.area,
        "origin": origin or origin_of(page.documents.url),
    }
    if arguments.action == "get":
        items = [
            _item(name, value, whole=bool(arguments.name))
            for name, value in await area.items()
            if arguments.name in {"", name}
        ]
        return _entries(arguments.area, items, arguments) | {"origin": facts["origin"]}
    page.acted = True
    if arguments.action == "set":
        await area.set(arguments.name, arguments.value)
        return facts | {"name": arguments.name, "count": 1}
    if arguments.action == "delete":
        return facts | {"count": int(await area.remove(arguments.name))}
    return facts | {"count": await area.clear()}


def _item(name: str, value: str, *, whole: bool) -> dict[str, Any]:
    if whole or len(value) <= SHOWN_VALUE:
        return {"name": name, "value": value}
    return {"name": name, "value": value[:SHOWN_VALUE] + "…", "length": len(value)}


# --- lists ------------------------------------------------------------------------------


def _entries(
    area: str, entries: list[dict[str, Any]], arguments: StorageArguments
) -> dict[str, Any]:
    value = {
        "area": area,
        "entries": entries[arguments.offset :][: arguments.limit],
        "count": len(entries),
        "offset": arguments.offset,
    }
    return value | _rest(value)


def _rest(value: dict[str, Any]) -> dict[str, Any]:
    """Say what a list leaves out, and how to get it."""
    end = value["offset"] + len(value["entries"])
    left = value["count"] - end
    if left <= 0:
        return {"truncated": False}
    return {"truncated": True, "note": f"{left} more: offset={end}, or name one of them."}


def _shorten(value: dict[str, Any], budget: int) -> dict[str, Any]:
    if "entries" not in value:
        return value
    rest = value | {"entries": []}
    rest |= _rest(rest | {"count": value["count"] + 1})
    kept = keep_fitting(value["entries"], budget - encoded_length(rest) - 20)
    if value["entries"] and not kept:  # one entry alone is too long
        entry = value["entries"][0]
        half = max(budget - encoded_length(rest), 0) // 8
        kept = [
            {
                name: each[:half] if isinstance(each, str) else each
                for name, each in entry.items()
            }
            | {"length": len(entry["value"])}
        ]
    shorter = value | {"entries": kept}
    return shorter | _rest(shorter)


# --- files ------------------------------------------------------------------------------


async def _file(engine: Engine, arguments: StorageArguments) -> Answer:
    root = engine.config.output_path
    name = state_name(arguments.filename, datetime.now(UTC))
    resolve_output(root, name)
    if arguments.action == "save":
        return Answer(value=await _save(engine, arguments, root, name))
    data = await trio.to_thread.run_sync(read_output, root, name, MAX_FILE)
    state = await trio.to_thread.run_sync(read_state, data)
    return Answer(value=await _load(engine, arguments, state, root / name))


async def _save(
    engine: Engine, arguments: StorageArguments, root: Path, name: str
) -> dict[str, Any]:
    session = engine.tab(arguments.tab)
    begun = time.monotonic()

    async def save(page: Page) -> State:
        return await save_state(page, page.network.origins)

    state = await session.read(save)

    def write() -> tuple[Path, int]:
        data = write_state(state)
        return write_output(root, name, data, mode=PRIVATE), len(data)

    path, size = await trio.to_thread.run_sync(write)
    logger.debug("state saved in %.1f s", time.monotonic() - begun)
    facts = {"action": "save", "path": str(path), "size": size, "mode": "0600"}
    return facts | state.counts() | {"note": LEFT_OUT} | dialogs(session)


async def _load(
    engine: Engine, arguments: StorageArguments, state: State, path: Path
) -> dict[str, Any]:
    session = engine.tab(arguments.tab)

    async def load(page: Page) -> bool:
        return await load_state(page, state)

    complete = await session.act(load)
    facts = {"action": "load", "path": str(path), **state.counts()}
    if not complete:
        assert state.session_storage is not None
        facts["note"] = (
            "Session storage was left out: go to a page of "
            f"{state.session_storage.origin} and load again."
        )
    else:
        facts["note"] = "Reload the page for it to see what was loaded."
    return facts | dialogs(session)


def state_name(filename: str, now: datetime) -> str:
    """Return the name of a state's file."""
    if not filename:
        return f"state-{now.strftime('%Y-%m-%dT%H-%M-%S')}.json"
    if filename.lower().endswith(".json") or filename.endswith(("/", "\\")):
        return filename
    return filename + ".json"


# --- the table ----------------------------------------------------------------------------

STORAGE: tuple[Tool, ...] = (
    Tool(
        name="browser_storage",
        description="Cookies of the whole browser, local or session storage of the page. "
        "save, load: all cookies and origins as a file; load replaces them.",
        hints=Hints(read_only=False, destructive=True),
        returns="get: `area`, `entries` (`name`, `value`; of cookies also `domain`, `path`, "
        "`expires`, `httpOnly`, `secure`, `sameSite`), `count`, `offset`, `truncated`, "
        "`note`. set, delete, clear: `action`, `area`, `count`. save, load: `action`, "
        "`path`, and how many `cookies`, `origins`, `localItems` and `sessionItems` the "
        "file holds; `note`.",
        arguments=StorageArguments,
        run=storage,
        default_timeout_ms=navigation_time,
    ),
)
