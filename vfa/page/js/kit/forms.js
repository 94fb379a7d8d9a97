// Form controls: choosing options, reading what is checked, finding fields by their names.
//
// Lists and buttons that are made of other elements are read by their ARIA roles and states;
// nothing is set on them from here: they are clicked, as by a person.
(vfa) => {
  const { dom } = vfa;
  const collapse = (text) => text.replace(/\s+/g, " ").trim();
  const S = HTMLSelectElement.prototype;
  const get = (prototype, name) => {
    const getter = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (element) => getter.call(element);
  };
  const set = (prototype, name) => {
    const setter = Object.getOwnPropertyDescriptor(prototype, name).set;
    return (element, value) => setter.call(element, value);
  };
  const inputType = get(HTMLInputElement.prototype, "type");
  const inputChecked = get(HTMLInputElement.prototype, "checked");
  const indeterminate = get(HTMLInputElement.prototype, "indeterminate");
  const inputLabels = get(HTMLInputElement.prototype, "labels");
  const inputForm = get(HTMLInputElement.prototype, "form");
  const inputValue = get(HTMLInputElement.prototype, "value");
  const inputName = get(HTMLInputElement.prototype, "name");
  const controlOf = get(HTMLLabelElement.prototype, "control");
  const isMultiple = get(S, "multiple");
  const optionsOf = get(S, "options");
  const setIndex = set(S, "selectedIndex");
  const setSelected = set(HTMLOptionElement.prototype, "selected");
  const isInput = (element) => element instanceof HTMLInputElement;
  const isSelect = (element) => element instanceof HTMLSelectElement;
  const roleOf = (element) =>
    (dom.attribute(element, "role") ?? "").trim().toLowerCase().split(/\s+/)[0];
  const isTrue = (element, name) => dom.attribute(element, name)?.toLowerCase() === "true";
  const isShown = (element) => vfa.hidden(element) === "";

  // --- names -------------------------------------------------------------------------------

  const MAX_NAME = 200; // characters
  const textOf = (element) =>
    collapse(element instanceof HTMLElement ? dom.innerText(element) : (dom.text(element) ?? ""));
  const byIds = (element, attribute) => {
    const root = dom.root(element);
    const ids = (dom.attribute(element, attribute) ?? "").split(/\s+/).filter(Boolean);
    const find = root instanceof ShadowRoot ? DocumentFragment.prototype : Document.prototype;
    return ids.map((id) => find.getElementById.call(root, id)).filter((each) => each !== null);
  };
  // The names that a person, or a screen reader, may know a field by; the best one first.
  const namesOf = (element) => {
    const labels = isInput(element)
      ? inputLabels(element)
      : isSelect(element)
        ? get(S, "labels")(element)
        : element instanceof HTMLTextAreaElement
          ? get(HTMLTextAreaElement.prototype, "labels")(element)
          : [];
    const names = [
      byIds(element, "aria-labelledby").map(textOf).join(" "),
      dom.attribute(element, "aria-label"),
      ...[...(labels ?? [])].map((label) => labelText(label, element)),
      legendOf(element),
      dom.attribute(element, "placeholder"),
      dom.attribute(element, "title"),
      dom.attribute(element, "name"),
    ];
    const known = names.map((name) => collapse(name ?? "").slice(0, MAX_NAME));
    return known.filter(Boolean);
  };
  // A label's text without that of the list inside it.
  const labelText = (label, element) => {
    const text = textOf(label);
    if (!isSelect(element) || !dom.contains(label, element)) return text;
    return collapse(text.replace(textOf(element), " "));
  };
  const legendOf = (element) => {
    if (dom.name(element) !== "fieldset") return "";
    const legend = [...dom.children(element)].find((child) => dom.name(child) === "legend");
    return legend === undefined ? "" : textOf(legend);
  };
  const FIELDS =
    "input, select, textarea, fieldset, [contenteditable], [role=textbox], [role=searchbox], " +
    "[role=combobox], [role=listbox], [role=checkbox], [role=switch], [role=radio], " +
    "[role=radiogroup], [role=spinbutton], [aria-haspopup=listbox]";
  const BUTTONS = new Set(["button", "submit", "reset", "image", "hidden"]);
  const isField = (element) =>
    dom.matches(element, FIELDS) && !(isInput(element) && BUTTONS.has(inputType(element)));
  const plain = (name) => name.toLowerCase().replace(/[\s*:：（）()]+$/, "").trim();

  const MAX_NAMES = 30; // told where nothing has the wanted name
  // Finds the field of a name: as it is written, else whatever its case and marks. Waits for
  // `budget` ms; then {names}: those that fields have.
  vfa.fieldNamed = (name, budget) => {
    const wanted = collapse(name);
    const fields = () => [...vfa.every(document)].filter(isField);
    const equals = [(each) => each === wanted, (each) => plain(each) === plain(wanted)];
    const now = () => {
      const all = fields().map((element) => [element, namesOf(element)]);
      for (const fits of equals) {
        const found = all.filter(([, names]) => names.some(fits)).map(([element]) => element);
        if (found.length === 0) continue;
        const element = found.find(isShown) ?? found[0];
        return { number: vfa.number(element), matches: found.length };
      }
      if (vfa.hasSuspects()) return { suspects: true };
      return null;
    };
    const none = () => {
      const names = fields().map((element) => namesOf(element)[0] ?? "");
      return { names: [...new Set(names.filter(Boolean))].slice(0, MAX_NAMES) };
    };
    return now() ?? (budget > 0 ? vfa.watch(now, budget, {}) : none());
  };

  // --- what kind of field ------------------------------------------------------------------

  const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
  const checkKind = (element) => {
    if (isInput(element)) {
      const type = inputType(element);
      if (type === "radio") return type;
      if (type === "checkbox") return roleOf(element) === "switch" ? "switch" : type;
      return "";
    }
    const role = roleOf(element);
    if (CHECKABLE.has(role)) return role;
    return dom.name(element) === "button" && dom.hasAttribute(element, "aria-pressed")
      ? "button"
      : "";
  };
  const CHECKS =
    "input[type=checkbox i], input[type=radio i], [role=checkbox], [role=radio], [role=switch]";
  const only = (element, selector) => {
    const found = [...dom.all(vfa.shadow(element) ?? element, selector)];
    return found.length === 1 ? found[0] : null;
  };
  // The control that is meant: of a label its own, of a wrapper the only one inside.
  const controlIn = (element, selector, is) => {
    if (is(element)) return element;
    if (element instanceof HTMLLabelElement) {
      const control = controlOf(element);
      if (control !== null && is(control)) return control;
    }
    return only(element, selector);
  };
  const listKind = (element) => {
    if (isSelect(element)) return "select";
    const role = roleOf(element);
    if (role === "listbox") return role;
    const opens = dom.attribute(element, "aria-haspopup")?.toLowerCase() === "listbox";
    return role === "combobox" || opens ? "combobox" : "";
  };
  // The list that is meant: also that of a field which is part of a combo box, or of a component
  // the one that it shows.
  const listIn = (element) => {
    const list = controlIn(element, "select", (each) => listKind(each) !== "");
    if (list !== null) return list;
    const around = dom.closest(element, "[role=combobox]");
    if (around !== null) return around;
    const tree = vfa.shadow(element) ?? element;
    const shown = [...dom.all(tree, "[role=combobox], [role=listbox], [aria-haspopup=listbox]")]
      .filter((each) => listKind(each) !== "" && isShown(each));
    const openers = shown.filter((each) => listKind(each) === "combobox");
    const found = openers.length > 0 ? openers : shown;
    return found.length === 1 ? found[0] : null;
  };
  const kindOf = (element) => {
    if (isInput(element) && inputType(element) === "file") return "file";
    const check = checkKind(element);
    if (check !== "" && check !== "button") return check;
    const list = listKind(element);
    if (list !== "") return list;
    if (dom.name(element) === "fieldset" || roleOf(element) === "radiogroup") return "radiogroup";
    return "text";
  };
  // What kind of field an element is: {number, matches, kind}.
  vfa.fieldKind = (what) => {
    const found = vfa.wanted(what);
    if (found === null) return { missing: true };
    let { element } = found;
    if (element instanceof HTMLLabelElement) element = controlOf(element) ?? element;
    return { number: vfa.number(element), matches: found.matches, kind: kindOf(element) };
  };

  // --- checked or not ----------------------------------------------------------------------

  const checkedOf = (element) => {
    if (isInput(element)) {
      return indeterminate(element) ? "mixed" : inputChecked(element) ? "true" : "false";
    }
    const name = checkKind(element) === "button" ? "aria-pressed" : "aria-checked";
    const state = dom.attribute(element, name)?.toLowerCase();
    return state === "true" || state === "mixed" ? state : "false";
  };
  // {number, matches, kind, state}: "true", "false" or "mixed"; kind "" for what has no state.
  vfa.checkable = (what) => {
    const found = vfa.wanted(what);
    if (found === null) return { missing: true };
    const element = controlIn(found.element, CHECKS, (each) => checkKind(each) !== "");
    if (element === null) {
      return { number: vfa.number(found.element), name: vfa.describe(found.element) };
    }
    return {
      number: vfa.number(element),
      matches: found.matches,
      kind: checkKind(element),
      state: checkedOf(element),
    };
  };
  // The state once it is `wanted`, or other than `before`, or when `budget` ms are over.
  vfa.checkedBecame = async (number, before, budget) => {
    const began = performance.now();
    for (;;) {
      const element = vfa.element(number);
      if (element === null) return "gone";
      const state = checkedOf(element);
      if (state !== before || performance.now() - began >= budget) return state;
      await vfa.nextFrame();
    }
  };
  // The radio button of a group that has that name or value: {number}, or {names} of all.
  vfa.radioOf = (number, wanted) => {
    const element = vfa.element(number);
    if (element === null) return { gone: true };
    const all = "input[type=radio i], [role=radio]";
    let group = [...dom.all(element, all)];
    if (isInput(element)) {
      group = [...dom.all(dom.root(element), "input[type=radio i]")].filter(
        (each) => inputName(each) === inputName(element) && inputForm(each) === inputForm(element),
      );
    } else if (roleOf(element) === "radio") {
      const holder = dom.closest(element, "[role=radiogroup]");
      group = holder === null ? [element] : [...dom.all(holder, all)];
    }
    const name = (each) => (isInput(each) ? namesOf(each)[0] : namesOf(each)[0] || textOf(each)) ?? "";
    const value = (each) => (isInput(each) ? inputValue(each) : dom.attribute(each, "data-value"));
    const text = collapse(wanted);
    const found =
      group.find((each) => name(each) === text) ??
      group.find((each) => value(each) === wanted) ??
      group.find((each) => plain(name(each)) === plain(text));
    if (found !== undefined) return { number: vfa.number(found) };
    return { names: group.map(name).slice(0, MAX_NAMES) };
  };

  // --- lists -------------------------------------------------------------------------------

  const MAX_OPTIONS = 40; // told where a wanted one is missing
  const nameOfOption = (option) =>
    option instanceof HTMLOptionElement
      ? collapse(get(HTMLOptionElement.prototype, "label")(option))
      : collapse(dom.attribute(option, "aria-label") ?? textOf(option));
  const valueOfOption = (option) =>
    option instanceof HTMLOptionElement
      ? get(HTMLOptionElement.prototype, "value")(option)
      : (dom.attribute(option, "data-value") ?? dom.attribute(option, "value") ?? nameOfOption(option));
  const isSelected = (option) =>
    option instanceof HTMLOptionElement
      ? get(HTMLOptionElement.prototype, "selected")(option)
      : isTrue(option, "aria-selected") || isTrue(option, "aria-checked");
  const isOff = (option) => dom.matches(option, ":disabled") || isTrue(option, "aria-disabled");

  // What `want` asks for among `options`: {picked}, or {unknown} or {off} for one of them.
  const pick = (options, { values, labels, indexes, either }) => {
    const picked = [];
    const byName = (name) => {
      const text = collapse(name);
      return options.find((each) => nameOfOption(each) === text && !isOff(each)) ??
        options.find((each) => nameOfOption(each) === text);
    };
    const byValue = (value) => options.find((each) => valueOfOption(each) === value);
    const wishes = [
      ...values.map((value) => [value, byValue(value)]),
      ...labels.map((label) => [label, byName(label)]),
      ...indexes.map((index) => [`index ${index}`, options[index]]),
      ...either.map((name) => [name, byName(name) ?? byValue(name)]),
    ];
    for (const [wish, option] of wishes) {
      if (option === undefined) return { unknown: wish };
      if (isOff(option)) return { off: wish };
      picked.push(option);
    }
    return { picked };
  };
  const described = (options) => ({
    options: options.slice(0, MAX_OPTIONS).map((option) => nameOfOption(option).slice(0, 80)),
    more: Math.max(0, options.length - MAX_OPTIONS),
  });
  const troubleOf = (element) => {
    const why = vfa.hidden(element);
    if (why !== "") return { trouble: "hidden", why };
    if (dom.matches(element, ":disabled")) return { trouble: "disabled", why: "it is disabled" };
    if (isTrue(element, "aria-disabled")) {
      return { trouble: "disabled", why: "it is disabled (aria-disabled)" };
    }
    return null;
  };

  // Chooses in a native list, as soon as it is there with all that is wanted. Answers within
  // `budget` ms with {number, kind, selected, labels, changed}; with {trouble}, and {options}
  // where one is missing; with {kind} alone for a list of another make, or "" for none.
  vfa.choose = async (what, want, budget) => {
    const began = performance.now();
    for (;;) {
      const found = vfa.wanted(what);
      if (found === null) return { missing: true };
      const element = listIn(found.element);
      if (element === null) {
        return { number: vfa.number(found.element), kind: "", name: vfa.describe(found.element) };
      }
      const answer = {
        number: vfa.number(element),
        matches: found.matches,
        kind: listKind(element),
      };
      if (answer.kind !== "select") return answer;
      const options = [...optionsOf(element)];
      const { picked, unknown, off } = pick(options, want);
      let trouble = troubleOf(element);
      if (trouble === null && picked !== undefined) {
        if (picked.length !== 1 && !isMultiple(element)) {
          return { ...answer, trouble: "single", why: "it takes one option", final: true };
        }
        return { ...answer, ...apply(element, options, picked) };
      }
      if (trouble === null) {
        trouble = off === undefined ? { trouble: "unknown", why: unknown } : { trouble: "off", why: off };
        Object.assign(trouble, described(options));
      }
      if (performance.now() - began >= budget) return { ...answer, ...trouble };
      await vfa.nextFrame();
    }
  };
  const apply = (element, options, picked) => {
    const before = options.map(isSelected);
    if (!isShownInView(element)) {
      Element.prototype.scrollIntoView.call(element, { block: "nearest", behavior: "instant" });
    }
    dom.focus(element, { preventScroll: true });
    if (isMultiple(element)) {
      const wanted = new Set(picked);
      for (const option of options) setSelected(option, wanted.has(option));
    } else setIndex(element, options.indexOf(picked[0]));
    const changed = options.some((option, index) => isSelected(option) !== before[index]);
    const chosen = chosenOf(options); // as of now; what the page makes of it is asked later
    if (changed) {
      element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
      element.dispatchEvent(new Event("change", { bubbles: true }));
    }
    return { changed, ...chosen };
  };
  const isShownInView = (element) => {
    const { top, bottom } = dom.rect(element);
    return top >= 0 && bottom <= innerHeight;
  };
  const chosenOf = (options) => {
    const chosen = options.filter(isSelected);
    return { selected: chosen.map(valueOfOption), labels: chosen.map(nameOfOption) };
  };
  // What is chosen in a native list, two animation frames from now; {gone} if it is.
  vfa.chosen = async (number) => {
    await vfa.nextFrame();
    await vfa.nextFrame();
    const element = vfa.element(number);
    return element === null ? { gone: true } : chosenOf([...optionsOf(element)]);
  };

  // --- lists that are made of other elements -----------------------------------------------

  const isOption = (element) => roleOf(element) === "option";
  // The options in an element, with those that its slots are given.
  const optionsIn = (root) => {
    const found = [];
    const own = root instanceof Element ? vfa.shadow(root) : null;
    for (const each of [...vfa.every(root), ...(own === null ? [] : vfa.every(own))]) {
      if (isOption(each)) found.push(each);
      if (!(each instanceof HTMLSlotElement)) continue;
      for (const given of dom.assigned(each)) {
        if (given.nodeType !== 1) continue;
        if (isOption(given)) found.push(given);
        found.push(...optionsIn(given));
      }
    }
    return found;
  };
  const ownedBy = (element) =>
    [...byIds(element, "aria-controls"), ...byIds(element, "aria-owns")];
  // The options that belong to a list box, or to what opens one.
  const ariaOptions = (element) => {
    const owned = ownedBy(element);
    let options = [element, ...owned].flatMap(optionsIn);
    if (owned.length === 0 && options.length === 0 && listKind(element) === "combobox") {
      options = optionsIn(document);
    }
    return [...new Set(options)].filter(isShown);
  };
  // Many combo boxes call the option that Enter would choose "selected": that is no choice.
  const isChosen = (element, option, options) =>
    isSelected(option) &&
    (listKind(element) === "listbox" ||
      isTrue(option, "aria-checked") ||
      options.filter(isSelected).length > 1 ||
      timesShown(element, nameOfOption(option)) > 0);

  // What a combo box shows as chosen is in it, or beside it in what is made for it alone: text
  // outside of its list, and outside of what is there for screen readers.
  const PIECES = 5; // ancestors at most
  const ASIDE = "[role=option], [role=listbox], [aria-live], [role=log], [role=status], [role=alert]";
  const textShown = (element) => {
    let text = "";
    for (const node of vfa.flatChildren(element)) {
      if (node.nodeType === 3) text += node.data;
      if (node.nodeType !== 1 || dom.matches(node, ASIDE) || !dom.visible(node)) continue;
      const field = isInput(node) && inputType(node) !== "password" ? inputValue(node) : "";
      text += isSelect(node) ? "" : ` ${field}${textShown(node)} `;
    }
    return text;
  };
  const madeFor = (element) => {
    const own = new Set([element, ...ownedBy(element)]);
    const isForeign = (each) =>
      isField(each) && isShown(each) && ![...own].some((mine) => vfa.inside(mine, each));
    let holder = element;
    for (let level = 0; level < PIECES; level += 1) {
      const next = vfa.up(holder);
      if (next === null || dom.matches(next, "body, html, form, fieldset, dialog")) break;
      if ([...dom.all(next, FIELDS)].some(isForeign)) break;
      holder = next;
    }
    return holder;
  };
  const timesShown = (element, name) => {
    const holder = madeFor(element);
    const field = isInput(holder) ? inputValue(holder) : "";
    return collapse(field + textShown(holder)).split(name).length - 1;
  };
  // {open, popup, multiple, editable}: whether the options of a list can be seen; come and go;
  // can be chosen several at a time; can be looked for by typing.
  vfa.listState = (number) => {
    const element = vfa.element(number);
    if (element === null) return { gone: true };
    const inner = dom.all(element, "[role=listbox]");
    const lists = [element, ...ownedBy(element), ...inner];
    const expanded = dom.attribute(element, "aria-expanded")?.toLowerCase();
    return {
      open: listKind(element) === "listbox" || expanded === "true",
      popup: listKind(element) !== "listbox",
      multiple: lists.some((list) => isTrue(list, "aria-multiselectable")),
      editable: isInput(element) && dom.matches(element, ":read-write"),
    };
  };
  // Finds options by what `want` says: {picked: [[number, selected, name, times that it is shown
  // as chosen]], others: numbers of the other selected ones}; within `budget` ms, else {trouble,
  // why, options}.
  vfa.findOptions = async (number, want, budget) => {
    const began = performance.now();
    for (;;) {
      const element = vfa.element(number);
      if (element === null) return { gone: true };
      const options = ariaOptions(element);
      const { picked, unknown, off } = pick(options, want);
      if (picked !== undefined) {
        const wanted = new Set(picked);
        const others = options.filter(
          (each) => !wanted.has(each) && isChosen(element, each, options),
        );
        const told = (option) => {
          const name = nameOfOption(option);
          const times = name === "" ? 0 : timesShown(element, name);
          return [vfa.number(option), isChosen(element, option, options), name, times];
        };
        return {
          picked: picked.map(told),
          others: others.map(vfa.number),
        };
      }
      if (performance.now() - began >= budget) {
        const trouble = off === undefined ? "unknown" : "off";
        return { trouble, why: off ?? unknown, ...described(options) };
      }
      await vfa.nextFrame();
    }
  };
  // Whether a list, or what opens it, says that an option is chosen (or, with `chosen` false,
  // that it is not); within `budget` ms. The option may be gone with its list: then what counts
  // is whether its name is now shown more often than the `times` that it was. A list that is
  // `closing` is given time for it: one that is opened in the middle may not come.
  const CLOSING = 400; // ms
  vfa.optionBecame = async (number, option, name, times, chosen, closing, budget) => {
    const began = performance.now();
    const holds = () => {
      const row = vfa.element(option);
      if (row !== null && (dom.hasAttribute(row, "aria-selected") || dom.hasAttribute(row, "aria-checked"))) {
        if (isSelected(row) === chosen) return true;
      }
      const element = vfa.element(number);
      if (element === null || listKind(element) === "listbox") return false;
      const shown = isInput(element) ? inputValue(element) : textOf(element);
      if (collapse(shown).includes(name) === chosen) return true;
      const isGone = row === null || !isShown(row);
      return chosen && isGone && name !== "" && timesShown(element, name) > times;
    };
    for (;;) {
      if (holds()) break;
      if (performance.now() - began >= budget) return false;
      await vfa.nextFrame();
    }
    const chose = performance.now();
    const closes = (row = vfa.element(option)) => closing && row !== null && isShown(row);
    while (closes() && performance.now() - chose < CLOSING) await vfa.nextFrame();
    return true;
  };

  // --- sending a form ----------------------------------------------------------------------

  const SENDERS = "button, input[type=submit i], input[type=image i]";
  // The button that sends the form a field is in: its number, or 0.
  vfa.sender = (number) => {
    const element = vfa.element(number);
    if (element === null) return 0;
    const formOf = (each) => {
      const prototype = Object.getPrototypeOf(each);
      const own = Object.getOwnPropertyDescriptor(prototype, "form");
      return own === undefined ? dom.closest(each, "form") : own.get.call(each);
    };
    const form = formOf(element);
    if (form === null) return 0;
    const sends = (each) =>
      isInput(each) || get(HTMLButtonElement.prototype, "type")(each) === "submit";
    const found = [...dom.all(dom.root(element), SENDERS)].filter(
      (each) => sends(each) && formOf(each) === form && isShown(each),
    );
    return found.length === 0 ? 0 : vfa.number(found[0]);
  };

  // --- files -------------------------------------------------------------------------------

  const isFile = (element) => isInput(element) && inputType(element) === "file";
  const seenFiles = new WeakMap();
  // {number, kind}: "input" for a file input, its own or of its label, "button" for what may
  // open a chooser.
  vfa.fileTarget = (what) => {
    const found = vfa.wanted(what);
    if (found === null) return { missing: true };
    const element = controlIn(found.element, "input[type=file i]", isFile);
    const number = vfa.number(element ?? found.element);
    return { number, matches: found.matches, kind: element === null ? "button" : "input" };
  };
  // What a file input takes; from now on it is noted what it is given.
  vfa.fileInput = (element) => {
    const has = get(HTMLInputElement.prototype, "files");
    const note = () => seenFiles.set(element, [...has(element)].map((file) => file.name));
    // A browser calls it "cancel" where the files are those that it has already.
    for (const kind of ["change", "cancel"]) {
      EventTarget.prototype.addEventListener.call(element, kind, note, {
        capture: true,
        once: true,
      });
    }
    seenFiles.delete(element);
    return {
      multiple: get(HTMLInputElement.prototype, "multiple")(element),
      accept: get(HTMLInputElement.prototype, "accept")(element).slice(0, 500),
      directory: get(HTMLInputElement.prototype, "webkitdirectory")(element),
      disabled: dom.matches(element, ":disabled"),
    };
  };
  // The names of the files that it was given, once its listeners have been told.
  vfa.filesGiven = async (element, budget) => {
    const began = performance.now();
    for (;;) {
      const names = seenFiles.get(element);
      if (names !== undefined) return { told: true, names: names.slice(0, 100) };
      if (performance.now() - began >= budget) return { told: false };
      await vfa.nextFrame();
    }
  };
}
