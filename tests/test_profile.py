from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from vfa.chromium import owner
from vfa.chromium.profile import (
    LEFT_BY_A_CRASH,
    TMP_FOLDER,
    create_profile,
    prepare_for_restart,
    reap_stale,
    remove_profile,
)
from vfa.errors import BrowserStartError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAITS_FOR_A_SIGNAL = "import signal; print('up', flush=True); signal.pause()"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for profile in list(owner._held):
        owner.release(profile)


@contextmanager
def program(*arguments: str, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A process with these arguments that waits to be killed."""
    command = [sys.executable, "-c", WAITS_FOR_A_SIGNAL, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    try:
        assert process.stdout.read(3) == b"up\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def abandoned(root: Path, pid: int | None = None, started: str = "another time") -> Path:
    """A profile whose engine ended without cleaning up."""
    profile = create_profile(root)
    mine = msgspec.json.decode((profile / owner.MARK).read_bytes(), type=owner.Owner)
    owner.release(profile)
    left = msgspec.structs.replace(mine, pid=pid or mine.pid, started=started)
    (profile / owner.MARK).write_bytes(msgspec.json.encode(left))
    return profile


def old(path: Path) -> Path:
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- making and removing ----------------------------------------------------------------


def test_a_profile_is_private_and_has_a_private_temporary_folder(root):
    before = os.umask(0)
    try:
        profile = create_profile(root)
    finally:
        os.umask(before)
    assert profile.name.startswith("vfa-profile-")
    assert mode(profile) == 0o700
    assert mode(profile / TMP_FOLDER) == 0o700
    assert mode(profile / owner.MARK) == 0o600


def test_the_mark_names_this_process_and_its_start(root):
    profile = create_profile(root)
    left = msgspec.json.decode((profile / owner.MARK).read_bytes(), type=owner.Owner)
    assert (left.pid, left.started) == (os.getpid(), owner.started(os.getpid()))
    assert owner.is_alive(profile)


def test_the_root_is_made_and_its_links_are_resolved(root):
    (root / "real").mkdir()
    (root / "link").symlink_to("real")
    assert create_profile(root / "link" / "deep").parent == root / "real" / "deep"


def test_a_root_that_cannot_be_used_is_an_error_that_names_the_setting(root):
    (root / "file").write_text("")
    with pytest.raises(BrowserStartError) as caught:
        create_profile(root / "file")
    assert "VFA_PROFILE_ROOT" in caught.value.hint


def test_a_removed_profile_is_gone_with_all_it_held(root):
    profile = create_profile(root)
    (profile / "Default" / "Cache").mkdir(parents=True)
    (profile / "Default" / "Cookies").write_text("x")
    assert remove_profile(profile)
    assert os.listdir(root) == []
    assert owner._held == {}


def test_removing_a_profile_twice_is_fine(root):
    profile = create_profile(root)
    assert remove_profile(profile)
    assert remove_profile(profile)


def test_a_folder_that_denies_its_owner_everything_is_removed_all_the_same(root):
    profile = create_profile(root)
    locked = profile / "Default" / "locked"
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    locked.chmod(0)
    (profile / "Default").chmod(0o500)
    assert remove_profile(profile)


def test_only_profiles_are_ever_removed(root):
    (root / "precious").mkdir()
    with pytest.raises(ValueError, match="not a profile"):
        remove_profile(root / "precious")
    assert (root / "precious").is_dir()


def test_links_in_a_profile_are_removed_and_what_they_point_to_is_not(root):
    precious = root / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    profile = create_profile(root)
    (profile / "folder").symlink_to(precious)
    (profile / "file").symlink_to(precious / "file")
    assert remove_profile(profile)
    assert (precious / "file").read_text() == "x"


def test_a_restart_finds_no_locks_and_an_empty_temporary_folder_but_the_cookies(root):
    profile = create_profile(root)
    for name in LEFT_BY_A_CRASH:
        (profile / name).symlink_to("host-4711")  # dangling, as Chromium's are
    (profile / TMP_FOLDER / "org.chromium.Chromium.abc").mkdir()
    (profile / "Cookies").write_text("x")
    prepare_for_restart(profile)
    assert sorted(os.listdir(profile)) == sorted(["Cookies", owner.MARK, TMP_FOLDER])
    assert os.listdir(profile / TMP_FOLDER) == []
    assert owner.is_alive(profile)


def test_preparing_an_untouched_profile_changes_nothing(root):
    profile = create_profile(root)
    prepare_for_restart(profile)
    assert sorted(os.listdir(profile)) == sorted([owner.MARK, TMP_FOLDER])


# --- reaping ----------------------------------------------------------------------------


def test_a_profile_whose_engine_is_dead_is_reaped_and_a_living_ones_is_not(root):
    live = create_profile(root)
    stale = abandoned(root)
    assert reap_stale(root) == [str(stale)]
    assert os.listdir(root) == [live.name]


def test_a_used_again_process_id_does_not_keep_a_profile(root):
    with program() as stranger:
        abandoned(root, pid=stranger.pid)
        assert len(reap_stale(root)) == 1
        assert stranger.poll() is None  # whoever has the recorded id now is not to blame


def test_a_profile_of_another_living_engine_is_kept_even_where_locks_do_not_work(root):
    with program() as engine:
        kept = abandoned(root, pid=engine.pid, started=owner.started(engine.pid))
        assert reap_stale(root) == []
        assert kept.is_dir()
    assert reap_stale(root) == [str(kept)]


def test_a_held_lock_keeps_a_profile_whose_engine_cannot_be_seen(root):
    kept = create_profile(root)
    mark = owner.Owner(pid=1, started="seen from another container", namespace="pid:[7]")
    (kept / owner.MARK).write_bytes(msgspec.json.encode(mark))
    assert reap_stale(root) == []
    owner.release(kept)
    assert reap_stale(root) == [str(kept)]


def test_an_engine_that_ended_but_was_not_waited_for_is_dead(root):
    with program() as engine:
        stale = abandoned(root, pid=engine.pid, started=owner.started(engine.pid))
        engine.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, engine.pid, os.WEXITED | os.WNOWAIT)
        assert reap_stale(root) == [str(stale)]


def test_an_engine_that_was_killed_leaves_a_stale_profile(root):
    code = (
        "import pathlib, signal, sys; from vfa.chromium.profile import create_profile;"
        "create_profile(pathlib.Path(sys.argv[1])); print('up', flush=True); signal.pause()"
    )
    engine = subprocess.Popen([sys.executable, "-c", code, root], stdout=subprocess.PIPE)
    with engine:
        assert engine.stdout.read(3) == b"up\n"
        assert reap_stale(root) == []
        engine.kill()
    assert len(reap_stale(root)) == 1


def test_the_processes_that_use_a_stale_profile_are_killed(root):
    stale = abandoned(root)
    with program(f"--user-data-dir={stale}", start_new_session=True) as browser:
        assert reap_stale(root) == [str(stale)]
        browser.wait(5)  # nothing but a kill ends it


def test_a_stopped_browser_is_killed_with_the_group_it_leads(root):
    stale = abandoned(root)
    code = (
        "import os, signal;child = os.fork();child and print('up', flush=True);signal.pause()"
    )
    command = [sys.executable, "-c", code, f"--user-data-dir={stale}"]
    browser = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    with browser:
        assert browser.stdout.read(3) == b"up\n"
        browser.send_signal(signal.SIGSTOP)
        reap_stale(root)
        browser.wait(5)
        assert browser.stdout.read() == b""  # ends when the child, which has it too, is gone


@pytest.mark.parametrize(
    "argument",
    [
        "--user-data-dir={stale}2",
        "--user-data-dir={stale}/sub",
        "--user-data-dir={live}",
        "--log={stale}",
        "{stale}",
        "x --user-data-dir={stale}",
    ],
)
def test_a_foreign_process_is_never_killed(root, argument):
    stale, live = abandoned(root), create_profile(root)
    with program(argument.format(stale=stale, live=live)) as foreign:
        assert reap_stale(root) == [str(stale)]
        assert foreign.poll() is None


def test_reaping_does_not_kill_a_group_that_it_belongs_to(root):
    stale = abandoned(root)
    # The browser is in our own group here, as one started by a debugger might be.
    with program(f"--user-data-dir={stale}") as browser:
        reap_stale(root)
        browser.wait(5)  # nothing but a kill ends it


def test_links_that_look_like_profiles_are_left_alone(root):
    precious = root / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    old(precious)
    (root / "vfa-profile-link").symlink_to(precious)
    old(root / "vfa-profile-link")
    (root / "vfa-profile-file").write_text("x")
    old(root / "vfa-profile-file")
    assert reap_stale(root) == []
    assert (precious / "file").exists()
    assert (root / "vfa-profile-link").is_symlink()
    assert (root / "vfa-profile-file").exists()


def test_a_mark_that_is_a_link_is_not_followed(root):
    stale = abandoned(root)
    elsewhere = root / "mark.json"
    (stale / owner.MARK).rename(elsewhere)
    (stale / owner.MARK).symlink_to(elsewhere)
    assert owner.is_alive(stale) is None


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b'{"pid": "x"}'])
def test_a_profile_with_an_unreadable_mark_is_reaped_once_it_is_old(root, content):
    profile = abandoned(root)
    (profile / owner.MARK).write_bytes(content)
    assert reap_stale(root) == []
    old(profile)
    assert reap_stale(root) == [str(profile)]


def test_a_profile_that_is_just_being_made_is_left_alone(root):
    (root / "vfa-profile-young").mkdir()
    assert reap_stale(root) == []
    old(root / "vfa-profile-young")
    assert len(reap_stale(root)) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_profiles_of_other_users_are_left_alone(root):
    theirs = abandoned(root)
    os.chown(theirs, 4711, 4711)
    assert reap_stale(root) == []
    assert theirs.is_dir()


def test_a_root_that_does_not_exist_has_nothing_to_reap(root):
    assert reap_stale(root / "none") == []


def test_directories_of_others_below_the_root_are_never_touched(root):
    (root / "browser-mcp-abc").mkdir()
    old(root / "browser-mcp-abc")
    assert reap_stale(root) == []
