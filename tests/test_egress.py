"""The proxy on plain sockets: what is passed on, and what is not."""

from __future__ import annotations

import base64
from contextlib import asynccontextmanager

import h11
import pytest
import trio
import trio.testing

from vfa.config import Config, load
from vfa.egress.listener import open_listener
from vfa.egress.upstream import Upstream, Upstreams, read_upstreams
from vfa.errors import ConfigError
from vfa.policy.network import Policy

OPEN = Policy.for_audits(load({"VFA_ALLOW_LOCAL_HOST": "1", "VFA_BLOCKED_PORTS": "25"}))
CLOSED = Policy.for_audits(Config())
DIRECT = Upstreams()
MEGABYTE = 1 << 20


class Origin:
    """A server that answers by path, and remembers every byte that came."""

    def __init__(self):
        self.port = 0
        self.requests = []
        self.connections = 0

    def place(self, host="127.0.0.1"):
        return f"http://{host}:{self.port}"

    async def serve(self, stream):
        self.connections += 1
        connection = h11.Connection(h11.SERVER)
        try:
            while await self.answer(connection, stream):
                connection.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            pass

    async def answer(self, connection, stream):
        request, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                return False
        self.requests.append((request, body))
        return await self.say(request, body, connection, stream)

    async def say(self, request, body, connection, stream):
        path = request.target.split(b"?")[0]
        if path == b"/half":
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            await stream.aclose()
            return False
        headers = [
            (b"X-Kept", b"yes"),
            (b"Connection", b"x-not-kept"),
            (b"Proxy-Connection", b"a"),
        ]
        data = b"hello" if request.method != b"POST" else body
        if path == b"/big":
            data = b"x" * (8 * MEGABYTE)
        if path == b"/close":
            headers = [(b"Connection", b"close")]
        if path != b"/chunked":
            headers.append((b"Content-Length", str(len(data)).encode()))
        await stream.send_all(connection.send(h11.Response(status_code=200, headers=headers)))
        if request.method != b"HEAD":
            for start in range(0, len(data), MEGABYTE):
                part = data[start : start + MEGABYTE]
                await stream.send_all(connection.send(h11.Data(data=part)))
        end = connection.send(h11.EndOfMessage())
        if end:
            await stream.send_all(end)
        return connection.our_state is h11.DONE


@asynccontextmanager
async def origin():
    served = Origin()
    async with trio.open_nursery() as nursery:
        (door,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        served.port = door.socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, served.serve, [door])  # noqa: ASYNC113
        yield served
        nursery.cancel_scope.cancel()


class Client:
    """A connection to the proxy, as a browser holds one."""

    def __init__(self, stream, listener):
        self.stream = stream
        self.connection = h11.Connection(h11.CLIENT)
        self.listener = listener

    async def ask(self, method, url, *, headers=(), body=b"", secret=True):
        if self.connection.our_state is h11.DONE:
            self.connection.start_next_cycle()
        sent = [("Host", "whatever"), *headers]
        if secret:
            sent.append(("Proxy-Authorization", self.listener.authorization))
        if body:
            sent.append(("Content-Length", str(len(body))))
        await self.stream.send_all(
            self.connection.send(h11.Request(method=method, target=url, headers=sent))
        )
        for event in ([h11.Data(data=body)] if body else []) + [h11.EndOfMessage()]:
            if data := self.connection.send(event):
                await self.stream.send_all(data)
        return await self.read()

    async def read(self):
        answer, data = None, b""
        while True:
            event = self.connection.next_event()
            if event is h11.NEED_DATA:
                self.connection.receive_data(await self.stream.receive_some(65536))
            elif isinstance(event, h11.Response):
                answer = event
            elif isinstance(event, h11.Data):
                data += event.data
            elif isinstance(event, h11.EndOfMessage):
                return answer, data
            else:
                return None, data


