// Waiting for elements and texts to come, or to go.
(vfa) => {
  const { dom } = vfa;
  const collapse = (text) => text.replace(/\s+/g, " ").trim();

  // What a reader sees of one tree; what its shadow trees show is not part of it.
  const textOf = (tree) => {
    if (tree !== document) return [...dom.childNodes(tree)].map(textOfNode).join("\n");
    const body = dom.body(document) ?? dom.documentElement(document);
    if (body === null) return "";
    return body instanceof HTMLElement ? dom.innerText(body) : dom.text(body);
  };
  const textOfNode = (node) => {
    if (node.nodeType === 3) return node.data;
    // The innerText of what is not rendered is its source: a style sheet, for example.
    return node instanceof HTMLElement && dom.visible(node) ? dom.innerText(node) : "";
  };
  const shows = (text) => {
    for (const tree of vfa.trees(document)) {
      if (collapse(textOf(tree)).includes(text)) return true;
    }
    return false;
  };

  const isVisible = (element) => vfa.hidden(element) === "";
  // The first match that can be seen.
  const visibleMatch = (steps) => {
    const last = steps[steps.length - 1];
    let trees = vfa.trees(document);
    if (steps.length > 1) trees = [vfa.shadow(vfa.query(steps.slice(0, -1)).element)];
    for (const tree of trees) {
      for (const element of dom.all(tree, last)) if (isVisible(element)) return element;
    }
    return null;
  };
  // Throws a SyntaxError for steps that are no selectors, though an earlier one has no match.
  const check = (steps) => {
    const nothing = document.createDocumentFragment();
    for (const step of steps) dom.one(nothing, step);
  };

  // How things stand: {element, text} are there, where they are asked for; {number, matches} of
  // the element; {enter}: frames in which a search goes on; {gone}: the numbered element is.
  const look = ({ searches, number, text, state }) => {
    const seen = { element: false, text: text !== "" && shows(text), enter: [] };
    const visibly = state === "visible" || state === "hidden";
    const found = (element, matches) => {
      if (seen.element) return;
      seen.element = true;
      seen.number = vfa.number(element);
      seen.matches = matches;
    };
    if (number !== 0) {
      const element = vfa.element(number);
      if (element === null) seen.gone = true;
      else if (!visibly || isVisible(element)) found(element, 1);
    }
    for (const steps of searches) {
      const first = vfa.query(steps);
      if (first === null) continue;
      if (first.rest !== undefined) {
        seen.enter.push([vfa.number(first.element), first.rest]);
        continue;
      }
      const element = visibly ? visibleMatch(steps) : first.element;
      if (element !== null) found(element, first.matches);
    }
    return seen;
  };

  const WALK = 300; // ms between two walks that look for closed roots
  const REST = 4; // a look is not repeated within so many times what it took
  const stopped = new Set();
  // Answers as soon as things stand as `spec` wants them, or otherwise than in `known`, or
  // {suspects} where closed roots must be looked into first; {late} when `budget` ms are over.
  // With `spec.alone` a change that is not yet the wanted one is nobody's business.
  vfa.waitFor = (spec, known, budget) => {
    const wanted = spec.state === "attached" || spec.state === "visible";
    const asksElement = spec.number !== 0 || spec.searches.length > 0;
    let walked = -Infinity;
    let rested = -Infinity;
    const isThere = (seen) =>
      (!asksElement || seen.element) && (spec.text === "" || seen.text);
    const keyOf = ({ element, text, enter, gone }) => {
      if (!spec.alone || !wanted) return JSON.stringify([element, text, enter, gone]);
      return enter.length > 0 || gone ? JSON.stringify([enter, gone]) : "";
    };
    const now = () => {
      if (stopped.delete(spec.id)) return { late: true };
      const began = performance.now();
      if (began < rested) return null;
      const seen = look(spec);
      const there = wanted ? isThere(seen) : seen.element || seen.text;
      if (!there && began - walked >= WALK) {
        walked = began;
        seen.suspects = vfa.hasSuspects();
      }
      const ended = performance.now();
      rested = ended + REST * (ended - began);
      seen.key = keyOf(seen);
      const news = seen.suspects || seen.key !== known || (wanted && there);
      return news ? seen : null;
    };
    spec.searches.forEach(check);
    return now() ?? vfa.watch(now, budget, { late: true });
  };
  vfa.stopWaiting = (id) => {
    stopped.add(id);
    return true;
  };
}
