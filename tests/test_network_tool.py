"""browser_network: what is picked, shown and hidden, and what real pages ask for."""

from __future__ import annotations

import base64
import json
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab
from vfa.actors.news import News
from vfa.cdp.dialogue import Event
from vfa.errors import InvalidArgsError, RequestNotFoundError
from vfa.page import network as network_log
from vfa.page.network import NetworkLog
from vfa.page.requests import brief, full, read_wanted
from vfa.policy.redact_http import redact_body, redact_header
from vfa.tools.answer import encoded_length
from vfa.tools.network import NetworkArguments, network

BROWSER = pytest.mark.browser


# --- the log ----------------------------------------------------------------------------


def event(name, session="S", **params) -> Event:
    return Event(f"Network.{name}", msgspec.Raw(msgspec.json.encode(params)), session)


def sent(number, url="http://a/", kind="Fetch", at=1.0, **more) -> Event:
    request = {"url": url, "method": "GET"} | more.pop("request", {})
    fields = {"requestId": number, "frameId": "F", "loaderId": "L", "type": kind} | more
    return event("requestWillBeSent", request=request, timestamp=at, **fields)


def received(
    number, status=200, *, session="S", kind="Fetch", extra=False, **response
) -> Event:
    answer = {"url": "", "status": status, "headers": {}, "mimeType": "text/html", **response}
    return event(
        "responseReceived",
        session,
        requestId=number,
        timestamp=1.1,
        type=kind,
        hasExtraInfo=extra,
        response=answer,
    )


def finished(number) -> Event:
    return event("loadingFinished", requestId=number, timestamp=1.2, encodedDataLength=10)


def wire(number, status=None, **headers) -> Event:
    """The headers as they were on the wire: of an answer if there is a status."""
    if status is None:
        cookie = {"blockedReasons": ["SecureOnly"], "cookie": {"name": "s"}}
        return event(
            "requestWillBeSentExtraInfo",
            requestId=number,
            headers=headers,
            associatedCookies=[cookie],
        )
    return event(
        "responseReceivedExtraInfo", requestId=number, headers=headers, statusCode=status
    )


@pytest.fixture
async def log():
    return NetworkLog("F", lambda exchange: None)


async def test_headers_of_the_wire_find_their_round_in_whatever_order_they_come(log):
    log.hear(wire("1", cookie="first"))  # before anything else is known of the request
    log.hear(sent("1", "http://a/1"))
    log.hear(wire("1", 302, **{"set-cookie": "a=b"}))
    redirect = {"status": 302, "headers": {"location": "/2"}}
    log.hear(sent("1", "http://a/2", redirectResponse=redirect, redirectHasExtraInfo=True))
    log.hear(sent("1", "http://a/3", redirectResponse={"status": 307}))  # from the cache
    log.hear(received("1", extra=True))
    log.hear(wire("1", cookie="last"))
    log.hear(wire("1", 200, server="x"))
    (exchange,) = log.exchanges()
    assert [(hop.url, hop.response.status) for hop in exchange.hops] == [
        ("http://a/1", 302),
        ("http://a/2", 307),
    ]
    assert exchange.request_headers == {"cookie": "last"}
    assert exchange.response_headers == {"server": "x"}
    assert exchange.hop_headers(0) == {"set-cookie": "a=b"}
    assert exchange.hop_headers(1) == {}
    assert exchange.extras.blocked[0].name == "s"


async def test_numbers_are_never_used_again_not_even_by_another_log(log):
    log.hear(sent("1"))
    other = NetworkLog("F", lambda exchange: None)
    other.hear(sent("1"))
    numbers = [each.exchanges()[0].number for each in (log, other)]
    assert numbers[0] < numbers[1]
    assert log.by_number(numbers[1]) is None


async def test_preserve_keeps_requests_over_documents_and_says_which_were_left(log):
    log.preserve = True
    log.hear(sent("1"))
    log.hear(sent("2"))
    log.hear(finished("2"))
    log.start_document("L2")
    assert [brief(each).get("failure", "") for each in log.exchanges()] == [
        "its document was left before an end was told",
        "",
    ]
    assert log.loading() == 0
    log.preserve = False
    log.start_document("L3")
    assert log.exchanges() == ()


