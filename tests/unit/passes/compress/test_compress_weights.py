"""Storage of weights as integers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.conversion import run
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f16, f32
from moir.dialects.large_arrays import ComputedArray, computed
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import tensor
from moir.errors import UsageError
from moir.parameters.weight_codes import MODES, WeightCodes, weight_codes
from moir.passes.compress.compress_weights import CompressWeightsPass
from moir.passes.compress.quantization import Quantized, quantized

RANDOM = np.random.default_rng(0)
RANGES = [IntegerRange(bits, symmetric) for bits in (8, 4) for symmetric in (False, True)]
STEPS = {8: 255, 4: 15}


def codes_of(data: DataAttr, integers: IntegerRange) -> np.ndarray:
    """Codes, one in each element of an array of integers."""
    values = np.ascontiguousarray(data.array).reshape(-1)
    if integers.bits == 4:
        values = np.stack([values & 15, values >> 4], axis=-1).reshape(-1)[: np.prod(data.shape)]
        values = values.astype(np.int8)
        values = (values ^ 8) - 8 if integers.signed else values
    return values.astype(np.int32).reshape(data.shape)


def restored(actual: Quantized, integers: IntegerRange) -> np.ndarray:
    points = 0 if actual.parameters.zero_point is None else codes_of(actual.parameters.zero_point, integers)
    return ((codes_of(actual.codes, integers) - points) * actual.parameters.scale.array.astype(np.float32)).astype(np.float32)


@pytest.mark.parametrize("integers", RANGES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_restored_weights_are_half_a_step_away(integers: IntegerRange, axis: int) -> None:
    weights = RANDOM.standard_normal((6, 32, 10)).astype(np.float32)
    actual = quantized(weights, axis, integers)
    assert actual is not None
    difference = np.abs(restored(actual, integers) - weights)
    largest = np.abs(weights).max(axis, keepdims=True) if integers.signed else np.ptp(weights, axis=axis, keepdims=True) / 2
    # A symmetric code has one step less above zero; a zero point is rounded, and so is a scale.
    assert np.all(difference <= 2 * largest / STEPS[integers.bits] * (1.1 if integers.signed else 1.02) + 1e-6)
    assert np.isclose(actual.error, np.sum((restored(actual, integers) - weights) ** 2), rtol=1e-3)
    assert np.isclose(actual.energy, np.sum(weights**2), rtol=1e-3)


@pytest.mark.parametrize("integers", RANGES)
@pytest.mark.parametrize("form", ["plain", "transposed", "computed", "half", "bfloat"])
def test_codes_computed_when_read_are_those_computed_at_once(integers: IntegerRange, form: str) -> None:
    plain = RANDOM.standard_normal((512, 320)).astype(np.float32)
    if form == "transposed":
        weights = plain.T
    elif form == "computed":
        weights = computed(np.negative, plain)
    else:
        weights = plain.astype({"half": np.float16, "bfloat": ml_dtypes.bfloat16}.get(form, np.float32))
    for axis in (0, 1):
        actual = quantized(weights, axis, integers)
        assert actual is not None
        assert isinstance(actual.codes.values, ComputedArray)
        parts = [quantized(np.asarray(weights)[part], axis, integers) for part in ([slice(0, 2)] if axis else [(slice(None), slice(0, 2))])]
        codes = codes_of(actual.codes, integers)
        assert parts[0] is not None
        np.testing.assert_array_equal(codes[:2] if axis else codes[:, :2], codes_of(parts[0].codes, integers))


@pytest.mark.parametrize("integers", RANGES)
def test_zero_stays_zero(integers: IntegerRange) -> None:
    weights = RANDOM.uniform(1, 2, (4, 16)).astype(np.float32)
    weights[:, 3] = 0
    weights[2] = 0
    weights[3] = np.float32(1e-39)
    actual = quantized(weights, 1, integers)
    assert actual is not None
    assert not np.any(restored(actual, integers)[weights < 0.5])


def test_scales_beyond_half_precision_are_single() -> None:
    weights = RANDOM.standard_normal((4, 16)).astype(np.float32)
    for factor, element in ((1, f16), (1e-4, f32), (1e9, f32)):
        actual = quantized(weights * np.float32(factor), 1, IntegerRange(8, False))
        assert actual is not None
        assert actual.parameters.scale.element == element
        assert actual.error < 1e-4 * actual.energy


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_not_quantized(value: float) -> None:
    weights = np.ones((4, 16), np.float32)
    weights[2, 3] = value
    assert quantized(weights, 1, IntegerRange(8, False)) is None
    assert quantized(np.array([[-3e38], [3e38]], np.float32), 0, IntegerRange(8, False)) is None


CHAIN = """
    %x = opset1.Parameter() {name = "x"} : tensor<?x48xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>, name = "a"} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>, name = "b"} : tensor<f32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>, name = "c"} : tensor<f32>
    %0 = opset1.MatMul(%x, %a) : tensor<*xf32>
    %1 = opset1.MatMul(%0, %b) : tensor<*xf32>
    %2 = opset1.MatMul(%1, %c) : tensor<*xf32>
    opset1.Result(%2) {name = "y"}
