"""The bounds of integers that classes of operations derive from those of their operands, against what they compute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from moir.dialects import opset
from moir.dialects.element_types import f32, si32
from moir.dialects.opset.interfaces.operation import OpsetOp
from tests.unit.dialects.opset.cases import Case, integer, integers
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, moir_operation

DATA = np.array([[-7, 3, 0], [12, -1, 5]], np.float32)
WHOLE = np.array([[4, 6, 2], [1, 9, 3]], np.float32)

CASES: list[Case] = [
    *((f"opset1.{kind}", [DATA, WHOLE], {}) for kind in ("Add", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Subtract")),
    *((f"opset1.{kind}", [DATA], {}) for kind in ("Ceiling", "Floor", "Negative", "Relu")),
    ("opset1.Clamp", [DATA], {"min": -2.0, "max": 4.0}),
    ("opset1.Concat", [DATA, WHOLE], {"axis": 0}),
    ("opset1.Convert", [np.array([True, False])], {"destination_type": f32}),
    ("opset8.Gather", [DATA, integers(1), integer(0)], {"batch_dims": 0}),
    ("opset1.MatMul", [DATA, WHOLE], {"transpose_b": True}),
    ("opset4.Range", [integer(2), integer(9), integer(3)], {"output_type": si32}),
    ("opset5.Round", [DATA], {}),
    ("opset1.Select", [DATA > 0, DATA, WHOLE], {}),
    ("opset3.ShapeOf", [DATA], {}),
    ("opset11.TopK", [DATA, integer(2)], {"axis": 1, "mode": "max", "sort": "value"}),
    ("opset1.Transpose", [DATA, integers(1, 0)], {}),
]


def bounds_in(operands: list[Any], op: OpsetOp, index: int) -> tuple[float, float] | None:
    """The bounds of a result for the bounds of arrays."""
    return op.integral_bounds(index, lambda operand: (float(operands[operand].min()), float(operands[operand].max())))


@pytest.mark.parametrize(("name", "operands", "properties"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_results_are_within_their_bounds(name: str, operands: list[Any], properties: dict[str, Any]) -> None:
    count = 2 if name.endswith("TopK") else 1
    op = moir_operation(name, operands, properties, count)
    for index, result in enumerate(evaluate_with_moir(name, operands, properties, count)):
        bounds = bounds_in(operands, op, index)
        assert bounds is not None
        assert bounds[0] <= result.min() <= result.max() <= bounds[1]


@pytest.mark.parametrize(("name", "operands", "properties"), CASES, ids=lambda each: each if isinstance(each, str) else "")
def test_operands_without_bounds_give_results_without(name: str, operands: list[Any], properties: dict[str, Any]) -> None:
    op = moir_operation(name, operands, properties, 2 if name.endswith("TopK") else 1)
    are_integers = name.endswith(("Ceiling", "Convert", "Floor", "Round", "ShapeOf"))
    assert (op.integral_bounds(0, lambda _: None) is not None) == are_integers


def test_bounds_of_other_operations_are_unknown() -> None:
    op = moir_operation("opset1.Exp", [DATA], {}, 1)
    assert bounds_in([DATA], op, 0) is None


def test_remainders_by_numbers_that_may_be_0_need_not_be_integers() -> None:
    op = moir_operation("opset1.Mod", [WHOLE, DATA], {}, 1)
    assert bounds_in([WHOLE, DATA], op, 0) is None


def test_a_product_of_unknown_width_has_no_limits() -> None:
    op = moir_operation("opset1.MatMul", [("f32", (2, -1)), ("f32", (-1, 2))], {}, 1)
    assert bounds_in([DATA, WHOLE], op, 0) == (-math.inf, math.inf)


def test_each_version_of_an_operation_has_the_same_bounds() -> None:
    for kind in {name.partition(".")[2] for name, _, _ in CASES}:
        methods = {opset.operation(name).integral_bounds for name in opset.versions(kind)}
        assert len(methods) == 1, kind