async def test_clear_forgets_what_has_ended_and_not_what_goes_on(log):
    log.dropped = 3
    log.hear(sent("1"))
    log.hear(sent("2"))
    log.hear(finished("1"))
    log.clear()
    assert [each.id for each in log.exchanges()] == ["2"]
    assert log.dropped == 0
    log.hear(finished("2"))
    assert log.exchanges()[0].ended == 1.2


async def test_fifty_thousand_requests_leave_the_log_at_its_cap(log):
    for number in range(50_000):
        log.hear(sent(str(number)))
    assert len(log.exchanges()) == network_log.CAPACITY
    assert log.dropped == 50_000 - network_log.CAPACITY
    assert len(log._open) == network_log.CAPACITY


async def test_the_log_holds_no_more_characters_than_allowed(log, monkeypatch):
    monkeypatch.setattr(network_log, "MAX_HELD", 100_000)
    for number in range(100):
        log.hear(sent(str(number), request={"headers": {"x": "y" * 3_900}}))
        log.hear(received(str(number), headers={"x": "y" * 3_900}))
        log.hear(wire(str(number), 200, x="y" * 3_900))
    assert log.dropped > 80
    held = sum(each.weight for each in log.exchanges())
    assert held == log._held <= 100_000
    log.clear()
    log.start_document("L")
    assert log._held == 0


async def test_headers_that_come_for_nothing_are_bounded_too(log, monkeypatch):
    monkeypatch.setattr(network_log, "MAX_EARLY", 5)
    for number in range(50):
        log.hear(wire(str(number), x="y"))
    assert len(log._early) == 5


async def test_websocket_frames_are_counted_and_not_kept(log):
    log.hear(event("webSocketCreated", requestId="1", url="ws://a/"))
    asked = {"headers": {"Upgrade": "websocket"}}
    log.hear(event("webSocketWillSendHandshakeRequest", requestId="1", request=asked))
    answer = {"status": 101, "statusText": "Switching", "headers": {"a": "b"}}
    log.hear(event("webSocketHandshakeResponseReceived", requestId="1", response=answer))
    for direction, text in (("Sent", "hey"), ("Received", "hello"), ("Received", "x" * 500)):
        frame = {"opcode": 1, "payloadData": text}
        log.hear(event(f"webSocketFrame{direction}", requestId="1", response=frame))
    facts = full(log.exchanges()[0])
    assert facts["status"] == 101
    assert facts["frames"] == {
        "sent": 1,
        "sentCharacters": 3,
        "received": 2,
        "receivedCharacters": 505,
    }


async def test_origins_of_documents_are_remembered_over_documents(log):
    log.hear(received("1", kind="Document", url="http://A:80/x?y"))
    log.hear(received("2", kind="Document", url="https://b:8443/"))
    log.hear(received("3", kind="Document", url="about:blank"))
    log.hear(received("4", kind="Image", url="http://c/"))
    log.start_document("L")
    assert [*log.origins] == ["http://a", "https://b:8443"]


# --- picking ----------------------------------------------------------------------------


async def test_each_filter_narrows_and_all_of_them_together(log):
    log.hear(sent("1", "http://a/Api/users"))
    log.hear(received("1", 200))
    log.hear(sent("2", "http://a/api/orders"))
    log.hear(received("2", 404))
    log.hear(sent("3", "http://a/logo.png", kind="Image"))
    log.hear(event("loadingFailed", requestId="3", timestamp=2, errorText="net::ERR_FAILED"))
    log.hear(sent("4", "http://a/api/slow"))

    def picked(url="", kind="", status="", *, failed=False):
        wanted = read_wanted(url, kind, status, failed=failed)
        return "".join(each.id for each in wanted.pick(log.exchanges()))

    assert picked() == "1234"
    assert picked("API") == "124"
    assert picked(kind="image, XHR") == "3"
    assert picked(status="404") == "2"
    assert picked(status="4xx") == picked(status="4XX") == "2"
    assert picked(status="200-404") == "12"
    assert picked(failed=True) == "23"
    assert picked("api", "fetch", "2xx") == "1"


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [("picture", "", "'picture'"), ("", "4x", "'4x'"), ("", "abc", "abc"), ("", "-4", "-4")],
)
def test_unknown_kinds_and_what_is_no_status_are_refused(kind, status, words):
    with pytest.raises(InvalidArgsError, match=words):
        read_wanted("", kind, status, failed=False)


