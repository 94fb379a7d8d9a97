from __future__ import annotations

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.errors import InvalidUrlError
from vfa.policy.address import judge_address
from vfa.policy.url import (
    check_audit_url,
    check_browser_url,
    is_local_name,
    is_private_name,
    parse_url,
)

TABLE = json.loads((Path(__file__).parent / "data" / "attack_urls.json").read_text())["urls"]
READABLE = [row for row in TABLE if "host" in row and not row.get("refused")]
REFUSED = [row for row in TABLE if "host" not in row or row.get("refused")]


def same_host(one: str, other: str) -> bool:
    """Python versions write mapped addresses differently."""
    if ":" in one and ":" in other:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    return one == other


def test_the_table_is_worth_its_name():
    assert len(TABLE) >= 200
    assert len({row["url"] for row in TABLE}) == len(TABLE)


@pytest.mark.parametrize("row", READABLE, ids=lambda row: ascii(row["url"]))
def test_a_url_is_read_as_chromium_reads_it(row):
    parsed = parse_url(row["url"])
    assert same_host(parsed.host, row["host"])
    assert parsed.port == row["port"]


@pytest.mark.parametrize("row", READABLE, ids=lambda row: ascii(row["url"]))
def test_the_place_behind_a_spelling_is_recognised(row):
    parsed = parse_url(row["url"])
    if parsed.address:
        kind = judge_address(parsed.address)
    elif is_local_name(parsed.host):
        kind = "local name"
    else:
        kind = "private name" if is_private_name(parsed.host) else "name"
    assert kind == row["kind"]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: ascii(row["url"]))
def test_what_is_no_web_address_is_refused(row):
    with pytest.raises(InvalidUrlError):
        check_audit_url(row["url"])


@pytest.mark.parametrize("check", [check_audit_url, check_browser_url])
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "JavaScript:alert(1)",
        "da\nta:text/html,x",
        " vbscript:x",
        "FILE:x",
    ],
)
def test_dangerous_schemes_are_rejected_by_name(check, url):
    with pytest.raises(
        InvalidUrlError, match=r"Rejected scheme: (file|javascript|data|vbscript)"
    ):
        check(url)


@pytest.mark.parametrize("check", [check_audit_url, check_browser_url])
@pytest.mark.parametrize(
    "url", ["ftp://x/", "chrome://version", "about:config", "blob:http://x/1", "ws://x/", "x:1"]
)
def test_other_schemes_are_unknown(check, url):
    with pytest.raises(InvalidUrlError, match="Unknown scheme"):
        check(url)


@pytest.mark.parametrize("check", [check_audit_url, check_browser_url])
@pytest.mark.parametrize("url", ["", "example.com", "//example.com", "http://", "http://a:b:c"])
def test_what_cannot_be_read_is_invalid(check, url):
    with pytest.raises(InvalidUrlError, match="Invalid URL") as caught:
        check(url)
    assert "http" in caught.value.hint


@pytest.mark.parametrize(
    "url", ["about:blank", "ABOUT:BLANK", "about:blank#x", " about:blank?y"]
)
def test_the_blank_page_is_for_browser_tools_only(url):
    assert check_browser_url(url) is None
    with pytest.raises(InvalidUrlError, match="Unknown scheme"):
        check_audit_url(url)


def test_an_ordinary_url_comes_apart():
    parsed = check_audit_url("https://user:secret@Example.COM:8443/path?q=1#f")
    assert (parsed.scheme, parsed.host, parsed.port) == ("https", "example.com", 8443)
    assert parsed.has_credentials
    assert parsed.address == ""
    assert not parse_url("http://@example.com").has_credentials


def test_a_bad_url_is_quoted_without_its_password_and_not_without_end():
    with pytest.raises(InvalidUrlError) as caught:
        parse_url("http://user:hunter2@exa<mple.com/" + "x" * 10_000)
    assert "hunter2" not in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    "url",
    [
        "http://" + "a" * 300 + "/",
        "http://" + "9" * 5000 + "/",
        "http://0x" + "f" * 100_000 + "/",
        "http://" + "ü" * 5000 + "/",
        "x" * 3_000_000,
        "http://\ud800/",
        "http://%ff/",
        "http://xn--\u00fc\ud800/",
    ],
    ids=lambda url: ascii(url[:20]),
)
def test_monstrous_hosts_are_refused_at_once(url):
    with pytest.raises(InvalidUrlError):
        parse_url(url)


def test_local_and_private_names_are_known_with_and_without_the_last_dot():
    assert is_local_name("localhost")
    assert is_local_name("localhost.")
    assert is_local_name("a.localhost")
    assert not is_local_name("localhost.example.com")
    assert is_private_name("printer.local.")
    assert is_private_name("metadata")
    assert not is_private_name("local")
    assert not is_private_name("mylocal.example")


@given(st.text(max_size=60))
def test_any_text_is_either_read_or_refused(text):
    for url in (text, "http://" + text, "http:" + text):
        try:
            parsed = parse_url(url)
        except InvalidUrlError:
            continue
        assert parsed.host.isascii()
        assert 0 <= parsed.port <= 65535


def _spelled(number: int, style: str) -> str:
    return {"decimal": f"{number}", "hex": f"0x{number:X}", "octal": f"0{number:o}"}[style]


styles = st.sampled_from(["decimal", "hex", "octal"])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.lists(styles, min_size=4, max_size=4))
def test_every_spelling_of_an_ipv4_address_is_that_address(number, count, how):
    octets = [number >> shift & 255 for shift in (24, 16, 8, 0)]
    numbers = [*octets[: count - 1], number & (256 ** (5 - count) - 1)]
    host = ".".join(_spelled(n, style) for n, style in zip(numbers, how, strict=False))
    assert parse_url(f"http://{host}/").address == str(ipaddress.IPv4Address(number))


fullwidth = {ord(c): ord(c) + 0xFEE0 for c in "0123456789."}


@given(st.ip_addresses(v=4))
def test_fullwidth_digits_do_not_hide_an_address(address):
    assert parse_url(f"http://{str(address).translate(fullwidth)}/").address == str(address)


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_survives_in_any_of_its_forms(address):
    for text in (str(address), address.exploded.upper()):
        parsed = parse_url(f"http://[{text}]:81/")
        assert ipaddress.ip_address(parsed.address) == address
        assert parsed.port == 81


@given(st.text(alphabet="abc@:/\\?#[].%1 \t", max_size=20))
def test_the_host_does_not_depend_on_tabs_and_line_breaks(text):
    def host(url: str) -> str | None:
        try:
            return parse_url(url).host
        except InvalidUrlError:
            return None

    plain = "http://" + text + "x"
    assert host(plain) == host("\n".join(plain))
