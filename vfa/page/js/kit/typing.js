// Typing: which elements take text, giving them the focus, and what came of it.
//
// The keys themselves are real ones and come from outside. While they come, a guard keeps those
// from the page that would reach nothing that takes text: when a field is taken away, the focus
// falls back to the page, and letters there are its shortcuts.
(vfa) => {
  const { dom } = vfa;
  const W = EventTarget.prototype;
  const I = HTMLInputElement.prototype;
  const T = HTMLTextAreaElement.prototype;
  const get = (prototype, name) => {
    const getter = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (element) => getter.call(element);
  };
  const typeOf = get(I, "type");
  const isEditable = get(HTMLElement.prototype, "isContentEditable");
  const controlOf = get(HTMLLabelElement.prototype, "control");
  const activeOfDocument = get(Document.prototype, "activeElement");
  const activeOfShadow = get(ShadowRoot.prototype, "activeElement");
  const activeOf = (tree) => (tree === document ? activeOfDocument : activeOfShadow)(tree);
  // Of an editor that draws its text itself, and has the browser tell it what is typed.
  const context = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "editContext")?.get;
  const contextOf = (element) =>
    context !== undefined && element instanceof HTMLElement ? context.call(element) : null;
  const isInput = (element) => element instanceof HTMLInputElement;
  const isArea = (element) => element instanceof HTMLTextAreaElement;
  const proto = (element) => (isArea(element) ? T : I);
  const valueOf = (element) =>
    isInput(element) || isArea(element)
      ? get(proto(element), "value")(element)
      : (contextOf(element)?.text ?? dom.text(element) ?? "");
  const setValue = (element, value) =>
    Object.getOwnPropertyDescriptor(I, "value").set.call(element, value);

  // The element that has the focus, through shadow trees.
  const active = () => {
    let element = activeOf(document);
    while (element !== null) {
      const tree = vfa.shadow(element);
      const inner = tree === null ? null : activeOf(tree);
      if (inner === null) break;
      element = inner;
    }
    return element;
  };
  vfa.active = active;

  // --- what takes text ---------------------------------------------------------------------

  const BY_KEYS = new Set(["text", "search", "url", "tel", "email", "password", "number"]);
  // Fields without a text of their own take a value as a whole, in this form.
  const FORMS = {
    date: "YYYY-MM-DD, such as 2025-12-31",
    time: "HH:MM or HH:MM:SS, such as 23:59",
    "datetime-local": "YYYY-MM-DDTHH:MM, such as 2025-12-31T23:59",
    month: "YYYY-MM, such as 2025-12",
    week: "YYYY-Www, such as 2025-W52",
    color: "#rrggbb, such as #ff8800",
    range: "a number",
    number: "a number, such as 3.14",
  };
  const OTHERS = {
    checkbox: "it is a checkbox: use browser_check or browser_click",
    radio: "it is a radio button: use browser_check or browser_click",
    file: "it takes files: use browser_upload",
    hidden: "it is a hidden field",
  };
  const takesText = (element) => {
    if (isArea(element)) return true;
    if (isInput(element)) return BY_KEYS.has(typeOf(element));
    if (!(element instanceof HTMLElement)) return false;
    return isEditable(element) || contextOf(element) !== null;
  };
  // The field that is meant: of a label its own, of a component the only one inside.
  const fieldOf = (element) => {
    if (element instanceof HTMLLabelElement) return controlOf(element) ?? element;
    if (isInput(element) || isArea(element) || takesText(element)) return element;
    const tree = vfa.shadow(element);
    if (tree === null) return element;
    const fields = [...dom.all(tree, "input, textarea")].filter(
      (each) => takesText(each) && vfa.hidden(each) === "",
    );
    return fields.length === 1 ? fields[0] : element;
  };
  const refusal = (element) => {
    if (takesText(element)) return "";
    const name = dom.name(element);
    if (isInput(element)) {
      const type = typeOf(element);
      if (type in FORMS) return "";
      return OTHERS[type] ?? "it is a button: use browser_click";
    }
    if (name === "select") return "it is a list: use browser_select_option";
    if (name === "button") return "it is a button: use browser_click";
    return `it is a ${name}, not a text field`;
  };
  // Why a field does not take `text`, "" if it does. A field of its kind is asked, aside.
  const objection = (element, text) => {
    const type = typeOf(element);
    const form = FORMS[type];
    if (form === undefined) return "";
    const probe = document.createElement("input");
    const set = (name) => {
      const value = dom.attribute(element, name);
      if (value !== null) Element.prototype.setAttribute.call(probe, name, value);
    };
    Object.getOwnPropertyDescriptor(I, "type").set.call(probe, type);
    if (type === "range") ["min", "max", "step"].forEach(set);
    setValue(probe, text);
    const taken = valueOf(probe);
    if (type === "color") {
      const black = taken === "#000000" && !/^#0{6}$|^#0{3}$|^black$/i.test(text.trim());
      return black ? `it takes ${form}` : "";
    }
    if (type === "range") {
      const low = Number(get(I, "min")(probe) || 0);
      const high = Number(get(I, "max")(probe) || 100);
      const number = Number(text);
      const fits = text.trim() !== "" && number >= low && number <= high;
      return fits ? "" : `it takes a number from ${low} to ${high}`;
    }
    return text !== "" && taken === "" ? `it takes ${form}` : "";
  };

  // --- getting ready -----------------------------------------------------------------------

  // What has the focus gets the keys, and fields of editors are often too small to be seen.
  const takesKeysUnseen = (element) =>
    takesText(element) && (contextOf(element) !== null || active() === element);
  const READONLY = 1000; // ms that a read-only field is waited for; it seldom changes
  const fault = (element, waited) => {
    const why = takesKeysUnseen(element) ? "" : vfa.hidden(element);
    if (why !== "") return { trouble: "hidden", why };
    if (dom.matches(element, ":disabled")) return { trouble: "disabled", why: "it is disabled" };
    for (let node = element; node !== null; node = vfa.up(node)) {
      if (dom.hasAttribute(node, "inert")) return { trouble: "disabled", why: "it is inert" };
    }
    if (dom.attribute(element, "aria-disabled") === "true") {
      return { trouble: "disabled", why: "it is disabled (aria-disabled)" };
    }
    const readonly =
      ((isInput(element) || isArea(element)) && get(proto(element), "readOnly")(element)) ||
      dom.attribute(element, "aria-readonly") === "true";
    if (readonly) return { trouble: "readonly", why: "it is read-only", final: waited > READONLY };
    return null;
  };
  const isInView = (element) => {
    const box = dom.rect(element);
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return false;
    const hit = vfa.at(x, y);
    return hit !== null && vfa.inside(element, hit);
  };
  const bringIntoView = (element) => {
    if (isInView(element)) return;
    Element.prototype.scrollIntoView.call(element, {
      block: "center",
      inline: "center",
      behavior: "instant",
    });
  };
  const hostOf = (element) => {
    let host = element;
    for (let node = element; node !== null; node = dom.parentElement(node)) {
      if (node instanceof HTMLElement && isEditable(node)) host = node;
      else break;
    }
    return host;
  };
  const focus = (element) => {
    if (element instanceof HTMLElement) dom.focus(element, { preventScroll: true });
    else SVGElement.prototype.focus.call(element, { preventScroll: true });
  };
  // Puts the caret at the end, or selects all. Some kinds of input have no caret to be set.
  const CARETLESS = new Set(["email", "number"]);
  const select = (element, all) => {
    if (isInput(element) || isArea(element)) {
      if (all) proto(element).select.call(element);
      else if (isInput(element) && CARETLESS.has(typeOf(element))) return true;
      else {
        const end = valueOf(element).length;
        proto(element).setSelectionRange.call(element, end, end);
      }
      return false;
    }
    const selection = Document.prototype.getSelection.call(document);
    selection.selectAllChildren(element);
    if (!all) selection.collapseToEnd();
    return false;
  };

  // Gets a field ready to be typed into. `how`: {clear, text}. Answers within `budget` ms with
  // {missing}, {number, trouble, why}, {number, refused}, or {number, mode, …}: with the mode
  // "set" the value is in place already; with "keys" the field has the focus, and waits.
  vfa.enter = async (what, how, budget) => {
    const began = performance.now();
    let was = false;
    for (;;) {
      const found = vfa.wanted(what);
      if (found === null) return { missing: true, was };
      was = true;
      const element = fieldOf(found.element);
      const answer = { number: vfa.number(element), matches: found.matches };
      const refused = refusal(element);
      if (refused !== "") return { ...answer, refused };
      const waited = performance.now() - began;
      const trouble = fault(element, waited);
      if (trouble === null) return { ...answer, ...takeUp(element, how) };
      if (waited >= budget || trouble.final) return { ...answer, ...trouble };
      await vfa.nextFrame();
    }
  };
  const takeUp = (element, { clear, text }) => {
    const keys = takesText(element);
    if (isInput(element) && (clear || !keys)) {
      const refused = objection(element, text);
      if (refused !== "") return { refused };
    }
    bringIntoView(element);
    const host = isInput(element) || isArea(element) ? element : hostOf(element);
    if (active() !== host) focus(host);
    if (active() !== host) {
      const other = active();
      return { refused: `the focus went to ${other === null ? "nothing" : vfa.describe(other)}` };
    }
    const old = valueOf(element);
    if (!keys) {
      if (old !== text) {
        setValue(element, text);
        element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        element.dispatchEvent(new Event("change", { bubbles: true }));
      }
      return { mode: "set", finalLength: valueOf(element).length };
    }
    // An empty field that nobody sees hands its keys on to an editor, which alone knows what
    // there is to be replaced.
    const handsOn = contextOf(element) !== null || (isArea(element) && old === "" && !isInView(element));
    const needsEnd = !handsOn && select(element, clear);
    post(element, old);
    return {
      mode: "keys",
      handsOn,
      singleLine: isInput(element),
      needsEnd,
      filled: old !== "",
      limit: isInput(element) || isArea(element) ? get(proto(element), "maxLength")(element) : -1,
    };
  };

  // --- the guard -----------------------------------------------------------------------------

  const LIFE = 30_000; // ms after which a guard that nobody asks any more leaves by itself
  const AFTER = ["keypress", "keyup"]; // what a withheld keydown would be followed by
  let posted = null;
  const leave = () => {
    if (posted === null) return;
    clearTimeout(posted.timer);
    W.removeEventListener.call(window, "keydown", posted.hear, true);
    for (const kind of AFTER) W.removeEventListener.call(window, kind, withhold, true);
    posted = null;
  };
  const withhold = (event) => {
    if (!event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const stillReaches = (guard) => {
    if (activeOfDocument(document) === guard.outer && dom.connected(guard.element)) return true;
    const reached = active();
    return reached !== null && takesText(reached);
  };
  const post = (element, old) => {
    leave();
    const guard = { element, old, lost: 0, outer: activeOf(document) };
    // It hears of every key, and so does little.
    guard.hear = (event) => {
      const strays = !stillReaches(guard);
      if (!strays && guard.lost === 0) return;
      for (const kind of AFTER) {
        if (strays) W.addEventListener.call(window, kind, withhold, true);
        else W.removeEventListener.call(window, kind, withhold, true);
      }
      if (!strays || !event.isTrusted) return;
      if (event.key !== "Shift") guard.lost += 1;
      withhold(event);
    };
    W.addEventListener.call(window, "keydown", guard.hear, true);
    guard.timer = setTimeout(leave, LIFE);
    posted = guard;
  };
  vfa.leaveKeys = () => {
    leave();
    return true;
  };

  // A browser would tell the field's listeners of the same value again once the field is left.
  const told = new WeakMap(); // field -> ends the waiting for that
  const tellOnce = (element, value) => {
    told.get(element)?.();
    const tree = dom.root(element);
    const top = tree instanceof ShadowRoot ? tree : window;
    const hear = (event) => {
      if (!event.isTrusted || event.target !== element) return;
      told.get(element)();
      if (valueOf(element) === value) event.stopImmediatePropagation();
    };
    W.addEventListener.call(top, "change", hear, true);
    told.set(element, () => {
      W.removeEventListener.call(top, "change", hear, true);
      told.delete(element);
    });
  };

  // What is in the field after typing. With `commit`, the field says so to its listeners: a
  // browser by itself does so only when the field is left, and the next tool may never leave it.
  const state = (number, commit) => {
    const guard = posted;
    let element = vfa.element(number);
    const gone = element === null;
    if (gone) {
      const other = active();
      element = other !== null && takesText(other) ? other : null;
    }
    const answer = { gone, lost: guard?.lost ?? 0 };
    if (element === null) return answer;
    const value = valueOf(element);
    const field = isInput(element) || isArea(element);
    if (commit && field && guard !== null && guard.old !== value) {
      element.dispatchEvent(new Event("change", { bubbles: true }));
      guard.old = value;
      tellOnce(element, value);
    }
    const holder = active();
    const stayed = holder === null || vfa.inside(element, holder) || vfa.inside(holder, element);
    return {
      ...answer,
      finalLength: value.length,
      moved: stayed ? "" : vfa.describe(holder),
      bad: isInput(element) && get(I, "validity")(element).badInput,
    };
  };
  vfa.typed = (number) => state(number, false);
  vfa.entered = async (number, commit) => {
    const answer = state(number, commit);
    leave();
    await vfa.nextFrame();
    await vfa.nextFrame();
    return answer;
  };

  // --- for single keys -----------------------------------------------------------------------

  const FOCUSABLE = "input, textarea, select, button, a[href], [tabindex], [contenteditable]";
  // Gives an element the focus, or what takes it in a component. Answers within `budget` ms with
  // {missing}, {number, trouble, why}, or {number, focused}: where it takes no focus, nothing
  // else of the page keeps it.
  vfa.focusOn = async (what, budget) => {
    const began = performance.now();
    for (;;) {
      const found = vfa.wanted(what);
      if (found === null) return { missing: true };
      const { element } = found;
      const why = vfa.hidden(element);
      const answer = { number: vfa.number(element), matches: found.matches };
      if (why === "") return { ...answer, focused: takeFocus(element) };
      if (performance.now() - began >= budget) return { ...answer, trouble: "hidden", why };
      await vfa.nextFrame();
    }
  };
  const takeFocus = (element) => {
    bringIntoView(element);
    const isPage = element === dom.body(document) || element === dom.documentElement(document);
    const holds = () => {
      const now = active();
      return !isPage && now !== null && vfa.inside(element, now);
    };
    if (holds()) return true;
    focus(element);
    if (holds()) return true;
    const tree = vfa.shadow(element);
    for (const each of tree === null ? [] : dom.all(tree, FOCUSABLE)) {
      if (vfa.hidden(each) !== "") continue;
      focus(each);
      if (holds()) return true;
    }
    const other = active();
    if (other instanceof HTMLElement) HTMLElement.prototype.blur.call(other);
    return false;
  };
}
