"""The requests of a page, from CDP events to records, and silence on the network."""

from __future__ import annotations

import msgspec
import pytest
import trio

from vfa.cdp.dialogue import Event
from vfa.page import network
from vfa.page.network import NetworkLog


def event(name, **params) -> Event:
    return Event(f"Network.{name}", msgspec.Raw(msgspec.json.encode(params)), "S")


def sent(number, url="http://a/", kind="Fetch", at=1.0, **more) -> Event:
    request = {"url": url, "method": more.pop("method", "GET")}
    fields = {"requestId": number, "frameId": "F", "loaderId": "L", "type": kind} | more
    return event("requestWillBeSent", request=request, timestamp=at, **fields)


def received(number, status=200, at=1.1, kind="Fetch", **response) -> Event:
    response = {"url": "", "status": status, "headers": {}, "mimeType": "text/html", **response}
    return event(
        "responseReceived", requestId=number, timestamp=at, type=kind, response=response
    )


def finished(number, at=1.2, length=100) -> Event:
    return event("loadingFinished", requestId=number, timestamp=at, encodedDataLength=length)


@pytest.fixture
async def ended():
    return []


@pytest.fixture
async def log(ended):
    return NetworkLog("F", ended.append)


async def test_a_request_becomes_a_record_with_its_times_and_sizes(log, ended):
    log.hear(sent("1", at=10.0))
    log.hear(
        received(
            "1",
            at=10.05,
            headers={"Content-Encoding": "gzip", "cache-control": "no-store"},
            remoteIPAddress="[::1]",
            protocol="h2",
        )
    )
    log.hear(event("dataReceived", requestId="1", dataLength=5000))
    log.hear(finished("1", at=10.2, length=1234))
    (record,) = log.records()
    assert (record.status, record.start_ms, record.first_byte_ms, record.end_ms) == (
        200,
        0,
        50,
        200,
    )
    assert (record.transfer_bytes, record.body_bytes) == (1234, 5000)
    assert (record.encoding, record.cache_control) == ("gzip", "no-store")
    assert (record.remote_address, record.protocol) == ("::1", "h2")
    assert [exchange.id for exchange in ended] == ["1"]


async def test_redirects_are_one_request_with_its_chain(log):
    log.hear(sent("1", "http://a/1"))
    log.hear(sent("1", "http://a/2", redirectResponse={"status": 302}))
    log.hear(sent("1", "http://a/3", redirectResponse={"status": 301}))
    log.hear(received("1", 200))
    (record,) = log.records()
    assert (record.url, record.redirects) == ("http://a/3", ("http://a/1", "http://a/2"))


async def test_only_the_top_documents_request_is_the_document(log):
    log.hear(sent("L", kind="Document"))
    frame = sent("L2", "http://frame/", kind="Document", frameId="G", loaderId="L2")
    log.hear(frame)
    log.hear(received("L2", 404, kind="Document"))
    log.hear(received("L", 200, kind="Document"))
    assert [record.document for record in log.records()] == [True, False]
    assert (log.status("L"), log.status("L2")) == (200, None)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"errorText": "net::ERR_FAILED"}, "net::ERR_FAILED"),
        ({"errorText": "net::ERR_BLOCKED_BY_CSP", "blockedReason": "csp"}, "blocked: csp"),
        (
            {"errorText": "net::ERR_FAILED", "corsErrorStatus": {"corsError": "MissingAllow"}},
            "cors: MissingAllow",
        ),
    ],
)
async def test_a_failure_keeps_the_most_telling_reason(log, ended, fields, reason):
    log.hear(sent("1"))
    log.hear(event("loadingFailed", requestId="1", timestamp=2.0, type="Fetch", **fields))
    assert log.records()[0].failure == reason
    assert len(ended) == 1


async def test_data_urls_are_no_requests_and_long_urls_are_cut(log):
    log.hear(sent("1", "data:text/plain," + "x" * 10_000))
    log.hear(sent("2", "http://a/" + "x" * 10_000))
    (record,) = log.records()
    assert len(record.url) < 4100


async def test_the_log_is_bounded_and_counts_what_it_dropped(log, monkeypatch):
    monkeypatch.setattr(network, "CAPACITY", 3)
    for number in range(5):
        log.hear(sent(str(number), f"http://a/{number}"))
        log.hear(finished(str(number)))
    assert [record.url[-1] for record in log.records()] == ["2", "3", "4"]
    assert log.dropped == 2


async def test_silence_is_half_a_second_after_the_last_request(autojump_clock):
    log = NetworkLog("F", lambda exchange: None)
    log.hear(sent("1"))
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.wait_for_silence, 0.5)
        await trio.sleep(2)
        log.hear(finished("1"))
    assert trio.current_time() - start == pytest.approx(2.5)


@pytest.mark.parametrize("kind", ["EventSource", "Ping", "Media"])
async def test_streams_do_not_keep_a_page_from_being_silent(kind, autojump_clock):
    log = NetworkLog("F", lambda exchange: None)
    log.hear(sent("1", kind=kind))
    with trio.fail_after(1):
        await log.wait_for_silence(0.5)


async def test_a_long_poll_stops_counting_after_five_seconds(autojump_clock):
    log = NetworkLog("F", lambda exchange: None)
    log.hear(sent("1"))
    start = trio.current_time()
    await log.wait_for_silence(0.5)
    assert 5 <= trio.current_time() - start < 6


async def test_a_websocket_that_fails_is_a_failed_request(log, ended):
    log.hear(event("webSocketCreated", requestId="1", url="ws://a/"))
    assert log.loading() == 0
    log.hear(event("webSocketFrameError", requestId="1", timestamp=3.0, errorMessage="refused"))
    (record,) = log.records()
    assert (record.kind, record.failure) == ("WebSocket", "refused")


async def test_unknown_events_and_answers_to_unknown_requests_are_no_trouble(log):
    lost = event("loadingFailed", requestId="?", timestamp=1.0)
    for strange in (received("?"), finished("?"), lost, event("somethingNew", x=1)):
        log.hear(strange)
    assert log.records() == ()
