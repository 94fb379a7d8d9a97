"""Chromium's command line.

Pure: says which arguments to give, for which reason; looks at nothing and starts nothing.
Every flag was tried on Chromium 156, as headless shell and as Chromium; what measured no
gain or has gone from Chromium is not here. Absent on purpose: ``--no-zygote`` and
``--in-process-gpu`` (slower), ``--use-angle=swiftshader`` (puts the drawing of every page on
SwiftShader, screenshots take four times as long), ``--disable-web-security`` and the like.

Source: https://chromium.googlesource.com/chromium/src/+/main/ (``*_switches.cc``)
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Literal

from vfa.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from vfa.chromium.find import Found

Transport = Literal["pipe", "websocket"]
Sandbox = Literal["auto", "on", "off"]

SMALL_SHM = 1 << 30  # bytes; containers give 64 MiB, and Chromium dies when it is used up

# A viewport of 780 x 437 CSS pixels, as browser-mcp has it: small pictures are quick ones. The
# full browser has 87 pixels of controls above it.
WINDOW = "780,437"
FRAMED_WINDOW = "780,524"

# WebGL in software, for WebGL only, the same on every machine. Chromium no longer falls back
# to it unasked.
WEBGL = (
    "--use-angle=swiftshader-webgl",
    "--enable-unsafe-swiftshader",
)

# Nothing goes over the network but what a page asks for; nothing is asked of a person.
QUIET = (
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--noerrdialogs",
    "--password-store=basic",  # not the desktop's, which may ask for a password
    "--use-mock-keychain",  # the same on macOS
)

# A page in the background or under load behaves as the one in front.
STEADY = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-renderer-backgrounding",
    "--force-color-profile=srgb",
)

# Chromium asks for components and for the accounts of Google's that the profile is logged in
# to whatever it is told. The port is one that it refuses to connect to, so nothing is sent.
NOWHERE = "http://127.0.0.1:9/"
ASK_NOWHERE = (
    f"--component-updater=disable-pings,url-source={NOWHERE}",
    f"--gaia-url={NOWHERE}",
)

# Media casting looks for devices in the local network; the others ask servers of Google's.
# The omnibox popups are two pages of the browser's own: 54 MB and a process that nobody sees.
FEATURES_OFF = (
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)

OURS = (
    # Roles and names as Chromium computes them, within reach of an in-page pass.
    "--enable-blink-features=ComputedAccessibilityInfo",
    # Peer connections must not go around the proxy that decides what may be reached.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # No first tab: pages are made through CDP, and the new-tab page costs 25 % of the start.
    "--no-startup-window",
)

# Switches of which Chromium only heeds the last one: a second one must be merged into ours.
LISTS = ("--disable-features=", "--enable-blink-features=")


def flags(
    found: Found,
    *,
    transport: Transport,
    profile: Path,
    root: bool,
    sandbox: Sandbox,
    extra: str = "",
    shm_bytes: int | None = None,
    proxy: str = "",
) -> list[str]:
    """Return the arguments for ``found``, its own path not among them.

    Args:
        found: The program.
        transport: How it is driven.
        profile: Its user data directory.
        root: Whether it will run as root, who has no sandbox.
        sandbox: ``auto`` is on, except for root.
        extra: More arguments, split as a shell does; they come last and win.
        shm_bytes: The size of /dev/shm; None where there is none to care about.
        proxy: What everything goes through, this machine's own addresses included.

    Raises:
        ConfigError: ``extra`` cannot be split.
    """
    shell = found.kind == "headless-shell"
    arguments = [f"--window-size={WINDOW if shell else FRAMED_WINDOW}"]
    if not shell:
        arguments.append("--headless")
    arguments += _driven_by(transport)
    arguments.append(f"--user-data-dir={profile}")
    if not sandboxed(root=root, sandbox=sandbox):
        arguments.append("--no-sandbox")
    if shm_bytes is not None and shm_bytes < SMALL_SHM:
        arguments.append("--disable-dev-shm-usage")
    if proxy:
        arguments += [f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>"]
    arguments += [*WEBGL, *QUIET, *ASK_NOWHERE, *STEADY, *OURS]
    arguments.append("--disable-features=" + ",".join(FEATURES_OFF))
    return _with_extra(arguments, _split(extra))


def sandboxed(*, root: bool, sandbox: Sandbox) -> bool:
    """Return whether Chromium will run in its sandbox; say so in the log where it does not."""
    return sandbox == "on" or (sandbox == "auto" and not root)


def _driven_by(transport: Transport) -> list[str]:
    if transport == "pipe":
        return ["--remote-debugging-pipe"]
    # Chromium writes the port that it chose to DevToolsActivePort in the profile.
    return ["--remote-debugging-port=0"]


def _split(extra: str) -> list[str]:
    try:
        return shlex.split(extra)
    except ValueError as error:
        raise ConfigError(
            f"VFA_CHROMIUM_ARGS={extra!r} cannot be split: {error}",
            hint="Quote it as you would for a shell.",
        ) from error


def _with_extra(arguments: list[str], extra: list[str]) -> list[str]:
    """Return both, the second last, with lists in ``extra`` added to ours."""
    result = list(arguments)
    for argument in extra:
        switch = next((name for name in LISTS if argument.startswith(name)), None)
        if switch is None:
            result.append(argument)
            continue
        before = next(each for each in reversed(result) if each.startswith(switch))
        result.append(f"{before},{argument.removeprefix(switch)}")
    return result
