from __future__ import annotations

import socket

import pytest
import trio
import trio.testing

from vfa.config import Config
from vfa.errors import InvalidUrlError, NavigationFailedError, SsrfBlockedError
from vfa.policy.resolve import RESOLVE_TIMEOUT, Policy, check_target, resolve

AUDITS = Policy.for_audits(Config())
LOCAL_AUDITS = Policy.for_audits(Config(allow_local_host=True))
BROWSER = Policy.for_browser(Config())
OPEN_BROWSER = Policy.for_browser(Config(allow_private_networks=True))


class Names:
    """A resolver that knows some names and counts what it is asked."""

    def __init__(self, **known: list[str]) -> None:
        self.known = {name.replace("_", "."): addresses for name, addresses in known.items()}
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        await trio.lowlevel.checkpoint()
        if host not in self.known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.known[host]


async def refused(url: str, policy: Policy, resolver: Names | None = None) -> SsrfBlockedError:
    with pytest.raises(SsrfBlockedError) as caught:
        await check_target(url, policy, resolver=resolver or Names())
    return caught.value


async def test_a_public_name_is_allowed_with_all_its_addresses():
    names = Names(shop_example=["93.184.215.14", "2606:2800::1"])
    target = await check_target("https://shop.example/x", AUDITS, resolver=names)
    assert (target.host, target.port) == ("shop.example", 443)
    assert target.addresses == ("93.184.215.14", "2606:2800::1")
    assert names.asked == [("shop.example", 443)]


@pytest.mark.parametrize("policy", [AUDITS, BROWSER])
@pytest.mark.parametrize(
    "bad", ["10.0.0.5", "fd00::1", "169.254.169.254", "100.64.0.1", "0.0.0.0"]
)
async def test_one_bad_address_among_good_ones_is_enough(policy, bad):
    names = Names(mixed_example=["8.8.8.8", bad, "2606:2800::1"])
    error = await refused("http://mixed.example/", policy, names)
    assert "mixed.example" in error.message
    assert bad in error.message


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/",
        "http://app.localhost./",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://192.168.1.1/",
        "http://0xa9fea9fe/",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal/",
        "http://printer.local/",
        "http://198.18.0.1/",
    ],
)
async def test_audits_stay_out_of_every_inner_network_without_asking_the_dns(url):
    names = Names()
    error = await refused(url, AUDITS, names)
    assert "VFA_ALLOW_LOCAL_HOST" in error.hint
    assert "ALLOW_PRIVATE_NETWORKS" not in error.hint
    assert names.asked == []
    assert (await check_target(url, LOCAL_AUDITS, resolver=_anything)).url == url


@pytest.mark.parametrize(
    "url", ["http://localhost/", "http://127.0.0.1/", "http://[::1]:8080/"]
)
async def test_browser_tools_may_reach_this_machine(url):
    assert (await check_target(url, BROWSER, resolver=Names())).addresses


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.1/", "http://172.16.5.5/", "http://db.internal/", "http://[fe80::1]/"],
)
async def test_browser_tools_reach_private_networks_only_when_told_so(url):
    error = await refused(url, BROWSER)
    assert "Private network blocked" in error.message
    assert "ALLOW_PRIVATE_NETWORKS" in error.hint
    assert (await check_target(url, OPEN_BROWSER, resolver=_anything)).url == url


@pytest.mark.parametrize("url", ["http://0.0.0.0:3000/", "http://[::]/", "http://224.0.0.1/"])
@pytest.mark.parametrize("policy", [AUDITS, LOCAL_AUDITS, BROWSER, OPEN_BROWSER])
async def test_addresses_that_no_server_has_are_refused_whatever_the_settings(url, policy):
    error = await refused(url, policy)
    assert "127.0.0.1" in error.hint
    assert "No setting" in error.hint


async def test_a_name_that_the_dns_sends_to_this_machine_is_loopback():
    names = Names(rebind_example=["127.0.0.1"])
    await refused("http://rebind.example/", AUDITS, names)
    assert (await check_target("http://rebind.example/", BROWSER, resolver=names)).addresses


