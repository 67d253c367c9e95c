"""The page of a report in a real browser: what it shows, and what a click does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import Page, sync_playwright

from moir.tools.convert import main
from tests.unit.report.colours import SEEN, contrast, distance
from tests.unit.small_models import loop_model

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LAYERS, PER_LAYER = 250, 20

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium; .ci/run installs it")

Show = Callable[..., Page]


def chain(name: Callable[[int], str], count: int, kinds: dict[int, str] | None = None) -> onnx.ModelProto:
    """A chain of Relu and Sigmoid; nodes of other kinds, which are of a domain of their own, by their numbers."""
    nodes = [
        helper.make_node((kinds or {}).get(number, ("Relu", "Sigmoid")[number % 2]), [f"t{number}"], [f"t{number + 1}"], name=name(number))
        for number in range(count)
    ]
    for number in kinds or ():
        nodes[number].domain = "com.example"
    tensors = [helper.make_tensor_value_info(f"t{number}", TensorProto.FLOAT, ["n", 8]) for number in (0, count)]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return helper.make_model(helper.make_graph(nodes, "chain", tensors[:1], tensors[1:]), opset_imports=imports)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The reports of four models; the conversion of `custom` fails."""
    folder = tmp_path_factory.mktemp("reports")
    models = {
        "loop": loop_model(),
        "custom": chain(lambda number: f"node{number}", 3, {1: "Unknown"}),
        "scopes": chain(lambda number: f"layer{number // PER_LAYER}/block/op{number % PER_LAYER}", LAYERS * PER_LAYER),
        "flat": chain(lambda number: f"<b>{number}", LAYERS * PER_LAYER),
    }
    for name, model in models.items():
        onnx.save(model, folder / f"{name}.onnx")
        status = main(["report", str(folder / f"{name}.onnx"), "-o", str(folder / f"{name}.html")])
        assert status == (1 if name == "custom" else 0)
    onnx.save(classifier(1.0), folder / "first.onnx")
    onnx.save(classifier(2.0), folder / "second.onnx")
    assert main(["report", str(folder / "first.onnx"), "-o", str(folder / "weights.html")]) == 0
    assert main(["report", str(folder / "first.onnx"), str(folder / "second.onnx"), "-o", str(folder / "two.html")]) == 0
    assert main(["view", str(folder / "custom.onnx"), "-o", str(folder / "view.html")]) == 0
    return {name: folder / f"{name}.html" for name in (*models, "weights", "two", "view")}


def classifier(scale: float) -> onnx.ModelProto:
    """A product with a large weight and a sum with a small one, in a scope; its Conv comes after a weight of that name."""
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3), np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "Conv_weight"], ["c"], name="block/Conv_1", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "bias"], ["y"], name="block/sum"),
    ]
    constants = [
        numpy_helper.from_array(weights, "Conv_weight"),
        numpy_helper.from_array(np.float32([[[0.25]], [[0.5]], [[scale]], [[-3]]]), "bias"),
    ]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size, 8, 8]) for name, size in (("x", 3), ("y", 4))]
    graph = helper.make_graph(nodes, "pictures", tensors[:1], tensors[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 900})
        page.set_default_timeout(20_000)
        yield page
        browser.close()


@pytest.fixture
def show(browser_page: Page, pages: dict[str, Path]) -> Iterator[Show]:
    """Opens a report. Errors of scripts, and requests to anything but the file, fail the test."""
    errors: list[str] = []
    requests: list[str] = []
    listeners = {"pageerror": lambda error: errors.append(str(error)), "request": lambda request: requests.append(request.url)}
    for event, listener in listeners.items():
        browser_page.on(event, listener)

    def open_report(name: str, address: str = "") -> Page:
        browser_page.goto("about:blank")
        browser_page.goto(f"file://{pages[name]}{address}")
        browser_page.wait_for_selector("body[data-ready]")
        return browser_page

    yield open_report
    for event, listener in listeners.items():
        browser_page.remove_listener(event, listener)
    assert errors == []
    assert {url.partition("#")[0] for url in requests} <= {"about:blank", *(f"file://{path}" for path in pages.values())}