"""


def chain(parse: Any, *shapes: tuple[int, int]) -> ModuleOp:
    """Three matrix products, with matrices of these shapes."""
    module = parse(CHAIN, verify=False)
    constants = [op for op in module.walk() if isinstance(op, Constant)]
    for op, shape in zip(constants, shapes, strict=True):
        value = DataAttr.of(RANDOM.standard_normal(shape).astype(np.float32))
        op.properties["value"] = value
        op.results[0]._type = tensor(value.shape, value.element)
    return module


def stored_types(module: ModuleOp) -> dict[str, str]:
    """The types of the codes, or of the constants that are left, by the names of the constants."""
    constants = [op for op in module.walk() if isinstance(op, Constant)]
    names = {name_of(op) or "": str(op.results[0].type) for op in constants}
    return {each: names.get(f"{each}_compressed", names.get(each, "")) for each in ("a", "b", "c")}


@pytest.mark.parametrize(
    ("codes", "shapes", "expected"),
    [
        ("int8", [(48, 64), (64, 96), (96, 48)], ["48x64xui8", "64x96xui8", "96x48xui8"]),
        ("int8:32", [(48, 64), (64, 96), (96, 48)], ["3x16x64xui8", "2x32x96xui8", "3x32x48xui8"]),
        ("int8", [(48, 16), (16, 96), (96, 48)], ["48x16xf32", "16x96xui8", "96x48xui8"]),
        ("int4:16:1", [(48, 64), (64, 96), (96, 48)], ["3x16x64xui4", "4x16x96xui4", "96x48xui8"]),
        ("int4:64:1", [(48, 64), (64, 96), (96, 48)], ["3x16x64xui4", "64x96xui4", "96x48xui8"]),
        ("int4_sym:channel:1", [(48, 64), (64, 96), (96, 48)], ["48x64xsi4", "64x96xsi4", "96x48xsi8"]),
        # The largest first, of equal ones the later, and no more than the share.
        ("int4:16:0.7", [(48, 64), (64, 96), (96, 48)], ["48x64xui8", "4x16x96xui4", "96x48xui8"]),
        ("int4:16:0.5", [(48, 80), (80, 48), (48, 48)], ["48x80xui8", "5x16x48xui4", "48x48xui8"]),
        # No groups, or an odd number of columns.
        ("int4:16:1", [(48, 65), (65, 96), (96, 48)], ["48x65xui8", "65x96xui8", "96x48xui8"]),
    ],
)
def test_which_weights_get_which_codes(parse: Any, codes: str, shapes: list[tuple[int, int]], expected: list[str]) -> None:
    module = chain(parse, *shapes)
    run(module, [CompressWeightsPass(codes)])
    assert list(stored_types(module).values()) == [f"tensor<{each}>" for each in expected]


def notes(module: ModuleOp) -> str:
    """The notes on the only model of a module."""
    (model,) = models_of(module)
    attribute = model.attributes.get(ModuleLevel.NOTES)
    return "" if attribute is None else "; ".join(value_of(attribute))


@pytest.mark.parametrize("codes", ["int8", "int4:16:1"])
def test_weights_that_are_integers_already_are_noted(parse: Any, codes: str) -> None:
    module = chain(parse, (48, 64), (64, 96), (96, 48))
    run(module, [CompressWeightsPass(codes)])
    assert "already" not in notes(module)
    before = stored_types(module)
    run(module, [CompressWeightsPass("int4:16:1")])
    assert "weights of 3 operations are integers in the model already, and stay as they are" in notes(module)
    assert stored_types(module) == before


def test_a_matrix_with_infinite_values_stays(parse: Any) -> None:
    module = chain(parse, (48, 64), (64, 96), (96, 48))
    constant = next(op for op in module.walk() if isinstance(op, Constant))
    constant.properties["value"] = DataAttr.of(np.full((48, 64), np.inf, np.float32))
    run(module, [CompressWeightsPass("int8")])
    assert stored_types(module)["a"] == "tensor<48x64xf32>"


@pytest.mark.parametrize("mode", MODES)
def test_notation(mode: str) -> None:
    assert weight_codes(mode) == WeightCodes(mode)
    assert weight_codes(f"{mode.upper()}:32") == WeightCodes(mode, 32)
    for text in (mode, f"{mode}:0", f"{mode}:128", *([f"{mode}::0.5", f"{mode}:64:1"] if "4" in mode else [])):
        assert weight_codes(str(weight_codes(text))) == weight_codes(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int5", "there is no compression of weights 'int5'; did you mean int8 or int4"),
        ("", "the modes are int8, "),
        ("int4:20", "'20' is not a size of groups of weights: a multiple of 16"),
        ("int4:x", "'x' is not a size of groups"),
        ("int4:16:2", "'2' is not a share of the weights"),
        ("int4:16:nan", "'nan' is not a share of the weights"),
        ("int8:16:1", "int8 gives all weights 8 bits"),
        ("int4:16:1:1", "is not a compression of weights: write MODE"),
    ],
)
def test_mistakes_in_the_notation(text: str, message: str, parse: Any) -> None:
    with pytest.raises(ValueError, match=message):
        weight_codes(text)
    with pytest.raises(UsageError, match=message):
        run(chain(parse, (48, 64), (64, 96), (96, 48)), [CompressWeightsPass(text)])
