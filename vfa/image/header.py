"""The size of a PNG, JPEG or WebP picture, read from its first bytes.

Decodes nothing and needs nothing, so the engine can ask it about every capture. It does not
say whether the rest of the file can be read. An EXIF orientation is not applied: what is
read is the size as stored.

Sources: PNG specification 11.2.2 (IHDR); ITU-T T.81 annex B (JPEG markers); RFC 9649 (WebP).
"""

from __future__ import annotations

import struct
from typing import Literal

Format = Literal["jpeg", "png", "webp"]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# SOF0 to SOF15 carry the size. C4, C8 and CC lie between them and mean something else.
START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})  # TEM, RST0 to RST7, SOI
END_OF_HEADER = frozenset({0xD9, 0xDA})  # EOI, SOS: no frame header can follow

Buffer = bytes | bytearray | memoryview


def picture_format(data: Buffer) -> Format | None:
    """Return the format that ``data`` begins like."""
    head = bytes(data[:12])
    if head.startswith(PNG_SIGNATURE):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "webp"
    return None


def picture_size(data: Buffer) -> tuple[int, int] | None:
    """Return ``(width, height)`` in pixels, or None if the header is not all there."""
    try:
        match picture_format(data):
            case "png":
                size = _png_size(data)
            case "jpeg":
                size = _jpeg_size(data)
            case "webp":
                size = _webp_size(data)
            case None:
                return None
    except (struct.error, IndexError):  # it ends before the header does
        return None
    return size if size is not None and min(size) > 0 else None


def _png_size(data: Buffer) -> tuple[int, int] | None:
    kind, width, height = struct.unpack_from(">4sII", data, 12)
    return (width, height) if kind == b"IHDR" else None


def _jpeg_size(data: Buffer) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte before the marker proper
            at += 1
        elif marker in START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        elif marker in END_OF_HEADER:
            return None
        elif marker in WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp_size(data: Buffer) -> tuple[int, int] | None:
    match bytes(data[12:16]):
        case b"VP8 ":
            return _lossy_size(data)
        case b"VP8L":
            signature, bits = struct.unpack_from("<BI", data, 20)
            return (
                ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1) if signature == 0x2F else None
            )
        case b"VP8X":
            low_width, high_width, low_height, high_height = struct.unpack_from(
                "<HBHB", data, 24
            )
            return (high_width << 16 | low_width) + 1, (high_height << 16 | low_height) + 1
        case _:
            return None


def _lossy_size(data: Buffer) -> tuple[int, int] | None:
    start_code, width, height = struct.unpack_from("<3sHH", data, 23)
    # The two upper bits of each side are a scaling hint for the display.
    return (width & 0x3FFF, height & 0x3FFF) if start_code == b"\x9d\x01\x2a" else None
