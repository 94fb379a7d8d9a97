"""browser_pdf: what may be asked for, and what Chromium prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab
from vfa.errors import CdpError, InvalidArgsError, PrintError, UnsafePathError
from vfa.page import pdf as printing
from vfa.page.pdf import Print, check_ranges, count_pages, four, parameters, print_page
from vfa.tools.pdf import PdfArguments, pdf

BROWSER = pytest.mark.browser

# --- arguments ----------------------------------------------------------------------------


@pytest.mark.parametrize("ranges", ["", " ", "1", "1-3", "1-3, 5", " 2 - 4 ,8-", "-3", "7-7"])
def test_page_ranges_are_numbers_and_spans(ranges):
    check_ranges(ranges)


@pytest.mark.parametrize(
    "ranges", ["0", "3-1", "a", "1,,2", "1-2-3", "-", "1;2", "0-3", "-0", ","]
)
def test_what_is_no_page_range_is_refused(ranges):
    with pytest.raises(InvalidArgsError, match="page_ranges"):
        check_ranges(ranges)


@given(st.text("0123456789-, ", max_size=12))
def test_any_page_ranges_are_taken_or_refused(ranges):
    try:
        check_ranges(ranges)
    except InvalidArgsError:
        return
    assert all(re.search(r"\d", part) for part in ranges.split(",")) or not ranges.strip()


def test_margins_are_given_as_in_css():
    assert four((1,)) == (1, 1, 1, 1)
    assert four((1, 2)) == (1, 2, 1, 2)
    assert four((1, 2, 3)) == (1, 2, 3, 2)
    assert four((1, 2, 3, 4)) == (1, 2, 3, 4)


def test_margins_that_leave_no_room_are_refused():
    with pytest.raises(InvalidArgsError, match="room"):
        parameters(Print(size="A5", margins=(10, 80)))
    assert parameters(Print(size="A5", margins=(10, 80), landscape=True))["marginLeft"] > 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"filename": "../x.pdf"}, UnsafePathError),
        ({"filename": "a/"}, UnsafePathError),
        ({"page_ranges": "2-1"}, InvalidArgsError),
        ({"margins": (150,)}, InvalidArgsError),
    ],
)
async def test_what_cannot_be_printed_is_refused_before_a_browser_starts(
    tmp_path, arguments, error
):
    engine = SimpleNamespace(config=SimpleNamespace(output_path=tmp_path))
    with pytest.raises(error):
        await pdf(engine, PdfArguments(**arguments), None)


def test_pages_are_counted_only_where_the_file_agrees_with_itself():
    page, tree = b"<</Type /Page /Parent 1 0 R>>", b"<</Type /Pages\n/Count 2 /Kids []>>"
    assert count_pages(page * 2 + tree) == 2
    assert count_pages(page * 2 + b"<</Count 2 /Type/Pages>>") == 2
    assert count_pages(page * 3 + tree) is None
    assert count_pages(tree) is None
    assert count_pages(b"") is None


# --- a browser that cannot ----------------------------------------------------------------


class _Browser:
    """A page whose browser answers as the test says."""

    def __init__(self, monkeypatch, **answers) -> None:
        self.posted = []
        self.acted = False
        self.session = SimpleNamespace(id="S", call=self.call, post=self.post)
        self.connection = None
        self._answers = answers
        patient = SimpleNamespace(call=self.call)
        monkeypatch.setattr(printing, "Session", lambda *_: patient)

    def post(self, method, params):
        self.posted.append(method)

    async def call(self, method, params, result):
        answer = self._answers[method.partition(".")[2]]
        if isinstance(answer, Exception):
            raise answer
        return result(**answer)


async def test_a_browser_that_cannot_print_is_named_as_such(monkeypatch):
    refused = CdpError("Page.printToPDF", -32000, "PrintToPDF is not implemented")
    with pytest.raises(PrintError, match="not implemented"):
        await print_page(_Browser(monkeypatch, printToPDF=refused), Print())


async def test_a_file_beyond_the_limit_is_given_up_and_its_stream_closed(monkeypatch):
    monkeypatch.setattr(printing, "MAX_PDF", 10)
    piece = {"data": "x" * 8, "eof": False}
    page = _Browser(monkeypatch, printToPDF={"stream": "1"}, read=piece)
    with pytest.raises(PrintError, match="more than 10 bytes"):
        await print_page(page, Print())
    assert page.posted == ["IO.close"]


async def test_what_is_no_pdf_is_not_taken_for_one(monkeypatch):
    piece = {"data": "", "eof": True}
    page = _Browser(monkeypatch, printToPDF={"stream": "1"}, read=piece)
    with pytest.raises(PrintError, match="something else"):
        await print_page(page, Print())


# --- in a real browser --------------------------------------------------------------------


def media_box(path):
    """The size of the first page in millimetres."""
    found = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\]", content(path))
    return tuple(round(float(points) / 72 * 25.4) for points in found.groups())


def content(path):
    return Path(path).read_bytes()


@BROWSER
async def test_a_page_is_printed_as_asked(config, site, tmp_path):
    sheets = "".join(f"<p style='break-after: page'>Sheet {n}</p>" for n in range(4))
    url = site.page("/", f"<body style='background: #123'>{sheets}<p>the last")
    async with session_tab(config) as (_, tab):
        engine = SimpleNamespace(tab=lambda number: tab, config=config)

        async def ask(**arguments):
            return (await pdf(engine, PdfArguments(**arguments), None)).value

        await tab.navigate(url)
        plain = await ask(filename="deep/page")
        assert plain["path"] == str(tmp_path / "output" / "deep" / "page.pdf")
        assert plain["pages"] == 5
        assert plain["size"] == len(content(plain["path"]))
        assert media_box(plain["path"]) == (210, 297)
        wide = await ask(filename="wide.pdf", format="Letter", landscape=True, margins=(0,))
        assert media_box(wide["path"]) == (279, 216)
        assert (await ask(page_ranges="2-3, 5"))["pages"] == 3
        assert (await ask(scale=0.5, background=False, margins=(5, 20, 5, 20)))["pages"] == 5
        with pytest.raises(InvalidArgsError, match="not in the document"):
            await ask(page_ranges="9-10")
        assert await tab.read(lambda page: evaluate("document.body.innerText.length", page))


@BROWSER
async def test_a_server_prints_and_refuses(environment, site):
    site.page("/", "x")
    command = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*command, **environment, VFA_TOOLS="all") as (peer, process):
        await peer.initialize()
        await peer.call("browser_navigate", url=site.url())
        printed = json.loads(text_of(await peer.call("browser_pdf", margins=[10, 20])))
        assert printed["pages"] == 1
        assert content(printed["path"]).startswith(b"%PDF-")
        for wrong, code in (
            ({"format": "A9"}, "[INVALID_ARGS]"),
            ({"margins": []}, "[INVALID_ARGS]"),
            ({"margins": [-1]}, "[INVALID_ARGS]"),
            ({"scale": 3}, "[INVALID_ARGS]"),
            ({"page_ranges": "7"}, "[INVALID_ARGS]"),
            ({"filename": "../x"}, "[UNSAFE_PATH]"),
        ):
            answer = await peer.call("browser_pdf", **wrong)
            assert answer["isError"] is True, wrong
            assert text_of(answer).startswith(code)
        await process.stdin.aclose()
