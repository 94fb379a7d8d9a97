"""How values are put into the sentences of findings: quoted, counted, with a unit."""

from __future__ import annotations

from urllib.parse import urlsplit


def shown(text: str, limit: int = 60) -> str:
    """Return ``text`` on one line and shortened, in quotation marks."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"


def counted(number: int, noun: str) -> str:
    """Return "1 image", "3 images"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def kilobytes(size: float) -> str:
    """Return a size in bytes as "12 kB" or "3.4 MB"."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def seconds(milliseconds: float) -> str:
    """Return a time in milliseconds as "3.4 s"."""
    return f"{milliseconds / 1000:.1f} s"


def file_name(url: str) -> str:
    """Return the last part of the path of ``url``, or its host where the path is empty."""
    parts = urlsplit(url)
    return parts.path.rstrip("/").rpartition("/")[2] or parts.netloc or url[:40]
