from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from vfa.chromium.find import Found, kind_of
from vfa.chromium.flags import SMALL_SHM, flags, sandboxed
from vfa.errors import ConfigError

SHELL = Found("/usr/lib/chromium/chromium-headless-shell", "headless-shell")
CHROMIUM = Found("/usr/lib/chromium/chromium", "chromium")


def given(found=SHELL, **changes) -> list[str]:
    usual = {"transport": "pipe", "profile": Path("/p"), "root": False, "sandbox": "auto"}
    return flags(found, **usual | changes)


def test_only_the_full_browser_is_told_to_be_headless():
    assert "--headless" not in given(SHELL)
    assert "--headless" in given(CHROMIUM)
    assert "--headless" in given(Found("/opt/google/chrome/chrome", "chrome"))


def test_the_transport_decides_how_the_browser_listens():
    assert "--remote-debugging-pipe" in given()
    assert not any("debugging-port" in flag for flag in given())
    assert "--remote-debugging-port=0" in given(transport="websocket")
    assert "--remote-debugging-pipe" not in given(transport="websocket")


def test_the_profile_is_one_argument_that_reaping_can_match():
    assert "--user-data-dir=/a b/p" in given(profile=Path("/a b/p"))


@pytest.mark.parametrize(
    ("root", "sandbox", "on"),
    [
        (False, "auto", True),
        (True, "auto", False),
        (False, "off", False),
        (True, "off", False),
        (True, "on", True),
        (False, "on", True),
    ],
)
def test_the_sandbox_is_off_only_for_root_or_when_asked(root, sandbox, on):
    assert sandboxed(root=root, sandbox=sandbox) is on
    assert ("--no-sandbox" in given(root=root, sandbox=sandbox)) is not on


@pytest.mark.parametrize(
    ("size", "avoided"), [(None, False), (64 << 20, True), (SMALL_SHM, False), (8 << 30, False)]
)
def test_shared_memory_is_avoided_only_where_it_is_short(size, avoided):
    assert ("--disable-dev-shm-usage" in given(shm_bytes=size)) is avoided


def test_webgl_stays_available_in_software():
    assert "--enable-unsafe-swiftshader" in given()
    assert "--use-angle=swiftshader-webgl" in given()
    assert "--disable-gpu" not in given()


def test_nothing_weakens_what_pages_are_held_to():
    forbidden = ("web-security", "insecure", "ignore-certificate", "isolat", "no-zygote")
    assert not [flag for flag in given(CHROMIUM) if any(word in flag for word in forbidden)]


def test_extra_flags_come_last_and_are_split_as_a_shell_does():
    result = given(extra="--lang=de '--user-agent=a b'")
    assert result[-2:] == ["--lang=de", "--user-agent=a b"]


def test_extra_features_are_added_to_ours_instead_of_replacing_them():
    result = given(extra="--disable-features=Mine --enable-blink-features=Other")
    last = {flag.partition("=")[0]: flag for flag in result}  # Chromium heeds the last
    assert "MediaRouter" in last["--disable-features"]
    assert last["--disable-features"].endswith(",Mine")
    assert last["--enable-blink-features"] == (
        "--enable-blink-features=ComputedAccessibilityInfo,Other"
    )


def test_two_extra_lists_are_both_kept():
    result = given(extra="--disable-features=A --disable-features=B")
    assert result[-1].endswith(",A,B")


def test_extra_flags_that_cannot_be_split_name_their_setting():
    with pytest.raises(ConfigError, match="VFA_CHROMIUM_ARGS"):
        given(extra="'--open")


def test_every_flag_is_given_once():
    names = [flag.partition("=")[0] for flag in given(CHROMIUM, root=True, shm_bytes=1)]
    assert len(names) == len(set(names))
    assert all(name.startswith("--") for name in names)


@pytest.mark.browser
@pytest.mark.parametrize("path", [SHELL.path, CHROMIUM.path])
def test_pages_get_webgl_with_these_flags(path, tmp_path):
    if not Path(path).exists():
        pytest.skip(f"no {path}")
    page = tmp_path / "page.html"
    page.write_text(
        "<script>const gl = document.createElement('canvas').getContext('webgl2');"
        "document.write(gl.getParameter(gl.VERSION));</script>"
    )
    arguments = given(
        Found(path, kind_of(path)),
        profile=tmp_path / "profile",
        root=os.geteuid() == 0,
        extra="--dump-dom",
    )
    arguments.remove("--remote-debugging-pipe")
    arguments.remove("--no-startup-window")  # here the command line opens the page
    said = subprocess.run(
        [path, *arguments, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "TMPDIR": tempfile.gettempdir()},
    )
    assert "WebGL 2.0" in said.stdout
