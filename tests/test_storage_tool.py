"""browser_storage: cookies, local and session storage, and files of all of them."""

from __future__ import annotations

import json
import os
import socket
import stat
from types import SimpleNamespace

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab
from vfa.errors import (
    InvalidArgsError,
    InvalidUrlError,
    OutputError,
    StateError,
    StorageError,
    UnsafePathError,
)
from vfa.page import state as states
from vfa.page import state_file
from vfa.page.origin import origin_of
from vfa.page.state_file import Item, OriginState, SessionState, State, read_state, write_state
from vfa.page.storage import Cookie, CookieFilter, Partition
from vfa.policy.paths import read_output, write_output
from vfa.tools.answer import encoded_length
from vfa.tools.storage import StorageArguments, storage

BROWSER = pytest.mark.browser

# --- files --------------------------------------------------------------------------------

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
hosts = st.sampled_from(["a.test", "b.test:8080", "[::1]:81", "127.0.0.1"])
cookies = st.builds(
    Cookie,
    name=text.filter(bool),
    value=text,
    domain=st.sampled_from([".a.test", "b.test"]),
    expires=st.just(-1.0) | st.floats(0, 1e11),
    http_only=st.booleans(),
    same_site=st.sampled_from([None, "Strict", "Lax", "None"]),
    partition_key=st.none() | st.just(Partition("https://top.test", True)),
)
items = st.lists(st.builds(Item, text, text), max_size=3).map(tuple)
origins = st.lists(
    st.builds(lambda host, kept: OriginState(f"http://{host}", kept), hosts, items),
    max_size=3,
    unique_by=lambda each: each.origin,
)


@given(st.lists(cookies, max_size=3).map(tuple), origins.map(tuple), items)
def test_a_state_that_is_written_is_read_as_it_was(kept, places, session):
    state = State(
        version=1,
        saved_at="2031-02-03T04:05:06Z",
        cookies=kept,
        origins=places,
        session_storage=SessionState("http://a.test", session),
    )
    assert read_state(write_state(state)) == state


def test_state_files_of_other_tools_are_read():
    cookie = {
        "name": "sid",
        "value": "1",
        "domain": "a.test",
        "path": "/",
        "expires": -1,
        "httpOnly": True,
        "secure": False,
        "sameSite": "Lax",
    }
    place = {
        "origin": "https://A.test:443",
        "localStorage": [{"name": "k", "value": "v"}],
        "indexedDB": [],
    }
    state = read_state(json.dumps({"cookies": [cookie], "origins": [place]}).encode())
    assert state.cookies[0].http_only is True
    assert state.origins == (OriginState("https://a.test", (Item("k", "v"),)),)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no state file"),
        (b"not json", "no state file"),
        (b"[1]", "no state file"),
        (b"\xff\xfe", "no state file"),
        (b"[" * 100_000, "no state file"),
        (b'{"version": 2}', "version '2'"),
        (b'{"version": "1"}', "version '1'"),
        (b'{"version": true}', "version"),
        (b'{"cookies": [{"name": "a"}]}', "cookies"),
        (b'{"cookies": [{"name": "a", "value": 5, "domain": "x"}]}', "value"),
        (b'{"cookies": [{"name": "a", "value": "b", "domain": "."}]}', "domain"),
        (
            b'{"cookies": [{"name": "a", "value": "b", "domain": "x", "sameSite": "lax"}]}',
            "sameSite",
        ),
        (b'{"origins": [{"origin": "file:///etc"}]}', "file:///etc"),
        (b'{"origins": [{"origin": "http://a/path"}]}', "http://a/path"),
        (b'{"origins": [{"origin": "chrome://settings"}]}', "chrome"),
        (b'{"sessionStorage": {"origin": ""}}', "origin"),
    ],
)
def test_what_is_no_state_file_is_refused_with_the_reason(content, words):
    with pytest.raises(StateError, match="state file") as caught:
        read_state(content)
    assert words in caught.value.message


def test_errors_about_a_state_file_do_not_repeat_its_values():
    content = b'{"cookies": [{"name": "a", "value": ["s3cret"], "domain": "x"}]}'
    with pytest.raises(StateError) as caught:
        read_state(content)
    assert "s3cret" not in caught.value.message


def test_a_state_that_could_not_be_read_again_is_not_written(monkeypatch):
    monkeypatch.setattr(state_file, "MAX_FILE", 100)
    with pytest.raises(StateError, match="100"):
        write_state(State(origins=(OriginState("http://a", (Item("k", "v" * 100),)),)))


