"""The WebGL stand-in in a Chromium that has no WebGL: what it answers, and what it records."""

from __future__ import annotations

from contextlib import asynccontextmanager

import msgspec
import pytest
import trio

from tests.live import evaluate, live_page
from tests.webgl_pages import WITHOUT_WEBGL, Pages, ask, booted
from vfa.page.history import reload
from vfa.page.navigation import navigate
from vfa.page.webgl import canvases, probe
from vfa.page.webgl_report import summarise
from vfa.page.webgl_shim import install, read

pytestmark = pytest.mark.browser

VERTEX_3 = """#version 300 es
#define PARTS 2
struct Light { vec3 color; float range; };
layout(location = 3) in vec4 position;
in mat3 placed;
in float unused;
uniform Light lights[PARTS];
uniform mat4 view;
uniform vec2 waste;
layout(std140) uniform Camera { mat4 projection; vec3 eye; float time; } camera;
out vec2 where;
void never() { gl_Position += vec4(waste, unused, 0.0); }
void main() { where = vec2(0);
  gl_Position = camera.projection * view * position * placed[0][0]; }
"""
FRAGMENT_3 = """#version 300 es
precision mediump float;
uniform Light { vec4 tint; } light;
uniform sampler2D picture;
uniform float weights[4];
#if defined(GL_ES) && __VERSION__ >= 300
in vec2 where;
#else
uniform float old;
#endif
layout(location = 1) out vec4 color;
void main() { color = texture(picture, where) * weights[2]; }
"""
BUILD = """
  const [gl, sources] = [window.gl, arguments];
  const program = gl.createProgram();
  [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((type, index) => {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, sources[index]);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  });
  gl.linkProgram(program);
  window.program = program;
  return gl.getProgramParameter(program, gl.LINK_STATUS);
"""
CANVAS = """
  const canvas = document.createElement("canvas");
  window.gl = canvas.getContext(arguments[0]);
  return window.gl !== null;
"""


@pytest.fixture
def without(environment):
    """Settings of a browser without any WebGL."""
    from vfa.config import load

    args = environment["VFA_CHROMIUM_ARGS"] + WITHOUT_WEBGL
    return load(environment | {"VFA_CHROMIUM_ARGS": args})


@asynccontextmanager
async def shimmed(config, site, mode="trace", body="<p>x"):
    """Open a page that has the stand-in."""
    url = site.page("/", body)
    async with live_page(config, "about:blank") as page:
        assert await install(page, mode)
        await navigate(page, url)
        yield page


async def call(page, body, *values):
    """Run a function body with ``arguments`` in the page's world."""
    arguments = ", ".join(msgspec.json.encode(value).decode() for value in values)
    text = f"JSON.stringify((function () {{ {body} }})({arguments}) ?? null)"
    return msgspec.json.decode(await evaluate(text, page))


async def trace(page, **options):
    return summarise(await read(page, **options), cleared=False)


async def test_without_the_stand_in_there_is_no_webgl_anywhere(without, site):
    async with live_page(without, site.page("/", "x")) as page:
        found = await probe(page)
    assert not found["webgl"]["ok"]
    assert not found["webgl2"]["ok"]
    assert not found["offscreen"]["webgl2"]["ok"]
    assert found["webgl"]["error"]
    assert found["shim"] is None


async def test_a_canvas_gives_one_context_of_one_type_for_good(without, site):
    async with shimmed(without, site) as page:
        assert await ask(
            page,
            """
            const make = () => document.createElement("canvas");
            const [first, second, flat] = [make(), make(), make()];
            const gl = first.getContext("webgl", { alpha: false });
            const gl2 = second.getContext("webgl2");
            const plain = flat.getContext("2d");
            const loud = make();
            let heard = 0;
            loud.addEventListener("webglcontextcreationerror", () => heard++);
            loud.getContext("webgl");
            return {
              same: gl === first.getContext("experimental-webgl") &&
                gl2 === second.getContext("webgl2"),
              others: [first.getContext("2d"), first.getContext("webgl2"),
                second.getContext("webgl")],
              flat: [flat.getContext("webgl"), flat.getContext("2d") === plain],
              canvas: gl.canvas === first,
              classes: [gl instanceof WebGLRenderingContext,
                gl instanceof WebGL2RenderingContext,
                gl2 instanceof WebGL2RenderingContext],
              alpha: gl.getContextAttributes().alpha,
              marks: [gl.__mcpMock, gl2.__mcpMockType, first.__mcpMockContext],
              heard, unknown: make().getContext("no such"),
            };
            """,
        ) == {
            "same": True,
            "others": [None, None, None],
            "flat": [None, True],
            "canvas": True,
            "classes": [True, False, True],
            "alpha": False,
            "marks": [True, "webgl2", "webgl"],
            "heard": 0,
            "unknown": None,
        }


