// Text: what a reader sees of an element, and where in the page some text is.
(vfa) => {
  const dom = vfa.dom;
  const isFrame = (element) =>
    element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement;

  // --- what a reader sees ----------------------------------------------------------------

  // Elements that innerText cannot read right, since there is a shadow tree or a frame in them.
  const mixed = () => {
    const found = new Set();
    const add = (element) => {
      for (let node = element; node !== null && !found.has(node); node = vfa.up(node)) {
        found.add(node);
      }
    };
    for (const element of vfa.every(document)) {
      const slot = element instanceof HTMLSlotElement && dom.assigned(element).length > 0;
      if (slot || vfa.shadow(element) !== null || isFrame(element)) add(element);
    }
    return found;
  };
  const TAKEN_OUT = new Set(["inline", "contents", "none"]);
  const joinable = (style) =>
    TAKEN_OUT.has(style.display) || style.display.startsWith("inline") || style.display === "ruby";
  // Lines of text as innerText makes them, from pieces: text, frames, and breaks of one or two
  // lines of which only the largest of several in a row counts.
  class Lines {
    constructor() {
      this.parts = [];
      this.text = "";
      this.breaks = 0;
    }
    add(text) {
      if (text === "") return;
      if (this.text !== "" && this.breaks > 0) this.text += "\n".repeat(this.breaks);
      this.breaks = 0;
      this.text += text;
    }
    break(lines) {
      this.breaks = Math.max(this.breaks, lines);
    }
    frame(number) {
      this.parts.push(this.text, number);
      this.text = "";
      this.breaks = 0;
    }
  }
  const transformed = (text, style) => {
    const how = style.textTransform;
    if (how === "uppercase") return text.toUpperCase();
    if (how === "lowercase") return text.toLowerCase();
    return how === "capitalize" ? text.replace(/(^|\s)(\p{L})/gu, (all) => all.toUpperCase()) : text;
  };
  const kept = (text, style) =>
    /pre|break-spaces/.test(style.whiteSpace) ? text : text.replace(/[ \t\n\r\f]+/g, " ");
  const addText = (node, style, lines) => {
    if (style.visibility !== "visible") return;
    let text = transformed(kept(node.data, style), style);
    const fresh = lines.text === "" || lines.breaks > 0 || /\s$/.test(lines.text);
    if (fresh && !/pre/.test(style.whiteSpace)) text = text.replace(/^ /, "");
    lines.add(text);
  };
  const walk = (element, strange, lines) => {
    const style = getComputedStyle(element);
    if (style.display === "none" && dom.name(element) !== "slot") return;
    const name = dom.name(element);
    if (isFrame(element)) {
      if (style.visibility === "visible") lines.frame(vfa.number(element));
      return;
    }
    const block = !joinable(style);
    const gap = name === "p" ? 2 : 1;
    if (block) lines.break(gap);
    if (!strange.has(element)) {
      if (element instanceof HTMLElement) lines.add(dom.innerText(element));
      else if (/^(svg|math)$/.test(name)) lines.add(plain(element));
    } else {
      for (const node of vfa.flatChildren(element)) {
        if (node.nodeType === 3) addText(node, style, lines);
        else if (node.nodeType === 1) {
          if (dom.name(node) === "br") lines.add("\n");
          else if (!/^(script|style|template|noscript)$/.test(dom.name(node))) {
            walk(node, strange, lines);
          }
        }
      }
    }
    if (block) lines.break(gap);
  };
  const plain = (element) => {
    const pieces = [];
    for (const node of dom.childNodes(element)) {
      if (node.nodeType === 3) pieces.push(node.data);
      else if (node.nodeType === 1 && !/^(style|script|title|desc|defs)$/.test(dom.name(node))) {
        pieces.push(plain(node));
      }
    }
    return vfa.squeeze(pieces.join(" "));
  };
  const valueOf = (element) => {
    const name = dom.name(element);
    return name === "input" || name === "textarea" || name === "select" ? element.value : null;
  };
  // What a reader sees of an element, or of the document where it is 0: texts, and numbers of
  // frames' elements between them. {suspects} where closed roots must be looked into first.
  vfa.textOf = (number, look) => {
    const whole = number === 0;
    const element = whole
      ? (dom.body(document) ?? dom.documentElement(document))
      : vfa.element(number);
    if (element === null) return whole ? { parts: [""] } : { gone: true };
    const value = whole ? null : valueOf(element);
    if (value !== null) return { parts: [value] };
    if (look && vfa.hasSuspects()) return { suspects: true };
    const strange = mixed();
    if (!strange.has(element)) {
      // SVG and MathML elements have no innerText.
      const html = element instanceof HTMLElement;
      return { parts: [html ? dom.innerText(element) : dom.text(element).trim()] };
    }
    if (isFrame(element)) return { parts: [vfa.number(element)] };
    const lines = new Lines();
    walk(element, strange, lines);
    return { parts: [...lines.parts, lines.text] };
  };

  // --- finding text ----------------------------------------------------------------------

  const MOST_TEXT = 5_000_000; // characters that are searched in one document
  const AROUND = 60; // characters of context on either side of a match
  const USEFUL =
    "a[href],button,input,select,textarea,summary,label,option,[role=button],[role=link]," +
    "[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=radio],[role=switch]," +
    "[onclick],[tabindex]";
  const CONTROLS = /^(button|option|select|textarea)$/; // what they say is read by itself
  const SAYING = ["aria-label", "alt", "placeholder", "title"];
  // The texts of a document, block by block: [what, the element or the block, text]. A block is
  // text that is read in one go; where another block is in it, it ends and begins anew.
  const texts = function* () {
    let room = MOST_TEXT;
    const flush = function* (block) {
      if (block.text.trim() !== "") yield ["text", block, block.text];
      block.text = "";
      block.spots = [];
    };
    const said = function* (element, name) {
      for (const attribute of SAYING) {
        const text = dom.attribute(element, attribute);
        if (text) yield [attribute === "placeholder" ? "placeholder" : "name", element, text];
      }
      if ((name === "input" && !/^(password|hidden)$/.test(element.type)) || name === "textarea") {
        if (element.value) yield ["value", element, element.value];
      }
    };
    const visit = function* (element, around) {
      const name = dom.name(element);
      if (/^(script|style|template|noscript|head)$/.test(name)) return;
      const style = getComputedStyle(element);
      if (style.display === "none" && name !== "slot") return;
      const shown = style.visibility === "visible";
      const joined = joinable(style) && !CONTROLS.test(name);
      const block = joined ? around : { element, text: "", spots: [] };
      if (block !== around || name === "input") yield* flush(around);
      if (isFrame(element) && shown) yield ["frame", element, ""];
      if (shown) yield* said(element, name);
      const closed = name === "details" && !dom.hasAttribute(element, "open");
      for (const node of name === "textarea" ? [] : vfa.flatChildren(element)) {
        if (node.nodeType === 3 && shown && !closed && room > 0) {
          block.spots.push([block.text.length, element]);
          block.text += node.data;
          room -= node.data.length;
        } else if (node.nodeType === 1 && (!closed || dom.name(node) === "summary")) {
          if (dom.name(node) === "br") block.text += "\n";
          yield* visit(node, block);
        }
      }
      if (block !== around) yield* flush(block);
    };
    const body = dom.body(document) ?? dom.documentElement(document);
    if (body === null) return;
    const rest = { element: body, text: "", spots: [] };
    yield* visit(body, rest);
    yield* flush(rest);
  };
  // The text as it is shown, and where each of its characters was in the source.
  const shownText = (text) => {
    let shown = "";
    const from = [];
    for (let index = 0; index < text.length; index += 1) {
      const blank = /\s/.test(text[index]);
      if (blank && (shown === "" || shown.endsWith(" "))) continue;
      shown += blank ? " " : text[index];
      from.push(index);
    }
    return { shown, from };
  };
  const at = (block, position) => {
    let found = block.element;
    for (const [start, element] of block.spots) {
      if (start > position) break;
      found = element;
    }
    return found;
  };
  const usefulFor = (element, block) => {
    for (let node = element; node !== null; node = vfa.up(node)) {
      if (dom.matches(node, USEFUL)) return node;
      if (node === block) break;
    }
    let node = block;
    for (let steps = 0; node !== null && steps < 4; steps += 1, node = vfa.up(node)) {
      if (dom.matches(node, USEFUL)) return node;
    }
    return block;
  };
  const around = (text, start, end) => {
    const from = Math.max(0, start - AROUND);
    const to = Math.min(text.length, end + AROUND);
    const cutOut = text.slice(from, to).trim();
    return (from > 0 ? "…" : "") + cutOut + (to < text.length ? "…" : "");
  };

  const jobs = new Map();
  let lastJob = 0;
  // Notes what `runSearch` is to look for: {job}. Throws a SyntaxError for a pattern that is none.
  vfa.aimSearch = ({ text, regex, exact, limit }, look) => {
    if (look && vfa.hasSuspects()) return { suspects: true };
    const escaped = text.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+");
    const flags = exact ? "gu" : "giu";
    const pattern = new RegExp(regex === "" ? escaped : regex, flags);
    if (jobs.size > 20) jobs.clear(); // they were never run
    jobs.set((lastJob += 1), { pattern, limit });
    return { job: lastJob };
  };
  // Finds it: {count, matches}. Runs under a time limit of the engine's: a pattern may be one
  // that takes for ever.
  vfa.runSearch = (job) => {
    const { pattern, limit } = jobs.get(job);
    jobs.delete(job);
    const matches = [];
    let count = 0;
    const note = (what, element, match, text, start, end) => {
      if ((count += 1) > limit) return;
      const number = vfa.number(element);
      const context = around(text, start, end);
      matches.push({ number, what, match, context, element: vfa.describe(element) });
    };
    const frames = [];
    for (const [what, where, text] of texts()) {
      if (what === "frame") {
        frames.push(vfa.number(where));
        continue;
      }
      const { shown, from } =
        what === "text" ? shownText(text) : { shown: vfa.squeeze(text), from: null };
      pattern.lastIndex = 0;
      for (let found; (found = pattern.exec(shown)) !== null; ) {
        if (found[0] === "") {
          pattern.lastIndex += 1;
          continue;
        }
        const start = found.index;
        const end = start + found[0].length;
        const element = what === "text" ? usefulFor(at(where, from[start]), where.element) : where;
        note(what, element, vfa.cut(found[0], 200), shown, start, end);
      }
    }
    return { last: vfa.last, value: { count, matches, frames } };
  };
}
