"use strict";

// The recorded conversion, and what is looked up in it. moir/report_page/recording.py says what the content holds.

/** Read the content of the page: JSON, compressed by gzip, in base64. */
async function readContent() {
  const packed = Uint8Array.from(atob(document.getElementById("content").textContent), (each) => each.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

class Conversion {
  constructor(content) {
    Object.assign(this, content);
    this.unsupportedIds = new Set(content.unsupported);
    this.blocks = new Map();
    this.texts = new Map();
    this.differences ??= {};
  }

  /** The steps that changed something. */
  get changes() {
    return this.stages.filter((stage) => stage.changed);
  }

  /** The state before a state; null for the first one. */
  before(state) {
    return state > 0 ? state - 1 : null;
  }

  /** The stage after which a state was recorded. */
  stageOf(state) {
    return this.stages.find((stage) => stage.changed && stage.state === state);
  }

  /**
   * A block of a state: that of a model, or a body of an operation in it.
   * path: [[id of the operation, number of the body], …]; it ends early where an operation does not exist.
   */
  block(state, path = [], model = 0) {
    const key = JSON.stringify([state, path, model]);
    if (!this.blocks.has(key)) {
      const models = this.states[state];
      let block = new Block(this, models.length ? models[Math.min(model, models.length - 1)].operations : [], []);
      for (const [id, number] of path) {
        const record = block.byId.get(id);
        if (!record || !record.bodies || !record.bodies[number]) break;
        block = new Block(this, record.bodies[number], [...block.path, [id, number]]);
      }
      this.blocks.set(key, block);
    }
    return this.blocks.get(key);
  }

  /** All operations of a state with the paths of their blocks. */
  * everywhere(state, path = []) {
    const block = this.block(state, path);
    for (const record of block.records) {
      yield [record, path];
      for (let body = 0; body < (record.bodies || []).length; body++) yield* this.everywhere(state, [...path, [record.id, body]]);
    }
  }

  /** The operation of a state that `named` selects, with the path of its block; undefined if there is none. */
  named(state, name) {
    const all = [...this.everywhere(state)];
    const selected = named(all.map(([record]) => record), name);
    return all.find(([record]) => record === selected);
  }

  /** The first state in which an operation exists. */
  birth(id) {
    if (!this.births) {
      this.births = new Map();
      const visit = (numbers, state) => {
        for (const number of numbers) {
          const record = this.records[number];
          if (!this.births.has(record.id)) this.births.set(record.id, state);
          for (const body of record.bodies || []) visit(body, state);
        }
      };
      this.states.forEach((models, state) => models.forEach((model) => visit(model.operations, state)));
    }
    return this.births.get(id) ?? -1;
  }

  /**
   * The operations of a state, with the paths of their blocks, in whose name, kind or tensors a text in lower case is.
   * Those that are called so come first, then those that begin so, then those that come from such a node of the
   * framework; constants come last.
   */
  found(state, text) {
    if (!this.texts.has(state)) {
      const all = [...this.everywhere(state)].map(([record, path]) => {
        const name = record.name.toLowerCase();
        const own = [record.kind, shortKind(record)].map((each) => each.toLowerCase());
        const all = [name, own[0], ...(record.tensors || [])].join("\n").toLowerCase();
        return { record, path, own, last: name.split("/").pop(), all, from: (record.sources || []).flat().join("\n").toLowerCase() };
      });
      this.texts.set(state, all);
    }
    const rank = ({ record, own, last, all, from }) => {
      if (own.includes(text)) return 0;
      const order = last === text ? 1 : own[1].startsWith(text) ? 2 : last.startsWith(text) ? 3 : all.includes(text) ? 4 : from.includes(text) ? 5 : -1;
      return order > 0 && record.constant ? order + 5 : order;
    };
    const ranks = Array.from({ length: 11 }, () => []);
    for (const each of this.texts.get(state)) {
      const order = rank(each);
      if (order >= 0) ranks[order].push([each.record, each.path]);
    }
    return ranks.flat();
  }
}

/** The operations of one block, in order. */
class Block {
  constructor(conversion, numbers, path) {
    this.path = path;
    this.records = numbers.map((number) => conversion.records[number]);
    this.byId = new Map(this.records.map((record) => [record.id, record]));
    this.numbers = new Set(numbers);
    this.users = new Map();
    for (const record of this.records) {
      for (const [producer] of record.operands) {
        if (!this.users.has(producer)) this.users.set(producer, []);
        this.users.get(producer).push(record);
      }
    }
  }

  /**
   * The name by which an operation has its place in the scopes: its own, if that is in one; else that of a node of the
   * framework from which it comes; of one without a name, that of what uses it or of what it uses.
   */
  place(record, depth = 4) {
    const names = [record.name, ...(record.sources || []).map(([name]) => name)];
    const scoped = names.find((name) => name.includes("/"));
    if (scoped || record.name || !depth) return scoped || record.name;
    const near = (this.users.get(record.id) || [])[0] || this.byId.get((record.operands.find(([id]) => !this.byId.get(id)?.constant) || [])[0]);
    return near ? this.place(near, depth - 1) : "";
  }

  /** The constants that an operation uses. */
  constants(record) {
    return record.operands.map(([id]) => this.byId.get(id)).filter((each) => each?.constant);
  }

  /** The operation that another state knows by a record: the same operation, else the one of that name. */
  counterpart(record) {
    return this.byId.get(record.id) || (record.name && this.records.find((each) => each.name === record.name)) || null;
  }
}

/** The kind of an operation without its dialect. */
function shortKind(record) {
  return record.kind.slice(record.kind.indexOf(".") + 1);
}

/**
 * The operation of a name; else the first that comes from the node of that name, a constant only if nothing else does.
 * Null if there is none.
 */
function named(records, name) {
  const origins = records.filter((record) => (record.sources || []).some(([node]) => node === name));
  return records.find((each) => each.name === name) || origins.find((each) => !each.constant) || origins[0] || null;
}

/** Whether an operation is neither a constant, nor an input or an output of a model or body. */
function computes(record) {
  return !record.constant && record.kind !== "opset1.Parameter" && record.kind !== "opset1.Result";
}

/** A number with its noun: `1 operation`, `2 operations`. */
function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Families of kinds and their colours: hue, chroma, and how much darker than the others. In dark and light, neighbouring
 * families differ in lightness, too, for readers who see few hues.
 */
const FAMILIES = [
  [/attention|rope|rotary/i, 300, 0.12, 0.0],
  [/^(group)?conv|deform.*conv|depthwise/i, 50, 0.11, 0.0],
  [/matmul|gemm|fullyconnected|^linear|einsum|dot|innerproduct|^dense/i, 255, 0.11, 0.06],
  [/transpose|permute|depthtospace|spacetodepth|shuffle/i, 350, 0.11, 0.08],
  [/reshape|squeeze|flatten|^view|expand|broadcast|tile/i, 100, 0.09, 0.1],
  [/concat|split|slice|gather|scatter|pad|^roll|reverse|stack|shapeof|^shape/i, 195, 0.07, 0.04],
  [/norm|mvn|rms|^lrn/i, 150, 0.1, 0.0],
  [/pool|reduce|mean|^sum|topk|argm/i, 225, 0.09, 0.1],
  [/quanti|convert|cast/i, 25, 0.08, 0.08],
  [/loop|^if|while|iterator|scan|lstm|gru|rnn/i, 330, 0.06, 0.02],
  [/^(parameter|result|input|output|placeholder)/i, 0, 0, 0.03],
];

/** The colour of a kind, the same for a kind in all dialects; how light it is, the theme says. */
function colourOf(kind) {
  let hash = 7;
  for (const letter of kind) hash = (hash * 31 + letter.codePointAt(0)) % 8191;
  const family = FAMILIES.find(([pattern]) => pattern.test(kind));
  // Kinds of one family differ a little.
  const [hue, chroma, darker] = family ? [family[1] + (hash % 5) * 3 - 6, family[2], family[3]] : [(hash * 47) % 360, 0.05, 0.05];
  return `oklch(calc(var(--light) - ${darker}) ${chroma} ${hue})`;
}
