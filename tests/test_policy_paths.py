from __future__ import annotations

import hashlib
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.errors import OutputError, UnsafePathError
from vfa.policy.paths import (
    OutputFolder,
    frame_names,
    resolve_output,
    screenshot_name,
    take_in,
    write_output,
)

NOW = datetime(2031, 2, 3, 4, 5, 6, 789000, tzinfo=UTC)


def refused(name: str) -> str:
    with pytest.raises(UnsafePathError) as caught:
        resolve_output(Path("/out"), name)
    return caught.value.message


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "//x", "\\x", "\\\\host\\share", "C:\\x", "c:x", "~/x"]
)
def test_absolute_names_are_refused(name):
    assert "Absolute paths" in refused(name)


@pytest.mark.parametrize("name", ["..", "../x", "a/../b", "a/..", "..\\x", "a\\..\\..\\b.png"])
def test_names_that_climb_are_refused(name):
    assert "traversal" in refused(name)


@pytest.mark.parametrize("name", ["", ".", "a/", "a\\", "./", "a/."])
def test_names_without_a_file_are_refused(name):
    assert "missing" in refused(name)


@pytest.mark.parametrize(
    "name", ["a\0b", "a\nb", "\x7f", "a\u202egpj.exe", "a\u2028", "\ud800", "d\x1b[31m/x"]
)
def test_control_characters_are_refused_and_not_echoed_raw(name):
    message = refused(name)
    assert "Control characters" in message
    assert message.isprintable()


@pytest.mark.parametrize("name", ["x" * 300, "é" * 200, "/".join("abcdefghijklmnopqrs")])
def test_names_that_file_systems_cannot_hold_are_refused(name):
    refused(name)


@pytest.mark.parametrize("name", ["CON", "nul.png", "a/COM1.txt", "lpt9"])
def test_names_of_devices_are_refused(name):
    assert "device" in refused(name)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.png", ("a.png",)),
        ("a..b.png", ("a..b.png",)),
        ("...png", ("...png",)),
        ("shots/home.png", ("shots", "home.png")),
        ("./shots//./home.png", ("shots", "home.png")),
        ("shots\\home.png", ("shots", "home.png")),
        ("Übersicht 日本.png", ("Übersicht 日本.png",)),
        ("console.png", ("console.png",)),
        (".hidden", (".hidden",)),
    ],
)
def test_ordinary_names_stay_below_the_root(name, parts):
    safe = resolve_output(Path("/out"), name)
    assert safe.parts == parts
    assert safe.path == Path("/out", *parts)


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("./\\:~")), max_size=40))
def test_no_name_leads_out_of_the_root(name):
    try:
        path = resolve_output(Path("/out/root"), name).path
    except UnsafePathError:
        return
    assert Path(os.path.normpath(path)).is_relative_to("/out/root")
    assert path != Path("/out/root")


def test_looking_at_a_name_makes_nothing(tmp_path):
    resolve_output(tmp_path / "out", "a/b.png")
    assert os.listdir(tmp_path) == []


# --- writing ----------------------------------------------------------------------------


def test_a_file_is_written_with_its_folders_and_readable_by_others(tmp_path):
    before = os.umask(0o022)
    try:
        path = write_output(tmp_path / "out", "a/b/c.png", b"data")
    finally:
        os.umask(before)
    assert path == tmp_path / "out/a/b/c.png"
    assert path.read_bytes() == b"data"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == ["c.png"]


def test_a_file_of_the_same_name_is_replaced(tmp_path):
    write_output(tmp_path, "a.png", b"first and longer")
    assert write_output(tmp_path, "a.png", b"second").read_bytes() == b"second"


def test_a_reader_of_the_old_file_keeps_it(tmp_path):
    write_output(tmp_path, "a.png", b"first")
    with open(tmp_path / "a.png", "rb") as reader:
        write_output(tmp_path, "a.png", b"second")
        assert reader.read() == b"first"