@asynccontextmanager
async def proxied(policy=OPEN, upstreams=DIRECT, **options):
    async with (
        trio.open_nursery() as background,
        open_listener(policy, upstreams, background, **options) as listener,
        await trio.open_tcp_stream("127.0.0.1", listener.port) as stream,
    ):
        yield Client(stream, listener), listener


async def is_dropped(client, method, url, **options):
    """Say whether the proxy ends the connection without an answer, or refuses a tunnel."""
    try:
        answer, data = await client.ask(method, url, **options)
    except (h11.RemoteProtocolError, trio.BrokenResourceError):
        return True
    refused = answer is None or (method == "CONNECT" and answer.status_code == 502)
    return refused and data == b""


@pytest.mark.parametrize("path", ["/", "/chunked", "/?a=b", "/close"])
async def test_a_request_arrives_with_a_path_and_its_answer_comes_back(path):
    async with origin() as server, proxied() as (client, _):
        answer, data = await client.ask("GET", server.place() + path)

        assert (answer.status_code, data) == (200, b"hello")
        assert server.requests[0][0].target == path.encode()


async def test_what_was_meant_for_the_proxy_stays_there():
    async with origin() as server, proxied() as (client, _):
        headers = [("Proxy-Connection", "keep-alive"), ("Connection", "x-a"), ("X-Keep", "1")]
        answer, _ = await client.ask("GET", server.place() + "/", headers=headers)

        arrived = {name for name, _ in server.requests[0][0].headers}
        assert b"x-keep" in arrived
        assert arrived.isdisjoint({b"proxy-authorization", b"proxy-connection", b"connection"})
        came_back = {name for name, _ in answer.headers}
        assert b"x-kept" in came_back
        assert b"proxy-connection" not in came_back


async def test_the_body_of_a_request_is_passed_on():
    async with origin() as server, proxied() as (client, _):
        body = b"y" * (3 * MEGABYTE)
        _, data = await client.ask("POST", server.place() + "/", body=body)

        assert data == body
        assert server.requests[0][1] == body


async def test_connections_are_kept_on_both_sides():
    async with origin() as server, proxied() as (client, _):
        for _ in range(5):
            await client.ask("GET", server.place() + "/")
        await client.ask("HEAD", server.place() + "/")
        _, data = await client.ask("GET", server.place() + "/big")

        assert server.connections == 1
        assert len(data) == 8 * MEGABYTE


async def test_a_server_that_closes_its_connection_is_dialled_again():
    async with origin() as server, proxied() as (client, _):
        for _ in range(3):
            answer, _ = await client.ask("GET", server.place() + "/close")
            assert answer.status_code == 200

        assert server.connections == 3


async def test_an_answer_that_breaks_off_breaks_off_for_the_client():
    async with origin() as server, proxied() as (client, _):
        with pytest.raises(h11.RemoteProtocolError):
            await client.ask("GET", server.place() + "/half")


@pytest.mark.parametrize("wrong", [(), [("Proxy-Authorization", "Basic d3Jvbmc=")]])
async def test_who_does_not_know_the_secret_is_refused(wrong):
    async with origin() as server, proxied() as (client, listener):
        answer, _ = await client.ask("GET", server.place(), headers=wrong, secret=False)
        assert answer.status_code == 407
        answer, _ = await client.ask("CONNECT", f"127.0.0.1:{server.port}", secret=False)
        assert answer.status_code == 407

        assert server.connections == 0
        assert listener.record.strangers == 2
        answer, _ = await client.ask("GET", server.place())
        assert answer.status_code == 200


