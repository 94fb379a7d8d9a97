"""What browser_canvas_info can tell apart, in a real Chromium with real WebGL."""

from __future__ import annotations

import pytest

from tests.live import evaluate, live_page
from tests.webgl_pages import Pages, booted
from vfa.page.navigation import navigate
from vfa.page.webgl import canvases
from vfa.page.webgl_report import describe_canvases

pytestmark = pytest.mark.browser

PAGE = """
<canvas id="nothing" width="40" height="30"></canvas>
<canvas id="solid" class="a b" width="40" height="30" style="width: 80px"></canvas>
<canvas id="drawn" width="400" height="300"></canvas>
<canvas id="dot" width="1500" height="1500"></canvas>
<canvas id="flat" width="0" height="30"></canvas>
<canvas id="tainted" width="40" height="30"></canvas>
<canvas id="kept" width="40" height="30"></canvas>
<canvas id="unkept" width="40" height="30"></canvas>
<canvas id="running" width="40" height="30"></canvas>
<canvas id="given" width="40" height="30"></canvas>
<div id="host"></div>
<script>
  const at = (id) => document.getElementById(id);
  const fill = (id, color, ...box) => {
    const brush = at(id).getContext("2d");
    brush.fillStyle = color;
    brush.fillRect(...box);
  };
  fill("solid", "rgb(10, 20, 30)", 0, 0, 40, 30);
  fill("drawn", "red", 10, 10, 100, 100);
  fill("drawn", "blue", 50, 50, 200, 20);
  fill("dot", "red", 777, 888, 1, 1);
  const clear = (id, options, red) => {
    const gl = (window[`${id}_gl`] ??= at(id).getContext("webgl", options));
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, 0, 20, 30);
    gl.clearColor(red, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  };
  clear("kept", { preserveDrawingBuffer: true }, 1);
  clear("unkept", {}, 1);
  const draw = () => { clear("running", {}, 1); requestAnimationFrame(draw); };
  draw();
  const root = at("host").attachShadow({ mode: "open" });
  root.innerHTML = "<canvas id=inner width=8 height=8></canvas>";
  root.firstChild.getContext("2d").fillRect(0, 0, 4, 4);
  const picture = new Image();
  picture.onload = () => {
    at("tainted").getContext("2d").drawImage(picture, 0, 0);
    window.booted = { ok: true };
  };
  picture.src = "OTHER/picture";
</script>
"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/>'
)


async def test_every_kind_of_canvas_gets_a_verdict_of_its_own(config, site):
    other = site.address.replace("127.0.0.1", "localhost")
    site.pages["/picture"] = (200, {"Content-Type": "image/svg+xml"}, SVG + "</svg>")
    url = site.page("/", PAGE.replace("OTHER", other))
    async with live_page(config, url) as page:
        await booted(page)
        await page.settle()
        await page.settle()
        before = await evaluate("document.documentElement.outerHTML", page)
        value = describe_canvases(await canvases(page, 50))
        again = describe_canvases(await canvases(page, 3))
        assert await evaluate("document.documentElement.outerHTML", page) == before
        # Looking made no context: the page can still have any.
        assert await evaluate("at('nothing').getContext('webgl2') !== null", page)

    found = {canvas["id"]: canvas for canvas in value["canvases"]}
    verdicts = {name: canvas["verdict"] for name, canvas in found.items()}
    assert verdicts["nothing"].startswith("Nothing drawn")
    assert verdicts["solid"].startswith("Filled with one colour, rgba(10, 20, 30, 1)")
    assert verdicts["drawn"] == "Has pixel content."
    assert verdicts["dot"] == "Has pixel content."
    assert verdicts["flat"].startswith("Zero size (0 x 30)")
    assert verdicts["tainted"].startswith("Tainted")
    assert verdicts["kept"] == "Has pixel content."
    assert verdicts["unkept"].startswith("Reads back empty, which proves nothing")
    assert verdicts["running"].startswith("Has pixel content. (Within an animation frame")
    assert verdicts["inner"] == "Has pixel content."

    solid = found["solid"]
    assert solid["attributeSize"] == {"width": 40, "height": 30}
    assert solid["cssSize"]["width"] == 80
    assert solid["className"] == "a b"
    assert solid["pixels"]["solidColor"] == "rgba(10, 20, 30, 1)"
    assert (solid["pixels"]["uniqueColors"], solid["pixels"]["blank"]) == (1, False)
    assert found["nothing"]["pixels"]["blank"] is True
    assert found["nothing"]["dataUrlLength"] > 50
    assert found["dot"]["dataUrlLength"] is None  # too large to encode just for its length
    assert found["flat"]["pixels"] is None
    assert "SecurityError" in found["tainted"]["pixels"]["error"]
    assert "SecurityError" in found["tainted"]["dataUrlError"]
    assert found["unkept"]["context"] == "webgl"
    assert found["unkept"]["preserveDrawingBuffer"] is False
    assert found["inner"]["inShadowTree"] is True
    assert "context" not in found["nothing"]
    assert (value["count"], value["truncated"]) == (11, False)
    assert value["blank"] == 3  # nothing, unkept, and the one that is for a worker

    assert (again["count"], again["truncated"], len(again["canvases"])) == (11, True, 3)


async def test_canvases_of_frames_come_after_the_pages_own(config, site):
    inner = site.page("/inner", "<canvas id=there></canvas>")
    far = inner.replace("127.0.0.1", "localhost")
    url = site.page(
        "/", f'<iframe src="{inner}"></iframe><iframe src="{far}"></iframe><canvas id=here>'
    )
    async with live_page(config, url) as page:
        value = describe_canvases(await canvases(page, 50))
    assert [canvas["id"] for canvas in value["canvases"]] == ["here", "there", "there"]
    assert [canvas.get("frame") for canvas in value["canvases"]] == [None, inner, far]


async def test_a_canvas_that_a_worker_draws_shows_what_it_drew(config, site):
    site.pages = Pages(site.pages)
    async with live_page(config, "about:blank") as page:
        await navigate(page, site.url("/worker.html"))
        said = await booted(page)
        assert "Chromium" in said["version"]
        await page.settle()
        await page.settle()
        (canvas,) = describe_canvases(await canvases(page, 50))["canvases"]
    assert canvas["transferred"] is True
    assert canvas["verdict"].startswith("Filled with one colour, rgba(255, 0, 0, 1)")


async def test_a_page_without_canvases_has_none(config, site):
    async with live_page(config, site.page("/", "x")) as page:
        value = describe_canvases(await canvases(page, 50))
    assert value == {"count": 0, "blank": 0, "sampled": 0, "truncated": False, "canvases": []}
