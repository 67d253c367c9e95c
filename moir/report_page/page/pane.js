"use strict";

// One graph: its layout by dagre, its drawing as SVG, moving and zooming.

const SVG = "http://www.w3.org/2000/svg";
const READABLE = 0.75;

function svg(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

function cut(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The dimensions in the text of a type, as `1×3×224×224`; empty for what is no tensor. */
function shapeOf(type) {
  const found = /^tensor<(?:(.*)x)?([^x<>]+)>/.exec(type);
  return found && found[1] !== "*" ? cut((found[1] || "").replaceAll("x", "×"), 30) : "";
}

class Pane {
  /** app: is told of clicks by `choose(record, pane)` and `enter(record, body)`; side: "before" or "here". */
  constructor(app, parent, side) {
    this.app = app;
    this.side = side;
    this.root = document.createElement("div");
    this.root.className = "pane";
    this.root.dataset.side = side;
    this.path = document.createElement("div");
    this.path.className = "path";
    this.root.append(this.path);
    this.drawing = svg(this.root, "svg", { role: "group" });
    parent.append(this.root);
    this.open = null;
    this.listen();
  }

  /** Show a block. marked: the numbers of the operations that the other state does not have, with their class. */
  show(state, block, options) {
    const isOther = this.state !== state || this.block !== block || this.withConstants !== options.constants;
    this.withShapes = options.shapes;
    this.state = state;
    this.block = block;
    this.withConstants = options.constants;
    this.marks = options.marks;
    this.path.textContent = options.title;
    this.drawing.setAttribute("aria-label", `graph of ${options.title}`);
    const records = block.records.filter((record) => options.constants || !record.constant);
    this.scopes = scopesOf(records, block);
    if (isOther && !options.keepOpen) this.open = null;
    this.open = this.open || openAtFirst(this.scopes);
    this.draw();
    if (isOther) this.begin();
  }

  /** Open the groups around an operation and move it into the middle. */
  reveal(record) {
    if (record.constant && !this.withConstants) {
      const users = this.block.users.get(record.id) || [];
      if (users.length) this.reveal(users[0]);
      return;
    }
    const around = groupsAround(this.scopes, record.id);
    if (!around) return;
    if (around.some((key) => !this.open.has(key))) {
      around.forEach((key) => this.open.add(key));
      this.draw();
    }
    this.highlight(record);
    const place = this.graph.node(`o${record.id}`);
    if (place) this.centre(place.x, place.y, Math.max(this.scale, 0.7));
  }

  highlight(record) {
    this.chosen = record ? record.id : null;
    for (const element of this.drawing.querySelectorAll(".node")) {
      element.classList.toggle("chosen", record !== null && element.dataset.id === `o${record.id}`);
    }
    for (const element of this.drawing.querySelectorAll(".edge")) {
      const near = record !== null && (element.dataset.from === `o${record.id}` || element.dataset.to === `o${record.id}`);
      element.classList.toggle("near", near);
    }
  }

  collapse() {
    this.open = openAtFirst(this.scopes);
    this.draw();
    this.begin();
  }

  /** The groups and operations that are visible, laid out. */
  lay() {
    const graph = new dagre.graphlib.Graph({ compound: true });
    graph.setGraph({ rankdir: "TB", nodesep: 20, ranksep: this.withShapes ? 34 : 26, edgesep: 10, marginx: 12, marginy: 12 });
    graph.setDefaultEdgeLabel(() => ({}));
    const shown = new Map();
    const place = (group, parent, target) => {
      for (const child of group.children) {
        if (!(child instanceof Group)) {
          const key = target || `o${child.id}`;
          shown.set(child.id, key);
          if (!target) this.addNode(graph, key, { record: child, title: shortKind(child), name: child.name.split("/").pop(), weights: this.weightsOf(child) }, parent);
        } else if (target) {
          place(child, parent, target);
        } else if (this.open.has(child.key)) {
          graph.setNode(`g${child.key}`, { group: child, isOpen: true });
          if (parent) graph.setParent(`g${child.key}`, parent);
          place(child, `g${child.key}`, null);
        } else {
          this.addNode(graph, `g${child.key}`, { group: child, title: child.label, name: plural(child.count, "operation") }, parent);
          place(child, parent, `g${child.key}`);
        }
      }
    };
    place(this.scopes, null, null);
    for (const record of this.block.records) {
      const to = shown.get(record.id);
      for (const [producer, index] of to ? record.operands : []) {
        const from = shown.get(producer);
        if (from && from !== to && !graph.hasEdge(from, to)) graph.setEdge(from, to, { type: this.block.byId.get(producer).types[index] });
      }
    }
    dagre.layout(graph);
    return graph;
  }

  /** The constants that an operation uses, in a few letters: the shapes of large ones, the values of small ones. */
  weightsOf(record) {
    if (this.withConstants) return "";
    const texts = this.block.constants(record).map(({ weights }) =>
      !weights ? "" : weights.values?.length === 1 ? cut(weights.values[0], 9) : weights.shape.join("×"));
    return cut(texts.filter(Boolean).join(", "), 34);
  }

  addNode(graph, key, node, parent) {
    const letters = Math.max(cut(node.title, 34).length * 7.4, cut(node.name, 34).length * 5.9, (node.weights || "").length * 5.4);
    const height = 24 + (node.name ? 12 : 0) + (node.weights ? 11 : 0);
    graph.setNode(key, { ...node, width: Math.max(46, letters + 18), height });
    if (parent) graph.setParent(key, parent);
  }

  draw() {
    this.graph = this.lay();
    this.drawing.replaceChildren();
    const markers = svg(svg(this.drawing, "defs"), "marker", {
      id: `arrow-${this.side}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
    });
    svg(markers, "path", { d: "M0 0L8 4L0 8z", class: "arrow" });
    this.canvas = svg(this.drawing, "g");
    const nodes = this.graph.nodes().map((key) => [key, this.graph.node(key)]);
    // The outer scopes are drawn first, and lie below the inner ones.
    const open = nodes.filter(([, node]) => node.isOpen).sort(([, a], [, b]) => b.width * b.height - a.width * a.height);
    for (const [, node] of open) this.drawScope(node);
    this.labelled = new Set();
    for (const edge of this.graph.edges()) this.drawEdge(edge);
    for (const [key, node] of nodes) if (!node.isOpen) this.drawNode(key, node);
    this.highlight(this.block.byId.get(this.chosen) || null);
    this.move();
  }

  drawScope(node) {
    const box = { x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height };
    const toggle = () => {
      this.open.delete(node.group.key);
      this.draw();
    };
    svg(this.canvas, "rect", { class: "scope", rx: 7, ...box }).addEventListener("dblclick", toggle);
    const label = svg(this.canvas, "text", { class: "scope-name", x: box.x + 7, y: box.y + 13 }, `− ${cut(node.group.label, 40)}`);
    svg(label, "title", {}, `${node.group.key}: close`);
    label.addEventListener("click", toggle);
  }

  drawEdge(edge) {
    const { points, type } = this.graph.edge(edge);
    let d = `M${points[0].x} ${points[0].y}`;
    for (let i = 1; i < points.length - 1; i++) {
      const end = i === points.length - 2 ? points[i + 1] : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
      d += `Q${points[i].x} ${points[i].y} ${end.x} ${end.y}`;
    }
    if (points.length === 2) d += `L${points[1].x} ${points[1].y}`;
    const path = svg(this.canvas, "path", { class: "edge", d, "marker-end": `url(#arrow-${this.side})` });
    path.dataset.from = edge.v;
    path.dataset.to = edge.w;
    svg(path, "title", {}, type || "");
    // All edges of one result begin at one place.
    if (!this.withShapes || !type || this.labelled.has(edge.v + type)) return;
    this.labelled.add(edge.v + type);
    svg(this.canvas, "text", { class: "shape", x: points[0].x + 5, y: points[0].y + 11 }, shapeOf(type));
  }

  drawNode(key, node) {
    const classes = ["node", node.group ? "group" : ""];
    if (node.record) {
      classes.push(this.marks.get(node.record.id) || "");
      if (this.app.conversion.unsupportedIds.has(node.record.id)) classes.push("unsupported");
    } else if (this.holdsUnsupported(node.group)) {
      classes.push("unsupported");
    }
    const element = svg(this.canvas, "g", { class: classes.filter(Boolean).join(" "), role: "button", "aria-label": this.labelOf(node) });
    element.dataset.id = key;
    const box = { x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height };
    svg(element, "rect", { ...box, ...(node.record ? { style: `fill:${colourOf(shortKind(node.record))}` } : {}) });
    const middle = { x: node.x, "text-anchor": "middle" };
    svg(element, "text", { class: "kind", ...middle, y: box.y + 16 }, cut(node.title, 34));
    if (node.name) svg(element, "text", { class: "name", ...middle, y: box.y + 29 }, cut(node.name, 34));
    if (node.weights) svg(element, "text", { class: "weights", ...middle, y: box.y + (node.name ? 41 : 29) }, node.weights);
    svg(element, "title", {}, node.record ? `${node.record.kind} '${node.record.name}'\n${node.record.types.join(", ")}` : `${node.group.key || node.title}: open`);
    if (node.record) {
      element.addEventListener("click", () => this.app.choose(node.record, this));
      if (node.record.bodies) element.addEventListener("dblclick", () => this.app.enter(node.record, 0));
    } else {
      element.addEventListener("click", () => {
        this.open.add(node.group.key);
        this.draw();
      });
    }
  }

  /** A node in words: what it computes, and how it is connected. */
  labelOf({ record, group, title }) {
    if (group) return `${title}, ${plural(group.count, "operation")}, closed`;
    const users = (this.block.users.get(record.id) || []).length;
    return `${shortKind(record)} ${record.name}, ${plural(record.operands.length, "operand")}, ${plural(users, "user")}`;
  }

  holdsUnsupported(group) {
    return group.children.some((child) =>
      child instanceof Group ? this.holdsUnsupported(child) : this.app.conversion.unsupportedIds.has(child.id),
    );
  }

  // Moving and zooming.

  /** Show the whole graph. */
  fit() {
    const { width = 1, height = 1 } = this.graph.graph();
    this.centre(width / 2, height / 2, this.fittingScale());
  }

  /** Show the whole graph, or its first operations if they would be too small to read. */
  begin() {
    const scale = this.fittingScale();
    if (scale >= READABLE) {
      this.fit();
      return;
    }
    const first = this.graph.nodes().map((key) => this.graph.node(key)).reduce((a, b) => (b.y < a.y ? b : a));
    this.centre(first.x, this.drawing.getBoundingClientRect().height / 2 / READABLE - 20, READABLE);
  }

  fittingScale() {
    const { width = 1, height = 1 } = this.graph.graph();
    const area = this.drawing.getBoundingClientRect();
    return Math.min(1.3, area.width / width, area.height / height) || 1;
  }

  zoom(factor) {
    const area = this.drawing.getBoundingClientRect();
    const [x, y] = [area.width / 2, area.height / 2];
    this.x = x - (x - this.x) * factor;
    this.y = y - (y - this.y) * factor;
    this.scale *= factor;
    this.move();
  }

  centre(x, y, scale) {
    const area = this.drawing.getBoundingClientRect();
    this.scale = scale;
    this.x = area.width / 2 - x * scale;
    this.y = area.height / 2 - y * scale;
    this.move();
  }

  move() {
    if (this.scale) this.canvas.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
  }

  listen() {
    this.drawing.addEventListener("wheel", (event) => {
      event.preventDefault();
      const area = this.drawing.getBoundingClientRect();
      const [x, y] = [event.clientX - area.left, event.clientY - area.top];
      const factor = Math.exp(-event.deltaY * 0.0015);
      this.x = x - (x - this.x) * factor;
      this.y = y - (y - this.y) * factor;
      this.scale *= factor;
      this.move();
    }, { passive: false });
    let held = null;
    this.drawing.addEventListener("pointerdown", (event) => {
      held = [event.clientX - this.x, event.clientY - this.y];
    });
    window.addEventListener("pointermove", (event) => {
      if (!held) return;
      this.drawing.classList.add("moving");
      [this.x, this.y] = [event.clientX - held[0], event.clientY - held[1]];
      this.move();
    });
    window.addEventListener("pointerup", () => {
      held = null;
      this.drawing.classList.remove("moving");
    });
  }
}
