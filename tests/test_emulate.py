"""Emulation: what is refused, what pages and servers notice, what stays in force."""

from __future__ import annotations

import logging
import os
import signal
from types import SimpleNamespace

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from tests.tabs import session_tab
from vfa.config import Config
from vfa.errors import InvalidArgsError
from vfa.page.emulation import (
    NETWORKS,
    Emulation,
    Geolocation,
    Throttle,
    changes,
    commands,
)
from vfa.page.user_agent import client_hints, platform_of
from vfa.tools.arguments import read_arguments
from vfa.tools.emulation import EMULATION, EmulateArguments, in_force, merged, run_emulate

browser = pytest.mark.browser
CHROME = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP1A) AppleWebKit/537.36 (KHTML) "
    "Chrome/140.0.1.2 Mobile Safari/537.36"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.1.2 Safari/537.36 Edg/141.0.3.4"
)
FIREFOX = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0"


def read(arguments):
    return msgspec.convert(arguments, EmulateArguments)


async def run(tab, **arguments):
    with trio.fail_after(10):
        stage = SimpleNamespace(tab=lambda number: tab)
        return (await run_emulate(stage, read(arguments), None)).value


async def ask(tab, expression):
    async def operation(page):
        answer = await page.session.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        return answer["result"].get("value", answer["result"].get("description"))

    return await tab.read(operation)


# --- pure -------------------------------------------------------------------------------

settings = st.builds(
    Emulation,
    media=st.sampled_from(["", "print"]),
    color_scheme=st.sampled_from(["", "dark", "light"]),
    locale=st.sampled_from(["", "de-DE", "fr"]),
    timezone=st.sampled_from(["", "Asia/Tokyo"]),
    geolocation=st.none()
    | st.builds(Geolocation, latitude=st.floats(-90, 90), denied=st.booleans()),
    user_agent=st.sampled_from(["", CHROME, FIREFOX]),
    offline=st.booleans(),
    network=st.sampled_from(["", *NETWORKS]),
    throttle=st.none() | st.builds(Throttle, latency_ms=st.floats(1, 1000)),
    cpu_slowdown=st.sampled_from([1.0, 4.0]),
    touch=st.booleans(),
    vision=st.sampled_from(["", "tritanopia"]),
    headers=st.dictionaries(st.sampled_from(["X-A", "X-B"]), st.just("1")),
)


class Browser:
    """What each command was last given: CDP overrides know nothing else."""

    def __init__(self):
        self.state = {}

    def hear(self, wanted):
        for facet in wanted.values():
            for command in facet:
                method = command.method.replace("clearGeo", "setGeo")
                self.state[method] = command.params


@given(settings, settings)
def test_the_changes_from_one_to_another_lead_where_all_commands_lead(old, new):
    stepwise, at_once = Browser(), Browser()
    stepwise.hear(commands(old))
    stepwise.hear(changes(old, new))
    at_once.hear(commands(new))
    assert stepwise.state == at_once.state
    assert changes(new, new) == {}


@given(settings)
def test_everything_that_is_in_force_is_told_but_no_value_of_a_header(emulated):
    told = in_force(emulated)
    for name in Emulation.__struct_fields__:
        differs = getattr(emulated, name) != getattr(Emulation(), name)
        assert (name in told) == differs or (name == "throttle" and emulated.network)
    assert set(told.get("headers", [])) == set(emulated.headers)
    msgspec.json.encode(told)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"locale": "not a locale"}, "locale: 'not a locale' is not a language tag"),
        ({"locale": "de_DE"}, "not a language tag"),
        ({"network": "slow-3g", "throttle": {"latency_ms": 1}}, "cannot be combined"),
        ({"geolocation": {}}, "exactly one of"),
        ({"geolocation": {"latitude": 1}}, "exactly one of"),
        ({"geolocation": {"latitude": 1, "longitude": 1, "denied": True}}, "exactly one of"),
        ({"headers": {"Host": "a"}}, "Host is the browser's own"),
        ({"headers": {"content-LENGTH": "1"}}, "the browser's own"),
        ({"headers": {"Sec-Fetch-Mode": "a"}}, "the browser's own"),
        ({"headers": {"Cookie": "secret"}}, "the browser's own"),
        ({"headers": {"User-Agent": "a"}}, 'with the argument "user_agent"'),
        ({"headers": {"Accept-Language": "a"}}, 'with the argument "locale"'),
        ({"headers": {"a b": "a"}}, "not the name of a header"),
        ({"headers": {"X-A": "secret\r\nX-B: 1"}}, "the value of X-A"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "twice"),
        ({"headers": {f"X-{i}": "" for i in range(51)}}, "at most 50"),
        ({"user_agent": "a\nb"}, "control characters"),
        ({"clear": ["nothing"]}, "nothing is called 'nothing'"),
    ],
)
async def test_what_cannot_be_emulated_is_refused_without_a_browser(arguments, words):
    with pytest.raises(InvalidArgsError, match=words) as caught:
        await run(None, **arguments)
    assert "secret" not in caught.value.message


