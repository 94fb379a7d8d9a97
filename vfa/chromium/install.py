"""How to get Chromium onto this machine, and how to take back what that changed.

Pure: makes a plan of commands for a machine that is described to it. The command line shows
the plan, asks, and runs it.

Debian has the headless shell as a package of its own. Ubuntu has Chromium as a snap only,
which sees another ``/tmp`` and does not run in most containers; there the package comes from
the Debian archive, verified with Debian's own keys and pinned so that the archive gives the
Chromium packages and what they need that Ubuntu has not, and replaces nothing of Ubuntu's.

Source: apt_preferences(5), sources.list(5)
"""

from __future__ import annotations

import shlex

import msgspec

from vfa.errors import BrowserError

SOURCE_FILE = "/etc/apt/sources.list.d/vfa-chromium.sources"
PIN_FILE = "/etc/apt/preferences.d/vfa-chromium"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CHROMIUM_PACKAGES = (
    "chromium",
    "chromium-common",
    "chromium-headless-shell",
    "chromium-sandbox",
)
FONTS = "fonts-liberation"
FIRST_DEBIAN_WITH_SHELL = 12
FIRST_UBUNTU_FOR_TRIXIE = 25  # older ones lack the C library that trixie's packages want

NATIVE: dict[str, tuple[tuple[str, ...], ...]] = {
    "fedora": (("dnf", "install", "-y", "chromium-headless"),),
    "rhel": (
        ("dnf", "install", "-y", "epel-release"),
        ("dnf", "install", "-y", "chromium-headless"),
    ),
    "arch": (("pacman", "-S", "--needed", "--noconfirm", "chromium"),),
    "alpine": (("apk", "add", "chromium"),),
    "suse": (("zypper", "--non-interactive", "install", "chromium"),),
    "opensuse": (("zypper", "--non-interactive", "install", "chromium"),),
    "linuxmint": (
        ("apt-get", "update"),
        ("apt-get", "install", "-y", "--no-install-recommends", "chromium", FONTS),
    ),
}


class Machine(msgspec.Struct, frozen=True):
    """What a plan depends on."""

    platform: str  # as ``sys.platform``
    names: tuple[str, ...] = ()  # os-release ID, then ID_LIKE, most like first
    version: str = ""  # os-release VERSION_ID; empty for rolling distributions
    root: bool = False
    sudo: bool = False  # whether there is a sudo to become root with


class Step(msgspec.Struct, frozen=True):
    """One command, and what it is for."""

    text: str
    command: tuple[str, ...]
    content: str = ""  # given to its standard input

    @property
    def shell(self) -> str:
        """The step as one would type it."""
        line = shlex.join(self.command)
        return f"{line} <<'END'\n{self.content}END" if self.content else line


class Plan(msgspec.Struct, frozen=True):
    """Steps in order, and what else to know."""

    title: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


def read_machine(os_release: str, *, platform: str, root: bool, sudo: bool) -> Machine:
    """Return the machine that the text of ``/etc/os-release`` describes."""
    values = {}
    for line in os_release.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            values[name] = value.strip("\"'")
    names = f"{values.get('ID', '')} {values.get('ID_LIKE', '')}".lower().split()
    # openSUSE calls itself opensuse-leap, opensuse-tumbleweed, …
    plain = tuple("opensuse" if name.startswith("opensuse") else name for name in names)
    return Machine(platform, plain, values.get("VERSION_ID", ""), root, sudo)


def plan_install(machine: Machine) -> Plan:
    """Return what installs Chromium on ``machine``.

    Raises:
        BrowserError: There is no plan for it; the hint says what to do instead.
    """
    if machine.platform == "darwin":
        command = ("brew", "install", "--cask", "google-chrome")
        return Plan("Install Google Chrome with Homebrew", (Step("Install", command),))
    for name in machine.names if machine.platform == "linux" else ():
        if name == "ubuntu":
            return _as_root(_ubuntu(machine), machine)
        if name in ("debian", "raspbian"):
            return _as_root(_debian(machine), machine)
        if name in NATIVE:
            steps = tuple(Step(_purpose(command), command) for command in NATIVE[name])
            return _as_root(Plan(f"Install Chromium with {NATIVE[name][0][0]}", steps), machine)
    system = machine.names[0] if machine.names else machine.platform
    raise BrowserError(
        f"no plan to install Chromium on {system}",
        hint="Install Chromium or Chrome by the means of the system, and set CHROMIUM_PATH.",
    )


