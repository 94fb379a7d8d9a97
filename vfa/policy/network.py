"""Which addresses and names the two families of tools may reach.

Pure. ``qa_*`` tools reach the public network only, or everything with
``VFA_ALLOW_LOCAL_HOST=true``. ``browser_*`` tools reach this machine besides, and everything
with ``ALLOW_PRIVATE_NETWORKS=1``. "Everything" includes metadata services: who opens the
inner network opens all of it. Unspecified addresses (``0.0.0.0``) and multicast groups are
refused in any case: no web server has such an address, and what the system makes of it
differs from one to the next.

Lists narrow that further: with an allow list, nothing but what it names; a deny list wins
over it. They never widen: an allowed name is still refused for the address it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from vfa.errors import ConfigError, SsrfBlockedError
from vfa.policy.address import judge_address
from vfa.policy.hosts import Pattern, read_patterns
from vfa.policy.url import is_local_name, is_private_name

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.policy.address import AddressKind

SETTINGS = {
    "qa": "Set VFA_ALLOW_LOCAL_HOST=true to audit local applications.",
    "browser": "Set ALLOW_PRIVATE_NETWORKS=1 to let browser tools reach private networks.",
}
NEVER = ("unspecified", "multicast")


class Lists(msgspec.Struct, frozen=True):
    """What settings allow and deny by name and port, on top of the rules for addresses."""

    blocked_ports: frozenset[int] = frozenset()
    allow_navigate: tuple[Pattern, ...] = ()
    deny_navigate: tuple[Pattern, ...] = ()
    allow_requests: tuple[Pattern, ...] = ()
    deny_requests: tuple[Pattern, ...] = ()

    @classmethod
    def of(cls, config: Config) -> Lists:
        """Return the lists of the settings.

        Raises:
            ConfigError: One of them cannot be read.
        """
        return cls(
            read_ports(config.blocked_ports),
            read_patterns(config.allow_navigate, "VFA_ALLOW_NAVIGATE"),
            read_patterns(config.deny_navigate, "VFA_DENY_NAVIGATE"),
            read_patterns(config.allow_requests, "VFA_ALLOW_REQUESTS"),
            read_patterns(config.deny_requests, "VFA_DENY_REQUESTS"),
        )


def read_ports(text: str) -> frozenset[int]:
    """Return the ports of a list separated by commas.

    Raises:
        ConfigError: One of them is no port.
    """
    ports = set()
    for word in text.split(","):
        if not word.strip():
            continue
        if not word.strip().isdecimal() or not 0 < int(word) < 65536:
            raise ConfigError(f"VFA_BLOCKED_PORTS: {word.strip()!r} is no port")
        ports.add(int(word))
    return frozenset(ports)


class Policy(msgspec.Struct, frozen=True):
    """What one family of tools may reach."""

    kind: Literal["qa", "browser"]
    allow_loopback: bool
    allow_private: bool
    lists: Lists = Lists()
    resolves: bool = True  # names, before anything is asked for; else a proxy does

    @classmethod
    def for_audits(cls, config: Config) -> Policy:
        """Return the policy of ``qa_*`` tools."""
        return cls(
            "qa",
            config.allow_local_host,
            config.allow_local_host,
            Lists.of(config),
            config.proxy_dns == "engine",
        )

    @classmethod
    def for_browser(cls, config: Config) -> Policy:
        """Return the policy of ``browser_*`` tools."""
        return cls(
            "browser",
            True,
            config.allow_private_networks,
            Lists.of(config),
            config.proxy_dns == "engine",
        )

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

    def check_port(self, port: int, host: str = "") -> None:
        """Check a port.

        Raises:
            SsrfBlockedError: Nothing may be asked of it.
        """
        if port in self.lists.blocked_ports:
            raise SsrfBlockedError(
                f"Blocked port: {host or 'the host'} port {port}",
                hint="VFA_BLOCKED_PORTS lists the ports that are refused.",
            )

    def check_request(self, host: str, port: int) -> None:
        """Check the place of any request by name, against the lists and the rules.

        Raises:
            SsrfBlockedError: It is refused.
        """
        self.check_port(port, host)
        self._check_lists(host, port, "REQUESTS")
        self.check_name(host)

    def check_navigation(self, host: str, port: int) -> None:
        """Check the place of a document by name.

        Raises:
            SsrfBlockedError: It is refused.
        """
        self._check_lists(host, port, "NAVIGATE")
        self.check_request(host, port)

    @property
    def restricts_navigation(self) -> bool:
        """Whether documents are held to lists that other requests are not."""
        return bool(self.lists.allow_navigate or self.lists.deny_navigate)

    def _check_lists(self, host: str, port: int, what: str) -> None:
        allowed = getattr(self.lists, f"allow_{what.lower()}")
        denied = getattr(self.lists, f"deny_{what.lower()}")
        if any(pattern.matches(host, port) for pattern in denied):
            raise SsrfBlockedError(
                f"Blocked target: {host} is on the list VFA_DENY_{what}",
                hint=f"Take it off VFA_DENY_{what} to allow it.",
            )
        if allowed and not any(pattern.matches(host, port) for pattern in allowed):
            raise SsrfBlockedError(
                f"Blocked target: {host} is not on the list VFA_ALLOW_{what}",
                hint=f"Add it to VFA_ALLOW_{what} to allow it.",
            )

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
