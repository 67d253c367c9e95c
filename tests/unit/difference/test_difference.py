"""What differs in two models: which operations belong together, and how large the changes of constants are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.dialects.data import DataAttr
from moir.dialects.element_types import bf16, f16, f32, si64, string, ui4
from moir.difference.constants import changed_constant
from moir.difference.records import Change, Difference, UnmatchedOperation
from tests.unit.small_models import loop_model

CHAIN = """
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "w"} : tensor<2xf32>
    %a = opset1.Add(%x, %w) {name = "a"} : tensor<2xf32>
    %b = opset1.Relu(%a) : tensor<2xf32>
    %c = opset1.Tanh(%b) : tensor<2xf32>
    opset1.Result(%c) {name = "y"}
"""


def diff(parse: Any, before: str, after: str) -> Difference:
    return moir.diff(parse(before), parse(after))


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model, its IR with weights of 32 and of 16 bits, and what was read, as a text without and with its weights."""
    folder = tmp_path_factory.mktemp("models")
    onnx.save(loop_model(), folder / "m.onnx")
    module = moir.convert_model(folder / "m.onnx")
    moir.save_model(module, folder / "f32.xml")
    moir.save_model(module, folder / "f16.xml", compress_to_fp16=True)
    return {name: folder / name for name in ("m.onnx", "f32.xml", "f16.xml")}


def test_a_model_does_not_differ_from_itself(paths: dict[str, Path]) -> None:
    for path in paths.values():
        actual = moir.diff(path, path)
        assert actual.is_empty
        assert str(actual) == "the models are the same"
        assert actual._repr_html_() == "<p>the models are the same</p>"


def test_half_precision_changes_constants_only(paths: dict[str, Path]) -> None:
    actual = moir.diff(paths["f32.xml"], paths["f16.xml"])
    assert actual == actual.with_fields(interfaces=(), removed=(), added=(), changed=())
    weight = next(each for each in actual.constants if each.node == "w")
    assert (weight.before, weight.after) == ("f32[8,4]", "f16[8,4]")
    assert weight.elements is not None
    assert 0 < weight.elements <= 32
    assert weight.maximum is not None
    assert weight.relative is not None
    assert 0 < weight.relative < 2**-11


def test_a_model_and_its_conversion_are_matched_by_names(paths: dict[str, Path]) -> None:
    actual = moir.diff(paths["m.onnx"], paths["f32.xml"])
    assert Change("kind", "onnx.Mul", "opset4.Swish") in next(each for each in actual.changed if each.node == "swish").changes
    assert UnmatchedOperation("sigmoid", "onnx.Sigmoid", "") in actual.removed
    # In the body, too.
    assert Change("kind", "onnx.Add", "opset1.Add") in next(each for each in actual.changed if each.node == "shift").changes


def test_operations_without_names_are_matched_by_what_they_are_connected_with(parse: Any) -> None:
    assert diff(parse, CHAIN, CHAIN.replace('name = "a"', 'name = "Add_1"')).is_empty
    actual = diff(parse, CHAIN, CHAIN.replace("%c = opset1.Tanh(%b)", "%d = opset1.Abs(%b) : tensor<2xf32>\n%c = opset1.Tanh(%d)"))
    assert actual.added == (UnmatchedOperation("operand 0 of opset1.Tanh", "opset1.Abs", ""),)
    assert actual.removed == ()
    (tanh,) = actual.changed
    assert tanh.changes == (Change("operand 0", "operand 0 of opset1.Tanh:0", "operand 0 of opset1.Tanh:0"),)


def test_of_equal_operations_each_has_its_partner(parse: Any) -> None:
    twice = """
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = opset1.Tanh(%x) : tensor<2xf32>
        %b = opset1.Tanh(%x) : tensor<2xf32>
        %c = opset1.Acos(%b) {name = "c"} : tensor<2xf32>
        %d = opset1.Subtract(%c, %a) {name = "d"} : tensor<2xf32>
        opset1.Result(%d) {name = "y"}
    """
    assert diff(parse, twice, twice).is_empty


def test_attributes_types_and_interfaces(parse: Any) -> None:
    before = """
        %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %a = opset8.Softmax(%x) {axis = 1, name = "a"} : tensor<2x3xf32>
        opset1.Result(%a) {name = "y"}
    """
    actual = diff(parse, before, before.replace("axis = 1", "axis = 0").replace("2x3xf32", "2x3xf16"))
    assert actual.interfaces == (Change("input 0", "x: f32[2,3]", "x: f16[2,3]"), Change("output 0", "y: f32[2,3]", "y: f16[2,3]"))
    (softmax,) = actual.changed
    assert softmax.changes == (Change("axis", "1", "0"), Change("type of result 0", "f32[2,3]", "f16[2,3]"))
    assert diff(parse, before, before.replace('"x"', '"z"')).interfaces == (Change("input 0", "x: f32[2,3]", "z: f32[2,3]"),)


