"""Cookies of a tab's browser context, and the web storage of its frames.

Everything is asked of the browser and not of the page: ``httpOnly`` cookies are seen, and no
script of the page's is run. Values never get into a log or an error.

Source: CDP ``Storage.getCookies``, ``Network.deleteCookies``, ``DOMStorage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import CdpError, SessionGoneError, StorageError
from vfa.page.origin import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vfa.cdp.session import Session
    from vfa.page.frames import Frame
    from vfa.page.page import Page

Items = tuple[tuple[str, str], ...]  # names and values, in the order of the browser


class Partition(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """CDP ``Network.CookiePartitionKey``: the site a partitioned cookie is kept for."""

    top_level_site: str
    has_cross_site_ancestor: bool = False


class Cookie(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """CDP ``Network.Cookie``, in part; the fields of other tools' state files, too."""

    name: str
    value: str
    domain: str  # begins with a dot if it is for sub-domains, too
    path: str = "/"
    expires: float = -1  # seconds since the epoch; -1: with the browser
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None  # Strict, Lax, None
    priority: str = "Medium"
    source_scheme: str = "Unset"
    source_port: int = -1
    partition_key: Partition | None = None

    def parameters(self) -> dict[str, Any]:
        """Return it as CDP ``Network.CookieParam``.

        A cookie of one host alone is set by URL: with a domain it would be for all below.
        """
        parameters = {
            "name": self.name,
            "value": self.value,
            "path": self.path,
            "httpOnly": self.http_only,
            "secure": self.secure,
            "priority": self.priority,
        }
        if self.domain.startswith("."):
            parameters["domain"] = self.domain
        else:
            secure = self.secure or self.source_scheme == "Secure"
            parameters["url"] = f"{'https' if secure else 'http'}://{self.domain}/"
        if self.expires >= 0:
            parameters["expires"] = self.expires
        if self.same_site:
            parameters["sameSite"] = self.same_site
        if self.source_scheme != "Unset":
            parameters["sourceScheme"] = self.source_scheme
            parameters["sourcePort"] = self.source_port
        if self.partition_key is not None:
            parameters["partitionKey"] = msgspec.to_builtins(self.partition_key)
        return parameters


class CookieFilter(msgspec.Struct, frozen=True):
    """Which cookies; each field narrows, and an empty one does not."""

    name: str = ""
    url: str = ""  # those that would be sent there
    domain: str = ""  # this one and all below it
    path: str = ""

    def matches(self, cookie: Cookie) -> bool:
        """Say whether ``cookie`` is one of them; the URL is for the browser to judge."""
        domain = self.domain.lstrip(".").lower()
        host = cookie.domain.lstrip(".").lower()
        return (
            self.name in {"", cookie.name}
            and self.path in {"", cookie.path}
            and (not domain or host == domain or host.endswith("." + domain))
        )


class _Cookies(msgspec.Struct, frozen=True):
    cookies: tuple[Cookie, ...]


class _Key(msgspec.Struct, frozen=True, rename="camel"):
    storage_key: str


class _Entries(msgspec.Struct, frozen=True):
    entries: tuple[tuple[str, str], ...]


# --- cookies ----------------------------------------------------------------------------


async def get_cookies(page: Page, wanted: CookieFilter) -> tuple[Cookie, ...]:
    """Return the cookies of the tab's context that ``wanted`` matches."""
    if wanted.url:
        answer = await page.session.call("Network.getCookies", {"urls": [wanted.url]}, _Cookies)
    else:
        answer = await page.session.call("Storage.getCookies", {}, _Cookies)
    return tuple(cookie for cookie in answer.cookies if wanted.matches(cookie))


async def set_cookies(page: Page, parameters: Iterable[dict[str, Any]]) -> None:
    """Set cookies, CDP ``Network.CookieParam``: all of them or none.

    Raises:
        StorageError: The browser refused one.
    """
    page.acted = True
    try:
        await page.session.call("Storage.setCookies", {"cookies": list(parameters)})
    except CdpError as error:
        raise StorageError(
            f"the browser refused the cookie: {error.message}",
            hint="Look at its name (__Host-, __Secure-), characters, domain and path; "
            "SameSite=None needs secure, and a secure cookie an https URL.",
        ) from None