async def test_a_tunnel_passes_bytes_both_ways_until_both_ends_are_done():
    async def echo(stream):
        async for data in stream:
            await stream.send_all(data.upper())
        await stream.send_eof()

    async with trio.open_nursery() as nursery:
        (door,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, echo, [door])
        port = door.socket.getsockname()[1]
        async with proxied() as (client, listener):
            head = (
                f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: a\r\n".encode()
                + b"Proxy-Authorization: "
                + listener.authorization
                + b"\r\n\r\nearly "
            )
            await client.stream.send_all(head)
            got = b""
            while not got.endswith(b"EARLY "):
                got += await client.stream.receive_some(1000)
            assert got.startswith(b"HTTP/1.1 200")
            await client.stream.send_all(b"more")
            assert await client.stream.receive_some(100) == b"MORE"
            await client.stream.send_eof()
            assert await client.stream.receive_some(100) == b""
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_a_refused_address_is_never_connected_to(method):
    async with origin() as server, proxied(CLOSED) as (client, listener):
        place = f"127.0.0.1:{server.port}"
        url = f"http://{place}/" if method == "GET" else place
        assert await is_dropped(client, method, url)

        assert server.connections == 0
        failure = listener.failure("127.0.0.1", server.port)
        assert failure.by_policy
        assert "127.0.0.1" in failure.message
        assert "VFA_ALLOW_LOCAL_HOST" in failure.hint


@pytest.mark.parametrize(
    "spelling",
    ["2130706433", "0x7f.1", "017700000001", "127.1", "[::ffff:7f00:1]", "LOCALHOST."],
)
async def test_a_refused_address_is_refused_in_every_spelling(spelling):
    async with origin() as server, proxied(CLOSED) as (client, listener):
        assert await is_dropped(client, "GET", f"http://{spelling}:{server.port}/")

        assert server.connections == 0
        assert listener.record.refused == 1


async def test_a_name_with_one_inner_address_among_outer_ones_is_refused():
    async def resolver(host, port):
        return ["93.184.215.14", "10.0.0.7"]

    async with proxied(CLOSED, resolver=resolver) as (client, listener):
        assert await is_dropped(client, "GET", "http://mixed.example/")

        assert "10.0.0.7" in listener.failure("mixed.example", 80).message


async def test_a_name_that_changes_its_address_after_the_check_gains_nothing():
    asked = []

    async with origin() as server:

        async def resolver(host, port):
            asked.append(host)
            return ["10.0.0.7"] if len(asked) > 1 else ["127.0.0.1"]

        policy = Policy("browser", allow_loopback=True, allow_private=False)
        async with proxied(policy, resolver=resolver) as (client, listener):
            url = f"http://rebind.example:{server.port}/"
            answer, _ = await client.ask("GET", url, headers=[("Connection", "close")])
            assert answer.status_code == 200
            assert listener.record.address("rebind.example", server.port) == "127.0.0.1"
        async with proxied(policy, resolver=resolver) as (client, listener):
            assert await is_dropped(client, "GET", url)
            assert listener.failure("rebind.example", server.port).by_policy


@pytest.mark.parametrize(
    ("setting", "host", "allowed"),
    [
        ({"VFA_ALLOW_REQUESTS": "*.good.example"}, "a.good.example", True),
        ({"VFA_ALLOW_REQUESTS": "*.good.example"}, "good.example", False),
        ({"VFA_ALLOW_REQUESTS": "good.example"}, "GOOD.example.", True),
        ({"VFA_ALLOW_REQUESTS": "good.example"}, "bad-good.example", False),
        ({"VFA_DENY_REQUESTS": "bad.example"}, "bad.example", False),
        ({"VFA_DENY_REQUESTS": "bad.example"}, "good.example", True),
        (
            {"VFA_ALLOW_REQUESTS": "a.example", "VFA_DENY_REQUESTS": "a.example"},
            "a.example",
            False,
        ),
    ],
)
async def test_lists_decide_what_may_be_asked(setting, host, allowed):
    async def resolver(name, port):
        return ["127.0.0.1"]

    policy = Policy.for_audits(load({"VFA_ALLOW_LOCAL_HOST": "1", **setting}))
    async with origin() as server, proxied(policy, resolver=resolver) as (client, _):
        dropped = await is_dropped(client, "GET", f"http://{host}:{server.port}/")
        assert dropped is not allowed
        assert server.connections == allowed


