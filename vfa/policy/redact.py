"""Taking secrets out of URLs before they are logged or reported.

Pure. Removed are the user's name and password, values of parameters whose names say that
they are secret, and values that look like well-known kinds of token. Everything else stays:
a report whose URLs cannot be recognised is of no use.
"""

from __future__ import annotations

import re

HIDDEN = "***"

# Names are compared in lower case with "-", "_" and "." taken out.
SECRET_NAMES = frozenset(
    {
        "accesskey",
        "appkey",
        "assertion",
        "auth",
        "authcode",
        "authorization",
        "awsaccesskeyid",
        "bearer",
        "clientassertion",
        "code",
        "codeverifier",
        "credential",
        "credentials",
        "csrf",
        "googleaccessid",
        "jsessionid",
        "jwt",
        "key",
        "license",
        "licensekey",
        "oauthverifier",
        "otp",
        "pass",
        "passcode",
        "passphrase",
        "phpsessid",
        "pin",
        "privatekey",
        "pwd",
        "samlrequest",
        "samlresponse",
        "secretkey",
        "session",
        "sessionid",
        "sid",
        "sig",
        "subscriptionkey",
        "ticket",
        "xamzcredential",
        "xgoogcredential",
    }
)
SECRET_ENDINGS = ("token", "secret", "password", "passwd", "apikey", "signature")

_USER = re.compile(r"^([a-z][a-z0-9+.\-]*:[/\\]*)[^/\\?#]*@", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&#;])([^=&#;?/]{1,100})=([^&#;]*)")
_PATH_PARAMETER = re.compile(r"(;)([^=;/]{1,100})=([^;/]*)")  # as in /shop;jsessionid=…/cart
_QUERY = re.compile(r"[?#]")
_TOKEN = re.compile(
    r"(?<![\w\-])(?:"  # not within a word, which also keeps the search linear
    r"eyJ[\w\-]{8,}\.[\w\-]+\.[\w\-]*"  # JSON Web Token
    r"|(?:sk|pk|rk)[-_][\w\-]{16,}"  # OpenAI, Anthropic, Stripe
    r"|gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w\-]{16,}"
    r"|xox[abeoprs]-[\w\-]{10,}"  # Slack
    r"|A(?:KIA|SIA)[A-Z0-9]{16}"  # AWS
    r"|AIza[\w\-]{30,}|ya29\.[\w\-]{20,}"  # Google
    r")"
)
_URL_IN_TEXT = re.compile(r"\b(?:https?|wss?|ftp)://[^\s\"'<>`]+", re.IGNORECASE)


def redact_url(url: str) -> str:
    """Return ``url`` without its user's name and password and without token-like values."""
    without_user = _USER.sub(r"\1", url)
    query = _QUERY.search(without_user)
    end = query.start() if query else len(without_user)
    path = _PATH_PARAMETER.sub(_without_value, without_user[:end])
    return _TOKEN.sub(HIDDEN, path + _PARAMETER.sub(_without_value, without_user[end:]))


def redact_text(text: str) -> str:
    """Return ``text`` with every URL in it redacted, and well-known tokens anywhere."""
    return _TOKEN.sub(HIDDEN, _URL_IN_TEXT.sub(lambda match: redact_url(match[0]), text))


def is_secret_name(name: str) -> bool:
    """Return whether a parameter of this name is taken to hold a secret."""
    plain = re.sub(r"[-_.\[\]]|%5[bd]", "", name.lower())
    return plain in SECRET_NAMES or plain.endswith(SECRET_ENDINGS)


def _without_value(match: re.Match[str]) -> str:
    before, name, value = match.groups()
    return f"{before}{name}={HIDDEN if value and is_secret_name(name) else value}"
