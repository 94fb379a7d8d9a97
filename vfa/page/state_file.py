"""The file that a browser context's state is kept in, and what may be in it. Pure.

The form is the one that other browser tools write and read as "storage state", with a version
and the session storage of one page besides. IndexedDB, caches and service workers are not
part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from vfa.errors import StateError
from vfa.page.origin import origin_of
from vfa.page.storage import Cookie, Items  # noqa: TC001  # msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
MAX_FILE = 64_000_000  # bytes; a dozen origins with all the storage they can have
MAX_ORIGINS = 1_000
MAX_COOKIES = 10_000
SAME_SITE = frozenset({None, "Strict", "Lax", "None"})


class Item(msgspec.Struct, frozen=True):
    """One item of a local or session storage."""

    name: str
    value: str


class OriginState(msgspec.Struct, frozen=True, rename="camel"):
    """What an origin has stored."""

    origin: str
    local_storage: tuple[Item, ...] = ()

    @property
    def items(self) -> Items:
        """The items as pairs."""
        return tuple((item.name, item.value) for item in self.local_storage)


class SessionState(msgspec.Struct, frozen=True):
    """The session storage of the page that was open."""

    origin: str
    items: tuple[Item, ...] = ()


class State(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """All of a file."""

    version: int = 0  # 0: another tool's, which says none
    saved_at: str = ""  # UTC
    cookies: tuple[Cookie, ...] = ()
    origins: tuple[OriginState, ...] = ()
    session_storage: SessionState | None = None

    def counts(self) -> dict[str, int]:
        """Return how much there is of everything."""
        return {
            "cookies": len(self.cookies),
            "origins": len(self.origins),
            "localItems": sum(len(origin.local_storage) for origin in self.origins),
            "sessionItems": len(self.session_storage.items) if self.session_storage else 0,
        }


class _Version(msgspec.Struct, frozen=True):
    version: Any = 0


def write_state(state: State) -> bytes:
    """Return ``state`` as the contents of a file.

    Raises:
        StateError: It is too large to be read again.
    """
    data = msgspec.json.format(msgspec.json.encode(state), indent=1)
    if len(data) > MAX_FILE:
        raise StateError(
            f"the state has {len(data)} bytes; a file may have {MAX_FILE}",
            hint="Clear the local storage of origins that do not matter.",
        )
    return data


def read_state(data: bytes) -> State:
    """Return the state in a file's contents, checked as a whole.

    Raises:
        StateError: It is not one, is of another version, or holds what no browser takes.
    """
    try:
        version = msgspec.json.decode(data, type=_Version).version
        if version not in (0, VERSION) or isinstance(version, bool):
            raise StateError(
                f"the state file is of version {str(version)[:40]!r}; known is {VERSION}",
                hint="Save it anew with this version of the tool.",
            )
        state = msgspec.json.decode(data, type=State)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # What msgspec says names the place and the type, never the value.
        raise StateError(
            f"this is no state file: {error}",
            hint="Give a file that browser_storage has saved (action=save).",
        ) from None
    _check(state)
    return msgspec.structs.replace(state, origins=_merged(state.origins))


def _check(state: State) -> None:
    if len(state.origins) > MAX_ORIGINS or len(state.cookies) > MAX_COOKIES:
        raise StateError(
            f"the state file holds more than {MAX_ORIGINS} origins or {MAX_COOKIES} cookies"
        )
    for number, cookie in enumerate(state.cookies):
        if not cookie.domain.strip(".") or not (cookie.name or cookie.value):
            raise StateError(f"cookie {number} of the state file has no domain or no name")
        if cookie.same_site not in SAME_SITE:
            raise StateError(f"cookie {number} of the state file has a wrong sameSite")
    origins = [state.origins, (state.session_storage,) if state.session_storage else ()]
    for origin in (each.origin for group in origins for each in group):
        _check_origin(origin)


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin) if origin_of(origin) else None
    if parts is None or parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise StateError(f"the state file names {origin[:200]!r}, which is no http(s) origin")


def _merged(origins: Iterable[OriginState]) -> tuple[OriginState, ...]:
    """Return one entry an origin, in its usual spelling; the last one counts."""
    by_origin = {origin_of(each.origin): each.local_storage for each in origins}
    return tuple(OriginState(origin, items) for origin, items in by_origin.items())
