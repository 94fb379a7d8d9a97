"""How a report puts values into words, and how it defuses what pages wrote.

Text of a page is shown, never trusted: control characters and the marks that turn the reading
direction become visible, and nothing is longer than a reader would read. Escaping for HTML is
the template engine's part.

Source: Unicode Standard Annex 9 (bidirectional formatting characters); Trojan Source,
CVE-2021-42574, for what they can be abused for.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

# Soft and hard direction marks, embeddings, overrides and isolates.
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# C0 without tab and newline, DEL, C1, separators, surrogates, noncharacters.
CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff"
UNSAFE = re.compile(f"[{BIDI}{CONTROL}]")

DASH = "\N{EN DASH}"  # stands for what was not seen
LONG = 2_000  # characters of a description or message
SHORT = 300  # characters of a title, a selector, a shown URL


def visible(text: str) -> str:
    """Return ``text`` with every character that hides or reorders replaced by its name."""
    return UNSAFE.sub(_named, text.replace("\r\n", "\n").replace("\r", "\n"))


def _named(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the picture of the control character
    return "\N{REPLACEMENT CHARACTER}" if code >= 0xD800 else f"[U+{code:04X}]"


def cut(text: str, limit: int = LONG) -> str:
    """Return at most ``limit`` characters of ``text``, with a note of what is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def cut_middle(text: str, limit: int = SHORT) -> str:
    """Return ``text`` with its middle left out: of a URL both ends tell something."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}…{text[-(limit - head - 1) :]}"


def linkable(url: str) -> str:
    """Return ``url`` if a report may link to it, else "": only http(s), and no monsters."""
    if len(url) > 2_000 or UNSAFE.search(url):
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def short_url(url: str, base: str = "") -> str:
    """Return ``url`` without its scheme, and without its host where ``base`` has the same."""
    try:
        parts, origin = urlsplit(url), urlsplit(base)
    except ValueError:
        return cut_middle(url, 120)
    if not parts.netloc:
        return cut_middle(url, 120)
    rest = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    same = (parts.scheme, parts.netloc) == (origin.scheme, origin.netloc)
    # A lone slash would say nothing.
    return cut_middle(rest if same and rest != "/" else parts.netloc + rest, 120)


def value(measured: Any) -> str:
    """Return a measured value or a threshold as a reader would write it."""
    if measured is None or measured == "":
        return "nothing"
    if isinstance(measured, bool):
        return "yes" if measured else "no"
    if isinstance(measured, float):
        return f"{measured:.3f}".rstrip("0").rstrip(".")
    if isinstance(measured, int):
        return f"{measured:,}"
    if isinstance(measured, dict):
        return cut("; ".join(f"{key}: {value(part)}" for key, part in measured.items()), 500)
    if isinstance(measured, list | tuple):
        return cut(", ".join(value(part) for part in measured), 500)
    text = measured if isinstance(measured, str) else msgspec.json.encode(measured).decode()
    return cut(text, 500)


def duration(milliseconds: float | None) -> str:
    """Return a time as "840 ms" or "3.4 s"; a dash for None."""
    if milliseconds is None:
        return DASH
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return (
        f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    )


def size(count: float) -> str:
    """Return a number of bytes as "12 kB" or "3.4 MB"."""
    if count < 1000:
        return f"{count:.0f} B"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def counted(number: int, noun: str) -> str:
    """Return "1 page", "3 pages"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
