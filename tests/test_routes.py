"""Every way out of a page, and none of them to where the policy does not allow.

The forbidden place is a server of the test's own, reached by a name whose address is one of
this machine's but not the allowed one; it must never see a byte.
"""

from __future__ import annotations

import socket
import threading
from contextlib import asynccontextmanager, contextmanager

import pytest
import trio

from tests.tabs import evaluate, session_tab
from vfa.config import load
from vfa.engine import open_engine
from vfa.errors import SsrfBlockedError
from vfa.page.navigation import navigate


class Forbidden:
    """A server that counts connections, and answers none."""

    def __init__(self, door):
        self.door = door
        self.port = door.getsockname()[1]
        self.connections = 0

    def url(self, scheme="http", path="/secret"):
        return f"{scheme}://inner.test:{self.port}{path}"

    def accept(self):
        while True:
            try:
                connection, _ = self.door.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()


@contextmanager
def forbidden():
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = Forbidden(door)
        thread = threading.Thread(target=server.accept, daemon=True)
        thread.start()
        yield server
        door.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def inner():
    with forbidden() as server:
        yield server


@pytest.fixture
def settings(environment):
    """Settings under which inner.test leads to this machine and is denied by name."""
    return environment | {
        "VFA_HOSTS": "inner.test=127.0.0.1, private.test=10.1.2.3, *=-",
        "VFA_DENY_REQUESTS": "inner.test",
    }


@asynccontextmanager
async def tab(settings):
    async with session_tab(load(settings)) as (browser, session):
        yield browser, session


# What a page does to get there: {url} is the forbidden place's. Each gives a promise, or not.
PAGE_ROUTES = {
    "fetch": "fetch('{url}').catch(() => 0)",
    "fetch without cors": "fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0)",
    "keepalive fetch": "fetch('{url}', {{mode: 'no-cors', keepalive: true}}).catch(() => 0)",
    "xhr": "new Promise(d => {{const x = new XMLHttpRequest(); x.onloadend = d; "
    "x.open('GET', '{url}'); x.send()}})",
    "event source": "new Promise(d => {{const e = new EventSource('{url}'); e.onerror = d}})",
    "web socket": "new Promise(d => {{const w = new WebSocket('{ws}'); w.onclose = d}})",
    "secure web socket": "new Promise(d => {{const w = new WebSocket('{wss}'); "
    "w.onclose = d}})",
    "beacon": "navigator.sendBeacon('{url}', 'x')",
    "image": "new Promise(d => {{const i = new Image(); i.onerror = d; i.src = '{url}'}})",
    "script": "new Promise(d => {{const s = document.createElement('script'); s.onerror = d; "
    "s.src = '{url}'; document.head.append(s)}})",
    "style sheet": "new Promise(d => {{const l = document.createElement('link'); "
    "l.onerror = d; l.rel = 'stylesheet'; l.href = '{url}'; document.head.append(l)}})",
    "preload": "new Promise(d => {{const l = document.createElement('link'); l.onerror = d; "
    "l.rel = 'preload'; l.as = 'fetch'; l.href = '{url}'; document.head.append(l)}})",
    "prefetch and preconnect": "['prefetch', 'preconnect', 'dns-prefetch', 'prerender', 'icon']"
    ".forEach(rel => {{const l = document.createElement('link'); l.rel = rel; "
    "l.href = '{url}'; document.head.append(l)}})",
    "css image": "document.body.style.backgroundImage = \"url('{url}')\"",
    "font": "new FontFace('f', \"url('{url}')\").load().catch(() => 0)",
    "video": "new Promise(d => {{const v = document.createElement('video'); v.onerror = d; "
    "v.src = '{url}'; v.load()}})",
    "iframe": "new Promise(d => {{const f = document.createElement('iframe'); f.onload = d; "
    "f.src = '{url}'; document.body.append(f)}})",
    "object": "new Promise(d => {{const o = document.createElement('object'); o.onerror = d; "
    "o.data = '{url}'; document.body.append(o)}})",
    "secure fetch": "fetch('{https}').catch(() => 0)",
    "worker": "new Promise(d => {{const w = new Worker(URL.createObjectURL(new Blob(["
    "`fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0).then(() => postMessage(1))`]))); "
    "w.onmessage = d}})",
    "web transport": "new WebTransport('{https}').ready.catch(() => 0)",
    "web rtc": "(async () => {{const c = new RTCPeerConnection({{iceServers: [{{urls: "
    "'turn:inner.test:{port}?transport=tcp', username: 'a', credential: 'b'}}]}}); "
    "c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer()); "
    "await new Promise(d => {{c.onicegatheringstatechange = () => "
    "c.iceGatheringState === 'complete' && d(); setTimeout(d, 1500)}})}})()",
    "form in a frame": "(() => {{const f = document.createElement('iframe'); f.name = 'sink'; "
    "document.body.append(f); const g = document.createElement('form'); g.target = 'sink'; "
    "g.method = 'post'; g.action = '{url}'; document.body.append(g); g.submit()}})()",
    "redirect of a fetch": "fetch('/redirect', {{mode: 'no-cors'}}).catch(() => 0)",
    "redirect of an image": "new Promise(d => {{const i = new Image(); i.onerror = d; "
    "i.src = '/redirect'}})",
}


