"""Taking secrets out of HTTP messages before they are shown.

Pure. The rule: of headers that carry credentials only the kind is shown (the scheme of
``Authorization``, the names of cookies and the attributes they are set with), of headers
whose names say that they are secret nothing, and all others lose what ``redact`` knows in
URLs and the well-known kinds of token. Of bodies, the values of JSON members and of form
fields are hidden whose names end like a secret's; what is plain text stays.
"""

from __future__ import annotations

import re

from vfa.policy.redact import HIDDEN, SECRET_ENDINGS, is_secret_name, redact_text

CREDENTIALS = frozenset({"authorization", "proxy-authorization"})
# What a cookie's line says besides its value.
_COOKIE = re.compile(r"(^|[;\n])(\s*)([^=;\n]*)(=?)([^;\n]*)")
_SCHEME = re.compile(r"[A-Za-z][\w\-]{0,20}(?= )")
_ENDINGS = "|".join(SECRET_ENDINGS)
_MEMBER = re.compile(
    rf'("[^"\\]{{0,80}}(?:{_ENDINGS})"\s*:\s*)("(?:[^"\\]|\\.)*"?|[\w.+\-]+)', re.IGNORECASE
)
_FIELD = re.compile(
    rf"((?:^|&)[^=&\s]{{0,80}}(?:{_ENDINGS})(?:%5D|\])?=)([^&\s]+)",
    re.IGNORECASE | re.MULTILINE,
)


def redact_header(name: str, value: str) -> str:
    """Return the value of a header without what is secret in it."""
    plain = name.lower()
    if plain in CREDENTIALS:
        scheme = _SCHEME.match(value)
        return f"{scheme[0]} {HIDDEN}" if scheme else HIDDEN
    if plain == "cookie":
        return _COOKIE.sub(_without_value, value)
    if plain == "set-cookie":
        return "\n".join(_redact_set_cookie(line) for line in value.split("\n"))
    if is_secret_name(plain.removeprefix("x-")):
        return HIDDEN if value else value
    return redact_text(value)


def redact_headers(headers: dict[str, str]) -> dict[str, str]:
    """Return ``headers`` without what is secret in them."""
    return {name: redact_header(name, value) for name, value in headers.items()}


def redact_body(text: str) -> str:
    """Return a JSON text or posted form with the values of secret-named members hidden."""
    text = _MEMBER.sub(rf'\1"{HIDDEN}"', text)
    return _FIELD.sub(rf"\1{HIDDEN}", text)


def _redact_set_cookie(line: str) -> str:
    cookie, semicolon, attributes = line.partition(";")
    return _COOKIE.sub(_without_value, cookie) + semicolon + attributes


def _without_value(match: re.Match[str]) -> str:
    before, space, name, sign, value = match.groups()
    if not sign:  # a cookie without a name: all of it is the value
        return f"{before}{space}{HIDDEN if name else ''}"
    return f"{before}{space}{name}={HIDDEN if value else ''}"
