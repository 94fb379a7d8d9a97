// Starts watching the document for any effect a click may have. Lives in our own world: the
// page sees neither the observers nor the state that probe_effects.js reads.
// (selector) => true
(selector) => {
  globalThis.vfaWatch?.stop();
  let clicked = document;
  for (const part of selector.split(" >>> ")) {
    clicked = (clicked?.shadowRoot ?? clicked)?.querySelector?.(part);
  }
  const effects = new Set();
  const cleanups = [];
  let wake = () => {};
  const note = (effect) => { effects.add(effect); wake(); };
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === "attributes") {
        if (record.target.getAttribute(record.attributeName) !== record.oldValue) note("attribute");
      } else note("dom");
    }
  });
  const options = {
    subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true,
  };
  observer.observe(document, options);
  const roots = [document];
  while (roots.length) {
    for (const element of roots.pop().querySelectorAll("*")) {
      if (element.shadowRoot) { observer.observe(element.shadowRoot, options); roots.push(element.shadowRoot); }
    }
  }
  const on = (target, type, effect, test = () => true) => {
    const listener = (event) => { if (test(event)) note(effect); };
    target.addEventListener(type, listener, { capture: true, passive: true });
    cleanups.push(() => target.removeEventListener(type, listener, { capture: true }));
  };
  const scroll = () => [scrollX, scrollY].join();
  const scrolledAt = scroll();
  const address = location.href;
  const bare = (url) => url.split("#", 1)[0];
  on(document, "scroll", "scroll", (event) => event.target !== document || scroll() !== scrolledAt);
  on(document, "toggle", "dom");
  on(document, "input", "dom");
  on(document, "change", "dom");
  on(document, "play", "media");
  on(document, "pause", "media");
  on(document, "volumechange", "media");
  on(document, "copy", "clipboard");
  on(document, "fullscreenchange", "dom");
  // A control that only lights up under the pointer (:hover, :active) has done nothing yet.
  const elsewhere = ({ target }) => !(clicked?.contains(target) || target.contains?.(clicked));
  on(document, "animationstart", "animation", elsewhere);
  on(document, "transitionrun", "animation", elsewhere);
  on(globalThis, "storage", "storage");
  on(globalThis, "hashchange", "fragment");
  const storage = () => {
    try {
      const size = (area) => Object.entries(area).join("\n");
      return size(localStorage) + "\n\n" + size(sessionStorage) + document.cookie;
    } catch { return ""; }
  };
  const stored = storage();
  const selected = String(getSelection() ?? "");
  const focused = document.activeElement;
  globalThis.vfaWatch = {
    // The clicked element takes focus by itself: that alone is no effect.
    effects: () => {
      const found = new Set(effects);
      const active = document.activeElement;
      if (active !== focused && active !== document.body && !clicked?.contains(active) && !active?.contains(clicked)) found.add("focus");
      if (storage() !== stored) found.add("storage");
      if (location.href !== address) found.add(bare(location.href) === bare(address) ? "fragment" : "navigation");
      if (String(getSelection() ?? "") !== selected) found.add("clipboard");
      return [...found];
    },
    next: (ms) => new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => { clearTimeout(timer); setTimeout(resolve, 30); };
      if (effects.size) wake();
    }),
    stop: () => { observer.disconnect(); cleanups.forEach((cleanup) => cleanup()); },
  };
  return true;
}
