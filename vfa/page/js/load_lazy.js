// Scrolls through the document so that lazy content loads, then returns to where it was.
// (stepMs, budgetMs) => number of steps. Bounded in time: a page that grows while it is
// scrolled is left when the budget is spent.
async (stepMs, budgetMs) => {
  const root = document.scrollingElement ?? document.documentElement;
  const before = [scrollX, scrollY];
  const started = performance.now();
  const pause = () => new Promise((resolve) => setTimeout(resolve, stepMs));
  let steps = 0;
  for (let y = 0; y < root.scrollHeight; y += Math.max(100, innerHeight)) {
    if (performance.now() - started > budgetMs) break;
    scrollTo({ left: before[0], top: y, behavior: "instant" });
    steps += 1;
    await pause();
  }
  // Pictures that began to load are given the rest of the budget, not more.
  const pending = [...document.images].filter((image) => !image.complete && image.currentSrc);
  const rest = Math.max(0, budgetMs - (performance.now() - started));
  if (pending.length) {
    const loaded = pending.map((image) => new Promise((resolve) => {
      image.addEventListener("load", resolve, { once: true });
      image.addEventListener("error", resolve, { once: true });
    }));
    await Promise.race([Promise.all(loaded), new Promise((resolve) => setTimeout(resolve, rest))]);
  }
  scrollTo({ left: before[0], top: before[1], behavior: "instant" });
  return steps;
}
