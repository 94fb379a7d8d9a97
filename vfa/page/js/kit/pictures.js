// For pictures: bringing an element into view and letting it come to rest; walking through the
// document so that lazy content loads; and putting everything back afterwards.
(vfa) => {
  const { dom } = vfa;
  const FRAME = 100; // ms after which a frame is not waited for: a hidden tab draws none
  const frame = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, FRAME);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  const go = (left, top) => scrollTo({ left, top, behavior: "instant" });

  // --- an element ------------------------------------------------------------------------

  const LOOK = 300; // ms that an observer may take
  const seenShare = (element) =>
    new Promise((resolve) => {
      const observer = new IntersectionObserver((entries) => done(entries[0].intersectionRatio));
      const timer = setTimeout(() => done(0), LOOK);
      const done = (share) => {
        observer.disconnect();
        clearTimeout(timer);
        resolve(share);
      };
      observer.observe(element);
    });
  // Scrolls as little as needed, waits until the element has the same box in two frames, and
  // says why nothing of it can be seen, if so: {gone}, {hidden}, or {still}.
  vfa.expose = async (number, budget) => {
    const element = vfa.element(number);
    if (element === null) return { gone: true };
    if ((await seenShare(element)) < 0.99) vfa.reveal(number);
    const deadline = performance.now() + budget;
    let before = "";
    let still = false;
    while (!still) {
      const now = vfa.box(number).join();
      if (now === "") return { gone: true };
      still = now === before;
      before = now;
      if (still || performance.now() > deadline) break;
      await frame();
    }
    const hidden = vfa.hidden(element);
    return hidden === "" ? { still } : { hidden };
  };

  // --- the whole document ----------------------------------------------------------------

  // Scroll bars that were hidden from outside come and go with the next layout that asks for
  // them. A sheet that is there for the length of this function makes it ask; no script of the
  // page runs in between.
  const sheets = Object.getOwnPropertyDescriptor(Document.prototype, "adoptedStyleSheets");
  const askForScrollBars = () => {
    const root = dom.documentElement(document);
    if (root === null) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":root{overflow:hidden!important} *{scrollbar-width:none!important}");
    const before = [...sheets.get.call(document)];
    try {
      sheets.set.call(document, [...before, sheet]);
      dom.rect(root);
    } finally {
      sheets.set.call(document, before);
      dom.rect(root);
    }
  };

  const E = Element.prototype;
  const read = (element, name) => Object.getOwnPropertyDescriptor(E, name).get.call(element);
  const scrollDown = (element, top) => E.scrollTo.call(element, { top, behavior: "instant" });
  const MAX_INNER = 12; // scrolled areas inside the page that are walked through
  const innerScrollers = () => {
    const found = [];
    for (const element of vfa.every(document)) {
      const high = read(element, "clientHeight");
      if (high < 150 || read(element, "scrollHeight") <= high + 100) continue;
      if (element === dom.scroller(document)) continue;
      if (!/auto|scroll/.test(getComputedStyle(element).overflowY)) continue;
      if (found.push(element) >= MAX_INNER) break;
    }
    return found;
  };
  const ARRIVAL = 150; // ms
  const GROWTH = 3; // times its first height that a page is followed to
  const walk = async (deadline) => {
    const root = dom.scroller(document) ?? dom.documentElement(document);
    if (root === null) return 0;
    const over = () => performance.now() > deadline;
    const limit = GROWTH * root.scrollHeight;
    let steps = 0;
    const [right, down] = [Math.max(100, innerWidth), Math.max(100, innerHeight)];
    for (let y = 0; y < Math.min(root.scrollHeight, limit) && !over(); y += down) {
      for (let x = 0; x < root.scrollWidth && !over(); x += right) {
        go(x, y);
        steps += 1;
        await frame(); // observers are told in this frame, after the callback
      }
    }
    for (const element of innerScrollers()) {
      const before = read(element, "scrollTop");
      const step = Math.max(100, read(element, "clientHeight"));
      vfa.reveal(vfa.number(element));
      for (let y = 0; y < read(element, "scrollHeight") && !over(); y += step) {
        scrollDown(element, y);
        steps += 1;
        await frame();
      }
      scrollDown(element, before);
    }
    // What observers fetched has a moment to arrive.
    if (steps > 1 && !over()) await new Promise((resolve) => setTimeout(resolve, ARRIVAL));
    return steps;
  };
  const loading = () =>
    [...dom.all(document, "img")].filter((image) => !image.complete && image.currentSrc !== "");
  const loaded = (deadline) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
      const each = loading().map(
        (image) =>
          new Promise((done) => {
            image.addEventListener("load", done, { once: true });
            image.addEventListener("error", done, { once: true });
          }),
      );
      Promise.all(each).then(() => {
        clearTimeout(timer);
        resolve();
      });
    });

  let before = null; // how the document was before it was captured beyond the viewport
  // Gets the document ready: no scroll bars, and with a budget (ms) what is lazy is loaded and
  // the document is at its beginning, where what is fixed or sticky belongs.
  vfa.beginBeyond = async (budget) => {
    before ??= { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight };
    askForScrollBars();
    let steps = 0;
    if (budget >= 0) {
      const deadline = performance.now() + budget;
      if (budget > 0) {
        steps = await walk(deadline);
        await loaded(deadline);
      }
      go(0, 0);
    }
    await frame();
    await frame();
    return steps;
  };
  const BACK = 800; // ms
  const CALM = 3; // frames in a row in which everything is as it was
  // Puts the document back. Chromium gives the viewport its size back only after its answer,
  // and may clamp the scroll position while it has another one.
  vfa.endBeyond = async () => {
    if (before === null) return false;
    const { x, y, width, height } = before;
    const deadline = performance.now() + BACK;
    const isSize = () => innerWidth === width && innerHeight === height;
    const isThere = () => Math.abs(scrollX - x) < 1 && Math.abs(scrollY - y) < 1;
    for (let calm = 0; calm < CALM && performance.now() < deadline; ) {
      await frame();
      const good = isSize() && isThere();
      calm = good ? calm + 1 : 0;
      if (isSize() && !good) {
        askForScrollBars();
        go(x, y);
      }
    }
    askForScrollBars();
    if (!isThere()) go(x, y);
    before = null;
    return true;
  };
}
