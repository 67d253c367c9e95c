"""numpy's functions that concatenate, rotate and split arrays, and diagonals.

Source: numpy/np_matrix_op.cc, numpy/np_diff.cc, tensor/diag_op.cc and tensor/la_op.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis, rank_of
from moir.expansions import shape_values
from moir.expansions.linear_algebra.matrix_diagonals import main_diagonal, triangle_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import entries, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


@mxnet.lowers("diag", "_np_diag", "_np_diagonal", "_linalg_extractdiag", "linalg_extractdiag")
def diagonal(node: LoweringNode, op: OpBuilder, *, offset: int = 0, k: int = 0) -> SSAValue:
    """mxnet.diag(x) {k = 0, axis1 = 0, axis2 = 1} -> the elements of diagonal k, along the last axis

    If x has one dimension: a matrix with the elements on that diagonal.
    """
    rank, kind = rank_of_operand(node), node.op.KIND
    k = offset if kind in ("_np_diagonal", "_linalg_extractdiag", "linalg_extractdiag") else k
    if rank == 1:
        return _matrix_of_diagonal(op, node.operand(0), k)
    return main_diagonal(op, _axes_last(node, op, rank), k)


def _axes_last(node: LoweringNode, op: OpBuilder, rank: int) -> SSAValue:
    """Operand 0, of rank `rank`, with the axes `axis1` and `axis2` moved to the end; kinds of `linalg` default to the
    last two axes.
    """
    first, second = (-2, -1) if "linalg" in node.op.KIND else (0, 1)
    pair = [normalize_axis(node.integer(name, default), rank) for name, default in (("axis1", first), ("axis2", second))]
    return op.transposed(node.operand(0), [*(axis for axis in range(rank) if axis not in pair), *pair])


mxnet.lowers_each(
    {
        "_linalg_makediag linalg_makediag": lambda op, x, *, offset=0: _matrix_of_diagonal(op, x, offset),
        "_npi_tril": lambda op, x, *, k=0: triangle_of(op, x, k),
        "_npx_nonzero": lambda op, x: op.transposed(op.NonZero(x, output_type=si64), [1, 0]),
    }
)


def _matrix_of_diagonal(op: OpBuilder, x: SSAValue, k: int) -> SSAValue:
    """Matrices with the last axis on diagonal k, 0 elsewhere."""
    rank = rank_of(x)
    assert rank is not None
    indices = op.Range(0, op.Gather(op.ShapeOf(x), -1, 0), 1, output_type=si64)
    square = op.Select(op.Equal(indices, op.Unsqueeze(indices, [1])), op.Unsqueeze(x, [rank]), op.constant_like(0, x))
    before, after = [0] * (rank + 1), [0] * (rank + 1)
    before[rank - (k < 0)], after[rank - (k > 0)] = abs(k), abs(k)
    return op.Pad(square, before, after, op.constant_like(0, x), pad_mode="constant") if k else square


@mxnet.lowers("_np_trace")
def trace(node: LoweringNode, op: OpBuilder, *, offset: int = 0) -> SSAValue:
    """mxnet._np_trace(x) {offset = 0, axis1 = 0, axis2 = 1} -> the sum of a diagonal"""
    return op.ReduceSum(main_diagonal(op, _axes_last(node, op, rank_of_operand(node)), offset), [-1])


@mxnet.lowers("_npi_rot90")
def rot90(node: LoweringNode, op: OpBuilder, x: SSAValue, *, k: int = 1, axes: tuple[int, ...] = (0, 1)) -> SSAValue:
    """mxnet._npi_rot90(x) {k = 1, axes = (0, 1)} -> a quarter turn k times, from the first axis to the second"""
    rank = rank_of_operand(node)
    first, second = (normalize_axis(axis, rank) for axis in axes)
    turns = k % 4
    order = list(range(rank))
    order[first], order[second] = second, first
    if turns == 0:
        return x
    if turns == 2:
        return _backwards(op, x, [first, second])
    return op.transposed(_backwards(op, x, [second]), order) if turns == 1 else _backwards(op, op.transposed(x, order), [second])


def _backwards(op: OpBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    count = len(axes)
    return op.Slice(x, [-1] * count, [-(2**63 - 1)] * count, [-1] * count, list(axes))


@mxnet.lowers("_np_moveaxis")
def move_axis(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._np_moveaxis(x) {source, destination} -> opset1.Transpose(x, order)"""
    rank = rank_of_operand(node)
    source, target = ([normalize_axis(axis, rank) for axis in entries(node, name)] for name in ("source", "destination"))
    if len(set(source)) != len(source) or len(set(target)) != len(target) or len(source) != len(target):
        node.fail(f"axes {source} do not go to {target}: as many axes are needed, each once")
    order = [axis for axis in range(rank) if axis not in source]
    for position, axis in sorted(zip(target, source, strict=True)):
        order.insert(position, axis)
    return op.transposed(x, order)


