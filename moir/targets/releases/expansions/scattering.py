"""Writing at computed indices with a reduction, by the operations on single elements, or by comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import REAL_TYPES, si64, to_numpy
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion

MOST_COMPARISONS = 1 << 26
"""The largest product of the numbers of indices and elements for which all pairs are compared."""

REDUCED: Mapping[str, str] = {"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}
COMBINED: Mapping[str, str] = {"sum": "Add", "prod": "Multiply", "max": "Maximum", "min": "Minimum"}


def scatter_nd(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """ScatterElementsUpdate of the data as a matrix, whose rows are the slices that the vectors of indices name.

    %y = opset15.ScatterNDUpdate(%x, %i, %u) {reduction = "sum"}        // [4, 5], [3, 1], [3, 5]
    ->  %0 = opset3.Broadcast(%i, [3, 5])
        %y = opset12.ScatterElementsUpdate(%x, %0, %u, 0) {reduction = "sum"}

    None without a reduction, and for data with dynamic dimensions.
    """
    data, indices, updates = node.operands
    shape, index_shape, reduction = shape_of(data), shape_of(indices), node.text("reduction")
    if shape is None or min(shape) < 1 or index_shape is None or index_shape[-1] < 1 or reduction == "none":
        return None
    depth = index_shape[-1]
    rows, columns = prod(shape[:depth]), prod(shape[depth:])
    indices = op.convert(indices, si64)
    sizes = op.constant(np.array(shape[:depth], np.int64))
    # Negative indices count from the end.
    indices = op.Select(op.Less(indices, 0), op.Add(indices, sizes), indices)
    strides = np.array([prod(shape[axis + 1 : depth]) for axis in range(depth)], np.int64)
    numbers = op.Reshape(op.ReduceSum(op.Multiply(indices, op.constant(strides)), [-1], keep_dims=True), [-1, 1], special_zero=False)
    written = op.Reshape(updates, [-1, columns], special_zero=False)
    if reduction == "sub":
        written, reduction = op.Multiply(written, -1), "sum"
    spread = op.Broadcast(numbers, op.ShapeOf(written))
    matrix = op.Reshape(data, [rows, columns], special_zero=False)
    scattered = op.ScatterElementsUpdate(matrix, spread, written, 0, reduction=reduction, use_init_val=True)
    return op.Reshape(scattered, list(shape), special_zero=False)


def scatter_elements(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Each element becomes the reduction of itself and of all updates that have its index.

    %y = opset12.ScatterElementsUpdate(%x, %i, %u, 0) {reduction = "sum"}           // %x: [4, 5], %i and %u: [3, 5]
    ->  %0 = opset1.Select([[i0], [i1], [i2]] == [0, 1, 2, 3], %u, 0)               // [3, 4, 5]
        %y = opset1.Add(%x, opset1.ReduceSum(%0, 0))

    None for a mean, without the initial value, for other dimensions of the data than of the indices besides the axis,
    and for dynamic or many indices.
    """
    data, indices, updates, axis = node.operands
    shape, written, reduction = shape_of(data), shape_of(indices), node.text("reduction")
    position, rank = constant_of(axis), rank_of(data)
    if shape is None or written is None or rank is None or position is None or reduction not in REDUCED or not node.flag("use_init_val"):
        return None
    place = int(position.ravel()[0]) % rank
    others = [size for each, size in enumerate(shape) if each != place], [size for each, size in enumerate(written) if each != place]
    if others[0] != others[1] or min(shape) < 0 or prod(written) * shape[place] > MOST_COMPARISONS:
        return None
    size, indices = shape[place], op.convert(indices, si64)
    indices = op.Select(op.Less(indices, 0), op.Add(indices, size), indices)
    numbers = np.arange(size).reshape([1] * place + [1, -1] + [1] * (rank - 1 - place))
    is_written = op.Equal(op.Unsqueeze(indices, [place + 1]), op.constant(numbers))
    candidates = op.Unsqueeze(updates, [place + 1])
    neutral = op.constant(_neutral(reduction, element_of(data)), element_of(data))
    reduced = op[f"opset1.{REDUCED[reduction]}"](op.Select(is_written, candidates, neutral), [place], keep_dims=False)
    return op[f"opset1.{COMBINED[reduction]}"](data, reduced)


def _neutral(reduction: str, element: Attribute) -> np.ndarray:
    """The identity element of a reduction in an element type, such as 0 for a sum."""
    dtype = to_numpy(element)
    if reduction in ("sum", "prod"):
        return np.array(reduction == "prod").astype(dtype)
    is_lowest = reduction == "max"
    if element in REAL_TYPES:
        return np.array(-np.inf if is_lowest else np.inf).astype(dtype)
    return np.array(np.iinfo(dtype).min if is_lowest else np.iinfo(dtype).max, dtype)


EXPANSIONS: Mapping[str, Expansion] = {"opset15.ScatterNDUpdate": scatter_nd, "opset12.ScatterElementsUpdate": scatter_elements}
