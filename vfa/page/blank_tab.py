"""A tab beside the user's, for the storage of origins that no frame is of.

The storage of an origin can only be reached through a document of that origin. The documents
of this tab are empty and come from nowhere: each of its requests is answered here and never
sent, and it is closed in the end. Neither a server nor a page of the user's hears of it.

Source: CDP ``Fetch.fulfillRequest``, ``Network.setBypassServiceWorker``.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.cdp.session import Session
from vfa.errors import CdpError, ConnectionLostError, SessionGoneError, StorageError
from vfa.page.storage import Area

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vfa.cdp.connection import Connection
    from vfa.cdp.dialogue import Event

OPEN_BOUND = 5.0  # seconds to open the blank tab
CLOSE_BOUND = 2.0  # seconds to close the blank tab
OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


class _Made(msgspec.Struct, frozen=True, rename="camel"):
    target_id: str


class _Attached(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str


class _Navigated(msgspec.Struct, frozen=True, rename="camel"):
    error_text: str = ""


class _Paused(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str


class BlankTab:
    """A tab whose documents are empty and come from nowhere but here."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def prepare(self) -> None:
        """Let nothing out: not the navigation, not a service worker, nothing by the side."""
        self._session.listen(self._hear)
        self._session.post("Network.enable")
        self._session.post("Network.setBypassServiceWorker", {"bypass": True})
        self._session.post("Network.emulateNetworkConditions", OFFLINE)
        await self._session.call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def visit(self, origin: str) -> Area:
        """Go to an origin and return its local storage.

        Raises:
            StorageError: Chromium does not go there.
        """
        try:
            done = await self._session.call("Page.navigate", {"url": f"{origin}/"}, _Navigated)
        except CdpError as error:
            raise StorageError(f"{origin} cannot be reached: {error.message}") from None
        if done.error_text:
            raise StorageError(f"{origin} cannot be reached: {done.error_text}")
        return Area(self._session, f"{origin}/", local=True)

    def _hear(self, event: Event) -> None:
        if event.method == "Fetch.requestPaused":
            paused = msgspec.json.decode(event.params, type=_Paused)
            self._session.post(
                "Fetch.fulfillRequest",
                {
                    "requestId": paused.request_id,
                    "responseCode": 200,
                    "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
                },
            )


@asynccontextmanager
async def blank_tab(connection: Connection, context: str) -> AsyncIterator[BlankTab]:
    """Open a blank tab in a browser context for the length of the block.

    Raises:
        StorageError: The browser does not open it, or it was closed by somebody else.
    """
    blank = {"url": "about:blank", "browserContextId": context, "background": True}
    made = None
    # Shielded: a tab that is made for somebody who left would stay for ever.
    with trio.move_on_after(OPEN_BOUND, shield=True):
        made = await connection.call("Target.createTarget", blank, _Made)
    if made is None:
        raise StorageError("the browser opens no tab to reach the storage with")
    try:
        attached = await connection.call(
            "Target.attachToTarget", {"targetId": made.target_id, "flatten": True}, _Attached
        )
        tab = BlankTab(Session(connection, attached.session_id))
        await tab.prepare()
        yield tab
    except SessionGoneError as error:
        # The tab that is gone is this one, not the user's.
        raise StorageError(f"the tab that reads the storage was closed: {error}") from None
    finally:
        with trio.move_on_after(CLOSE_BOUND, shield=True):
            with suppress(CdpError, ConnectionLostError):
                await connection.call("Target.closeTarget", {"targetId": made.target_id})
