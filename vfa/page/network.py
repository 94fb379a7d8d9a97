"""The requests of a page: a bounded log fed by CDP events, and what is in flight now.

Source: CDP ``Network`` domain. Requests of child sessions (out-of-process frames, workers)
are fed in by ``Page`` as they are attached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.page.exchange import (
    Exchange,
    Extras,
    cut_headers,
    length_of,
    with_short_headers,
)
from vfa.page.network_events import (
    Data,
    ExtraInfo,
    Failed,
    Finished,
    Received,
    Sent,
    Socket,
    SocketAnswer,
    SocketAsked,
    SocketFrame,
)
from vfa.page.origin import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from vfa.cdp.dialogue import Event
    from vfa.page.network_events import Response
    from vfa.page.records import Request
    from vfa.page.way_out import WayOut

__all__ = ["CAPACITY", "Exchange", "NetworkLog"]

CAPACITY = 5_000  # requests kept for a page; a page can make 50,000
MAX_HELD = 24_000_000  # characters of URLs, headers and posted data kept for a page
MAX_EARLY = 200  # requests of which the wire headers are known before the request itself
MAX_ORIGINS = 500  # that are remembered as visited
LONG_POLL = 5.0  # seconds after which an open request no longer counts as loading
# Kinds that stay open by design: silence on the network does not wait for them.
STREAMS = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport"})


class NetworkLog:
    """The requests of the current document, oldest first, at most ``CAPACITY``.

    Args:
        main_frame: Id of the page's top frame.
        on_end: Called with each exchange that got its answer's status, or failed.
        origins: Where documents came from, in order; shared by the pages of a tab.
        way_out: Knows what failures and addresses really are; None: Chromium does.
    """

    def __init__(
        self,
        main_frame: str,
        on_end: Callable[[Exchange], None],
        origins: dict[str, None] | None = None,
        way_out: WayOut | None = None,
    ) -> None:
        self.dropped = 0
        self.preserve = False  # over the arrival of new documents
        self.last_activity = trio.current_time()
        self.origins = {} if origins is None else origins
        self._way_out = way_out
        self._main_frame = main_frame
        self._on_end = on_end
        self._exchanges: dict[str, Exchange] = {}
        self._open: dict[str, Exchange] = {}
        self._statuses: dict[str, int] = {}  # loader id -> status of its document
        self._early: dict[str, Extras] = {}  # wire headers of requests not heard of yet
        self._held = 0  # characters
        self._session_id: str | None = ""  # of the event that is being read
        self._source = ""
        self._bell = trio.Event()
        self._readers: dict[str, Callable[[Event], None]] = {
            "Network.requestWillBeSent": self._sent,
            "Network.requestWillBeSentExtraInfo": self._extra,
            "Network.responseReceived": self._received,
            "Network.responseReceivedExtraInfo": self._extra,
            "Network.dataReceived": self._data,
            "Network.loadingFinished": self._finished,
            "Network.loadingFailed": self._failed,
            "Network.requestServedFromCache": self._from_cache,
            "Network.webSocketCreated": self._socket_opened,
            "Network.webSocketWillSendHandshakeRequest": self._socket_asked,
            "Network.webSocketHandshakeResponseReceived": self._socket_answered,
            "Network.webSocketFrameSent": self._socket_frame,
            "Network.webSocketFrameReceived": self._socket_frame,
            "Network.webSocketFrameError": self._socket_failed,
            "Network.webSocketClosed": self._socket_closed,
        }

    def hear(self, event: Event, source: str = "") -> None:
        """Take one event of the page's session, or of a child target of kind ``source``."""
        reader = self._readers.get(event.method)
        if reader is not None:
            self._session_id, self._source = event.session_id, source
            reader(event)

    def start_document(self, loader_id: str) -> None:
        """Forget what came before the document that has just arrived, its own request apart.

        What the old document left open would be open for ever: its end is not told. A request
        for yet another document stays: an error page may arrive after the next one was begun.
        """

        def stays(exchange: Exchange) -> bool:
            return exchange.id == loader_id or (exchange.document and exchange.id in self._open)

        left = [e for e in self._exchanges.values() if not stays(e)]
        for exchange in left:
            open_ = self._open.pop(exchange.id, None)
            if not self.preserve:
                self._forget(exchange)
            elif open_ is not None:
                exchange.cancelled = True
                exchange.failure = "its document was left before an end was told"
        if not self.preserve:
            self.dropped = 0
        self._statuses = {i: s for i, s in self._statuses.items() if i in self._exchanges}

    def clear(self) -> None:
        """Forget the requests that have ended, and how many were dropped."""
        for exchange in self.exchanges():
            if exchange.id not in self._open:
                self._forget(exchange)
        self.dropped = 0

    def document(self, loader_id: str) -> Exchange | None:
        """Return the request of a document; CDP gives it the loader's id."""
        return self._exchanges.get(loader_id)

    def status(self, loader_id: str) -> int | None:
        """Return the HTTP status that a main document came with."""
        return self._statuses.get(loader_id)

    def by_number(self, number: int) -> Exchange | None:
        """Return the request of that number, if it is still kept."""
        return next((e for e in self._exchanges.values() if e.number == number), None)

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
        sent = msgspec.json.decode(event.params, type=Sent)
        earlier = self._open.get(sent.request_id)
        if earlier is not None and sent.redirect_response is not None:
            earlier.redirect(sent)
            self._weigh(earlier, length_of(earlier.hops[-1].response.headers))
            self._weigh_request(earlier)
            return
        if str(sent.request.get("url", "")).startswith("data:"):
            return  # no network, and megabytes of text
        main = sent.frame_id == self._main_frame
        document = main and sent.type == "Document" and sent.request_id == sent.loader_id
        self._open_exchange(Exchange(sent, main_frame=main, document=document))

    def _open_exchange(self, exchange: Exchange) -> None:
        exchange.session_id, exchange.source = self._session_id or "", self._source
        exchange.extras = self._early.pop(exchange.id, exchange.extras)
        if (namesake := self._exchanges.get(exchange.id)) is not None:
            exchange.extras = namesake.extras
            self._forget(namesake)
        self._exchanges[exchange.id] = self._open[exchange.id] = exchange
        self._weigh_request(exchange)
        if len(self._exchanges) > CAPACITY:
            self._drop_oldest()
        self._touch()

    def _weigh_request(self, exchange: Exchange) -> None:
        data = len(exchange.post_data or "")
        self._weigh(exchange, len(exchange.url) + length_of(exchange.headers) + data)

    def _weigh(self, exchange: Exchange, characters: int) -> None:
        """Note what is held for an exchange, and hold no more than allowed."""
        if self._exchanges.get(exchange.id) is not exchange:
            return  # it was dropped a moment ago
        exchange.weight += characters
        self._held += characters
        while self._held > MAX_HELD and len(self._exchanges) > 1:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._forget(next(iter(self._exchanges.values())))
        self.dropped += 1

    def _forget(self, exchange: Exchange) -> None:
        del self._exchanges[exchange.id]
        self._open.pop(exchange.id, None)
        self._held -= exchange.weight

    def _extra(self, event: Event) -> None:
        extra = msgspec.json.decode(event.params, type=ExtraInfo)
        exchange = self._exchanges.get(extra.request_id)
        if exchange is not None:
            self._weigh(exchange, exchange.extras.add(extra))
            return
        self._early.setdefault(extra.request_id, Extras()).add(extra)
        if len(self._early) > MAX_EARLY:
            del self._early[next(iter(self._early))]

    def _received(self, event: Event) -> None:
        received = msgspec.json.decode(event.params, type=Received)
        if received.type == "Document":
            self._visit(received.response.url)
        exchange = self._exchanges.get(received.request_id)
        if exchange is None:
            return
        exchange.session_id, exchange.source = self._session_id or "", self._source
        exchange.kind = received.type
        exchange.response = self._located(with_short_headers(received.response))
        exchange.has_extra = received.has_extra_info
        exchange.first_byte = received.timestamp
        exchange.transferred = received.response.encoded_data_length
        if exchange.document:
            self._statuses[exchange.loader_id] = received.response.status
        self._weigh(exchange, length_of(exchange.response.headers))

    def _located(self, response: Response) -> Response:
        """Return an answer with the address it came from, rather than the proxy's."""
        if self._way_out is None or not response.remote_ip_address:
            return response
        address, port = self._way_out.address(response.url)
        return msgspec.structs.replace(response, remote_ip_address=address, remote_port=port)

    def _explained(self, url: str, reason: str) -> str:
        return reason if self._way_out is None else self._way_out.explain(url, reason)

    def _visit(self, url: str) -> None:
        if origin := origin_of(url):
            self.origins[origin] = None
            if len(self.origins) > MAX_ORIGINS:
                del self.origins[next(iter(self.origins))]

    def _data(self, event: Event) -> None:
        data = msgspec.json.decode(event.params, type=Data)
        if exchange := self._exchanges.get(data.request_id):
            exchange.body += data.data_length

    def _finished(self, event: Event) -> None:
        finished = msgspec.json.decode(event.params, type=Finished)
        if exchange := self._close(finished.request_id, finished.timestamp):
            exchange.transferred = finished.encoded_data_length
            self._on_end(exchange)

    def _failed(self, event: Event) -> None:
        failed = msgspec.json.decode(event.params, type=Failed)
        if exchange := self._close(failed.request_id, failed.timestamp):
            exchange.cancelled = failed.canceled
            exchange.failure = self._explained(exchange.url, _reason(failed))
            self._on_end(exchange)

    def _from_cache(self, event: Event) -> None:
        if exchange := self._exchanges.get(
            msgspec.json.decode(event.params, type=Data).request_id
        ):
            exchange.cached = True

    def _socket_opened(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=Socket)
        sent = Sent(
            request_id=socket.request_id,
            request={"url": socket.url},
            type="WebSocket",
            frame_id=self._main_frame,
            timestamp=next((e.started for e in reversed(self._exchanges.values())), 0.0),
        )
        self._open_exchange(Exchange(sent, main_frame=True, document=False))

    def _socket_asked(self, event: Event) -> None:
        asked = msgspec.json.decode(event.params, type=SocketAsked)
        if exchange := self._exchanges.get(asked.request_id):
            exchange.headers = cut_headers(asked.request.get("headers") or {})
            exchange.wall_time = asked.wall_time
            self._weigh(exchange, length_of(exchange.headers))

    def _socket_answered(self, event: Event) -> None:
        answered = msgspec.json.decode(event.params, type=SocketAnswer)
        if exchange := self._exchanges.get(answered.request_id):
            exchange.response = with_short_headers(answered.response)
            self._weigh(exchange, length_of(exchange.response.headers))

    def _socket_frame(self, event: Event) -> None:
        frame = msgspec.json.decode(event.params, type=SocketFrame)
        if exchange := self._exchanges.get(frame.request_id):
            received = event.method == "Network.webSocketFrameReceived"
            exchange.frames[received] += 1
            exchange.frame_bytes[received] += len(bytes(frame.response.payload_data)) - 2

    def _socket_failed(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=Socket)
        if exchange := self._close(socket.request_id, socket.timestamp):
            reason = socket.error_message or "WebSocket failed"
            exchange.failure = self._explained(exchange.url, reason)
            self._on_end(exchange)

    def _socket_closed(self, event: Event) -> None:
        socket = msgspec.json.decode(event.params, type=Socket)
        self._close(socket.request_id, socket.timestamp)

    def _close(self, request_id: str, at: float) -> Exchange | None:
        exchange = self._open.pop(request_id, None)
        if exchange is not None:
            exchange.ended = at
            self._touch()
        return exchange


def _reason(failed: Failed) -> str:
    if failed.cors_error_status is not None and failed.cors_error_status.cors_error:
        return f"cors: {failed.cors_error_status.cors_error}"
    if failed.blocked_reason:
        return f"blocked: {failed.blocked_reason}"
    return failed.error_text
