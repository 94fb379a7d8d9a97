// Scrolling: of the window, or of the part of the page that scrolls in its place.
(vfa) => {
  const { dom } = vfa;
  const E = Element.prototype;
  const get = (prototype, name) => {
    const getter = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (element) => getter.call(element);
  };
  const [left, top] = [get(E, "scrollLeft"), get(E, "scrollTop")];
  const [width, height] = [get(E, "scrollWidth"), get(E, "scrollHeight")];
  const [innerW, innerH] = [get(E, "clientWidth"), get(E, "clientHeight")];
  const scrollBy = (element, x, y) =>
    E.scrollBy.call(element, { left: x, top: y, behavior: "instant" });
  const scrollTo = (element, x, y) =>
    E.scrollTo.call(element, { left: x, top: y, behavior: "instant" });

  const canScroll = (element, axis) =>
    axis === "x" ? width(element) > innerW(element) : height(element) > innerH(element);
  const scrolls = (element, axis) => {
    if (!canScroll(element, axis)) return false;
    if (element === windowScroller()) return true;
    const style = getComputedStyle(element);
    const how = axis === "x" ? style.overflowX : style.overflowY;
    return how === "auto" || how === "scroll" || how === "hidden";
  };
  const windowScroller = () => dom.scroller(document) ?? dom.documentElement(document);
  // A page may forbid its window to scroll, as it does behind a dialog of its own.
  const windowScrolls = (axis) => {
    const root = windowScroller();
    if (root === null || !canScroll(root, axis)) return false;
    const shut = (element) => {
      if (element === null) return false;
      const style = getComputedStyle(element);
      const how = axis === "x" ? style.overflowX : style.overflowY;
      return how === "hidden" || how === "clip";
    };
    return !shut(dom.documentElement(document)) && !shut(dom.body(document));
  };
  const MOST = 5000; // elements looked at for the largest scroller
  // What a wheel in the middle of the page would scroll; failing that, the largest scroller.
  const mainScroller = (axis) => {
    if (windowScrolls(axis)) return windowScroller();
    for (let node = vfa.at(innerWidth / 2, innerHeight / 2); node !== null; node = vfa.up(node)) {
      if (node !== windowScroller() && scrollsByHand(node, axis)) return node;
    }
    let [largest, area, count] = [null, 0, 0];
    for (const element of vfa.every(document)) {
      if ((count += 1) > MOST) break;
      if (element === windowScroller() || !scrollsByHand(element, axis)) continue;
      const size = innerW(element) * innerH(element);
      if (size > area && vfa.hidden(element) === "") [largest, area] = [element, size];
    }
    return largest ?? windowScroller();
  };
  const scrollsByHand = (element, axis) => {
    if (!canScroll(element, axis) || dom.name(element) === "textarea") return false;
    const style = getComputedStyle(element);
    const how = axis === "x" ? style.overflowX : style.overflowY;
    return how === "auto" || how === "scroll";
  };
  // The scroller that is meant by an element: itself, or the one it is in.
  const scrollerAt = (element, axis) => {
    for (let node = element; node !== null; node = vfa.up(node)) {
      if (scrolls(node, axis)) return node;
    }
    return windowScroller();
  };
  const chosen = (number, axis) => {
    if (number === 0) return mainScroller(axis);
    const element = vfa.element(number);
    return element === null ? null : scrollerAt(element, axis);
  };
  const told = (element, before) => {
    const [x, y] = [left(element), top(element)];
    const isWindow = element === windowScroller();
    return {
      x: Math.round(x),
      y: Math.round(y),
      movedX: Math.round(x - before[0]),
      movedY: Math.round(y - before[1]),
      scroller: isWindow ? "window" : vfa.describe(element),
      atEnd: y + innerH(element) >= height(element) - 1,
    };
  };

  // Scrolls by `pixels` in a direction, 80% of what is in view where that is 0; "top" and
  // "bottom" go all the way. `number`: the scroller, or what is in it; 0: the main one.
  vfa.scrollTowards = (number, direction, pixels) => {
    const axis = direction === "left" || direction === "right" ? "x" : "y";
    const element = chosen(number, axis);
    if (element === null) return { gone: true };
    const before = [left(element), top(element)];
    const isWindow = element === windowScroller();
    const view = isWindow ? [innerWidth, innerHeight] : [innerW(element), innerH(element)];
    const step = Math.round(pixels || 0.8 * view[axis === "x" ? 0 : 1]);
    if (direction === "top") scrollTo(element, before[0], 0);
    else if (direction === "bottom") scrollTo(element, before[0], height(element));
    else if (direction === "up") scrollBy(element, 0, -step);
    else if (direction === "down") scrollBy(element, 0, step);
    else scrollBy(element, direction === "left" ? -step : step, 0);
    return told(element, before);
  };
  // Scrolls to a position; an axis that is null stays as it is.
  vfa.scrollToPosition = (number, x, y) => {
    const element = number === 0 ? windowScroller() : chosen(number, y === null ? "x" : "y");
    if (element === null) return { gone: true };
    const before = [left(element), top(element)];
    scrollTo(element, x ?? before[0], y ?? before[1]);
    return told(element, before);
  };
  // Where the window is, after two animation frames.
  vfa.scrolled = async () => {
    await vfa.nextFrame();
    await vfa.nextFrame();
    return [Math.round(scrollX), Math.round(scrollY), innerWidth, innerHeight];
  };
}
