"""What kind of place an IP address is.

Pure. The standard library's ``is_global`` and ``is_private`` are not enough: they know
nothing of the IPv6 forms that carry an IPv4 address to where the network delivers it, and
differ between Python versions. So: unwrap first, then judge by the list below, and whatever
the list does not name must be ``is_global`` as well to be public.

Source: https://www.iana.org/assignments/iana-ipv4-special-registry/
and https://www.iana.org/assignments/iana-ipv6-special-registry/
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

AddressKind = Literal[
    "public",
    "loopback",
    "private",
    "link-local",
    "metadata",
    "carrier-grade NAT",
    "unspecified",
    "multicast",
    "reserved",
]
Address = IPv4Address | IPv6Address

# Cloud providers' metadata services, which give credentials to whoever asks from inside.
METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Azure, Google, DigitalOcean, Hetzner, OpenStack, …
        "169.254.170.2",  # AWS ECS task credentials
        "169.254.170.23",  # AWS EKS pod identity
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle Classic
        "168.63.129.16",  # Azure's platform address, public by its number
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS EKS pod identity
        "fd20:ce::254",  # Google
    )
)

# The first that holds the address decides.
RANGES: dict[AddressKind, tuple[str, ...]] = {
    "unspecified": ("0.0.0.0/8", "::/128"),  # on Linux all of it reaches this machine
    "loopback": ("127.0.0.0/8", "::1/128"),
    "link-local": ("169.254.0.0/16", "fe80::/10"),
    "private": (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "fec0::/10",  # site-local, deprecated and still routed inside
    ),
    "carrier-grade NAT": ("100.64.0.0/10",),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": (
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation, like 198.51.100.0 and 203.0.113.0
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "240.0.0.0/4",  # with the broadcast address
        "::/96",  # IPv4-compatible, deprecated; what it carries was judged before
        "64:ff9b:1::/48",  # NAT64 with a prefix of the network's own
        "100::/64",  # discard
        "2001::/23",  # protocol assignments; Teredo was unwrapped before
        "2001:db8::/32",  # documentation, like 3fff::
        "3fff::/20",
        "5f00::/16",  # segment routing
    ),
}
NETWORKS = tuple(
    (kind, tuple(ip_network(text) for text in texts)) for kind, texts in RANGES.items()
)

GLOBAL_UNICAST = ip_network("2000::/3")  # all of IPv6 that has been handed out so far

MAPPED = ip_network("::ffff:0:0/96")
TRANSLATED = ip_network("::ffff:0:0:0/96")  # SIIT, RFC 2765
COMPATIBLE = ip_network("::/96")
NAT64 = ip_network("64:ff9b::/96")
SIX_TO_FOUR = ip_network("2002::/16")
TEREDO = ip_network("2001::/32")
ISATAP = frozenset({0x00005EFE, 0x02005EFE})  # the third quarter of such an address, RFC 5214

LAST_32_BITS = (1 << 32) - 1


def parse_address(text: str) -> Address | None:
    """Return the address that ``text`` writes in the usual way, or None.

    Brackets and a zone (``fe80::1%eth0``) are taken off. Other spellings of IPv4, as
    ``0x7f.1``, are the business of ``url.py``.
    """
    bare = text.removeprefix("[").removesuffix("]").partition("%")[0]
    try:
        return ip_address(bare)
    except ValueError:
        return None


def judge_address(address: Address | str) -> AddressKind:
    """Return what kind of place ``address`` is; what cannot be read is ``reserved``.

    An IPv6 address that carries an IPv4 one is the worse of both: the network may deliver
    it either way.
    """
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed is None:
        return "reserved"
    outer = "public" if _carries(parsed) else _judge_plain(parsed)
    for inner in carried_addresses(parsed):
        if (kind := _judge_plain(inner)) != "public":
            return kind
    return outer


def carried_addresses(address: Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses that ``address`` may be delivered to by way of its form."""
    if isinstance(address, IPv4Address):
        return ()
    number = int(address)
    last = IPv4Address(number & LAST_32_BITS)
    if address in MAPPED or address in TRANSLATED or address in NAT64:
        return (last,)
    if address in COMPATIBLE and number > 1:  # :: and ::1 are not IPv4-compatible
        return (last,)
    if address in SIX_TO_FOUR:
        return (IPv4Address(number >> 80 & LAST_32_BITS),)
    if address in TEREDO:  # server, and client with its bits turned
        return (
            IPv4Address(number >> 64 & LAST_32_BITS),
            IPv4Address(~number & LAST_32_BITS),
        )
    if number >> 32 & LAST_32_BITS in ISATAP:
        return (last,)
    return ()


def _carries(address: Address) -> bool:
    """Return whether ``address`` is nothing but the IPv4 address that it carries."""
    if isinstance(address, IPv4Address):
        return False
    wrappings = (MAPPED, TRANSLATED, NAT64, SIX_TO_FOUR, TEREDO)
    return any(address in wrapping for wrapping in wrappings)


def _judge_plain(address: Address) -> AddressKind:
    if address in METADATA:
        return "metadata"
    for kind, networks in NETWORKS:
        if any(address in network for network in networks):
            return kind
    handed_out = isinstance(address, IPv4Address) or address in GLOBAL_UNICAST
    return "public" if handed_out and address.is_global else "reserved"
