"""Reading and writing elements at computed positions."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.shape_values import as_integer, dimension, dimension_list, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import unpacked_type
from moir.lowering.onnx.operands import declared_rank
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand

REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}
"""The runtime's names of the functions that combine an update with the present element."""


@onnx.lowers("Gather")
def gather(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Gather(x, indices) {axis = 0} -> opset8.Gather(x, indices, axis)"""
    return op.Gather(node.operand(0), node.operand(1), node.integer("axis", 0))


@onnx.lowers("GatherElements")
@moves_strings(0)
def gather_elements(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.GatherElements(x, indices) {axis = 0} -> opset6.GatherElements(x, indices) {axis}

    The runtime requires equal sizes on all other axes: x is cut to those of the indices where they may be smaller.
    """
    x, indices, axis = node.operand(0), node.operand(1), node.integer("axis", 0)
    return op.GatherElements(_cut_to(op, x, indices, axis), indices, axis=axis)


def _cut_to(op: OpBuilder, x: SSAValue, like: SSAValue, axis: int) -> SSAValue:
    """x without the elements behind the sizes of `like` on all axes but one.

    It is cut by a StridedSlice: the runtime removes a Slice in front of a GatherElements, whose shapes then do not fit.
    """
    rank = rank_of(like) if rank_of(x) is None else rank_of(x)
    if rank is None:
        sizes = op.ShapeOf(like)
        place = op.constant([axis]) if axis >= 0 else op.Add(rank_value(op, like), axis)
        whole = op.ScatterUpdate(sizes, place, [np.iinfo(np.int32).max], 0)
        return op.StridedSlice(x, op.Multiply(sizes, 0), whole, op.Add(op.Multiply(sizes, 0), 1), begin_mask=[], end_mask=[])
    others = [each for each in range(rank) if each != normalize_axis(axis, max(rank, 1))]
    cut = [each for each in others if op.known.dimension(x, each) != op.known.dimension(like, each)]
    if not cut:
        return x
    ends = op.Concat(*(dimension_list(op, like, each) if each in cut else op.constant([0]) for each in range(rank)), axis=0)
    return op.StridedSlice(x, [0] * rank, ends, [1] * rank, begin_mask=[1] * rank, end_mask=[int(each not in cut) for each in range(rank)])


@onnx.lowers("GatherND")
@moves_strings(0)
def gather_nd(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.GatherND(x, indices) {batch_dims = 0} -> opset8.GatherND(x, indices) {batch_dims}"""
    data, indices, batch = node.operand(0), node.operand(1), node.integer("batch_dims", 0)
    ranks = node.rank(0), node.rank(1), declared_rank(node)
    shape = node.shape(1)
    if ranks[0] == batch + 1 and (shape is None or -1 in shape[-1:]):
        # There is one coordinate.
        return op.Gather(data, op.Squeeze(indices, [-1]), batch, batch_dims=batch)
    if shape and shape[-1] < 0 and None not in ranks:
        # The number of coordinates decides about the rank of the result.
        rank, own, result = cast("tuple[int, int, int]", ranks)
        indices = op.Reshape(indices, [*(0,) * (own - 1), own + rank - 1 - batch - result], special_zero=True)
    elif (shape is None or -1 in shape[-1:]) and isinstance(source := node.operand(1).owner, Parameter):
        node.fail(
            "the last dimension of the indices is unknown, and so the rank of the result",
            hint=f"give the input {name_of(source)} a known shape",
        )
    return op.GatherND(data, indices, batch_dims=batch)


def reduction(node: LoweringNode) -> str:
    """The reduction of a Scatter operation by its name in the runtime. Raises ConversionError for an unknown one."""
    name = node.text("reduction", "none")
    if name not in REDUCTIONS:
        node.fail(f"reduction {name!r} is not one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name]


@onnx.lowers("Scatter", "ScatterElements")
@moves_strings(0, 2)
def scatter_elements(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.ScatterElements(x, indices, updates) {axis = 0, reduction}
    -> opset12.ScatterElementsUpdate(x, indices, updates, axis)
    """
    return op.ScatterElementsUpdate(node.operand(0), node.operand(1), node.operand(2), node.integer("axis", 0), reduction=reduction(node))


@onnx.lowers("ScatterND")
@moves_strings(0, 2)
def scatter_nd(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.ScatterND(x, indices, updates) {reduction} -> opset15.ScatterNDUpdate(x, indices, updates) {reduction}"""
    return op.ScatterNDUpdate(node.operand(0), node.operand(1), node.operand(2), reduction=reduction(node))


@onnx.lowers("Where")
@moves_strings(1, 2)
def where(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Where(condition, a, b) -> opset1.Select(condition, a, b)"""
    condition, a, b = (node.operand(index) for index in range(3))
    if node.constant(0) is not None and element_of(a) == boolean:
        # The CPU plugin (2026.4) does not compile a Select of booleans whose condition is a constant, if it is also b.
        return op.LogicalOr(op.LogicalAnd(condition, a), op.LogicalAnd(op.LogicalNot(condition), b))
    return op.Select(condition, a, b)


@onnx.lowers("TensorScatter")
@moves_strings(0, 1)
def tensor_scatter(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.TensorScatter(cache, update, write_indices) {axis = -2, mode}
    -> opset12.ScatterElementsUpdate(cache, positions, update, axis)

    The positions for a batch entry are write_index … write_index + length - 1, modulo the size of the cache in mode
    `circular`.
    """
    cache, update, rank = node.operand(0), node.operand(1), node.known_rank(0)
    axis, mode = normalize_axis(node.integer("axis", -2), rank), node.text("mode", "linear")
    if mode not in ("linear", "circular"):
        node.fail(f"mode {mode!r} is neither linear nor circular")
    length = dimension(op, update, axis)
    positions: SSAValue = op.constant(range(length)) if isinstance(length, int) else op.Range(0, length, 1, output_type=si64)
    positions = op.Reshape(positions, [1] * axis + [-1] + [1] * (rank - axis - 1), special_zero=False)
    first = node.optional(2)
    if first is not None:
        positions = op.Add(positions, op.Reshape(as_integer(op, first), [-1] + [1] * (rank - 1), special_zero=False))
    if mode == "circular":
        size: Operand = dimension(op, cache, axis)
        positions = op.FloorMod(positions, size)
    # The CPU plugin (2026.4) writes whole bytes.
    wide = unpacked_type(element_of(cache))
    places = op.Broadcast(positions, op.ShapeOf(update))
    return op.convert(op.ScatterElementsUpdate(op.convert(cache, wide), places, op.convert(update, wide), axis), element_of(cache))
