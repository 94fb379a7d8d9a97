// A WebGL context that draws nothing and answers as one that does: objects, bindings, state,
// programs with the uniforms and attributes of their shaders, framebuffers that are complete,
// queries and syncs that are done, pixels that are zero.
//
// Contexts are made with the real prototypes, so that `instanceof` and what engines look up on
// them hold; the prototypes' methods find the state here by the context. Returns `create` and
// the methods, each called with the state as `this`. `recorder` hears of what the extensions
// draw; everything else is observed where the methods are installed.
(GL, glsl, tables, recorder, safe) => {
  const MOST_PIXELS = 1 << 26; // bytes that one readPixels fills
  const states = new safe.WeakMap(); // context -> state
  const facts = new safe.WeakMap(); // object, location, extension … -> what is known of it

  const nothing = (S, error) => {
    if (S.error === 0) S.error = error;
    return null;
  };
  const make = (S, Class, fact) => {
    const object = Object.create(Class.prototype);
    facts.set(object, Object.assign({ owner: S, deleted: false, bound: false }, fact));
    return object;
  };
  const fact_of = (object) =>
    object === null || object === undefined ? undefined : facts.get(object);
  // The facts of an object of this context that was not deleted.
  const live = (S, object, kind) => {
    const fact = fact_of(object);
    return fact !== undefined && fact.owner === S && fact.kind === kind && !fact.deleted
      ? fact
      : undefined;
  };
  const copied = (value) =>
    Array.isArray(value) || ArrayBuffer.isView(value) ? value.slice() : value;
  const methods = { __proto__: null };

  // --- contexts --------------------------------------------------------------------------

  const attributes_of = (given) => {
    const flag = (name, otherwise) =>
      given?.[name] === undefined ? otherwise : Boolean(given[name]);
    const power = given?.powerPreference;
    return {
      alpha: flag("alpha", true),
      antialias: flag("antialias", true),
      depth: flag("depth", true),
      desynchronized: false,
      failIfMajorPerformanceCaveat: flag("failIfMajorPerformanceCaveat", false),
      powerPreference:
        power === "low-power" || power === "high-performance" ? power : "default",
      premultipliedAlpha: flag("premultipliedAlpha", true),
      preserveDrawingBuffer: flag("preserveDrawingBuffer", false),
      stencil: flag("stencil", false),
      xrCompatible: flag("xrCompatible", false),
    };
  };

  const new_array = () => ({ elements: null, attributes: [] });

  // `size()` gives the canvas's [width, height] at any time.
  const create = (canvas, version, given, size) => {
    const Class =
      version === 2 ? safe.globals.WebGL2RenderingContext : safe.globals.WebGLRenderingContext;
    const context = Object.create(Class.prototype);
    const attributes = attributes_of(given);
    const S = {
      context,
      canvas,
      version,
      attributes,
      size,
      error: 0,
      lost: false,
      limits: new Map(tables.limits(version, attributes.antialias)),
      values: new Map(tables.state(version, attributes)),
      bindings: new Map(), // binding point -> object
      indexed: new Map(), // "target:index" -> { buffer, offset, size }
      units: new Map(), // texture unit -> Map of target -> texture
      samplers: new Map(),
      queries: new Map(),
      constants: new Map(), // generic values of vertex attributes
      extensions: new Map(),
      program: null,
      array: null, // the bound vertex array object; null: the default one
      defaultArray: new_array(),
      colorSpace: "srgb",
      unpackColorSpace: "srgb",
    };
    const [width, height] = size();
    S.values.set(GL.VIEWPORT, new Int32Array([0, 0, width, height]));
    S.values.set(GL.SCISSOR_BOX, new Int32Array([0, 0, width, height]));
    states.set(context, S);
    return context;
  };

  const vertex_array = (S) => (S.array === null ? S.defaultArray : facts.get(S.array).array);
  const attribute = (S, index) => {
    const list = vertex_array(S).attributes;
    list[index] ??= {
      enabled: false,
      size: 4,
      type: GL.FLOAT,
      normalized: false,
      stride: 0,
      offset: 0,
      divisor: 0,
      integer: false,
      buffer: null,
    };
    return list[index];
  };

  Object.assign(methods, {
    getContextAttributes() {
      return this.lost ? null : { ...this.attributes };
    },
    isContextLost() {
      return this.lost;
    },
    getError() {
      const error = this.error;
      this.error = GL.NO_ERROR;
      return error;
    },
    finish() {},
    flush() {},
    clear() {},
    commit() {},
    makeXRCompatible() {
      return Promise.resolve();
    },
    drawingBufferStorage() {},
    getSupportedExtensions() {
      return this.lost ? null : Object.keys(tables.extensions(this.version));
    },
    getExtension(name) {
      return this.lost ? null : extension(this, `${name}`);
    },
  });
  const accessors = {
    canvas: {
      get() {
        return this.canvas;
      },
    },
    drawingBufferWidth: {
      get() {
        return this.size()[0];
      },
    },
    drawingBufferHeight: {
      get() {
        return this.size()[1];
      },
    },
    drawingBufferColorSpace: {
      get() {
        return this.colorSpace;
      },
      set(value) {
        if (value === "srgb" || value === "display-p3") this.colorSpace = value;
      },
    },
    unpackColorSpace: {
      get() {
        return this.unpackColorSpace;
      },
      set(value) {
        if (value === "srgb" || value === "display-p3") this.unpackColorSpace = value;
      },
    },
    drawingBufferFormat: {
      get() {
        return this.attributes.alpha ? GL.RGBA8 : GL.RGB8;
      },
    },
  };

  // --- state -----------------------------------------------------------------------------

  const BINDINGS = {
    [GL.ARRAY_BUFFER_BINDING]: GL.ARRAY_BUFFER,
    [GL.RENDERBUFFER_BINDING]: GL.RENDERBUFFER,
    [GL.FRAMEBUFFER_BINDING]: GL.FRAMEBUFFER,
  };
  const BINDINGS_2 = {
    [GL.READ_FRAMEBUFFER_BINDING]: GL.READ_FRAMEBUFFER,
    [GL.COPY_READ_BUFFER_BINDING]: GL.COPY_READ_BUFFER,
    [GL.COPY_WRITE_BUFFER_BINDING]: GL.COPY_WRITE_BUFFER,
    [GL.PIXEL_PACK_BUFFER_BINDING]: GL.PIXEL_PACK_BUFFER,
    [GL.PIXEL_UNPACK_BUFFER_BINDING]: GL.PIXEL_UNPACK_BUFFER,
    [GL.TRANSFORM_FEEDBACK_BUFFER_BINDING]: GL.TRANSFORM_FEEDBACK_BUFFER,
    [GL.UNIFORM_BUFFER_BINDING]: GL.UNIFORM_BUFFER,
    [GL.TRANSFORM_FEEDBACK_BINDING]: GL.TRANSFORM_FEEDBACK,
  };
  const TEXTURES = {
    [GL.TEXTURE_BINDING_2D]: GL.TEXTURE_2D,
    [GL.TEXTURE_BINDING_CUBE_MAP]: GL.TEXTURE_CUBE_MAP,
  };
  const TEXTURES_2 = {
    [GL.TEXTURE_BINDING_3D]: GL.TEXTURE_3D,
    [GL.TEXTURE_BINDING_2D_ARRAY]: GL.TEXTURE_2D_ARRAY,
  };
  const ALIASES = { [GL.BLEND_EQUATION]: GL.BLEND_EQUATION_RGB };
  const bound_texture = (S, target) =>
    S.units.get(S.values.get(GL.ACTIVE_TEXTURE))?.get(target) ?? null;

  methods.getParameter = function getParameter(name) {
    if (this.lost) return null;
    const second = this.version === 2;
    if (this.limits.has(name)) return copied(this.limits.get(name));
    if (name in ALIASES) name = ALIASES[name];
    if (this.values.has(name)) return copied(this.values.get(name));
    if (name in BINDINGS || (second && name in BINDINGS_2)) {
      return this.bindings.get(BINDINGS[name] ?? BINDINGS_2[name]) ?? null;
    }
    if (name in TEXTURES || (second && name in TEXTURES_2)) {
      return bound_texture(this, TEXTURES[name] ?? TEXTURES_2[name]);
    }
    if (name === GL.CURRENT_PROGRAM) return this.program;
    if (name === GL.ELEMENT_ARRAY_BUFFER_BINDING) return vertex_array(this).elements;
    if (name === GL.VERTEX_ARRAY_BINDING) return this.array;
    if (second && name === GL.SAMPLER_BINDING) {
      return this.samplers.get(this.values.get(GL.ACTIVE_TEXTURE) - GL.TEXTURE0) ?? null;
    }
    const known = EXTENSION_LIMITS[name];
    return known !== undefined ? copied(known) : nothing(this, GL.INVALID_ENUM);
  };
  const EXTENSION_LIMITS = {
    0x9245: "browser-mcp", // UNMASKED_VENDOR_WEBGL
    0x9246: "browser-mcp software mock", // UNMASKED_RENDERER_WEBGL
    0x84ff: 16, // MAX_TEXTURE_MAX_ANISOTROPY_EXT
    0x8824: 8, // MAX_DRAW_BUFFERS_WEBGL
    0x8cdf: 8, // MAX_COLOR_ATTACHMENTS_WEBGL
    0x8b8b: GL.DONT_CARE, // FRAGMENT_SHADER_DERIVATIVE_HINT_OES
    0x8c2a: 0, // DEPTH_CLAMP and its like are off
  };

  const put = (name, value) =>
    function set() {
      this.values.set(name, value.apply(this, arguments));
    };
  const floats = (...values) => new Float32Array(values);
  const first = (value) => value;
  const both = (front, back, name) =>
    function set(face, ...values) {
      const value = values[name];
      if (face !== GL.BACK) this.values.set(front, value);
      if (face !== GL.FRONT) this.values.set(back, value);
    };
  Object.assign(methods, {
    enable(capability) {
      this.values.set(capability, true);
    },
    disable(capability) {
      this.values.set(capability, false);
    },
    isEnabled(capability) {
      return this.values.get(capability) === true;
    },
    activeTexture: put(GL.ACTIVE_TEXTURE, first),
    blendColor: put(GL.BLEND_COLOR, floats),
    blendEquation(mode) {
      methods.blendEquationSeparate.call(this, mode, mode);
    },
    blendEquationSeparate(color, alpha) {
      this.values.set(GL.BLEND_EQUATION_RGB, color);
      this.values.set(GL.BLEND_EQUATION_ALPHA, alpha);
    },
    blendFunc(source, target) {
      methods.blendFuncSeparate.call(this, source, target, source, target);
    },
    blendFuncSeparate(source, target, sourceAlpha, targetAlpha) {
      this.values.set(GL.BLEND_SRC_RGB, source);
      this.values.set(GL.BLEND_DST_RGB, target);
      this.values.set(GL.BLEND_SRC_ALPHA, sourceAlpha);
      this.values.set(GL.BLEND_DST_ALPHA, targetAlpha);
    },
    clearColor: put(GL.COLOR_CLEAR_VALUE, floats),
    clearDepth: put(GL.DEPTH_CLEAR_VALUE, first),
    clearStencil: put(GL.STENCIL_CLEAR_VALUE, first),
    colorMask: put(GL.COLOR_WRITEMASK, (...mask) => mask.map(Boolean)),
    cullFace: put(GL.CULL_FACE_MODE, first),
    depthFunc: put(GL.DEPTH_FUNC, first),
    depthMask: put(GL.DEPTH_WRITEMASK, Boolean),
    depthRange: put(GL.DEPTH_RANGE, floats),
    frontFace: put(GL.FRONT_FACE, first),
    hint(target, mode) {
      this.values.set(target, mode);
    },
    lineWidth: put(GL.LINE_WIDTH, first),
    pixelStorei(name, value) {
      const flag =
        name === GL.UNPACK_FLIP_Y_WEBGL || name === GL.UNPACK_PREMULTIPLY_ALPHA_WEBGL;
      this.values.set(name, flag ? Boolean(value) : Number(value));
    },
    polygonOffset(factor, units) {
      this.values.set(GL.POLYGON_OFFSET_FACTOR, factor);
      this.values.set(GL.POLYGON_OFFSET_UNITS, units);
    },
    sampleCoverage(value, invert) {
      this.values.set(GL.SAMPLE_COVERAGE_VALUE, value);
      this.values.set(GL.SAMPLE_COVERAGE_INVERT, Boolean(invert));
    },
    scissor: put(GL.SCISSOR_BOX, (...box) => new Int32Array(box)),
    viewport: put(GL.VIEWPORT, (...box) => new Int32Array(box)),
    stencilFunc(...values) {
      methods.stencilFuncSeparate.call(this, GL.FRONT_AND_BACK, ...values);
    },
    stencilFuncSeparate(face, ...values) {
      both(GL.STENCIL_FUNC, GL.STENCIL_BACK_FUNC, 0).call(this, face, ...values);
      both(GL.STENCIL_REF, GL.STENCIL_BACK_REF, 1).call(this, face, ...values);
      both(GL.STENCIL_VALUE_MASK, GL.STENCIL_BACK_VALUE_MASK, 2).call(this, face, ...values);
    },
    stencilMask(mask) {
      methods.stencilMaskSeparate.call(this, GL.FRONT_AND_BACK, mask);
    },
    stencilMaskSeparate: both(GL.STENCIL_WRITEMASK, GL.STENCIL_BACK_WRITEMASK, 0),
    stencilOp(...values) {
      methods.stencilOpSeparate.call(this, GL.FRONT_AND_BACK, ...values);
    },
    stencilOpSeparate(face, ...values) {
      both(GL.STENCIL_FAIL, GL.STENCIL_BACK_FAIL, 0).call(this, face, ...values);
      both(GL.STENCIL_PASS_DEPTH_FAIL, GL.STENCIL_BACK_PASS_DEPTH_FAIL, 1).call(
        this,
        face,
        ...values,
      );
      both(GL.STENCIL_PASS_DEPTH_PASS, GL.STENCIL_BACK_PASS_DEPTH_PASS, 2).call(
        this,
        face,
        ...values,
      );
    },
    readBuffer: put(GL.READ_BUFFER, first),
    drawBuffers(buffers) {
      for (let i = 0; i < buffers.length; i++) this.values.set(GL.DRAW_BUFFER0 + i, buffers[i]);
    },
    getIndexedParameter(target, index) {
      const one = (name) => this.indexed.get(`${name}:${index}`);
      if (target === GL.UNIFORM_BUFFER_BINDING) return one(GL.UNIFORM_BUFFER)?.buffer ?? null;
      if (target === GL.UNIFORM_BUFFER_START) return one(GL.UNIFORM_BUFFER)?.offset ?? 0;
      if (target === GL.UNIFORM_BUFFER_SIZE) return one(GL.UNIFORM_BUFFER)?.size ?? 0;
      if (target === GL.TRANSFORM_FEEDBACK_BUFFER_BINDING)
        return one(GL.TRANSFORM_FEEDBACK_BUFFER)?.buffer ?? null;
      if (target === GL.TRANSFORM_FEEDBACK_BUFFER_START)
        return one(GL.TRANSFORM_FEEDBACK_BUFFER)?.offset ?? 0;
      if (target === GL.TRANSFORM_FEEDBACK_BUFFER_SIZE)
        return one(GL.TRANSFORM_FEEDBACK_BUFFER)?.size ?? 0;
      return nothing(this, GL.INVALID_ENUM);
    },
    getShaderPrecisionFormat(stage, precision) {
      if (precision >= GL.LOW_INT && precision <= GL.HIGH_INT)
        return precision_format(31, 30, 0);
      if (precision >= GL.LOW_FLOAT && precision <= GL.HIGH_FLOAT)
        return precision_format(127, 127, 23);
      return nothing(this, GL.INVALID_ENUM);
    },
  });
  const precision_format = (rangeMin, rangeMax, precision) => {
    const { WebGLShaderPrecisionFormat: Class } = safe.globals;
    const values = { rangeMin, rangeMax, precision };
    const own = Object.entries(values).map(([name, value]) => [
      name,
      { value, enumerable: true },
    ]);
    return Object.create(Class?.prototype ?? Object.prototype, Object.fromEntries(own));
  };

  // --- objects ---------------------------------------------------------------------------

  const KINDS = [
    "Buffer",
    "Framebuffer",
    "Renderbuffer",
    "Texture",
    "Query",
    "Sampler",
    "TransformFeedback",
  ];
  const unbind = (S, object) => {
    for (const map of [S.bindings, S.samplers, ...S.units.values()]) {
      for (const [point, bound] of [...map]) if (bound === object) map.delete(point);
    }
    const array = vertex_array(S);
    if (array.elements === object) array.elements = null;
  };
  for (const kind of KINDS) {
    methods[`create${kind}`] = function create() {
      const Class = safe.globals[`WebGL${kind}`];
      return Class === undefined ? null : make(this, Class, { kind, parameters: new Map() });
    };
    methods[`delete${kind}`] = function remove(object) {
      const fact = live(this, object, kind);
      if (fact === undefined) return;
      fact.deleted = true;
      unbind(this, object);
    };
    methods[`is${kind}`] = function is(object) {
      return live(this, object, kind)?.bound === true;
    };
  }
  const bind = (S, kind, point, object) => {
    if (object === null || object === undefined) {
      S.bindings.delete(point);
      return;
    }
    const fact = live(S, object, kind);
    if (fact === undefined) return void nothing(S, GL.INVALID_OPERATION);
    fact.bound = true;
    S.bindings.set(point, object);
  };
  Object.assign(methods, {
    bindBuffer(target, buffer) {
      if (target !== GL.ELEMENT_ARRAY_BUFFER) return bind(this, "Buffer", target, buffer);
      const fact = live(this, buffer, "Buffer");
      if (fact !== undefined) fact.bound = true;
      vertex_array(this).elements = fact === undefined ? null : buffer;
    },
    bindBufferBase(target, index, buffer) {
      methods.bindBufferRange.call(this, target, index, buffer, 0, 0);
    },
    bindBufferRange(target, index, buffer, offset, size) {
      bind(this, "Buffer", target, buffer);
      this.indexed.set(`${target}:${index}`, { buffer: buffer ?? null, offset, size });
    },
    bufferData(target, data, usage) {
      const buffer =
        target === GL.ELEMENT_ARRAY_BUFFER
          ? vertex_array(this).elements
          : this.bindings.get(target);
      const fact = fact_of(buffer);
      if (fact === undefined) return void nothing(this, GL.INVALID_OPERATION);
      fact.bytes = byte_length(data, arguments[3], arguments[4]);
      fact.usage = usage;
    },
    bufferSubData() {},
    copyBufferSubData() {},
    getBufferSubData(target, offset, into, start = 0, length = 0) {
      if (ArrayBuffer.isView(into) && into.fill)
        into.fill(0, start, length ? start + length : undefined);
      else if (ArrayBuffer.isView(into))
        new Uint8Array(into.buffer, into.byteOffset, into.byteLength).fill(0);
    },
    getBufferParameter(target, name) {
      const buffer =
        target === GL.ELEMENT_ARRAY_BUFFER
          ? vertex_array(this).elements
          : this.bindings.get(target);
      const fact = fact_of(buffer);
      if (fact === undefined) return nothing(this, GL.INVALID_OPERATION);
      if (name === GL.BUFFER_SIZE) return fact.bytes ?? 0;
      return name === GL.BUFFER_USAGE
        ? (fact.usage ?? GL.STATIC_DRAW)
        : nothing(this, GL.INVALID_ENUM);
    },
    bindFramebuffer(target, framebuffer) {
      if (target !== GL.READ_FRAMEBUFFER)
        bind(this, "Framebuffer", GL.FRAMEBUFFER, framebuffer);
      if (target !== GL.DRAW_FRAMEBUFFER)
        bind(this, "Framebuffer", GL.READ_FRAMEBUFFER, framebuffer);
    },
    checkFramebufferStatus() {
      return GL.FRAMEBUFFER_COMPLETE;
    },
    framebufferTexture2D(target, point, face, texture, level) {
      attach(this, target, point, texture, GL.TEXTURE, { level, face });
    },
    framebufferTextureLayer(target, point, texture, level, layer) {
      attach(this, target, point, texture, GL.TEXTURE, { level, layer });
    },
    framebufferRenderbuffer(target, point, _, renderbuffer) {
      attach(this, target, point, renderbuffer, GL.RENDERBUFFER, {});
    },
    getFramebufferAttachmentParameter(target, point, name) {
      const framebuffer = fact_of(
        this.bindings.get(target === GL.READ_FRAMEBUFFER ? target : GL.FRAMEBUFFER),
      );
      const attached = framebuffer?.parameters.get(point);
      if (name === GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) {
        return attached?.type ?? (framebuffer === undefined ? GL.FRAMEBUFFER_DEFAULT : GL.NONE);
      }
      if (name === GL.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME) return attached?.object ?? null;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL) return attached?.level ?? 0;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER) return attached?.layer ?? 0;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) return GL.UNSIGNED_NORMALIZED;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) return GL.LINEAR;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE) return 24;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE) return 8;
      if (name === GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE) return attached?.face ?? 0;
      return 8; // bits of a colour channel
    },
    blitFramebuffer() {},
    invalidateFramebuffer() {},
    invalidateSubFramebuffer() {},
    clearBufferfi() {},
    clearBufferfv() {},
    clearBufferiv() {},
    clearBufferuiv() {},
    bindRenderbuffer(target, renderbuffer) {
      bind(this, "Renderbuffer", target, renderbuffer);
    },
    renderbufferStorage(target, format, width, height) {
      methods.renderbufferStorageMultisample.call(this, target, 0, format, width, height);
    },
    renderbufferStorageMultisample(target, samples, format, width, height) {
      const fact = fact_of(this.bindings.get(target));
      if (fact === undefined) return void nothing(this, GL.INVALID_OPERATION);
      Object.assign(fact, { samples, format, width, height });
    },
    getRenderbufferParameter(target, name) {
      const fact = fact_of(this.bindings.get(target));
      if (fact === undefined) return nothing(this, GL.INVALID_OPERATION);
      if (name === GL.RENDERBUFFER_WIDTH) return fact.width ?? 0;
      if (name === GL.RENDERBUFFER_HEIGHT) return fact.height ?? 0;
      if (name === GL.RENDERBUFFER_INTERNAL_FORMAT) return fact.format ?? GL.RGBA4;
      if (name === GL.RENDERBUFFER_SAMPLES) return fact.samples ?? 0;
      if (name === GL.RENDERBUFFER_DEPTH_SIZE) return 24;
      return 8;
    },
    getInternalformatParameter() {
      return new Int32Array([4, 2, 1]);
    },
    bindTexture(target, texture) {
      const unit = this.values.get(GL.ACTIVE_TEXTURE);
      if (!this.units.has(unit)) this.units.set(unit, new Map());
      const fact = live(this, texture, "Texture");
      if (fact !== undefined) fact.bound = true;
      this.units.get(unit).set(target, fact === undefined ? null : texture);
    },
    texParameterf(target, name, value) {
      fact_of(bound_texture(this, target))?.parameters.set(name, value);
    },
    texParameteri(target, name, value) {
      fact_of(bound_texture(this, target))?.parameters.set(name, value);
    },
    getTexParameter(target, name) {
      const parameters = fact_of(bound_texture(this, target))?.parameters;
      if (parameters === undefined) return nothing(this, GL.INVALID_OPERATION);
      return parameters.get(name) ?? SAMPLING[name] ?? nothing(this, GL.INVALID_ENUM);
    },
    texImage2D() {},
    texSubImage2D() {},
    texImage3D() {},
    texSubImage3D() {},
    generateMipmap() {},
    compressedTexImage2D() {},
    compressedTexSubImage2D() {},
    compressedTexImage3D() {},
    compressedTexSubImage3D() {},
    copyTexImage2D() {},
    copyTexSubImage2D() {},
    copyTexSubImage3D() {},
    texStorage2D(target, levels) {
      immutable(this, target, levels);
    },
    texStorage3D(target, levels) {
      immutable(this, target, levels);
    },
    bindSampler(unit, sampler) {
      const fact = live(this, sampler, "Sampler");
      if (fact === undefined) return void this.samplers.delete(unit);
      fact.bound = true;
      this.samplers.set(unit, sampler);
    },
    samplerParameterf(sampler, name, value) {
      live(this, sampler, "Sampler")?.parameters.set(name, value);
    },
    samplerParameteri(sampler, name, value) {
      live(this, sampler, "Sampler")?.parameters.set(name, value);
    },
    getSamplerParameter(sampler, name) {
      return (
        live(this, sampler, "Sampler")?.parameters.get(name) ??
        SAMPLING[name] ??
        nothing(this, GL.INVALID_ENUM)
      );
    },
    isSampler(sampler) {
      return live(this, sampler, "Sampler") !== undefined;
    },
    readPixels(x, y, width, height, format, type, into, offset) {
      if (!ArrayBuffer.isView(into)) return;
      const channels =
        { [GL.RGBA]: 4, [GL.RGBA_INTEGER]: 4, [GL.RGB]: 3, [GL.RG]: 2, [GL.RG_INTEGER]: 2 }[
          format
        ] ?? 1;
      const wanted = Math.min(Math.max(0, width * height * channels) || 0, MOST_PIXELS);
      const from = Number(offset) || 0;
      if (into.fill) into.fill(0, from, from + wanted);
    },
  });
  const SAMPLING = {
    [GL.TEXTURE_MAG_FILTER]: GL.LINEAR,
    [GL.TEXTURE_MIN_FILTER]: GL.NEAREST_MIPMAP_LINEAR,
    [GL.TEXTURE_WRAP_S]: GL.REPEAT,
    [GL.TEXTURE_WRAP_T]: GL.REPEAT,
    [GL.TEXTURE_WRAP_R]: GL.REPEAT,
    [GL.TEXTURE_MIN_LOD]: -1000,
    [GL.TEXTURE_MAX_LOD]: 1000,
    [GL.TEXTURE_BASE_LEVEL]: 0,
    [GL.TEXTURE_MAX_LEVEL]: 1000,
    [GL.TEXTURE_COMPARE_MODE]: GL.NONE,
    [GL.TEXTURE_COMPARE_FUNC]: GL.LEQUAL,
    [GL.TEXTURE_IMMUTABLE_FORMAT]: false,
    [GL.TEXTURE_IMMUTABLE_LEVELS]: 0,
    0x84fe: 1,
  };
  const immutable = (S, target, levels) => {
    const parameters = fact_of(bound_texture(S, target))?.parameters;
    parameters?.set(GL.TEXTURE_IMMUTABLE_FORMAT, true).set(GL.TEXTURE_IMMUTABLE_LEVELS, levels);
  };
  const attach = (S, target, point, object, type, more) => {
    const fact = fact_of(
      S.bindings.get(target === GL.READ_FRAMEBUFFER ? target : GL.FRAMEBUFFER),
    );
    if (fact === undefined) return void nothing(S, GL.INVALID_OPERATION);
    if (object === null || object === undefined) fact.parameters.delete(point);
    else fact.parameters.set(point, { object, type, ...more });
  };
  const byte_length = (data, offset, length) => {
    if (typeof data === "number") return data;
    if (data === null || data === undefined) return 0;
    const each = data.BYTES_PER_ELEMENT ?? 1;
    if (length) return length * each;
    return (data.byteLength ?? 0) - (Number(offset) || 0) * each;
  };

  // --- vertex arrays, queries, syncs, transform feedback ----------------------------------

  const create_array = function createVertexArray() {
    const { WebGLVertexArrayObject: Class } = safe.globals;
    return make(this, Class ?? Object, { kind: "VertexArray", array: new_array() });
  };
  const delete_array = function deleteVertexArray(array) {
    const fact = live(this, array, "VertexArray");
    if (fact === undefined) return;
    fact.deleted = true;
    if (this.array === array) this.array = null;
  };
  const bind_array = function bindVertexArray(array) {
    const fact = live(this, array, "VertexArray");
    if (fact !== undefined) fact.bound = true;
    this.array = fact === undefined ? null : array;
  };
  const is_array = function isVertexArray(array) {
    return live(this, array, "VertexArray")?.bound === true;
  };
  const pointer = (integer) =>
    function vertexAttribPointer(index, size, type, ...rest) {
      const [normalized, stride, offset] = integer ? [false, ...rest] : rest;
      const buffer = this.bindings.get(GL.ARRAY_BUFFER) ?? null;
      Object.assign(attribute(this, index), {
        size,
        type,
        normalized: Boolean(normalized),
        stride,
        offset,
        integer,
        buffer,
      });
    };
  Object.assign(methods, {
    createVertexArray: create_array,
    deleteVertexArray: delete_array,
    bindVertexArray: bind_array,
    isVertexArray: is_array,
    enableVertexAttribArray(index) {
      attribute(this, index).enabled = true;
    },
    disableVertexAttribArray(index) {
      attribute(this, index).enabled = false;
    },
    vertexAttribDivisor(index, divisor) {
      attribute(this, index).divisor = divisor;
    },
    vertexAttribPointer: pointer(false),
    vertexAttribIPointer: pointer(true),
    getVertexAttrib(index, name) {
      const one = attribute(this, index);
      if (name === GL.VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) return one.buffer;
      if (name === GL.VERTEX_ATTRIB_ARRAY_ENABLED) return one.enabled;
      if (name === GL.VERTEX_ATTRIB_ARRAY_SIZE) return one.size;
      if (name === GL.VERTEX_ATTRIB_ARRAY_STRIDE) return one.stride;
      if (name === GL.VERTEX_ATTRIB_ARRAY_TYPE) return one.type;
      if (name === GL.VERTEX_ATTRIB_ARRAY_NORMALIZED) return one.normalized;
      if (name === GL.VERTEX_ATTRIB_ARRAY_DIVISOR) return one.divisor;
      if (name === GL.VERTEX_ATTRIB_ARRAY_INTEGER) return one.integer;
      if (name === GL.CURRENT_VERTEX_ATTRIB)
        return copied(this.constants.get(index) ?? floats(0, 0, 0, 1));
      return nothing(this, GL.INVALID_ENUM);
    },
    getVertexAttribOffset(index) {
      return attribute(this, index).offset;
    },
    drawArrays() {},
    drawElements() {},
    drawArraysInstanced() {},
    drawElementsInstanced() {},
    drawRangeElements() {},
    beginQuery(target, query) {
      const fact = live(this, query, "Query");
      if (fact !== undefined) fact.bound = true;
      this.queries.set(target, query);
    },
    endQuery(target) {
      this.queries.delete(target);
    },
    getQuery(target) {
      return this.queries.get(target) ?? null;
    },
    getQueryParameter(query, name) {
      return name === GL.QUERY_RESULT_AVAILABLE ? true : 0;
    },
    fenceSync() {
      const { WebGLSync: Class } = safe.globals;
      return make(this, Class, { kind: "Sync" });
    },
    isSync(sync) {
      return live(this, sync, "Sync") !== undefined;
    },
    deleteSync(sync) {
      const fact = live(this, sync, "Sync");
      if (fact !== undefined) fact.deleted = true;
    },
    clientWaitSync() {
      return GL.ALREADY_SIGNALED;
    },
    waitSync() {},
    getSyncParameter(sync, name) {
      const known = {
        [GL.OBJECT_TYPE]: GL.SYNC_FENCE,
        [GL.SYNC_STATUS]: GL.SIGNALED,
        [GL.SYNC_CONDITION]: GL.SYNC_GPU_COMMANDS_COMPLETE,
        [GL.SYNC_FLAGS]: 0,
      };
      return known[name] ?? nothing(this, GL.INVALID_ENUM);
    },
    bindTransformFeedback(target, feedback) {
      bind(this, "TransformFeedback", target, feedback);
    },
    beginTransformFeedback() {
      this.values.set(GL.TRANSFORM_FEEDBACK_ACTIVE, true);
    },
    endTransformFeedback() {
      this.values.set(GL.TRANSFORM_FEEDBACK_ACTIVE, false);
      this.values.set(GL.TRANSFORM_FEEDBACK_PAUSED, false);
    },
    pauseTransformFeedback() {
      this.values.set(GL.TRANSFORM_FEEDBACK_PAUSED, true);
    },
    resumeTransformFeedback() {
      this.values.set(GL.TRANSFORM_FEEDBACK_PAUSED, false);
    },
  });
  for (const [suffix, Array_] of [
    ["f", Float32Array],
    ["I4i", Int32Array],
    ["I4ui", Uint32Array],
  ]) {
    for (const n of suffix === "f" ? [1, 2, 3, 4] : [4]) {
      const name = suffix === "f" ? `vertexAttrib${n}f` : `vertexAttrib${suffix}`;
      const store = (S, index, values) => {
        const all = new Array_([0, 0, 0, 1]);
        for (let i = 0; i < n; i++) all[i] = values[i];
        S.constants.set(index, all);
      };
      methods[name] = function set(index, ...values) {
        store(this, index, values);
      };
      methods[`${name}v`] = function set(index, values) {
        store(this, index, values);
      };
    }
  }

  // --- shaders and programs --------------------------------------------------------------

  const shader_of = (S, shader) => live(S, shader, "Shader");
  const program_of = (S, program) => live(S, program, "Program");
  const EMPTY = { uniforms: [], blocks: [], attributes: [], varyings: [], outputs: [] };
  const SUFFIX = /\[(\d+)\]$/;

  // Gives what can be looked up by name its place: attribute and uniform locations.
  const place = (program, stages) => {
    const linked = glsl.link(stages[0].read, stages[1].read);
    const taken = new Set();
    const rows = (one) => one.size * one.type.columns;
    const claim = (one, at) => {
      one.location = at;
      for (let i = 0; i < rows(one); i++) taken.add(at + i);
    };
    const waiting = [];
    for (const one of linked.attributes) {
      const asked = one.location >= 0 ? one.location : program.asked.get(one.name);
      if (asked === undefined) waiting.push(one);
      else claim(one, asked);
    }
    for (const one of waiting) {
      let at = 0;
      while (Array.from({ length: rows(one) }, (_, i) => at + i).some((i) => taken.has(i)))
        at++;
      claim(one, at);
    }
    program.linked = linked;
    program.byName = new Map();
    linked.uniforms.forEach((one, index) => {
      program.byName.set(one.name, index);
      if (one.array) program.byName.set(one.name.replace(SUFFIX, ""), index);
    });
    program.values = new Map(); // uniform index -> its numbers, all elements
    program.bindings = linked.blocks.map(() => 0);
  };
  // The uniform and the element that a name such as "lights[3]" means.
  const find = (program, name) => {
    if (program.byName === undefined) return null;
    const suffix = SUFFIX.exec(name);
    const direct = program.byName.get(name);
    if (direct !== undefined) return { index: direct, element: 0 };
    if (suffix === null) return null;
    const index = program.byName.get(name.replace(SUFFIX, "[0]"));
    const element = +suffix[1];
    return index !== undefined && element < program.linked.uniforms[index].size
      ? { index, element }
      : null;
  };
  const info = ({ name, size, type }) => {
    const { WebGLActiveInfo: Class } = safe.globals;
    const values = { name, size, type: type.gl };
    const own = Object.entries(values).map(([key, value]) => [
      key,
      { value, enumerable: true },
    ]);
    return Object.create(Class?.prototype ?? Object.prototype, Object.fromEntries(own));
  };
  const named = (one) => (one.declared ? { ...one, name: `${one.name}[0]` } : one);

  Object.assign(methods, {
    createShader(type) {
      if (type !== GL.VERTEX_SHADER && type !== GL.FRAGMENT_SHADER)
        return nothing(this, GL.INVALID_ENUM);
      return make(this, safe.globals.WebGLShader, {
        kind: "Shader",
        type,
        source: "",
        compiled: false,
        read: null,
        log: "",
      });
    },
    deleteShader(shader) {
      const fact = shader_of(this, shader);
      if (fact !== undefined) fact.deleted = true;
    },
    isShader(shader) {
      return shader_of(this, shader) !== undefined;
    },
    shaderSource(shader, source) {
      const fact = shader_of(this, shader);
      if (fact === undefined) return void nothing(this, GL.INVALID_VALUE);
      fact.source = `${source}`;
    },
    // A shader that was deleted lives on as long as a program has it, and can be asked.
    getShaderSource(shader) {
      return fact_of(shader)?.source ?? null;
    },
    compileShader(shader) {
      const fact = shader_of(this, shader);
      if (fact === undefined) return void nothing(this, GL.INVALID_VALUE);
      const macros = this.version === 1 ? tables.MACROS : [];
      fact.read = glsl.read(fact.source, macros);
      fact.log = fact.read.error;
      if (fact.read.version >= 300 && this.version === 1) {
        fact.log = "ERROR: 0:1: '300' : client/version number not supported";
      }
      fact.compiled = fact.log === "";
    },
    getShaderParameter(shader, name) {
      const fact = fact_of(shader);
      if (fact === undefined || fact.owner !== this) return nothing(this, GL.INVALID_VALUE);
      if (name === GL.SHADER_TYPE) return fact.type;
      if (name === GL.DELETE_STATUS) return fact.deleted;
      if (name === GL.COMPILE_STATUS) return fact.compiled;
      return name === COMPLETION ? true : nothing(this, GL.INVALID_ENUM);
    },
    getShaderInfoLog(shader) {
      return fact_of(shader)?.log ?? null;
    },
    createProgram() {
      return make(this, safe.globals.WebGLProgram, {
        kind: "Program",
        shaders: [],
        asked: new Map(),
        linked: null,
        status: false,
        log: "",
        varyings: [],
        varyingMode: GL.INTERLEAVED_ATTRIBS,
      });
    },
    deleteProgram(program) {
      const fact = program_of(this, program);
      if (fact !== undefined) fact.deleted = true;
    },
    isProgram(program) {
      return program_of(this, program) !== undefined;
    },
    attachShader(program, shader) {
      const fact = program_of(this, program);
      if (fact === undefined || shader_of(this, shader) === undefined)
        return void nothing(this, GL.INVALID_VALUE);
      if (!fact.shaders.includes(shader)) fact.shaders.push(shader);
    },
    detachShader(program, shader) {
      const fact = program_of(this, program);
      if (fact !== undefined) fact.shaders = fact.shaders.filter((each) => each !== shader);
    },
    getAttachedShaders(program) {
      return program_of(this, program)?.shaders.slice() ?? null;
    },
    bindAttribLocation(program, index, name) {
      program_of(this, program)?.asked.set(`${name}`, index);
    },
    linkProgram(program) {
      const fact = program_of(this, program);
      if (fact === undefined) return void nothing(this, GL.INVALID_VALUE);
      const stages = [GL.VERTEX_SHADER, GL.FRAGMENT_SHADER].map((type) =>
        fact.shaders.map(fact_of).find((shader) => shader.type === type),
      );
      fact.status = stages.every((stage) => stage?.compiled);
      fact.log = fact.status
        ? ""
        : "Attached vertex and fragment shaders must both be compiled.";
      if (fact.status) place(fact, stages);
    },
    validateProgram() {},
    useProgram(program) {
      this.program = program_of(this, program) === undefined ? null : program;
    },
    getProgramParameter(program, name) {
      const fact = fact_of(program);
      if (fact === undefined || fact.owner !== this) return nothing(this, GL.INVALID_VALUE);
      const linked = fact.linked ?? EMPTY;
      if (name === GL.LINK_STATUS || name === GL.VALIDATE_STATUS) return fact.status;
      if (name === GL.DELETE_STATUS) return fact.deleted;
      if (name === GL.ATTACHED_SHADERS) return fact.shaders.length;
      if (name === GL.ACTIVE_UNIFORMS) return linked.uniforms.length;
      if (name === GL.ACTIVE_ATTRIBUTES) return linked.attributes.length;
      if (name === COMPLETION) return true;
      if (this.version === 2) {
        if (name === GL.ACTIVE_UNIFORM_BLOCKS) return linked.blocks.length;
        if (name === GL.TRANSFORM_FEEDBACK_VARYINGS) return fact.varyings.length;
        if (name === GL.TRANSFORM_FEEDBACK_BUFFER_MODE) return fact.varyingMode;
      }
      return nothing(this, GL.INVALID_ENUM);
    },
    getProgramInfoLog(program) {
      return fact_of(program)?.log ?? null;
    },
    getActiveUniform(program, index) {
      const one = program_of(this, program)?.linked?.uniforms[index];
      return one === undefined ? nothing(this, GL.INVALID_VALUE) : info(one);
    },
    getActiveAttrib(program, index) {
      const one = program_of(this, program)?.linked?.attributes[index];
      return one === undefined ? nothing(this, GL.INVALID_VALUE) : info(named(one));
    },
    getAttribLocation(program, name) {
      const list = program_of(this, program)?.linked?.attributes ?? [];
      return list.find((one) => one.name === name || named(one).name === name)?.location ?? -1;
    },
    getFragDataLocation(program, name) {
      const list = program_of(this, program)?.linked?.outputs ?? [];
      const at = list.findIndex((one) => one.name === name);
      return at < 0 ? -1 : list[at].location >= 0 ? list[at].location : at;
    },
    getUniformLocation(program, name) {
      const fact = program_of(this, program);
      if (fact === undefined) return nothing(this, GL.INVALID_VALUE);
      const found = find(fact, `${name}`);
      if (found === null || fact.linked.uniforms[found.index].block >= 0) return null;
      return make(this, safe.globals.WebGLUniformLocation, {
        kind: "Location",
        program,
        linked: fact.linked,
        name: `${name}`,
        ...found,
      });
    },
    getUniform(program, location) {
      const fact = program_of(this, program);
      const place = fact_of(location);
      if (fact === undefined || place?.program !== program)
        return nothing(this, GL.INVALID_OPERATION);
      const { type } = fact.linked.uniforms[place.index];
      const width = type.rows * type.columns;
      const all = fact.values.get(place.index) ?? [];
      const part = Array.from({ length: width }, (_, i) => all[place.element * width + i] ?? 0);
      if (width === 1) return type.base === "bool" ? Boolean(part[0]) : part[0];
      if (type.base === "bool") return part.map(Boolean);
      return new { float: Float32Array, int: Int32Array, uint: Uint32Array }[type.base](part);
    },
    getUniformIndices(program, names) {
      const fact = program_of(this, program);
      if (fact === undefined) return nothing(this, GL.INVALID_VALUE);
      return Array.from(
        names,
        (name) =>
          (fact.byName === undefined ? undefined : find(fact, `${name}`)?.index) ??
          GL.INVALID_INDEX,
      );
    },
    getActiveUniforms(program, indices, name) {
      const linked = program_of(this, program)?.linked;
      if (!linked) return nothing(this, GL.INVALID_VALUE);
      const of = {
        [GL.UNIFORM_TYPE]: (one) => one.type.gl,
        [GL.UNIFORM_SIZE]: (one) => one.size,
        [GL.UNIFORM_BLOCK_INDEX]: (one) => one.block,
        [GL.UNIFORM_OFFSET]: (one) => one.offset,
        [GL.UNIFORM_ARRAY_STRIDE]: (one) => one.stride,
        [GL.UNIFORM_MATRIX_STRIDE]: (one) => one.matrix,
        [GL.UNIFORM_IS_ROW_MAJOR]: (one) => one.rows,
      }[name];
      if (of === undefined) return nothing(this, GL.INVALID_ENUM);
      const wanted = Array.from(indices);
      if (wanted.some((index) => linked.uniforms[index] === undefined))
        return nothing(this, GL.INVALID_VALUE);
      return wanted.map((index) => of(linked.uniforms[index]));
    },
    getUniformBlockIndex(program, name) {
      const blocks = program_of(this, program)?.linked?.blocks ?? [];
      const at = blocks.findIndex(
        (block) => block.name === name || block.name === `${name}[0]`,
      );
      return at < 0 ? GL.INVALID_INDEX : at;
    },
    getActiveUniformBlockName(program, index) {
      return (
        program_of(this, program)?.linked?.blocks[index]?.name ??
        nothing(this, GL.INVALID_VALUE)
      );
    },
    getActiveUniformBlockParameter(program, index, name) {
      const fact = program_of(this, program);
      const block = fact?.linked?.blocks[index];
      if (block === undefined) return nothing(this, GL.INVALID_VALUE);
      if (name === GL.UNIFORM_BLOCK_BINDING) return fact.bindings[index];
      if (name === GL.UNIFORM_BLOCK_DATA_SIZE) return block.bytes;
      if (name === GL.UNIFORM_BLOCK_ACTIVE_UNIFORMS) return block.members.length;
      if (name === GL.UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES)
        return new Uint32Array(block.members);
      if (name === GL.UNIFORM_BLOCK_REFERENCED_BY_VERTEX_SHADER) return block.vertex;
      if (name === GL.UNIFORM_BLOCK_REFERENCED_BY_FRAGMENT_SHADER) return block.fragment;
      return nothing(this, GL.INVALID_ENUM);
    },
    uniformBlockBinding(program, index, binding) {
      const fact = program_of(this, program);
      if (fact?.linked?.blocks[index] !== undefined) fact.bindings[index] = binding;
    },
    transformFeedbackVaryings(program, names, mode) {
      const fact = program_of(this, program);
      if (fact !== undefined)
        Object.assign(fact, { varyings: Array.from(names, String), varyingMode: mode });
    },
    getTransformFeedbackVarying(program, index) {
      const fact = program_of(this, program);
      const name = fact?.varyings[index];
      if (name === undefined) return nothing(this, GL.INVALID_VALUE);
      const found = fact.linked?.varyings.find((one) => one.name === name.replace(SUFFIX, ""));
      return info(
        found ?? { name, size: 1, type: glsl.TYPES[name === "gl_Position" ? "vec4" : "float"] },
      );
    },
  });
  const COMPLETION = 0x91b1; // KHR_parallel_shader_compile

  const set_uniform = (S, location, values, width) => {
    const place = fact_of(location);
    if (place === undefined) return; // null is allowed, and ignored
    const program = fact_of(S.program);
    if (
      program === undefined ||
      place.program !== S.program ||
      place.linked !== program.linked
    ) {
      return void nothing(S, GL.INVALID_OPERATION);
    }
    if (!program.values.has(place.index)) program.values.set(place.index, []);
    const all = program.values.get(place.index);
    const { size, type } = program.linked.uniforms[place.index];
    const start = place.element * width;
    const room = Math.min(values.length, size * type.rows * type.columns - start);
    for (let i = 0; i < room; i++) all[start + i] = Number(values[i]);
  };
  const part = (values, offset, length) => {
    const from = Number(offset) || 0;
    return from || length
      ? Array.prototype.slice.call(values, from, length ? from + Number(length) : undefined)
      : values;
  };
  for (const n of [1, 2, 3, 4]) {
    for (const kind of ["f", "i", "ui"]) {
      methods[`uniform${n}${kind}`] = function set(location, ...values) {
        set_uniform(this, location, values.slice(0, n), n);
      };
      methods[`uniform${n}${kind}v`] = function set(location, values, offset, length) {
        set_uniform(this, location, part(values, offset, length), n);
      };
    }
  }
  for (const columns of [2, 3, 4]) {
    for (const rows of [2, 3, 4]) {
      const name = columns === rows ? `${rows}` : `${columns}x${rows}`;
      methods[`uniformMatrix${name}fv`] = function set(
        location,
        transpose,
        values,
        offset,
        length,
      ) {
        set_uniform(this, location, part(values, offset, length), columns * rows);
      };
    }
  }

  // --- extensions ------------------------------------------------------------------------

  const later = safe.later;
  const extension = (S, name) => {
    const known = tables.extensions(S.version);
    const proper = Object.keys(known).find((each) => each.toLowerCase() === name.toLowerCase());
    if (proper === undefined) return null;
    if (!S.extensions.has(proper)) {
      S.extensions.set(proper, Object.assign({ ...known[proper] }, functions(S)[proper]));
    }
    return S.extensions.get(proper);
  };
  const many = (
    kind,
    S,
    mode,
    firsts,
    counts,
    countsOffset,
    instances,
    instancesOffset,
    draws,
  ) => {
    for (let i = 0; i < draws && countsOffset + i < counts.length; i++) {
      const count = counts[countsOffset + i];
      const times = instances === null ? null : instances[instancesOffset + i];
      recorder.draw(kind, mode, null, count, times);
    }
  };
  const functions = (S) => ({
    __proto__: null,
    ANGLE_instanced_arrays: {
      drawArraysInstancedANGLE: (mode, start, count, n) =>
        recorder.draw("drawArraysInstanced", mode, start, count, n),
      drawElementsInstancedANGLE: (mode, count, type, offset, n) =>
        recorder.draw("drawElementsInstanced", mode, null, count, n),
      vertexAttribDivisorANGLE: (index, divisor) =>
        methods.vertexAttribDivisor.call(S, index, divisor),
    },
    OES_vertex_array_object: {
      createVertexArrayOES: () => create_array.call(S),
      deleteVertexArrayOES: (array) => delete_array.call(S, array),
      bindVertexArrayOES: (array) => bind_array.call(S, array),
      isVertexArrayOES: (array) => is_array.call(S, array),
    },
    WEBGL_draw_buffers: { drawBuffersWEBGL: (buffers) => methods.drawBuffers.call(S, buffers) },
    WEBGL_debug_shaders: {
      getTranslatedShaderSource: (shader) => shader_of(S, shader)?.source ?? "",
    },
    WEBGL_lose_context: {
      loseContext: () => {
        if (S.lost) return;
        S.lost = true;
        S.error = GL.CONTEXT_LOST_WEBGL;
        later(S.canvas, "webglcontextlost");
      },
      restoreContext: () => {
        if (!S.lost) return;
        S.lost = false;
        S.error = GL.NO_ERROR;
        later(S.canvas, "webglcontextrestored");
      },
    },
    WEBGL_multi_draw: {
      multiDrawArraysWEBGL: (mode, firsts, firstsAt, counts, countsAt, draws) =>
        many("drawArrays", S, mode, firsts, counts, countsAt, null, 0, draws),
      multiDrawElementsWEBGL: (mode, counts, countsAt, type, offsets, offsetsAt, draws) =>
        many("drawElements", S, mode, null, counts, countsAt, null, 0, draws),
      multiDrawArraysInstancedWEBGL: (
        mode,
        firsts,
        firstsAt,
        counts,
        countsAt,
        instances,
        instancesAt,
        draws,
      ) =>
        many(
          "drawArraysInstanced",
          S,
          mode,
          firsts,
          counts,
          countsAt,
          instances,
          instancesAt,
          draws,
        ),
      multiDrawElementsInstancedWEBGL: (
        mode,
        counts,
        countsAt,
        type,
        offsets,
        offsetsAt,
        instances,
        instancesAt,
        draws,
      ) =>
        many(
          "drawElementsInstanced",
          S,
          mode,
          null,
          counts,
          countsAt,
          instances,
          instancesAt,
          draws,
        ),
    },
    OES_draw_buffers_indexed: Object.fromEntries(
      [
        "enableiOES",
        "disableiOES",
        "blendEquationiOES",
        "blendEquationSeparateiOES",
        "blendFunciOES",
        "blendFuncSeparateiOES",
        "colorMaskiOES",
      ].map((name) => [name, () => undefined]),
    ),
  });

  // The name that a location of ours was asked for by.
  const name_of = (location) => fact_of(location)?.name;
  const stage_of = (shader) => fact_of(shader)?.type;
  return { create, states, methods, accessors, name_of, stage_of };
}