async def test_a_brief_line_leaves_out_what_there_is_not(log):
    log.hear(sent("1", "http://a/?token=abc"))
    facts = brief(log.exchanges()[0])
    assert facts.pop("id") > 0
    assert facts == {
        "method": "GET",
        "url": "http://a/?token=***",
        "kind": "Fetch",
        "pending": True,
    }


async def test_all_of_one_request_has_its_phases_and_who_asked(log):
    frames = [{"functionName": "f", "url": "http://a/s.js?key=1", "lineNumber": 4}]
    log.hear(sent("1", initiator={"type": "script", "stack": {"callFrames": frames}}))
    timing = {
        "requestTime": 1.01,
        "dnsStart": -1,
        "dnsEnd": -1,
        "sendStart": 2,
        "sendEnd": 3,
        "receiveHeadersEnd": 53,
    }
    address = {"remoteIPAddress": "[::1]", "remotePort": 443}
    log.hear(received("1", timing=timing, fromServiceWorker=True, **address))
    log.hear(finished("1"))
    facts = full(log.exchanges()[0])
    assert facts["timing"] == {"queued": 10, "send": 1, "wait": 50, "download": 137}
    assert facts["remoteAddress"] == "[::1]:443"
    assert facts["fromServiceWorker"] is True
    assert facts["initiator"] == {
        "type": "script",
        "url": "http://a/s.js?key=***",
        "line": 5,
        "function": "f",
    }


# --- hiding -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("Authorization", "Bearer abc.def", "Bearer ***"),
        ("authorization", "abc", "***"),
        ("Proxy-Authorization", "Basic YTpi", "Basic ***"),
        ("Cookie", "sid=1; theme=dark", "sid=***; theme=***"),
        ("Cookie", "lonely", "***"),
        ("Set-Cookie", "a=1; Path=/; HttpOnly\nb=2", "a=***; Path=/; HttpOnly\nb=***"),
        ("X-API-Key", "abc", "***"),
        ("x-csrf-token", "abc", "***"),
        ("Location", "http://u:p@a/?access_token=x&q=1", "http://a/?access_token=***&q=1"),
        ("Accept", "text/html", "text/html"),
        ("Sec-WebSocket-Key", "abc=", "abc="),
    ],
)
def test_headers_lose_what_is_secret_and_keep_the_rest(name, value, shown):
    assert redact_header(name, value) == shown


@given(st.sampled_from(["Cookie", "Set-Cookie", "Authorization"]), st.from_regex(r"\w{8,40}"))
def test_no_credential_is_ever_shown(name, secret):
    for value in (secret, f"x={secret}", f"Bearer {secret}", f"a=b; x={secret}"):
        if name != "Set-Cookie" or "; " not in value:
            assert secret not in redact_header(name, value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"access_token": "a\\"b", "n": 1}', '{"access_token": "***", "n": 1}'),
        ('{"Password":"x","code":"E1"}', '{"Password":"***","code":"E1"}'),
        ("user=a&password=b", "user=a&password=***"),
        ("the secret garden", "the secret garden"),
        ('{"token":"cut off', '{"token":"***"'),
    ],
)
def test_bodies_lose_members_that_are_named_like_secrets(text, shown):
    assert redact_body(text) == shown


# --- answers ----------------------------------------------------------------------------


class _Tab:
    """A tab that runs operations on a page of the test's making."""

    def __init__(self, page) -> None:
        self.page = page
        self.kept = {}

    async def read(self, operation):
        return await operation(self.page)

    def keep(self, name, order):
        self.kept[name] = order

    def take_news(self):
        return News()


async def ask(log, **arguments):
    page = SimpleNamespace(network=log, session=SimpleNamespace(id="S"))
    tab = _Tab(page)
    engine = SimpleNamespace(tab=lambda number: tab)
    answer = await network(engine, NetworkArguments(**arguments), None)
    return answer, tab


async def test_a_list_has_pages_newest_first_or_oldest_first(log):
    for number in range(10):
        log.hear(sent(str(number), f"http://a/{number}"))
    answer, _ = await ask(log, limit=3)
    assert [each["url"][-1] for each in answer.value["requests"]] == ["9", "8", "7"]
    assert answer.value["note"].startswith("7 more: offset=3")
    answer, _ = await ask(log, limit=3, offset=8, order="oldest")
    assert [each["url"][-1] for each in answer.value["requests"]] == ["8", "9"]
    assert answer.value["truncated"] is False
    assert (answer.value["count"], answer.value["total"]) == (10, 10)