async def test_mail_ports_are_not_asked_anything():
    async with proxied() as (client, listener):
        assert await is_dropped(client, "GET", "http://127.0.0.1:25/")
        assert "VFA_BLOCKED_PORTS" in listener.failure("127.0.0.1", 25).hint


async def test_the_proxy_does_not_connect_to_itself():
    async with proxied() as (client, listener):
        assert await is_dropped(client, "CONNECT", f"127.0.0.1:{listener.port}")
        assert listener.failure("127.0.0.1", listener.port).by_policy


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://nowhere.example/", "net::ERR_NAME_NOT_RESOLVED"),
        ("http://127.0.0.1:1/", "net::ERR_CONNECTION_REFUSED"),
    ],
)
async def test_what_a_direct_connection_would_have_met_is_on_record(url, error):
    async def resolver(host, port):
        if host == "nowhere.example":
            raise OSError("no such name")
        return [host]

    async with proxied(resolver=resolver) as (client, listener):
        assert await is_dropped(client, "GET", url)
        host, port = ("nowhere.example", 80) if "nowhere" in url else ("127.0.0.1", 1)
        failure = listener.failure(host, port)
        assert failure.error == error
        assert not failure.by_policy


async def test_another_address_is_tried_where_the_first_one_does_not_answer():
    async with origin() as server:

        async def resolver(host, port):
            return ["::1", "127.0.0.2", "127.0.0.1"]

        async with proxied(resolver=resolver) as (client, _):
            answer, _ = await client.ask("GET", f"http://several.example:{server.port}/")
            assert answer.status_code == 200


@pytest.mark.parametrize(
    "junk",
    [
        b"\0\1\2\3\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT :::: HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n" + b"x" * 400_000,
    ],
)
async def test_nonsense_ends_its_connection_and_nothing_else(junk):
    async with origin() as server, proxied() as (client, listener):
        secret = b"\r\nProxy-Authorization: " + listener.authorization
        await client.stream.send_all(junk.replace(b"\r\nHost: a", b"\r\nHost: a" + secret))
        with trio.fail_after(5):
            try:
                while await client.stream.receive_some(65536):
                    pass
            except trio.BrokenResourceError:
                pass
        async with await trio.open_tcp_stream("127.0.0.1", listener.port) as stream:
            answer, _ = await Client(stream, listener).ask("GET", server.place())
            assert answer.status_code == 200


async def test_what_a_client_does_not_read_is_not_fetched():
    sent = 0

    async def endless(stream):
        nonlocal sent
        await stream.receive_some(1000)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                await stream.send_all(b"z" * 65536)
                sent += 65536
        except trio.BrokenResourceError:
            pass

    async with trio.open_nursery() as nursery:
        (door,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, endless, [door])
        async with proxied() as (client, listener):
            request = (
                f"GET http://127.0.0.1:{door.socket.getsockname()[1]}/ HTTP/1.1\r\nHost: a\r\n"
                "Proxy-Authorization: "
            ).encode()
            await client.stream.send_all(request + listener.authorization + b"\r\n\r\n")
            before = -1
            with trio.fail_after(20):
                while sent != before:
                    before = sent
                    await trio.testing.wait_all_tasks_blocked(0.2)
            assert 0 < sent < 64 * MEGABYTE
        nursery.cancel_scope.cancel()


# --- through another proxy ----------------------------------------------------------------


class Outer:
    """A proxy of the network: tunnels to one place whatever it is asked for."""

    def __init__(self, target_port, password=""):
        self.target_port = target_port
        self.password = password
        self.asked = []

    async def serve(self, stream):
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some(1000)
        self.asked.append(head.split(b"\r\n")[0].decode())
        given = [line for line in head.split(b"\r\n") if line.lower().startswith(b"proxy-auth")]
        wanted = b"Basic " + base64.b64encode(self.password.encode())
        if self.password and not (given and given[0].endswith(wanted)):
            await stream.send_all(b"HTTP/1.1 407 No\r\n\r\n")
            return
        inner = await trio.open_tcp_stream("127.0.0.1", self.target_port)
        if head.startswith(b"CONNECT"):
            await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            await inner.send_all(head)
        async with inner, trio.open_nursery() as nursery:
            nursery.start_soon(self.copy, stream, inner)
            await self.copy(inner, stream)
            nursery.cancel_scope.cancel()

    async def copy(self, source, sink):
        try:
            async for data in source:
                await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


