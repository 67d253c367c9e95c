"""The page of a report in a real browser: what it shows, and what a click does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from playwright.sync_api import Page, sync_playwright

from moir.tools.convert import main
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
    return {name: folder / f"{name}.html" for name in models}


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
    assert page.locator("#title").inner_text() == "loop.onnx"
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