async def test_a_list_that_is_too_long_is_cut_and_says_where_to_go_on(log):
    for number in range(200):
        log.hear(sent(str(number), f"http://a/{'x' * 200}/{number}"))
    answer, _ = await ask(log, limit=200)
    short = answer.shorten(answer.value, 5_000)
    assert encoded_length(short) <= 5_000
    shown = len(short["requests"])
    assert shown > 10
    assert short["truncated"] is True
    assert f"{200 - shown} more: offset={shown}" in short["note"]


async def test_preserve_is_remembered_for_the_pages_to_come(log):
    answer, tab = await ask(log, preserve=True)
    assert answer.value["preserve"] is log.preserve is True
    fresh = SimpleNamespace(network=NetworkLog("F", lambda exchange: None))
    await tab.kept["network"](fresh)
    assert fresh.network.preserve
    answer, tab = await ask(log)
    assert answer.value["preserve"] is True
    answer, tab = await ask(log, preserve=False)
    assert (answer.value["preserve"], tab.kept) == (False, {"network": None})


async def test_clear_shows_the_list_once_more(log):
    log.hear(sent("1"))
    log.hear(finished("1"))
    answer, _ = await ask(log, clear=True)
    assert (answer.value["count"], answer.value["cleared"]) == (1, True)
    assert (await ask(log))[0].value["count"] == 0


async def test_a_request_that_is_gone_is_an_error_with_a_way_out(log):
    with pytest.raises(RequestNotFoundError) as caught:
        await ask(log, id=10**9)
    assert "preserve" in caught.value.hint


async def test_one_request_that_is_too_long_loses_its_bodies_first(log):
    posted = {"method": "POST", "hasPostData": True, "postData": "y" * 15_000}
    log.hear(sent("1", request=posted | {"headers": {f"h{n}": "v" * 100 for n in range(50)}}))
    number = log.exchanges()[0].number
    answer, _ = await ask(log, id=number, limit=15_000)
    assert answer.value["requestBody"]["text"] == "y" * 15_000
    short = answer.shorten(answer.value, 10_000)
    assert encoded_length(short) <= 10_000
    body = short["requestBody"]
    assert body["truncated"] is True
    assert body["next"] == f"offset={len(body['text'])}"
    assert short["requestHeaders"]["h49"]
    shortest = answer.shorten(answer.value, 2_000)
    assert encoded_length(shortest) <= 2_000
    assert "left out" in shortest["requestHeaders"]


# --- in a real browser --------------------------------------------------------------------


class Seen:
    """Ask the tool of one session tab, as the front would."""

    def __init__(self, tab) -> None:
        self._engine = SimpleNamespace(tab=lambda number: tab)

    async def __call__(self, **arguments):
        return (await network(self._engine, NetworkArguments(**arguments), None)).value

    async def one(self, url, **arguments):
        (found,) = (await self(url=url))["requests"]
        return await self(id=found["id"], **arguments)


WORKER = "onmessage = async () => postMessage(await (await fetch('/worker-data')).text())"
SERVICE = """
oninstall = event => event.waitUntil(skipWaiting());
onactivate = event => event.waitUntil(clients.claim());
onfetch = event => {
  if (event.request.url.endsWith('/from-worker')) event.respondWith(new Response('offline'));
};
"""
ASK = """(async () => {
  const worker = new Worker('/worker.js');
  const answered = new Promise(done => { worker.onmessage = done; });
  worker.postMessage(1);
  await answered;
  await (await fetch('/api?token=t0ken', {
    method: 'POST', headers: {Authorization: 'Bearer s3cret', 'Content-Type': 'text/x'},
    body: JSON.stringify({user: 'me', password: 's3cret'}),
  })).text();
  await (await fetch('/first')).text();
  await (await fetch('/picture')).arrayBuffer();
  await fetch('/missing');
  await fetch('http://127.0.0.1:1/').catch(() => 0);
  await fetch(OTHER + '/no-cors').catch(() => 0);
  await fetch('/forbidden').catch(() => 0);
  const socket = new WebSocket(SITE.replace('http', 'ws') + '/socket');
  await new Promise(done => { socket.onerror = done; });
  await navigator.serviceWorker.register('/service.js');
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) {
    await new Promise(done => { navigator.serviceWorker.oncontrollerchange = done; });
  }
  await (await fetch('/from-worker')).text();
  return true;
})()"""


