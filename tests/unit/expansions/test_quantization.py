"""Quantization by the one record: along an axis, of several widths, with narrow ranges."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.ir import Attribute, Block, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import si4, si8, si16, to_numpy, ui4, ui8
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of
from moir.expansions.quantization import aligned, dequantized, number_range, quantized
from moir.rewriting.builder import OpBuilder

SCALES, ZEROS = np.array([0.5, 0.25, 2.0], np.float32), np.array([1, 0, 3], np.float32)


@pytest.fixture
def op() -> OpBuilder:
    return OpBuilder(KnownValues(), Block())


def array_of(op: OpBuilder, value: SSAValue) -> np.ndarray:
    array = op.known.constant(value)
    assert array is not None
    return array


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("element", [si8, ui8, si16])
def test_each_place_along_an_axis_has_its_own_scale(op: OpBuilder, axis: int, element: Attribute) -> None:
    shape = [2, 2, 2]
    shape[axis] = 3
    integers = np.arange(12).reshape(shape).astype(to_numpy(element))
    how = Quantization(op.constant(SCALES), op.constant(ZEROS), IntegerRange.of(element), axis)
    actual = array_of(op, dequantized(op, op.constant(integers, element), aligned(op, how, 3)))
    places = np.moveaxis(integers, axis, -1)
    np.testing.assert_array_equal(np.moveaxis(actual, axis, -1), (places - ZEROS) * SCALES)


@pytest.mark.parametrize(
    ("integers", "ends"),
    [
        (IntegerRange.of(si8), (-64.5, 63.0)),
        (IntegerRange.of(si8, narrow=True), (-64.0, 63.0)),
        (IntegerRange.of(si4), (-4.5, 3.0)),
        (IntegerRange.of(ui4), (-0.5, 7.0)),
    ],
)
def test_the_numbers_at_the_ends(op: OpBuilder, integers: IntegerRange, ends: tuple[float, float]) -> None:
    actual = number_range(op, Quantization(op.constant(0.5), op.constant(1.0), integers))
    assert tuple(float(array_of(op, end)) for end in actual) == ends


@pytest.mark.parametrize(("integers", "largest"), [(IntegerRange.of(si8), -128), (IntegerRange.of(si8, narrow=True), -127)])
def test_a_narrow_range_has_no_smallest_integer(op: OpBuilder, integers: IntegerRange, largest: int) -> None:
    x = op.constant(np.array([-1000, -2, 2.6, 1000], np.float32))
    actual = quantized(op, x, Quantization(op.constant(1.0), None, integers))
    assert element_of(actual) == si8
    np.testing.assert_array_equal(array_of(op, actual), [largest, -2, 3, 127])


def test_quantized_and_dequantized_values_are_one_operation(op: OpBuilder) -> None:
    how = Quantization(op.constant(0.5), op.constant(np.int8(3)), IntegerRange.of(si8))
    integers = quantized(op, op.constant(np.array([0.3, 900], np.float32)), how)
    assert isinstance(integers.owner, Convert)
    restored = dequantized(op, integers, how)
    assert isinstance(restored.owner, FakeQuantize)
    np.testing.assert_array_equal(array_of(op, restored), [0.5, 62.0])
