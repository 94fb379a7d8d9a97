// Describes the canvases of a document and of its open shadow trees: sizes, place, and what
// their pixels look like. Reads only: no context is made, nothing is added to the page.
//
// A canvas is scaled into a small one and its colours are counted. If there is one colour only,
// it is looked at again at full size, so that a single dot is not overlooked; and if nothing at
// all is there, once more within an animation frame after the page's own callbacks, since a
// WebGL canvas that does not preserve its drawing buffer is empty at any other time.
async (limit, token) => {
  const SIDE = 64; // of the sample
  const COLOURS = 64; // counted
  const DATA_URL_PIXELS = 512 * 512; // a larger canvas is not encoded just to be measured
  const FRAME_BOUND = 500; // ms; a hidden tab has no animation frames
  const STRIP = 1 << 20; // pixels looked at in one go
  let exact = 16_000_000; // pixels that all second looks together may cost

  const all = [];
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node instanceof HTMLCanvasElement)
        all.push({ canvas: node, light: root === document });
      const inner = described(node);
      if (inner !== null) visit(inner);
    }
  };
  const shadow = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot").get;
  const described = (node) => shadow.call(node);
  visit(document);

  const scratch = (width, height) =>
    new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });

  // The only colour of a canvas as a number; undefined: it has several, null: not looked at.
  const only_colour = (canvas, first) => {
    const { width, height } = canvas;
    if (width * height > exact) return null;
    exact -= width * height;
    const rows = Math.max(1, Math.min(height, Math.floor(STRIP / width)));
    const brush = scratch(width, rows);
    for (let top = 0; top < height; top += rows) {
      brush.clearRect(0, 0, width, rows);
      brush.drawImage(canvas, 0, top, width, rows, 0, 0, width, rows);
      const seen = Math.min(rows, height - top);
      const pixels = new Uint32Array(brush.getImageData(0, 0, width, seen).data.buffer);
      first ??= pixels[0];
      for (const pixel of pixels) if (pixel !== first) return undefined;
    }
    return first;
  };
  const sample = (canvas) => {
    const width = Math.min(canvas.width, SIDE);
    const height = Math.min(canvas.height, SIDE);
    const brush = scratch(width, height);
    brush.drawImage(canvas, 0, 0, width, height);
    const pixels = new Uint32Array(brush.getImageData(0, 0, width, height).data.buffer);
    const colours = new Set();
    let visible = 0;
    for (const pixel of pixels) {
      if (pixel >>> 24 !== 0) visible += 1; // little-endian: alpha comes last
      if (colours.size < COLOURS) colours.add(pixel);
    }
    let unique = colours.size;
    let colour = null;
    if (unique === 1) {
      const [first] = colours;
      const found = only_colour(
        canvas,
        width === canvas.width && height === canvas.height ? first : null,
      );
      if (found === undefined) unique = 2;
      else colour = found ?? first;
    }
    return {
      sampledWidth: width,
      sampledHeight: height,
      uniqueColors: unique,
      nonTransparentRatio: Math.round((1000 * visible) / pixels.length) / 1000,
      blank: colour !== null && colour >>> 24 === 0,
      color:
        colour === null
          ? null
          : [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255, colour >>> 24],
    };
  };
  const looked_at = (canvas) => {
    try {
      return sample(canvas);
    } catch (thrown) {
      return { error: String(thrown), tainted: thrown.name === "SecurityError" };
    }
  };
  // An unknown type makes no context, but tells whether control went to an OffscreenCanvas.
  const transferred = (canvas) => {
    try {
      canvas.getContext("none of these");
      return false;
    } catch {
      return true;
    }
  };
  const mock_of = (canvas) => {
    let answer = null;
    const hear = (event) => {
      answer = event.detail;
    };
    performance.addEventListener(`${token}!`, hear);
    canvas.dispatchEvent(new Event(`${token}?`));
    performance.removeEventListener(`${token}!`, hear);
    return typeof answer === "string" ? answer : null;
  };
  const encoded = (canvas) => {
    if (canvas.width * canvas.height > DATA_URL_PIXELS) return { dataUrlLength: null };
    try {
      return { dataUrlLength: canvas.toDataURL().length };
    } catch (thrown) {
      return { dataUrlError: String(thrown) };
    }
  };

  const entries = all.slice(0, limit).map(({ canvas, light }) => {
    const { width, height } = canvas;
    const box = canvas.getBoundingClientRect();
    return {
      canvas,
      light,
      id: canvas.id || null,
      className: canvas.className || null,
      attributeSize: { width, height },
      cssSize: { width: Math.round(box.width), height: Math.round(box.height) },
      position: { x: Math.round(box.x), y: Math.round(box.y) },
      mockContextType: mock_of(canvas),
      transferred: transferred(canvas),
      pixels: width === 0 || height === 0 ? null : looked_at(canvas),
      inFrame: false,
      ...encoded(canvas),
    };
  });

  const empty = entries.filter(
    (entry) => entry.pixels?.blank && entry.mockContextType === null,
  );
  if (empty.length > 0) {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const task = () =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(port1.close());
        port2.postMessage(null);
      });
    const bound = new Promise((resolve) => setTimeout(resolve, FRAME_BOUND));
    // What a page asks for within a frame comes before what is asked for after it.
    const after_drawing = (async () => {
      await frame();
      await task();
      await frame();
      for (const entry of empty) {
        const again = looked_at(entry.canvas);
        if (again.blank !== false) continue;
        entry.pixels = again;
        entry.inFrame = true;
      }
    })();
    await Promise.race([after_drawing, bound]);
  }
  return { count: all.length, canvases: entries.map(({ canvas, ...entry }) => entry) };
}