def nodes(page: Page, pane: str = "here") -> list[str]:
    return page.locator(f'.pane[data-side="{pane}"] .node .kind').all_text_contents()


def test_the_last_step_is_shown_first(show: Show) -> None:
    page = show("loop")
    assert page.locator("#title").inner_text().startswith("loop.onnx")
    assert page.locator("#verdict").is_hidden()
    assert {"Parameter", "Swish", "Loop", "Result"} <= set(nodes(page))
    assert page.locator("#steps li.chosen").get_attribute("data-step") == page.locator("#steps li").last.get_attribute("data-step")
    assert page.locator("#interface").inner_text().splitlines()[-2:] == ["output", "all: f32[3,?,8]"]


def test_steps_that_changed_nothing_are_shown_on_request(show: Show) -> None:
    page = show("loop")
    changed = page.locator("#steps li").count()
    page.check("#all-steps")
    assert page.locator("#steps li.same").count() == page.locator("#steps li").count() - changed > 10


def test_a_step_shows_its_graph_and_its_kinds(show: Show) -> None:
    page = show("loop")
    page.locator("#steps li", has_text="import").click()
    assert "Mul" in nodes(page)
    assert "Swish" not in nodes(page)
    assert "step=0" in page.url
    assert page.locator("#kinds tr", has_text="Sigmoid").locator("td").nth(1).inner_text() == "1"


def test_a_click_on_an_operation_shows_where_it_comes_from(show: Show) -> None:
    page = show("loop")
    page.locator(".node", has_text="Swish").click()
    details = page.locator("#details")
    assert "opset4.Swish" in details.inner_text()
    assert "fuse-swish" in details.inner_text()
    assert "sigmoid (onnx.Sigmoid)" in details.inner_text()
    assert any("opset1.Sigmoid" in text for text in details.locator("pre.removed").all_text_contents())
    # The origin leads to the step; the operand to its producer.
    details.locator(".link", has_text="fuse-swish").click()
    assert page.locator("#steps li.chosen .name").inner_text() == "fuse-swish"
    details.locator(".link", has_text="MatMul").first.click()
    assert "opset1.MatMul" in details.inner_text()
    assert "node=%E4%B9%98" in page.url


def test_the_step_before_is_shown_beside_it(show: Show) -> None:
    page = show("loop")
    page.locator("#steps li", has_text="fuse-swish").click()
    page.check("#compare")
    assert "Sigmoid" in nodes(page, "before")
    assert "Sigmoid" not in nodes(page)
    assert page.locator('.pane[data-side="here"] .node.new .kind').all_text_contents() == ["Swish"]
    assert set(page.locator('.pane[data-side="before"] .node.gone .kind').all_text_contents()) == {"Multiply", "Sigmoid"}
    page.locator('.pane[data-side="here"] .node', has_text="Swish").click()
    assert page.locator('.pane[data-side="before"] .node.chosen .kind').all_text_contents() == ["Multiply"]


def test_what_is_meant_is_found_first_and_constants_last(show: Show) -> None:
    page = show("weights", "#step=0")
    page.fill("#search", "conv")
    assert page.locator("#found li").all_text_contents() == ["Conv block/Conv_1", "Constant Conv_weight"]
    page.press("#search", "Enter")
    assert page.locator("#details h3").first.inner_text() == "onnx.Conv"
    # What was found is chosen by the keys, too.
    page.keyboard.press("/")
    page.fill("#search", "conv")
    page.press("#search", "ArrowDown")
    page.press("#search", "Enter")
    assert "Constant" in page.locator("#details h3").first.inner_text()