async def test_each_version_answers_for_itself(without, site):
    async with shimmed(without, site) as page:
        found = await ask(
            page,
            """
            const of = (type) => {
              const gl = document.createElement("canvas").getContext(type);
              const all = {};
              for (const name in WebGL2RenderingContext) {
                const limit =
                  /^(MAX_|MIN_PROGRAM|ALIASED|UNIFORM_BUFFER_OFF|SUBPIXEL)/.test(name);
                if (limit) all[name] = gl.getParameter(WebGL2RenderingContext[name]);
              }
              const precision = gl.getShaderPrecisionFormat(gl.FRAGMENT_SHADER, gl.HIGH_FLOAT);
              return {
                version: gl.getParameter(gl.VERSION),
                  language: gl.getParameter(gl.SHADING_LANGUAGE_VERSION),
                missing: Object.keys(all).filter((name) => all[name] === null),
                  lost: gl.isContextLost(),
                precision: [precision.rangeMin, precision.rangeMax, precision.precision],
                viewport: [...gl.getParameter(gl.VIEWPORT)],
                  extensions: gl.getSupportedExtensions(),
                opened: gl.getSupportedExtensions().every((name) =>
                  gl.getExtension(name) === gl.getExtension(name)),
                none: gl.getExtension("WEBGL_none"),
                  complete: gl.checkFramebufferStatus(gl.FRAMEBUFFER),
                methods: typeof gl.createVertexArray, max: gl.getParameter(gl.MAX_TEXTURE_SIZE),
              };
            };
            return [of("webgl"), of("webgl2")];
            """,
        )
    first, second = found
    assert first["version"].startswith("WebGL 1.0")
    assert second["version"].startswith("WebGL 2.0")
    assert "3.00" in second["language"]
    assert second["missing"] == []
    assert {"MAX_3D_TEXTURE_SIZE", "MAX_UNIFORM_BUFFER_BINDINGS"} <= set(first["missing"])
    assert (first["methods"], second["methods"]) == ("undefined", "function")
    assert "OES_vertex_array_object" in first["extensions"]
    assert "EXT_color_buffer_float" in second["extensions"]
    for each in found:
        assert each["precision"] == [127, 127, 23]
        assert each["viewport"] == [0, 0, 300, 150]
        assert each["opened"]
        assert each["none"] is None
        assert each["complete"] == 0x8CD5
        assert not each["lost"]
        assert each["max"] == 4096


async def test_programs_have_the_uniforms_and_attributes_of_their_shaders(without, site):
    async with shimmed(without, site) as page:
        assert await call(page, CANVAS, "webgl2")
        assert await call(page, BUILD, VERTEX_3, FRAGMENT_3)
        found = await ask(
            page,
            """
            const list = (count, get) => Array.from({ length: gl.getProgramParameter(program,
              count) },
              (_, index) => { const { name, type, size } = get(index); return [name, type,
                size]; });
            const uniforms = list(gl.ACTIVE_UNIFORMS, (i) => gl.getActiveUniform(program, i));
            const attributes = list(gl.ACTIVE_ATTRIBUTES, (i) => gl.getActiveAttrib(program,
              i));
            const places = attributes.map(([name]) => gl.getAttribLocation(program, name));
            const camera = gl.getUniformBlockIndex(program, "Camera");
            const indices = gl.getActiveUniformBlockParameter(program, camera,
              gl.UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES);
            return {
              uniforms: uniforms.map(([name]) => name), types: Object.fromEntries(uniforms),
              sizes: Object.fromEntries(uniforms.map(([name, , size]) => [name, size])),
              attributes, places, none: gl.getAttribLocation(program, "unused"),
              located: uniforms.filter(([name]) => gl.getUniformLocation(program,
                name)).map(([name]) => name),
              gone: gl.getUniformLocation(program, "waste"),
                beyond: gl.getUniformLocation(program, "weights[4]"),
              offsets: gl.getActiveUniforms(program, [...indices], gl.UNIFORM_OFFSET),
              bytes: gl.getActiveUniformBlockParameter(program, camera,
                gl.UNIFORM_BLOCK_DATA_SIZE),
              output: gl.getFragDataLocation(program, "color"),
              shader: gl.getShaderParameter(gl.getAttachedShaders(program)[0], gl.SHADER_TYPE),
            };
            """,
        )
    assert found["uniforms"] == [
        "Camera.projection",
        "Camera.eye",
        "Camera.time",
        "Light.tint",
        "view",
        "picture",
        "weights[0]",
    ]
    assert found["types"]["picture"] == 0x8B5E
    assert found["sizes"]["weights[0]"] == 4
    assert [name for name, _, _ in found["attributes"]] == ["position", "placed"]
    assert found["places"] == [3, 0]  # a matrix takes three, and 3 is taken
    assert found["none"] == -1
    assert found["located"] == ["view", "picture", "weights[0]"]
    assert found["gone"] is None
    assert found["beyond"] is None
    assert found["offsets"] == [0, 64, 76]
    assert found["bytes"] == 80
    assert found["output"] == 1
    assert found["shader"] == 0x8B31


