// What a page consists of, for those who cannot see it: a tree of what matters in it.
//
// `grow` builds the tree from the markup and the styles alone, which is quick; only the nodes
// that are wanted are then described, with Chromium's roles and names. The tree is that of
// layout: slots and shadow trees are where they are shown. Frames are leaves here.
(vfa) => {
  const dom = vfa.dom;
  const words = (text) => new Set(text.split(" "));
  const ACTIVE = words(
    "button link textbox checkbox combobox radio switch tab slider searchbox spinbutton " +
      "menuitem menuitemcheckbox menuitemradio option treeitem scrollbar listbox disclosure " +
      "date time datetime month week color",
  );
  // What the contract lists besides: they hold others, or show something.
  const LISTED = words("menu tablist tabpanel tree progressbar separator");
  const HOLDERS = words(
    "alert alertdialog application article banner complementary contentinfo dialog feed figure " +
      "form grid group list listbox listitem log main marquee menu menubar navigation " +
      "radiogroup region row search status table tablist tabpanel timer toolbar tooltip tree " +
      "treegrid row treeitem meter progressbar",
  );
  const LANDMARKS = words("banner complementary contentinfo form main navigation region search");
  // Holders that say nothing when they have no name and hold one thing.
  const PLAIN = words("article figure group list listitem item region row table form search status");
  const FIELDS = words(
    "textbox searchbox combobox spinbutton slider date time datetime month week color " +
      "scrollbar progressbar meter image separator",
  );
  const SKIPPED = words(
    "script style template noscript head title meta link base path circle rect line polyline " +
      "polygon ellipse defs desc source track param datalist col colgroup wbr",
  );
  const SURFACES = words("canvas video audio");
  const ITEMS = 3; // siblings that look alike are items of a list that nobody marked as one
  const visibleName = (element) =>
    dom.hasAttribute(element, "aria-label") || dom.hasAttribute(element, "aria-labelledby");

  const childrenOf = (element, name) => {
    const inner = vfa.shadow(element);
    if (inner !== null) return inner.childNodes;
    if (name === "slot" && element instanceof HTMLSlotElement) {
      const assigned = dom.assigned(element);
      if (assigned.length > 0) return assigned;
    }
    return dom.childNodes(element);
  };
  vfa.flatChildren = (element) => childrenOf(element, dom.name(element));

  const BLOCKS = /^(inline$|inline |contents|ruby|none)/; // what does not begin a new line
  const looks = (element) => `${dom.name(element)}.${dom.classes(element)[0] ?? ""}`;
  // The names of looks that at least `ITEMS` children share.
  const repeated = (nodes) => {
    if (nodes.length < ITEMS) return null;
    const counts = new Map();
    let found = null;
    for (const node of nodes) {
      if (node.nodeType !== 1) continue;
      const key = looks(node);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count === ITEMS) (found ??= new Set()).add(key);
    }
    return found;
  };

  // The parts of a node; those of the list that is all there is in it.
  const withoutList = (nodes) =>
    nodes.length === 1 && nodes[0].role === "list" && !visibleName(nodes[0].element)
      ? nodes[0].children
      : nodes;

  // --- growing ---------------------------------------------------------------------------

  class Grower {
    // order: the nodes as they come, for those who want a list; limit: how many are enough
    constructor({ limit = Infinity, options = false, headings = false } = {}) {
      this.order = [];
      this.limit = limit;
      this.options = options;
      this.headings = headings;
      this.inertLeft = false;
    }
    node(role, element, listed) {
      const made = { role, element, children: [], text: "", dropped: false };
      if (listed) this.order.push(made);
      return made;
    }
    get full() {
      return this.order.length > this.limit;
    }
    // Collects what is in `nodes` into `into`.
    // context: shown (visibility), muted (aria-hidden), pointer (cursor), inside (a control)
    collect(nodes, into, context) {
      const alike = context.inside ? null : repeated(nodes);
      for (const node of nodes) {
        if (this.full) return;
        if (node.nodeType === 3) {
          if (context.shown && !context.inside && !context.muted) into.run += node.data;
        } else if (node.nodeType === 1) this.element(node, into, context, alike);
      }
    }
    flush(into) {
      if (into.run === "") return;
      const text = vfa.squeeze(into.run);
      into.run = "";
      if (text !== "") into.list.push({ role: "text", text, element: null, children: [] });
    }
    push(into, node) {
      this.flush(into);
      into.list.push(node);
    }
    inner(node, nodes, context) {
      const into = { list: node.children, run: "" };
      this.collect(nodes, into, context);
      this.flush(into);
    }
    element(element, into, context, alike) {
      const name = dom.name(element);
      if (SKIPPED.has(name)) return;
      if (name === "br") {
        into.run += " ";
        return;
      }
      const style = getComputedStyle(element);
      const display = style.display;
      if (display === "none") return this.unseen(element, name, into, context);
      const shown = style.visibility === "visible";
      if (dom.hasAttribute(element, "inert")) {
        this.inertLeft = true;
        return;
      }
      const muted = context.muted || dom.attribute(element, "aria-hidden") === "true";
      const pointer = style.cursor === "pointer";
      const role = vfa.role(element, name);
      const here = { shown, muted, pointer, inside: context.inside };
      const block = !BLOCKS.test(display);
      if (block) this.flush(into);
      this.place(element, name, role, into, here, context, alike, block);
      if (block) this.flush(into);
    }
    // A control that is not shown, but whose label is: it stands where the label does.
    unseen(element, name, into, context) {
      if (name !== "input" || !context.shown || context.inside) return;
      const type = element.type;
      if (type !== "checkbox" && type !== "radio" && type !== "file") return;
      for (const label of element.labels ?? []) {
        if (!dom.visible(label, { visibilityProperty: true })) continue;
        const node = this.node(vfa.role(element, name), element, true);
        this.push(into, node);
        return;
      }
    }
    place(element, name, role, into, here, context, alike, block) {
      if (role === "iframe") {
        if (here.shown && !context.inside) this.push(into, this.node("iframe", element, true));
        return;
      }
      if (ACTIVE.has(role)) return this.control(element, name, role, into, here);
      const tabindex = dom.attribute(element, "tabindex");
      const clickable =
        here.shown &&
        !context.inside &&
        (dom.hasAttribute(element, "onclick") ||
          (tabindex !== null && Number(tabindex) >= 0 && !HOLDERS.has(role)) ||
          (here.pointer && !context.pointer)) &&
        name !== "html" &&
        name !== "body" &&
        !(name === "label" && element.control !== null);
      if (context.inside) {
        this.collect(childrenOf(element, name), into, here);
        return;
      }
      if (role === "heading") return this.heading(element, name, into, here);
      if (role === "image" || name === "svg") {
        if (this.image(element, name, into, here)) return;
      }
      if (name === "label" && element.control && !visibleName(element.control)) {
        return this.label(element, into, here);
      }
      if (role === "separator") {
        if (this.options && here.shown) this.push(into, this.node(role, element, true));
        return;
      }
      if (clickable) return this.clickable(element, name, role, into, here);
      if (SURFACES.has(name) && role === "") return this.surface(element, name, into, here);
      if (HOLDERS.has(role)) return this.holder(element, name, role, into, here);
      if (alike !== null && block && alike.has(looks(element))) {
        return this.holder(element, name, "item", into, here);
      }
      if (visibleName(element) && role === "" && !here.muted) {
        return this.named(element, name, into, here);
      }
      const nodes =
        name === "details" && !dom.hasAttribute(element, "open")
          ? [...childrenOf(element, name)].filter((node) => node.localName === "summary").slice(0, 1)
          : childrenOf(element, name);
      this.collect(nodes, into, here);
    }
    control(element, name, role, into, here) {
      const loose = here.muted && Number(dom.attribute(element, "tabindex") ?? 0) < 0;
      if (!here.shown || loose) {
        if (!FIELDS.has(role)) this.collect(childrenOf(element, name), into, here);
        return;
      }
      const node = this.node(role, element, true);
      this.push(into, node);
      if (name === "select") {
        if (this.options) this.selectOptions(element, node);
        return;
      }
      if (FIELDS.has(role) && !vfa.shadow(element)) {
        if (name !== "input" && name !== "textarea" && !vfa.editable(element)) {
          this.inner(node, childrenOf(element, name), { ...here, inside: true });
        }
        return;
      }
      const inside = !HOLDERS.has(role);
      this.inner(node, childrenOf(element, name), { ...here, pointer: true, inside });
    }
    selectOptions(select, node) {
      const limit = select.multiple || select.size > 1 ? 100 : 20;
      for (const option of [...select.options].slice(0, limit)) {
        node.children.push(this.node("option", option, true));
      }
    }
    heading(element, name, into, here) {
      const node = this.node("heading", element, this.headings);
      this.inner(node, childrenOf(element, name), { ...here, inside: true });
      if (here.shown && dom.text(element).trim() === "" && node.children.length === 0) {
        node.empty = dom.one(element, "img[alt],[aria-label]") === null;
      }
      if (!here.shown || node.empty || here.muted) {
        for (const child of node.children) this.push(into, child);
      } else this.push(into, node);
    }
    // Takes pictures that say something; true if there is nothing more to see in them.
    image(element, name, into, here) {
      if (!here.shown || here.muted) return name !== "svg";
      const given =
        name === "img"
          ? (dom.attribute(element, "alt") ?? "").trim()
          : name === "svg"
            ? (dom.one(element, ":scope > title")?.textContent ?? "").trim()
            : "";
      if (given !== "" || visibleName(element)) {
        this.push(into, this.node("image", element, false));
        return true;
      }
      return name === "img";
    }
    // The text of a label is the name of its field.
    label(element, into, here) {
      const part = { list: [], run: "" };
      this.collect(childrenOf(element, "label"), part, here);
      for (const node of part.list) if (node.role !== "text") this.push(into, node);
    }
    // What is drawn or played has no markup to show; what stands inside it is not on the screen.
    surface(element, name, into, here) {
      const { width, height } = dom.rect(element);
      if (!here.shown || here.muted || width < 8 || height < 8) return;
      this.push(into, this.node(name, element, false));
    }
    named(element, name, into, here) {
      const node = this.node("named", element, false);
      this.inner(node, childrenOf(element, name), here);
      if (!here.shown || node.children.some((child) => child.role !== "text")) {
        node.role = "group";
        if (node.children.length === 1 || !here.shown) {
          for (const child of node.children) this.push(into, child);
          return;
        }
      } else node.children = []; // its label says what its text shows
      this.push(into, node);
    }
    clickable(element, name, role, into, here) {
      const node = this.node("clickable", element, true);
      this.inner(node, childrenOf(element, name), here);
      if (HOLDERS.has(role)) node.holder = role;
      const parts = node.children;
      const only = parts.length === 1 ? parts[0] : null;
      if (only !== null && only.role !== "text" && only.role !== "image" && only.role !== "named") {
        node.dropped = true; // what can be clicked in it is the same thing
        this.push(into, only);
        return;
      }
      if (parts.every((part) => part.role === "text")) {
        node.text = parts.map((part) => part.text).join(" ");
        node.children = [];
        const box = node.text === "" ? dom.rect(element) : null;
        if (box !== null && (box.width < 4 || box.height < 4)) {
          node.dropped = true;
          return;
        }
      }
      this.push(into, node);
    }
    holder(element, name, role, into, here) {
      const node = this.node(
        role,
        element,
        here.shown && ((this.options && LISTED.has(role)) || (this.headings && LANDMARKS.has(role))),
      );
      this.inner(node, childrenOf(element, name), here);
      const named = visibleName(element) || dom.hasAttribute(element, "title");
      node.children = withoutList(node.children);
      const worthless =
        !here.shown ||
        (node.children.length === 0 && !FIELDS.has(role)) ||
        (PLAIN.has(role) &&
          !named &&
          node.children.length === 1 &&
          (node.children[0].role !== "text" || (role !== "listitem" && role !== "row")));
      if (!worthless) return this.push(into, node);
      for (const child of node.children) this.push(into, child);
    }
  }

  const titleOf = Object.getOwnPropertyDescriptor(Document.prototype, "title").get;
  // Where to begin: at an element, or at what is open above everything else, or at the body.
  const beginning = (under) => {
    if (under !== null) return { top: under, modal: false };
    let modal = null;
    for (const dialog of dom.all(document, "dialog:modal")) modal = dialog;
    const body = dom.body(document) ?? dom.documentElement(document);
    return modal === null ? { top: body, modal: false } : { top: modal, modal: true };
  };
  const grow = (top, options) => {
    const grower = new Grower(options);
    const root = { role: "root", element: top, children: [], text: "" };
    const into = { list: root.children, run: "" };
    const context = { shown: true, muted: false, pointer: false, inside: false };
    if (top !== null) {
      const style = getComputedStyle(top);
      const shown = style.visibility === "visible";
      const pointer = style.cursor === "pointer";
      grower.collect(childrenOf(top, dom.name(top)), into, { ...context, shown, pointer });
    }
    grower.flush(into);
    root.children = withoutList(root.children);
    return { root, grower };
  };

  // --- the outline -----------------------------------------------------------------------

  const count = (node) => {
    node.count = 1;
    for (const child of node.children) node.count += count(child);
    return node.count;
  };
  // How high water stands in vessels of these sizes when `amount` is poured into them.
  const level = (sizes, amount) => {
    const sorted = [...sizes].sort((a, b) => a - b);
    let left = amount;
    for (let index = 0; index < sorted.length; index += 1) {
      const share = left / (sorted.length - index);
      if (sorted[index] > share) return Math.floor(share);
      left -= sorted[index];
    }
    return Infinity;
  };
  const WHOLE = 12; // nodes of a part that is described whole or not at all
  const least = (node) => (node.count <= WHOLE ? node.count : 2);
  // Leaves at most `quota` nodes: small parts are left whole, large ones share the rest.
  // `left` says how many children a node lost.
  const limit = (node, quota, depth) => {
    let kept = 0;
    if (depth > 0) {
      let room = quota - 1;
      for (const child of node.children) {
        if ((room -= least(child)) < 0) break;
        kept += 1;
      }
    }
    node.left = node.children.length - kept;
    if (node.left > 0) node.children = node.children.slice(0, kept);
    if (node.count <= quota && depth === Infinity) return;
    const share = level(
      node.children.map((child) => child.count),
      quota - 1,
    );
    for (const child of node.children) limit(child, Math.max(share, least(child)), depth - 1);
  };
  const GROUPS = words("listitem item row article figure clickable");
  const SMALL = 30; // nodes of a group that is shown whole when something in it is found
  // Whether something in a node matches; leaves only that, and the groups around it.
  const sift = (node, matches) => {
    const own = node.role !== "root" && matches(node);
    if (own && node.children.length === 0) return true;
    const kept = node.children.filter((child) => sift(child, matches));
    if (!own && kept.length === 0) return false;
    if (!(own || GROUPS.has(node.role)) || node.count > SMALL) node.children = kept;
    return true;
  };
  const matcher = (wanted) => {
    const text = vfa.squeeze(wanted).toLowerCase();
    return (node) => {
      if (node.role === "text") return node.text.toLowerCase().includes(text);
      const said = `${nameOf(node)}\n${dom.attribute(node.element, "placeholder") ?? ""}\n${
        FIELDS.has(node.role) || dom.name(node.element) === "select"
          ? (vfa.value(node.element, node.role) ?? "")
          : ""
      }`;
      return said.toLowerCase().includes(text);
    };
  };

  const SAYS_NAME = words(
    "alert alertdialog dialog form grid group image listbox log menu menubar meter navigation " +
      "named progressbar radiogroup region search table tablist tabpanel timer toolbar tree " +
      "treegrid main banner complementary contentinfo feed figure article iframe list status " +
      "canvas video audio",
  );
  const MAX_NAME = 150;
  const nameOf = (node) => {
    if (node.name === undefined) node.name = makeName(node);
    return node.name;
  };
  const makeName = (node) => {
    const { element, role } = node;
    if (role === "clickable") {
      const given = vfa.name(element, node.children.length === 0 ? role : "group");
      if (given !== "" || node.text !== "") return given || node.text;
      return node.children.length === 0 ? `<${vfa.describe(element)}>` : "";
    }
    if (!ACTIVE.has(role) && role !== "heading" && !SAYS_NAME.has(role)) return "";
    if (SAYS_NAME.has(role) && !visibleName(element)) {
      // A group is named by its caption or title only; its content is in the outline.
      return /^(image|iframe|meter|progressbar)$/.test(role) || dom.name(element) === "fieldset"
        ? vfa.name(element, role)
        : dom.attribute(element, "title") ?? "";
    }
    return vfa.name(element, role);
  };
  const addressOf = (element) => {
    const given = dom.attribute(element, "href");
    if (given === null || given.length > 2000) return "";
    const link = element instanceof HTMLAnchorElement || element instanceof HTMLAreaElement;
    if (!link || element.protocol === "javascript:") return "";
    const here = element.origin === location.origin && element.origin !== "null";
    const path = element.pathname + element.search;
    if (here && element.hash !== "" && path === location.pathname + location.search) {
      return element.hash;
    }
    return here ? path + element.hash : element.href;
  };
  const optionsOf = (select) => {
    const labels = [];
    let room = 120;
    for (const option of select.options) {
      const label = vfa.cut(vfa.squeeze(option.label), 40);
      if ((room -= label.length + 3) < 0) break;
      labels.push(label);
    }
    return { labels, more: select.options.length - labels.length };
  };
  // What is said of a node: an object with what there is to say.
  const describe = (node) => {
    if (node.role === "text") return { role: "text", name: vfa.cut(node.text, 400) };
    const { element } = node;
    const said = { number: vfa.number(element), role: node.role };
    if (node.role === "item" || node.role === "listitem" || node.role === "row") return said;
    const name = nameOf(node);
    if (name !== "") said.name = vfa.cut(name, MAX_NAME);
    if (node.role === "named") {
      said.role = "text";
      return said;
    }
    if (node.role === "heading") {
      const level = dom.attribute(element, "aria-level") ?? dom.name(element).slice(1);
      said.role = `h${/^[1-9]$/.test(level) ? level : 2}`;
      return said;
    }
    if (dom.name(element) === "input" && element.type === "file") said.role = "file";
    if (ACTIVE.has(node.role) || node.role === "clickable") {
      const state = vfa.state(element, node.role);
      const marks = vfa.marks(element);
      if (Object.keys(state).length > 0) said.state = state;
      if (marks.length > 0) said.marks = marks;
      const url = node.role === "link" ? addressOf(element) : "";
      if (url !== "") said.url = vfa.cut(url, 200);
      const hint = dom.attribute(element, "placeholder");
      if (hint && vfa.squeeze(hint) !== name) said.hint = vfa.cut(vfa.squeeze(hint), 80);
    }
    if (FIELDS.has(node.role) || node.role === "listbox" || said.role === "file") {
      const value = vfa.value(element, node.role);
      if (value !== null && value !== "") {
        said.value = typeof value === "string" ? vfa.cut(vfa.squeeze(value), 200) : value;
      }
      if (dom.name(element) === "select") {
        const { labels, more } = optionsOf(element);
        said.options = labels;
        if (more > 0) said.moreOptions = more;
      }
    }
    return said;
  };
  const flatten = (node, depth, out) => {
    for (const child of node.children) {
      const said = describe(child);
      if (depth > 0) said.depth = depth;
      if (child.left > 0) said.left = child.left;
      if (child.left > 0 && said.number === undefined) said.number = vfa.number(child.element);
      out.push(said);
      flatten(child, depth + 1, out);
    }
    return out;
  };
  const numbered = (number) => (number === 0 ? null : vfa.element(number));

  // The outline of this document: {nodes, left, title…}. {suspects} where closed roots must be
  // looked into first; {gone} where `under` is.
  vfa.outline = (under, { quota, depth, offset, find }, look) => {
    const top = numbered(under);
    if (under !== 0 && top === null) return { gone: true };
    if (look && vfa.hasSuspects()) return { suspects: true };
    vfa.beginNames();
    const start = beginning(top);
    const { root, grower } = grow(start.top, {});
    count(root);
    if (find !== "") sift(root, matcher(find));
    if (find !== "") count(root);
    root.children = root.children.slice(offset);
    count(root);
    limit(root, quota + 1, depth > 0 ? depth : Infinity);
    return {
      nodes: flatten(root, 0, []),
      left: root.left,
      count: root.count - 1,
      modal: start.modal,
      inert: grower.inertLeft,
      title: titleOf.call(document),
      url: location.href,
    };
  };

  // --- the list --------------------------------------------------------------------------

  const listed = (node, { text, headings, landmarks }) => {
    const { element, role } = node;
    if (role === "iframe") return { frame: vfa.number(element), selector: vfa.selector(element) };
    if (role === "heading" && !headings) return null;
    if (LANDMARKS.has(role) && !landmarks) return null;
    const name = role === "clickable" ? makeName(node) : vfa.name(element, role);
    const said = {
      number: vfa.number(element),
      role: vfa.shownRole(element, role),
      name: vfa.cut(name, 1000),
      description: vfa.description(element, name),
      selector: vfa.selector(element),
      state: vfa.state(element, role),
    };
    const value = text ? vfa.value(element, role) : null;
    if (value !== null && value !== "") {
      said.value = typeof value === "string" ? vfa.cut(value, 1000) : value;
    }
    if (role === "heading") said.level = Number(describe(node).role.slice(1));
    return said;
  };
  // The first `most` elements of this document that one can use, as a flat list, with frames
  // where they are in it: {elements, more}.
  vfa.elements = (most, include, look) => {
    if (look && vfa.hasSuspects()) return { suspects: true };
    vfa.beginNames();
    vfa.beginSelectors();
    const { grower } = grow(beginning(null).top, {
      limit: most + 30,
      options: true,
      headings: include.headings || include.landmarks,
    });
    const elements = [];
    let shown = 0;
    for (const node of grower.order) {
      if (node.dropped) continue;
      const said = listed(node, include);
      if (said === null) continue;
      if (said.frame === undefined && (shown += 1) > most) return { elements, more: true };
      elements.push(said);
    }
    return { elements, more: grower.full };
  };
}
