"""The WebGL tools as a client uses them: ``vfa serve`` over stdio, and on a session tab."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial

import psutil
import pytest
import trio

from tests.mcp_peer import server_process, text_of
from tests.tabs import evaluate, session_tab
from tests.webgl_pages import WITHOUT_WEBGL
from vfa.config import load
from vfa.errors import DeadlineExceededError, PageCrashedError
from vfa.page.webgl_shim import install, read
from vfa.tools.table import Call
from vfa.tools.webgl import WebglShimArguments, shim_timeout, webgl_shim

pytestmark = pytest.mark.browser

SERVE = ("-W", "error", "-m", "vfa", "serve")
APP = """<canvas id=app></canvas><script>
  const gl = document.querySelector("#app").getContext("webgl");
  if (gl === null) console.error("THREE.WebGLRenderer: A WebGL context could not be created.");
  else gl.drawArrays(gl.TRIANGLES, 0, 3);
</script>"""


def answer(result):
    assert not result.get("isError"), text_of(result)
    return json.loads(text_of(result))


@pytest.fixture
def without(environment):
    args = environment["VFA_CHROMIUM_ARGS"] + WITHOUT_WEBGL
    return environment | {"VFA_CHROMIUM_ARGS": args}


async def test_an_app_without_webgl_is_diagnosed_booted_and_read(without, site):
    url = site.page("/", APP)
    async with server_process(*SERVE, **without, ENABLE_WEBGL_SHIM="1") as (peer, _):
        await peer.initialize()
        await peer.call("browser_navigate", url=url)
        info = answer(await peer.call("browser_webgl_info"))
        assert (info["effective"], info["usable"]) == ("unavailable", False)
        assert info["consoleHits"][0]["library"] == "three.js"
        assert "ENABLE_WEBGL_SHIM" in info["advice"]
        untraced = await peer.call("browser_webgl_trace")
        assert text_of(untraced).startswith("[WEBGL_TRACE_UNAVAILABLE]")

        later = answer(await peer.call("browser_webgl_shim", mode="trace", reload=False))
        assert (later["reloadRequired"], later["reloaded"]) == (True, False)
        assert "unchanged" in later["note"]
        assert text_of(await peer.call("browser_webgl_trace")).startswith("[WEBGL_TRACE")

        begun = answer(await peer.call("browser_webgl_shim", mode="trace"))
        assert (begun["mode"], begun["shimmed"], begun["reloaded"]) == ("trace", True, True)
        assert begun["identifier"]
        assert begun["reloadRequired"] is False
        assert "note" not in begun
        info = answer(await peer.call("browser_webgl_info"))
        assert (info["effective"], info["usable"]) == ("shimmed", False)
        assert info["shim"] == {"active": True, "mode": "trace", "mockedContexts": 1}
        assert info["webgl2"]["version"].startswith("WebGL 2.0")
        (canvas,) = answer(await peer.call("browser_canvas_info"))["canvases"]
        assert canvas["mockContextType"] == "webgl"
        assert "blank on purpose" in canvas["verdict"].lower()
        trace = answer(await peer.call("browser_webgl_trace", clear=True))
        assert trace["stats"]["draws"] == 1
        assert trace["cleared"] is True
        assert answer(await peer.call("browser_webgl_trace"))["stats"]["draws"] == 0

        await peer.call("browser_navigate", url=url)  # it lasts over navigations
        assert answer(await peer.call("browser_webgl_trace"))["stats"]["draws"] == 1
        ended = answer(await peer.call("browser_webgl_shim", mode="off"))
        assert (ended["identifier"], ended["shimmed"]) == (None, False)
        assert ended["appliesTo"] == "nothing"
        assert answer(await peer.call("browser_webgl_info"))["effective"] == "unavailable"


async def test_the_gate_is_shut_before_any_browser_starts(environment, site):
    async with server_process(*SERVE, **environment) as (peer, process):
        await peer.initialize()
        refused = await peer.call("browser_webgl_shim", mode="trace")
        assert refused["isError"] is True
        assert text_of(refused).startswith("[WEBGL_SHIM_DISABLED]")
        assert "ENABLE_WEBGL_SHIM=1" in text_of(refused)
        assert psutil.Process(process.pid).children(recursive=True) == []
        await peer.call("browser_navigate", url=site.page("/", APP))
        info = answer(await peer.call("browser_webgl_info"))
        assert (info["effective"], info["usable"]) == ("real", True)
        assert "SwiftShader" in info["webgl"]["unmasked"]["renderer"]
        assert "reason" not in info
        refused = await peer.call("browser_canvas_info", max_canvases=0)
        assert "[INVALID_ARGS]" in text_of(refused)


async def test_the_limits_of_the_environment_hold(without, site):
    shader = "gl.shaderSource(gl.createShader(gl.VERTEX_SHADER), '// ' + 'x'.repeat(700));"
    app = APP.replace("</script>", shader * 8 + "</script>") + "<canvas></canvas>"
    limits = {"MAX_WEBGL_TRACE_LENGTH": "2000", "MAX_WEBGL_CANVASES": "1"}
    async with server_process(*SERVE, **without, **limits, ENABLE_WEBGL_SHIM="1") as (peer, _):
        await peer.initialize()
        await peer.call("browser_navigate", url=site.page("/", app))
        await peer.call("browser_webgl_shim", mode="trace")
        cut = await peer.call("browser_webgl_trace")
        assert len(text_of(cut)) <= 2000
        trace = answer(cut)
        assert trace["truncated"] is True
        assert trace["json"].startswith('{"available":true')
        canvases = answer(await peer.call("browser_canvas_info"))
        assert (canvases["count"], canvases["truncated"]) == (2, True)
        assert (
            len(answer(await peer.call("browser_canvas_info", max_canvases=9))["canvases"]) == 2
        )


async def test_the_stand_in_outlives_a_browser_and_a_renderer(without, site):
    url = site.page("/", APP)
    async with session_tab(load(without)) as (_, tab):

        async def begin(page):
            await install(page, "trace")
            tab.keep("webgl shim", partial(install, mode="trace"))

        await tab.act(begin)
        await tab.navigate(url)
        assert len(await tab.read(read)) == 1
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # a zombie counts as that
                if "--type=" not in " ".join(process.cmdline()):
                    process.kill()
        await tab.navigate(url)
        assert tab.take_reset()
        assert [realm.stats["draws"] for realm in await tab.read(read)] == [1]

        async def crash(page):
            page.session.post("Page.crash")
            await page.documents.wait_until(lambda: page.crashed)

        with trio.move_on_after(5), suppress(PageCrashedError):
            await tab.act(crash)
        await tab.navigate(url)
        assert [realm.stats["draws"] for realm in await tab.read(read)] == [1]


class OneTab:
    """What a handler needs of an engine."""

    def __init__(self, config, tab):
        self.config = config
        self._tab = tab

    def tab(self, number=0):
        return self._tab


async def test_a_reload_that_never_ends_leaves_the_mode_registered(without, site):
    config = load(without | {"ENABLE_WEBGL_SHIM": "1"})
    url = site.page("/", APP)
    async with session_tab(config) as (_, tab):
        await tab.navigate(url)
        site.hang("/")
        arguments = WebglShimArguments(mode="trace")
        with trio.move_on_after(1) as scope:
            await webgl_shim(OneTab(config, tab), arguments, Call(lambda _: None))
        assert scope.cancelled_caught
        error = shim_timeout(arguments, 1000)
        assert isinstance(error, DeadlineExceededError)
        assert "reload timed out" in str(error)
        there = site.page("/there", APP)
        await tab.navigate(there)
        assert [realm.mode for realm in await tab.read(read)] == ["trace"]

        async def shown(page):
            return await evaluate("__mcpWebglShim.mode", page)

        assert await tab.read(shown) == "trace"
