"""What CDP's ``Network`` domain says, as far as anyone here listens.

Decoded strictly by name and leniently otherwise: browsers add fields.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Sent(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.requestWillBeSent``, in part."""

    request_id: str
    loader_id: str = ""
    request: dict[str, Any] = {}
    timestamp: float = 0.0  # seconds, monotonic
    wall_time: float = 0.0  # seconds since the epoch
    type: str = "Other"
    frame_id: str = ""
    redirect_response: Response | None = None
    redirect_has_extra_info: bool = False
    initiator: dict[str, Any] = {}


class Timing(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.ResourceTiming``: ms since ``request_time``; -1: no such phase."""

    request_time: float = 0.0  # seconds, monotonic
    dns_start: float = -1
    dns_end: float = -1
    connect_start: float = -1
    connect_end: float = -1
    ssl_start: float = -1
    ssl_end: float = -1
    worker_start: float = -1
    send_start: float = -1
    send_end: float = -1
    receive_headers_end: float = -1


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.Response``, in part."""

    url: str = ""
    status: int = 0
    status_text: str = ""
    headers: dict[str, str] = {}
    mime_type: str = ""
    from_disk_cache: bool = False
    from_prefetch_cache: bool = False
    from_service_worker: bool = False
    service_worker_response_source: str = ""
    encoded_data_length: float = 0.0
    protocol: str = ""
    remote_ip_address: str = msgspec.field(name="remoteIPAddress", default="")
    remote_port: int = 0
    timing: Timing | None = None


class _Cookie(msgspec.Struct, frozen=True):
    name: str = ""


class _Blocked(msgspec.Struct, frozen=True, rename="camel"):
    blocked_reasons: tuple[str, ...] = ()
    cookie: _Cookie | None = None
    cookie_line: str = ""


class ExtraInfo(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.requestWillBeSentExtraInfo`` or ``responseReceivedExtraInfo``, in part."""

    request_id: str
    headers: dict[str, str] = {}
    associated_cookies: tuple[_Blocked, ...] = ()  # of a request: all, blocked or not
    blocked_cookies: tuple[_Blocked, ...] = ()  # of an answer
    status_code: int | None = None

    @property
    def of_answer(self) -> bool:
        """Whether it tells of an answer rather than of a request."""
        return self.status_code is not None


class Received(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.responseReceived``, in part."""

    request_id: str
    timestamp: float
    type: str
    response: Response
    has_extra_info: bool = False


class Data(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.dataReceived`` and what else names just a request, in part."""

    request_id: str
    data_length: int = 0


class Finished(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.loadingFinished``, in part."""

    request_id: str
    timestamp: float
    encoded_data_length: float = 0.0


class CorsStatus(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.CorsErrorStatus``, in part."""

    cors_error: str = ""


class Failed(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.loadingFailed``, in part."""

    request_id: str
    timestamp: float
    type: str = ""
    error_text: str = ""
    canceled: bool = False
    blocked_reason: str = ""
    cors_error_status: CorsStatus | None = None


class Socket(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.webSocketCreated``, ``…FrameError`` and ``…Closed``, in part."""

    request_id: str
    url: str = ""
    timestamp: float = 0.0
    error_message: str = ""


class SocketAnswer(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.webSocketHandshakeResponseReceived``, in part."""

    request_id: str
    timestamp: float = 0.0
    response: Response = Response()


class SocketAsked(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.webSocketWillSendHandshakeRequest``, in part."""

    request_id: str
    wall_time: float = 0.0
    request: dict[str, Any] = {}


class SocketFrame(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.webSocketFrameSent`` and ``…Received``, in part."""

    request_id: str
    response: Payload


class Payload(msgspec.Struct, frozen=True, rename="camel"):
    """CDP ``Network.WebSocketFrame``, in part."""

    payload_data: msgspec.Raw  # only its length is of interest, and it can be megabytes
