"use strict";

// The page: steps on the left, one or two graphs, details of an operation on the right. The address says what is shown.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; children that are texts are never read as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

class App {
  constructor(conversion) {
    this.conversion = conversion;
    this.path = [];
    this.record = null;
    this.here = new Pane(this, byId("panes"), "here");
    this.before = null;
    this.listen();
    this.showSummary();
    this.readAddress();
  }

  // What is shown.

  showSummary() {
    const { title, inputs, outputs, facts, verdict, error, stages } = this.conversion;
    byId("title").textContent = title;
    const seconds = stages.reduce((sum, stage) => sum + stage.seconds, 0);
    byId("totals").textContent = `${stages.length} steps, ${this.conversion.changes.length} of them changed something, ${seconds.toFixed(2)} s`;
    const rows = [...facts, ...inputs.map((port) => ["input", port]), ...outputs.map((port) => ["output", port])];
    byId("interface").replaceChildren(...rows.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
    const texts = [error && `The conversion failed: ${error}`, verdict].filter(Boolean);
    byId("verdict").hidden = texts.length === 0;
    byId("verdict").textContent = texts.join("\n");
  }

  showSteps() {
    const { stages, rewrites } = this.conversion;
    const largest = Math.max(...stages.map((stage) => total(stage.kinds)), 1);
    const rows = [];
    stages.forEach((stage, index) => {
      if (!stage.changed && !byId("all-steps").checked) return;
      const count = total(stage.kinds);
      const earlier = index ? total(stages[index - 1].kinds) : count;
      const done = rewrites.filter((each) => each.stage === stage.number).length;
      const change = [`${count} operations`, count === earlier ? "" : signed(count - earlier), done ? `${done} rewrite${done === 1 ? "" : "s"}` : ""];
      const bars = Object.entries(stage.kinds).slice(0, 12).map(([kind, number]) =>
        element("i", { style: `background:${colourOf(kind)};width:${(100 * number) / largest}%`, title: `${number} ${kind}` }));
      const row = element("li", { "data-state": stage.state, "data-step": stage.number },
        element("span", { class: "number" }, String(stage.number).padStart(2, "0")),
        element("span", { class: "name" }, stage.name),
        element("span", { class: "time" }, `${(1000 * stage.seconds).toFixed(1)} ms`));
      if (stage.changed) row.append(element("span", { class: "change", style: "grid-column:2/4" }, change.filter(Boolean).join(", ")), element("span", { class: "bars" }, ...bars));
      row.classList.toggle("same", !stage.changed);
      row.classList.toggle("chosen", stage.changed && stage.state === this.state);
      if (stage.changed) row.addEventListener("click", () => this.go(stage.state));
      rows.push(row);
    });
    byId("steps").replaceChildren(...rows);
  }

  showKinds() {
    const stage = this.conversion.stageOf(this.state);
    const before = this.conversion.before(this.state);
    const earlier = before === null ? {} : this.conversion.stageOf(before).kinds;
    byId("kinds-title").textContent = `Operations after ${stage.name}`;
    const kinds = [...new Set([...Object.keys(stage.kinds), ...Object.keys(earlier)])];
    const rows = kinds.map((kind) => {
      const [now, then] = [stage.kinds[kind] || 0, earlier[kind] || 0];
      const change = before === null || now === then ? "" : signed(now - then);
      return element("tr", { onclick: () => this.search(kind) },
        element("td", {}, element("span", { class: "swatch", style: `background:${colourOf(kind)}` }), kind),
        element("td", {}, String(now)),
        element("td", { class: now > then ? "more" : "fewer" }, change));
    });
    byId("kinds").replaceChildren(...rows);
  }

  showGraphs(keepOpen = false) {
    const compares = byId("compare").checked && this.conversion.before(this.state) !== null;
    const resizes = compares !== Boolean(this.before);
    if (compares && !this.before) {
      this.before = new Pane(this, byId("panes"), "before");
      byId("panes").prepend(this.before.root);
    } else if (!compares && this.before) {
      this.before.root.remove();
      this.before = null;
    }
    const constants = byId("constants").checked;
    const earlier = this.conversion.before(this.state);
    const block = this.conversion.block(this.state, this.path);
    const old = earlier === null ? null : this.conversion.block(earlier, this.path);
    const marks = (of, other, mark) => new Map(other ? of.records.filter((each) => !other.byId.has(each.id)).map((each) => [each.id, mark]) : []);
    this.here.show(this.state, block, { constants, keepOpen, marks: marks(block, old, "new"), title: this.titleOf(this.state, block) });
    if (this.before) this.before.show(earlier, old, { constants, keepOpen, marks: marks(old, block, "gone"), title: this.titleOf(earlier, old) });
    if (resizes) this.here.begin();
  }

  titleOf(state, block) {
    const inside = block.path.map(([id, body]) => ` › operation ${id}, body ${body}`).join("");
    return `after ${this.conversion.stageOf(state).name}: ${block.records.filter(computes).length} operations${inside}`;
  }

  showDetails() {
    const details = byId("details");
    details.replaceChildren();
    if (this.path.length) details.append(element("button", { onclick: () => this.leave() }, "leave the body"));
    if (!this.record) {
      details.append(element("p", { class: "quiet" }, "Click an operation for its attributes and its origin, a group to open it, the name of an open group to close it. The wheel zooms."));
      return;
    }
    const record = this.record;
    const block = this.conversion.block(this.chosenState, this.path);
    details.append(element("h3", {}, element("span", { class: "swatch", style: `background:${colourOf(shortKind(record))}` }), record.kind));
    if (this.conversion.unsupportedIds.has(record.id)) details.append(element("p", { class: "bad" }, "moir cannot convert this operation"));
    this.rows(details, [["name", record.name], ...(record.sources || []).map(([name, kind]) => ["from", `${name} (${kind})`])]);
    this.section(details, "Operands", record.operands.map(([id, index]) => {
      const producer = block.byId.get(id);
      if (!producer) return element("div", {}, `result ${index} of an operation outside`);
      const value = producer.constant && producer.attributes ? ` = ${cut(producer.attributes.value || "", 60)}` : "";
      return element("div", {}, this.link(producer), ` ${producer.types[index]}`, element("span", { class: "quiet text" }, value));
    }));
    const users = block.users.get(record.id) || [];
    this.section(details, "Results", record.types.map((type, index) => {
      const names = (record.tensors || [])[index];
      return element("div", {}, element("code", {}, type), names ? ` ${names}` : "");
    }));
    this.section(details, "Users", [...new Set(users)].slice(0, 20).map((user) => element("div", {}, this.link(user))));
    this.section(details, "Attributes", Object.keys(record.attributes || {}).length ? [this.rows(element("div"), Object.entries(record.attributes))] : []);
    this.section(details, "Bodies", (record.bodies || []).map((body, number) =>
      element("button", { onclick: () => this.enter(record, number) }, `body ${number}: ${body.length} operations`)));
    this.showOrigin(details, record);
  }

  showOrigin(details, record) {
    const made = this.conversion.origins[record.id] || [];
    const birth = this.conversion.birth(record.id);
    const stage = birth >= 0 ? this.conversion.stageOf(birth) : null;
    const first = stage ? element("div", {}, element("span", { class: "link", onclick: () => this.go(birth) }, `${String(stage.number).padStart(2, "0")} ${stage.name}`)) : "";
    this.section(details, "Since step", [first]);
    const rewrites = made.slice(-6).map((number) => {
      const rewrite = this.conversion.rewrites[number];
      const name = this.conversion.stages.find((each) => each.number === rewrite.stage);
      const block = element("div", {}, element("div", {}, `${name ? name.name : ""}: `, element("code", {}, rewrite.pattern)));
      rewrite.before.forEach((text) => block.append(element("pre", { class: "removed" }, `- ${text}`)));
      rewrite.after.forEach((text) => block.append(element("pre", { class: "added" }, `+ ${text}`)));
      return block;
    });
    this.section(details, "Rewrites that made it", rewrites);
    const before = this.conversion.before(this.chosenState);
    const earlier = before === null ? null : this.conversion.block(before, this.path).counterpart(record);
    if (!earlier || JSON.stringify(earlier) === JSON.stringify(record)) return;
    this.section(details, `In the step before (${this.conversion.stageOf(before).name})`, [
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
    return element("span", { class: "link", onclick: () => this.choose(record, null, true) }, `${shortKind(record)} ${record.name ? `'${record.name}'` : ""}`);
  }

  // What the user does.

  go(state) {
    this.state = state;
    const block = this.conversion.block(state, this.path);
    this.record = this.record && block.counterpart(this.record);
    this.chosenState = state;
    this.showSteps();
    this.showKinds();
    byId("steps").querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    this.showGraphs();
    this.showDetails();
    if (this.record) this.here.reveal(this.record);
    this.writeAddress();
  }

  /** Choose an operation; the other graph shows its counterpart. */
  choose(record, pane = null, reveals = false) {
    this.record = record;
    this.chosenState = pane ? pane.state : this.chosenState ?? this.state;
    for (const each of [this.before, this.here]) {
      if (!each) continue;
      const own = each.state === this.chosenState ? record : each.block.counterpart(record);
      if (own && (reveals || each !== pane)) each.reveal(own);
      each.highlight(own);
    }
    this.showDetails();
    this.writeAddress();
  }

  enter(record, body) {
    this.path = [...this.path, [record.id, body]];
    this.record = null;
    this.showGraphs();
    this.showDetails();
  }

  leave() {
    const [id] = this.path.pop();
    this.path = [...this.path];
    this.showGraphs();
    const record = this.conversion.block(this.state, this.path).byId.get(id);
    if (record) this.choose(record, this.here, true);
  }

  search(text) {
    byId("search").value = text;
    const wanted = text.trim().toLowerCase();
    const found = [];
    if (wanted) {
      for (const [record, path] of this.conversion.everywhere(this.state)) {
        if (found.length >= 100) break;
        const texts = [record.name, record.kind, ...(record.tensors || [])];
        if (texts.some((each) => each.toLowerCase().includes(wanted))) found.push([record, path]);
      }
    }
    byId("found").replaceChildren(...found.map(([record, path]) =>
      element("li", { onclick: () => this.take(record, path) },
        element("span", { class: "swatch", style: `background:${colourOf(shortKind(record))}` }), `${shortKind(record)} ${record.name}`)));
    if (wanted && !found.length) byId("found").append(element("li", { class: "quiet" }, "nothing in this step"));
    byId("found").hidden = !wanted;
  }

  take(record, path) {
    byId("found").hidden = true;
    this.path = path;
    this.chosenState = this.state;
    this.showGraphs(true);
    this.choose(record, null, true);
  }

  listen() {
    byId("search").addEventListener("input", (event) => this.search(event.target.value));
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") byId("found").querySelector("li")?.click();
      if (event.key === "Escape") byId("found").hidden = true;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && event.target.tagName !== "INPUT") {
        event.preventDefault();
        byId("search").focus();
      }
    });
    byId("compare").addEventListener("change", () => this.go(this.state));
    byId("constants").addEventListener("change", () => this.go(this.state));
    byId("all-steps").addEventListener("change", () => this.showSteps());
    byId("fit").addEventListener("click", () => [this.before, this.here].forEach((pane) => pane?.fit()));
    byId("collapse").addEventListener("click", () => [this.before, this.here].forEach((pane) => pane?.collapse()));
    window.addEventListener("hashchange", () => this.readAddress());
  }

