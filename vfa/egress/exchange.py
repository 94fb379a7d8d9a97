"""One connection of Chromium's to the proxy: requests in turn, or one tunnel.

The parsing is h11's, both ways. A request comes with a whole URL and leaves with a path, to a
connection that is kept for the next request as long as that is for the same place. Bodies
stream: what the slower side does not take is not read from the faster one.

Where nothing can be connected to, the connection ends without an answer. Any answer would be
taken for the server's, and a page could read it; so Chromium sees a failed request, and the
listener's record has the reason.

Source: RFC 9110 (7.6 forwarding, 9.3.6 CONNECT), RFC 9112.
"""

from __future__ import annotations

import hmac
import logging
import select
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import h11
import trio

from vfa.egress.dial import DialError, Dialled
from vfa.egress.refusals import Failure
from vfa.errors import InvalidUrlError
from vfa.policy.url import parse_url

if TYPE_CHECKING:
    from vfa.egress.dial import Dialler
    from vfa.egress.refusals import Record

logger = logging.getLogger(__name__)

CHUNK = 65_536  # bytes read at a time where they are parsed
BULK = 524_288  # … and where they are passed on as they are
MAX_HEAD = 262_144  # bytes of a request's or an answer's head
HEADER_TIMEOUT = 30.0  # seconds from the first byte of a request to the end of its head
IDLE_TIMEOUT = 120.0  # seconds that a connection may wait for its next request
STREAM_TIMEOUT = 3600.0  # seconds without a byte in either direction
LINGER = 30.0  # seconds that one direction of a tunnel may go on after the other has ended

HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
    )
)
GONE = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
# How an exchange may end by what the other side does: it left, spoke nonsense, or nothing.
ENDS = (*GONE, h11.RemoteProtocolError, h11.LocalProtocolError, trio.TooSlowError)


