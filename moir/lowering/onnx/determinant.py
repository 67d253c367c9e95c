"""Determinants of matrices.

    %y = onnx.Det(%x)        // %x: [..., M, M]
->  one step of Gaussian elimination for each column, with a pivot of largest magnitude
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

LARGEST_MATRIX = 32
"""The most rows of a matrix; each takes about 20 operations."""


@onnx.lowers("Det")
def determinant(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Det(x) -> the product of the pivots and of the signs of their rows. The number of rows has to be known."""
    x, shape = node.operand(0), node.shape(0)
    sizes = () if shape is None else shape[-2:]
    size = max(sizes, default=-1)
    if len(sizes) != 2 or size < 0:
        node.fail("the size of the matrices is unknown", hint="give the model's input this dimension")
    if size > LARGEST_MATRIX:
        node.fail(f"the matrices have {size} rows; determinants of up to {LARGEST_MATRIX} are supported")
    result: SSAValue | None = None
    for count in range(size, 0, -1):
        pivot, x = _eliminated(op, x, count)
        result = pivot if result is None else op.Multiply(result, pivot)
    lead = list(range((rank_of(x) or 2) - 2))
    if result is None:
        return op.Add(op.ReduceSum(x, [-2, -1]), 1.0)
    return op.Reshape(result, [0] * len(lead), special_zero=True) if lead else op.Squeeze(result, [0, 1])


def _eliminated(op: OpBuilder, x: SSAValue, size: int) -> tuple[SSAValue, SSAValue]:
    """One step of Gaussian elimination on matrices [..., size, size].

    Returns the pivot with the sign of its row, [..., 1, 1], and the matrices without its row and column.
    """
    column = op.Slice(x, [0], [1], [1], [-1])
    if size == 1:
        return column, x
    place = op.TopK.results(op.Abs(column), op.constant(1, si64), axis=-2, mode="max", sort="value", index_element_type=si64)[1]
    chosen = op.Equal(place, op.constant(np.arange(size).reshape(size, 1)))
    row = op.ReduceSum(op.Select(chosen, x, 0.0), [-2], keep_dims=True)
    pivot = op.Slice(row, [0], [1], [1], [-1])
    factors = op.Divide(column, op.Select(op.Equal(pivot, 0.0), 1.0, pivot))
    rest = op.Slice(op.Subtract(x, op.Multiply(factors, row)), [1], [size], [1], [-1])
    # Row i of the remaining matrix is row i, or from the pivot's row on row i + 1.
    behind = op.GreaterEqual(op.constant(np.arange(size - 1).reshape(size - 1, 1)), place)
    remaining = op.Select(behind, op.Slice(rest, [1], [size], [1], [-2]), op.Slice(rest, [0], [size - 1], [1], [-2]))
    is_odd = op.Equal(op.FloorMod(place, 2), 1)
    return op.Select(is_odd, op.Negative(pivot), pivot), remaining
