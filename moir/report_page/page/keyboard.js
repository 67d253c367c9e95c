"use strict";

// The keys of the page, each with what it does; the dialogue of help is made of them.

const KEYS = [
  ["/", "search", () => byId("search").focus()],
  ["ArrowDown", "to what uses the chosen operation", (app) => toNeighbour(app, (block, record) => (block.users.get(record.id) || [])[0])],
  ["ArrowUp", "to what it uses", (app) => toNeighbour(app, (block, record) =>
    record.operands.map(([id]) => block.byId.get(id)).find((each) => each && (!each.constant || byId("constants").checked)))],
  ["ArrowLeft", "to the operation on the left", (app) => beside(app, -1)],
  ["ArrowRight", "to the operation on the right", (app) => beside(app, 1)],
  ["Enter", "into the body of the chosen operation", (app) => app.record?.bodies && app.enter(app.record, 0)],
  ["Backspace", "out of the body", (app) => app.path.length && app.leave()],
  ["n", "to the next step", (app) => app.step(1)],
  ["p", "to the previous step", (app) => app.step(-1)],
  ["c", "the step before, beside it", () => byId("compare").click()],
  ["w", "constants (weights) as nodes", () => byId("constants").click()],
  ["f", "the whole graph", () => byId("fit").click()],
  ["+", "larger", (app) => app.panes.forEach((pane) => pane.zoom(1.25))],
  ["-", "smaller", (app) => app.panes.forEach((pane) => pane.zoom(0.8))],
  ["s", "save the graph as SVG", () => byId("save").click()],
  ["d", "dark or light", () => byId("theme").click()],
  ["?", "these keys", () => byId("help").showModal()],
];

const SIGNS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

/** Whether keys that are pressed in an element are letters of a text. */
function takesText(target) {
  return target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && ["search", "text"].includes(target.type));
}

function listenToKeys(app) {
  byId("help-keys").replaceChildren(...KEYS.flatMap(([key, meaning]) =>
    [element("dt", {}, element("kbd", {}, SIGNS[key] || key)), element("dd", {}, meaning)]));
  byId("search").addEventListener("keydown", (event) => inSearch(app, event));
  document.addEventListener("keydown", (event) => {
    if (takesText(event.target) || event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.target.getAttribute("role") === "button" && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.target.click();
      return;
    }
    if (event.target.tagName === "BUTTON" && event.key === "Enter") return;
    if (event.key === "Escape") byId("found").hidden = true;
    const found = KEYS.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2](app);
  });
}

/** The keys of the list that a search has found. */
function inSearch(app, event) {
  const rows = [...byId("found").querySelectorAll("li:not(.quiet)")];
  const chosen = rows.findIndex((row) => row.classList.contains("chosen"));
  if (event.key === "Enter" && rows.length) {
    rows[Math.max(chosen, 0)].click();
    byId("search").blur();
  } else if (event.key === "Escape") {
    byId("found").hidden = true;
    byId("search").blur();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = Math.min(Math.max(chosen + (event.key === "ArrowDown" ? 1 : -1), 0), rows.length - 1);
    rows.forEach((row, index) => row.classList.toggle("chosen", index === next));
    rows[next]?.scrollIntoView({ block: "nearest" });
  }
}

/** Choose a neighbour of the chosen operation; without one, the first operation. */
function toNeighbour(app, neighbour) {
  const block = app.here.block;
  const record = app.record ? neighbour(block, app.record) : block.records.find((each) => !each.constant);
  if (record) app.choose(record, null, true);
}

/** Choose the operation that is drawn next to the chosen one. */
function beside(app, direction) {
  const graph = app.here.graph;
  const own = app.record && graph.node(`o${app.record.id}`);
  if (!own) return toNeighbour(app, () => null);
  const row = graph.nodes().map((key) => graph.node(key)).filter((node) => node.record && Math.abs(node.y - own.y) < own.height);
  row.sort((a, b) => a.x - b.x);
  const next = row[row.findIndex((node) => node.record === own.record) + direction];
  if (next) app.choose(next.record, null, true);
}

/** Change between dark and light; at first the theme is that of the system. */
function changeTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
}