class Exchange:
    """Serves one connection.

    Args:
        stream: Chromium's end.
        dialler: Connects to what the policy allows.
        record: Where failures are noted.
        authorization: The value of Proxy-Authorization that is expected.
        greeting: The URL that Chromium is made to ask for first, for the secret's sake.
    """

    def __init__(
        self,
        stream: trio.SocketStream,
        dialler: Dialler,
        record: Record,
        *,
        authorization: bytes,
        greeting: bytes,
    ) -> None:
        self._stream = stream
        self._dialler = dialler
        self._record = record
        self._authorization = authorization
        self._greeting = greeting
        self._client = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._server: h11.Connection | None = None
        self._dialled: Dialled | None = None
        self._place = ("", 0)

    async def serve(self) -> None:
        """Serve until the connection ends, by whatever cause."""
        try:
            with suppress(*ENDS, DialError):
                while await self._one_request():
                    pass
        finally:
            await self._hang_up()  # noqa: ASYNC102  # shields itself, and closes at once

    async def _one_request(self) -> bool:
        """Serve a request; return whether another may follow on this connection."""
        request = await self._next_request()
        if request is None:
            return False
        if not self._is_authorized(request):
            self._record.strangers += 1
            return await self._answer_empty(407)
        if request.target == self._greeting:
            return await self._answer_empty(204)
        if request.method == b"CONNECT":
            await self._tunnel(request)
            return False
        before = self._client
        await self._forward(request)
        return self._client is not before or self._is_ready_for_the_next()

    async def _next_request(self) -> h11.Request | None:
        limit = IDLE_TIMEOUT
        while True:
            event = self._client.next_event()
            if isinstance(event, h11.Request):
                return event
            if event is not h11.NEED_DATA:
                return None
            with trio.move_on_after(limit) as bound:
                self._client.receive_data(await self._stream.receive_some(CHUNK))
            if bound.cancelled_caught:
                return None
            limit = HEADER_TIMEOUT

    def _is_authorized(self, request: h11.Request) -> bool:
        given = next(
            (value for name, value in request.headers if name == b"proxy-authorization"), b""
        )
        return hmac.compare_digest(given, self._authorization)

    async def _answer_empty(self, status: int) -> bool:
        """Answer without content; return whether another request may follow.

        With 407, Chromium is asked for the secret, which it has, and nobody else here.
        """
        await self._read_body(None)
        headers = [(b"Content-Length", b"0")] if status != 204 else []
        if status == 407:
            headers.append((b"Proxy-Authenticate", b'Basic realm="vfa"'))
        await self._say(self._client.send(h11.Response(status_code=status, headers=headers)))
        await self._say(self._client.send(h11.EndOfMessage()))
        return self._is_ready_for_the_next()

    def _is_ready_for_the_next(self) -> bool:
        if self._client.our_state is not h11.DONE or self._client.their_state is not h11.DONE:
            return False
        self._client.start_next_cycle()
        return True

    # --- a request --------------------------------------------------------------------------

    async def _forward(self, request: h11.Request) -> None:
        host, port, path = _target_of(request)
        server, dialled = await self._server_for(host, port)
        target = path
        headers = [
            (name, value)
            for name, value in request.headers.raw_items()
            if name.lower() not in HOP_BY_HOP
        ]
        if dialled.upstream is not None:
            target = request.target
            if dialled.upstream.authorization:
                value = dialled.upstream.authorization.encode("ascii")
                headers.append((b"Proxy-Authorization", value))
        head = h11.Request(method=request.method, target=target, headers=headers)
        await self._tell(server.send(head))
        if _has_no_body(request):
            await self._read_body(server)
            await self._relay_answer(server)
        else:
            await self._converse(server)
        if self._server is not server:
            return  # the answer went by without being read: both sides were made anew
        if server.our_state is h11.DONE and server.their_state is h11.DONE:
            server.start_next_cycle()
        else:
            await self._hang_up()

    async def _converse(self, server: h11.Connection) -> None:
        """Pass on the body of a request while its answer may come already."""
        complete = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send_body, server)
            with suppress(*ENDS):
                await self._relay_answer(server)
                complete = True
            # A server that has answered need not be told the rest.
            nursery.cancel_scope.cancel(reason="the answer is complete")
        if not complete:
            raise trio.BrokenResourceError("the server left before its answer was complete")

    async def _server_for(self, host: str, port: int) -> tuple[h11.Connection, Dialled]:
        if self._dialled is not None and self._server is not None:
            if self._place == (host, port) and not _has_ended(self._dialled.stream):
                return self._server, self._dialled
            await self._hang_up()
        self._dialled = await self._dial(host, port, tunnel=False)
        self._place = (host, port)
        self._server = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        return self._server, self._dialled

    async def _dial(self, host: str, port: int, *, tunnel: bool) -> Dialled:
        try:
            dialled = await self._dialler.dial(host, port, tunnel=tunnel)
        except DialError as error:
            self._record.fail(error.failure)
            if error.failure.by_policy:
                logger.info("egress: %s port %d refused", host, port)
            raise
        self._record.reach(host, port, dialled.address)
        return dialled

    async def _send_body(self, server: h11.Connection) -> None:
        with suppress(*ENDS):
            await self._read_body(server)

    async def _read_body(self, server: h11.Connection | None) -> None:
        """Pass the body of the request on; without a server, read it and drop it."""
        while True:
            event = self._client.next_event()
            if event is h11.NEED_DATA:
                if self._client.they_are_waiting_for_100_continue:
                    go_on = h11.InformationalResponse(status_code=100, headers=[])
                    await self._say(self._client.send(go_on))
                with trio.fail_after(STREAM_TIMEOUT):
                    self._client.receive_data(await self._stream.receive_some(CHUNK))
            elif isinstance(event, h11.Data):
                if server is not None:
                    await self._tell(server.send(event))
            else:
                if server is not None and isinstance(event, h11.EndOfMessage):
                    await self._tell(server.send(h11.EndOfMessage(headers=event.headers)))
                return

    async def _relay_answer(self, server: h11.Connection) -> None:
        assert self._dialled is not None
        stream = self._dialled.stream
        out: list[bytes] = []  # what is read together is written together
        rest: int | None = None  # bytes of the body that are still to come, if known
        keeps = True
        while True:
            event = server.next_event()
            if event is h11.NEED_DATA:
                await self._say(b"".join(out))
                out.clear()
                if rest is not None and rest > 0 and self._client.their_state is h11.DONE:
                    return await self._relay_bytes(stream, rest, keeps=keeps)
                with trio.fail_after(STREAM_TIMEOUT):
                    server.receive_data(await stream.receive_some(CHUNK))
            elif isinstance(event, h11.Data):
                out += self._client.send_with_data_passthrough(event) or ()
                if rest is not None:
                    rest -= len(event.data)
            elif isinstance(event, h11.Response):
                out.append(self._client.send(_plain(event)) or b"")
                rest, keeps = _length_of(event), _is_kept(event)
            elif isinstance(event, h11.EndOfMessage):
                out.append(self._client.send(h11.EndOfMessage(headers=event.headers)) or b"")
                return await self._say(b"".join(out))
            elif isinstance(event, h11.InformationalResponse):
                # 100 was said by us; 101 cannot come, for no upgrade was asked for.
                if event.status_code not in {100, 101}:
                    out.append(self._client.send(_plain(event)) or b"")
            else:
                raise h11.RemoteProtocolError("the server left before its answer was complete")

    async def _relay_bytes(self, stream: trio.SocketStream, rest: int, *, keeps: bool) -> None:
        """Pass on what is left of a body whose length is known, without looking at it."""
        while rest:
            with trio.fail_after(STREAM_TIMEOUT):
                data = await stream.receive_some(min(rest, BULK))
            if not data:
                raise h11.RemoteProtocolError("the server left before its answer was complete")
            await self._stream.send_all(data)
            rest -= len(data)
        early, _ = self._client.trailing_data
        self._client = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._client.receive_data(early) if early else None
        if keeps:
            self._server = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        else:
            await self._hang_up()

    # --- a tunnel ---------------------------------------------------------------------------

    async def _tunnel(self, request: h11.Request) -> None:
        host, port = _place_of(request.target)
        try:
            self._dialled = await self._dial(host, port, tunnel=True)
        except DialError:
            # Not an answer that a page could read: to Chromium, the tunnel failed.
            await self._answer_empty(502)  # noqa: ASYNC120  # cancelled, nothing is left to tell
            raise
        other = self._dialled.stream
        await self._say(self._client.send(h11.Response(status_code=200, headers=[])))
        early, _ = self._client.trailing_data
        if early:
            await other.send_all(early)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_copy, self._stream, other, nursery.cancel_scope)
            nursery.start_soon(_copy, other, self._stream, nursery.cancel_scope)

    # --- bytes ------------------------------------------------------------------------------

    async def _say(self, data: bytes | None) -> None:
        if data:
            await self._stream.send_all(data)

    async def _tell(self, data: bytes | None) -> None:
        if data and self._dialled is not None:
            await self._dialled.stream.send_all(data)

    async def _hang_up(self) -> None:
        dialled, self._dialled, self._server = self._dialled, None, None
        if dialled is not None:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(dialled.stream)


