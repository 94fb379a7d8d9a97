// Says what WebGL a page really gets, by contexts of our own: the stand-in is not in this
// world. Each is made alone and let go of at once, since a page may only have so many.
(token) => {
  const SIDE = 32;
  const SHOWN = 20; // extensions
  const shim = (() => {
    let answer = null;
    const hear = (event) => {
      answer = event.detail;
    };
    performance.addEventListener(`${token}!`, hear);
    performance.dispatchEvent(new CustomEvent(`${token}?`, { detail: { clear: false } }));
    performance.removeEventListener(`${token}!`, hear);
    return (
      answer && {
        mode: answer.mode,
        mockedContexts: answer.contexts.mocked,
        about: answer.about,
      }
    );
  })();

  const describe = (gl) => {
    const names = gl.getSupportedExtensions() ?? [];
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return {
      vendor: gl.getParameter(gl.VENDOR),
      renderer: gl.getParameter(gl.RENDERER),
      version: gl.getParameter(gl.VERSION),
      maxTextureSize: gl.getParameter(gl.MAX_TEXTURE_SIZE),
      maxRenderbufferSize: gl.getParameter(gl.MAX_RENDERBUFFER_SIZE),
      extensionCount: names.length,
      extensions: names.slice(0, SHOWN),
      unmasked: info && {
        vendor: gl.getParameter(info.UNMASKED_VENDOR_WEBGL),
        renderer: gl.getParameter(info.UNMASKED_RENDERER_WEBGL),
      },
    };
  };
  const release = (gl) => gl.getExtension("WEBGL_lose_context")?.loseContext();
  const probe = (type) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    let error = null;
    canvas.addEventListener("webglcontextcreationerror", (event) => {
      error = event.statusMessage || null;
    });
    let gl = null;
    try {
      gl = canvas.getContext(type);
    } catch (thrown) {
      error = String(thrown);
    }
    if (gl === null) return { ok: false, error };
    try {
      return { ok: true, mock: false, ...describe(gl) };
    } catch (thrown) {
      return { ok: true, mock: false, probeError: String(thrown) };
    } finally {
      release(gl);
    }
  };
  const probe_offscreen = (type) => {
    if (typeof OffscreenCanvas === "undefined") return { supported: false };
    try {
      const gl = new OffscreenCanvas(SIDE, SIDE).getContext(type);
      if (gl !== null) release(gl);
      return { supported: true, ok: gl !== null, mock: false };
    } catch (thrown) {
      return { supported: true, ok: false, mock: false, error: String(thrown) };
    }
  };
  return {
    webgl: probe("webgl"),
    webgl2: probe("webgl2"),
    offscreen: { webgl: probe_offscreen("webgl"), webgl2: probe_offscreen("webgl2") },
    interfaces: {
      WebGLRenderingContext: typeof WebGLRenderingContext === "function",
      WebGL2RenderingContext: typeof WebGL2RenderingContext === "function",
      OffscreenCanvas: typeof OffscreenCanvas === "function",
      WebGPUNavigator: "gpu" in navigator,
    },
    shim,
  };
}
