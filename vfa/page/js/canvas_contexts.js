// Says which canvases of the document have a WebGL context, of `this` and `others`: all objects
// of the two classes, as the inspector finds them. Runs in the page's world, where they live.
function (others) {
  const canvases = document.querySelectorAll("canvas");
  const index_of = new Map();
  canvases.forEach((canvas, index) => index_of.set(canvas, index));
  const found = [];
  const look = (contexts, type) => {
    for (let i = 0; i < contexts.length; i++) {
      try {
        const index = index_of.get(contexts[i].canvas);
        const attributes = contexts[i].getContextAttributes();
        if (index !== undefined) {
          found.push({ index, type, preserved: attributes?.preserveDrawingBuffer === true });
        }
      } catch {
        // A prototype object is found as well, and is no context.
      }
    }
  };
  look(this, "webgl");
  look(others, "webgl2");
  return found;
}
