// What pages asked of WebGL: counters, and in trace mode the last records of each kind.
//
// Nothing of it may be written by a page, so nothing here looks up what a page can replace:
// arrays and objects have no prototype, and no method of a built-in class is called.
(mode, now, bare) => {
  const RING = 400; // records of all kinds
  const SETUP = 40; // sources and textures, which an animation would push out of the ring
  const SOURCE = 800; // characters
  const VALUES = 16; // of a uniform; a matrix has no more
  const POINTS_AND_LINES = 3; // the modes up to LINE_STRIP make no triangles
  const TRIANGLES = 4;

  const ring = (capacity) => {
    const slots = bare([]);
    let total = 0;
    return {
      __proto__: null,
      add: (record) => {
        slots[total % capacity] = record;
        total += 1;
      },
      list: () => {
        const kept = total < capacity ? total : capacity;
        const result = bare([]);
        for (let i = 0; i < kept; i++) result[i] = slots[(total - kept + i) % capacity];
        return result;
      },
      clear: () => {
        total = 0;
        slots.length = 0;
      },
    };
  };

  const records = ring(RING);
  const shaders = ring(SETUP);
  const textures = ring(SETUP);
  const stats = { __proto__: null };
  const NAMES = bare([
    "draws",
    "triangles",
    "shaders",
    "programs",
    "textures",
    "shaderSources",
  ]);
  const contexts = { __proto__: null, real: 0, mocked: 0 };
  let counts;
  const reset = () => {
    for (let i = 0; i < NAMES.length; i++) stats[NAMES[i]] = 0;
    counts = { __proto__: null };
    records.clear();
    shaders.clear();
    textures.clear();
  };
  reset();

  const write = (record, aside) => {
    if (mode !== "trace") return;
    record.t = now();
    counts[record.kind] = (counts[record.kind] ?? 0) + 1;
    records.add(record);
    if (aside !== undefined) aside.add(record);
  };
  // What a page passes for a number may be anything, and is taken as GL takes it.
  const whole = (value) => (typeof value === "number" ? value : +value) | 0;

  const triangles = (primitive, count) => {
    if (primitive <= POINTS_AND_LINES || count < 3) return 0;
    return primitive === TRIANGLES ? (count - (count % 3)) / 3 : count - 2;
  };

  return {
    __proto__: null,
    contexts,
    stats,
    // `first` and `instances` are null where the call has none.
    draw: (kind, primitive, first, count, instances) => {
      primitive = whole(primitive);
      count = whole(count);
      instances = instances === null ? null : whole(instances);
      const each = triangles(primitive, count);
      const all = instances === null ? each : each * (instances > 0 ? instances : 0);
      stats.draws += 1;
      stats.triangles += all;
      const record = {
        __proto__: null,
        kind,
        t: 0,
        mode: primitive,
        count,
        triangles: all,
        drawIndex: stats.draws,
      };
      if (first !== null) record.first = whole(first);
      if (instances !== null) record.instances = instances;
      write(record);
    },
    shader: (type) => {
      stats.shaders += 1;
      write({ __proto__: null, kind: "createShader", t: 0, type: whole(type) });
    },
    source: (type, text) => {
      stats.shaderSources += 1;
      let start = "";
      for (let i = 0; i < text.length && i < SOURCE; i++) start += text[i];
      const record = {
        __proto__: null,
        kind: "shaderSource",
        t: 0,
        type,
        length: text.length,
        source: start,
      };
      write(record, shaders);
    },
    program: () => {
      stats.programs += 1;
      write({ __proto__: null, kind: "linkProgram", t: 0 });
    },
    buffer: (bytes) =>
      write({ __proto__: null, kind: "bufferData", t: 0, bytes: whole(bytes) }),
    texture: (kind, width, height) => {
      stats.textures += 1;
      const record = {
        __proto__: null,
        kind,
        t: 0,
        width: whole(width),
        height: whole(height),
      };
      write(record, textures);
    },
    // `values` is one number, or something indexed.
    uniform: (name, type, values) => {
      if (mode !== "trace") return;
      let value = values;
      if (typeof values === "object" && values !== null) {
        value = bare([]);
        const length = whole(values.length);
        for (let i = 0; i < length && i < VALUES; i++) value[i] = +values[i];
      } else {
        value = +values;
      }
      write({ __proto__: null, kind: "uniform", t: 0, name: `${name}`, type, value });
    },
    read: (clear) => {
      const copy = { __proto__: null };
      for (let i = 0; i < NAMES.length; i++) copy[NAMES[i]] = stats[NAMES[i]];
      const answer = {
        __proto__: null,
        mode,
        stats: copy,
        contexts: { __proto__: null, real: contexts.real, mocked: contexts.mocked },
        counts,
        records: records.list(),
        shaders: shaders.list(),
        textures: textures.list(),
      };
      if (clear) reset();
      return answer;
    },
  };
}
