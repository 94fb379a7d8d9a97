"""Saving and loading the state of a browser context: cookies, and storage over all origins.

Source: CDP ``DOMStorage.setDOMStorageItem``, ``Storage.setCookies``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import StorageError, VfaError
from vfa.page.blank_tab import blank_tab
from vfa.page.origin import origin_of
from vfa.page.state_file import VERSION, Item, OriginState, SessionState, State
from vfa.page.storage import (
    Cookie,
    CookieFilter,
    Items,
    area_of,
    get_cookies,
    set_cookies,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.page.page import Page

UNDO_BOUND = 5.0  # seconds to put things back after a failure


class _Info(msgspec.Struct, frozen=True, rename="camel"):
    target_id: str
    type: str = ""
    url: str = ""
    browser_context_id: str = ""


class _OneInfo(msgspec.Struct, frozen=True, rename="camel"):
    target_info: _Info


class _AllInfos(msgspec.Struct, frozen=True, rename="camel"):
    target_infos: tuple[_Info, ...]


async def save_state(page: Page, origins: Iterable[str]) -> State:
    """Return the state of the tab's context.

    Args:
        page: The tab; its session storage is part of the state.
        origins: Where the tab has been; those of all frames and tabs are asked for besides.

    Raises:
        StorageError: An origin cannot be reached.
    """
    context = await _context_of(page)
    infos = (await page.connection.call("Target.getTargets", {}, _AllInfos)).target_infos
    known = [*origins]
    known += [origin_of(info.url) for info in infos if info.browser_context_id == context]
    known += [origin_of(frame.url) for frame in page.frames]
    stored: dict[str, Items] = {}
    async with blank_tab(page.connection, context) as tab:
        for origin in dict.fromkeys(filter(None, known)):
            stored[origin] = await (await tab.visit(origin)).items()
    return State(
        version=VERSION,
        saved_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        cookies=await get_cookies(page, CookieFilter()),
        origins=tuple(OriginState(o, _as_items(items)) for o, items in stored.items() if items),
        session_storage=await _session_state(page),
    )


async def load_state(page: Page, state: State) -> bool:
    """Make ``state`` the state of the tab's context; return whether all of it fitted.

    All cookies are replaced, and the local storage of each origin in ``state``; that of other
    origins stays. The session storage can only be restored if the page is of its origin:
    that is what may not have fitted.

    If anything fails, or the caller gives up, what was changed is put back.

    Raises:
        StorageError: The browser refused a cookie, or an item.
    """
    context = await _context_of(page)
    cookies = await get_cookies(page, CookieFilter())
    changed: dict[str, Items] = {}
    page.acted = True
    try:
        async with blank_tab(page.connection, context) as tab:
            for wanted in state.origins:
                area = await tab.visit(wanted.origin)
                changed[wanted.origin] = await area.items()
                await area.replace(wanted.items)
        await _replace_cookies(page, state.cookies)
        return await _restore_session(page, state.session_storage)
    except (VfaError, trio.Cancelled):
        with trio.move_on_after(UNDO_BOUND, shield=True):
            await _undo(page, context, cookies, changed)
        raise


async def _undo(
    page: Page, context: str, cookies: tuple[Cookie, ...], changed: dict[str, Items]
) -> None:
    try:
        await _replace_cookies(page, cookies)
        async with blank_tab(page.connection, context) as tab:
            for origin, items in changed.items():
                await (await tab.visit(origin)).replace(items)
    except VfaError:
        return  # the browser is going, and what it holds with it


async def _replace_cookies(page: Page, cookies: tuple[Cookie, ...]) -> None:
    await page.session.call("Storage.clearCookies")
    if cookies:
        await set_cookies(page, [cookie.parameters() for cookie in cookies])


async def _session_state(page: Page) -> SessionState | None:
    try:
        items = await (await area_of(page, local=False)).items()
    except StorageError:
        return None  # a blank page
    if not items:
        return None
    return SessionState(origin_of(page.documents.url), _as_items(items))


async def _restore_session(page: Page, wanted: SessionState | None) -> bool:
    if wanted is None:
        return True
    if origin_of(page.documents.url) != origin_of(wanted.origin):
        return False
    area = await area_of(page, local=False)
    before = await area.items()
    try:
        await area.replace(tuple((item.name, item.value) for item in wanted.items))
    except (VfaError, trio.Cancelled):
        with trio.move_on_after(UNDO_BOUND, shield=True):
            await area.replace(before)
        raise
    return True


async def _context_of(page: Page) -> str:
    about = {"targetId": page.target_id}
    answer = await page.connection.call("Target.getTargetInfo", about, _OneInfo)
    return answer.target_info.browser_context_id


def _as_items(items: Items) -> tuple[Item, ...]:
    return tuple(Item(name, value) for name, value in items)