async def test_browser_tools_have_no_way_around_through_a_public_looking_172():
    names = Names(**{"172_example": ["8.8.8.8"]})
    assert await check_target("http://172.example/", BROWSER, resolver=names)
    assert await check_target("http://172.32.0.1/", BROWSER, resolver=names)


async def test_an_audit_of_a_name_that_does_not_resolve_says_so():
    with pytest.raises(NavigationFailedError) as caught:
        await check_target("http://nowhere.example/", AUDITS, resolver=Names())
    assert caught.value.net_error == "net::ERR_NAME_NOT_RESOLVED"
    assert "nowhere.example" in caught.value.message
    assert "not known" in caught.value.message


async def test_a_name_that_does_not_resolve_is_left_to_the_browser():
    target = await check_target("http://nowhere.example/", BROWSER, resolver=Names())
    assert target.addresses == ()
    assert target.host == "nowhere.example"


async def test_a_silent_resolver_costs_its_bound_and_no_more(autojump_clock):
    async def silent(_host: str, _port: int) -> list[str]:
        await trio.sleep_forever()
        raise AssertionError

    started = trio.current_time()
    with pytest.raises(NavigationFailedError, match="no answer in 5 s"):
        await check_target("http://slow.example/", AUDITS, resolver=silent)
    assert trio.current_time() - started == pytest.approx(RESOLVE_TIMEOUT)
    assert (
        await check_target("http://slow.example/", BROWSER, resolver=silent)
    ).addresses == ()


async def test_a_cancelled_check_leaves_at_once():
    async def silent(_host: str, _port: int) -> list[str]:
        await trio.sleep_forever()
        raise AssertionError

    with trio.CancelScope() as scope:
        scope.cancel()
        await check_target("http://slow.example/", AUDITS, resolver=silent)
    assert scope.cancelled_caught


async def test_the_blank_page_leads_nowhere():
    assert (await check_target("about:blank", BROWSER)).host == ""
    with pytest.raises(InvalidUrlError):
        await check_target("about:blank", AUDITS)


async def test_schemes_are_judged_before_anything_is_resolved():
    names = Names()
    with pytest.raises(InvalidUrlError, match="Rejected scheme"):
        await check_target("file:///etc/passwd", BROWSER, resolver=names)
    assert names.asked == []


@pytest.mark.parametrize("address", ["10.0.0.1", "[fd00::1]", "::ffff:169.254.169.254", "junk"])
def test_the_address_that_answered_is_checked(address):
    with pytest.raises(SsrfBlockedError, match=r"shop\.example"):
        AUDITS.check_address(address, "shop.example")
    with pytest.raises(SsrfBlockedError, match="Private network blocked"):
        BROWSER.check_address(address)


@pytest.mark.parametrize("address", ["", "8.8.8.8", "[2606:4700:4700::1111]"])
def test_public_answers_and_answers_without_an_address_pass(address):
    AUDITS.check_address(address)
    BROWSER.check_address(address)


async def test_the_real_resolver_gives_plain_addresses():
    assert await resolve("127.0.0.1", 80) == ["127.0.0.1"]
    assert await resolve("::1", 80) == ["::1"]


@pytest.mark.parametrize("host", ["127.0.0.1..", "a..b", "x" * 64 + ".example", "a b"])
async def test_names_that_the_resolver_cannot_take_do_not_resolve(host):
    url = f"http://{host}/".replace(" ", "_")
    target = await check_target(url, BROWSER, resolver=_refuses)
    assert target.addresses == ()


async def _anything(_host: str, _port: int) -> list[str]:
    await trio.lowlevel.checkpoint()
    return ["10.9.8.7"]


async def _refuses(host: str, _port: int) -> list[str]:
    await trio.lowlevel.checkpoint()
    raise UnicodeError(f"label empty or too long: {host}")
