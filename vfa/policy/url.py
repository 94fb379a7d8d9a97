r"""Reading a URL as Chromium does, and judging it before anything is resolved.

Pure. Two readers of one URL that disagree about its host are a hole in any address check, so
this follows the WHATWG URL standard, which Chromium implements, and not RFC 3986: spaces and
control characters around are dropped, tabs and line breaks inside, ``\`` is ``/``, the last
``@`` ends the user's name, the host is decoded, normalised and, where it ends in a number,
an IPv4 address in any of its spellings. What this cannot read, Chromium must not get either.
Only ``http`` and ``https`` URLs are taken apart.

Source: https://url.spec.whatwg.org/
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

import msgspec

from vfa.errors import InvalidUrlError
from vfa.policy.redact import redact_url

PORTS = {"http": 80, "https": 443}
REJECTED_SCHEMES = frozenset({"file", "javascript", "data", "vbscript"})
HTTP_HINT = "Give an absolute http:// or https:// URL."
MAX_URL = 2 * 1024 * 1024  # characters; Chromium's own limit
MAX_HOST = 253  # characters of a name in the DNS, without the last dot
MAX_SHOWN = 200  # characters of a bad URL in a message
MAX_PORT = 65535
MAX_NUMBER = 4000  # digits of one part of an IPv4 address; int() refuses to read more

PRIVATE_SUFFIXES = (".local", ".internal")
METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
    }
)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_STRIPPED = "".join(map(chr, range(0x21)))  # C0 control characters and the space
_DROPPED = re.compile(r"[\t\n\r]")
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")  # in a domain, once decoded
_IGNORED = re.compile("[\u00ad\u034f\u180b-\u180d\u200b\u2060\ufe00-\ufe0f\ufeff]")
_NOT_FOLDED = "\u00df\u03c2"  # sharp s and final sigma stay themselves
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # full stops that IDNA takes for one


class Parsed(msgspec.Struct, frozen=True):
    """An ``http`` or ``https`` URL, as far as it decides what is connected to."""

    scheme: str
    host: str  # ASCII, lower case; an IPv6 address without brackets
    port: int
    address: str = ""  # the host again, if it is an address
    has_credentials: bool = False


def parse_url(url: str) -> Parsed:
    """Take an ``http`` or ``https`` URL apart.

    Raises:
        InvalidUrlError: Chromium would not load it, or it has another scheme.
    """
    text, scheme = _clean(url)
    if scheme not in PORTS:
        raise InvalidUrlError(f"Unknown scheme: {scheme}", hint=HTTP_HINT)
    # Any number of slashes of both kinds, none included, comes before the host.
    rest = text[len(scheme) + 1 :].lstrip("/\\")
    authority = re.split(r"[/\\?#]", rest, maxsplit=1)[0]
    credentials, at, place = authority.rpartition("@")
    host, port = _split_port(place, PORTS[scheme], url)
    name, address = _parse_host(host, url)
    return Parsed(scheme, name, port, address, bool(at and credentials))


def check_browser_url(url: str) -> Parsed | None:
    """Return what ``browser_*`` tools may open: http, https, or None for ``about:blank``.

    Raises:
        InvalidUrlError: Anything else.
    """
    text, scheme = _clean(url)
    if scheme in REJECTED_SCHEMES:
        raise InvalidUrlError(f"Rejected scheme: {scheme}", hint=HTTP_HINT)
    if scheme == "about" and _is_blank(text):
        return None
    return parse_url(url)


def check_audit_url(url: str) -> Parsed:
    """Return what ``qa_*`` tools may open: absolute http and https URLs.

    Raises:
        InvalidUrlError: Anything else.
    """
    _, scheme = _clean(url)
    if scheme in REJECTED_SCHEMES:
        raise InvalidUrlError(f"Rejected scheme: {scheme}", hint=HTTP_HINT)
    return parse_url(url)


def is_local_name(host: str) -> bool:
    """Return whether Chromium takes a name for this machine without asking the DNS."""
    bare = host.rstrip(".")
    return bare == "localhost" or bare.endswith(".localhost")


def is_private_name(host: str) -> bool:
    """Return whether a name exists inside networks only, metadata services included."""
    bare = host.rstrip(".")
    return bare in METADATA_NAMES or bare.endswith(PRIVATE_SUFFIXES)


def _invalid(url: str, reason: str) -> InvalidUrlError:
    shown = redact_url(url[:MAX_SHOWN]) + ("…" if len(url) > MAX_SHOWN else "")
    return InvalidUrlError(f"Invalid URL {shown!r}: {reason}", hint=HTTP_HINT)


def _clean(url: str) -> tuple[str, str]:
    """Return the URL without what Chromium drops, and its scheme."""
    if len(url) > MAX_URL:
        raise _invalid(url, f"longer than {MAX_URL} characters")
    text = _DROPPED.sub("", url.strip(_STRIPPED))
    if not (match := _SCHEME.match(text)):
        raise _invalid(url, "no scheme")
    return text, match[1].lower()


def _is_blank(text: str) -> bool:
    return re.split(r"[?#]", text[len("about:") :], maxsplit=1)[0].lower() == "blank"


def _split_port(place: str, default: int, url: str) -> tuple[str, int]:
    host, colon, digits = place.rpartition(":")
    if not colon or "]" in digits:
        host, digits = place, ""
    if not digits:
        return host, default
    if not (digits.isascii() and digits.isdigit()):
        raise _invalid(url, "not a port")
    number = int(digits.lstrip("0")[:6] or "0")
    if number > MAX_PORT:
        raise _invalid(url, "not a port")
    return host, number


def _parse_host(host: str, url: str) -> tuple[str, str]:
    """Return the host as Chromium sees it, and the same if it is an address, else ""."""
    if host.startswith("["):
        address = _parse_ipv6(host, url)
        return address, address
    try:
        decoded = unquote_to_bytes(host).decode("utf-8")
    except UnicodeError:
        raise _invalid(url, "the host is not UTF-8") from None
    name = _to_ascii(decoded, url)
    if not name or _FORBIDDEN.search(name):
        raise _invalid(url, "no host" if not name else "characters that no host has")
    if _ends_in_a_number(name):
        address = _parse_ipv4(name, url)
        return address, address
    if len(name.removesuffix(".")) > MAX_HOST:
        raise _invalid(url, "the host is too long")
    return name, ""


def _parse_ipv6(host: str, url: str) -> str:
    if not host.endswith("]"):
        raise _invalid(url, "brackets that do not match")
    text = host[1:-1]
    try:
        if "%" in text:  # the URL standard has no zones; IPv6Address would take one
            raise ValueError  # noqa: TRY301
        return str(IPv6Address(text))
    except ValueError:
        raise _invalid(url, "not an IPv6 address") from None


def _to_ascii(host: str, url: str) -> str:
    """Return a name as the DNS gets it (UTS 46, not transitional)."""
    compatible = unicodedata.normalize("NFKC", _IGNORED.sub("", host))
    folded = "".join(c if c in _NOT_FOLDED else c.casefold() for c in compatible)
    text = unicodedata.normalize("NFKC", _DOTS.sub(".", folded))
    if text.isascii():
        return text
    try:
        labels = [_label(label) for label in text.split(".")]
    except UnicodeError:
        raise _invalid(url, "not a name that can be written in ASCII") from None
    return ".".join(labels)


def _label(label: str) -> str:
    if label.isascii():
        return label
    return "xn--" + label.encode("punycode").decode("ascii")


def _ends_in_a_number(name: str) -> bool:
    last = name.removesuffix(".").rpartition(".")[2]
    return (last.isascii() and last.isdigit()) or bool(re.fullmatch(r"0[xX][0-9a-fA-F]*", last))


def _parse_ipv4(name: str, url: str) -> str:
    """Read an IPv4 address in one to four parts, each decimal, octal or hexadecimal."""
    parts = name.removesuffix(".").split(".")
    try:
        numbers = [_number(part) for part in parts]
        if len(parts) > 4 or any(number > 255 for number in numbers[:-1]):
            raise ValueError  # noqa: TRY301
        if numbers[-1] >= 256 ** (5 - len(parts)):
            raise ValueError  # noqa: TRY301
    except ValueError:
        raise _invalid(url, "not an IPv4 address, though it ends in a number") from None
    value = numbers[-1]
    for index, number in enumerate(numbers[:-1]):
        value += number << 8 * (3 - index)
    return str(IPv4Address(value))


def _number(part: str) -> int:
    if not part or len(part) > MAX_NUMBER:
        raise ValueError(part)
    if part[:2].lower() == "0x":
        base, digits, allowed = 16, part[2:], r"[0-9a-fA-F]*"
    elif len(part) > 1 and part[0] == "0":
        base, digits, allowed = 8, part[1:], r"[0-7]*"
    else:
        base, digits, allowed = 10, part, r"[0-9]+"
    if not re.fullmatch(allowed, digits):
        raise ValueError(part)
    return int(digits or "0", base)
