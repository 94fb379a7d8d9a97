// The core of the kit: reaching elements, numbering them, saying whether they can be seen.
//
// A page shares its DOM with us, not its prototypes; but an input named "matches" hides its
// form's method of that name from everyone. So nothing of an element or a document is read as
// `element.name`: `dom` reads it with the prototype's own getter or method.
(vfa) => {
  const uncurry = (method) => Function.prototype.call.bind(method);
  const getter = (prototype, name) =>
    uncurry(Object.getOwnPropertyDescriptor(prototype, name).get);
  const E = Element.prototype;
  const N = Node.prototype;
  const D = Document.prototype;
  const F = DocumentFragment.prototype;
  const H = HTMLElement.prototype;

  const dom = (vfa.dom = {
    attribute: uncurry(E.getAttribute),
    hasAttribute: uncurry(E.hasAttribute),
    matches: uncurry(E.matches),
    closest: uncurry(E.closest),
    rect: uncurry(E.getBoundingClientRect),
    rects: uncurry(E.getClientRects),
    visible: uncurry(E.checkVisibility),
    animations: uncurry(E.getAnimations),
    name: getter(E, "localName"),
    id: getter(E, "id"),
    classes: getter(E, "classList"),
    openRoot: getter(E, "shadowRoot"),
    slot: getter(E, "assignedSlot"),
    parent: getter(N, "parentNode"),
    parentElement: getter(N, "parentElement"),
    children: getter(E, "children"),
    childNodes: getter(N, "childNodes"),
    firstElement: getter(E, "firstElementChild"),
    text: getter(N, "textContent"),
    innerText: getter(H, "innerText"),
    root: uncurry(N.getRootNode),
    connected: getter(N, "isConnected"),
    contains: uncurry(N.contains),
    focus: uncurry(H.focus),
    assigned: uncurry(HTMLSlotElement.prototype.assignedNodes),
    host: getter(ShadowRoot.prototype, "host"),
    body: getter(D, "body"),
    documentElement: getter(D, "documentElement"),
    scroller: getter(D, "scrollingElement"),
    animating: uncurry(D.getAnimations),
    one: (scope, selector) =>
      (scope === document ? D : scope instanceof DocumentFragment ? F : E).querySelector.call(
        scope,
        selector,
      ),
    all: (scope, selector) =>
      (scope === document
        ? D
        : scope instanceof DocumentFragment
          ? F
          : E
      ).querySelectorAll.call(scope, selector),
  });

  // --- numbers: what a ref names ---------------------------------------------------------

  const numbers = new WeakMap(); // element -> number
  const elements = new Map(); // number -> WeakRef of the element
  vfa.last = 0;
  vfa.number = (element) => {
    let number = numbers.get(element);
    if (number === undefined) {
      number = vfa.last += 1;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return number;
  };
  // The element of a number; null if it is gone, or not in the document any more.
  vfa.element = (number) => {
    const element = elements.get(number)?.deref() ?? null;
    return element !== null && dom.connected(element) ? element : null;
  };

  // --- shadow trees ----------------------------------------------------------------------

  // Closed roots cannot be asked for. The engine finds them through CDP and tells us; we tell
  // it which elements may have one: custom elements, and elements that take up room though
  // none of their own children do.
  const closed = new WeakMap(); // host -> closed root
  const looked = new WeakMap(); // host without a known root -> how it was when it was looked at
  const HOSTS = new Set(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(
      " ",
    ),
  );
  const MAX_SUSPECTS = 300; // looked at in one go
  vfa.shadow = (element) => dom.openRoot(element) ?? closed.get(element) ?? null;
  const looksHollow = (element) => {
    const inner = dom.childNodes(element);
    if (inner.length > 3) return false;
    const box = dom.rect(element);
    if (box.width < 1 || box.height < 1) return false;
    for (const node of inner) {
      if (node.nodeType === 1 && dom.hasAttribute(node, "slot")) return true;
      if (node.nodeType === 1 && dom.rects(node).length > 0) return false;
      if (node.nodeType === 3 && node.data.trim() !== "") {
        const range = new Range();
        range.selectNodeContents(node);
        if (range.getClientRects().length > 0) return false;
      }
    }
    return true;
  };
  const mayHaveClosedRoot = (element) => {
    if (vfa.shadow(element) !== null) return false;
    const name = dom.name(element);
    const custom = name.includes("-");
    if (!custom && !HOSTS.has(name)) return false;
    const state = `${dom.matches(element, ":defined")} ${dom.childNodes(element).length}`;
    if (looked.get(element) === state) return false;
    if (!custom && !looksHollow(element)) return false;
    looked.set(element, state);
    return true;
  };
  // Elements that may have a closed root nobody knows of yet; each is named once.
  vfa.suspects = () => {
    const found = [];
    for (const element of vfa.every(document)) {
      if (mayHaveClosedRoot(element) && found.push(element) >= MAX_SUSPECTS) break;
    }
    return found;
  };
  vfa.learnRoot = (host, root) => {
    closed.set(host, root);
    return true;
  };

  // Every element below a root, those in shadow trees after the others of their own tree.
  vfa.every = function* every(root) {
    const hosts = [];
    for (const element of dom.all(root, "*")) {
      yield element;
      if (vfa.shadow(element) !== null) hosts.push(element);
    }
    for (const host of hosts) yield* every(vfa.shadow(host));
  };
  // The document's tree and every shadow tree below `root`, outer ones first.
  vfa.trees = function* trees(root) {
    yield root;
    for (const element of dom.all(root, "*")) {
      const inner = vfa.shadow(element);
      if (inner !== null) yield* trees(inner);
    }
  };
  // The parent as layout sees it: slots and hosts included.
  vfa.up = (element) => {
    const slot = dom.slot(element);
    if (slot !== null) return slot;
    const parent = dom.parent(element);
    return parent instanceof ShadowRoot ? dom.host(parent) : dom.parentElement(element);
  };
  // Whether `inner` is `outer` or inside it, through shadow trees.
  vfa.inside = (outer, inner) => {
    for (let node = inner; node !== null; node = vfa.up(node)) if (node === outer) return true;
    return false;
  };

  // --- selectors -------------------------------------------------------------------------

  const isFrame = (element) =>
    element instanceof HTMLIFrameElement ||
    element instanceof HTMLFrameElement ||
    element instanceof HTMLObjectElement ||
    element instanceof HTMLEmbedElement;
  // Finds the first match of CSS steps, each searched in the shadow tree, or the frame, of the
  // one before: {element, matches}, {element, rest} where the search goes on inside a frame, or
  // null. The first step looks into the document, then into shadow trees. Throws SyntaxError.
  vfa.query = (steps) => {
    let scope = null;
    for (let index = 0; index < steps.length; index += 1) {
      const last = index === steps.length - 1;
      let found = [];
      if (scope !== null) found = dom.all(scope, steps[index]);
      else {
        for (const tree of vfa.trees(document)) {
          found = dom.all(tree, steps[index]);
          if (found.length > 0) break;
        }
      }
      if (found.length === 0) return null;
      if (last) return { element: found[0], matches: found.length };
      const inner = vfa.shadow(found[0]);
      if (inner === null && !isFrame(found[0])) return null;
      if (inner === null) return { element: found[0], rest: steps.slice(index + 1) };
      scope = inner;
    }
    return null;
  };

  const WALK = 300; // ms between two walks through a page that keeps changing
  // Looks for `steps` now, or until `budget` ms are over. Answers with {number, matches}; with
  // {number, rest} for a frame to be searched; with {suspects} where closed roots must be looked
  // into first; with {} when the time is up.
  vfa.find = (steps, budget) => {
    let walked = -Infinity;
    const now = () => {
      const found = vfa.query(steps);
      if (found !== null) return { ...found, element: undefined, number: vfa.number(found.element) };
      if (performance.now() - walked < WALK) return null;
      const suspects = vfa.hasSuspects();
      walked = performance.now();
      return suspects ? { suspects } : null;
    };
    return now() ?? vfa.watch(now, budget, {});
  };
  // Whether something may have a closed root nobody has looked for. They are not used up.
  vfa.hasSuspects = () => {
    for (const element of vfa.every(document)) {
      if (mayHaveClosedRoot(element)) {
        looked.delete(element);
        return true;
      }
    }
    return false;
  };

  // Calls `look` whenever the page may have changed, until it returns something other than null
  // or `budget` ms are over; then `otherwise` is the answer. Styles and scripts move things
  // without touching the tree, so it also looks by the clock.
  const GLANCE = 100; // ms
  vfa.watch = (look, budget, otherwise) =>
    new Promise((resolve, reject) => {
      const deadline = performance.now() + budget;
      const observer = new MutationObserver(() => glance());
      const everything = {
        subtree: true,
        childList: true,
        attributes: true,
        characterData: true,
      };
      const known = new WeakSet();
      const observe = () => {
        for (const tree of vfa.trees(document)) {
          if (!known.has(tree)) {
            known.add(tree);
            observer.observe(tree, everything);
          }
        }
      };
      const done = (settle, value) => {
        observer.disconnect();
        clearInterval(clock);
        clearTimeout(end);
        settle(value);
      };
      let asked = false;
      const glance = () => {
        if (asked) return;
        asked = true; // one look for all mutations of a task
        queueMicrotask(() => {
          asked = false;
          try {
            const value = look();
            if (value !== null) return done(resolve, value);
            if (performance.now() >= deadline) return done(resolve, otherwise);
            observe();
          } catch (error) {
            done(reject, error);
          }
        });
      };
      const clock = setInterval(glance, GLANCE);
      const end = setTimeout(glance, Math.max(0, budget) + 1);
      observe();
    });

  // --- seeing ----------------------------------------------------------------------------

  // Why nothing of an element can be seen; "" if something can.
  vfa.hidden = (element) => {
    if (!dom.connected(element)) return "it is not in the document";
    if (!dom.visible(element)) {
      return "it, or what it is in, has display: none or content-visibility: hidden";
    }
    if (!dom.visible(element, { visibilityProperty: true })) return "it has visibility: hidden";
    if (!dom.visible(element, { opacityProperty: true })) {
      return "it, or what it is in, has opacity: 0";
    }
    for (const box of dom.rects(element)) if (box.width > 0 && box.height > 0) return "";
    return "it has no size";
  };
  // What a developer would call the element: "div#menu.open".
  vfa.describe = (element) => {
    const id = dom.id(element);
    const classes = [...dom.classes(element)].slice(0, 3).map((name) => `.${name}`);
    return (dom.name(element) + (id === "" ? "" : `#${id}`) + classes.join("")).slice(0, 120);
  };
  vfa.describeNumber = (number) => {
    const element = vfa.element(number);
    return element === null ? "" : vfa.describe(element);
  };
  // The innermost element at a point of this document's viewport, through shadow trees.
  vfa.at = (x, y) => {
    let found = D.elementFromPoint.call(document, x, y);
    while (found !== null) {
      const inner = vfa.shadow(found);
      const deeper = inner === null ? null : inner.elementFromPoint(x, y);
      if (deeper === null || deeper === found) break;
      found = deeper;
    }
    return found;
  };
  // [left, top, width, height] of an element in this document's viewport, in CSS px; [] if gone.
  vfa.box = (number) => {
    const element = vfa.element(number);
    if (element === null) return [];
    const { left, top, width, height } = dom.rect(element);
    return [left, top, width, height];
  };
  // [width, height] of this document's viewport, scroll bars included.
  vfa.viewport = () => [innerWidth, innerHeight];
  // As `vfa.box`, after bringing the element into view where none or little of it is.
  vfa.reveal = (number) => {
    const element = vfa.element(number);
    if (element === null) return [];
    E.scrollIntoView.call(element, { block: "center", inline: "center", behavior: "instant" });
    return vfa.box(number);
  };
  // Whether a frame's element is what a pointer at a point of this document would reach; if not,
  // what it would reach instead. Brings the frame into view if the point is not in the viewport.
  vfa.reaches = (number, x, y) => {
    const element = vfa.element(number);
    if (element === null) return { gone: true };
    const found = vfa.at(x, y);
    if (found !== null && vfa.inside(element, found)) return {};
    return { covered: found === null ? "" : vfa.describe(found) };
  };
}
