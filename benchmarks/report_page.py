"""The page of a report in Chromium: when something is shown, when it can be used, and how long a search takes.

    python benchmarks/report_page.py                                  50, 1,000 and 10,000 operations
    python benchmarks/report_page.py --operations 1000 --searches 9

The models are residual networks of ONNX: convolutions with weights, activations, sums, in scopes of names. Times are in
milliseconds from the navigation, of a search from the key to the list that is drawn; the median of some runs.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import Browser, sync_playwright

from moir.tools.convert import main as moir

CHANNELS = 4


def residual_network(operations: int) -> onnx.ModelProto:
    """A network of blocks of four operations."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    data = "image"
    for number in range(operations // 4):
        scope = f"/stage{number // 16}/block{number % 16}"
        weights.append(numpy_helper.from_array(random.standard_normal((CHANNELS, CHANNELS, 3, 3), np.float32), f"w{number}"))
        conv, relu, mul, out = (f"{scope}/{kind}_output" for kind in ("conv", "relu", "sigmoid", "add"))
        nodes.append(helper.make_node("Conv", [data, f"w{number}"], [conv], f"{scope}/conv", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [conv], [relu], f"{scope}/relu"))
        nodes.append(helper.make_node("Sigmoid", [relu], [mul], f"{scope}/sigmoid"))
        nodes.append(helper.make_node("Add", [mul, data], [out], f"{scope}/add"))
        data = out
    shape = ["batch", CHANNELS, 8, 8]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("image", data)]
    graph = helper.make_graph(nodes, "residual", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


SEARCH = """async (text) => {
  const input = document.getElementById('search');
  const begun = performance.now();
  input.value = text;
  input.dispatchEvent(new Event('input'));
  document.getElementById('found').getBoundingClientRect();
  return performance.now() - begun;
}"""


def measured(browser: Browser, page_file: Path, searches: int) -> tuple[float, float, float]:
    """First paint, readiness, and the longest of the medians of searches, in milliseconds."""
    paints, ready = [], []
    page = browser.new_page(viewport={"width": 1500, "height": 900})
    for _ in range(3):
        page.goto("about:blank")
        page.goto(f"file://{page_file}")
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        ready.append(page.evaluate("performance.now()"))
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    texts = ("Conv", "c", "block3/relu", "nothing of that name")
    slowest = max(median(page.evaluate(SEARCH, text) for _ in range(searches)) for text in texts)
    page.close()
    return median(paints), median(ready), slowest


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, nargs="*", default=[50, 1000, 10_000], help="numbers of operations of the models")
    parser.add_argument("--searches", type=int, default=5, help="how often each search is repeated")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    rows = [f"{'operations':>10}  {'page':>8}  {'first paint':>11}  {'ready':>8}  {'search':>8}"]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for operations in options.operations:
            model, page = Path(folder, f"{operations}.onnx"), Path(folder, f"{operations}.html")
            onnx.save(residual_network(operations), model)
            if moir(["report", str(model), "-o", str(page)]):
                raise SystemExit(1)
            paint, ready, search = measured(browser, page, options.searches)
            rows.append(f"{operations:>10}  {page.stat().st_size / 1e6:>5.2f} MB  {paint:>8.0f} ms  {ready:>5.0f} ms  {search:>5.1f} ms")
        browser.close()
    print("\n".join(rows))


if __name__ == "__main__":
    main()
