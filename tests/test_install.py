from __future__ import annotations

import shutil
import subprocess

import pytest

from vfa.chromium.install import (
    PIN_FILE,
    SOURCE_FILE,
    Machine,
    plan_install,
    plan_uninstall,
    read_machine,
)
from vfa.errors import BrowserError

UBUNTU = 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n'
DEBIAN = "# a comment\nID=debian\nVERSION_ID='12'\n"


def machine(os_release: str, **given) -> Machine:
    return read_machine(
        os_release, **{"platform": "linux", "root": True, "sudo": False} | given
    )


def commands(plan) -> list[str]:
    return [" ".join(step.command) for step in plan.steps]


def test_os_release_is_read_with_and_without_quotes():
    assert machine(UBUNTU).names == ("ubuntu", "debian")
    assert machine(UBUNTU).version == "24.04"
    assert machine(DEBIAN).version == "12"


def test_debian_installs_its_own_headless_shell():
    lines = commands(plan_install(machine(DEBIAN)))
    assert lines[0] == "apt-get update"
    assert lines[1].endswith("chromium-headless-shell fonts-liberation")
    assert not any("tee" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("ID=debian\nVERSION_ID=11", "chromium"),
        ("ID=debian\n", "chromium-headless-shell"),  # testing and unstable have no number
        ("ID=kali\nID_LIKE=debian\nVERSION_ID=2.1", "chromium-headless-shell"),
        ("ID=raspbian\nID_LIKE=debian\nVERSION_ID=12", "chromium-headless-shell"),
    ],
)
def test_debians_of_all_ages_get_what_they_have(text, package):
    assert f" {package} " in commands(plan_install(machine(text)))[-1]


def test_ubuntu_adds_the_debian_archive_signed_and_pinned():
    plan = plan_install(machine(UBUNTU))
    written = {step.command[1]: step.content for step in plan.steps if step.command[0] == "tee"}
    assert set(written) == {SOURCE_FILE, PIN_FILE}
    source = written[SOURCE_FILE]
    assert source.count("Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg") == 2
    assert "Suites: bookworm\n" in source
    assert "Suites: bookworm-security\n" in source
    assert "trusted" not in source.lower()


def test_the_pin_lets_the_debian_archive_win_for_chromium_only():
    plan = plan_install(machine(UBUNTU))
    pin = next(step.content for step in plan.steps if step.command[-1] == PIN_FILE)
    everything, chromium = [
        stanza.split("\n") for stanza in pin.partition("\n")[2].strip().split("\n\n")
    ]
    assert everything == ["Package: *", "Pin: release o=Debian", "Pin-Priority: 100"]
    assert "chromium-headless-shell" in chromium[0]
    assert "*" not in chromium[0]
    assert chromium[2] == "Pin-Priority: 500"


def test_the_keys_are_installed_before_the_archive_is_added():
    lines = commands(plan_install(machine(UBUNTU)))
    keys = next(i for i, line in enumerate(lines) if "debian-archive-keyring" in line)
    archive = next(i for i, line in enumerate(lines) if SOURCE_FILE in line)
    browser = next(i for i, line in enumerate(lines) if "chromium-headless-shell" in line)
    assert keys < archive < browser


def test_a_newer_ubuntu_gets_a_newer_debian():
    plan = plan_install(machine(UBUNTU.replace("24.04", "25.10")))
    assert any("Suites: trixie-security" in step.content for step in plan.steps)


def test_what_derives_from_ubuntu_is_treated_as_ubuntu():
    plan = plan_install(machine("ID=pop\nID_LIKE='ubuntu debian'\nVERSION_ID=31.0"))
    assert any("Suites: bookworm\n" in step.content for step in plan.steps)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ID=fedora", "dnf install -y chromium-headless"),
        ("ID=rocky\nID_LIKE='rhel centos fedora'", "dnf install -y epel-release"),
        ("ID=arch", "pacman -S --needed --noconfirm chromium"),
        ("ID=manjaro\nID_LIKE=arch", "pacman -S --needed --noconfirm chromium"),
        ("ID=alpine", "apk add chromium"),
        (
            "ID='opensuse-leap'\nID_LIKE='suse opensuse'",
            "zypper --non-interactive install chromium",
        ),
        ("ID=linuxmint\nID_LIKE='ubuntu debian'", "apt-get update"),
    ],
)
def test_other_distributions_use_their_own_command(text, line):
    assert commands(plan_install(machine(text)))[0] == line


def test_macos_uses_homebrew_and_no_root():
    plan = plan_install(Machine("darwin"))
    assert commands(plan) == ["brew install --cask google-chrome"]


@pytest.mark.parametrize(
    "unknown", [Machine("linux", ("plan9",)), Machine("win32"), Machine("linux")]
)
def test_an_unknown_system_is_told_what_to_do_instead(unknown):
    with pytest.raises(BrowserError) as caught:
        plan_install(unknown)
    assert "CHROMIUM_PATH" in caught.value.hint


def test_sudo_is_used_where_there_is_no_root():
    plan = plan_install(machine(UBUNTU, root=False, sudo=True))
    assert all(step.command[0] == "sudo" for step in plan.steps)


def test_without_root_and_sudo_the_commands_are_given_to_type():
    with pytest.raises(BrowserError) as caught:
        plan_install(machine(UBUNTU, root=False))
    assert "apt-get update" in caught.value.hint
    assert f"tee {SOURCE_FILE} <<'END'" in caught.value.hint


def test_uninstalling_removes_exactly_the_files_that_installing_wrote():
    written = {
        step.command[-1]
        for step in plan_install(machine(UBUNTU)).steps
        if step.command[0] == "tee"
    }
    removal = plan_uninstall(machine(UBUNTU)).steps[0].command
    assert set(removal[2:]) == written
    assert "purge" not in " ".join(commands(plan_uninstall(machine(UBUNTU))))


def test_there_is_nothing_to_take_back_where_no_source_was_added():
    assert plan_uninstall(machine(DEBIAN)).steps == ()
    assert plan_uninstall(Machine("darwin")).steps == ()


def test_a_step_can_be_typed_into_a_shell():
    plan = plan_install(machine(UBUNTU))
    step = next(step for step in plan.steps if step.content)
    typed = step.shell.replace(f"tee {SOURCE_FILE}", "cat")
    shell = subprocess.run(["sh", "-c", typed], capture_output=True, text=True, check=True)
    assert shell.stdout == step.content


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt is what reads these files")
def test_apt_understands_the_source_and_the_pin(tmp_path):
    plan = plan_install(machine(UBUNTU))
    source, pin = [step.content for step in plan.steps if step.content]
    (tmp_path / "x.sources").write_text(source)
    (tmp_path / "pin").write_text(pin)
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": tmp_path,
        "Dir::Etc::preferences": tmp_path / "pin",
        "Dir::Etc::preferencesparts": "/dev/null",
    }
    given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    said = subprocess.run(
        ["apt-get", *given, "indextargets"], capture_output=True, text=True, check=True
    )
    assert "Release: bookworm-security" in said.stdout
    policy = subprocess.run(
        ["apt-cache", *given, "policy"], capture_output=True, text=True, check=False
    )
    assert policy.returncode == 0, policy.stderr
