"""What a request sent and what it was answered with, as far as Chromium still has it.

Chromium keeps bodies in the renderer that made the request, up to a bound, and lets go of
them with the document. So each of them may be missing, and the reason is part of the answer.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from vfa.cdp.session import Session
from vfa.errors import CdpError, SessionGoneError

if TYPE_CHECKING:
    from vfa.page.exchange import Exchange
    from vfa.page.page import Page

MAX_BODY = 8_000_000  # bytes; more is not fetched from the renderer
WITHOUT_BODY = frozenset({101, 204, 205, 304})


class Body(msgspec.Struct, frozen=True):
    """One body, or why there is none: exactly one of the three is there."""

    text: str | None = None
    data: bytes | None = None  # of what is no text
    missing: str = ""


class _Answered(msgspec.Struct, frozen=True, rename="camel"):
    body: str
    base64_encoded: bool = False


class _Posted(msgspec.Struct, frozen=True, rename="camel"):
    post_data: str
    base64_encoded: bool = False


async def request_body(page: Page, exchange: Exchange) -> Body | None:
    """Return what ``exchange`` sent; None if that was nothing."""
    if exchange.post_data is not None:
        return Body(text=exchange.post_data)
    if not exchange.has_post_data:
        return None
    session = _session_of(page, exchange)
    try:
        posted = await session.call(
            "Network.getRequestPostData", {"requestId": exchange.id}, _Posted
        )
    except (CdpError, SessionGoneError) as error:
        return Body(missing=_why(error, page, session))
    return _body(posted.post_data, encoded=posted.base64_encoded)


async def response_body(page: Page, exchange: Exchange) -> Body | None:
    """Return what ``exchange`` was answered with; None if that can be nothing."""
    if exchange.response is None or exchange.failure or exchange.kind == "WebSocket":
        return None
    if exchange.method == "HEAD" or exchange.response.status in WITHOUT_BODY:
        return None
    if exchange.ended is None:
        return Body(missing="It has not arrived completely yet.")
    if exchange.body > MAX_BODY:
        return Body(missing=f"It has {exchange.body} bytes; at most {MAX_BODY} are read.")
    session = _session_of(page, exchange)
    try:
        answered = await session.call(
            "Network.getResponseBody", {"requestId": exchange.id}, _Answered
        )
    except (CdpError, SessionGoneError) as error:
        return Body(missing=_why(error, page, session))
    if not answered.body and exchange.body:
        return Body(missing="The page took it in a way that leaves Chromium nothing to show.")
    return _body(answered.body, encoded=answered.base64_encoded)


def _session_of(page: Page, exchange: Exchange) -> Session:
    if exchange.session_id in {"", page.session.id}:
        return page.session
    return Session(page.connection, exchange.session_id)


def _body(text: str, *, encoded: bool) -> Body:
    if not encoded:
        return Body(text=text)
    data = base64.b64decode(text)
    try:
        # Chromium takes whatever came without a type of text for binary.
        decoded = data.decode()
    except UnicodeDecodeError:
        return Body(data=data)
    return Body(data=data) if "\0" in decoded else Body(text=decoded)


def _why(error: CdpError | SessionGoneError, page: Page, session: Session) -> str:
    """Return in words why there is no body; the page's own end is passed on.

    Raises:
        SessionGoneError: The page itself is gone.
    """
    if isinstance(error, SessionGoneError):
        if session is page.session:
            raise error
        return "Its frame or worker is gone, and the body with it."
    return (
        "Chromium no longer has it: bodies are kept while their document is there, "
        "1 MB each and 10 MB together."
    )
