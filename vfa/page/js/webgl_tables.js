// What a stand-in context says about itself: limits, versions, extensions and the state that
// a new context has. By the specifications' minimum values or a little above, so that an
// engine that fits into these fits anywhere. Source: WebGL 1.0.3, WebGL 2.0, ES 3.0.6 tables.
(GL) => {
  const pair = (a, b) => new Int32Array([a, b]);
  const limits = (version, antialias) => {
    const common = [
      [GL.VENDOR, "browser-mcp"],
      [GL.RENDERER, "browser-mcp software mock"],
      [GL.VERSION, `WebGL ${version}.0 (browser-mcp mock)`],
      [
        GL.SHADING_LANGUAGE_VERSION,
        `WebGL GLSL ES ${version === 2 ? "3.00" : "1.0"} (browser-mcp mock)`,
      ],
      [GL.MAX_TEXTURE_SIZE, 4096],
      [GL.MAX_CUBE_MAP_TEXTURE_SIZE, 4096],
      [GL.MAX_RENDERBUFFER_SIZE, 4096],
      [GL.MAX_VIEWPORT_DIMS, pair(4096, 4096)],
      [GL.MAX_TEXTURE_IMAGE_UNITS, 16],
      [GL.MAX_VERTEX_TEXTURE_IMAGE_UNITS, 16],
      [GL.MAX_COMBINED_TEXTURE_IMAGE_UNITS, 32],
      [GL.MAX_VERTEX_UNIFORM_VECTORS, 256],
      [GL.MAX_FRAGMENT_UNIFORM_VECTORS, 256],
      [GL.MAX_VARYING_VECTORS, 30],
      [GL.MAX_VERTEX_ATTRIBS, 16],
      [GL.ALIASED_LINE_WIDTH_RANGE, new Float32Array([1, 1])],
      [GL.ALIASED_POINT_SIZE_RANGE, new Float32Array([1, 1024])],
      [GL.SUBPIXEL_BITS, 4],
      [GL.SAMPLES, antialias ? 4 : 0],
      [GL.SAMPLE_BUFFERS, antialias ? 1 : 0],
      [GL.COMPRESSED_TEXTURE_FORMATS, new Uint32Array(0)],
      [GL.IMPLEMENTATION_COLOR_READ_FORMAT, GL.RGBA],
      [GL.IMPLEMENTATION_COLOR_READ_TYPE, GL.UNSIGNED_BYTE],
    ];
    const second = [
      [GL.MAX_3D_TEXTURE_SIZE, 2048],
      [GL.MAX_ARRAY_TEXTURE_LAYERS, 2048],
      [GL.MAX_TEXTURE_LOD_BIAS, 15],
      [GL.MAX_DRAW_BUFFERS, 8],
      [GL.MAX_COLOR_ATTACHMENTS, 8],
      [GL.MAX_SAMPLES, 4],
      [GL.MAX_ELEMENTS_VERTICES, 1048576],
      [GL.MAX_ELEMENTS_INDICES, 1048576],
      [GL.MAX_ELEMENT_INDEX, 4294967294],
      [GL.MIN_PROGRAM_TEXEL_OFFSET, -8],
      [GL.MAX_PROGRAM_TEXEL_OFFSET, 7],
      [GL.MAX_VERTEX_UNIFORM_COMPONENTS, 1024],
      [GL.MAX_FRAGMENT_UNIFORM_COMPONENTS, 1024],
      [GL.MAX_VARYING_COMPONENTS, 120],
      [GL.MAX_VERTEX_OUTPUT_COMPONENTS, 64],
      [GL.MAX_FRAGMENT_INPUT_COMPONENTS, 60],
      [GL.MAX_VERTEX_UNIFORM_BLOCKS, 14],
      [GL.MAX_FRAGMENT_UNIFORM_BLOCKS, 14],
      [GL.MAX_COMBINED_UNIFORM_BLOCKS, 28],
      [GL.MAX_UNIFORM_BUFFER_BINDINGS, 36],
      [GL.MAX_UNIFORM_BLOCK_SIZE, 65536],
      [GL.MAX_COMBINED_VERTEX_UNIFORM_COMPONENTS, 230400],
      [GL.MAX_COMBINED_FRAGMENT_UNIFORM_COMPONENTS, 230400],
      [GL.UNIFORM_BUFFER_OFFSET_ALIGNMENT, 256],
      [GL.MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS, 64],
      [GL.MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, 4],
      [GL.MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS, 4],
      [GL.MAX_SERVER_WAIT_TIMEOUT, 0],
      [GL.MAX_CLIENT_WAIT_TIMEOUT_WEBGL, 0],
    ];
    return version === 2 ? [...common, ...second] : common;
  };

  // What a new context has; arrays are copied when they are handed out.
  const state = (version, attributes) => {
    const off = [
      GL.BLEND,
      GL.CULL_FACE,
      GL.DEPTH_TEST,
      GL.POLYGON_OFFSET_FILL,
      GL.SAMPLE_ALPHA_TO_COVERAGE,
      GL.SAMPLE_COVERAGE,
      GL.SCISSOR_TEST,
      GL.STENCIL_TEST,
    ];
    const pairs = [
      ...off.map((capability) => [capability, false]),
      [GL.DITHER, true],
      [GL.ACTIVE_TEXTURE, GL.TEXTURE0],
      [GL.BLEND_COLOR, new Float32Array(4)],
      [GL.BLEND_EQUATION_RGB, GL.FUNC_ADD],
      [GL.BLEND_EQUATION_ALPHA, GL.FUNC_ADD],
      [GL.BLEND_SRC_RGB, GL.ONE],
      [GL.BLEND_DST_RGB, GL.ZERO],
      [GL.BLEND_SRC_ALPHA, GL.ONE],
      [GL.BLEND_DST_ALPHA, GL.ZERO],
      [GL.COLOR_CLEAR_VALUE, new Float32Array(4)],
      [GL.COLOR_WRITEMASK, [true, true, true, true]],
      [GL.CULL_FACE_MODE, GL.BACK],
      [GL.DEPTH_CLEAR_VALUE, 1],
      [GL.DEPTH_FUNC, GL.LESS],
      [GL.DEPTH_RANGE, new Float32Array([0, 1])],
      [GL.DEPTH_WRITEMASK, true],
      [GL.FRONT_FACE, GL.CCW],
      [GL.GENERATE_MIPMAP_HINT, GL.DONT_CARE],
      [GL.LINE_WIDTH, 1],
      [GL.PACK_ALIGNMENT, 4],
      [GL.UNPACK_ALIGNMENT, 4],
      [GL.UNPACK_FLIP_Y_WEBGL, false],
      [GL.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false],
      [GL.UNPACK_COLORSPACE_CONVERSION_WEBGL, GL.BROWSER_DEFAULT_WEBGL],
      [GL.POLYGON_OFFSET_FACTOR, 0],
      [GL.POLYGON_OFFSET_UNITS, 0],
      [GL.SAMPLE_COVERAGE_VALUE, 1],
      [GL.SAMPLE_COVERAGE_INVERT, false],
      [GL.STENCIL_CLEAR_VALUE, 0],
      [GL.RED_BITS, 8],
      [GL.GREEN_BITS, 8],
      [GL.BLUE_BITS, 8],
      [GL.ALPHA_BITS, attributes.alpha ? 8 : 0],
      [GL.DEPTH_BITS, attributes.depth ? 24 : 0],
      [GL.STENCIL_BITS, attributes.stencil ? 8 : 0],
    ];
    for (const side of ["", "BACK_"]) {
      pairs.push(
        [GL[`STENCIL_${side}FUNC`], GL.ALWAYS],
        [GL[`STENCIL_${side}REF`], 0],
        [GL[`STENCIL_${side}VALUE_MASK`], 0xffffffff],
        [GL[`STENCIL_${side}WRITEMASK`], 0xffffffff],
        [GL[`STENCIL_${side}FAIL`], GL.KEEP],
        [GL[`STENCIL_${side}PASS_DEPTH_FAIL`], GL.KEEP],
        [GL[`STENCIL_${side}PASS_DEPTH_PASS`], GL.KEEP],
      );
    }
    if (version === 2) {
      pairs.push(
        [GL.RASTERIZER_DISCARD, false],
        [GL.READ_BUFFER, GL.BACK],
        [GL.FRAGMENT_SHADER_DERIVATIVE_HINT, GL.DONT_CARE],
        [GL.TRANSFORM_FEEDBACK_ACTIVE, false],
        [GL.TRANSFORM_FEEDBACK_PAUSED, false],
      );
      for (const name of [
        "PACK_ROW_LENGTH",
        "PACK_SKIP_PIXELS",
        "PACK_SKIP_ROWS",
        "UNPACK_ROW_LENGTH",
        "UNPACK_IMAGE_HEIGHT",
        "UNPACK_SKIP_PIXELS",
        "UNPACK_SKIP_ROWS",
        "UNPACK_SKIP_IMAGES",
      ]) {
        pairs.push([GL[name], 0]);
      }
      for (let i = 0; i < 8; i++)
        pairs.push([GL.DRAW_BUFFER0 + i, i === 0 ? GL.BACK : GL.NONE]);
    }
    return pairs;
  };

  // Extension -> its constants. Those with methods get them where contexts are made.
  const BOTH = {
    EXT_color_buffer_half_float: {
      RGBA16F_EXT: 0x881a,
      RGB16F_EXT: 0x881b,
      FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE_EXT: 0x8211,
      UNSIGNED_NORMALIZED_EXT: 0x8c17,
    },
    EXT_float_blend: {},
    EXT_texture_filter_anisotropic: {
      TEXTURE_MAX_ANISOTROPY_EXT: 0x84fe,
      MAX_TEXTURE_MAX_ANISOTROPY_EXT: 0x84ff,
    },
    KHR_parallel_shader_compile: { COMPLETION_STATUS_KHR: 0x91b1 },
    OES_texture_float_linear: {},
    WEBGL_debug_renderer_info: {
      UNMASKED_VENDOR_WEBGL: 0x9245,
      UNMASKED_RENDERER_WEBGL: 0x9246,
    },
    WEBGL_debug_shaders: {},
    WEBGL_lose_context: {},
    WEBGL_multi_draw: {},
  };
  const drawBuffers = { MAX_DRAW_BUFFERS_WEBGL: 0x8824, MAX_COLOR_ATTACHMENTS_WEBGL: 0x8cdf };
  for (let i = 0; i < 16; i++) {
    drawBuffers[`COLOR_ATTACHMENT${i}_WEBGL`] = 0x8ce0 + i;
    drawBuffers[`DRAW_BUFFER${i}_WEBGL`] = 0x8825 + i;
  }
  const FIRST = {
    ANGLE_instanced_arrays: { VERTEX_ATTRIB_ARRAY_DIVISOR_ANGLE: 0x88fe },
    EXT_blend_minmax: { MIN_EXT: 0x8007, MAX_EXT: 0x8008 },
    EXT_frag_depth: {},
    EXT_sRGB: {
      SRGB_EXT: 0x8c40,
      SRGB_ALPHA_EXT: 0x8c42,
      SRGB8_ALPHA8_EXT: 0x8c43,
      FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING_EXT: 0x8210,
    },
    EXT_shader_texture_lod: {},
    OES_element_index_uint: {},
    OES_fbo_render_mipmap: {},
    OES_standard_derivatives: { FRAGMENT_SHADER_DERIVATIVE_HINT_OES: 0x8b8b },
    OES_texture_float: {},
    OES_texture_half_float: { HALF_FLOAT_OES: 0x8d61 },
    OES_texture_half_float_linear: {},
    OES_vertex_array_object: { VERTEX_ARRAY_BINDING_OES: 0x85b5 },
    WEBGL_color_buffer_float: {
      RGBA32F_EXT: 0x8814,
      FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE_EXT: 0x8211,
      UNSIGNED_NORMALIZED_EXT: 0x8c17,
    },
    WEBGL_depth_texture: { UNSIGNED_INT_24_8_WEBGL: 0x84fa },
    WEBGL_draw_buffers: drawBuffers,
  };
  const SECOND = { EXT_color_buffer_float: {}, OES_draw_buffers_indexed: {} };
  const extensions = (version) => ({
    __proto__: null,
    ...BOTH,
    ...(version === 2 ? SECOND : FIRST),
  });

  // The macros that GLSL ES 1.00 shaders test for an extension.
  const MACROS = [
    "GL_EXT_frag_depth",
    "GL_EXT_shader_texture_lod",
    "GL_OES_standard_derivatives",
    "GL_EXT_draw_buffers",
  ];

  return { limits, state, extensions, MACROS };
}