def test_weights_are_seen_at_what_uses_them(show: Show) -> None:
    page = show("weights", "#step=0&node=block/Conv_1")
    assert page.locator(".node .weights").all_text_contents() == ["4×3×3×3", "4×1×1"]
    assert "?×4×8×8" in page.locator(".shape").all_text_contents()
    page.uncheck("#shapes")
    assert page.locator(".shape").count() == 0
    page.locator("#details .link", has_text="Conv_weight").click()
    assert page.locator(".histogram rect").count() == 32
    assert "4 × 3 × 3 × 3, 432 bytes" in page.locator("#details").inner_text()
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3), np.float32)
    assert f"{weights.max():.5f}"[:6] in page.locator("#details").inner_text()
    page.locator(".node", has_text="sum").click()
    page.locator("#details .link", has_text="bias").click()
    assert page.locator("#details .values").inner_text().replace("\n", "") == "[[[0.25]], [[0.5]], [[1.0]], [[-3.0]]]"


def test_keys(show: Show) -> None:
    page = show("weights")
    # Also where the focus is on a checkbox.
    page.locator("#constants").focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert "opset1.Parameter" in page.locator("#details h3").first.inner_text()
    page.keyboard.press("ArrowDown")
    assert "opset1.Convolution" in page.locator("#details h3").first.inner_text()
    page.keyboard.press("ArrowUp")
    assert "opset1.Parameter" in page.locator("#details h3").first.inner_text()
    last = page.locator("#steps li.chosen").get_attribute("data-step")
    page.keyboard.press("p")
    assert page.locator("#steps li.chosen").get_attribute("data-step") != last
    page.keyboard.press("n")
    assert page.locator("#steps li.chosen").get_attribute("data-step") == last
    page.keyboard.press("c")
    assert page.locator('.pane[data-side="before"]').count() == 1
    page.keyboard.press("?")
    assert "search" in page.locator("#help").inner_text()
    page.keyboard.press("Escape")
    page.locator("#steps li").first.focus()
    page.keyboard.press("Enter")
    assert "step=0" in page.url


def test_the_theme_is_that_of_the_system_until_it_is_changed(show: Show, browser_page: Page) -> None:
    def ground() -> str:
        return browser_page.evaluate("getComputedStyle(document.body).backgroundColor")

    show("weights")
    light = ground()
    browser_page.emulate_media(color_scheme="dark")
    dark = ground()
    assert light != dark
    browser_page.keyboard.press("d")
    assert ground() == light
    browser_page.emulate_media(color_scheme="light")
    browser_page.keyboard.press("d")
    assert ground() == dark


def test_the_graph_is_saved_as_svg(show: Show, tmp_path: Path) -> None:
    page = show("weights")
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "first.onnx-pictures-lower-onnx.svg"
    download.value.save_as(tmp_path / "graph.svg")
    root = ElementTree.parse(tmp_path / "graph.svg").getroot()
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Convolution", "4×3×3×3", "?×4×8×8"} <= set(texts)
    rects = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if "fill:rgb" in each.get("style", "")]
    assert len(rects) >= 4


def test_an_operation_without_a_scope_is_in_that_of_its_origin(show: Show) -> None:
    page = show("weights")
    place = "(record) => app.here.block.place(record)"
    assert page.evaluate(f"({place})(app.here.block.records.find((each) => each.kind.endsWith('Convolution')))") == "block/Conv_1"
    without = "{ id: -1, name: '', operands: [[app.here.block.records.find((each) => each.name === 'block/sum').id, 0]] }"
    assert page.evaluate(f"({place})({without})") == "block/sum"


def test_two_models_are_shown_with_what_differs(show: Show) -> None:
    page = show("two")
    assert page.locator("#title").inner_text() == "first.onnx: pictures | second.onnx: pictures"
    assert page.locator("#totals").inner_text() == "1 operation changed"
    for side in ("before", "here"):
        assert page.locator(f'.pane[data-side="{side}"] .node.changed .kind').all_text_contents() == ["Add"]
        assert page.locator(f'.pane[data-side="{side}"] .node.new, .pane[data-side="{side}"] .node.gone').count() == 0
    page.locator('.pane[data-side="here"] .node', has_text="sum").click()
    page.locator("#details .link", has_text="bias").click()
    assert "1 element differs, by 1 at most" in page.locator("#details pre.added").first.inner_text()


