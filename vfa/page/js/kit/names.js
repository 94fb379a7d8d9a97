// What an element is to its user: role, name, description, states, value.
//
// Role and name come from Chromium, which computes them from its accessibility tree; the
// engine keeps that tree alive meanwhile. Where nobody does, each read builds it anew (30 ms on
// 2,000 elements), and a foreign browser may not offer them at all: then the markup answers.
(vfa) => {
  const dom = vfa.dom;
  const computed = (name) => {
    const get = Object.getOwnPropertyDescriptor(Element.prototype, name)?.get;
    return get === undefined ? null : (element) => get.call(element);
  };
  const computedRole = computed("computedRole");
  const computedName = computed("computedName");
  const squeeze = (text) => text.replace(/[\s\u200b\u200c\u2060\ufeff]+/g, " ").trim();
  const cut = (text, limit) => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);
  vfa.squeeze = squeeze;
  vfa.cut = cut;

  // --- roles by markup -------------------------------------------------------------------

  const words = (text) => new Set(text.split(" "));
  const INPUTS = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    file: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    date: "date",
    time: "time",
    "datetime-local": "datetime",
    month: "month",
    week: "week",
    color: "color",
  };
  const TAGS = {
    article: "article",
    aside: "complementary",
    button: "button",
    dialog: "dialog",
    fieldset: "group",
    figure: "figure",
    form: "form",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    hr: "separator",
    iframe: "iframe",
    frame: "iframe",
    img: "image",
    li: "listitem",
    main: "main",
    menu: "list",
    meter: "meter",
    nav: "navigation",
    ol: "list",
    optgroup: "group",
    option: "option",
    output: "status",
    progress: "progressbar",
    search: "search",
    table: "table",
    td: "cell",
    textarea: "textbox",
    th: "cell",
    tr: "row",
    ul: "list",
  };
  const ARIA = words(
    "alert alertdialog application article banner button cell checkbox columnheader combobox " +
      "complementary contentinfo dialog feed figure form grid gridcell group heading image img " +
      "link list listbox listitem log main marquee menu menubar menuitem menuitemcheckbox " +
      "menuitemradio meter navigation none option presentation progressbar radio radiogroup " +
      "region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton " +
      "status switch tab table tablist tabpanel term textbox timer toolbar tooltip tree " +
      "treegrid treeitem generic",
  );
  const SAME = { img: "image", presentation: "none", columnheader: "cell", rowheader: "cell" };
  const BY_COMPUTER = { "": "", none: "", generic: "", image: "image", img: "image" };
  vfa.editable = (element) => {
    const value = dom.attribute(element, "contenteditable");
    return value !== null && value.toLowerCase() !== "false";
  };
  const sectioned = (element) => dom.closest(element, "article,aside,main,nav,section") !== null;
  // What the markup makes of an element; "" for what means nothing. Never asks Chromium, so
  // that what a snapshot is built from costs little.
  vfa.role = (element, name) => {
    const given = dom.attribute(element, "role");
    if (given !== null) {
      for (const token of given.trim().toLowerCase().split(/\s+/)) {
        if (ARIA.has(token)) return SAME[token] ?? (token === "generic" ? "" : token);
      }
    }
    switch (name) {
      case "a":
      case "area":
        return dom.hasAttribute(element, "href") ? "link" : "";
      case "input": {
        const type = element.type;
        return type === "hidden"
          ? "none"
          : (INPUTS[type] ?? (dom.hasAttribute(element, "list") ? "combobox" : "textbox"));
      }
      case "select":
        return element.multiple || element.size > 1 ? "listbox" : "combobox";
      case "summary": {
        const parent = dom.parentElement(element);
        const first = parent !== null && dom.name(parent) === "details";
        return first && dom.one(parent, ":scope > summary") === element ? "disclosure" : "";
      }
      case "header":
        return sectioned(element) ? "" : "banner";
      case "footer":
        return sectioned(element) ? "" : "contentinfo";
      case "section":
        return dom.hasAttribute(element, "aria-label") ||
          dom.hasAttribute(element, "aria-labelledby")
          ? "region"
          : "";
      default:
        return Object.hasOwn(TAGS, name) ? TAGS[name] : vfa.editable(element) ? "textbox" : "";
    }
  };

  // --- role and name by Chromium ---------------------------------------------------------

  const BUDGET = 1500; // ms that reads may take in one go; then the markup has to do
  const FREE = 4; // reads that do not count: the first ones may build the tree
  let reads = 0;
  let spent = 0;
  vfa.beginNames = () => {
    reads = 0;
    spent = 0;
  };
  const ask = (read, element) => {
    if (read === null || spent > BUDGET) return null;
    const asked = performance.now();
    const answer = read(element);
    if ((reads += 1) > FREE) spent += performance.now() - asked;
    return answer;
  };
  // The role that is shown for an element, given the one by markup.
  vfa.shownRole = (element, role) => {
    const answer = ask(computedRole, element) ?? "";
    return answer in BY_COMPUTER || role === "disclosure" || role === "clickable"
      ? BY_COMPUTER[answer] || role
      : answer;
  };
  vfa.name = (element, role) => {
    let answer = squeeze(ask(computedName, element) ?? "");
    // What is chosen in a file input is its value; Chromium's name has both.
    if (role === "button" && /: [^:]*$/.test(answer) && element.type === "file") {
      answer = answer.slice(0, answer.lastIndexOf(": "));
    }
    return answer === "" ? squeeze(vfa.nameByMarkup(element, role)) : answer;
  };

  const CONTENT = words(
    "button cell checkbox disclosure heading link menuitem menuitemcheckbox menuitemradio " +
      "option radio row switch tab tooltip treeitem clickable",
  );
  const byIds = (element, attribute) => {
    const ids = dom.attribute(element, attribute);
    if (ids === null) return "";
    const tree = dom.root(element);
    const found = ids.split(/\s+/).map((id) => (id === "" ? null : dom.one(tree, `#${CSS.escape(id)}`)));
    return squeeze(found.map((each) => (each === null ? "" : contentOf(each))).join(" "));
  };
  const labelsOf = (element) => {
    if (!(element instanceof HTMLElement) || !("labels" in element)) return "";
    return [...(element.labels ?? [])].map((label) => contentOf(label, element)).join(" ");
  };
  // The text in an element, pictures by their names, fields and what is not shown left out.
  const contentOf = (element, except = null) => {
    let text = "";
    for (const node of dom.childNodes(element)) {
      if (node.nodeType === 3) text += node.data;
      if (node.nodeType !== 1 || node === except) continue;
      const name = dom.name(node);
      const label = dom.attribute(node, "aria-label") || dom.attribute(node, "alt");
      if (label) text += ` ${label} `;
      else if (name === "title" || dom.visible(node)) {
        if (!/^(input|select|textarea|script|style|template)$/.test(name)) {
          const inner = contentOf(node, except);
          text += /^(b|i|em|strong|span|a|u|s|small|sup|sub|code)$/.test(name) ? inner : ` ${inner} `;
        }
      }
    }
    return text;
  };
  // The name by the rules of accname 1.2, as far as the markup tells.
  vfa.nameByMarkup = (element, role) => {
    const tag = dom.name(element);
    const given =
      byIds(element, "aria-labelledby") ||
      (dom.attribute(element, "aria-label") ?? "").trim() ||
      labelsOf(element);
    if (given) return given;
    if (tag === "img" || tag === "area" || (tag === "input" && element.type === "image")) {
      const alt = dom.attribute(element, "alt");
      if (alt !== null) return alt;
    }
    if (tag === "input" && INPUTS[element.type] === "button") {
      const plain = { submit: "Submit", reset: "Reset", file: "Choose File" };
      if (element.type === "file") return plain.file;
      if (element.value) return element.value;
      if (plain[element.type]) return plain[element.type];
    }
    const child = { fieldset: "legend", figure: "figcaption", table: "caption", svg: "title" }[tag];
    const caption = child === undefined ? null : dom.one(element, `:scope > ${child}`);
    if (caption !== null) return contentOf(caption);
    if (tag === "optgroup" || (tag === "option" && dom.hasAttribute(element, "label"))) {
      return dom.attribute(element, "label") ?? "";
    }
    const native = tag === "input" || tag === "textarea" || tag === "select";
    const text = CONTENT.has(role) && !native ? contentOf(element) : "";
    return (
      squeeze(text) ||
      (dom.attribute(element, "title") ?? "") ||
      (dom.attribute(element, "placeholder") ?? "") ||
      (dom.attribute(element, "aria-placeholder") ?? "")
    );
  };
  vfa.description = (element, name) => {
    const given = byIds(element, "aria-describedby") || dom.attribute(element, "aria-description");
    const text = squeeze(given || dom.attribute(element, "title") || "");
    return text === name ? "" : cut(text, 300);
  };

  // --- states and values -----------------------------------------------------------------

  const CHECKED = words("checkbox radio switch menuitemcheckbox menuitemradio");
  const SELECTED = words("option tab treeitem");
  const READONLY = words("textbox");
  const REQUIRED = words("textbox spinbutton combobox listbox");
  const yes = (element, attribute) => dom.attribute(element, attribute) === "true";
  const native = (element, property) => element instanceof HTMLElement && element[property] === true;
  const disabled = (element) =>
    dom.matches(element, ":disabled") || dom.closest(element, "[aria-disabled=true]") !== null;
  const checkedOf = (element) => {
    if (element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type)) {
      return element.indeterminate ? "mixed" : String(element.checked);
    }
    const value = dom.attribute(element, "aria-checked");
    return value === "true" || value === "mixed" ? value : "false";
  };
  const expandedOf = (element, role) => {
    if (role === "disclosure") return dom.hasAttribute(dom.parentElement(element), "open");
    const value = dom.attribute(element, "aria-expanded");
    if (value === "true" || value === "false") return value === "true";
    return element instanceof HTMLSelectElement && role === "combobox" ? false : undefined;
  };
  // The states of the contract, with the values that Chromium's accessibility tree has.
  vfa.state = (element, role) => {
    const state = {};
    if (disabled(element)) state.disabled = true;
    if (CHECKED.has(role)) state.checked = checkedOf(element);
    const expanded = expandedOf(element, role);
    if (expanded !== undefined) state.expanded = expanded;
    if (SELECTED.has(role)) {
      state.selected =
        element instanceof HTMLOptionElement ? element.selected : yes(element, "aria-selected");
    }
    if (READONLY.has(role) || yes(element, "aria-readonly") || native(element, "readOnly")) {
      state.readonly = native(element, "readOnly") || yes(element, "aria-readonly");
    }
    const chooser = element instanceof HTMLSelectElement && role === "combobox";
    if ((REQUIRED.has(role) && !chooser) || yes(element, "aria-required") || native(element, "required")) {
      state.required = native(element, "required") || yes(element, "aria-required");
    }
    return state;
  };
  // More that a model wants to know of an element: words.
  vfa.marks = (element) => {
    const marks = [];
    const tree = dom.root(element);
    if (tree.activeElement === element && element !== document.body) marks.push("focused");
    const pressed = dom.attribute(element, "aria-pressed");
    if (pressed === "true" || pressed === "mixed") marks.push("pressed");
    const current = dom.attribute(element, "aria-current");
    if (current !== null && current !== "" && current !== "false") marks.push("current");
    const invalid = dom.attribute(element, "aria-invalid");
    if (invalid !== null && invalid !== "" && invalid !== "false") marks.push("invalid");
    return marks;
  };
  const numeric = (element) => {
    for (const attribute of ["aria-valuetext", "aria-valuenow"]) {
      const value = dom.attribute(element, attribute);
      if (value !== null && value !== "") {
        const number = Number(value);
        return attribute === "aria-valuenow" && !Number.isNaN(number) ? number : value;
      }
    }
    return null;
  };
  const RANGES = words("slider spinbutton scrollbar progressbar meter");
  // What a field holds; null for what holds nothing. Passwords are dots.
  vfa.value = (element, role) => {
    if (element instanceof HTMLInputElement) {
      const type = element.type;
      if (type === "password") return "•".repeat(element.value.length);
      if (type === "file") {
        const names = [...(element.files ?? [])].map((file) => file.name);
        return names.length === 0 ? "No file chosen" : names.join(", ");
      }
      if (type === "range" || type === "number") {
        return element.value === "" ? null : element.valueAsNumber;
      }
      return INPUTS[type] === "button" || type === "checkbox" || type === "radio"
        ? null
        : element.value;
    }
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (element instanceof HTMLSelectElement) {
      const chosen = [...element.selectedOptions].slice(0, 20);
      return chosen.map((option) => squeeze(option.label)).join(", ");
    }
    if (element instanceof HTMLProgressElement) {
      return dom.hasAttribute(element, "value") ? element.value : null;
    }
    if (element instanceof HTMLMeterElement) return element.value;
    if (vfa.editable(element)) return squeeze(cut(dom.text(element), 2000));
    if (RANGES.has(role)) return numeric(element);
    if (role === "combobox") {
      const list = dom.one(element, "[role=listbox]");
      return numeric(element) ?? squeeze(cut(contentOf(element, list), 2000));
    }
    if (role === "textbox" || role === "searchbox") {
      return numeric(element) ?? squeeze(cut(dom.text(element), 2000));
    }
    return null;
  };
}
