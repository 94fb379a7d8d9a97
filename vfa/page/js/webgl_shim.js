// Installs the WebGL stand-in in one realm, a document or a worker, before any script of it.
//
// `getContext` gives the real context where there is one, and otherwise one of ours (see
// webgl_mock.js), the same one each time. The methods of the real prototypes are replaced by
// ones that count and record what is asked of either.
//
// What is recorded lives in this closure. A document's is read from our isolated world by
// events on `performance`, an object that both worlds know, under the name `token`, which no
// page knows: what it cannot name it cannot listen to or answer. Workers have no isolated
// worlds; there it is read through a property that cannot be replaced, by whoever knows the
// token. The globals `__mcpWebglShim` and `__mcpWebglTrace` are for pages and their authors;
// nobody trusts them.
//
// All of it is strict code: of such functions a page gets no hold by the stacks of errors.
(mode, token, parts) => {
  const {
    apply,
    getOwnPropertyDescriptor: described,
    defineProperty: define,
    setPrototypeOf,
  } = Reflect;
  const getter = (Class, name) => {
    const found = Class === undefined ? undefined : described(Class.prototype, name);
    return found === undefined ? undefined : (object) => apply(found.get, object, []);
  };
  const bare = (object) => {
    setPrototypeOf(object, null);
    return object;
  };
  // A class whose methods a page cannot replace.
  const sealed = (Class) => {
    class Sealed extends Class {}
    for (const name of Reflect.ownKeys(Class.prototype)) {
      if (name !== "constructor")
        define(Sealed.prototype, name, described(Class.prototype, name));
    }
    bare(Sealed.prototype);
    return Sealed;
  };
  const globals = { __proto__: null };
  for (const name of [
    "WebGLRenderingContext",
    "WebGL2RenderingContext",
    "WebGLBuffer",
    "WebGLFramebuffer",
    "WebGLRenderbuffer",
    "WebGLTexture",
    "WebGLQuery",
    "WebGLSampler",
    "WebGLTransformFeedback",
    "WebGLSync",
    "WebGLShader",
    "WebGLProgram",
    "WebGLVertexArrayObject",
    "WebGLUniformLocation",
    "WebGLActiveInfo",
    "WebGLShaderPrecisionFormat",
  ]) {
    const found = described(globalThis, name);
    if (found !== undefined) globals[name] = found.value;
  }
  const { WebGLRenderingContext: First, WebGL2RenderingContext: Second } = globals;
  const Html = globalThis.HTMLCanvasElement;
  const Offscreen = globalThis.OffscreenCanvas;
  if (First === undefined) return;

  const { performance, Event, CustomEvent, EventTarget, setTimeout } = globalThis;
  const channel = performance;
  const listen = EventTarget.prototype.addEventListener;
  const unlisten = EventTarget.prototype.removeEventListener;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const stop = Event.prototype.stopImmediatePropagation;
  const detail_of = CustomEvent === undefined ? undefined : getter(CustomEvent, "detail");
  const say = (target, name, detail) =>
    apply(dispatch, target, [new CustomEvent(name, { __proto__: null, detail })]);

  // A window that is used for a second document keeps what was installed for the first.
  let installed = false;
  if (detail_of !== undefined) {
    const answered = () => {
      installed = true;
    };
    apply(listen, channel, [`${token}!`, answered]);
    say(channel, `${token}?`, { __proto__: null, clear: false });
    apply(unlisten, channel, [`${token}!`, answered]);
  }
  if (installed) return;

  const GL = { __proto__: null };
  for (const Class of [First, Second]) {
    for (const name of Reflect.ownKeys(Class ?? {})) {
      const value = Class[name];
      if (typeof value === "number" && typeof name === "string") GL[name] = value;
    }
  }
  const clock = performance.now.bind(performance);
  const origin = performance.timeOrigin;
  const recorder = parts.recorder(mode, clock, bare);
  const glsl = parts.glsl();
  const tables = parts.tables(GL);
  const Message = globalThis.WebGLContextEvent ?? Event;
  const later = (canvas, name) =>
    setTimeout(
      () => apply(dispatch, canvas, [new Message(name, { __proto__: null, cancelable: true })]),
      0,
    );
  const safe = { globals, WeakMap: sealed(WeakMap), later };
  const mock = parts.mock(GL, glsl, tables, recorder, safe);

  // --- what contexts are asked ------------------------------------------------------------

  // location of a real context -> the name it was asked for by
  const asked_names = new safe.WeakMap();
  const stages = new safe.WeakMap(); // shader -> its type
  const dimension = (source, ...names) => {
    for (const name of names) {
      const value = source?.[name];
      if (typeof value === "number" && value > 0) return value;
    }
    return 0;
  };
  const picture = (kind, args) => {
    // (target, level, format, width, height, border, …), or
    // (target, level, format, format, type, source)
    if (args.length >= 7) return recorder.texture(kind, args[3], args[4]);
    const source = args[5];
    const width = dimension(source, "naturalWidth", "videoWidth", "displayWidth", "width");
    const height = dimension(source, "naturalHeight", "videoHeight", "displayHeight", "height");
    recorder.texture(kind, width, height);
  };
  const stored = (kind) => (args) => recorder.texture(kind, args[3], args[4]);
  const bytes = (data, offset, length) => {
    if (typeof data === "number") return data;
    const each = data?.BYTES_PER_ELEMENT ?? 1;
    return length ? length * each : (data?.byteLength ?? 0) - (+offset || 0) * each;
  };
  const observers = {
    __proto__: null,
    drawArrays: (a) => recorder.draw("drawArrays", a[0], a[1], a[2], null),
    drawElements: (a) => recorder.draw("drawElements", a[0], null, a[1], null),
    drawRangeElements: (a) => recorder.draw("drawRangeElements", a[0], null, a[3], null),
    drawArraysInstanced: (a) => recorder.draw("drawArraysInstanced", a[0], a[1], a[2], a[3]),
    drawElementsInstanced: (a) =>
      recorder.draw("drawElementsInstanced", a[0], null, a[1], a[4]),
    createShader: (a) => recorder.shader(a[0]),
    shaderSource: (a) => recorder.source(stages.get(a[0]) ?? 0, `${a[1]}`),
    linkProgram: () => recorder.program(),
    bufferData: (a) => recorder.buffer(bytes(a[1], a[3], a[4])),
    texImage2D: (a) => picture("texImage2D", a),
    texImage3D: stored("texImage3D"),
    texStorage2D: stored("texStorage2D"),
    texStorage3D: stored("texStorage3D"),
    compressedTexImage2D: stored("compressedTexImage2D"),
    compressedTexImage3D: stored("compressedTexImage3D"),
  };
  const named = (location) => mock.name_of(location) ?? asked_names.get(location);
  const observe_uniform = (name) => {
    const type = name.slice("uniform".length);
    const single = /^uniform1[a-z]+$/.test(name) && !name.endsWith("v");
    const listed = name.endsWith("v"); // (location, [transpose,] values, offset, length)
    const at = name.startsWith("uniformMatrix") ? 2 : 1;
    return (a) => {
      if (!a[0]) return; // no such uniform: GL ignores the call
      const from = listed ? +a[at + 1] || 0 : 1;
      const list = listed ? a[at] : a;
      if (single) return recorder.uniform(named(a[0]) ?? "?", type, a[1]);
      const values = bare([]);
      const length = +list?.length || 0;
      for (let i = from; i < length && i < from + 16; i++) values[i - from] = list[i];
      recorder.uniform(named(a[0]) ?? "?", type, values);
    };
  };

  const replace = (target, name, made) => {
    const before = described(target, name);
    define(made, "name", { value: name, configurable: true });
    define(made, "length", { value: before.value.length, configurable: true });
    define(target, name, { ...before, value: made });
  };
  const patch = (proto) => {
    for (const name of Reflect.ownKeys(proto)) {
      const before = described(proto, name);
      if (typeof name !== "string" || name === "constructor") continue;
      if (before.get !== undefined) {
        const ours = mock.accessors[name];
        if (ours === undefined) continue;
        const get = {
          get() {
            const S = mock.states.get(this);
            return S === undefined ? apply(before.get, this, []) : apply(ours.get, S, []);
          },
        };
        const set = before.set && {
          set(value) {
            const S = mock.states.get(this);
            if (S === undefined) apply(before.set, this, [value]);
            else if (ours.set) apply(ours.set, S, [value]);
          },
        };
        define(proto, name, {
          ...before,
          get: described(get, "get").value,
          set: set && described(set, "set").value,
        });
      } else if (typeof before.value === "function") {
        const real = before.value;
        const ours = mock.methods[name];
        const observe = /^uniform(Matrix)?[1-4]/.test(name)
          ? observe_uniform(name)
          : observers[name];
        const { [name]: made } = {
          [name](...args) {
            const S = mock.states.get(this);
            if (S === undefined) {
              const result = apply(real, this, args);
              if (observe !== undefined) observe(args);
              after(name, args, result);
              return result;
            }
            if (observe !== undefined) observe(args);
            if (ours === undefined) return undefined;
            const result = apply(ours, S, args);
            after(name, args, result);
            return result;
          },
        };
        replace(proto, name, made);
      }
    }
  };
  // Remembers by what names and types the objects of real contexts were asked for.
  const after = (name, args, result) => {
    if (result === null || typeof result !== "object") return;
    if (name === "createShader") stages.set(result, args[0]);
    else if (name === "getUniformLocation") asked_names.set(result, `${args[1]}`);
    else if (name === "getExtension") watch_extension(`${args[0]}`, result);
  };
  // Draws through the extensions of real contexts; ours record theirs by themselves.
  const seen = new safe.WeakMap();
  const watch_extension = (name, found) => {
    const proto = Object.getPrototypeOf(found);
    if (proto === null || proto === Object.prototype || seen.get(proto)) return;
    seen.set(proto, true);
    const DRAWS = {
      __proto__: null,
      drawArraysInstancedANGLE: (a) => observers.drawArraysInstanced(a),
      drawElementsInstancedANGLE: (a) => observers.drawElementsInstanced(a),
      multiDrawArraysWEBGL: (a) => each_draw("drawArrays", a[0], a[3], a[4], null, 0, a[5]),
      multiDrawElementsWEBGL: (a) => each_draw("drawElements", a[0], a[1], a[2], null, 0, a[6]),
      multiDrawArraysInstancedWEBGL: (a) =>
        each_draw("drawArraysInstanced", a[0], a[3], a[4], a[5], a[6], a[7]),
      multiDrawElementsInstancedWEBGL: (a) =>
        each_draw("drawElementsInstanced", a[0], a[1], a[2], a[6], a[7], a[8]),
    };
    for (const method of Reflect.ownKeys(proto)) {
      const observe = typeof method === "string" ? DRAWS[method] : undefined;
      if (observe === undefined) continue;
      const real = described(proto, method).value;
      const { [method]: made } = {
        [method](...args) {
          const result = apply(real, this, args);
          observe(args);
          return result;
        },
      };
      replace(proto, method, made);
    }
  };
  const each_draw = (kind, primitive, counts, countsAt, instances, instancesAt, draws) => {
    for (let i = 0; i < draws && countsAt + i < counts.length; i++) {
      recorder.draw(
        kind,
        primitive,
        null,
        counts[countsAt + i],
        instances === null ? null : instances[instancesAt + i],
      );
    }
  };
  patch(First.prototype);
  if (Second !== undefined) patch(Second.prototype);

  // --- getContext ------------------------------------------------------------------------

  const ours = new safe.WeakMap(); // canvas -> { type, context }
  const taken = new safe.WeakMap(); // canvas -> true: it has a real context
  const kind_of = (type) => {
    if (type === "webgl" || type === "experimental-webgl") return "webgl";
    return type === "webgl2" && Second !== undefined ? "webgl2" : "";
  };
  const quieten = (event) => apply(stop, event, []);
  const wrap = (Class) => {
    const proto = Class.prototype;
    const real = described(proto, "getContext").value;
    const width = getter(Class, "width");
    const height = getter(Class, "height");
    // Real WebGL that is only too slow for the page's taste is no reason for a stand-in.
    const exists = (kind) => {
      const canvas = Class === Html ? document.createElement("canvas") : new Class(1, 1);
      const context = apply(real, canvas, [kind]);
      if (context === null) return false;
      context.getExtension("WEBGL_lose_context")?.loseContext();
      return true;
    };
    const wrapped = {
      getContext(type, attributes) {
        const given = arguments.length === 0 ? undefined : `${type}`;
        const kind = given === undefined ? "" : kind_of(given);
        const known = ours.get(this);
        if (known !== undefined) return known.type === kind ? known.context : null;
        const args = given === undefined ? [] : [given, attributes];
        if (kind === "") {
          const context = apply(real, this, args);
          if (context !== null) taken.set(this, true);
          return context;
        }
        // Engines report the event of a failed attempt, and this one may yet succeed.
        const loud = Class === Html;
        if (loud) apply(listen, this, ["webglcontextcreationerror", quieten, true]);
        let context;
        try {
          context = apply(real, this, args);
        } finally {
          if (loud) apply(unlisten, this, ["webglcontextcreationerror", quieten, true]);
        }
        if (context !== null) {
          if (!taken.get(this)) recorder.contexts.real += 1;
          taken.set(this, true);
          return context;
        }
        if (taken.get(this)) return null;
        if (attributes?.failIfMajorPerformanceCaveat && exists(kind)) return null;
        return stand_in(this, kind, attributes);
      },
    }.getContext;
    const stand_in = (canvas, kind, attributes) => {
      const size = () => bare([width(canvas), height(canvas)]);
      const dimensions = () => {
        const now = size();
        return [now[0], now[1]];
      };
      const context = mock.create(canvas, kind === "webgl2" ? 2 : 1, attributes, dimensions);
      ours.set(canvas, { __proto__: null, type: kind, context });
      recorder.contexts.mocked += 1;
      const mark = (object, name, value) =>
        define(object, name, { __proto__: null, value, writable: true, configurable: true });
      mark(context, "__mcpMock", true);
      mark(context, "__mcpMockType", kind);
      mark(canvas, "__mcpMockContext", kind);
      // By this our isolated world tells which canvases have a stand-in.
      if (detail_of !== undefined && Class === Html) {
        apply(listen, canvas, [`${token}?`, () => say(channel, `${token}!`, kind)]);
      }
      return context;
    };
    replace(proto, "getContext", wrapped);
  };
  if (Html !== undefined) wrap(Html);
  if (Offscreen !== undefined) {
    wrap(Offscreen);
    // A canvas without a real context has no bitmap to give: a blank one is made for it.
    const get = [getter(Offscreen, "width"), getter(Offscreen, "height")];
    const context_of = described(Offscreen.prototype, "getContext").value;
    for (const name of ["transferToImageBitmap", "convertToBlob"]) {
      const real = described(Offscreen.prototype, name)?.value;
      if (real === undefined) continue;
      const { [name]: made } = {
        [name](...args) {
          if (ours.get(this) === undefined) return apply(real, this, args);
          const blank = new Offscreen(get[0](this), get[1](this));
          apply(context_of, blank, ["2d"]);
          return apply(real, blank, args);
        },
      };
      replace(Offscreen.prototype, name, made);
    }
  }

  // --- reading ---------------------------------------------------------------------------

  const describe = (version) => {
    const known = { __proto__: null };
    for (const [name, value] of tables.limits(version, true)) known[name] = value;
    return {
      __proto__: null,
      vendor: known[GL.VENDOR],
      renderer: known[GL.RENDERER],
      version: known[GL.VERSION],
      maxTextureSize: known[GL.MAX_TEXTURE_SIZE],
      maxRenderbufferSize: known[GL.MAX_RENDERBUFFER_SIZE],
      extensions: bare(Object.keys(tables.extensions(version))),
    };
  };
  const about = {
    __proto__: null,
    webgl: describe(1),
    webgl2: Second === undefined ? null : describe(2),
  };
  const installedAt = Date.now();
  const patched = {
    __proto__: null,
    htmlCanvas: Html !== undefined,
    offscreenCanvas: Offscreen !== undefined,
  };
  const read = (clear) => {
    const answer = recorder.read(clear);
    answer.origin = origin;
    answer.about = about;
    return answer;
  };
  if (detail_of !== undefined && Html !== undefined) {
    apply(listen, channel, [
      `${token}?`,
      (event) => say(channel, `${token}!`, read(detail_of(event).clear === true)),
    ]);
  } else {
    define(globalThis, "__mcpWebglRead", {
      __proto__: null,
      value: (key, clear) => (key === token ? read(clear === true) : undefined),
    });
  }

  // For pages: copies, whatever becomes of them.
  const shown = {
    active: true,
    mode,
    installedAt,
    patched: { ...patched },
    get mockedContexts() {
      return recorder.contexts.mocked;
    },
    get stats() {
      return { ...recorder.stats };
    },
  };
  const mark = (name, descriptor) =>
    define(globalThis, name, { __proto__: null, configurable: true, ...descriptor });
  mark("__mcpWebglShim", { value: shown, writable: true });
  mark("__mcpWebglTrace", {
    get: () => {
      const copies = [];
      const { records } = recorder.read(false);
      for (let i = 0; i < records.length; i++) {
        const copy = { ...records[i] };
        if (typeof copy.value === "object") copy.value = { ...copy.value };
        define(copies, i, {
          __proto__: null,
          value: copy,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
      return copies;
    },
    set: (value) => mark("__mcpWebglTrace", { value, writable: true }),
  });
}