def test_what_has_the_wrong_form_is_named():
    (tool,) = (tool for tool in EMULATION if tool.name == "browser_emulate")
    for wrong, words in (
        ({"headers": {"X-A": 1}}, "headers must be an object, each value a string"),
        ({"geolocation": {"latitude": 91}}, "geolocation.latitude must be .* from -90 to 90"),
        ({"cpu_slowdown": 0.5}, "cpu_slowdown must be a number from 1 to 100"),
        ({"clear": "media"}, "clear must be a list"),
        ({"colour_scheme": "dark"}, "did you mean color_scheme"),
    ):
        with pytest.raises(InvalidArgsError, match=words):
            read_arguments(tool, wrong, Config())


def test_settings_add_up_and_go_one_by_one_or_all_at_once():
    first = merged(Emulation(), read({"color_scheme": "dark", "network": "slow-3g"}))
    second = merged(first, read({"timezone": "Asia/Tokyo", "throttle": {"latency_ms": 5}}))
    assert (second.color_scheme, second.network) == ("dark", "")
    assert second.throttle == Throttle(latency_ms=5)
    third = merged(second, read({"clear": ["color_scheme", "network"], "touch": True}))
    assert third == Emulation(timezone="Asia/Tokyo", touch=True)
    assert merged(third, read({"reset": True, "media": "print"})) == Emulation(media="print")


def test_the_hints_of_a_browser_tell_what_its_string_tells():
    hints = client_hints(CHROME)
    assert (hints["platform"], hints["platformVersion"]) == ("Android", "14.0.0")
    assert (hints["mobile"], hints["model"]) == (True, "Pixel 8")
    assert {"brand": "Google Chrome", "version": "140"} in hints["brands"]
    assert platform_of(CHROME) == "Linux armv81"
    edge = client_hints(EDGE)
    assert {"brand": "Microsoft Edge", "version": "141"} in edge["brands"]
    assert {"brand": "Chromium", "version": "140.0.1.2"} in edge["fullVersionList"]
    assert (edge["platform"], edge["mobile"], platform_of(EDGE)) == ("Windows", False, "Win32")
    assert client_hints(FIREFOX) is None
    assert platform_of(FIREFOX) == "MacIntel"


@given(st.text())
def test_any_string_is_a_user_agent(agent):
    platform_of(agent)
    client_hints(agent)


# --- in a browser -----------------------------------------------------------------------

MEDIA = """['print', '(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)',
'(forced-colors: active)', '(prefers-contrast: more)', '(any-pointer: coarse)'
].map(query => +matchMedia(query).matches).join('')"""


