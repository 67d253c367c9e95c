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

/** What makes an element that is not a button one for the keyboard. */
const REACHED = { tabindex: "0", role: "button" };

/** The largest number of results of a search that are listed. */
const FOUND = 100;

class App {
  constructor(conversion) {
    this.conversion = conversion;
    this.path = [];
    this.record = null;
    this.here = new Pane(this, byId("panes"), "here");
    this.before = null;
    this.details = new Details(this, byId("details"));
    byId("compare").checked = Boolean(conversion.difference);
    if (conversion.difference) {
      byId("compare-text").textContent = "first model beside it";
      byId("steps-title").textContent = "Models";
    }
    document.body.dataset.shows = conversion.difference ? "difference" : conversion.view ? "view" : "conversion";
    this.listen();
    this.showSummary();
  }

  // What is shown.

  showSummary() {
    const { title, inputs, outputs, facts, verdict, error, stages } = this.conversion;
    byId("title").textContent = title;
    const seconds = stages.reduce((sum, stage) => sum + stage.seconds, 0);
    const operations = plural(total(stages[0].kinds), "operation");
    const steps = `${stages.length} steps, ${this.conversion.changes.length} of them changed something, ${seconds.toFixed(2)} s`;
    byId("totals").textContent = this.conversion.difference ? this.conversion.summary : this.conversion.view ? operations : steps;
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
      const change = [plural(count, "operation"), count === earlier ? "" : signed(count - earlier), done ? plural(done, "rewrite") : ""];
      const bars = Object.entries(stage.kinds).slice(0, 12).map(([kind, number]) =>
        element("i", { style: `background:${colourOf(kind)};width:${(100 * number) / largest}%`, title: `${number} ${kind}` }));
      const row = element("li", { ...(stage.changed ? REACHED : {}), "data-state": stage.state, "data-step": stage.number },
        element("span", { class: "number" }, String(stage.number + (this.conversion.difference ? 1 : 0)).padStart(2, "0")),
        element("span", { class: "name" }, stage.name),
        element("span", { class: "time" }, this.conversion.difference ? "" : `${(1000 * stage.seconds).toFixed(1)} ms`));
      if (stage.changed) row.append(element("span", { class: "change", style: "grid-column:2/4" }, change.filter(Boolean).join(", ")), element("span", { class: "bars" }, ...bars));
      row.classList.toggle("same", !stage.changed);
      row.classList.toggle("chosen", stage.changed && stage.state === this.state);
      if (stage.changed) row.addEventListener("click", () => this.go(stage.state));
      if (stage.changed && stage.state === this.state) row.setAttribute("aria-current", "step");
      rows.push(row);
    });
    byId("steps").replaceChildren(...rows);
  }

  showKinds() {
    const stage = this.conversion.stageOf(this.state);
    const before = this.conversion.before(this.state);
    const earlier = before === null ? {} : this.conversion.stageOf(before).kinds;
    byId("kinds-title").textContent = document.body.dataset.shows === "conversion" ? `Operations after ${stage.name}` : "Operations";
    const kinds = [...new Set([...Object.keys(stage.kinds), ...Object.keys(earlier)])];
    const rows = kinds.map((kind) => {
      const [now, then] = [stage.kinds[kind] || 0, earlier[kind] || 0];
      const change = before === null || now === then ? "" : signed(now - then);
      return element("tr", { ...REACHED, onclick: () => this.search(kind) },
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
    const shown = { constants: byId("constants").checked, shapes: byId("shapes").checked };
    const earlier = this.conversion.before(this.state);
    const block = this.conversion.block(this.state, this.path);
    const old = earlier === null ? null : this.conversion.block(earlier, this.path);
    const changes = this.conversion.differences;
    const marks = (of, other, mark) => new Map(other ? of.records
      .filter((each) => !other.byId.has(each.id) || each.id in changes || each.operands.some(([id]) => id in changes && of.byId.get(id)?.constant))
      .map((each) => [each.id, other.byId.has(each.id) ? "changed" : mark]) : []);
    this.here.show(this.state, block, { ...shown, keepOpen, marks: marks(block, old, "new"), title: this.titleOf(this.state, block) });
    if (this.before) this.before.show(earlier, old, { ...shown, keepOpen, marks: marks(old, block, "gone"), title: this.titleOf(earlier, old) });
    if (resizes) this.here.begin();
  }

  titleOf(state, block) {
    const inside = block.path.map(([id, body]) => ` › operation ${id}, body ${body}`).join("");
    const { name } = this.conversion.stageOf(state);
    const step = { conversion: `${this.conversion.title}, after ${name}`, difference: name, view: this.conversion.title };
    return `${step[document.body.dataset.shows]}: ${plural(block.records.filter(computes).length, "operation")}${inside}`;
  }

  // What the user does.

  go(state) {
    this.state = state;
    const block = this.conversion.block(state, this.path);
    // A step without the operation keeps its name: a later one may have it again.
    this.wanted = this.record?.name || this.wanted;
    this.record = (this.record && block.counterpart(this.record)) || (this.wanted && named(block.records, this.wanted)) || null;
    this.chosenState = state;
    this.showSteps();
    this.showKinds();
    byId("steps").querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    this.showGraphs();
    this.details.show();
    if (this.record) this.here.reveal(this.record);
    this.writeAddress();
  }

  /** Choose an operation; the other graph shows its counterpart. */
  choose(record, pane = null, reveals = false) {
    if (!record) return;
    this.record = record;
    this.wanted = record.name;
    this.chosenState = pane ? pane.state : this.chosenState ?? this.state;
    for (const each of [this.before, this.here]) {
      if (!each) continue;
      const own = each.state === this.chosenState ? record : each.block.counterpart(record);
      if (own && (reveals || each !== pane)) each.reveal(own);
      each.highlight(own);
    }
    this.details.show();
    this.writeAddress();
  }

  enter(record, body) {
    this.path = [...this.path, [record.id, body]];
    this.record = null;
    this.showGraphs();
    this.details.show();
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
    const found = text.trim() ? this.conversion.found(this.state, text.trim().toLowerCase()) : [];
    byId("found").replaceChildren(...found.slice(0, FOUND).map(([record, path]) =>
      element("li", { onclick: () => this.take(record, path) },
        element("span", { class: "swatch", style: `background:${colourOf(shortKind(record))}` }), `${shortKind(record)} ${record.name}`)));
    byId("found").firstChild?.classList.add("chosen");
    if (found.length > FOUND) byId("found").append(element("li", { class: "quiet" }, `and ${found.length - FOUND} more`));
    if (text.trim() && !found.length) byId("found").append(element("li", { class: "quiet" }, "nothing in this step"));
    byId("found").hidden = !text.trim();
  }

  take(record, path) {
    byId("found").hidden = true;
    this.path = path;
    this.chosenState = this.state;
    this.showGraphs(true);
    this.choose(record, null, true);
  }

  /** Show the previous or the next step that changed something. */
  step(distance) {
    const stages = this.conversion.changes;
    const next = stages[stages.findIndex((each) => each.state === this.state) + distance];
    if (next) this.go(next.state);
  }

  listen() {
    byId("search").addEventListener("input", (event) => this.search(event.target.value));
    for (const name of ["compare", "constants", "shapes"]) byId(name).addEventListener("change", () => this.go(this.state));
    byId("all-steps").addEventListener("change", () => this.showSteps());
    byId("fit").addEventListener("click", () => this.panes.forEach((pane) => pane.fit()));
    byId("collapse").addEventListener("click", () => this.panes.forEach((pane) => pane.collapse()));
    byId("save").addEventListener("click", () => save(this.here, this.conversion));
    byId("theme").addEventListener("click", changeTheme);
    byId("keys").addEventListener("click", () => byId("help").showModal());
    listenToKeys(this);
    window.addEventListener("hashchange", () => this.readAddress());
  }

  get panes() {
    return [this.before, this.here].filter(Boolean);
  }

  // The address: #step=7&node=conv1&compare=1

  readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const stages = this.conversion.changes;
    const step = given.has("step") ? Number(given.get("step")) : stages[stages.length - 1].number;
    const stage = stages.findLast((each) => each.number <= step) || stages[0];
    if (given.has("step")) byId("compare").checked = given.get("compare") === "1";
    if (this.state !== stage.state || Boolean(this.before) !== byId("compare").checked) this.go(stage.state);
    const wanted = { name: given.get("node"), id: Number(given.get("operation") ?? NaN) };
    if (!wanted.name && Number.isNaN(wanted.id) || (this.record && this.record.name === wanted.name)) return;
    const selected = wanted.name
      ? this.conversion.named(stage.state, wanted.name)
      : [...this.conversion.everywhere(stage.state)].find(([record]) => record.id === wanted.id);
    if (selected) this.take(...selected);
  }

  writeAddress() {
    const parts = new URLSearchParams({ step: this.conversion.stageOf(this.state).number });
    if (this.record) parts.set(this.record.name ? "node" : "operation", this.record.name || this.record.id);
    else if (this.wanted) parts.set("node", this.wanted);
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
  // What is written is painted before the graph is laid out.
  return new Promise((resolve) => setTimeout(resolve, 0));
}).then(() => {
  window.app.readAddress();
  document.body.dataset.ready = "yes";
}).catch((error) => {
  byId("verdict").hidden = false;
  byId("verdict").textContent = `This page cannot be shown: ${error}`;
});
