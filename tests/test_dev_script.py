"""The script of newcomers, as far as that goes without installing anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEV = ROOT / "dev"
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]


def run(*arguments, shell="sh", **variables):
    command = [shell, *(["sh"] if shell == "busybox" else [])]
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **variables},
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_understood_by_every_shell_here(shell):
    done = run("-n", DEV, shell=shell)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_help_names_the_commands(shell, words):
    done = run(DEV, *words, shell=shell)
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "test" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_an_unknown_command_ends_with_2_and_the_help_on_stderr(shell):
    done = run(DEV, "dance", shell=shell)
    assert (done.returncode, done.stdout) == (2, "")
    assert '"dance"' in done.stderr
    assert "Usage" in done.stderr


def test_scripts_can_be_started_as_they_are():
    assert os.access(DEV, os.X_OK)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_what_ci_runs_is_what_a_developer_runs():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[-1] == "exec ./dev test"


def test_a_missing_python_is_said_with_what_to_do(tmp_path):
    """In a copy of its own: the real one has an environment already."""
    script = shutil.copy(DEV, tmp_path)
    done = run(script, "test", PYTHON="no-such-python")
    assert done.returncode == 2
    assert "no Python 3.11" in done.stderr
    assert "no-such-python" in done.stderr
    assert list(tmp_path.iterdir()) == [Path(script)]


def test_packages_that_cannot_be_had_are_said_with_what_to_do(tmp_path):
    """The project is named after nothing: pip fails at once and asks no server."""
    pytest.importorskip("ensurepip")  # without it the script would look for the system's
    script = shutil.copy(DEV, tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    done = run(script, "demo", PIP_NO_INDEX="1")
    assert done.returncode == 2
    assert "pip could not install" in done.stderr
    assert not (tmp_path / ".venv" / ".vfa-installed").exists()
