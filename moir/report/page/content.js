"use strict";

// The recorded conversion, and what is looked up in it. moir/report/recording.py says what the content holds.

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

  /** The first state in which an operation exists. */
  birth(id) {
    return this.states.findIndex((_, state) => {
      for (const [record] of this.everywhere(state)) if (record.id === id) return true;
      return false;
    });
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

  /** The operation that another state knows by a record: the same operation, else the one of that name. */
  counterpart(record) {
    return this.byId.get(record.id) || (record.name && this.records.find((each) => each.name === record.name)) || null;
  }
}

/** The kind of an operation without its dialect. */
function shortKind(record) {
  return record.kind.slice(record.kind.indexOf(".") + 1);
}

/** Whether an operation is neither a constant, nor an input or an output of a model or body. */
function computes(record) {
  return !record.constant && record.kind !== "opset1.Parameter" && record.kind !== "opset1.Result";
}

/** The colour of a kind, the same for a kind in all dialects. */
function colourOf(kind) {
  let hash = 7;
  for (const letter of kind) hash = (hash * 31 + letter.codePointAt(0)) % 8191;
  return `hsl(${(hash * 47) % 360} ${55 + (hash % 3) * 12}% ${80 + (hash % 2) * 6}%)`;
}