async def _copy(
    source: trio.SocketStream, sink: trio.SocketStream, both: trio.CancelScope
) -> None:
    """Pass bytes on until the source ends; then the other direction has a while left."""
    with suppress(*GONE):
        while True:
            with trio.move_on_after(STREAM_TIMEOUT) as bound:
                data = await source.receive_some(CHUNK)
            if bound.cancelled_caught or not data:
                break
            await sink.send_all(data)
        await sink.send_eof()
        both.deadline = min(both.deadline, trio.current_time() + LINGER)
        return
    both.cancel(reason="one end of the tunnel is gone")


def _target_of(request: h11.Request) -> tuple[str, int, bytes]:
    """Return host, port and path of a request with a whole URL."""
    target = request.target
    if not target.startswith(b"http://"):
        raise DialError(Failure("", 0, "net::ERR_INVALID_URL", "not an http URL"))
    starts = (target.find(sign, len(b"http://")) for sign in (b"/", b"?"))
    at = min((start for start in starts if start >= 0), default=len(target))
    path = target[at:] or b"/"
    return *_place_of(target[len(b"http://") : at]), path if path[:1] == b"/" else b"/" + path


@lru_cache(1024)
def _place_of(authority: bytes) -> tuple[str, int]:
    """Return host and port of a URL's authority, or of a CONNECT."""
    try:
        parsed = parse_url(f"http://{authority.decode('ascii', 'replace')}/")
    except InvalidUrlError as error:
        raise DialError(Failure("", 0, "net::ERR_INVALID_URL", error.message)) from None
    return parsed.host, parsed.port


def _plain(answer: h11.Response | h11.InformationalResponse) -> h11.Event:
    """Return an answer's head without what was meant for us."""
    headers = [
        (name, value)
        for name, value in answer.headers.raw_items()
        if name.lower() not in HOP_BY_HOP
    ]
    return type(answer)(status_code=answer.status_code, headers=headers, reason=answer.reason)


def _has_no_body(request: h11.Request) -> bool:
    return not any(
        name in {b"content-length", b"transfer-encoding", b"expect"}
        for name, _ in request.headers
    )


def _length_of(answer: h11.Response) -> int | None:
    """Return the length of an answer's body, if it has one and says how long it is."""
    for name, value in answer.headers:
        if name == b"content-length":
            return int(value)  # h11 has checked it
    return None


def _is_kept(answer: h11.Response) -> bool:
    """Say whether the server keeps its connection after this answer."""
    if answer.http_version < b"1.1":
        return False
    return not any(
        name == b"connection" and b"close" in value.lower() for name, value in answer.headers
    )


def _has_ended(stream: trio.SocketStream) -> bool:
    """Say whether a kept connection was closed, or spoken on, by the server meanwhile."""
    readable, _, _ = select.select([stream.socket.fileno()], [], [], 0)
    return bool(readable)
