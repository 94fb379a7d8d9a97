"""One request of a page while it goes on: what CDP events say of it, put together.

Pure state, without a connection. ``NetworkLog`` feeds events in; ``record`` makes plain data
of it for audits, and the fields are there for whoever wants all of it.

A redirect is a new round of the same request: ``hops`` are the earlier ones. The headers that
really went over the wire (cookies among them) come in events of their own, in the order of
the rounds but not in the order of anything else, and not for every round.

Source: CDP ``Network.requestWillBeSent``, ``Network.requestWillBeSentExtraInfo``,
``Network.responseReceivedExtraInfo``.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec
import trio

from vfa.page.network_events import ExtraInfo, Response, Sent
from vfa.page.records import Request

MAX_URL = 4_000  # characters of a URL kept; data: URLs can be megabytes
MAX_HEADER = 4_000  # characters of a header's value kept
MAX_HEADERS = 16_000  # characters of all headers of one message kept
MAX_POST_DATA = 20_000  # characters of what a request sent that are kept here
MAX_HOPS = 30  # Chromium follows 20 redirects
MAX_COOKIES = 20  # blocked cookies of one request that are remembered

# Never used twice, not by another page either: a number means one request or none.
_numbers = count(1)


class BlockedCookie(msgspec.Struct, frozen=True):
    """A cookie that was not sent, or not stored."""

    name: str
    reasons: tuple[str, ...]
    received: bool  # it came with the answer


class Hop(msgspec.Struct, frozen=True):
    """A round of a request that ended in a redirect."""

    url: str
    method: str
    response: Response
    has_extra: bool


class Extras:
    """The wire headers of one request's rounds, in the order they came."""

    def __init__(self) -> None:
        self.requests: list[dict[str, str]] = []
        self.answers: list[dict[str, str]] = []
        self.blocked: list[BlockedCookie] = []

    def add(self, extra: ExtraInfo) -> int:
        """Take one event; return how many characters of it are kept."""
        headers = cut_headers(extra.headers)
        rounds = self.answers if extra.of_answer else self.requests
        if len(rounds) > MAX_HOPS:
            return 0
        rounds.append(headers)
        for cookie in (*extra.associated_cookies, *extra.blocked_cookies):
            name = cookie.cookie.name if cookie.cookie else cookie.cookie_line.partition("=")[0]
            if cookie.blocked_reasons and len(self.blocked) < MAX_COOKIES:
                blocked = BlockedCookie(name[:200], cookie.blocked_reasons, extra.of_answer)
                self.blocked.append(blocked)
        return length_of(headers)


class Exchange:
    """One request while it goes on; ``record`` makes it plain data."""

    def __init__(self, sent: Sent, *, main_frame: bool, document: bool) -> None:
        self.number = next(_numbers)
        self.id = sent.request_id
        self.session_id = ""  # whom to ask for bodies; "": the page's own
        self.source = ""  # the kind of child target that told of it; "": the page itself
        self.frame_id = sent.frame_id
        self.loader_id = sent.loader_id
        self.main_frame = main_frame
        self.document = document
        self.kind = sent.type
        self.started = sent.timestamp
        self.wall_time = sent.wall_time
        self.opened_at = trio.current_time()
        self.initiator = sent.initiator
        self.hops: list[Hop] = []
        self.extras = Extras()
        self.has_extra = False  # of the last round
        self.first_byte: float | None = None
        self.ended: float | None = None
        self.response: Response | None = None
        self.failure = ""
        self.cancelled = False
        self.transferred = 0.0
        self.body = 0
        self.cached = False
        self.frames = [0, 0]  # of a WebSocket: sent, received
        self.frame_bytes = [0, 0]
        self.weight = 0  # characters held, for the log's bound
        self._ask(sent)

    def _ask(self, sent: Sent) -> None:
        request = sent.request
        self.url = short(str(request.get("url", "")))
        self.method = str(request.get("method", "GET"))
        self.headers = cut_headers(request.get("headers") or {})
        self.has_post_data = bool(request.get("hasPostData"))
        # Longer ones are left to Chromium, which is asked when somebody wants to see them.
        data = request.get("postData")
        self.post_data = data if data is not None and len(data) <= MAX_POST_DATA else None

    def redirect(self, sent: Sent) -> None:
        """Begin the next round."""
        assert sent.redirect_response is not None
        if len(self.hops) < MAX_HOPS:
            answer = with_short_headers(sent.redirect_response)
            self.hops.append(Hop(self.url, self.method, answer, sent.redirect_has_extra_info))
        self._ask(sent)

    @property
    def redirects(self) -> list[str]:
        """The URLs of the rounds before the last one."""
        return [hop.url for hop in self.hops]

    @property
    def request_headers(self) -> dict[str, str]:
        """The headers of the last round: those of the wire, where they are known."""
        return self._wire(self.extras.requests, len(self.hops)) or self.headers

    @property
    def response_headers(self) -> dict[str, str]:
        """The headers of the last answer: those of the wire, where they are known."""
        seen = self.response.headers if self.response else {}
        return self._wire(self.extras.answers, len(self.hops)) or seen

    def hop_headers(self, index: int) -> dict[str, str]:
        """Return the headers of the answer that redirected in round ``index``."""
        return self._wire(self.extras.answers, index) or self.hops[index].response.headers

    def _wire(self, rounds: list[dict[str, str]], index: int) -> dict[str, str]:
        has = [*(hop.has_extra for hop in self.hops), self.has_extra]
        at = sum(has[:index])
        # A request that got no answer never says whether there is more; what is left is its.
        known = has[index] or (index == len(self.hops) and self.response is None)
        return rounds[at] if known and at < len(rounds) else {}

    def record(self, origin: float) -> Request:
        """Return this exchange as data; ``origin`` is time zero on the same clock."""
        answer = self.response or Response()
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


def short(url: str) -> str:
    """Return a URL of bounded length."""
    return url if len(url) <= MAX_URL else url[:MAX_URL] + "…"


def cut_headers(headers: dict[str, Any]) -> dict[str, str]:
    """Return headers of bounded length; a server may send as many as it likes."""
    kept: dict[str, str] = {}
    room = MAX_HEADERS
    for name, given in headers.items():
        value = str(given)
        value = value if len(value) <= MAX_HEADER else value[:MAX_HEADER] + "…"
        room -= len(name) + len(value)
        if room < 0:
            break
        kept[name] = value
    return kept


def with_short_headers(response: Response) -> Response:
    """Return ``response`` with headers of bounded length."""
    return msgspec.structs.replace(response, headers=cut_headers(response.headers))


def length_of(headers: dict[str, str]) -> int:
    """Return how many characters headers hold."""
    return sum(len(name) + len(value) for name, value in headers.items())


def _ms(at: float, origin: float) -> float:
    return round((at - origin) * 1000, 1)
