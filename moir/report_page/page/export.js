"use strict";

// The graph that is shown as an SVG file, which looks the same without the page.

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight"];

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
    each.setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
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