def test_a_private_file_is_private_even_where_another_was_before(tmp_path):
    (tmp_path / "s.json").write_bytes(b"old")
    (tmp_path / "s.json").chmod(0o644)
    path = write_output(tmp_path, "s.json", b"new", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_output(tmp_path, "s.json", 3) == b"new"


def test_files_are_read_through_no_link_and_from_no_pipe_and_only_up_to_the_limit(tmp_path):
    root = tmp_path / "out"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"x")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    (root / "large").write_bytes(b"12345")
    for name in ("link", "folder/secret", "pipe", "../secret", "/etc/passwd"):
        with pytest.raises(UnsafePathError):
            read_output(root, name, 100)
    with pytest.raises(OutputError, match="too large"):
        read_output(root, "large", 4)
    for name in ("missing", "no/such/folder"):
        with pytest.raises(OutputError, match="cannot be read"):
            read_output(root, name, 4)
    assert not (root / "no").exists()


# --- cookies and origins ------------------------------------------------------------------


def test_a_filter_by_domain_takes_what_is_below_and_nothing_that_only_looks_so():
    wanted = CookieFilter(domain=".Example.com")
    for domain, matches in [
        ("example.com", True),
        (".example.com", True),
        ("a.b.example.com", True),
        ("badexample.com", False),
        ("com", False),
    ]:
        assert wanted.matches(Cookie(name="a", value="", domain=domain)) is matches


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://a:80/x?y#z", "http://a"),
        ("HTTPS://A.test:8443", "https://a.test:8443"),
        ("http://u:p@[::1]:81/", "http://[::1]:81"),
        ("about:blank", ""),
        ("data:text/html,x", ""),
        ("http://a:99999/", ""),
        ("", ""),
    ],
)
def test_origins_are_spelt_as_chromium_does(url, origin):
    assert origin_of(url) == origin


# --- arguments ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"action": "set"}, InvalidArgsError, "name"),
        ({"action": "delete", "area": "local"}, InvalidArgsError, "name"),
        ({"action": "load"}, InvalidArgsError, "filename"),
        ({"action": "get", "url": "file:///etc"}, InvalidUrlError, "scheme"),
        ({"action": "get", "area": "local", "domain": "a"}, InvalidArgsError, "origin"),
        ({"action": "save", "filename": "../x"}, UnsafePathError, "traversal"),
        ({"action": "load", "filename": "/etc/passwd"}, UnsafePathError, "Absolute"),
        ({"action": "load", "filename": "missing"}, OutputError, "cannot be read"),
    ],
)
async def test_what_cannot_be_meant_is_refused_before_a_browser_starts(
    tmp_path, arguments, error, words
):
    engine = SimpleNamespace(config=SimpleNamespace(output_path=tmp_path))
    with pytest.raises(error) as caught:
        await storage(engine, StorageArguments(**arguments), None)
    assert words in caught.value.message + caught.value.hint


# --- in a real browser --------------------------------------------------------------------


class Store:
    """Ask the tool of one session tab, as the front would."""

    def __init__(self, tab, config) -> None:
        self.engine = SimpleNamespace(tab=lambda number: tab, config=config)

    async def __call__(self, action, area="cookies", **arguments):
        given = StorageArguments(action=action, area=area, **arguments)
        return (await storage(self.engine, given, None)).value

    async def pairs(self, area="cookies", **arguments):
        entries = (await self("get", area, **arguments))["entries"]
        return {each["name"]: each["value"] for each in entries}


def other_origin(site):
    return site.address.replace("127.0.0.1", "localhost")


@BROWSER
async def test_cookies_are_read_set_and_deleted_with_all_their_attributes(config, site):
    cookie = {"Set-Cookie": "sid=s3cret; HttpOnly; SameSite=Strict"}
    site.pages["/"] = (200, {"Content-Type": "text/html"} | cookie, "x")
    async with session_tab(config) as (_, tab):
        store = Store(tab, config)
        with pytest.raises(InvalidArgsError, match="url or the domain"):
            await store("set", name="a", value="b")
        await tab.navigate(site.url("/"))
        (seen,) = (await store("get"))["entries"]
        assert (seen["value"], seen["httpOnly"], seen["sameSite"]) == ("s3cret", True, "Strict")
        await store("set", name="plain", value="1")
        await store("set", name="shop", value="2", url="https://shop.test/", secure=True)
        await store("set", name="wide", value="3", domain="shop.test", expires=4e9, path="/a")
        assert await tab.read(lambda page: evaluate("document.cookie", page)) == "plain=1"
        assert await store.pairs(domain="shop.test") == {"shop": "2", "wide": "3"}
        assert await store.pairs(url="https://shop.test/a/b") == {"shop": "2", "wide": "3"}
        assert await store.pairs(url="http://shop.test/") == {}
        assert await store.pairs(name="sid") == {"sid": "s3cret"}
        for refused in (
            {"name": "__Host-a", "value": "s3cret"},
            {"name": "a", "value": "s3;cret"},
            {"name": "a", "value": "x" * 5_000},
        ):
            with pytest.raises(StorageError) as caught:
                await store("set", **refused)
            assert refused["value"] not in caught.value.message
        assert (await store("delete", name="wide"))["count"] == 1
        assert (await store("delete", name="wide"))["count"] == 0
        assert (await store("clear", domain="shop.test"))["count"] == 1
        assert (await store("clear"))["count"] == 2
        assert await store.pairs() == {}


