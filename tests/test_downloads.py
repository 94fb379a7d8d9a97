"""Downloads: safe names, where they end up, what is said of them."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tabs
from vfa.page.downloads import MAX_NAME, REMEMBERED, DownloadBook, safe_name
from vfa.policy.paths import resolve_output

DATA = b"a,b\n1,2\n"


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("report.csv", "report.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\evil name.csv", "evil name.csv"),
        ("/etc/cron.d/x", "x"),
        (".bashrc", "bashrc"),
        ("con.txt", "_con.txt"),
        ("a:b|c?.txt", "a_b_c_.txt"),
        ("cod\u202efdp.exe", "codfdp.exe"),
        ("line\nbreak\x00.txt", "linebreak.txt"),
        ("trailing. . ", "trailing"),
        ("...", "download"),
        ("", "download"),
        ("e\u0301.txt", "\xe9.txt"),
    ],
)
def test_a_suggested_name_is_made_safe(suggested, name):
    assert safe_name(suggested) == name


@given(st.text(max_size=400))
def test_whatever_a_server_suggests_is_a_name_that_may_be_written(suggested):
    name = safe_name(suggested)
    assert len(name.encode()) <= MAX_NAME + 1
    assert resolve_output(Path("/out"), f"downloads/{name}").parts == ("downloads", name)
    assert safe_name(name) == name


def test_a_long_name_keeps_its_extension():
    assert safe_name("x" * 500 + ".tar.gz").endswith("x.gz")


# --- the book -------------------------------------------------------------------------------


def begin(book, number=1):
    return book.begin(f"guid-{number}", tab=1, url="http://a/?token=s3cret", suggested="a.csv")


def test_an_ended_download_stays_as_it_ended():
    book = DownloadBook()
    download = begin(book)
    assert "s3cret" not in download.url
    book.change(download.id, state="too_large")
    book.change(download.id, state="completed", path="/out")
    assert (book.newest.state, book.newest.path) == ("too_large", "")


def test_the_book_forgets_old_ended_downloads_and_never_one_in_progress():
    book = DownloadBook()
    first = begin(book)
    for number in range(2, REMEMBERED + 50):
        book.change(begin(book, number).id, state="completed")
    kept = list(book)
    assert len(kept) <= REMEMBERED
    assert kept[0] == first
    assert book.by_guid("guid-2") is None
    book.fail_all("the browser was lost")
    assert book.get(first.id).reason == "the browser was lost"


async def test_waiting_ends_when_the_state_is_reached(autojump_clock):
    book = DownloadBook()
    download = begin(book)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(book.wait_until, lambda: book.get(download.id).ended)
        await trio.testing.wait_all_tasks_blocked()
        book.change(download.id, state="cancelled")


# --- in a browser ---------------------------------------------------------------------------


def attachment(data=DATA, name="../../evil name.csv"):
    headers = {
        "Content-Type": "text/csv",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return (200, headers, data)


def content(path):
    return Path(path).read_bytes()


async def ended(tabs, id_=0):
    book = tabs.downloads
    with trio.fail_after(5):
        await book.wait_until(lambda: book.newest is not None)
        wanted = id_ or book.newest.id
        await book.wait_until(lambda: book.get(wanted).ended)
    return book.get(wanted)


@pytest.mark.browser
async def test_a_download_ends_up_below_the_output_folder_under_a_safe_name(
    config, site, profiles
):
    site.pages["/file"] = attachment()
    foreign = site.page("/frame", "<a href=/file>x</a>").replace("127.0.0.1", "localhost")
    url = site.page("/", f"<a href=/file>x</a><iframe src='{foreign}'></iframe>")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(url)
        await tab.act(partial(evaluate, "document.querySelector('a').click()"))
        download = await ended(tabs)
        assert (download.state, download.received, download.tab) == ("completed", 8, 1)
        assert download.sha256 == hashlib.sha256(DATA).hexdigest()
        assert download.mime_type == "text/csv"
        kept = Path(download.path)
        assert kept.parent == config.output_path / "downloads"
        assert content(kept) == DATA
        (told,) = tab.take_news().downloads
        assert told == download
        # The page is still there, and nothing that is there is overwritten.
        assert (await tab.get_url()).url == url
        there = await tab.navigate(site.url("/file"))
        assert "download" in there.note
        second = await ended(tabs, 2)
        assert second.path != download.path
        assert content(kept) == content(second.path) == DATA
        (profile,) = profiles()
        assert list((profile / "downloads").iterdir()) == []
    assert profiles() == []


@pytest.mark.browser
async def test_downloads_of_frames_and_popups_belong_to_their_tab(config, site):
    site.pages["/file"] = attachment()
    frame = "<script>setTimeout(() => document.querySelector('a').click())</script>"
    foreign = site.page("/frame", f"<a href=/file>x</a>{frame}").replace(
        "127.0.0.1", "localhost"
    )
    url = site.page("/", f"<iframe src='{foreign}'></iframe>")
    async with session_tabs(config) as (_, tabs):
        tab = tabs.get()
        await tab.navigate(url)
        assert (await ended(tabs, 1)).tab == 1
        await tab.act(partial(evaluate, "open('/file'); 1"))
        with trio.fail_after(5):
            await tabs.downloads.wait_until(lambda: tabs.downloads.get(2) is not None)
        assert (await ended(tabs, 2)).tab == 2


@pytest.mark.browser
async def test_a_download_that_is_too_large_is_stopped(config, site):
    config = msgspec.structs.replace(config, max_download_bytes=100_000)
    site.pages["/file"] = attachment(b"x" * 5_000_000, "big.bin")
    async with session_tabs(config) as (_, tabs):
        await tabs.get().navigate(site.url("/file"))
        assert (await ended(tabs)).state == "too_large"
        assert not (config.output_path / "downloads").exists()


@pytest.mark.browser
async def test_a_download_in_progress_can_be_stopped_and_fails_with_its_browser(config, site):
    class Slow(bytes):
        def __len__(self):
            return 5_000

    site.pages["/slow"] = attachment(Slow(b"x" * 2_000), "slow.bin")
    async with session_tabs(config) as (browser, tabs):
        tab = tabs.get()
        await tab.navigate(site.url("/slow"))
        download = tabs.downloads.newest
        assert not download.ended
        await tabs.cancel(download)
        assert (await ended(tabs)).state == "cancelled"
        await tab.navigate(site.url("/slow"))
        async with browser.lease() as link:
            link.launched.process.kill_group()
            await link.over.wait()
        assert (await ended(tabs, 2)).state == "failed"


@pytest.mark.browser
async def test_a_client_waits_for_a_download(environment, site):
    site.pages["/file"] = attachment()
    more = environment | {"VFA_TOOLS": "all"}
    async with server_process("-m", "vfa", "serve", **more) as (peer, _):
        await peer.initialize()
        there = json.loads(text_of(await peer.call("browser_navigate", url=site.url("/file"))))
        assert "download" in there["note"]
        download = json.loads(text_of(await peer.call("browser_downloads", action="wait")))
        assert download["state"] == "completed"
        assert content(download["path"]) == DATA
        listed = json.loads(text_of(await peer.call("browser_downloads")))
        assert [each["id"] for each in listed["downloads"]] == [download["id"]]
        missing = await peer.call("browser_downloads", action="wait", id=7)
        assert "there is no download 7" in text_of(missing)
