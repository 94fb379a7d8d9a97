from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.policy.address import METADATA, carried_addresses, judge_address, parse_address

KINDS = {
    "public": "1.1.1.1 8.8.8.8 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 192.169.0.1"
    " 11.0.0.0 9.255.255.255 169.253.0.1 128.0.0.1 2606:4700:4700::1111 2a00:1450::1"
    " ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1",
    "loopback": "127.0.0.1 127.0.0.2 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1"
    " ::127.0.0.1 64:ff9b::127.0.0.1 2002:7f00:1::1 ::ffff:0:127.0.0.1"
    " 2606:4700::5efe:127.0.0.1 2001:0:7f00:1::",
    "private": "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fd00::1"
    " fdff:ffff::1 fec0::1 feff::1 ::ffff:10.0.0.1 ::10.0.0.1 64:ff9b::a00:1 2002:a00:1::"
    " 2001:0:808:808::f5ff:fffe",
    "link-local": "169.254.0.1 169.254.169.253 fe80::1 febf::1 ::ffff:169.254.1.1",
    "metadata": "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16"
    " fd00:ec2::254 ::ffff:169.254.169.254 ::a9fe:a9fe 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::",
    "carrier-grade NAT": "100.64.0.1 100.127.255.255 ::ffff:100.64.0.1",
    "unspecified": "0.0.0.0 0.0.0.1 0.255.255.255 :: ::ffff:0.0.0.0 64:ff9b::",
    "multicast": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1 ::ffff:224.0.0.1",
    "reserved": "192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1"
    " 203.0.113.1 240.0.0.1 255.255.255.255 64:ff9b:1::1 100::1 2001:db8::1 2001:10::1"
    " 3fff::1 5f00::1 ::8.8.8.8 4000::1",
}
CASES = [(address, kind) for kind, texts in KINDS.items() for address in texts.split()]

MAPPED = 0xFFFF << 32
NAT64 = 0x64FF9B << 96


@pytest.mark.parametrize(("address", "kind"), CASES)
def test_an_address_is_of_its_kind(address, kind):
    assert judge_address(address) == kind


def test_brackets_and_zones_do_not_matter():
    assert judge_address("[::1]") == "loopback"
    assert judge_address("fe80::1%eth0") == "link-local"
    assert parse_address("[fe80::1%eth0]") == ip_address("fe80::1")


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5", "::g"])
def test_what_is_no_address_is_never_public(text):
    assert judge_address(text) == "reserved"


@pytest.mark.parametrize("address", sorted(METADATA, key=str))
def test_a_metadata_service_is_known_under_every_wrapping(address):
    assert judge_address(address) == "metadata"
    if isinstance(address, IPv4Address):
        for base in (0, MAPPED, NAT64):
            assert judge_address(IPv6Address(base | int(address))) == "metadata"


v4 = st.ip_addresses(v=4)


@given(v4)
def test_wrapping_an_address_never_makes_it_public(address):
    number = int(address)
    plain = judge_address(address)
    wrapped = [
        MAPPED | number,
        NAT64 | number,
        0xFFFF << 48 | number,
        0x2002 << 112 | number << 80 | 1,
        0x20010000 << 96 | 0x08080808 << 64 | (~number & 0xFFFFFFFF),
    ]
    for value in wrapped:
        assert judge_address(IPv6Address(value)) == plain


@given(v4)
def test_a_deprecated_wrapping_is_never_public(address):
    assert judge_address(IPv6Address(int(address))) != "public"


@given(st.ip_addresses())
def test_public_is_never_more_than_the_standard_library_says_of_what_is_not_wrapped(address):
    if judge_address(address) == "public" and not carried_addresses(address):
        assert address.is_global
