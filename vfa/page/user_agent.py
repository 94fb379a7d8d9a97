"""What a user agent string says about its browser, for those who ask by other means.

Pages learn of a browser from the string, from ``navigator.platform`` and from client hints
(``navigator.userAgentData``, ``Sec-CH-UA``). An emulated browser must tell the same story in
all three. Only Chromium and its relatives send hints.

Source: User-Agent Client Hints (WICG); CDP ``Emulation.UserAgentMetadata``.
"""

from __future__ import annotations

import re
from typing import Any

_CHROMIUM = re.compile(r"\b(HeadlessChrome|Chrome|Chromium)/(\d+)((?:\.\d+)*)")
_RELATIVES = (  # token in the string, brand in the hints
    (re.compile(r"\bEdg(?:A|iOS)?/(\d+)((?:\.\d+)*)"), "Microsoft Edge"),
    (re.compile(r"\bOPR/(\d+)((?:\.\d+)*)"), "Opera"),
)
_BRANDS = {"Chrome": "Google Chrome", "HeadlessChrome": "HeadlessChrome", "Chromium": ""}
_GREASE = ("Not:A-Brand", "8", "8.0.0.0")  # a brand that is none: nobody may rely on the list
_SYSTEMS = (  # token, hints' name with version, navigator.platform; the first that is there
    (re.compile(r"Windows NT ([\d.]+)"), "Windows", "Win32"),
    (re.compile(r"iPhone|iPad|iPod"), "iOS", "iPhone"),
    (re.compile(r"Mac OS X ([\d_.]+)"), "macOS", "MacIntel"),
    (re.compile(r"Android ([\d.]+)"), "Android", "Linux armv81"),
    (re.compile(r"Android"), "Android", "Linux armv81"),
    (re.compile(r"CrOS \w+ ([\d.]+)"), "Chrome OS", "Linux x86_64"),
    (re.compile(r"Linux"), "Linux", "Linux x86_64"),
)
_MODEL = re.compile(r"Android [\d.]+; ([^;)]+?)(?: Build/[^;)]*)?\)")


def platform_of(agent: str) -> str:
    """Return ``navigator.platform`` of that browser; "" if the string does not tell."""
    return next((old for token, _, old in _SYSTEMS if token.search(agent)), "")


def client_hints(agent: str) -> dict[str, Any] | None:
    """Return the CDP ``UserAgentMetadata`` of that browser; None if it is no Chromium."""
    chromium = _CHROMIUM.search(agent)
    if chromium is None:
        return None
    brands = [_GREASE, ("Chromium", chromium[2], _full(chromium[2], chromium[3]))]
    brand, match = _BRANDS[chromium[1]], chromium
    for token, name in _RELATIVES:
        if found := token.search(agent):
            brand, match = name, found
    if brand:
        brands.append((brand, match[2 if match is chromium else 1], _version(match)))
    system, version = _system(agent)
    model = _MODEL.search(agent)
    return {
        "brands": [{"brand": name, "version": major} for name, major, _ in brands],
        "fullVersionList": [{"brand": name, "version": full} for name, _, full in brands],
        "platform": system,
        "platformVersion": version,
        "architecture": "" if system == "Android" else "x86",
        "bitness": "" if system == "Android" else "64",
        "model": model[1] if model else "",
        "mobile": "Mobile" in agent,
        "wow64": False,
    }


def _version(match: re.Match[str]) -> str:
    """Return the whole version of a match that ends with major and rest."""
    major, rest = match.groups()[-2:]
    return _full(major, rest)


def _full(major: str, rest: str) -> str:
    return f"{major}{rest or '.0.0.0'}"


def _system(agent: str) -> tuple[str, str]:
    for token, name, _ in _SYSTEMS:
        if match := token.search(agent):
            version = match[1].replace("_", ".") if match.groups() else ""
            parts = [*version.split("."), "0", "0"][:3] if version else []
            return name, ".".join(parts)
    return "", ""
