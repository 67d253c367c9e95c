"use strict";

// The graph that is shown as an SVG file, which looks the same without the page.

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight"];

const RGB = new Map();

/** The value of a style in a form that programs without CSS Color 4 know: colours in oklch become rgb. */
function portable(value) {
  if (!value.startsWith("oklch")) return value;
  if (!RGB.has(value)) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = value;
    context.fillRect(0, 0, 1, 1);
    RGB.set(value, `rgb(${[...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join(", ")})`);
  }
  return RGB.get(value);
}

/** The text of an SVG file with the whole graph of a pane. */
function svgText(pane) {
  const { width = 1, height = 1 } = pane.graph.graph();
  const copy = pane.drawing.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.querySelector("g").removeAttribute("transform");
  const originals = pane.drawing.querySelectorAll("rect, path, text");
  copy.querySelectorAll("rect, path, text").forEach((each, index) => {
    const style = getComputedStyle(originals[index]);
    each.setAttribute("style", STYLES.map((name) => `${name}:${portable(style.getPropertyValue(name))}`).join(";"));
    if (each.tagName === "rect" && style.getPropertyValue("rx")) each.setAttribute("rx", parseFloat(style.getPropertyValue("rx")) || 0);
  });
  const ground = document.createElementNS(SVG, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(pane.drawing).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function save(pane, conversion) {
  const step = conversion.stageOf(pane.state).name;
  const name = `${conversion.title}-${step}`.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  const address = URL.createObjectURL(new Blob([svgText(pane)], { type: "image/svg+xml" }));
  element("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