async def try_route(session, start, name, server):
    """Have a page take one of the routes to a server, and give it time to get there."""
    await session.navigate(start)
    script = PAGE_ROUTES[name].format(
        url=server.url(),
        https=server.url("https"),
        ws=server.url("ws"),
        wss=server.url("wss"),
        port=server.port,
    )
    with trio.move_on_after(8):
        await session.act(
            lambda page: page.session.call(
                "Runtime.evaluate", {"expression": script, "awaitPromise": True}
            )
        )


async def test_no_way_out_of_a_page_leads_to_a_forbidden_host(settings, site, inner):
    site.pages["/redirect"] = (302, {"Location": inner.url()}, "")
    start = site.page("/", "<p>start</p>")
    async with tab(settings) as (_, session):
        for name in PAGE_ROUTES:
            await try_route(session, start, name, inner)
            assert inner.connections == 0, name


# These never get to a server like ours: a proxy carries no UDP, and Chromium takes its time.
NOT_REACHED = {"web transport", "web rtc", "prefetch and preconnect"}


async def test_the_same_ways_do_lead_to_a_host_that_is_allowed(settings, site, inner):
    del settings["VFA_DENY_REQUESTS"]
    site.pages["/redirect"] = (302, {"Location": inner.url()}, "")
    start = site.page("/", "<p>start</p>")
    async with tab(settings) as (_, session):
        for name in PAGE_ROUTES.keys() - NOT_REACHED:
            before = inner.connections
            await try_route(session, start, name, inner)
            with trio.fail_after(5):
                while inner.connections == before:  # noqa: ASYNC110  # a thread counts
                    await trio.sleep(0.01)
            assert inner.connections > before, name


async def test_a_blocked_request_is_told_from_one_that_failed(settings, site, inner):
    async with tab(settings) as (_, session):
        await session.navigate(
            site.page("/", f"<img src={inner.url()}><img src={site.url('/x')}>")
        )

        async def failures(page):
            return {each.url: each.failure for each in page.network.records() if each.failure}

        assert await session.read(failures) == {inner.url(): "blocked-by-policy"}
    assert inner.connections == 0


DOCUMENT_ROUTES = {
    "redirect": (302, {"Location": "{url}"}, ""),
    "permanent redirect": (308, {"Location": "{url}"}, ""),
    "refresh header": (200, {"Content-Type": "text/html", "Refresh": "0;url={url}"}, "x"),
    "meta refresh": "<meta http-equiv=refresh content='0;url={url}'>",
    "script": "<script>location.href = '{url}'</script>",
    "script replacing": "<script>location.replace('{url}')</script>",
    "form": "<form id=f action='{url}'></form><script>f.submit()</script>",
    "click on a link": "<a id=a href='{url}'>x</a><script>a.click()</script>",
    "popup": "<script>open('{url}')</script>",
    "link in a new tab": "<a id=a href='{url}' target=_blank>x</a><script>a.click()</script>",
    "base": "<base href='{url}'><img src='pixel.png'>",
    "frame set": "<frameset><frame src='{url}'></frameset>",
    "frame from a string": "<iframe srcdoc=\"<script>location.href='{url}'</script>\">"
    "</iframe>",
    "content security policy report": (
        200,
        {
            "Content-Type": "text/html",
            "Content-Security-Policy": "img-src 'none'; report-uri {url}",
        },
        "<img src=/x>",
    ),
    "view source": "<script>location.href = 'view-source:{url}'</script>",
}


async def refusal_of(session, url):
    """Go to a URL; return how the policy refused where that led, or None."""
    try:
        await session.navigate(url)
    except SsrfBlockedError as error:
        return error
    return None


async def test_no_document_takes_the_tab_to_a_forbidden_host(settings, site, inner):
    async with tab(settings) as (_, session):
        for name, answer in DOCUMENT_ROUTES.items():
            if isinstance(answer, str):
                site.page("/route", answer.replace("{url}", inner.url()))
            else:
                status, headers, body = answer
                filled = {k: v.replace("{url}", inner.url()) for k, v in headers.items()}
                site.pages["/route"] = (status, filled, body)
            refused = await refusal_of(session, site.url("/route"))
            assert refused is None or ("inner.test" in refused.message and refused.hint), name
            await session.read(lambda page: page.settle())
            assert inner.connections == 0, name


