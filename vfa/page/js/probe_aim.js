// Brings the element into view and says where to click it, or why that cannot be done.
// (selector) => {x, y} in viewport CSS pixels, or {problem}.
// " >>> " in a selector enters an open shadow root.
async (selector) => {
  let scope = document;
  let element = null;
  for (const part of selector.split(" >>> ")) {
    element = scope.querySelector(part);
    if (element === null) return { problem: "gone" };
    scope = element.shadowRoot;
  }
  const box = element.getBoundingClientRect();
  if (box.top < 0 || box.left < 0 || box.bottom > innerHeight || box.right > innerWidth) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }
  if (element.matches(":disabled") || element.getAttribute("aria-disabled") === "true") {
    return { problem: "disabled" };
  }
  const deepest = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit?.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (inner === null || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const inside = (hit) => {
    for (let at = hit; at; at = at.parentNode ?? at.host) if (at === element) return true;
    return false;
  };
  for (const rect of element.getClientRects()) {
    for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]]) {
      const x = rect.left + rect.width * fx;
      const y = rect.top + rect.height * fy;
      if (rect.width > 0 && rect.height > 0 && inside(deepest(x, y))) return { x, y };
    }
  }
  return { problem: "covered" };
}
