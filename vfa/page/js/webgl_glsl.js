// Reads GLSL (ES 1.00 and 3.00) as far as the interface of a program goes: which uniforms,
// attributes, blocks and outputs it has. Nothing is executed, and what is not understood is
// passed over: a shader is the page's, and any text must do.
//
// `read(source, macros)` gives one shader's declarations, `link(vertex, fragment)` what a
// program made of two of them has. Source: GLSL ES 1.00.17, 3.00.6; OpenGL ES 3.0.6, 2.12.6.
() => {
  const MOST_TOKENS = 400000; // of one shader, macros expanded
  const MOST_ENTRIES = 4096; // of one program's flattened uniforms
  const DEEPEST = 32; // macros within macros, structs within structs

  // name -> [GL enum, components, columns]; components 0: a sampler, or another opaque type.
  const TYPES = { __proto__: null };
  const scalar = (name, prefix, first, vector) => {
    TYPES[name] = { gl: first, base: name, rows: 1, columns: 1 };
    for (const n of [2, 3, 4]) {
      TYPES[`${prefix}vec${n}`] = { gl: vector + n - 2, base: name, rows: n, columns: 1 };
    }
  };
  scalar("float", "", 0x1406, 0x8b50);
  scalar("int", "i", 0x1404, 0x8b53);
  scalar("bool", "b", 0x8b56, 0x8b57);
  scalar("uint", "u", 0x1405, 0x8dc6);
  const MATRICES = {
    "2x2": 0x8b5a,
    "3x3": 0x8b5b,
    "4x4": 0x8b5c,
    "2x3": 0x8b65,
    "2x4": 0x8b66,
  };
  Object.assign(MATRICES, { "3x2": 0x8b67, "3x4": 0x8b68, "4x2": 0x8b69, "4x3": 0x8b6a });
  for (const [size, gl] of Object.entries(MATRICES)) {
    const type = { gl, base: "float", rows: +size[2], columns: +size[0] };
    TYPES[`mat${size}`] = type;
    if (size[0] === size[2]) TYPES[`mat${size[0]}`] = type;
  }
  const SAMPLERS = {
    sampler2D: 0x8b5e,
    sampler3D: 0x8b5f,
    samplerCube: 0x8b60,
    sampler2DShadow: 0x8b62,
    sampler2DArray: 0x8dc1,
    sampler2DArrayShadow: 0x8dc4,
    samplerCubeShadow: 0x8dc5,
    isampler2D: 0x8dca,
    isampler3D: 0x8dcb,
    isamplerCube: 0x8dcc,
    isampler2DArray: 0x8dcf,
    usampler2D: 0x8dd2,
    usampler3D: 0x8dd3,
    usamplerCube: 0x8dd4,
    usampler2DArray: 0x8dd7,
    samplerExternalOES: 0x8d66,
  };
  for (const [name, gl] of Object.entries(SAMPLERS)) {
    TYPES[name] = { gl, base: "sampler", rows: 1, columns: 1 };
  }
  const QUALIFIERS = new Set(
    (
      "const attribute varying uniform in out inout centroid flat smooth noperspective sample " +
      "invariant precise highp mediump lowp row_major column_major"
    ).split(" "),
  );

  // --- the preprocessor ------------------------------------------------------------------

  const TOKEN =
    /[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*|&&|\|\||==|!=|<=|>=|<<|>>|\S/g;
  const tokens_of = (text) => text.match(TOKEN) ?? [];
  const is_name = (token) => token !== undefined && /^[A-Za-z_]/.test(token);

  const without_comments = (text) =>
    text
      .replace(/\\\r?\n/g, "")
      .replace(/\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, (comment) =>
        comment.startsWith("//") ? " " : " " + comment.replace(/[^\n]/g, ""),
      );

  // `budget.left` bounds the work of all expansions of one shader together.
  const expand = (tokens, macros, budget, hidden = new Set()) => {
    if (hidden.size > DEEPEST) return tokens;
    const result = [];
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i];
      if ((budget.left -= 1) < 0) return result;
      const macro = is_name(token) && !hidden.has(token) ? macros.get(token) : undefined;
      if (macro === undefined || (macro.parameters !== null && tokens[i + 1] !== "(")) {
        result.push(token);
        continue;
      }
      let body = macro.body;
      if (macro.parameters !== null) {
        const given = [[]];
        let depth = 1;
        let at = i + 2;
        for (; at < tokens.length && depth > 0; at++) {
          const next = tokens[at];
          if (next === "(") depth++;
          else if (next === ")") depth--;
          if (depth === 0) break;
          if (next === "," && depth === 1) given.push([]);
          else given[given.length - 1].push(next);
        }
        if (depth > 0) {
          result.push(token);
          continue;
        }
        i = at;
        const full = given.map((words) => expand(words, macros, budget, hidden));
        body = body.flatMap((word) => {
          const which = macro.parameters.indexOf(word);
          return which < 0 ? [word] : (full[which] ?? []);
        });
      }
      for (const word of expand(body, macros, budget, new Set(hidden).add(token))) {
        result.push(word);
      }
    }
    return result;
  };

  const BINARY = [
    { "||": (a, b) => +(a || b) },
    { "&&": (a, b) => +(a && b) },
    { "|": (a, b) => a | b },
    { "^": (a, b) => a ^ b },
    { "&": (a, b) => a & b },
    { "==": (a, b) => +(a === b), "!=": (a, b) => +(a !== b) },
    {
      "<": (a, b) => +(a < b),
      ">": (a, b) => +(a > b),
      "<=": (a, b) => +(a <= b),
      ">=": (a, b) => +(a >= b),
    },
    { "<<": (a, b) => a << b, ">>": (a, b) => a >> b },
    { "+": (a, b) => a + b, "-": (a, b) => a - b },
    { "*": (a, b) => Math.imul(a, b), "/": (a, b) => Math.trunc(a / b), "%": (a, b) => a % b },
  ];

  // The value of a constant integer expression; names have the value that `known` has for them.
  const calculate = (tokens, known = new Map()) => {
    let at = 0;
    let depth = 0;
    const unary = () => {
      const token = tokens[at++];
      if (token === undefined || (depth += 1) > 500) return 0;
      if (token === "!") return +!unary();
      if (token === "-") return -unary();
      if (token === "+") return unary();
      if (token === "~") return ~unary();
      if (token === "(") {
        const value = binary(0);
        if (tokens[at] === ")") at++;
        return value;
      }
      if (is_name(token)) {
        if (tokens[at] === "(" && TYPES[token]) return unary(); // int(3)
        return known.get(token) ?? 0;
      }
      return parseInt(token, /^0[xX]/.test(token) ? 16 : 10) || 0;
    };
    const binary = (level) => {
      if (level === BINARY.length) return unary();
      let value = binary(level + 1);
      while (Object.hasOwn(BINARY[level], tokens[at])) {
        const operate = BINARY[level][tokens[at++]];
        value = operate(value, binary(level + 1));
      }
      return value;
    };
    return binary(0) || 0;
  };

  const preprocess = (source, predefined) => {
    const text = without_comments(source);
    const version = /^\s*#\s*version\s+(\d+)/.exec(text);
    const macros = new Map(
      [
        ["GL_ES", 1],
        ["GL_FRAGMENT_PRECISION_HIGH", 1],
        ["__LINE__", 1],
        ["__FILE__", 0],
        ["__VERSION__", version ? +version[1] : 100],
        ...predefined.map((name) => [name, 1]),
      ].map(([name, value]) => [name, { parameters: null, body: [String(value)] }]),
    );
    const budget = { left: MOST_TOKENS };
    const result = [];
    const branches = []; // of #if: { taken: one of them was, on: this one is, outer }
    let on = true;
    let error = "";
    let chunk = "";
    const flush = () => {
      for (const token of expand(tokens_of(chunk), macros, budget)) result.push(token);
      chunk = "";
    };
    const holds = (condition) => {
      const asked = condition.replace(/\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))/g, (_, a, b) =>
        macros.has(a ?? b) ? " 1 " : " 0 ",
      );
      return calculate(expand(tokens_of(asked), macros, budget)) !== 0;
    };
    for (const line of text.split("\n")) {
      const directive = /^\s*#\s*(\w*)\s*(.*)$/.exec(line);
      if (directive === null) {
        if (on) chunk += line + "\n";
        continue;
      }
      flush();
      const [, word, rest] = directive;
      const name = /^\w*/.exec(rest)[0];
      if (word === "if" || word === "ifdef" || word === "ifndef") {
        const met =
          on && (word === "if" ? holds(rest) : macros.has(name) === (word === "ifdef"));
        branches.push({ taken: met, outer: on });
        on = met;
      } else if (word === "elif" && branches.length) {
        const branch = branches[branches.length - 1];
        on = branch.outer && !branch.taken && holds(rest);
        branch.taken ||= on;
      } else if (word === "else" && branches.length) {
        const branch = branches[branches.length - 1];
        on = branch.outer && !branch.taken;
        branch.taken = true;
      } else if (word === "endif" && branches.length) {
        on = branches.pop().outer;
      } else if (on && word === "define") {
        const made = /^(\w+)(\(([^)]*)\))?(.*)$/.exec(rest);
        if (made !== null) {
          const parameters =
            made[2] === undefined ? null : made[3].split(",").map((p) => p.trim());
          macros.set(made[1], { parameters, body: tokens_of(made[4]) });
        }
      } else if (on && word === "undef") {
        macros.delete(name);
      } else if (on && word === "error") {
        error ||= `ERROR: 0:1: '#error' : ${rest.trim()}`;
      }
    }
    flush();
    return { version: version ? +version[1] : 100, tokens: result, error };
  };

  // --- declarations ----------------------------------------------------------------------

  const after = (tokens, at, open, close) => {
    let depth = 0;
    for (; at < tokens.length; at++) {
      if (tokens[at] === open) depth++;
      else if (tokens[at] === close && --depth === 0) return at + 1;
    }
    return tokens.length;
  };

  const read = (source, predefined = []) => {
    const { version, tokens, error } = preprocess(source, predefined);
    const shader = {
      version,
      error,
      uniforms: [],
      inputs: [],
      outputs: [],
      blocks: [],
      structs: new Map(),
      used: new Set(),
    };
    const constants = new Map();
    const functions = new Map(); // name -> ranges of tokens, one for each overload
    let at = 0;

    const qualifiers = () => {
      const words = new Set();
      const layout = { __proto__: null };
      for (; at < tokens.length;) {
        if (tokens[at] === "layout") {
          const end = after(tokens, at + 1, "(", ")");
          for (let i = at + 2; i < end - 1; i++) {
            if (!is_name(tokens[i])) continue;
            const valued = tokens[i + 1] === "=";
            layout[tokens[i]] = valued ? calculate([tokens[i + 2]], constants) : true;
            if (valued) i += 2;
          }
          at = end;
        } else if (QUALIFIERS.has(tokens[at])) {
          words.add(tokens[at++]);
        } else {
          break;
        }
      }
      return { words, layout };
    };
    // `[n]` if it is there: the size, 0 without one.
    const array_size = () => {
      if (tokens[at] !== "[") return 0;
      const end = after(tokens, at, "[", "]");
      const size = calculate(tokens.slice(at + 1, end - 1), constants);
      at = end;
      return Math.max(1, size);
    };
    const members = () => {
      const list = [];
      at++; // {
      while (at < tokens.length && tokens[at] !== "}") {
        const before = at;
        const { words, layout } = qualifiers();
        const type = tokens[at] === "struct" ? struct() : tokens[at++];
        const shared = array_size();
        while (is_name(tokens[at])) {
          const name = tokens[at++];
          const rows = words.has("row_major") || "row_major" in layout;
          const columns = words.has("column_major") || "column_major" in layout;
          list.push({
            name,
            type,
            size: array_size() || shared,
            rows: rows ? true : columns ? false : null,
          });
          if (tokens[at] === ",") at++;
        }
        if (tokens[at] === ";") at++;
        if (at === before) at++;
      }
      at++; // }
      return list;
    };
    const struct = () => {
      at++; // struct
      const name = is_name(tokens[at]) ? tokens[at++] : `struct ${shader.structs.size}`;
      if (tokens[at] === "{") shader.structs.set(name, members());
      return name;
    };
    const declare = (kind, layout, name, type, size) => {
      const one = { name, type, size, location: layout.location ?? -1 };
      if (kind.has("uniform")) shader.uniforms.push(one);
      else if (kind.has("attribute") || kind.has("in")) shader.inputs.push(one);
      else if (kind.has("varying") || kind.has("out")) shader.outputs.push(one);
    };
    const to_end = () => {
      let depth = 0;
      for (; at < tokens.length; at++) {
        const token = tokens[at];
        if (token === "(" || token === "{" || token === "[") depth++;
        else if (token === ")" || token === "}" || token === "]") depth--;
        else if (depth <= 0 && (token === ";" || token === ",")) return;
      }
    };

    while (at < tokens.length) {
      const before = at;
      if (tokens[at] === "precision") {
        to_end();
        at++;
        continue;
      }
      const { words, layout } = qualifiers();
      if (!is_name(tokens[at])) {
        at = Math.max(at, before) + 1;
        continue;
      }
      const type = tokens[at] === "struct" ? struct() : tokens[at++];
      if (tokens[at] === "{") {
        // An interface block: `type` is its name.
        const list = members();
        const instance = is_name(tokens[at]) ? tokens[at++] : "";
        const size = array_size();
        if (words.has("uniform")) {
          const rows = "row_major" in layout;
          shader.blocks.push({ name: type, instance, size, members: list, rows });
        }
        continue;
      }
      const shared = array_size();
      while (is_name(tokens[at])) {
        const name = tokens[at++];
        if (tokens[at] === "(") {
          at = after(tokens, at, "(", ")");
          if (tokens[at] === "{") {
            const end = after(tokens, at, "{", "}");
            functions.set(name, [...(functions.get(name) ?? []), [at, end]]);
            at = end;
          }
          break;
        }
        const size = array_size() || shared;
        const start = at;
        if (tokens[at] === "=") to_end();
        for (const token of tokens.slice(start, at)) if (is_name(token)) shader.used.add(token);
        if (words.has("const") && (type === "int" || type === "uint")) {
          constants.set(name, calculate(tokens.slice(start + 1, at), constants));
        }
        declare(words, layout, name, type, size);
        if (tokens[at] !== ",") break;
        at++;
      }
      if (tokens[at] === ";") at++;
      else if (at === before) at++;
    }

    // What main reaches is used; without one, everything is.
    const waiting = functions.has("main") ? ["main"] : [...functions.keys()];
    const seen = new Set(waiting);
    while (waiting.length) {
      for (const [from, to] of functions.get(waiting.pop())) {
        for (let i = from; i < to; i++) {
          const token = tokens[i];
          if (!is_name(token)) continue;
          shader.used.add(token);
          if (functions.has(token) && !seen.has(token)) {
            seen.add(token);
            waiting.push(token);
          }
        }
      }
    }
    return shader;
  };

  // --- programs --------------------------------------------------------------------------

  const round = (value, to) => Math.ceil(value / to) * to;

  // Where a member lies: [alignment, size, array stride, matrix stride] by the std140 rules.
  const std140 = (type, size, structs, rows, depth = 0) => {
    const plain = TYPES[type];
    let align;
    let bytes;
    let matrix = 0;
    if (plain !== undefined && plain.columns > 1) {
      matrix = 16;
      align = 16;
      bytes = 16 * (rows ? plain.rows : plain.columns);
    } else if (plain !== undefined) {
      align = 4 * (plain.rows === 3 ? 4 : plain.rows);
      bytes = 4 * plain.rows;
    } else {
      let offset = 0;
      align = 16;
      for (const member of depth < DEEPEST ? (structs.get(type) ?? []) : []) {
        const inner = std140(member.type, member.size, structs, member.rows ?? rows, depth + 1);
        offset = round(offset, inner.align) + inner.bytes;
      }
      bytes = round(offset, 16);
    }
    if (size === 0) return { align, bytes, stride: 0, matrix };
    const stride = round(bytes, 16);
    return { align: round(align, 16), bytes: stride * size, stride, matrix };
  };

  // Every basic variable within one declaration, as getActiveUniform names them.
  const flatten = (found, name, type, size, structs, place, depth = 0) => {
    const plain = TYPES[type];
    if (found.length >= MOST_ENTRIES || depth > DEEPEST) return;
    if (plain !== undefined) {
      const { stride, matrix } = std140(type, size, structs, place.rows);
      const laid =
        place.block < 0
          ? { offset: -1, stride: -1, matrix: -1, rows: false }
          : {
              offset: place.offset,
              stride,
              matrix,
              rows: Boolean(place.rows && plain.columns > 1),
            };
      found.push({
        name: size > 0 ? `${name}[0]` : name,
        type: plain,
        size: Math.max(1, size),
        array: size > 0,
        block: place.block,
        ...laid,
      });
      return;
    }
    const list = structs.get(type);
    if (list === undefined) return;
    const { stride } = std140(type, Math.max(1, size), structs, place.rows);
    for (let i = 0; i < Math.max(1, size) && found.length < MOST_ENTRIES; i++) {
      let offset = place.offset + i * stride;
      for (const member of list) {
        const rows = member.rows ?? place.rows;
        const room = std140(member.type, member.size, structs, rows, depth + 1);
        offset = round(offset, room.align);
        const full = `${size > 0 ? `${name}[${i}]` : name}.${member.name}`;
        flatten(
          found,
          full,
          member.type,
          member.size,
          structs,
          { ...place, rows, offset },
          depth + 1,
        );
        offset += room.bytes;
      }
    }
  };

  const link = (vertex, fragment) => {
    const uniforms = [];
    const blocks = [];
    const names = new Set();
    for (const shader of [vertex, fragment]) {
      const stage = shader === vertex ? "vertex" : "fragment";
      for (const block of shader.blocks) {
        const known = blocks.filter((each) => each.declared === block.name);
        if (known.length) {
          for (const each of known) each[stage] = true;
          continue;
        }
        for (let i = 0; i < Math.max(1, block.size); i++) {
          const found = [];
          const prefix = block.instance === "" ? "" : `${block.name}.`;
          let offset = 0;
          for (const member of block.members) {
            const rows = member.rows ?? block.rows;
            const room = std140(member.type, member.size, shader.structs, rows);
            offset = round(offset, room.align);
            const place = { block: blocks.length, offset, rows };
            flatten(
              found,
              prefix + member.name,
              member.type,
              member.size,
              shader.structs,
              place,
            );
            offset += room.bytes;
          }
          blocks.push({
            name: block.size > 0 ? `${block.name}[${i}]` : block.name,
            declared: block.name,
            bytes: offset,
            vertex: false,
            fragment: false,
            [stage]: true,
            // The elements of an array of blocks share their members.
            members:
              i === 0
                ? found.map((_, index) => uniforms.length + index)
                : blocks[blocks.length - i].members,
          });
          if (i === 0) uniforms.push(...found);
        }
      }
    }
    for (const shader of [vertex, fragment]) {
      for (const one of shader.uniforms) {
        if (names.has(one.name) || !shader.used.has(one.name)) continue;
        names.add(one.name);
        flatten(uniforms, one.name, one.type, one.size, shader.structs, {
          block: -1,
          offset: -1,
          rows: false,
        });
      }
    }
    const typed = (list, used) =>
      list
        .filter((one) => TYPES[one.type] !== undefined && (used === null || used.has(one.name)))
        .map((one) => ({
          ...one,
          type: TYPES[one.type],
          declared: one.size > 0,
          size: Math.max(1, one.size),
        }));
    return {
      uniforms,
      blocks,
      attributes: typed(vertex.inputs, vertex.used),
      varyings: typed(vertex.outputs, null),
      outputs: typed(fragment.outputs, null),
    };
  };

  return { read, link, TYPES };
}