def test_a_link_in_the_place_of_the_file_is_refused(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    root = tmp_path / "out"
    root.mkdir()
    (root / "a.png").symlink_to(outside)
    with pytest.raises(UnsafePathError):
        write_output(root, "a.png", b"x")
    assert outside.read_text() == "precious"


def test_a_link_that_points_nowhere_is_refused(tmp_path):
    root = tmp_path / "out"
    root.mkdir()
    (root / "a.png").symlink_to(tmp_path / "made-by-the-link")
    with pytest.raises(UnsafePathError):
        write_output(root, "a.png", b"x")
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "out"
    root.mkdir()
    (root / "sub").symlink_to(outside)
    with pytest.raises(UnsafePathError):
        write_output(root, "sub/a.png", b"x")
    assert os.listdir(outside) == []


def test_a_link_that_appears_while_the_file_is_written_is_not_followed(tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    root = tmp_path / "out"
    rename = os.rename

    def late_link(source, destination, **folders):
        (root / "a.png").symlink_to(outside)
        rename(source, destination, **folders)

    monkeypatch.setattr(os, "rename", late_link)
    write_output(root, "a.png", b"new")
    assert outside.read_text() == "precious"
    assert not (root / "a.png").is_symlink()
    assert (root / "a.png").read_bytes() == b"new"


def test_a_folder_that_becomes_a_link_while_it_is_open_leads_nowhere_else(
    tmp_path, monkeypatch
):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "out"
    rename = os.rename

    def swap(source, destination, **folders):
        rename(root / "sub", root / "moved")
        (root / "sub").symlink_to(outside)
        rename(source, destination, **folders)

    monkeypatch.setattr(os, "rename", swap)
    write_output(root, "sub/a.png", b"x")
    assert os.listdir(outside) == []
    assert (root / "moved/a.png").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["dir", "file/a.png"])
def test_folders_for_files_and_files_for_folders_are_refused(tmp_path, name):
    (tmp_path / "dir").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UnsafePathError):
        write_output(tmp_path, name, b"x")


def test_a_named_pipe_in_the_place_of_the_file_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(UnsafePathError):
        write_output(tmp_path, "a.png", b"x")


def test_the_root_itself_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_output(tmp_path / "link", "a.png", b"x")
    assert (tmp_path / "real/a.png").read_bytes() == b"x"


def test_a_failed_write_leaves_the_old_file_and_nothing_besides(tmp_path, monkeypatch):
    write_output(tmp_path, "a.png", b"old")

    def full(*_arguments, **_folders):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OutputError, match="No space left") as caught:
        write_output(tmp_path, "a.png", b"new")
    assert "OUTPUT_DIR" in caught.value.hint
    assert os.listdir(tmp_path) == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"


def test_a_root_that_is_a_file_is_an_error_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((OutputError, UnsafePathError)):
        write_output(tmp_path / "file", "a.png", b"x")


def test_writing_leaves_no_descriptor_open(tmp_path):
    before = len(os.listdir("/dev/fd"))
    write_output(tmp_path, "a/b/c.png", b"x")
    with pytest.raises(UnsafePathError):
        write_output(tmp_path, "a/b/c.png/d", b"x")
    assert len(os.listdir("/dev/fd")) == before


def test_the_longest_allowed_name_can_be_written(tmp_path):
    name = "x" * 223
    assert write_output(tmp_path, name, b"x").exists()
    with pytest.raises(UnsafePathError):
        write_output(tmp_path, name + "x", b"x")


# --- names of pictures ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filename", "image_format", "name"),
    [
        (None, "jpeg", "screenshot-2031-02-03T04-05-06-789Z.jpeg"),
        ("", "png", "screenshot-2031-02-03T04-05-06-789Z.png"),
        ("01-hero.png", "jpeg", "01-hero.jpg"),
        ("photo.webp", "png", "photo.png"),
        ("already.jpeg", "jpeg", "already.jpeg"),
        ("already.JPG", "jpeg", "already.JPG"),
        ("SHOUT.PNG", "jpeg", "SHOUT.jpg"),
        ("needs-ext", "jpeg", "needs-ext.jpg"),
        ("needs-ext", "png", "needs-ext.png"),
        ("v1.2", "jpeg", "v1.2.jpg"),
        ("a..b.png", "png", "a..b.png"),
        ("dir.png/shot", "jpeg", "dir.png/shot.jpg"),
        ("x.jpeg", "png", "x.png"),
        ("shot.webp", "webp", "shot.webp"),
        ("shot.jpg", "webp", "shot.webp"),
        ("dir/", "jpeg", "dir/"),
    ],
)
def test_the_extension_follows_the_format(filename, image_format, name):
    assert screenshot_name(filename, image_format, NOW) == name


