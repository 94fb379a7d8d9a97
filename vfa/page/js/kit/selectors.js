// A selector for an element: it matches that element and nothing else, and says as much as it
// can about it. Steps through shadow trees are joined with ">>>", as `vfa.query` reads them.
(vfa) => {
  const dom = vfa.dom;
  const quote = (value) => `"${value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\a ")}"`;
  const LONGEST = 120; // characters of an attribute's value that make a good selector
  // In order of how likely they are to outlive a change of the page's looks.
  const NAMING = [
    "data-testid",
    "data-test-id",
    "data-test",
    "data-qa",
    "data-cy",
    "id",
    "name",
    "aria-label",
    "placeholder",
    "alt",
    "title",
    "href",
    "for",
    "value",
    "role",
    "type",
  ];
  // Ids that frameworks count up or make from random characters say nothing tomorrow.
  const MADE_UP = /^:|\d{4,}|[0-9a-f]{8,}|^(ember|react-|radix-|headlessui-|mui-|mat-|ng-)/i;
  const alone = (tree, selector, element) => {
    const found = dom.all(tree, selector);
    return found.length === 1 && found[0] === element;
  };
  const named = (element, attribute) => {
    const value = dom.attribute(element, attribute);
    if (value === null || value === "" || value.length > LONGEST) return "";
    if (attribute === "id") return `#${CSS.escape(value)}`;
    return `${dom.name(element)}[${attribute}=${quote(value)}]`;
  };
  const nth = (element) => {
    const name = dom.name(element);
    const tag = CSS.escape(name);
    const parent = dom.parent(element);
    if (parent === null || parent instanceof Document) return tag;
    let position = 0;
    let same = 0;
    const siblings = parent instanceof ShadowRoot ? parent.children : dom.children(parent);
    for (const sibling of siblings) {
      if (dom.name(sibling) !== name) continue;
      same += 1;
      if (sibling === element) position = same;
    }
    return same === 1 ? tag : `${tag}:nth-of-type(${position})`;
  };
  // What may stand for an element, best first; not all of them match it alone.
  const candidates = function* (element) {
    const late = [];
    for (const attribute of NAMING) {
      const selector = named(element, attribute);
      if (selector === "") continue;
      if (attribute === "id" && MADE_UP.test(dom.id(element))) late.push(selector);
      else yield selector;
    }
    const name = dom.attribute(element, "name");
    const value = dom.attribute(element, "value");
    if (name && value !== null && value.length <= LONGEST) {
      yield `${dom.name(element)}[name=${quote(name)}][value=${quote(value)}]`; // a radio button
    }
    yield* late;
  };
  // What tells an element in its tree by itself; "" if nothing does.
  let known = new WeakMap(); // of elements that others are told by
  vfa.beginSelectors = () => {
    known = new WeakMap();
  };
  const telling = (element, tree) => {
    let selector = known.get(element);
    if (selector === undefined) {
      selector = "";
      for (const candidate of candidates(element)) {
        if (alone(tree, candidate, element)) {
          selector = candidate;
          break;
        }
      }
      known.set(element, selector);
    }
    return selector;
  };
  const inTree = (element, tree) => {
    const direct = telling(element, tree);
    if (direct !== "") return direct;
    // From the nearest ancestor that can be told, by what tells it there or by position.
    const own = [...candidates(element)][0] ?? "";
    let tail = nth(element);
    let shortest = alone(tree, tail, element) ? tail : "";
    for (let node = dom.parentElement(element); node !== null; node = dom.parentElement(node)) {
      const selector = telling(node, tree);
      if (selector !== "") {
        const inside = `${selector} ${own}`;
        return own !== "" && alone(tree, inside, element) ? inside : `${selector} > ${tail}`;
      }
      tail = `${nth(node)} > ${tail}`;
      if (shortest === "" && alone(tree, tail, element)) shortest = tail;
    }
    return shortest || (tree instanceof ShadowRoot ? `:host > ${tail}` : tail);
  };
  // The selector of an element within its document; "" if none can be told.
  vfa.selector = (element) => {
    const steps = [];
    for (let node = element; node !== null; ) {
      const tree = dom.root(node);
      const selector = inTree(node, tree);
      if (!alone(tree, selector, node)) return "";
      steps.unshift(selector);
      if (!(tree instanceof ShadowRoot)) break;
      node = dom.host(tree);
    }
    return steps.join(" >>> ");
  };
}