@BROWSER
async def test_the_storage_of_the_page_and_of_its_frames_is_told_apart_by_origin(config, site):
    site.page("/frame", "<script>localStorage.whose = 'frame'</script>")
    frame = other_origin(site)
    body = f"<script>localStorage.whose = 'page'</script><iframe src='{frame}/frame'></iframe>"
    body += "<iframe sandbox srcdoc=x></iframe>"
    url = site.page("/", body)
    arguments = config.chromium_args + " --site-per-process"
    config = msgspec.structs.replace(config, chromium_args=arguments)
    async with session_tab(config) as (_, tab):
        store = Store(tab, config)
        with pytest.raises(StorageError, match="no storage"):
            await store("get", "local")
        await tab.navigate(url)
        assert await store.pairs("local") == {"whose": "page"}
        assert await store.pairs("local", url=frame + "/any") == {"whose": "frame"}
        await store("set", "local", name="added", value="é\u2028", url=frame)
        assert await store.pairs("local", url=frame) == {"whose": "frame", "added": "é\u2028"}
        assert (await store("clear", "local", url=frame))["count"] == 2
        with pytest.raises(StorageError, match=r"no frame of this tab") as caught:
            await store("get", "local", url="http://elsewhere.test/")
        assert site.address in caught.value.hint

        await store("set", "session", name="step", value="2")
        assert await tab.read(lambda page: evaluate("sessionStorage.step", page)) == "2"
        assert (await store("delete", "session", name="step"))["count"] == 1
        assert (await store("delete", "session", name="step"))["count"] == 0
        await store("set", "local", name="big", value="x" * 3_000_000)
        with pytest.raises(StorageError, match="5 MB"):
            await store("set", "local", name="bigger", value="x" * 4_000_000)
        answer = await storage(
            store.engine, StorageArguments(action="get", area="local", name="big"), None
        )
        assert len(answer.value["entries"][0]["value"]) == 3_000_000
        short = answer.shorten(answer.value, 10_000)
        assert encoded_length(short) <= 10_000
        assert short["entries"][0]["length"] == 3_000_000
        listed = await store("get", "local", limit=1, offset=1)
        assert (listed["count"], listed["truncated"], len(listed["entries"])) == (2, False, 1)


@BROWSER
async def test_a_state_is_saved_over_all_origins_and_loaded_without_any_traffic(
    config, site, tmp_path
):
    other = other_origin(site)
    site.page("/", "<script>localStorage.mark ??= 'set by the page'</script>")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    silent = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with session_tab(config) as (_, tab):
        store = Store(tab, config)
        await tab.navigate(other + "/")
        await tab.navigate(site.url("/"))
        await store("set", name="sid", value="s3cret", http_only=True, same_site="Lax")
        await store("set", name="__Host-x", value="1", url="https://shop.test/", secure=True)
        await store("set", name="wide", value="1", domain="shop.test", expires=4e9)
        await store("set", "session", name="step", value="2")
        before = (await store("get"))["entries"]
        saved = await store("save", filename="states/me")
        assert saved["origins"] == 2
        assert (saved["cookies"], saved["localItems"], saved["sessionItems"]) == (3, 2, 1)
        path = tmp_path / "output" / "states" / "me.json"
        assert saved["path"] == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [entry.name for entry in path.parent.iterdir()] == ["me.json"]
        assert "IndexedDB" in saved["note"]

        kept = json.loads(path.read_bytes())
        kept["origins"].append(
            {"origin": silent, "localStorage": [{"name": "a", "value": "b"}]}
        )
        kept["origins"].append(
            {"origin": "https://nowhere.test", "localStorage": [{"name": "a", "value": "c"}]}
        )
        path.write_text(json.dumps(kept))
        await store("clear")
        await store("set", name="stale", value="x", url="http://other.test/")
        for area in ("local", "session"):
            await store("clear", area)
            await store("set", area, name="stale", value="x")
        asked = len(site.asked)
        loaded = await store("load", filename="states/me")
        assert loaded["origins"] == 4
        assert len(site.asked) == asked
        with pytest.raises(BlockingIOError):
            listener.accept()
        assert (await store("get"))["entries"] == before
        assert await store.pairs("local") == {"mark": "set by the page"}
        assert await store.pairs("session") == {"step": "2"}
        again = await store("save", filename="again.json")
        assert again["origins"] == 2  # where nobody has been, nobody looks

        await tab.navigate("about:blank")
        loaded = await store("load", filename="states/me.json")
        assert f"go to a page of {site.address}" in loaded["note"]

        async def pages(page):
            answer = await page.connection.call("Target.getTargets")
            return [each["type"] for each in answer["targetInfos"]].count("page")

        assert await tab.read(pages) == 1
    listener.close()


