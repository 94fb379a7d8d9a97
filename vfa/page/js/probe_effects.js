// Waits until the watch saw an effect, or `ms` passed; returns the names of all effects.
// (ms) => string[]
async (ms) => {
  const watch = globalThis.vfaWatch;
  if (!watch) return ["navigation"]; // our world went with the document that was clicked
  if (!watch.effects().length) await watch.next(ms);
  return watch.effects();
}
