// Returns `root` as JSON data, cut to what a reader can use: four levels, a hundred items,
// about `limit` characters. What JSON has no word for becomes {__type: …}.
// Returns {value}; or {thenable: true} where the caller `awaits` and `root` can be awaited.
//
// Runs among the objects of the page, which may have replaced any prototype's method. Types
// are told by what the engine keeps in an object, not by names; methods are taken from their
// prototypes and applied, never looked up in the object; results have no prototype, so that no
// setter or toJSON of the page gets to see them.
(root, limit, awaits) => {
  const DEPTH = 4;
  const ITEMS = 100;
  const TEXT = 80;
  const { keys, getOwnPropertyDescriptor } = Object;
  const { toString } = Object.prototype;
  const { isArray } = Array;
  const { apply } = Reflect;
  const ancestors = [];
  let left = limit; // never more than what the JSON so far leaves of `limit`

  const call = (owner, name, value, ...args) => apply(owner.prototype[name], value, args);
  const get = (owner, name, value) =>
    apply(getOwnPropertyDescriptor(owner.prototype, name).get, value, []);
  const works = (attempt) => {
    try {
      attempt();
      return true;
    } catch {
      return false;
    }
  };
  const text = (value) => {
    const room = left > 0 ? left + 1 : 0;
    const kept = value.length > room ? call(String, "slice", value, 0, room) : value;
    left -= kept.length + 2;
    return kept;
  };
  const object = (__type, rest) => {
    left -= 20;
    return { __proto__: null, __type, ...rest };
  };

  const number = (value) => {
    const word =
      value !== value ? "NaN"
      : value === 1 / 0 ? "Infinity"
      : value === -1 / 0 ? "-Infinity"
      : value === 0 && 1 / value < 0 ? "-0"
      : null;
    left -= 1;
    return word === null ? value : object("number", { value: word });
  };

  const list = (total, item) => {
    const items = [];
    for (let i = 0; i < total && i < ITEMS && left > 0; i += 1) items[i] = item(i);
    const most = total < ITEMS ? total : ITEMS;
    if (items.length < most) items[items.length] = object("truncated", { reason: "maxLength" });
    else if (total > ITEMS) {
      items[items.length] = object("truncated", { reason: "maxItems", total });
    }
    return items;
  };

  const element = (value) => {
    const id = call(Element, "getAttribute", value, "id");
    const classes = call(Element, "getAttribute", value, "class") ?? "";
    let tag = get(Element, "localName", value) + (id ? `#${id}` : "");
    const names = call(String, "split", classes, /\s+/);
    for (let i = 0; i < names.length; i += 1) if (names[i] !== "") tag += `.${names[i]}`;
    const start = call(String, "slice", get(Node, "textContent", value), 0, 10000);
    const words = call(String, "trim", call(String, "replace", start, /\s+/g, " "));
    return object("Element", { tag: text(tag), text: text(call(String, "slice", words, 0, TEXT)) });
  };

  const properties = (value, depth) => {
    const names = keys(value);
    const out = { __proto__: null };
    let count = 0;
    for (; count < names.length && count < ITEMS && left > 0; count += 1) {
      const name = names[count];
      left -= 1;
      out[text(name)] = guarded(() => value[name], depth + 1);
    }
    if (count < names.length) {
      const reason = count < ITEMS ? "maxLength" : "maxProps";
      out.__truncated = { __proto__: null, reason, total: names.length };
    }
    return out;
  };

  const described = (value, depth) => {
    const kind = apply(toString, value, []);
    if (isArray(value)) return list(value.length, (i) => guarded(() => value[i], depth + 1));
    if (kind === "[object Object]") return properties(value, depth);
    if (works(() => get(Map, "size", value))) {
      const entries = [];
      const collect = (inner, key) => {
        if (entries.length < ITEMS) entries[entries.length] = [key, inner];
      };
      call(Map, "forEach", value, collect);
      const pair = (i) => [
        guarded(() => entries[i][0], depth + 1),
        guarded(() => entries[i][1], depth + 1),
      ];
      return object("Map", { entries: list(get(Map, "size", value), pair) });
    }
    if (works(() => get(Set, "size", value))) {
      const values = [];
      const collect = (inner) => {
        if (values.length < ITEMS) values[values.length] = inner;
      };
      call(Set, "forEach", value, collect);
      const inner = (i) => guarded(() => values[i], depth + 1);
      return object("Set", { values: list(get(Set, "size", value), inner) });
    }
    if (works(() => call(Date, "getTime", value))) {
      const time = call(Date, "getTime", value);
      const written = time === time ? call(Date, "toISOString", value) : "Invalid Date";
      return object("Date", { value: written });
    }
    if (value instanceof Error || kind === "[object Error]") {
      const { name, message } = value;
      return object("Error", { name: text(`${name}`), message: text(`${message}`) });
    }
    if (works(() => get(Element, "localName", value))) return element(value);
    if (works(() => get(Node, "nodeType", value))) {
      return object("Node", { name: text(get(Node, "nodeName", value)) });
    }
    return properties(value, depth);
  };

  const guarded = (read, depth) => {
    try {
      return serialised(read(), depth);
    } catch {
      return object("unserializable");
    }
  };

  const serialised = (value, depth) => {
    switch (typeof value) {
      case "undefined":
        return object("undefined");
      case "string":
        return text(value);
      case "boolean":
        left -= 4;
        return value;
      case "number":
        return number(value);
      case "bigint":
        return object("bigint", { value: text(`${value}`) });
      case "symbol":
        return object("symbol", { value: text(call(Symbol, "toString", value)) });
      case "function": {
        const { name, length } = value;
        return object("function", {
          name: typeof name === "string" ? text(name) : "",
          length: typeof length === "number" ? length : 0,
        });
      }
    }
    left -= 2;
    if (value === null) return null;
    for (let i = 0; i < ancestors.length; i += 1) {
      if (ancestors[i] === value) return object("circular");
    }
    if (depth > DEPTH) return object("truncated", { reason: "maxDepth" });
    const level = ancestors.length;
    ancestors[level] = value;
    try {
      return described(value, depth);
    } finally {
      ancestors.length = level;
    }
  };

  // A promise was awaited before; what merely behaves like one is told apart only here.
  try {
    if (awaits && typeof root.then === "function") return { thenable: true };
  } catch {
    // a getter that throws: it is described, then
  }
  return { value: guarded(() => root, 0) };
}