async def test_a_typed_url_is_refused_with_the_host_and_the_setting(settings, inner):
    async with tab(settings) as (_, session):
        with pytest.raises(SsrfBlockedError, match=r"inner\.test") as caught:
            await session.navigate(inner.url())
        assert "VFA_DENY_REQUESTS" in caught.value.hint
    assert inner.connections == 0


async def test_a_redirect_to_a_private_address_is_refused_with_the_address(settings, site):
    site.pages["/"] = (302, {"Location": "http://private.test/admin"}, "")
    async with tab(settings) as (_, session):
        with pytest.raises(SsrfBlockedError, match=r"10\.1\.2\.3") as caught:
            await session.navigate(site.url("/"))
        assert "ALLOW_PRIVATE_NETWORKS" in caught.value.hint


async def test_a_service_worker_gets_no_further_than_its_page(settings, site, inner):
    site.pages["/sw.js"] = (
        200,
        {"Content-Type": "text/javascript"},
        f"onmessage = e => fetch('{inner.url()}', {{mode: 'no-cors'}}).catch(() => 0)"
        ".then(() => e.source.postMessage(1))",
    )
    script = """(async () => {
      const registered = await navigator.serviceWorker.register('/sw.js');
      await navigator.serviceWorker.ready;
      const answer = new Promise(d => navigator.serviceWorker.onmessage = d);
      registered.active.postMessage(1);
      await answer;
    })()"""
    async with tab(settings) as (_, session):
        await session.navigate(site.page("/", "x"))
        with trio.fail_after(20):
            await session.act(
                lambda page: page.session.call(
                    "Runtime.evaluate", {"expression": script, "awaitPromise": True}
                )
            )
    assert inner.connections == 0


async def test_a_name_that_changes_its_address_gains_nothing(settings, site, monkeypatch):
    asked = []

    async def resolver(host, port):
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.9.9.9"]

    monkeypatch.setattr("vfa.egress.exits.read_hosts", lambda text: resolver)
    monkeypatch.setattr("vfa.egress.dial.REMEMBER", 0)
    site.page("/", "<p>first</p>")
    url = f"http://rebind.test:{site.url('').rpartition(':')[2]}/"
    async with tab(settings) as (_, session):
        await session.navigate(url)
        await session.act(lambda page: evaluate("fetch('/again').catch(() => 0)", page))
        before = len(asked)
        refused = None
        for _ in range(5):  # as long as the first connection is kept, it may be used
            await session.navigate("about:blank")
            refused = refused or await refusal_of(session, url)
            if len(asked) == before:
                headers = {"Connection": "close", "Content-Type": "text/html"}
                site.pages["/"] = (200, headers, "")
        assert "10.9.9.9" in refused.message


async def test_another_program_of_this_machine_cannot_use_the_proxy(settings, site):
    async with tab(settings) as (browser, session):
        await session.navigate(site.page("/", "x"))
        async with browser.lease() as link:
            port = link.launched.listener.port
        asked = len(site.asked)
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            request = f"GET {site.url('/')} HTTP/1.1\r\nHost: a\r\n\r\n"
            await stream.send_all(request.encode())
            assert (await stream.receive_some(100)).startswith(b"HTTP/1.1 407")
        assert len(site.asked) == asked


async def test_audits_have_a_way_out_of_their_own(settings, site, inner):
    settings |= {"VFA_ALLOW_LOCAL_HOST": "1"}
    site.page("/", f"<h1>x</h1><img alt='' src={inner.url()}><a href={inner.url()}>in</a>")
    async with open_engine(load(settings)) as engine:
        report = await engine.audit(site.url("/"), include_screenshots=False)
    assert report.metrics["pages_audited"] == 1
    said = [each.failure for each in engine.errors.drain().entries]
    assert "blocked-by-policy" in said
    assert inner.connections == 0


async def test_documents_may_come_only_from_listed_hosts(settings, site):
    settings |= {"VFA_ALLOW_NAVIGATE": "127.0.0.1"}
    other = site.url("/other").replace("127.0.0.1", "localhost")
    site.page("/other", "other")
    async with tab(settings) as (browser, session):
        await session.navigate(site.page("/", f"<img src={other}>"))
        assert ("GET", "/other") in site.asked  # as a request it is allowed
        async with browser.page() as page:
            with pytest.raises(SsrfBlockedError, match="VFA_ALLOW_NAVIGATE"):
                await navigate(page, other)
