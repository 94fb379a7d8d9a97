"""The requests of a page: a bounded log fed by CDP events, and what is in flight now.

Source: CDP ``Network`` domain. Requests of child sessions (out-of-process frames, workers)
are fed in by ``Page`` as they are attached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import trio

from vfa.page.records import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.cdp.dialogue import Event

CAPACITY = 5_000  # requests kept for a page; a page can make 50,000
MAX_URL = 4_000  # characters of a URL kept; data: URLs can be megabytes
LONG_POLL = 5.0  # seconds after which an open request no longer counts as loading
# Kinds that stay open by design: silence on the network does not wait for them.
STREAMS = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport"})


class _Sent(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    loader_id: str = ""
    request: dict[str, Any] = {}
    timestamp: float = 0.0  # seconds, monotonic
    wall_time: float = 0.0
    type: str = "Other"
    frame_id: str = ""
    redirect_response: dict[str, Any] | None = None


class _Response(msgspec.Struct, frozen=True, rename="camel"):
    url: str = ""
    status: int = 0
    status_text: str = ""
    headers: dict[str, str] = {}
    mime_type: str = ""
    from_disk_cache: bool = False
    from_service_worker: bool = False
    encoded_data_length: float = 0.0
    protocol: str = ""
    remote_ip_address: str = msgspec.field(name="remoteIPAddress", default="")


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    timestamp: float
    type: str
    response: _Response


class _Data(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    data_length: int = 0


class _Finished(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    timestamp: float
    encoded_data_length: float = 0.0


class _CorsStatus(msgspec.Struct, frozen=True, rename="camel"):
    cors_error: str = ""


class _Failed(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    timestamp: float
    type: str = ""
    error_text: str = ""
    canceled: bool = False
    blocked_reason: str = ""
    cors_error_status: _CorsStatus | None = None


class _Socket(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str
    url: str = ""
    timestamp: float = 0.0
    error_message: str = ""


class Exchange:
    """One request while it goes on; ``record`` makes it plain data."""

    def __init__(self, sent: _Sent, *, main_frame: bool, document: bool) -> None:
        self.id = sent.request_id
        self.url = _short(str(sent.request.get("url", "")))
        self.method = str(sent.request.get("method", "GET"))
        self.kind = sent.type
        self.frame_id = sent.frame_id
        self.loader_id = sent.loader_id
        self.main_frame = main_frame
        self.document = document
        self.started = sent.timestamp
        self.opened_at = trio.current_time()
        self.redirects: list[str] = []
        self.first_byte: float | None = None
        self.ended: float | None = None
        self.response: _Response | None = None
        self.failure = ""
        self.cancelled = False
        self.transferred = 0.0
        self.body = 0
        self.cached = False

    def record(self, origin: float) -> Request:
        """Return this exchange as data; ``origin`` is time zero on the same clock."""
        answer = self.response or _Response()
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Request(
            url=self.url,
            method=self.method,
            kind=self.kind,
            status=answer.status or None,
            status_text=answer.status_text,
            mime_type=answer.mime_type,
            failure=self.failure,
            cancelled=self.cancelled,
            start_ms=_ms(self.started, origin),
            first_byte_ms=None if self.first_byte is None else _ms(self.first_byte, origin),
            end_ms=None if self.ended is None else _ms(self.ended, origin),
            transfer_bytes=int(self.transferred),
            body_bytes=self.body,
            encoding=headers.get("content-encoding", ""),
            cache_control=headers.get("cache-control", ""),
            from_cache=self.cached or answer.from_disk_cache,
            protocol=answer.protocol,
            remote_address=answer.remote_ip_address.strip("[]"),
            redirects=tuple(self.redirects),
            main_frame=self.main_frame,
            document=self.document,
        )


class NetworkLog:
    """The requests of the current document, oldest first, at most ``CAPACITY``.

    Args:
        main_frame: Id of the page's top frame.
        on_end: Called with each exchange that got its answer's status, or failed.
    """

    def __init__(self, main_frame: str, on_end: Callable[[Exchange], None]) -> None:
        self.dropped = 0
        self.last_activity = trio.current_time()
        self._main_frame = main_frame
        self._on_end = on_end
        self._exchanges: dict[str, Exchange] = {}
        self._open: dict[str, Exchange] = {}
        self._statuses: dict[str, int] = {}  # loader id -> status of its document
        self._bell = trio.Event()
        self._readers: dict[str, Callable[[Event], None]] = {
            "Network.requestWillBeSent": self._sent,
            "Network.responseReceived": self._received,
            "Network.dataReceived": self._data,
            "Network.loadingFinished": self._finished,
            "Network.loadingFailed": self._failed,
            "Network.requestServedFromCache": self._from_cache,
            "Network.webSocketCreated": self._socket_opened,
            "Network.webSocketFrameError": self._socket_failed,
            "Network.webSocketClosed": self._socket_closed,
        }

    def hear(self, event: Event) -> None:
        """Take one event of the page's session or of a child's."""
        reader = self._readers.get(event.method)
        if reader is not None:
            reader(event)

    def start_document(self, loader_id: str) -> None:
        """Forget what came before the document that has just arrived, its own request apart.

        What the old document left open would be open for ever: its end is not told. A request
        for yet another document stays: an error page may arrive after the next one was begun.
        """

        def stays(exchange: Exchange) -> bool:
            return exchange.id == loader_id or (exchange.document and exchange.id in self._open)

        self._exchanges = {i: e for i, e in self._exchanges.items() if stays(e)}
        self._open = {i: e for i, e in self._open.items() if stays(e)}
        self._statuses = {i: s for i, s in self._statuses.items() if i in self._exchanges}
        self.dropped = 0

    def document(self, loader_id: str) -> Exchange | None:
        """Return the request of a document; CDP gives it the loader's id."""
        return self._exchanges.get(loader_id)

    def status(self, loader_id: str) -> int | None:
        """Return the HTTP status that a main document came with."""
        return self._statuses.get(loader_id)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return all requests as they stand."""
        return tuple(self._exchanges.values())

    def records(self) -> tuple[Request, ...]:
        """Return all requests; times count from the first one."""
        origin = next((e.started for e in self._exchanges.values()), 0.0)
        return tuple(e.record(origin) for e in self._exchanges.values())

    def loading(self) -> int:
        """Count the requests that a finished page would no longer have."""
        now = trio.current_time()
        return sum(
            e.kind not in STREAMS and now - e.opened_at < LONG_POLL for e in self._open.values()
        )

    async def wait_for_silence(self, quiet: float) -> None:
        """Return once nothing has been loading for ``quiet`` seconds on end."""
        while True:
            if self.loading():
                wake_at = min(e.opened_at for e in self._open.values()) + LONG_POLL
                wake_at = max(wake_at, trio.current_time() + 0.05)
            else:
                wake_at = self.last_activity + quiet
                if wake_at <= trio.current_time():
                    return
            with trio.move_on_at(wake_at):
                await self._bell.wait()

    def _touch(self) -> None:
        self.last_activity = trio.current_time()
        self._bell.set()
        self._bell = trio.Event()

    def _sent(self, event: Event) -> None:
        sent = msgspec.json.decode(event.params, type=_Sent)
        earlier = self._open.get(sent.request_id)
        if earlier is not None and sent.redirect_response is not None:
            earlier.redirects.append(earlier.url)
            earlier.url = _short(str(sent.request.get("url", "")))
            earlier.method = str(sent.request.get("method", "GET"))
            return
        if str(sent.request.get("url", "")).startswith("data:"):
            return  # no network, and megabytes of text
        main = sent.frame_id == self._main_frame
        document = main and sent.type == "Document" and sent.request_id == sent.loader_id
        self._open_exchange(Exchange(sent, main_frame=main, document=document))

    def _open_exchange(self, exchange: Exchange) -> None:
        self._exchanges[exchange.id] = self._open[exchange.id] = exchange
        if len(self._exchanges) > CAPACITY:
            del self._exchanges[next(iter(self._exchanges))]
            self.dropped += 1
        self._touch()

    def _received(self, event: Event) -> None:
        received = msgspec.json.decode(event.params, type=_Received)
        exchange = self._exchanges.get(received.request_id)
        if exchange is None:
            return
        exchange.kind = received.type
        exchange.response = received.response
        exchange.first_byte = received.timestamp
        exchange.transferred = received.response.encoded_data_length
        if exchange.document:
            self._statuses[exchange.loader_id] = received.response.status

    def _data(self, event: Event) -> None:
        data = msgspec.json.decode(event.params, type=_Data)
        if exchange := self._exchanges.get(data.request_id):
            exchange.body += data.data_length

    def _finished(self, event: Event) -> None:
        finished = msgspec.json.decode(event.params, type=_Finished)
        if exchange := self._close(finished.request_id, finished.timestamp):
            exchange.transferred = finished.encoded_data_length
            self._on_end(exchange)

    def _failed(self, event: Event) -> None:
        failed = msgspec.json.decode(event.params, type=_Failed)
        if exchange := self._close(failed.request_id, failed.timestamp):
            exchange.cancelled = failed.canceled
            exchange.failure = _reason(failed)
            self._on_end(exchange)

    def _from_cache(self, event: Event) -> None:
        if exchange := self._exchanges.get(
            msgspec.json.decode(event.params, type=_Data).request_id
        ):
            exchange.cached = True

    def _socket_opened(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=_Socket)
        sent = _Sent(
            request_id=socket.request_id,
            request={"url": socket.url},
            type="WebSocket",
            frame_id=self._main_frame,
            timestamp=next((e.started for e in reversed(self._exchanges.values())), 0.0),
        )
        self._open_exchange(Exchange(sent, main_frame=True, document=False))

    def _socket_failed(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=_Socket)
        if exchange := self._close(socket.request_id, socket.timestamp):
            exchange.failure = socket.error_message or "WebSocket failed"
            self._on_end(exchange)

    def _socket_closed(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=_Socket)
        self._close(socket.request_id, socket.timestamp)

    def _close(self, request_id: str, at: float) -> Exchange | None:
        exchange = self._open.pop(request_id, None)
        if exchange is not None:
            exchange.ended = at
            self._touch()
        return exchange


def _reason(failed: _Failed) -> str:
    if failed.cors_error_status is not None and failed.cors_error_status.cors_error:
        return f"cors: {failed.cors_error_status.cors_error}"
    if failed.blocked_reason:
        return f"blocked: {failed.blocked_reason}"
    return failed.error_text


def _ms(at: float, origin: float) -> float:
    return round((at - origin) * 1000, 1)


def _short(url: str) -> str:
    return url if len(url) <= MAX_URL else url[:MAX_URL] + "…"