@BROWSER
async def test_a_state_that_does_not_fit_or_is_given_up_leaves_everything_as_it_was(
    config, site, tmp_path, monkeypatch
):
    root = tmp_path / "output"
    site.page("/", "<script>localStorage.mine = 'kept'</script>")
    fitting = OriginState(site.address, (Item("new", "1"),))
    huge = OriginState("http://huge.test", (Item("a", "x" * 6_000_000),))
    bad = Cookie(name="__Host-x", value="1", domain=".a.test")
    write_output(root, "huge.json", write_state(State(version=1, origins=(fitting, huge))))
    write_output(
        root, "bad.json", write_state(State(version=1, origins=(fitting,), cookies=(bad,)))
    )
    async with session_tab(config) as (_, tab):
        store = Store(tab, config)
        await tab.navigate(site.url("/"))
        await store("set", name="sid", value="1")
        for name in ("huge.json", "bad.json"):
            with pytest.raises(StorageError):
                await store("load", filename=name)
            assert await store.pairs() == {"sid": "1"}
            assert await store.pairs("local") == {"mine": "kept"}

        async def stuck(*_):
            scope.cancel()
            await trio.sleep_forever()

        with monkeypatch.context() as patch:
            patch.setattr(states, "_restore_session", stuck)
            write_output(root, "fine.json", write_state(State(origins=(fitting,))))
            with trio.CancelScope() as scope:
                await store("load", filename="fine.json")
        assert scope.cancelled_caught
        await tab.act(lambda page: evaluate("1", page))  # its turn comes when all is put back
        assert await store.pairs() == {"sid": "1"}
        assert await store.pairs("local") == {"mine": "kept"}


@BROWSER
async def test_a_server_stores_and_says_nothing_of_it_on_stderr(
    environment, site, tmp_path, capfd
):
    site.page("/", "x")
    environment |= {"VFA_TOOLS": "all", "LOG_LEVEL": "DEBUG"}
    command = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*command, **environment) as (peer, process):
        await peer.initialize()
        await peer.call("browser_navigate", url=site.url())

        async def ask(**arguments):
            called = {"name": "browser_storage", "arguments": arguments}
            return (await peer.request("tools/call", **called))["result"]

        assert not (await ask(action="set", name="sid", value="s3cret")).get("isError")
        seen = json.loads(text_of(await ask(action="get")))
        assert seen["entries"][0]["value"] == "s3cret"
        saved = json.loads(text_of(await ask(action="save")))
        name = saved["path"].rpartition("/")[2]
        assert json.loads(text_of(await ask(action="load", filename=name)))["cookies"] == 1
        (tmp_path / "output" / "bad.json").write_text('{"version": 9}')
        for wrong, code in (
            ({"action": "read"}, "[INVALID_ARGS]"),
            ({"action": "set", "name": "a", "value": "s3cret;"}, "[STORAGE_FAILED]"),
            ({"action": "load", "filename": "bad.json"}, "[STATE_INVALID]"),
            ({"action": "load", "filename": "none.json"}, "[OUTPUT_FAILED]"),
            ({"action": "load", "filename": "../x"}, "[UNSAFE_PATH]"),
        ):
            answer = await ask(**wrong)
            assert answer["isError"] is True
            assert text_of(answer).startswith(code)
        await process.stdin.aclose()
    assert "s3cret" not in capfd.readouterr().err