@browser
async def test_the_page_sees_what_is_emulated_until_it_is_cleared(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        assert await ask(tab, MEDIA) == "000000"
        await run(tab, media="print", color_scheme="dark", reduced_motion="reduce")
        got = await run(tab, forced_colors="active", contrast="more", touch=True)
        assert got["inForce"] == {
            "media": "print",
            "color_scheme": "dark",
            "reduced_motion": "reduce",
            "forced_colors": "active",
            "contrast": "more",
            "touch": True,
        }
        assert await ask(tab, MEDIA + "+ navigator.maxTouchPoints") == "1111115"
        await run(tab, clear=["media", "contrast"])
        assert await ask(tab, MEDIA) == "011101"
        assert (await run(tab, reset=True))["inForce"] == {}
        assert await ask(tab, MEDIA) == "000000"
        await run(tab, color_scheme="no-preference", cpu_slowdown=2, vision="tritanopia")
        assert await ask(tab, MEDIA) == "000000"


@browser
async def test_language_and_time_are_those_of_the_place_in_page_and_request(config, site):
    url = site.page("/", "x")
    spoken = "[navigator.languages.join(), (1234.5).toLocaleString(), new Date(0).getHours()]"
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        before = await ask(tab, spoken)
        got = await run(tab, locale="de-DE", timezone="Asia/Tokyo")
        assert "next load" in got["note"]
        await tab.navigate(url)
        headers = site.headers["/"]
        assert headers["Accept-Language"].startswith("de-DE,de")
        assert await ask(tab, spoken) == ["de-DE,de", "1.234,5", 9]
        for wrong in ({"timezone": "Mars/Olympus"}, {"locale": "xx-YY"}):
            (name,) = wrong
            with pytest.raises(InvalidArgsError, match=name):
                await run(tab, color_scheme="dark", user_agent=CHROME, **wrong)
        assert (await run(tab))["inForce"] == {"locale": "de-DE", "timezone": "Asia/Tokyo"}
        assert await ask(tab, spoken) == ["de-DE,de", "1.234,5", 9]  # nothing half done
        assert await ask(tab, MEDIA) == "000000"
        assert "Pixel" not in await ask(tab, "navigator.userAgent")
        await run(tab, reset=True)
        await tab.navigate(url)
        assert await ask(tab, spoken) == before


@browser
async def test_a_user_agent_tells_one_story_everywhere(config, site):
    url = site.page("/", "x")
    told = "(n => [n.platform, n.userAgentData.platform, n.userAgentData.mobile])(navigator)"
    async with session_tab(config) as (_, tab):
        await run(tab, user_agent=CHROME)
        await tab.navigate(url)
        headers = site.headers["/"]
        assert headers["User-Agent"] == await ask(tab, "navigator.userAgent") == CHROME
        assert '"Google Chrome";v="140"' in headers["sec-ch-ua"]
        assert headers["sec-ch-ua-mobile"] == "?1"
        assert await ask(tab, told) == ["Linux armv81", "Android", True]
        await run(tab, user_agent=FIREFOX)
        await tab.navigate(url)
        headers = site.headers["/"]
        assert headers["User-Agent"] == FIREFOX
        assert "sec-ch-ua" not in headers
        await run(tab, clear=["user_agent"])
        await tab.navigate(url)
        headers = site.headers["/"]
        assert "Chrome" in headers["User-Agent"]
        assert "sec-ch-ua" in headers


@browser
async def test_headers_go_with_every_request_and_only_their_names_are_told(
    config, site, caplog
):
    caplog.set_level(logging.DEBUG)
    async with session_tab(config) as (_, tab):
        got = await run(tab, headers={"X-Token": "secret"})
        assert got["inForce"] == {"headers": ["X-Token"]}
        await tab.navigate(site.page("/", "x"))
        headers = site.headers["/"]
        assert headers["X-Token"] == "secret"
        said = [r.getMessage() for r in caplog.records if r.levelno >= logging.INFO]
        assert any("X-Token" in message for message in said)
        assert not any("secret" in message for message in said)
        await run(tab, headers={})
        await tab.navigate(site.url())
        headers = site.headers["/"]
        assert "X-Token" not in headers


WHERE = """new Promise(done => navigator.geolocation.getCurrentPosition(
  place => done([place.coords.latitude, place.coords.longitude, place.coords.accuracy]),
  error => done(error.code), {timeout: 3000}))"""


@browser
async def test_the_place_is_told_or_refused(config, site):
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        await run(tab, geolocation={"latitude": 48.2, "longitude": 16.4, "accuracy": 5})
        assert await ask(tab, WHERE) == [48.2, 16.4, 5]
        got = await run(tab, geolocation={"denied": True})
        assert got["inForce"] == {"geolocation": {"denied": True}}
        assert await ask(tab, WHERE) == 1  # PERMISSION_DENIED
        await run(tab, clear=["geolocation"])
        state = "navigator.permissions.query({name: 'geolocation'}).then(p => p.state)"
        assert await ask(tab, state) == "prompt"


FETCHED = "fetch('/data', {cache: 'no-store'}).then(() => 'came', () => 'failed')"
IN_WORKER = """new Promise(done => {
  const code = `onmessage = e => fetch(e.data, {cache: 'no-store'}).then(
    () => postMessage('came'), () => postMessage('failed'))`;
  const worker = window.worker ??= new Worker(URL.createObjectURL(new Blob([code])));
  worker.onmessage = event => done(event.data);
  worker.postMessage(location.origin + '/data');
})"""


@browser
async def test_offline_is_offline_for_page_and_workers_old_and_new(config, site):
    site.pages["/data"] = (200, {"Content-Type": "text/plain"}, "data")
    url = site.page("/", "x")
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        assert await ask(tab, IN_WORKER) == "came"
        await run(tab, offline=True)
        assert await ask(tab, "navigator.onLine") is False
        assert await ask(tab, FETCHED) == "failed"
        assert await ask(tab, IN_WORKER) == "failed"
        await ask(tab, "window.worker = undefined")
        assert await ask(tab, IN_WORKER) == "failed"
        await run(tab, offline=False)
        assert await ask(tab, FETCHED) == "came"
        assert await ask(tab, IN_WORKER) == "came"


@pytest.fixture
def separate(config):
    """Have each site in a process of its own."""
    return msgspec.structs.replace(
        config, chromium_args=config.chromium_args + " --site-per-process"
    )


@browser
async def test_a_slow_network_is_slow_for_frames_of_other_sites_too(separate, site):
    site.pages["/data"] = (200, {"Content-Type": "text/plain"}, "x" * 10_000)
    site.page("/inner", "<p>inner")
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    url = site.page("/", f"<iframe src='{other}'></iframe>")
    timed = f"(t => {FETCHED}.then(() => performance.now() - t))(performance.now())"
    async with session_tab(separate) as (_, tab):
        await tab.navigate(url)
        got = await run(tab, throttle={"latency_ms": 300})
        assert got["inForce"]["throttle"]["latency_ms"] == 300
        assert await ask(tab, timed) >= 290

        async def in_child(page):
            (child,) = page.children()
            answer = await child.call(
                "Runtime.evaluate",
                {"expression": timed, "awaitPromise": True, "returnByValue": True},
            )
            return answer["result"]["value"]

        assert await tab.read(in_child) >= 290
        got = await run(tab, network="fast-4g")
        assert got["inForce"]["throttle"]["latency_ms"] == 165
        await run(tab, reset=True)
        assert await ask(tab, timed) < 290
        assert await tab.read(in_child) < 290


@browser
async def test_a_frame_of_another_site_is_told_before_it_runs(separate, site):
    site.page("/inner", f"<script>var seen = {MEDIA} + navigator.language</script>")
    other = site.url("/inner").replace("127.0.0.1", "localhost")
    url = site.page("/", f"<iframe src='{other}'></iframe>")
    async with session_tab(separate) as (_, tab):
        await run(tab, color_scheme="dark", locale="fr")
        await tab.navigate(url)

        async def in_child(page):
            (child,) = page.children()
            answer = await child.call("Runtime.evaluate", {"expression": "seen"})
            return answer["result"]["value"]

        assert await tab.read(in_child) == "010000fr"


@browser
async def test_a_slow_processor_is_slow(config, site):
    work = """(began => {
      for (let i = 0, n = 0; i < 3e7; i++) n += i % 7;
      return performance.now() - began })(performance.now())"""
    async with session_tab(config) as (_, tab):
        await tab.navigate(site.page("/", "x"))
        await ask(tab, work)
        usual = await ask(tab, work)
        await run(tab, cpu_slowdown=6)
        assert await ask(tab, work) > 2 * usual


@browser
async def test_what_is_emulated_is_so_again_after_a_crash(config, site):
    async with session_tab(config) as (_, tab):
        await run(tab, color_scheme="dark", timezone="Asia/Tokyo", locale="de-DE", touch=True)

        async def process_id(page):
            listed = await page.connection.call("SystemInfo.getProcessInfo")
            return next(p["id"] for p in listed["processInfo"] if p["type"] == "browser")

        os.kill(await tab.read(process_id), signal.SIGKILL)
        assert await ask(tab, MEDIA) == "010001"
        assert await ask(tab, "new Date(0).getHours()") == 9
        await tab.navigate(site.page("/", "x"))
        assert await ask(tab, MEDIA) == "010001"
        assert await ask(tab, "navigator.languages.join()") == "de-DE,de"
