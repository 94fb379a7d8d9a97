from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vfa.chromium.find import find_chromium, kind_of, look_at
from vfa.errors import BrowserNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vfa.chromium.find import Sight

SHELL = "/usr/lib/chromium/chromium-headless-shell"


def disk_with(sights: dict[str, Sight]) -> Callable[[str], Sight]:
    return lambda path: sights.get(path, "missing")


def found(
    sights: dict[str, Sight], configured: str = "", platform: str = "linux", **environ: str
):
    return find_chromium(configured, platform=platform, environ=environ, look=disk_with(sights))


def test_the_headless_shell_comes_before_chromium_and_chrome():
    everything: dict[str, Sight] = {
        "/usr/bin/chromium-headless-shell": "program",
        "/usr/bin/chromium": "program",
        "/usr/bin/google-chrome": "program",
    }
    assert found(everything).kind == "headless-shell"
    del everything["/usr/bin/chromium-headless-shell"]
    assert found(everything).path == "/usr/bin/chromium"
    del everything["/usr/bin/chromium"]
    assert found(everything).kind == "chrome"


def test_the_program_behind_debians_script_is_taken():
    answer = found({"/usr/bin/chromium-headless-shell": "script", SHELL: "program"})
    assert answer.path == SHELL
    answer = found({"/usr/bin/chromium": "script", "/usr/lib/chromium/chromium": "program"})
    assert (answer.path, answer.kind) == ("/usr/lib/chromium/chromium", "chromium")


def test_the_program_behind_googles_script_is_taken():
    answer = found(
        {"/usr/bin/google-chrome-stable": "script", "/opt/google/chrome/chrome": "program"}
    )
    assert (answer.path, answer.kind) == ("/opt/google/chrome/chrome", "chrome")


def test_a_packages_script_that_hides_nothing_known_is_run_itself():
    assert found({"/usr/bin/chromium": "script"}).path == "/usr/bin/chromium"


def test_a_headless_shell_without_a_script_is_found():
    assert found({"/usr/lib64/chromium-browser/headless_shell": "program"}).kind == (
        "headless-shell"
    )


def test_what_a_user_names_wins_and_a_script_of_the_users_is_run_as_it_is():
    sights: dict[str, Sight] = {"/home/me/chromium": "script", SHELL: "program"}
    assert found(sights, "/home/me/chromium").path == "/home/me/chromium"


def test_a_packages_script_that_a_user_names_is_looked_through():
    sights: dict[str, Sight] = {
        "/usr/bin/chromium": "script",
        "/usr/lib/chromium/chromium": "program",
        SHELL: "program",
    }
    assert found(sights, "/usr/bin/chromium").path == "/usr/lib/chromium/chromium"


def test_a_bare_name_is_looked_up_along_the_path():
    sights: dict[str, Sight] = {"/opt/x/my-chrome": "program"}
    assert found(sights, "my-chrome", PATH="/opt/w:/opt/x/:rel").path == "/opt/x/my-chrome"


def test_a_browser_elsewhere_on_the_path_is_found():
    answer = found({"/opt/nix/bin/chromium": "program"}, PATH="/opt/nix/bin")
    assert answer.path == "/opt/nix/bin/chromium"


@pytest.mark.parametrize("entry", [".", "", "bin", "../bin"])
def test_relative_folders_of_the_path_are_never_searched(entry):
    asked = []

    def look(path: str) -> Sight:
        asked.append(path)
        return "missing"

    with pytest.raises(BrowserNotFoundError):
        find_chromium("", platform="linux", environ={"PATH": f"{entry}:/a"}, look=look)
    assert all(path.startswith("/") for path in asked)


def test_nothing_found_names_every_place_and_both_ways_out():
    with pytest.raises(BrowserNotFoundError) as caught:
        found({})
    assert "/usr/bin/chromium-headless-shell" in caught.value.tried
    assert "/usr/bin/google-chrome-stable" in caught.value.tried
    assert all(place in caught.value.message for place in caught.value.tried)
    assert "vfa browser install" in caught.value.hint
    assert "CHROMIUM_PATH" in caught.value.hint


def test_a_named_browser_that_is_missing_is_an_error_even_if_others_exist():
    with pytest.raises(BrowserNotFoundError) as caught:
        found({SHELL: "program"}, "/opt/gone")
    assert caught.value.tried == ("/opt/gone",)
    assert "CHROMIUM_PATH=/opt/gone" in caught.value.message


def test_a_file_that_may_not_be_executed_is_said_to_be_so():
    with pytest.raises(BrowserNotFoundError, match="not executable") as caught:
        found({"/opt/chrome": "not executable"}, "/opt/chrome")
    assert "chmod" in caught.value.hint


def test_discovery_passes_over_a_file_that_may_not_be_executed():
    answer = found({"/usr/bin/chromium": "not executable", "/usr/bin/google-chrome": "program"})
    assert answer.kind == "chrome"
    assert "/usr/bin/chromium" in answer.tried


def test_a_snap_is_passed_over_and_the_hint_says_why():
    with pytest.raises(BrowserNotFoundError) as caught:
        found({"/usr/bin/chromium-browser": "snap"})
    assert "snap" in caught.value.hint
    assert found({"/snap/bin/chromium": "snap"}, "/snap/bin/chromium").kind == "chromium"


def test_the_places_of_macos_are_looked_at():
    chrome = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    answer = found({chrome: "program"}, platform="darwin", HOME="/Users/me")
    assert (answer.path, answer.kind) == (chrome, "chrome")
    mine = "/Users/me/Applications/Chromium.app/Contents/MacOS/Chromium"
    assert found({mine: "program"}, platform="darwin", HOME="/Users/me").kind == "chromium"


def test_the_places_of_windows_are_looked_at():
    path = r"D:\Programs\Google\Chrome\Application\chrome.exe"
    answer = found({path: "program"}, platform="win32", PROGRAMFILES=r"D:\Programs")
    assert (answer.path, answer.kind) == (path, "chrome")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/x/chrome-headless-shell", "headless-shell"),
        ("/x/headless_shell", "headless-shell"),
        ("/x/chromium-browser", "chromium"),
        ("/chromium/chrome", "chrome"),
        (r"C:\Chromium\Application\chrome.exe", "chrome"),
    ],
)
def test_the_name_of_a_program_says_its_kind(path, kind):
    assert kind_of(path) == kind


def test_the_file_system_tells_programs_scripts_snaps_and_the_rest_apart(tmp_path: Path):
    def put(name: str, data: bytes, mode: int = 0o755) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        path.chmod(mode)
        return str(path)

    assert look_at(put("elf", b"\x7fELF\x02")) == "program"
    assert look_at(put("script", b'#!/bin/sh\nexec /usr/lib/x "$@"\n')) == "script"
    assert look_at(put("stub", b"#!/bin/sh\nexec /snap/bin/chromium\n")) == "snap"
    assert look_at(put("plain", b"x", 0o644)) == "not executable"
    assert look_at(str(tmp_path)) == "missing"
    assert look_at(str(tmp_path / "none")) == "missing"


def test_a_link_to_the_snap_command_is_a_snap(tmp_path: Path):
    snap = tmp_path / "snap"
    snap.write_bytes(b"\x7fELF")
    snap.chmod(0o755)
    os.symlink(snap, tmp_path / "chromium")
    assert look_at(str(tmp_path / "chromium")) == "snap"