def test_a_model_is_viewed_as_it_is(show: Show) -> None:
    page = show("view")
    assert nodes(page) == ["Parameter", "Relu", "com.example.Unknown", "Relu", "Result"]
    assert page.locator("#verdict").is_hidden()
    assert page.locator("#steps").is_hidden()
    assert page.locator("#totals").inner_text() == "3 operations"


def test_bodies_are_entered_and_left(show: Show) -> None:
    page = show("loop")
    page.locator(".node", has_text="Loop").click()
    page.locator("#details button", has_text="body 0").click()
    assert "Loop" not in nodes(page)
    assert "Result" in nodes(page)
    page.locator("#details button", has_text="leave").click()
    assert "Loop" in nodes(page)


def test_search_finds_operations_in_bodies_and_by_kind(show: Show) -> None:
    page = show("loop")
    page.fill("#search", "SHIFT")
    assert page.locator("#found li").all_text_contents() == ["Add shift"]
    page.press("#search", "Enter")
    assert page.locator(".node.chosen .name").text_content() == "shift"
    page.fill("#search", "nothing of that name")
    assert "nothing" in page.locator("#found").inner_text()


def test_constants_are_shown_on_request(show: Show) -> None:
    page = show("loop")
    assert "Constant" not in nodes(page)
    page.check("#constants")
    assert "Constant" in nodes(page)


def test_what_cannot_be_converted_is_red(show: Show) -> None:
    page = show("custom", "#step=0&node=node1")
    assert "com.example.Unknown" in page.locator("#verdict").inner_text()
    assert page.locator(".node.unsupported .kind").all_text_contents() == ["com.example.Unknown"]
    assert "cannot convert" in page.locator("#details").inner_text()


def test_thousands_of_operations_are_shown_by_scopes(show: Show) -> None:
    page = show("scopes", f"#node=layer{LAYERS // 2}/block/op3")
    assert f"{LAYERS * PER_LAYER}" in page.locator(".path").inner_text()
    assert page.locator(".node").count() < 300
    assert page.locator(".node.chosen .name").text_content() == "op3"
    shown = page.locator(".node").count()
    page.locator(".scope-name", has_text=f"layer{LAYERS // 2}").click()
    assert page.locator(".node").count() < shown
    page.locator(".node.group", has_text=f"layer{LAYERS // 2 + 1}").click()
    assert page.locator(".node .name", has_text="op7").count() >= 1


def test_operations_without_scopes_are_shown_by_sections_and_names_are_texts(show: Show) -> None:
    page = show("flat")
    assert page.locator(".node").count() < 300
    assert any(text.startswith("operations 1 to ") for text in nodes(page))
    page.fill("#search", "<b>1234")
    page.press("#search", "Enter")
    assert page.locator(".node.chosen .name").text_content() == "<b>1234"
    assert page.locator("#details dd").first.inner_text() == "<b>1234"


def test_search_finds_what_an_operation_comes_from(show: Show) -> None:
    """The Sigmoid and the Mul became a Swish."""
    page = show("loop")
    page.fill("#search", "onnx.sigmoid")
    assert any(text.startswith("Swish ") for text in page.locator("#found li").all_text_contents())
    page.fill("#search", "no such operation")
    assert page.locator("#found li").all_text_contents() == ["nothing in this step"]


@pytest.mark.parametrize("width", [1500, 1000, 600, 380])
def test_results_of_a_search_stand_under_its_box(show: Show, width: int) -> None:
    page = show("loop")
    page.set_viewport_size({"width": width, "height": 900})
    page.fill("#search", "a")
    box, results = page.locator("#search").bounding_box(), page.locator("#found").bounding_box()
    assert box is not None
    assert results is not None
    assert 0 <= results["y"] - (box["y"] + box["height"]) < 20
    assert results["x"] >= 0
    assert results["x"] + results["width"] <= width
    page.set_viewport_size({"width": 1500, "height": 900})


