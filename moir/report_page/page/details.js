"use strict";

// What is written about the operation that is chosen, on the right.

class Details {
  constructor(app, root) {
    this.app = app;
    this.root = root;
  }

  show() {
    const details = this.root;
    details.replaceChildren();
    if (this.app.path.length) details.append(element("button", { onclick: () => this.app.leave() }, "leave the body"));
    if (!this.app.record) {
      details.append(element("p", { class: "quiet" }, "Click an operation for its attributes and its origin, a group to open it, the name of an open group to close it. The wheel zooms; ? lists the keys."));
      return;
    }
    const record = this.app.record;
    const block = this.app.conversion.block(this.app.chosenState, this.app.path);
    details.append(element("h3", {}, element("span", { class: "swatch", style: `background:${colourOf(shortKind(record))}` }), record.kind));
    if (this.app.conversion.unsupportedIds.has(record.id)) details.append(element("p", { class: "bad" }, "moir cannot convert this operation"));
    this.rows(details, [["name", record.name], ...(record.sources || []).map(([name, kind]) => ["from", `${name} (${kind})`])]);
    this.section(details, "Differences", (this.app.conversion.differences[record.id] || []).map(([what, before, after]) =>
      element("div", {}, element("div", { class: "quiet" }, what), element("pre", { class: "removed" }, `- ${before}`), element("pre", { class: "added" }, `+ ${after}`))));
    if (record.weights) this.section(details, "Value", valueOf(record.weights));
    this.section(details, "Operands", record.operands.map(([id, index]) => {
      const producer = block.byId.get(id);
      if (!producer) return element("div", {}, `result ${index} of an operation outside`);
      const value = producer.weights?.values ? ` = ${cut(producer.weights.values.join(", "), 60)}` : "";
      return element("div", {}, this.link(producer), ` ${producer.types[index]}`, element("span", { class: "quiet text" }, value));
    }));
    const users = block.users.get(record.id) || [];
    this.section(details, "Results", record.types.map((type, index) => {
      const names = (record.tensors || [])[index];
      return element("div", {}, element("code", {}, type), names ? ` ${names}` : "");
    }));
    this.section(details, "Users", [...new Set(users)].slice(0, 20).map((user) => element("div", {}, this.link(user))));
    const attributes = Object.entries(record.attributes || {}).filter(([name]) => !(record.weights && name === "value"));
    this.section(details, "Attributes", attributes.length ? [this.rows(element("div"), attributes)] : []);
    this.section(details, "Bodies", (record.bodies || []).map((body, number) =>
      element("button", { onclick: () => this.app.enter(record, number) }, `body ${number}: ${plural(body.length, "operation")}`)));
    this.showOrigin(details, record);
  }

  showOrigin(details, record) {
    const made = this.app.conversion.origins[record.id] || [];
    const birth = this.app.conversion.birth(record.id);
    const stage = birth >= 0 ? this.app.conversion.stageOf(birth) : null;
    const first = stage ? element("div", {}, element("span", { class: "link", onclick: () => this.app.go(birth) }, `${String(stage.number).padStart(2, "0")} ${stage.name}`)) : "";
    this.section(details, "Since step", [first]);
    const rewrites = made.slice(-6).map((number) => {
      const rewrite = this.app.conversion.rewrites[number];
      const name = this.app.conversion.stages.find((each) => each.number === rewrite.stage);
      const block = element("div", {}, element("div", {}, `${name ? name.name : ""}: `, element("code", {}, rewrite.pattern)));
      rewrite.before.forEach((text) => block.append(element("pre", { class: "removed" }, `- ${text}`)));
      rewrite.after.forEach((text) => block.append(element("pre", { class: "added" }, `+ ${text}`)));
      return block;
    });
    this.section(details, "Rewrites that made it", rewrites);
    const before = this.app.conversion.before(this.app.chosenState);
    const earlier = before === null ? null : this.app.conversion.block(before, this.app.path).counterpart(record);
    if (!earlier || JSON.stringify(earlier) === JSON.stringify(record)) return;
    this.section(details, `In the step before (${this.app.conversion.stageOf(before).name})`, [
      this.rows(element("div"), [["kind", earlier.kind], ["results", earlier.types.join(", ")], ...Object.entries(earlier.attributes || {})])]);
  }

  section(parent, title, children) {
    if (children.length) parent.append(element("h3", {}, title), ...children);
  }

  rows(parent, rows) {
    parent.append(element("dl", {}, ...rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])));
    return parent;
  }

  link(record) {
    return element("span", { class: "link", onclick: () => this.app.choose(record, null, true) }, `${shortKind(record)} ${record.name ? `'${record.name}'` : ""}`);
  }
}

/** The value of a constant: its elements, or how they are distributed. moir/report_page/weights.py says what is given. */
function valueOf(weights) {
  const rows = [element("div", {}, `${weights.shape.join(" × ") || "a single element"}, ${sizeText(weights.bytes)}`)];
  if (weights.values) rows.push(element("pre", { class: "values" }, nested(weights.values, weights.shape)));
  if (weights.counts) rows.push(histogram(weights));
  if (weights.of !== undefined) {
    const names = ["minimum", "maximum", "mean", "deviation"].filter((name) => name in weights);
    const all = weights.of === weights.shape.reduce((product, each) => product * each, 1);
    const facts = [...names.map((name) => [name, String(weights[name])]), ["zeros", share(weights.zeros, weights.of)]];
    if (weights.odd) facts.push(["NaN, infinite", share(weights.odd, weights.of)]);
    if (!all) facts.push(["looked at", `${weights.of} elements`]);
    rows.push(element("dl", {}, ...facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])));
  }
  return rows;
}

function share(count, all) {
  return count ? `${count} (${((100 * count) / all).toFixed(1)} %)` : "none";
}

function sizeText(bytes) {
  const unit = ["bytes", "KB", "MB", "GB"].findIndex((_, power) => bytes < 1000 ** (power + 1));
  return unit > 0 ? `${(bytes / 1000 ** unit).toFixed(1)} ${["bytes", "KB", "MB", "GB"][unit]}` : unit === 0 ? `${bytes} bytes` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Elements in brackets, a row on each line. */
function nested(values, shape) {
  if (shape.length < 2) return shape.length ? `[${values.join(", ")}]` : values.join("");
  const length = values.length / shape[0];
  const rows = Array.from({ length: shape[0] }, (_, row) => nested(values.slice(row * length, (row + 1) * length), shape.slice(1)));
  return `[${rows.join(",\n ")}]`;
}

function histogram({ counts, minimum, maximum }) {
  const [width, height] = [320, 70];
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "histogram");
  drawing.setAttribute("viewBox", `0 0 ${width} ${height + 14}`);
  const largest = Math.max(...counts);
  const bar = width / counts.length;
  counts.forEach((count, index) => {
    // A bar of few elements among many is still seen.
    const size = count ? Math.max(1, (height * count) / largest) : 0;
    svg(svg(drawing, "rect", { x: index * bar, y: height - size, width: bar - 1, height: size }), "title", {}, `${count}`);
  });
  svg(drawing, "text", { x: 0, y: height + 11 }, String(minimum));
  svg(drawing, "text", { x: width, y: height + 11, "text-anchor": "end" }, String(maximum));
  return drawing;
}