def test_operands_that_come_from_elsewhere(parse: Any) -> None:
    before = """
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = opset1.Exp(%x) {name = "a"} : tensor<2xf32>
        %b = opset1.Subtract(%a, %x) {name = "b"} : tensor<2xf32>
        opset1.Result(%b) {name = "y"}
    """
    (actual,) = diff(parse, before, before.replace("(%a, %x)", "(%x, %a)")).changed
    assert actual.changes == (Change("operand 0", "a:0", "x:0"), Change("operand 1", "x:0", "a:0"))


def test_another_model_in_the_same_module(parse: Any) -> None:
    module = parse(CHAIN)
    other: ModuleOp = parse(CHAIN)
    other.body.block.add_op(parse(CHAIN, name="second").body.block.first_op.clone())
    assert moir.diff(module, other).added == (UnmatchedOperation("second", "moir.model", ""),)
    assert moir.diff(other, module).removed == (UnmatchedOperation("second", "moir.model", ""),)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (DataAttr.of(np.float32([1, -4, 3])), DataAttr.of(np.float32([1, -4, 1])), (1, 2.0, 0.5)),
        (DataAttr.of(np.float32([0, np.nan])), DataAttr.of(np.float32([3, np.nan])), (1, 3.0, np.inf)),
        (DataAttr.of(np.float32([1, 2])), DataAttr.of(np.float32([np.nan, 2])), (1, np.inf, np.inf)),
        (DataAttr.of(np.float32([1, 2])), DataAttr.of(np.float16([1, 2])), (0, 0.0, 0.0)),
        (DataAttr.of(np.float32([1, 2]), bf16), DataAttr.of(np.float32([1, 3]), f16), (1, 1.0, 0.5)),
        (DataAttr.of(np.int64([2**62, 1])), DataAttr.of(np.int64([2**62 + 1, 1])), (1, 0.0, 0.0)),
        (DataAttr.of(np.float32([1, 2])), DataAttr.of(np.float32([[1, 2]])), (None, None, None)),
        (DataAttr.of(["a", "b"], string), DataAttr.of(["a", "c"], string), (1, None, None)),
        (DataAttr.of(np.uint8([1]), ui4, (2,)), DataAttr.of(np.uint8([2]), ui4, (2,)), (None, None, None)),
    ],
    ids=["one", "from zero", "to nan", "type alone", "bf16", "integers", "shape", "strings", "packed"],
)
def test_the_size_of_the_change_of_a_constant(before: DataAttr, after: DataAttr, expected: tuple[object, ...]) -> None:
    actual = changed_constant("w", before, after)
    assert actual is not None
    assert (actual.elements, actual.maximum, actual.relative) == expected
    assert changed_constant("w", before, before) is None


def test_large_constants_of_different_layouts_in_memory_are_compared_in_pieces() -> None:
    values = np.arange(3_000_000, dtype=np.float32).reshape(2000, 1500)
    other = np.asfortranarray(values)
    assert changed_constant("w", DataAttr.of(values), DataAttr.of(other)) is None
    other[1999, 1499] += 8
    actual = changed_constant("w", DataAttr.of(values, f32), DataAttr.of(other, f32))
    assert actual is not None
    assert (actual.elements, actual.maximum) == (1, 8.0)
    assert changed_constant("w", DataAttr.of(np.int64([1]), si64), DataAttr.of(np.int64([1]), si64)) is None


def test_what_a_text_leaves_out(parse: Any) -> None:
    texts = [CHAIN.replace("[1.0, 2.0]", f'elided "{key}"') for key in "ab"]
    assert diff(parse, texts[0], texts[0]).is_empty
    (actual,) = diff(parse, *texts).constants
    assert (actual.node, actual.elements) == ("w", None)
    assert "not compared" in str(diff(parse, *texts))


@pytest.mark.parametrize(("tolerance", "differ"), [(0.0, True), (1e-4, True), (1e-2, False)])
def test_a_tolerance_for_constants(parse: Any, tolerance: float, differ: bool) -> None:
    changed = CHAIN.replace("[1.0, 2.0]", "[1.0, 2.005]")
    assert bool(moir.diff(parse(CHAIN), parse(changed), tolerance=tolerance).constants) == differ