def test_the_name_that_is_made_up_can_be_written():
    assert resolve_output(Path("/out"), screenshot_name(None, "jpeg", NOW))


# --- several files ----------------------------------------------------------------------


def test_several_files_go_to_one_folder_that_is_opened_once(tmp_path):
    names = frame_names("run/a", "jpeg", 3)
    assert names == ["run/a-01.jpg", "run/a-02.jpg", "run/a-03.jpg"]
    with OutputFolder(tmp_path, names) as folder:
        (tmp_path / "run").rename(tmp_path / "moved")
        outside = tmp_path / "outside"
        outside.mkdir()
        (tmp_path / "run").symlink_to(outside)
        for name in names:
            folder.write(name, b"x")
    assert os.listdir(outside) == []
    assert sorted(os.listdir(tmp_path / "moved")) == ["a-01.jpg", "a-02.jpg", "a-03.jpg"]


@pytest.mark.parametrize("bad", ["../x", "/x", "a\\..\\..\\b", "x\0", "x" * 300])
def test_one_bad_name_among_several_refuses_all_of_them(tmp_path, bad):
    with pytest.raises(UnsafePathError):
        OutputFolder(tmp_path / "out", ["a.jpg", bad])
    assert os.listdir(tmp_path) == []


def test_a_link_in_the_place_of_any_of_several_files_refuses_all_of_them(tmp_path):
    before = len(os.listdir("/dev/fd"))
    (tmp_path / "b.jpg").symlink_to("/etc/passwd")
    with pytest.raises(UnsafePathError, match=r"b\.jpg"):
        OutputFolder(tmp_path, ["a.jpg", "b.jpg"])
    assert os.listdir(tmp_path) == ["b.jpg"]
    assert len(os.listdir("/dev/fd")) == before


def test_a_link_that_comes_later_is_refused_when_its_turn_comes(tmp_path):
    with OutputFolder(tmp_path, ["a.jpg", "b.jpg"]) as folder:
        folder.write("a.jpg", b"x")
        (tmp_path / "b.jpg").symlink_to(tmp_path / "a.jpg")
        with pytest.raises(UnsafePathError):
            folder.write("b.jpg", b"y")
    assert (tmp_path / "a.jpg").read_bytes() == b"x"


# --- files that come from elsewhere -----------------------------------------------------


def test_a_file_that_is_taken_in_never_replaces_another_one(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"new")
    out = tmp_path / "out"
    write_output(out, "in/a.csv", b"old")
    first, second = (take_in(out, "in/a.csv", source) for _ in "12")
    assert (first.path.name, second.path.name) == ("a (1).csv", "a (2).csv")
    assert (first.path.read_bytes(), first.size) == (b"new", 3)
    assert first.sha256 == hashlib.sha256(b"new").hexdigest()
    assert (out / "in/a.csv").read_bytes() == b"old"
    assert sorted(os.listdir(out / "in")) == ["a (1).csv", "a (2).csv", "a.csv"]


def test_a_file_is_not_taken_in_through_a_link(tmp_path):
    (tmp_path / "source").write_bytes(b"new")
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    (out / "a.csv").symlink_to(outside)
    assert take_in(out, "a.csv", tmp_path / "source").path.name == "a (1).csv"
    assert not outside.exists()
    (out / "sub").symlink_to(tmp_path)
    with pytest.raises(UnsafePathError):
        take_in(out, "sub/a.csv", tmp_path / "source")
