"""The licence: a signed token that names its holder, its end, its seats and its features.

Pure. Off unless the operator sets ``VFA_LICENSE_PUBLIC_KEY``. A token is a JWT signed with
Ed25519 (RFC 7519, RFC 8037) and checked offline: nobody is asked, nothing is reported.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from vfa.errors import ConfigError, LicenseError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ALGORITHM = "EdDSA"
SKEW = 60  # seconds that clocks may differ
KEY_BYTES = 32
FEATURES = ("audit", "flow")


class Licence(msgspec.Struct, frozen=True):
    """What a token that was checked grants."""

    subject: str
    expires: datetime
    seats: int  # installations at a time; 0: any number
    features: tuple[str, ...]  # of FEATURES; empty: all
    digest: str  # names the licence in a registry of seats, and gives nothing away

    def check_feature(self, feature: str) -> None:
        """Raise ``LicenseError`` if the licence does not cover a feature."""
        if self.features and feature not in self.features:
            raise LicenseError(
                f"the licence covers {', '.join(self.features)}, not {feature}",
                hint="Ask whoever issued the licence for one that covers it.",
            )


def read_public_key(text: str) -> Ed25519PublicKey:
    """Return the key that ``text`` holds: PEM, or 32 bytes in base64.

    Raises:
        ConfigError: It holds none.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        if "BEGIN" in text:
            key = load_pem_public_key(text.replace("\\n", "\n").encode())
            if isinstance(key, Ed25519PublicKey):
                return key
        else:
            return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except ValueError:
        pass
    raise ConfigError(
        "VFA_LICENSE_PUBLIC_KEY is not an Ed25519 public key",
        hint="Give PEM, or the 32 bytes in base64, as `vfa license keygen` prints them.",
    )


def check_licence(token: str, key: Ed25519PublicKey) -> Licence:
    """Return what ``token`` grants.

    Raises:
        LicenseError: It is missing, malformed, not signed by the key, not valid yet or any
            more; the message says which.
    """
    if not token.strip():
        raise _refused("there is no licence", "Set VFA_LICENSE_KEY to the key you were given.")
    claims = _claims(token.strip(), key)
    subject, seats, features = claims["sub"], claims.get("seats", 0), claims.get("features", [])
    if not isinstance(seats, int) or seats < 0 or not _are_words(features):
        raise _refused("the licence is malformed: seats or features make no sense")
    return Licence(
        subject,
        datetime.fromtimestamp(claims["exp"], UTC),
        seats,
        tuple(features),
        hashlib.sha256(token.strip().encode()).hexdigest()[:32],
    )


def _claims(token: str, key: Ed25519PublicKey) -> dict[str, Any]:
    import jwt

    again = "Ask whoever issued the licence for a new one."
    try:
        return jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            leeway=SKEW,
            options={"require": ["sub", "exp"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError:
        raise _refused("the licence has expired", again) from None
    except jwt.ImmatureSignatureError:
        raise _refused(
            "the licence is not valid yet", "Check the clock of this machine."
        ) from None
    except jwt.InvalidSignatureError:
        raise _refused(
            "the licence was not signed with the operator's key (wrong signature)", again
        ) from None
    except jwt.InvalidTokenError as error:
        raise _refused(f"the licence is malformed: {error}", again) from None


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _refused(why: str, hint: str = "") -> LicenseError:
    return LicenseError(f"Licence refused: {why}", hint=hint)