@mxnet.lowers("_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d")
def at_least(node: LoweringNode, op: OpBuilder, first: SSAValue, *others: SSAValue) -> Sequence[SSAValue]:
    """mxnet._np_atleast_2d(x, …) -> each with dimensions of 1 added; likewise for one and three dimensions"""
    wanted = int(node.op.KIND[-2])
    return [shape_values.at_least(op, value, rank_of_operand(node, index), wanted) for index, value in enumerate([first, *others])]


_STACKS = {"_npi_hstack": (1, 1), "_npi_vstack": (2, 0), "_npi_dstack": (3, 2), "_npi_column_stack": (2, 1)}
"""For each kind, the lowest rank to which operands are extended, and the axis along which they are concatenated."""


@mxnet.lowers(*_STACKS)
def stacked(node: LoweringNode, op: OpBuilder, first: SSAValue, *others: SSAValue) -> SSAValue:
    """mxnet._npi_vstack(a, b, …) -> opset1.Concat of the operands with at least two dimensions; likewise the other
    stacks
    """
    least, axis = _STACKS[node.op.KIND]
    values: list[SSAValue] = []
    for index, value in enumerate([first, *others]):
        rank = rank_of_operand(node, index)
        is_column = node.op.KIND == "_npi_column_stack" and rank == 1
        values.append(op.Unsqueeze(value, [1]) if is_column else shape_values.at_least(op, value, rank, least))
    if node.op.KIND == "_npi_hstack" and rank_of(values[0]) == 1:
        axis = 0
    return op.Concat(*values, axis=axis) if len(values) > 1 else values[0]


@mxnet.lowers("_npi_hsplit", "_npi_dsplit")
def split_along(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """mxnet._npi_hsplit(x) {indices, sections} -> parts along axis 1, or the only one; dsplit: along axis 2"""
    axis = 2 if node.op.KIND == "_npi_dsplit" else 0 if rank_of_operand(node) == 1 else 1
    return parts_at(node, op, axis)


def parts_at(node: LoweringNode, op: OpBuilder, axis: int) -> Sequence[SSAValue]:
    """The parts of operand 0 along an axis: `sections` equal ones, or parts that begin at `indices`; both are
    attributes.

    Raises ConversionError for too many sections, or indices that do not increase.
    """
    sections = node.integer("sections", 0)
    if not 0 <= sections <= MAXIMUM_PARTS:
        node.fail(f"{sections} sections")
    if sections:
        return op.Split.parts(sections, node.operand(0), op.constant(axis), num_splits=sections)
    indices_ = list(entries(node, "indices"))
    indices_ = indices_[1:] if indices_[:1] == [0] else indices_
    lengths = [b - a for a, b in zip([0, *indices_], indices_, strict=False)]
    if any(length < 0 for length in lengths):
        node.fail(f"indices {indices_} do not rise")
    return op.VariadicSplit.parts(len(lengths) + 1, node.operand(0), op.constant(axis), [*lengths, -1])


MAXIMUM_PARTS = 10_000
"""The largest number of parts into which an operation splits its operand."""


@mxnet.lowers("_npi_diff")
def differences(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = -1, n: int = 1) -> SSAValue:
    """mxnet._npi_diff(x) {n = 1, axis = -1} -> the differences of neighbours along an axis, n times"""
    axis = normalize_axis(axis, rank_of_operand(node))
    for _ in range(min(n, 64)):
        x = op.Subtract(op.Slice(x, [1], [2**63 - 1], [1], [axis]), op.Slice(x, [0], [-1], [1], [axis]))
    return x


@mxnet.lowers("_npi_indices")
def indices(op: OpBuilder, *, dimensions: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._npi_indices() {dimensions} -> a constant with the coordinates of all elements"""
    sizes = dimensions
    check_constant_size(len(sizes), *sizes)
    return op.constant(np.indices(sizes).astype(np.int64))
