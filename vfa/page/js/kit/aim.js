// Pointing: where the pointer must go for an element to get it, and a guard that makes sure.
//
// `vfa.aim` waits until an element can be pointed at, brings it into view if need be, chooses a
// point and arms the guard. The guard sees the gesture before the page does and judges it by
// where it really arrives: at anything else than the element, the page never hears of it.
(vfa) => {
  const { dom } = vfa;
  const W = EventTarget.prototype; // an element with the id "addEventListener" hides window's

  // What has a behaviour of its own when clicked.
  const CONTROLS =
    "a[href], button, input, select, textarea, summary, label, [role=button], [role=link], " +
    "[role=checkbox], [role=radio], [role=switch], [role=tab], [role=option], [role^=menuitem]";
  const labels = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "labels").get;
  const control = Object.getOwnPropertyDescriptor(HTMLLabelElement.prototype, "control").get;

  const closest = (element, selector) => {
    for (let node = element; node !== null; node = vfa.up(node)) {
      if (dom.matches(node, selector)) return node;
    }
    return null;
  };

  // --- boxes and points --------------------------------------------------------------------

  const MOST_BOXES = 20; // looked at of an element: the lines of a long link
  const MOST_INNER = 50; // elements looked at for something that overflows an empty box
  const sized = (box) => box.width > 0 && box.height > 0;
  // The boxes an element can be hit at, the largest first; those of its content where it has
  // none itself: a link around a floating picture is itself empty.
  const boxesOf = (element) => {
    let boxes = [...dom.rects(element)].filter(sized);
    if (boxes.length === 0) {
      for (const inner of [...dom.all(element, "*")].slice(0, MOST_INNER)) {
        if (vfa.hidden(inner) === "") boxes.push(...[...dom.rects(inner)].filter(sized));
      }
    }
    boxes = boxes.slice(0, MOST_BOXES);
    return boxes.sort((one, other) => other.width * other.height - one.width * one.height);
  };
  const hiddenBecause = (element) => {
    const why = vfa.hidden(element);
    return why === "it has no size" && boxesOf(element).length > 0 ? "" : why;
  };

  // What is in view of a box: [left, top, width, height].
  const inView = (box) => {
    const left = Math.max(box.left, 0);
    const top = Math.max(box.top, 0);
    const width = Math.min(box.right, innerWidth) - left;
    const height = Math.min(box.bottom, innerHeight) - top;
    return width > 0 && height > 0 ? [left, top, width, height] : null;
  };
  // Where in a box to try, as shares of its sides: the middle, then around it, then a grid.
  const PLACES = [
    [0.5, 0.5],
    [0.25, 0.25],
    [0.75, 0.25],
    [0.25, 0.75],
    [0.75, 0.75],
  ];
  for (const y of [0.08, 0.3, 0.5, 0.7, 0.92]) {
    for (const x of [0.06, 0.2, 0.35, 0.5, 0.65, 0.8, 0.94]) PLACES.push([x, y]);
  }
  const EDGE = 3; // px from the sides of a box that is covered but for a strip
  // The points to try in a box.
  const pointsIn = function* (left, top, width, height) {
    for (const [across, down] of PLACES) yield [whole(left, width, across), whole(top, height, down)];
    const [dx, dy] = [Math.min(EDGE, width / 2), Math.min(EDGE, height / 2)];
    for (const x of [left + dx, left + width / 2, left + width - dx]) {
      for (const y of [top + dy, top + height / 2, top + height - dy]) yield [x, y];
    }
  };
  const whole = (start, length, share) => {
    const exact = start + length * share;
    const rounded = Math.round(exact);
    return rounded > start && rounded < start + length ? rounded : exact;
  };

  // --- who may get the pointer -------------------------------------------------------------

  // Whether a click on `hit` inside a label is passed on to the label's control.
  const passesOn = (label, hit, element) => {
    for (let node = hit; node !== null; node = vfa.up(node)) {
      if (node === label || node === element) return true;
      if (dom.matches(node, CONTROLS)) return false; // a link in a label is no part of it
    }
    return false;
  };
  const labelsOf = (element) =>
    element instanceof HTMLInputElement ? [...(labels.call(element) ?? [])] : [];
  // Whether a pointer that reaches `hit` does to `element` what a user means by it.
  const accepts = (element, hit) => {
    if (hit === null) return false;
    if (vfa.inside(element, hit)) return true;
    if (labelsOf(element).some((label) => passesOn(label, hit, element))) return true;
    // Text or an icon of a button stands for the button.
    const holder = closest(element, CONTROLS);
    return holder !== null && holder !== element && vfa.inside(holder, hit);
  };
  // What is to be seen of an element: itself, or the label that stands in for a hidden input.
  const shown = (element) => {
    const why = hiddenBecause(element);
    if (why === "") return { goal: element, why };
    const label = labelsOf(element).find((each) => hiddenBecause(each) === "");
    return label === undefined ? { goal: element, why } : { goal: label, why: "" };
  };

  const isFrame = (element) =>
    element instanceof HTMLIFrameElement ||
    element instanceof HTMLFrameElement ||
    element instanceof HTMLObjectElement ||
    element instanceof HTMLEmbedElement;
  // A point in view at which `element` gets the pointer: {x, y}; or {covered} with what is there
  // instead, "" if nothing of it is in view. `inFrame`: the frame's document gets the events.
  const pointOf = (element, goal) => {
    let covered = "";
    for (const box of boxesOf(goal)) {
      const visible = inView(box);
      if (visible === null) continue;
      for (const [x, y] of pointsIn(...visible)) {
        const hit = vfa.at(x, y);
        if (accepts(element, hit)) return { x, y, inFrame: isFrame(hit) };
        if (covered === "" && hit !== null) covered = whyNot(element, goal, hit);
      }
    }
    return { covered };
  };
  const whyNot = (element, goal, hit) => {
    if (closest(goal, "[inert]") !== null) return "it is inert";
    if (getComputedStyle(goal).pointerEvents === "none") {
      return `it has pointer-events: none; it is covered by ${vfa.describe(hit)}`;
    }
    return `covered by ${vfa.describe(hit)}`;
  };
  const middle = (goal) => {
    const box = boxesOf(goal)[0] ?? dom.rect(goal);
    const [left, top, width, height] = inView(box) ?? [box.left, box.top, box.width, box.height];
    return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
  };

  // --- waiting until it can be pointed at --------------------------------------------------

  const disabledBecause = (element) => {
    const field = closest(element, "button, input, select, textarea, option, optgroup");
    if (field !== null && dom.matches(field, ":disabled")) {
      const held = dom.closest(field, "fieldset:disabled");
      return held !== null && !dom.hasAttribute(field, "disabled")
        ? "it is in a disabled fieldset"
        : "it is disabled";
    }
    const label = closest(element, "label");
    const labelled = label === null ? null : control.call(label);
    if (labelled !== null && dom.matches(labelled, ":disabled")) {
      return "the field it is the label of is disabled";
    }
    const off = closest(element, '[aria-disabled="true" i]');
    if (off === null) return "";
    return off === element
      ? "it is disabled (aria-disabled)"
      : `${vfa.describe(off)} around it is disabled (aria-disabled)`;
  };
  const isAnimated = (element) => {
    for (let node = element; node !== null; node = vfa.up(node)) {
      if (dom.animations(node).some((each) => each.playState === "running")) return true;
    }
    return false;
  };
  const placeOf = (element) => {
    const { left, top, width, height } = dom.rect(element);
    return `${left} ${top} ${width} ${height}`;
  };

  const ALIGNMENTS = ["center", "start", "end", "nearest"];
  const scrollTo = (element, block) =>
    Element.prototype.scrollIntoView.call(element, {
      block,
      inline: block === "nearest" ? "nearest" : "center",
      behavior: "instant",
    });
  const TOUR = 700; // ms before it is tried again to find a scroll position without a cover
  const PATIENCE = 2000; // ms that an element which never stops moving is waited for

  // Looks once. Answers with a point, or with the trouble: it goes on as `memory` says.
  const look = (element, how, memory) => {
    const { goal, why } = shown(element);
    if (why !== "" && element instanceof HTMLOptionElement) {
      return { trouble: "hidden", why: "it is in a list: use browser_select_option", final: true };
    }
    if (why !== "") return { trouble: "hidden", why };
    const off = how.enabled && !how.force ? disabledBecause(element) : "";
    if (off !== "") return { trouble: "disabled", why: off };
    const now = performance.now();
    if (!how.force && now - memory.began < PATIENCE && isAnimated(goal)) {
      const place = placeOf(goal);
      const still = place === memory.place;
      memory.place = place;
      if (!still) return { trouble: "moving", why: "it is moving" };
    }
    let point = pointOf(element, goal);
    if (point.x === undefined && !(now - memory.toured < TOUR)) {
      memory.toured = now;
      for (const block of ALIGNMENTS) {
        scrollTo(goal, block);
        memory.scrolled = true;
        point = pointOf(element, goal);
        if (point.x !== undefined) break;
      }
      if (point.x === undefined) {
        scrollTo(goal, "center");
        point = pointOf(element, goal);
      }
    }
    if (point.x === undefined) {
      const clipped = point.covered === "" ? "no part of it can be scrolled into view" : "";
      const final = how.hover || how.force; // it will do
      return { trouble: "covered", why: point.covered || clipped, final, ...middle(goal) };
    }
    // Headers stick and lists load when a page has scrolled: look again once they have.
    if (memory.scrolled) {
      memory.scrolled = false;
      return { trouble: "scrolled", why: "it was being scrolled to", ...point };
    }
    return point;
  };

  // The next animation frame; a hidden tab has none.
  const SLOW = 100; // ms
  const nextFrame = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => resolve());
      setTimeout(resolve, SLOW);
    });
  vfa.nextFrame = nextFrame;

  // The element of {steps} or {number}, with the number of matches; null if it is not there.
  const wanted = (what) => {
    if (what.number) {
      const element = vfa.element(what.number);
      return element === null ? null : { element, matches: what.matches };
    }
    const found = vfa.query(what.steps);
    return found === null || found.element === undefined || found.rest ? null : found;
  };
  vfa.wanted = wanted;

  // Aims at an element. `how`: {enabled, force, hover, guard}. Answers within `budget` ms with
  // {missing} where nothing matches, else {number, matches, x, y, trouble, why, guard, lens}:
  // the point, the reason why there is none, and what the guard's verdict is asked with.
  vfa.aim = async (what, how, budget) => {
    const began = performance.now();
    const memory = { began, toured: -Infinity, place: "", scrolled: false };
    let found = null;
    let seen = {};
    for (;;) {
      const again = wanted(what);
      if (again === null) return { missing: true, was: found !== null };
      found = again;
      seen = look(found.element, how, memory);
      if (seen.trouble === undefined) break;
      if (seen.final || performance.now() - began >= budget) break;
      await nextFrame();
    }
    if (seen.trouble === "scrolled") delete seen.trouble; // out of time, but it has a point
    const { element, matches } = found;
    const armed = how.guard && seen.trouble === undefined && !seen.inFrame;
    return {
      number: vfa.number(element),
      matches,
      ...seen,
      lens: lens(),
      guard: armed ? arm((hit) => (accepts(element, hit) ? "" : vfa.describe(hit))) : 0,
    };
  };

  // Where in this document's viewport the part begins that a pinch has zoomed in on: input
  // counts from there.
  const lens = () => {
    const view = visualViewport;
    return view === null ? [0, 0] : [view.offsetLeft, view.offsetTop];
  };

  // --- the guard ---------------------------------------------------------------------------

  const GESTURE = [
    "pointerdown",
    "mousedown",
    "pointerup",
    "mouseup",
    "click",
    "auxclick",
    "dblclick",
    "contextmenu",
  ];
  const LIFE = 5000; // ms after which a guard that nobody asks any more leaves by itself
  let last = 0;
  let posted = null;
  const disarm = () => {
    if (posted === null) return;
    clearTimeout(posted.timer);
    for (const kind of GESTURE) W.removeEventListener.call(window, kind, posted.hear, true);
    posted = null;
  };
  // Posts a guard; `judge` says of the element that a gesture reaches what it is, "" if right.
  const arm = (judge) => {
    disarm();
    const guard = { id: (last += 1), wrong: "", seen: false };
    guard.hear = (event) => {
      if (!event.isTrusted) return;
      if (!guard.seen) {
        guard.seen = true;
        const outer = event.composedPath()[0];
        const hit = outer instanceof Element ? outer : null;
        guard.wrong = judge(hit);
        // Of a closed shadow tree only the host is named.
        if (guard.wrong !== "") {
          const inner = vfa.at(event.clientX, event.clientY);
          if (inner !== null && hit !== null && vfa.inside(hit, inner)) guard.wrong = judge(inner);
        }
      }
      if (guard.wrong === "") return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    for (const kind of GESTURE) {
      W.addEventListener.call(window, kind, guard.hear, { capture: true, passive: false });
    }
    guard.timer = setTimeout(disarm, LIFE);
    posted = guard;
    return guard.id;
  };
  vfa.disarm = () => {
    disarm();
    return true;
  };
  // Says what became of a gesture, two animation frames later: {seen, wrong}; {lost} where the
  // document is not the one that was guarded.
  vfa.landed = async (id) => {
    const guard = posted;
    const verdict =
      guard === null || guard.id !== id ? { lost: true } : { seen: guard.seen, wrong: guard.wrong };
    disarm();
    await nextFrame();
    await nextFrame();
    return verdict;
  };
  // In a document around the aimed one: says whether the frame's element gets the pointer at
  // {x, y}, and posts a guard that lets nothing else of this document have it.
  vfa.fence = (number, x, y) => {
    const element = vfa.element(number);
    if (element === null) return { gone: true };
    const hit = vfa.at(x, y);
    if (hit === null || !vfa.inside(element, hit)) {
      return { covered: hit === null ? "" : `covered by ${vfa.describe(hit)}`, lens: lens() };
    }
    return { guard: arm((other) => (other === null ? "the page" : vfa.describe(other))), lens: lens() };
  };

  // --- after it ----------------------------------------------------------------------------

  // Whether the pointer is over an element, two animation frames from now.
  vfa.hovered = async (number) => {
    await nextFrame();
    await nextFrame();
    const element = vfa.element(number);
    return element !== null && dom.matches(element, ":hover");
  };
  // Clicks without a pointer, for what is covered for good.
  vfa.clickWithoutPointer = (number) => {
    const element = vfa.element(number);
    if (element === null) return false;
    if (element instanceof HTMLElement) HTMLElement.prototype.click.call(element);
    else element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true }));
    return true;
  };
}