def plan_uninstall(machine: Machine) -> Plan:
    """Return what takes back the changes of ``plan_install`` to the package sources.

    Packages stay: others may have come to need them, and who installed them is not recorded.
    """
    title = "Remove the Debian archive that `vfa browser install` added"
    steps = (
        Step("Remove the package source and its pin", ("rm", "-f", SOURCE_FILE, PIN_FILE)),
        Step("Forget the packages it offered", ("apt-get", "update")),
    )
    if machine.platform != "linux" or "ubuntu" not in machine.names:
        return Plan("Nothing to take back", (), ("Package sources were not changed here.",))
    remove = shlex.join(("apt-get", "remove", *CHROMIUM_PACKAGES))
    return _as_root(
        Plan(title, steps, (f"Packages stay. To remove them, too: {remove}",)), machine
    )


def _debian(machine: Machine) -> Plan:
    # A derivative numbers its versions as it likes; only Debian's own say something.
    old = machine.names[0] == "debian" and 0 < _major(machine) < FIRST_DEBIAN_WITH_SHELL
    package = "chromium" if old else "chromium-headless-shell"
    return Plan(f"Install {package} from Debian", (_UPDATE, _apt_install(package, FONTS)))


def _ubuntu(machine: Machine) -> Plan:
    derived = machine.names[0] != "ubuntu"  # its version numbers are not Ubuntu's
    newer = not derived and _major(machine) >= FIRST_UBUNTU_FOR_TRIXIE
    release = "trixie" if newer else "bookworm"
    return Plan(
        f"Install chromium-headless-shell from the Debian archive ({release})",
        (
            _UPDATE,
            _apt_install("ca-certificates", "debian-archive-keyring"),
            Step("Add the Debian archive", ("tee", SOURCE_FILE), _source(release)),
            Step("Let it give Chromium only", ("tee", PIN_FILE), _pin()),
            _UPDATE,
            _apt_install("chromium-headless-shell", FONTS),
        ),
        ("Ubuntu has Chromium as a snap only, which VFA cannot use.",),
    )


def _source(release: str) -> str:
    stanza = (
        "Types: deb\n"
        "URIs: http://deb.debian.org/{place}\n"
        "Suites: {suite}\n"
        "Components: main\n"
        f"Signed-By: {KEYRING}\n"
    )
    main = stanza.format(place="debian", suite=release)
    security = stanza.format(place="debian-security", suite=f"{release}-security")
    return f"# Made by `vfa browser install`; `--uninstall` removes it.\n{main}\n{security}"


def _pin() -> str:
    """Return apt's preferences: what both archives have comes from Ubuntu's (500 over 100)."""
    return (
        "# Made by `vfa browser install`; `--uninstall` removes it.\n"
        "Package: *\n"
        "Pin: release o=Debian\n"
        "Pin-Priority: 100\n"
        "\n"
        f"Package: {' '.join(CHROMIUM_PACKAGES)}\n"
        "Pin: release o=Debian\n"
        "Pin-Priority: 500\n"
    )


_UPDATE = Step("Refresh the lists of packages", ("apt-get", "update"))


def _apt_install(*packages: str) -> Step:
    command = ("apt-get", "install", "-y", "--no-install-recommends", *packages)
    return Step(
        f"Install {', '.join(packages)}", ("env", "DEBIAN_FRONTEND=noninteractive", *command)
    )


def _purpose(command: tuple[str, ...]) -> str:
    return "Refresh the lists of packages" if "update" in command else f"Install {command[-1]}"


def _major(machine: Machine) -> int:
    digits = machine.version.partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _as_root(plan: Plan, machine: Machine) -> Plan:
    if machine.root:
        return plan
    if not machine.sudo:
        lines = "\n".join(step.shell for step in plan.steps)
        raise BrowserError(
            f"{plan.title}: this takes root, and there is no sudo",
            hint=f"Run as root:\n{lines}",
        )
    steps = tuple(
        msgspec.structs.replace(step, command=("sudo", *step.command)) for step in plan.steps
    )
    return Plan(plan.title, steps, plan.notes)
