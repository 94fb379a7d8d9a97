"""Uploads: which files may leave, and pages that get them, in real Chromium."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.fake_engine import FakeEngine
from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate
from vfa.config import Config, load
from vfa.engine import open_browser
from vfa.errors import (
    ElementNotClickableError,
    InvalidArgsError,
    PageError,
    UnsafePathError,
    VfaError,
)
from vfa.page import files as files_module
from vfa.page.files import allowed_files, is_accepted, upload
from vfa.page.locating import Target
from vfa.page.navigation import navigate
from vfa.tools.forms import FORMS, UploadArguments
from vfa.tools.table import Call

UPLOAD = next(tool for tool in FORMS if tool.name == "browser_upload")


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "output"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("hello")
    (root / "b.png").write_bytes(b"\x89PNG")
    (root / "sub" / "c.txt").write_text("inner")
    (root / "sub" / "deep" / "d.txt").write_text("deep")
    (tmp_path / "secret.txt").write_text("secret")
    return root


# --- which files ------------------------------------------------------------------------------


def test_files_below_a_root_are_allowed_by_name_and_by_path(folder):
    there = allowed_files(["a.txt", str(folder / "sub" / "c.txt"), "sub/../b.png"], [folder])

    assert [file.path.name for file in there] == ["a.txt", "c.txt", "b.png"]
    assert [file.size for file in there] == [5, 5, 4]
    assert all(file.path.is_absolute() for file in there)


def test_a_name_is_looked_for_in_every_root(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "e.txt").write_text("e")

    assert allowed_files(["e.txt", "a.txt"], [folder, other])[0].path == other / "e.txt"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "/etc/nothing-there", "sub/../../secret.txt"]
)
def test_what_lies_elsewhere_is_refused_whether_it_is_there_or_not(folder, path):
    with pytest.raises(UnsafePathError, match="outside the folders") as caught:
        allowed_files([path], [folder])
    assert "VFA_UPLOAD_ROOTS" in caught.value.hint


def test_links_are_followed_before_anything_is_decided(folder, tmp_path):
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "in.txt").symlink_to(folder / "a.txt")
    (folder / "away").symlink_to(tmp_path)
    linked = tmp_path / "linked"
    linked.symlink_to(folder)

    for path in ("out.txt", "away/secret.txt"):
        with pytest.raises(UnsafePathError):
            allowed_files([path], [folder])
    assert allowed_files(["in.txt"], [linked])[0].path == folder / "a.txt"
    with pytest.raises(UnsafePathError, match="link"):
        allowed_files(["."], [folder])


def test_a_root_whose_name_begins_like_another_folder_does_not_allow_that(folder):
    neighbour = folder.with_name("output-of-others")
    neighbour.mkdir()
    (neighbour / "x.txt").write_text("x")
    with pytest.raises(UnsafePathError):
        allowed_files([str(neighbour / "x.txt")], [folder])


def test_what_cannot_be_read_is_said(folder, monkeypatch):
    os.mkfifo(folder / "pipe")
    for path, words in (
        ("nothing.txt", "No such file"),
        ("pipe", "not a file"),
        ("\0", "path"),
    ):
        with pytest.raises(InvalidArgsError, match=words):
            allowed_files([path], [folder])
    monkeypatch.setattr(files_module, "MAX_BYTES", 8)
    with pytest.raises(InvalidArgsError, match="too large: 10 bytes"):
        allowed_files(["a.txt", "sub/c.txt"], [folder])
    monkeypatch.setattr(files_module, "MAX_ENTRIES", 2)
    with pytest.raises(InvalidArgsError, match="more than 2 files"):
        allowed_files(["sub"], [folder])


@given(st.text(min_size=1, max_size=60))
def test_no_path_leads_out_whatever_it_is(path):
    root = Path(__file__).parent / "data"
    try:
        there = allowed_files([path], [root])
    except (InvalidArgsError, UnsafePathError):
        return
    assert all(file.path.is_relative_to(root.resolve()) for file in there)


@pytest.mark.parametrize(
    ("name", "accept", "fits"),
    [
        ("a.png", "", True),
        ("a.PNG", ".png", True),
        ("a.png", "image/*", True),
        ("a.png", "image/jpeg, .gif", False),
        ("a.txt", "text/plain", True),
        ("a.txt", "image/*,.pdf", False),
    ],
)
def test_what_an_input_accepts(name, accept, fits):
    assert is_accepted(Path(name), accept) is fits


def test_the_roots_are_the_output_folder_unless_others_are_set(tmp_path):
    assert load({"OUTPUT_DIR": str(tmp_path)}).upload_paths == (tmp_path,)
    roots = load({"VFA_UPLOAD_ROOTS": os.pathsep.join(["/a", "", "b"])}).upload_paths
    assert roots == (Path("/a"), Path("b").absolute())


async def test_a_refused_file_starts_no_browser(tmp_path):
    engine = FakeEngine(Config(output_dir=str(tmp_path)))
    arguments = UploadArguments(paths=("/etc/passwd",), selector="#a")
    with pytest.raises(UnsafePathError):
        await UPLOAD.run(engine, arguments, Call(lambda progress: None))
    assert engine.session.calls == []


# --- into a page ------------------------------------------------------------------------------


INPUTS = """<label for=one>Picture</label><input type=file id=one accept=image/*>
<input type=file id=many multiple style="display:none">
<button id=opens onclick="many.click()">Attach</button>
<button id=loose onclick="const i = document.createElement('input'); i.type = 'file';
  i.onchange = () => { document.title = i.files[0].name }; i.click()">Attach one</button>
<button id=idle>Nothing</button><input type=file id=off disabled>
<input type=file id=folder webkitdirectory>
<input type=file id=empties onchange="log.push(this.files.length); this.value = ''">
<script>
  const log = [];
  for (const kind of ['input', 'change'])
    addEventListener(kind, (e) => log.push(`${e.type} ${e.target.id} ${e.isTrusted}`));
</script>"""


@asynccontextmanager
async def shown(config, url):
    async with open_browser(config) as browser, browser.page() as page:
        await navigate(page, url)
        yield page


async def test_files_reach_inputs_choosers_and_folders(config, site, folder):
    async with shown(config, site.page("/", INPUTS)) as page:

        async def give(selector, *paths):
            with trio.fail_after(10):
                there = allowed_files(paths, [folder])
                return await upload(page, Target(selector), there)

        assert (await give("#one", "b.png")).names == ("b.png",)
        assert await evaluate("log.splice(0)", page) == ["input one true", "change one true"]
        text = "one.files[0].arrayBuffer().then((data) => { document.title = data.byteLength })"
        await evaluate(text, page)
        assert (
            await give(
                "label",
                "b.png",
            )
        ).note == ""
        odd = await give("#one", "a.txt")
        assert "asks for image/*" in odd.note
        assert (await give("#many", "a.txt", "b.png")).names == ("a.txt", "b.png")
        through = await give("#opens", "sub/c.txt", "a.txt")
        assert (through.names, through.through) == (("c.txt", "a.txt"), "chooser")
        assert await evaluate("many.files.length", page) == 2
        assert (await give("#loose", "a.txt")).names == ("a.txt",)
        assert await evaluate("document.title", page) == "a.txt"
        assert (await give("#empties", "a.txt")).names == ("a.txt",)
        assert sorted((await give("#folder", "sub")).names) == ["c.txt", "d.txt"]
        assert await evaluate("folder.files[0].webkitRelativePath", page) == "sub/c.txt"


UNFIT = {
    "two files for one": (
        "#one",
        ("a.txt", "b.png"),
        InvalidArgsError,
        "takes one file, not 2",
    ),
    "a folder for files": ("#many", ("sub",), InvalidArgsError, "not folders"),
    "a file for folders": ("#folder", ("a.txt",), InvalidArgsError, "takes a folder"),
    "an input that is off": ("#off", ("a.txt",), ElementNotClickableError, "disabled"),
    "what opens nothing": ("#idle", ("a.txt",), PageError, "no file chooser opened"),
    "two for a chooser": ("#loose", ("a.txt", "b.png"), InvalidArgsError, "takes one file"),
}


async def test_what_does_not_fit_is_refused_and_nothing_is_given(
    config, site, folder, monkeypatch
):
    monkeypatch.setattr(files_module, "CHOOSER", 0.3)
    failures = {}
    async with shown(config, site.page("/", INPUTS)) as page:
        for name, (selector, paths, kind, words) in UNFIT.items():
            try:
                with trio.fail_after(5):
                    await upload(page, Target(selector), allowed_files(paths, [folder]))
                failures[name] = "it was given"
            except (VfaError, trio.TooSlowError) as error:
                if not isinstance(error, kind) or words not in str(error):
                    failures[name] = repr(error)
        assert await evaluate("log", page) == []
        with trio.fail_after(5):  # and the next one works
            await upload(page, Target("#opens"), allowed_files(["a.txt"], [folder]))
    assert failures == {}


async def test_inputs_and_choosers_in_frames_of_other_sites_get_files(
    environment, site, folder
):
    environment["VFA_CHROMIUM_ARGS"] += " --site-per-process"
    site.page("/inner", INPUTS)
    url = site.url("/inner").replace("127.0.0.1", "localhost")
    outer = site.page("/", f"<iframe src='{url}' width=700 height=300></iframe>")
    async with shown(load(environment), outer) as page:
        with trio.fail_after(15):
            there = allowed_files(["a.txt"], [folder])
            assert (await upload(page, Target("#many"), there)).names == ("a.txt",)
            assert (await upload(page, Target("#opens"), there)).through == "chooser"


@pytest.mark.browser
async def test_the_server_uploads_from_its_output_folder_only(environment, site, folder):
    url = site.page("/", INPUTS)
    serve = ("-W", "error", "-m", "vfa", "serve")
    async with server_process(*serve, **environment) as (peer, _):
        await peer.initialize()
        await peer.call("browser_navigate", url=url)
        done = await peer.call("browser_upload", selector="#one", paths=["b.png"])
        value = json.loads(text_of(done))
        assert value["files"] == [{"path": str(folder / "b.png"), "size": 4}]
        assert (value["names"], value["through"]) == (["b.png"], "input")
        refused = await peer.call("browser_upload", selector="#one", paths=["/etc/passwd"])
        assert text_of(refused).startswith("[UNSAFE_PATH]")