async def test_what_is_set_is_what_is_read(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl2")
        await call(page, BUILD, VERTEX_3, FRAGMENT_3)
        found = await ask(
            page,
            """
            gl.useProgram(program);
            const at = (name) => gl.getUniformLocation(program, name);
            gl.uniform1fv(at("weights"), [1, 2, 3, 4]);
            gl.uniform1f(at("weights[1]"), 9);
            gl.uniform1i(at("picture"), 5);
            gl.uniform1f(null, 1);
            const one = (name) => gl.getUniform(program, at(name));
            const buffer = gl.createBuffer();
            const before = gl.isBuffer(buffer);
            gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
            gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(6), gl.DYNAMIC_DRAW);
            const array = gl.createVertexArray();
            gl.bindVertexArray(array);
            gl.enableVertexAttribArray(2);
            gl.vertexAttribPointer(2, 3, gl.FLOAT, false, 12, 4);
            const inside = gl.getVertexAttrib(2, gl.VERTEX_ATTRIB_ARRAY_ENABLED);
            gl.bindVertexArray(null);
            gl.enable(gl.BLEND);
            gl.clearColor(0.5, 0, 0, 1);
            gl.viewport(1, 2, 3, 4);
            const texture = gl.createTexture();
            gl.activeTexture(gl.TEXTURE3);
            gl.bindTexture(gl.TEXTURE_2D, texture);
            const pixels = new Uint8Array(8).fill(7);
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
            const query = gl.createQuery();
            gl.beginQuery(gl.ANY_SAMPLES_PASSED, query);
            gl.endQuery(gl.ANY_SAMPLES_PASSED);
            const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
            gl.canvas.width = 77;
            gl.canvas.height = 55;
            const deleted = gl.createTexture();
            gl.bindTexture(gl.TEXTURE_2D, deleted);
            gl.deleteTexture(deleted);
            const unbound = gl.getParameter(gl.TEXTURE_BINDING_2D);
            gl.bindTexture(gl.TEXTURE_2D, texture);
            return {
              weights: [0, 1, 2, 3].map((i) => one(`weights[${i}]`)), picture: one("picture"),
              view: [...one("view")].length,
              buffer: [before, gl.isBuffer(buffer),
                gl.getParameter(gl.ARRAY_BUFFER_BINDING) === buffer,
                gl.getBufferParameter(gl.ARRAY_BUFFER, gl.BUFFER_SIZE)],
              array: [inside, gl.getVertexAttrib(2, gl.VERTEX_ATTRIB_ARRAY_ENABLED)],
              state: [gl.isEnabled(gl.BLEND), gl.isEnabled(gl.DITHER),
                gl.isEnabled(gl.CULL_FACE)],
              color: [...gl.getParameter(gl.COLOR_CLEAR_VALUE)],
                viewport: [...gl.getParameter(gl.VIEWPORT)],
              texture: gl.getParameter(gl.TEXTURE_BINDING_2D) === texture, unbound,
              pixels: [...pixels], done: gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE),
              signalled: gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.SIGNALED,
              size: [gl.drawingBufferWidth, gl.drawingBufferHeight], error: gl.getError(),
              wrong: [gl.createShader(1), gl.getError(), gl.getError()],
            };
            """,
        )
    assert found == {
        "weights": [1, 9, 3, 4],
        "picture": 5,
        "view": 16,
        "buffer": [False, True, True, 24],
        "array": [True, False],
        "state": [True, True, False],
        "color": [0.5, 0, 0, 1],
        "viewport": [1, 2, 3, 4],
        "texture": True,
        "unbound": None,
        "pixels": [0, 0, 0, 0, 7, 7, 7, 7],
        "done": True,
        "signalled": True,
        "size": [77, 55],
        "error": 0,
        "wrong": [None, 0x500, 0],
    }


async def test_shaders_that_cannot_work_do_not_compile(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl")
        compiled = """
          const shader = gl.createShader(gl.VERTEX_SHADER);
          gl.shaderSource(shader, arguments[0]);
          gl.compileShader(shader);
          return [gl.getShaderParameter(shader, gl.COMPILE_STATUS),
            gl.getShaderInfoLog(shader) !== ""];
        """
        assert await call(page, compiled, "void main() {}") == [True, False]
        assert await call(page, compiled, VERTEX_3) == [False, True]  # WebGL 1 knows no 3.00
        assert await call(page, compiled, "#error no\nvoid main() {}") == [False, True]
        for rubbish in (
            "}}{{(((",
            "uniform float",
            "struct { ;",
            "#if\n#else",
            "#define F(a F",
        ):
            assert (await call(page, compiled, rubbish))[0] is True
        linked = """
          const program = gl.createProgram();
          gl.linkProgram(program);
          return gl.getProgramParameter(program, gl.LINK_STATUS);
        """
        assert await call(page, linked) is False


async def test_a_lost_context_says_so_and_comes_back(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl")
        told = """new Promise((resolve) => {
          const said = [], say = (event) => said.push([event.type, gl.isContextLost()]);
          const lose = gl.getExtension("WEBGL_lose_context");
          gl.canvas.addEventListener("webglcontextlost", (event) => { say(event);
            lose.restoreContext(); });
          gl.canvas.addEventListener("webglcontextrestored", (event) => { say(event);
            resolve(said); });
          lose.loseContext();
        })"""
        answer = await page.session.call(
            "Runtime.evaluate",
            {"expression": told, "awaitPromise": True, "returnByValue": True},
        )
    lost, restored = answer["result"]["value"]
    assert lost == ["webglcontextlost", True]
    assert restored == ["webglcontextrestored", False]


DRAW = """
  gl.drawArrays(gl.POINTS, 0, 9);
  gl.drawArrays(gl.LINE_STRIP, 0, 9);
  gl.drawArrays(gl.TRIANGLES, 0, 8);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 8);
  gl.drawElements(gl.TRIANGLE_FAN, 7, gl.UNSIGNED_SHORT, 0);
  gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, 10);
  gl.drawElementsInstanced(gl.LINES, 6, gl.UNSIGNED_SHORT, 0, 10);
  gl.drawRangeElements(gl.TRIANGLES, 0, 5, 3, gl.UNSIGNED_SHORT, 0);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2);
"""


async def test_triangles_are_counted_by_mode_and_by_instance(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl2")
        await call(page, DRAW)
        found = await trace(page)
        assert [draw["triangles"] for draw in found["draws"]] == [0, 0, 2, 6, 5, 20, 0, 1, 0]
        assert [draw["drawIndex"] for draw in found["draws"]] == list(range(1, 10))
        assert found["draws"][5]["instances"] == 10
        assert found["stats"]["draws"] == 9
        assert found["stats"]["triangles"] == 34
        await call(page, CANVAS, "webgl")
        await call(
            page,
            """
            gl.getExtension("ANGLE_instanced_arrays").drawArraysInstancedANGLE(gl.TRIANGLES,
              0, 3, 7);
            gl.getExtension("WEBGL_multi_draw").multiDrawArraysWEBGL(gl.TRIANGLES, [0, 3], 0,
              [3, 6], 0, 2);
            """,
        )
        assert [draw["triangles"] for draw in (await trace(page))["draws"][-3:]] == [7, 1, 2]


async def test_uniforms_and_textures_are_recorded_with_name_and_size(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl2")
        await call(page, BUILD, VERTEX_3, FRAGMENT_3)
        await call(
            page,
            """
            gl.useProgram(program);
            const at = (name) => gl.getUniformLocation(program, name);
            gl.uniform1f(at("weights[2]"), 0.5);
            gl.uniform1fv(at("weights"), new Float32Array([9, 1, 2, 3, 4]), 1);
            gl.uniformMatrix4fv(at("view"), false, new Float32Array(16).fill(2));
            gl.uniform1i(at("picture"), 1);
            gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 4, 8, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
            const picture = document.createElement("canvas");
            picture.width = 12;
            picture.height = 6;
            gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
            gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 32, 16);
            gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(5), gl.STATIC_DRAW);
            """,
        )
        found = await trace(page)
    assert found["uniforms"] == [
        {"name": "weights[2]", "type": "1f", "value": 0.5},
        {"name": "weights", "type": "1fv", "value": [1, 2, 3, 4]},
        {"name": "view", "type": "Matrix4fv", "value": [2] * 16},
        {"name": "picture", "type": "1i", "value": 1},
    ]
    assert found["textures"] == [
        {"width": 4, "height": 8},
        {"width": 12, "height": 6},
        {"width": 32, "height": 16},
    ]
    assert {"kind": "bufferData", "bytes": 20} in found["other"]
    assert [shader["type"] for shader in found["shaders"]] == [0x8B31, 0x8B30]
    assert found["shaders"][0]["length"] == len(VERTEX_3)
    assert found["counts"]["uniform"] == 4
    assert found["stats"]["textures"] == 3


async def test_the_record_is_a_ring_of_the_last_four_hundred(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl2")
        await call(page, BUILD, VERTEX_3, FRAGMENT_3)
        await call(
            page, "for (let i = 1; i <= 1000; i++) gl.drawArrays(gl.TRIANGLES, 0, 3 * i);"
        )
        found = await trace(page, clear=True)
        assert found["recordCount"] == 400
        assert found["droppedRecords"] == 605
        assert len(found["draws"]) == 60
        assert found["draws"][-1] == {
            "kind": "drawArrays",
            "mode": 4,
            "first": 0,
            "count": 3000,
            "triangles": 1000,
            "drawIndex": 1000,
        }
        assert len(found["shaders"]) == 2  # what set the page up is not pushed out
        assert found["counts"]["drawArrays"] == 1000
        empty = await trace(page)
        assert empty["recordCount"] == empty["stats"]["draws"] == 0
        assert empty["contexts"]["mocked"] == 1
        assert "note" in empty
        await call(page, "gl.drawArrays(gl.TRIANGLES, 0, 3);")
        assert [draw["drawIndex"] for draw in (await trace(page))["draws"]] == [1]


async def test_mode_mock_counts_and_keeps_nothing(without, site):
    async with shimmed(without, site, mode="mock") as page:
        await call(page, CANVAS, "webgl2")
        await call(page, DRAW)
        found = await trace(page)
    assert found["mode"] == "mock"
    assert found["stats"]["draws"] == 9
    assert found["recordCount"] == 0
    assert found["draws"] == []
    assert "trace" in found["note"]


FORGER = """<script>
  const fake = { active: true, mode: "trace", mockedContexts: 99, stats: { draws: 99 } };
  window.__mcpWebglShim = fake;
  window.__mcpWebglTrace = [{ kind: "drawArrays", count: 99 }];
  window.__mcpWebglSink = fake;
  window.__mcpWebglRead = () => fake;
  window.stolen = [];
  const { apply, defineProperty } = Reflect;
  const keep = (value) =>
    defineProperty(stolen, stolen.length, { __proto__: null, value, enumerable: true,
      writable: true });
  const steal = (object, name) => {
    const real = object[name];
    object[name] = function () {
      keep(this);
      for (let i = 0; i < arguments.length; i++) keep(arguments[i]);
      const result = apply(real, this, arguments);
      keep(result);
      return result;
    };
  };
  for (const index of [0, 1, 2, 3]) {
    defineProperty(Array.prototype, index, { __proto__: null, set: keep, configurable: true });
  }
  for (const name of ["bubbles", "cancelable", "composed", "detail", "toJSON", "kind",
    "draws"]) {
    const trap = { __proto__: null, get() { keep(this); }, set: keep, configurable: true };
    defineProperty(Object.prototype, name, trap);
  }
  window.CustomEvent = class { constructor(name) { keep(name); } };
  defineProperty(MessageEvent.prototype, "data", { __proto__: null, get: () => fake });
  const iterate = Array.prototype[Symbol.iterator];
  Array.prototype[Symbol.iterator] = function () { keep(this); return apply(iterate, this,
    []); };
  const wanted = [
    [Map.prototype, "get"], [Map.prototype, "set"], [Map.prototype, "has"],
    [WeakMap.prototype, "get"], [WeakMap.prototype, "set"], [WeakMap.prototype, "has"],
    [Array.prototype, "push"], [Array.prototype, "slice"], [Array.prototype, "map"], [Array,
      "from"],
    [Object, "assign"], [Object, "create"], [Object, "setPrototypeOf"], [Object, "keys"],
    [Object, "defineProperty"], [Reflect, "apply"], [Reflect, "defineProperty"],
    [Reflect, "setPrototypeOf"], [Performance.prototype, "now"],
    [EventTarget.prototype, "dispatchEvent"], [EventTarget.prototype, "addEventListener"],
    [Function.prototype, "bind"], [Function.prototype, "call"], [Function.prototype, "apply"],
  ];
  for (let i = 0; i < wanted.length; i++) steal(wanted[i][0], wanted[i][1]);
  Error.prepareStackTrace = (error, sites) => {
    for (let i = 0; i < sites.length; i++) { keep(sites[i].getFunction());
      keep(sites[i].getThis()); }
    return "";
  };
</script>"""


async def test_a_page_cannot_write_what_is_recorded_of_it(without, site):
    async with shimmed(without, site, body=FORGER) as page:
        await call(page, CANVAS, "webgl2")
        await call(page, "gl.drawArrays(gl.TRIANGLES, 0, 3);")
        await call(
            page,
            """
            gl.getExtension("WEBGL_multi_draw");
            try { gl.drawArrays(Symbol(), 0, 3); } catch (error) { String(error.stack); }
            const copies = window.__mcpWebglTrace;
            """,
        )
        first = await trace(page)
        forged = """
          for (let i = 0, all = stolen.length; i < all; i++) {
            const list = stolen[i];
            const length = list === null || typeof list !== "object" ?
              0 : Math.min(list.length || 0, 500);
            for (let n = 0; n < length && list !== stolen; n++) {
              const inner = Reflect.getOwnPropertyDescriptor(list, n)?.value;
              if (typeof inner === "object" && inner) stolen[stolen.length] = inner;
            }
          }
          const count = stolen.length;
          const names = ["draws", "triangles", "count", "mocked", "length"];
          for (let i = 0; i < count; i++) {
            const each = stolen[i];
            if (typeof each === "function" && each.name.startsWith("draw")) {
              try { each("drawArrays", 4, 0, 300, null); } catch {}
            }
            if (each === null || typeof each !== "object" || each === stolen) continue;
            for (let n = 0; n < names.length; n++) {
              const inner = Reflect.getOwnPropertyDescriptor(each, "stats")?.value;
              if (inner) inner[names[n]] = 300;
              try { if (Reflect.getOwnPropertyDescriptor(each,
                names[n])) each[names[n]] = 300; } catch {}
            }
          }
          return count;
        """
        assert await call(page, forged) > 0
        second = await trace(page)
    for found in (first, second):
        assert found["stats"]["draws"] == 1
        assert [draw["count"] for draw in found["draws"]] == [3]
        assert found["contexts"] == {"real": 0, "mocked": 1}


async def test_a_page_that_pretends_to_have_the_stand_in_has_none(without, site):
    async with live_page(without, site.page("/", FORGER)) as page:
        assert await read(page) == []
        assert (await probe(page))["shim"] is None


async def test_what_the_page_is_shown_is_a_copy(without, site):
    async with shimmed(without, site) as page:
        await call(page, CANVAS, "webgl")
        shown = await ask(
            page,
            """
            gl.drawArrays(gl.TRIANGLES, 0, 3);
            __mcpWebglTrace[0].count = 300;
            __mcpWebglShim.stats.draws = 300;
            const { active, mode, mockedContexts, stats } = __mcpWebglShim;
            return { active, mode, mockedContexts, draws: stats.draws,
              count: __mcpWebglTrace[0].count };
            """,
        )
    assert shown == {
        "active": True,
        "mode": "trace",
        "mockedContexts": 1,
        "draws": 1,
        "count": 3,
    }


async def test_looking_makes_no_contexts(without, site):
    async with shimmed(without, site, body="<canvas></canvas>") as page:
        for _ in range(2):
            assert (await probe(page))["shim"]["mockedContexts"] == 0
            await canvases(page, 50)
        await call(page, CANVAS, "webgl")
        assert (await probe(page))["shim"]["mockedContexts"] == 1


async def test_a_document_that_is_written_anew_is_still_recorded(without, site):
    async with shimmed(without, site) as page:
        await call(page, "document.open(); document.write('<p>new'); document.close();")
        await call(page, CANVAS, "webgl")
        await call(page, "gl.drawArrays(gl.TRIANGLES, 0, 3);")
        assert (await trace(page))["stats"]["draws"] == 1


IN_FRAME = """<script>
  const gl = document.createElement("canvas").getContext("webgl");
  for (let i = 0; i < 3; i++) gl.drawArrays(gl.TRIANGLES, 0, 3);
</script>"""


async def test_frames_and_workers_are_recorded_too(without, site):
    site.pages = Pages(site.pages)
    site.page("/inner", IN_FRAME)
    other = site.url("/inner").replace("127.0.0.1", "localhost")  # a process of its own
    body = f'<iframe src="/inner"></iframe><iframe src="{other}"></iframe><iframe></iframe>'
    url = site.page("/frames", body)
    async with live_page(without, "about:blank") as page:
        await install(page, "trace")
        await navigate(page, url)
        found = await trace(page)
        assert found["stats"]["draws"] == 6
        assert [realm["realm"] for realm in found["realms"]].count("frame") == 3
        await navigate(page, site.url("/worker.html"))
        said = await booted(page)
        assert said["version"].startswith("WebGL 2.0")
        assert said["size"] == [64, 32]
        assert said["real"] is True
        found = await trace(page)
        assert {"realm": "worker", "draws": 1} in found["realms"]
        assert len(found["shaders"]) == 2
        assert found["contexts"]["mocked"] == 1


async def test_an_offscreen_canvas_has_pictures_to_give(without, site):
    async with shimmed(without, site) as page:
        answer = await page.session.call(
            "Runtime.evaluate",
            {
                "expression": """(async () => {
                  const canvas = new OffscreenCanvas(20, 10);
                  const gl = canvas.getContext("webgl2");
                  const bitmap = canvas.transferToImageBitmap();
                  const blob = await canvas.convertToBlob();
                  return [gl.canvas === canvas, gl.drawingBufferWidth, bitmap.width,
                    bitmap.height, blob.type];
                })()""",
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
    assert answer["result"]["value"] == [True, 20, 20, 10, "image/png"]


async def test_the_mode_is_for_documents_to_come(without, site):
    async with shimmed(without, site) as page:
        assert len(await read(page)) == 1
        assert await install(page, "off") is None
        assert len(await read(page)) == 1  # this document has it still
        await reload(page, ignore_cache=True, milestone="load")
        assert await read(page) == []
        assert await evaluate("typeof __mcpWebglShim", page) == "undefined"
        for mode in ("mock", "trace"):
            await install(page, mode)
        await reload(page, ignore_cache=True, milestone="load")
        assert [each.mode for each in await read(page)] == ["trace"]


async def test_real_contexts_are_recorded_as_they_are_used(config, site):
    async with shimmed(config, site) as page:
        assert await call(page, CANVAS, "webgl2")
        assert await call(page, BUILD, VERTEX_3.replace("waste", "wasted"), FRAGMENT_3)
        await call(page, "gl.useProgram(program);" + DRAW)
        real = await ask(
            page,
            """
            gl.uniform1f(gl.getUniformLocation(program, "weights[2]"), 0.5);
            return [gl.getParameter(gl.VERSION), gl.getError() !== undefined,
              "__mcpMock" in gl];
            """,
        )
        found = await trace(page)
        looked = await probe(page)
    assert "Chromium" in real[0]
    assert real[2] is False
    assert found["contexts"] == {"real": 1, "mocked": 0}
    assert found["stats"]["draws"] == 9
    assert found["uniforms"] == [{"name": "weights[2]", "type": "1f", "value": 0.5}]
    assert looked["webgl2"]["ok"]
    assert not looked["webgl2"]["mock"]


async def test_a_wedged_worker_does_not_hold_up_the_trace(without, site):
    wedged = "data:text/javascript,postMessage({ok: true}); while (true);"
    script = f'new Worker("{wedged}").onmessage = ({{ data }}) => {{ window.booted = data; }};'
    async with shimmed(without, site, body=f"<script>{script}</script>") as page:
        await booted(page)
        with trio.fail_after(5):
            assert [each.realm for each in await read(page)] == ["page"]