def furnish(site):
    """Pages for every way a page can ask for something."""
    script = {"Content-Type": "text/javascript"}
    site.pages["/worker.js"] = (200, script, WORKER)
    site.pages["/service.js"] = (200, script, SERVICE)
    site.pages["/worker-data"] = (200, {"Content-Type": "text/plain"}, "from a worker")
    cookie = {"Set-Cookie": "sid=s3cret; HttpOnly"}
    site.pages["/api"] = (200, cookie, json.dumps({"access_token": "s3cret", "ok": True}))
    site.pages["/first"] = (302, {"Location": "/second"} | cookie, "")
    site.pages["/second"] = (307, {"Location": "/third"}, "")
    site.pages["/third"] = (200, {}, "the end")
    site.pages["/picture"] = (200, {"Content-Type": "image/x"}, bytes(range(256)))
    site.pages["/no-cors"] = (200, {}, "not for you")
    site.page("/frame", "<script>fetch('/frame-data')</script>framed")
    site.pages["/frame-data"] = (200, {}, "from a frame")
    other = site.address.replace("127.0.0.1", "localhost")
    policy = {"Content-Security-Policy": f"connect-src * ; img-src {other}"}
    page = f"<iframe src='{other}/frame'></iframe><img src='/forbidden.png'>here"
    site.pages["/"] = (200, {"Content-Type": "text/html"} | policy, page)
    return ASK.replace("OTHER", repr(other)).replace("SITE", repr(site.address))


@BROWSER
async def test_all_that_a_page_asks_for_is_there_with_its_reasons_and_bodies(config, site):
    script = furnish(site)
    config = msgspec.structs.replace(
        config, chromium_args=config.chromium_args + " --site-per-process"
    )
    async with session_tab(config) as (_, tab):
        seen = Seen(tab)
        await tab.navigate(site.url())

        async def run(page):
            answer = await page.session.call(
                "Runtime.evaluate", {"expression": script, "awaitPromise": True}
            )
            assert answer["result"].get("value") is True, answer
            await page.network.wait_for_silence(0.1)

        await tab.act(run)

        listed = await seen(limit=100, order="oldest")
        by_path = {
            each["url"].partition("://")[2].partition("/")[2]: each
            for each in listed["requests"]
            if ":1/" not in each["url"]
        }
        assert by_path[""]["kind"] == "Document"
        assert by_path["frame"]["source"] == "frame"
        assert by_path["frame-data"]["source"] == "frame"
        assert by_path["worker-data"]["source"] == "worker"
        assert by_path["missing"]["status"] == 404
        assert by_path["forbidden.png"]["failure"] == "blocked: csp"
        assert by_path["no-cors"]["failure"].startswith("cors: ")
        assert by_path["from-worker"]["fromServiceWorker"] is True
        assert by_path["socket"]["kind"] == "WebSocket"
        assert by_path["socket"]["failure"]
        failed = await seen(failed=True, limit=100)
        assert {"missing", "forbidden.png", "no-cors", "socket"} <= {
            each["url"].rpartition("/")[2] for each in failed["requests"]
        }
        refused = [each for each in failed["requests"] if ":1/" in each["url"]]
        assert refused[0]["failure"].startswith("net::ERR_")

        api = await seen.one("/api")
        assert "s3cret" not in json.dumps(api)
        assert "t0ken" not in json.dumps(api)
        headers = {name.lower(): value for name, value in api["requestHeaders"].items()}
        assert headers["authorization"] == "Bearer ***"
        assert api["responseHeaders"]["Set-Cookie"] == "sid=***; HttpOnly"
        assert json.loads(api["requestBody"]["text"]) == {"user": "me", "password": "***"}
        assert json.loads(api["responseBody"]["text"]) == {"access_token": "***", "ok": True}
        assert api["remoteAddress"] == site.address.removeprefix("http://")
        assert api["timing"]["wait"] >= 0
        assert api["initiator"]["type"] == "script"
        told = json.dumps(await seen.one("/api", reveal=True))
        assert told.count("s3cret") == 4
        assert "t0ken" in told

        chain = await seen.one("/third")
        assert [(hop["url"], hop["status"]) for hop in chain["redirects"]] == [
            (site.url("/first"), 302),
            (site.url("/second"), 307),
        ]
        assert chain["redirects"][0]["responseHeaders"]["Set-Cookie"] == "sid=***; HttpOnly"
        assert chain["responseBody"]["text"] == "the end"

        picture = await seen.one("/picture", limit=10, offset=5)
        body = picture["responseBody"]
        assert "base64" in body, picture
        assert base64.b64decode(body["base64"]) == bytes(range(5, 15))
        assert (body["size"], body["truncated"], body["next"]) == (256, True, "offset=15")

        assert (await seen.one("/frame-data"))["responseBody"]["text"] == "from a frame"
        assert (await seen.one("/worker-data"))["responseBody"]["text"] == "from a worker"
        assert (await seen.one("/from-worker"))["responseBody"]["text"] == "offline"


