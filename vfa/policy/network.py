"""Which addresses and names the two families of tools may reach.

Pure. ``qa_*`` tools reach the public network only, or everything with
``VFA_ALLOW_LOCAL_HOST=true``. ``browser_*`` tools reach this machine besides, and everything
with ``ALLOW_PRIVATE_NETWORKS=1``. "Everything" includes metadata services: who opens the
inner network opens all of it. Unspecified addresses (``0.0.0.0``) and multicast groups are
refused in any case: no web server has such an address, and what the system makes of it
differs from one to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.errors import SsrfBlockedError
from vfa.policy.address import judge_address
from vfa.policy.url import is_local_name, is_private_name

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.policy.address import AddressKind

SETTINGS = {
    "qa": "Set VFA_ALLOW_LOCAL_HOST=true to audit local applications.",
    "browser": "Set ALLOW_PRIVATE_NETWORKS=1 to let browser tools reach private networks.",
}
NEVER = ("unspecified", "multicast")


class Policy(msgspec.Struct, frozen=True):
    """What one family of tools may reach."""

    kind: Literal["qa", "browser"]
    allow_loopback: bool
    allow_private: bool

    @classmethod
    def for_audits(cls, config: Config) -> Policy:
        """Return the policy of ``qa_*`` tools."""
        return cls("qa", config.allow_local_host, config.allow_local_host)

    @classmethod
    def for_browser(cls, config: Config) -> Policy:
        """Return the policy of ``browser_*`` tools."""
        return cls("browser", True, config.allow_private_networks)

    def allows(self, kind: AddressKind) -> bool:
        """Return whether addresses of this kind may be reached."""
        if kind in NEVER:
            return False
        if kind == "loopback":
            return self.allow_loopback
        return kind == "public" or self.allow_private

    def check_address(self, address: str, host: str = "") -> None:
        """Check an address that a name resolved to, or that answered.

        Args:
            address: As CDP ``Network.Response.remoteIPAddress`` or the resolver gives it; ""
                where nothing was connected to, as for an answer from the cache.
            host: The name that led there, for the message.

        Raises:
            SsrfBlockedError: The policy refuses it.
        """
        if not address:
            return
        kind = judge_address(address)
        if not self.allows(kind):
            led = f"{host} resolves to {address}" if host and host != address else address
            raise self._refusal(f"{led} ({kind} address)", kind)

    def check_name(self, host: str) -> None:
        """Check a name before it is resolved.

        Raises:
            SsrfBlockedError: The policy refuses it, whatever it may resolve to.
        """
        if is_local_name(host) and not self.allow_loopback:
            raise self._refusal(f"{host} (this machine)", "loopback")
        if is_private_name(host) and not self.allow_private:
            raise self._refusal(f"{host} (a name of private networks)", "private")

    def _refusal(self, what: str, kind: AddressKind) -> SsrfBlockedError:
        hint = SETTINGS[self.kind]
        if kind in NEVER:
            hint = "No setting allows such an address. For this machine, use 127.0.0.1."
        words = "Private network blocked" if self.kind == "browser" else "Blocked target"
        return SsrfBlockedError(f"{words}: {what}", hint=hint)
