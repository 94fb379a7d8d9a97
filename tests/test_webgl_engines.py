"""Engines from the npm registry: on the stand-in without WebGL, and on SwiftShader.

What an engine asks of both is the same, and so is what its shaders come to: the stand-in's
list of uniforms, attributes and blocks is compared with Chromium's own, program by program.
"""

from __future__ import annotations

import pytest

from tests.live import evaluate, live_page
from tests.webgl_pages import WITHOUT_WEBGL, Pages, booted, install_engines
from vfa.config import load
from vfa.page.navigation import navigate
from vfa.page.webgl import canvases, probe
from vfa.page.webgl_report import describe_webgl, summarise, verdict
from vfa.page.webgl_shim import install, read

pytestmark = pytest.mark.browser

ENGINES = ("three", "babylon", "pixi", "maplibre")
# Remembers every program that is linked; comes after the stand-in and so wraps around it.
WATCH = """
  window.linked = [];
  for (const Class of [WebGLRenderingContext, WebGL2RenderingContext]) {
    const real = Class.prototype.linkProgram;
    Class.prototype.linkProgram = function (program) {
      real.call(this, program);
      linked.push([this, program]);
    };
  }
"""
INTERFACES = """
  Object.fromEntries(linked.filter(([gl, program]) => gl.isProgram(program)).map(([gl,
    program]) => {
    const of = (count, describe) =>
      Array.from({ length: gl.getProgramParameter(program, count) }, (_,
        i) => describe(i)).sort();
    const layout = [gl.UNIFORM_OFFSET, gl.UNIFORM_ARRAY_STRIDE, gl.UNIFORM_MATRIX_STRIDE];
    const uniform = (i) => {
      const { name, type, size } = gl.getActiveUniform(program, i);
      const located = gl.getUniformLocation(program, name) !== null;
      const places = layout.map((each) => gl.getActiveUniforms(program, [i], each)[0]);
      return [name, type, size, located, ...places].join(" ");
    };
    const attribute = (i) => {
      const { name, type, size } = gl.getActiveAttrib(program, i);
      return [name, type, size, gl.getAttribLocation(program, name) >= 0].join(" ");
    };
    const block = (i) => [
      gl.getActiveUniformBlockName(program, i),
      gl.getActiveUniformBlockParameter(program, i, gl.UNIFORM_BLOCK_DATA_SIZE),
      gl.getActiveUniformBlockParameter(program, i, gl.UNIFORM_BLOCK_ACTIVE_UNIFORMS),
    ].join(" ");
    const sources = gl.getAttachedShaders(program).map((shader) => gl.getShaderSource(shader));
    return [sources.sort().join(""), {
      uniforms: of(gl.ACTIVE_UNIFORMS, uniform),
      attributes: of(gl.ACTIVE_ATTRIBUTES, attribute),
      blocks: of(gl.ACTIVE_UNIFORM_BLOCKS, block),
    }];
  }))
"""


@pytest.fixture(scope="module")
def engines():
    """Have the engines installed, or skip."""
    problem = install_engines()
    if problem:
        pytest.skip(problem)


async def boot(config, site, name):
    """Boot an engine; return what it said, its programs, and what the tools say of it."""
    site.pages = Pages(site.pages)
    async with live_page(config, "about:blank") as page:
        await install(page, "trace")
        await page.session.call("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        await navigate(page, site.url(f"/{name}.html"))
        said = await booted(page)
        assert "error" not in said, said["error"]
        programs = await evaluate(INTERFACES, page)
        found = summarise(await read(page), cleared=False)
        looked = describe_webgl(await probe(page), page.console.read("all"))
        canvas = (await canvases(page, 5)).canvases[0]
        errors = [error.message for error in page.exceptions]
        errors += [each.text for each in page.console.read("all") if each.level == "error"]
        assert errors == []
    return said, programs, found, looked, canvas


@pytest.mark.parametrize("name", ENGINES)
async def test_an_engine_boots_on_the_stand_in_as_on_real_webgl(
    engines, environment, site, name
):
    without = environment["VFA_CHROMIUM_ARGS"] + WITHOUT_WEBGL
    mocked = await boot(load(environment | {"VFA_CHROMIUM_ARGS": without}), site, name)
    real = await boot(load(environment), site, name)

    said, programs, found, looked, canvas = mocked
    assert looked["effective"] == "shimmed"
    assert looked["usable"] is False
    assert found["contexts"]["real"] == 0
    assert found["contexts"]["mocked"] >= 1
    assert found["stats"]["draws"] >= 3
    assert found["stats"]["triangles"] > 0
    assert found["shaders"]
    assert found["draws"]
    assert "blank on purpose" in verdict(canvas).lower()
    assert canvas.mock_context_type == "webgl2"

    said_2, programs_2, found_2, looked_2, canvas_2 = real
    assert looked_2["effective"] == "real"
    assert "SwiftShader" in looked_2["webgl2"]["unmasked"]["renderer"]
    assert found_2["contexts"]["mocked"] == 0
    assert "pixel content" in verdict(canvas_2).lower()
    assert said == said_2

    shared = programs.keys() & programs_2.keys()  # limits of the two may give other sources
    assert len(shared) >= 2
    for source in shared:
        assert programs[source] == programs_2[source]
    if name in {"three", "babylon"}:  # the others draw as many frames as there is time for
        assert found["stats"] == found_2["stats"]