@BROWSER
async def test_a_navigation_empties_the_list_unless_it_is_preserved(config, site):
    first = site.page("/one", "<script>fetch('/data')</script>")
    second = site.page("/two", "x")
    site.pages["/data"] = (200, {}, "data")
    async with session_tab(config) as (_, tab):
        seen = Seen(tab)
        await tab.navigate(first)
        await tab.act(lambda page: page.network.wait_for_silence(0.1))
        number = (await seen(url="/data"))["requests"][0]["id"]
        await tab.navigate(second)
        assert (await seen(url="/data"))["count"] == 0
        with pytest.raises(RequestNotFoundError):
            await seen(id=number)
        await seen(preserve=True)
        await tab.navigate(first)
        await tab.act(lambda page: page.network.wait_for_silence(0.1))
        await tab.navigate(second)
        listed = await seen(order="oldest")
        assert [each["url"] for each in listed["requests"]] == [
            second,
            first,
            site.url("/data"),
            second,
        ]
        body = (await seen(id=listed["requests"][1]["id"])).get("responseBody")
        assert body is None or "missing" in body or "text" in body


@BROWSER
async def test_answers_stay_apart_while_a_page_asks_without_end(config, site):
    url = site.page("/", "x")
    site.pages["/d"] = (200, {}, "x" * 500_000)
    fetch = "for (let n = 0; n < 30; n++) await (await fetch('/d?' + n)).text()"
    script = f"(async () => {{ {fetch} }})()"
    async with session_tab(config) as (_, tab):
        seen = Seen(tab)
        await tab.navigate(url)

        async def run(page):
            await page.session.call(
                "Runtime.evaluate", {"expression": script, "awaitPromise": True}
            )

        await tab.act(run)
        assert (await seen(url="/d"))["count"] == 30
        newest = await seen.one("/d?29")
        assert (newest["responseBody"]["size"], newest["responseBody"]["truncated"]) == (
            500_000,
            True,
        )
        assert "10 MB together" in (await seen.one("/d?0"))["responseBody"]["missing"]
        assert await tab.read(lambda page: evaluate("1 + 1", page)) == 2


@BROWSER
async def test_a_server_answers_the_tool_and_its_mistakes(environment, site):
    site.page("/", "x")
    command = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*command, **environment, VFA_TOOLS="all") as (peer, process):
        await peer.initialize()
        await peer.call("browser_navigate", url=site.url())
        listed = json.loads(text_of(await peer.call("browser_network", kind="document")))
        assert listed["requests"][0]["status"] == 200
        one = json.loads(
            text_of(await peer.call("browser_network", id=listed["requests"][0]["id"]))
        )
        assert "x" in one["responseBody"]["text"]
        for wrong, code in (
            ({"kind": "picture"}, "[INVALID_ARGS]"),
            ({"limit": -1}, "[INVALID_ARGS]"),
            ({"preserve": "yes"}, "[INVALID_ARGS]"),
            ({"id": 987654321}, "[REQUEST_NOT_FOUND]"),
        ):
            answer = await peer.call("browser_network", **wrong)
            assert answer["isError"] is True
            assert text_of(answer).startswith(code)
        await process.stdin.aclose()