async def delete_cookies(page: Page, wanted: CookieFilter) -> int:
    """Delete the cookies that ``wanted`` matches; return how many there were."""
    cookies = await get_cookies(page, wanted)
    page.acted = True
    if wanted == CookieFilter():
        await page.session.call("Storage.clearCookies")
        return len(cookies)
    for cookie in cookies:
        named: dict[str, Any] = {
            "name": cookie.name,
            "domain": cookie.domain,
            "path": cookie.path,
        }
        if cookie.partition_key is not None:
            named["partitionKey"] = msgspec.to_builtins(cookie.partition_key)
        await page.session.call("Network.deleteCookies", named)
    return len(cookies)


# --- local and session storage ----------------------------------------------------------


class Area:
    """The local or the session storage of one frame's origin.

    Args:
        session: Of the frame.
        key: CDP ``StorageKey``.
        local: Local rather than session storage.
    """

    def __init__(self, session: Session, key: str, *, local: bool) -> None:
        self._session = session
        self._id = {"storageKey": key, "isLocalStorage": local}

    async def items(self) -> Items:
        """Return everything in it."""
        entries: Items = (await self._call("getDOMStorageItems", _Entries)).entries
        return entries

    async def set(self, name: str, value: str) -> None:
        """Set one item.

        Raises:
            StorageError: The storage is full.
        """
        await self._call("setDOMStorageItem", key=name, value=value)
        await self._verify({name: value})

    async def remove(self, name: str) -> bool:
        """Remove one item; return whether there was one."""
        found = any(there == name for there, _ in await self.items())
        await self._call("removeDOMStorageItem", key=name)
        return found

    async def clear(self) -> int:
        """Remove all items; return how many there were."""
        count = len(await self.items())
        await self._call("clear")
        return count

    async def replace(self, items: Items) -> None:
        """Make ``items`` all that is in it.

        Raises:
            StorageError: They do not fit.
        """
        await self._call("clear")
        for name, value in items:
            parameters = {"storageId": self._id, "key": name, "value": value}
            self._session.post("DOMStorage.setDOMStorageItem", parameters)
        await self._verify(dict(items))

    async def _verify(self, expected: dict[str, str]) -> None:
        # An item that finds no room is not refused: it just is not there.
        there = dict(await self.items())
        if any(there.get(name) != value for name, value in expected.items()):
            raise StorageError(
                "the storage does not take it: an origin has room for about 5 MB",
                hint="Remove other items, or store less.",
            )

    async def _call(self, command: str, result: type[Any] = dict, **more: str) -> Any:
        return await self._session.call(
            f"DOMStorage.{command}", {"storageId": self._id, **more}, result
        )


async def area_of(page: Page, origin: str = "", *, local: bool) -> Area:
    """Return the storage of the page's origin, or of a frame's.

    Args:
        page: The tab.
        origin: Of one of its frames; the page's own if empty.
        local: Local rather than session storage.

    Raises:
        StorageError: No frame has that origin, or it has no storage.
    """
    frame = page.frames.main
    if origin and origin_of(frame.url or page.documents.url) != origin:
        frame = _frame_of(page, origin)
    try:
        key = await frame.session.call("Storage.getStorageKey", {"frameId": frame.id}, _Key)
        area = Area(frame.session, key.storage_key, local=local)
        await area.items()
    except (CdpError, SessionGoneError) as error:
        if isinstance(error, SessionGoneError) and frame.session is page.session:
            raise
        raise StorageError(
            f"the document at {(frame.url or page.documents.url)[:200]!r} has no storage",
            hint="Go to a page of the origin first: a blank, local or sandboxed one has none.",
        ) from None
    return area


def _frame_of(page: Page, origin: str) -> Frame:
    for frame in page.frames:
        if origin_of(frame.url) == origin:
            return frame
    there = dict.fromkeys(filter(None, (origin_of(frame.url) for frame in page.frames)))
    raise StorageError(
        f"no frame of this tab is of the origin {origin[:200]}",
        hint="Its frames are of "
        + (", ".join([*there][:10]) or "no http or https origin")
        + ".",
    )
