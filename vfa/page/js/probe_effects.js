// Waits until the watch saw an effect, or `ms` passed; returns the names of all effects.
// (selector, ms) => string[]
async (selector, ms) => {
  const watch = globalThis.vfaWatch;
  if (!watch) return ["navigation"]; // our world went with the document that was clicked
  let clicked = document;
  for (const part of selector.split(" >>> ")) clicked = (clicked?.shadowRoot ?? clicked)?.querySelector?.(part);
  if (!watch.effects(clicked).length) await watch.next(ms);
  return watch.effects(clicked);
}
