"""The index maps of a proof against the `evaluate` of the operations, on numbered arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3")

from moir.dialects.element_types import f32, si32, si64, ui8
from moir.execution.evaluation import EvaluationRunner
from moir.proofs.context import Assumptions, assuming
from moir.proofs.evaluation import MEANINGS, results_of
from moir.proofs.families.graph import Graph
from moir.proofs.graph_proofs import block_of
from moir.proofs.smt import z3
from moir.proofs.tensors import terms_of


def _ints(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def _number(term: Any) -> Any:
    if isinstance(term, int):
        return term
    if z3.is_bv_value(term):
        return term.as_signed_long()
    return term.as_long() if z3.is_int_value(term) else float(term.as_fraction())


CASES: dict[str, Any] = {
    "Transpose": lambda op, x: op.Transpose(x, [2, 0, 1]),
    "Reshape": lambda op, x: op.Reshape(op.Reshape(x, _ints(3, -1), special_zero=False), _ints(0, 2, 4), special_zero=True),
    "Squeeze": lambda op, x: op.Squeeze(op.Unsqueeze(x, _ints(0, -1)), _ints(0)),
    "Concat": lambda op, x: op.Concat(x, op.Negative(x), axis=-2),
    "Split": lambda op, x: op.Split(x, 2, num_splits=2),
    "VariadicSplit": lambda op, x: op.Concat(*op.VariadicSplit.results(x, -1, _ints(3, -1))[::-1], axis=2),
    "Slice": lambda op, x: op.Slice(x, _ints(-3, 0), _ints(2**62, -1), _ints(2, 1), _ints(2, 1)),
    "Slice backwards": lambda op, x: op.Slice(x, _ints(-1), _ints(-(2**62)), _ints(-2), _ints(2)),
    "Gather": lambda op, x: op.Gather(x, op.constant(np.array([[0, -1], [1, 1]], np.int64), si64), 1),
    "Pad": lambda op, x: op.Pad(x, _ints(0, 1, -1), _ints(1, 0, 2), op.constant(np.array(7, np.int32), si32), pad_mode="constant"),
    "Broadcast": lambda op, x: op.Broadcast(op.Unsqueeze(x, _ints(0)), _ints(2, 2, 3, 4), mode="numpy"),
    "StridedSlice": lambda op, x: op.StridedSlice(
        x, _ints(0, 0, -1), _ints(0, 3, -9), _ints(1, 2, -2), begin_mask=[1, 0, 0], end_mask=[1, 0, 0]
    ),
    "SpaceToDepth": lambda op, x: op.SpaceToDepth(op.Reshape(x, _ints(1, 1, 4, 6), special_zero=False), mode="blocks_first", block_size=2),
    "SpaceToBatch": lambda op, x: op.SpaceToBatch(op.Unsqueeze(x, _ints(0)), _ints(1, 1, 2, 2), _ints(0, 0, 0, 1), _ints(0, 0, 1, 1)),
    "Einsum": lambda op, x: op.Einsum(x, x, equation="abc,dbc->da"),
    "Tile": lambda op, x: op.Tile(x, _ints(2, 1, 3)),
    "ShapeOf": lambda op, x: op.Multiply(op.ShapeOf(x), _ints(1, 2, 3)),
    "OneHot": lambda op, x: op.OneHot(op.Split(x, 0, num_splits=2), op.constant(5, si64), 1.0, 0.0, axis=1),
    "MatMul": lambda op, x: op.MatMul(x, x, transpose_b=True),
    "ReduceSum": lambda op, x: op.ReduceSum(x, _ints(0, 2), keep_dims=True),
}
"""Functions that build an operation on a tensor [2, 3, 4] of 32-bit integers."""

WINDOWS: dict[str, Any] = {"strides": [2], "pads_begin": [1], "pads_end": [0]}

REAL_CASES: dict[str, Any] = {
    "Convolution": lambda op, x: op.Convolution(x, _filters(2, 3, 2), **WINDOWS, dilations=[1], auto_pad="explicit"),
    "GroupConvolution": lambda op, x: op.GroupConvolution(x, _filters(3, 2, 1, 2), **WINDOWS, dilations=[1], auto_pad="explicit"),
    "AvgPool": lambda op, x: op.AvgPool(
        x, **WINDOWS, dilations=[1], kernel=[2], exclude_pad=True, rounding_type="floor", auto_pad="explicit"
    ),
    "Clamp": lambda op, x: op.Clamp(x, min=2.5, max=17.0),
    "Convert": lambda op, x: op.Convert(op.Multiply(x, 0.75), destination_type=ui8),
    "ConvertLike": lambda op, x: op.ConvertLike(op.Greater(x, 6.0), x),
    "LogicalNot": lambda op, x: op.Convert(op.LogicalNot(op.Greater(x, 6.0)), destination_type=si32),
    "Interpolate": lambda op, x: op.Interpolate(
        op.Unsqueeze(x, _ints(0)), np.array([2.0], np.float32), _ints(3), mode="nearest", shape_calculation_mode="scales", **NEAREST
    ),
}
"""Functions that build an operation on a tensor [2, 3, 4] of real numbers."""

NEAREST = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


WITHOUT_EVALUATE = ("Convolution", "GroupConvolution", "AvgPool")
"""Operations that moir evaluates with OpenVINO Runtime."""


def _filters(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 4


def test_every_operation_with_a_meaning_of_its_own_is_compared() -> None:
    # The branches of an If are compared as models, in test_bounded_checks.
    assert set(MEANINGS) - {"If"} <= {*CASES, *REAL_CASES}


@pytest.mark.parametrize("name", [*CASES, *REAL_CASES])
def test_index_map_computes_what_the_operation_computes(name: str) -> None:
    is_real = name in REAL_CASES
    element, dtype, sort = (f32, np.float32, z3.RealSort()) if is_real else (si32, np.int32, z3.BitVecSort(32))
    graph = Graph()
    value = graph.input((2, 3, 4), element)
    module = graph.module((REAL_CASES if is_real else CASES)[name](graph.op, value))
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    if name in WITHOUT_EVALUATE:
        pytest.importorskip("openvino")
    (expected,) = EvaluationRunner(module, alone=name in WITHOUT_EVALUATE).run({"x0": array}).values()
    with assuming(Assumptions()):
        (result,) = results_of(block_of(module))
        terms = terms_of(result)
    function = z3.Function("x0", *[z3.IntSort()] * 3, sort)
    constant = z3.RealVal if is_real else lambda number: z3.BitVecVal(number, 32)
    pairs = [(function(*map(int, index)), constant(int(array[index]))) for index in np.ndindex(2, 3, 4)]
    numbers = np.empty(terms.shape, object)
    for index in np.ndindex(*terms.shape):
        term = terms[index]
        simple = z3.simplify(z3.substitute(term, *pairs)) if z3.is_expr(term) else term
        numbers[index] = _number(simple)
    assert numbers.shape == expected.shape
    assert np.array_equal(numbers.astype(expected.dtype), expected)