  // The address: #step=7&node=conv1&compare=1

  readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const stages = this.conversion.changes;
    const step = given.has("step") ? Number(given.get("step")) : stages[stages.length - 1].number;
    const stage = stages.findLast((each) => each.number <= step) || stages[0];
    byId("compare").checked = given.get("compare") === "1";
    if (this.state !== stage.state || Boolean(this.before) !== byId("compare").checked) this.go(stage.state);
    const name = given.get("node");
    if (!name || (this.record && this.record.name === name)) return;
    for (const [record, path] of this.conversion.everywhere(stage.state)) if (record.name === name) return this.take(record, path);
  }

  writeAddress() {
    const parts = new URLSearchParams({ step: this.conversion.stageOf(this.state).number });
    if (this.record?.name) parts.set("node", this.record.name);
    if (byId("compare").checked) parts.set("compare", "1");
    history.replaceState(null, "", `#${parts}`);
  }
}

function total(kinds) {
  return Object.values(kinds).reduce((sum, count) => sum + count, 0);
}

function signed(number) {
  return number > 0 ? `+${number}` : `−${-number}`;
}

readContent().then((content) => {
  window.app = new App(new Conversion(content));
  document.body.dataset.ready = "yes";
}).catch((error) => {
  byId("verdict").hidden = false;
  byId("verdict").textContent = `This page cannot be shown: ${error}`;
});
