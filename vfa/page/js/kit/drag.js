// Dragging: what a page makes of it. The mouse itself comes from outside.
(vfa) => {
  const { dom } = vfa;
  const W = EventTarget.prototype;

  const LIFE = 30_000; // ms after which a watch that nobody asks any more leaves by itself
  const KINDS = ["dragstart", "drop", "dragenter", "dragover"];
  let watch = null;
  const stop = () => {
    if (watch === null) return;
    clearTimeout(watch.timer);
    watch.observer.disconnect();
    for (const kind of KINDS) {
      W.removeEventListener.call(window, kind, watch.hear, true);
    }
    watch = null;
  };
  const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").get;
  const placeOf = (element) => {
    const { left, top } = dom.rect(element);
    const slid = element instanceof HTMLInputElement ? value.call(element) : "";
    return `${left + scrollX} ${top + scrollY} ${slid}`;
  };
  // Watches a document while something is dragged in it; `number` is what, 0 for another frame.
  vfa.watchDrag = (number) => {
    stop();
    const element = number === 0 ? null : vfa.element(number);
    const seen = { element, place: element && placeOf(element), dropped: false, mutations: 0 };
    seen.hear = (event) => {
      if (!event.isTrusted) return;
      // Whether the page forbids it is known once its own listeners have run.
      if (event.type === "dragstart") seen.start = event;
      else if (event.type === "drop") seen.dropped = true;
      else seen.last = event.type;
    };
    for (const kind of KINDS) W.addEventListener.call(window, kind, seen.hear, true);
    seen.observer = new MutationObserver((records) => (seen.mutations += records.length));
    for (const tree of vfa.trees(document)) {
      seen.observer.observe(tree, {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      });
    }
    seen.timer = setTimeout(stop, LIFE);
    watch = seen;
    return true;
  };
  // What came of it so far. `over`: nothing more is to come.
  vfa.dragState = async (over) => {
    if (over) {
      await vfa.nextFrame();
      await vfa.nextFrame();
    }
    if (watch === null) return {};
    const { element, place, start, dropped, mutations, last } = watch;
    const gone = element !== null && !dom.connected(element);
    const moved = gone || (element !== null && placeOf(element) !== place);
    if (over) stop();
    return {
      started: start !== undefined && !start.defaultPrevented,
      dropped,
      entering: last === "dragenter",
      moved,
      changed: moved || mutations > 0,
    };
  };
  vfa.stopDrag = () => {
    stop();
    return true;
  };
}