@asynccontextmanager
async def outer(server, password=""):
    proxy = Outer(server.port, password)
    async with trio.open_nursery() as nursery:
        (door,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, proxy.serve, [door])  # noqa: ASYNC113
        yield (
            proxy,
            Upstream(
                "127.0.0.1",
                door.socket.getsockname()[1],
                "Basic " + base64.b64encode(password.encode()).decode() if password else "",
            ),
        )
        nursery.cancel_scope.cancel()


async def public(host, port):
    return ["93.184.215.14"]


async def test_behind_a_proxy_the_address_that_was_checked_is_asked_for():
    async with origin() as server, outer(server, "me:secret") as (proxy, upstream):
        async with proxied(CLOSED, Upstreams(upstream, upstream), resolver=public) as (
            client,
            _,
        ):
            answer, _ = await client.ask("GET", "http://site.example/")

    assert answer.status_code == 200
    assert proxy.asked == ["CONNECT 93.184.215.14:80 HTTP/1.1"]


async def test_behind_a_proxy_inner_addresses_are_refused_all_the_same():
    async def inner(host, port):
        return ["10.1.2.3"]

    async with origin() as server, outer(server) as (proxy, upstream):
        async with proxied(CLOSED, Upstreams(upstream, upstream), resolver=inner) as (
            client,
            _,
        ):
            assert await is_dropped(client, "GET", "http://site.example/")

    assert proxy.asked == []


async def test_a_proxy_resolves_names_itself_only_if_the_setting_says_so():
    async with origin() as server, outer(server) as (proxy, upstream):
        async with proxied(CLOSED, Upstreams(upstream, upstream), upstream_resolves=True) as (
            client,
            _,
        ):
            answer, _ = await client.ask("GET", "http://site.example/x")

    assert answer.status_code == 200
    assert proxy.asked == ["GET http://site.example/x HTTP/1.1"]


async def test_a_wrong_password_of_the_proxy_is_said():
    async with origin() as server, outer(server, "me:right") as (_, upstream):
        wrong = Upstream(upstream.host, upstream.port, "Basic bm8=")
        async with proxied(CLOSED, Upstreams(wrong, wrong), resolver=public) as (
            client,
            listener,
        ):
            assert await is_dropped(client, "GET", "http://site.example/")
            assert "password" in listener.failure("site.example", 80).hint


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("example.com", False),
        ("localhost", True),
        ("a.corp.example", True),
        ("corp.example", True),
        ("notcorp.example", False),
        ("10.2.3.4", True),
        ("11.2.3.4", False),
    ],
)
def test_what_is_on_the_list_of_exceptions_is_reached_directly(host, direct):
    upstreams = read_upstreams(
        {"HTTP_PROXY": "http://p:1", "NO_PROXY": "localhost, .corp.example,10.0.0.0/8"}
    )
    assert (upstreams.for_target(host, secure=False) is None) is direct


def test_proxies_are_read_from_either_spelling_with_their_passwords():
    upstreams = read_upstreams(
        {"https_proxy": "http://me:p%40ss@p.example", "ALL_PROXY": "q:81"}
    )
    assert upstreams.https == Upstream(
        "p.example", 3128, "Basic " + base64.b64encode(b"me:p@ss").decode()
    )
    assert upstreams.http == Upstream("q", 81)


@pytest.mark.parametrize("url", ["socks5://p:1", "http://", "http://p:99999"])
def test_a_proxy_that_cannot_be_used_stops_the_start(url):
    with pytest.raises(ConfigError, match="HTTP_PROXY"):
        read_upstreams({"HTTP_PROXY": url})
