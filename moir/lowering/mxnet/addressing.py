"""Indices of elements, flat or one for each axis, and writing elements at such indices.

Source: tensor/ravel.cc, contrib/index_array.cc, contrib/index_copy.cc and tensor/matrix_op.cc of MXNet 1.9.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import entries, optional_entries, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


def _strides(node: LoweringNode) -> list[int]:
    """For each axis, the distance in the flattened tensor between neighbours along it, for the attribute `shape`.

    The first size does not matter, and may be dynamic. Raises ConversionError for any other size below 1.
    """
    sizes = entries(node, "shape")
    if not sizes or min(sizes[1:], default=1) < 1:
        node.fail(f"shape {list(sizes)} is not a shape")
    return [int(np.prod(sizes[index + 1 :])) for index in range(len(sizes))]


@mxnet.lowers("_ravel_multi_index", "ravel_multi_index")
def ravel_multi_index(node: LoweringNode, op: OpBuilder, coordinates: SSAValue) -> SSAValue:
    """mxnet._ravel_multi_index(coordinates [M, N…]) {shape} -> flat indices [N…]"""
    strides = _strides(node)
    weights = np.array(strides).reshape(-1, *[1] * (rank_of_operand(node) - 1))
    return op.ReduceSum(op.Multiply(coordinates, op.constant_like(weights, coordinates)), [0])


@mxnet.lowers("_unravel_index", "unravel_index")
def unravel_index(node: LoweringNode, op: OpBuilder, x: SSAValue, *, shape: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._unravel_index(flat indices [N…]) {shape} -> coordinates [M, N…]"""
    sizes = shape
    whole, rows = op.convert(x, si64), list[SSAValue]()
    for size, stride in zip(sizes, _strides(node), strict=True):
        quotient = op.Divide(whole, stride)
        rows.append(op.Unsqueeze(op.FloorMod(quotient, size) if rows else quotient, [0]))
    return op.ConvertLike(op.Concat(*rows, axis=0) if len(rows) > 1 else rows[0], x)


@mxnet.lowers("_contrib_index_array")
def index_array(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axes_: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._contrib_index_array(x) {axes} -> the coordinates of each element, along a further last axis"""
    rank = rank_of_operand(node)
    axes = [normalize_axis(axis, rank) for axis in axes_] or list(range(rank))
    shape, columns = op.ShapeOf(x), list[SSAValue]()
    for axis in axes:
        indices = op.Range(0, op.Gather(shape, axis, 0), 1, output_type=si64)
        placed = op.Reshape(indices, [-1 if each == axis else 1 for each in range(rank)], special_zero=False)
        columns.append(op.Unsqueeze(op.Broadcast(placed, shape), [rank]))
    return op.Concat(*columns, axis=rank) if len(columns) > 1 else columns[0]


@mxnet.lowers("_contrib_index_copy")
def index_copy(op: OpBuilder, x: SSAValue, indices: SSAValue, rows: SSAValue) -> SSAValue:
    """mxnet._contrib_index_copy(x, indices [K], rows [K, …]) -> opset3.ScatterUpdate(x, indices, rows, 0)"""
    return op.ScatterUpdate(x, op.convert(indices, si64), rows, op.constant(0))


@mxnet.lowers(
    "_slice_assign", "_slice_assign_scalar", "_crop_assign", "_crop_assign_scalar", "_npi_slice_assign", "_npi_slice_assign_scalar"
)
def slice_assign(node: LoweringNode, op: OpBuilder, x: SSAValue, *, scalar: float = 0.0) -> SSAValue:
    """mxnet._slice_assign(x, part) {begin, end, step} -> x with another part: ScatterNDUpdate at its coordinates"""
    shape = shape_of(x)
    begins, ends = optional_entries(node, "begin"), optional_entries(node, "end")
    steps = [step or 1 for step in optional_entries(node, "step")] or [1] * len(begins)
    if shape is None or min(shape[: len(begins)], default=-1) < 0 or not len(begins) == len(ends) == len(steps):
        node.fail("the size of the axes of a part that is written is dynamic", hint="give the model's inputs static shapes")
    lines = [np.arange(size)[slice(begin, end, step)] for size, begin, end, step in zip(shape, begins, ends, steps, strict=False)]
    indices = np.stack(np.meshgrid(*lines, indexing="ij"), -1)
    updates = op.Slice(op.ShapeOf(x), [len(begins)], [len(shape)], [1]) if len(begins) < len(shape) else None
    sizes = op.constant([len(line) for line in lines])
    full = sizes if updates is None else op.Concat(sizes, updates, axis=0)
    part = op.constant_like(scalar, x) if node.op.KIND.endswith("scalar") else node.operand(1)
    return op.ScatterNDUpdate(x, op.constant(indices), op.Broadcast(part, full))