def test_a_small_screen_has_a_graph(show: Show) -> None:
    page = show("loop")
    page.set_viewport_size({"width": 480, "height": 800})
    page.wait_for_timeout(50)
    drawing = page.locator('.pane[data-side="here"] svg').bounding_box()
    assert drawing is not None
    assert drawing["width"] > 400
    assert drawing["height"] > 300
    assert page.evaluate("document.documentElement.scrollWidth") <= 480
    page.set_viewport_size({"width": 1500, "height": 900})


def test_the_address_keeps_the_operation(show: Show) -> None:
    """In a step after the operation was replaced, its replacement is chosen, and the address still names the operation."""
    page = show("loop", "#step=0")
    page.locator(".node", has_text="Sigmoid").click()
    first = page.url.partition("node=")[2]
    assert first
    page.locator("#steps li").last.click()
    assert page.locator("#details h3").first.inner_text() == "opset4.Swish"
    page.locator("#steps li").first.click()
    assert "node=" in page.url


def test_the_address_of_a_node_selects_what_stands_for_it(show: Show) -> None:
    """The Swish that the node `sigmoid` became part of."""
    page = show("loop", "#node=sigmoid")
    assert page.locator("#details h3").first.inner_text() == "opset4.Swish"


KINDS = ("Convolution", "GroupConvolution", "MatMul", "Reshape", "Transpose", "MVN", "Add", "Concat", "ReduceMean", "Softmax", "Swish")
KINDS += ("ScaledDotProductAttention", "FakeQuantize", "Loop", "Parameter", "Constant", "Gather", "MaxPool", "TopK")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours(show: Show, theme: str) -> None:
    """Texts on nodes have a contrast of 4.5; kinds that stand side by side can be told apart, also with few cones."""
    page = show("loop")
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")

    def colour(css: str) -> np.ndarray[Any, Any]:
        pixel: Any = page.evaluate(
            """(css) => {
              const probe = document.body.appendChild(document.createElement("i"));
              probe.style.color = css;
              const context = document.createElement("canvas").getContext("2d");
              context.fillStyle = getComputedStyle(probe).color;
              probe.remove();
              context.fillRect(0, 0, 1, 1);
              return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
            }""",
            css,
        )
        return np.array(pixel, float)

    fills = {kind: colour(page.evaluate(f"colourOf('{kind}')")) for kind in KINDS}
    ink = colour("var(--ink)")
    assert {kind: round(contrast(fill, ink), 1) for kind, fill in fills.items() if contrast(fill, ink) < 4.5} == {}
    for ground in ("--ground", "--pane", "--raised"):
        assert contrast(colour("var(--quiet)"), colour(f"var({ground})")) >= 4.5
    for seen in SEEN.values():
        for first, second in combinations(("MatMul", "Reshape", "Transpose", "MVN", "Convolution"), 2):
            assert distance(fills[first], fills[second], seen) > 0.04, (first, second)
    page.evaluate("delete document.documentElement.dataset.theme")


def test_labels_for_screen_readers(show: Show) -> None:
    page = show("weights", "#step=0")
    assert page.get_by_role("button", name="Conv block/Conv_1, 2 operands, 1 user").count() == 1
    for role, name in (("search", None), ("region", "graph"), ("navigation", "model, steps and kinds of operations")):
        assert page.get_by_role(role, name=name).count() == 1  # pyright: ignore[reportArgumentType] (a role is a Literal)
    assert page.get_by_role("button", name="the keys").count() == 1


def test_a_page_says_what_the_model_says_of_itself(show: Show) -> None:
    facts = show("view").locator("#interface").inner_text().splitlines()
    assert facts[facts.index("opset_import ai.onnx") + 1] == "17"
    assert facts[facts.index("opset_import com.example") + 1] == "1"
