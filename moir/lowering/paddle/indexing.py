"""Elements by their indices: gathering, scattering, embeddings, one-hot vectors.

Source: gather_op.cc, gather_nd_op.cc, scatter_op.cc, lookup_table_v2_op.cc, one_hot_v2_op.cc and index_*_op.cc of
PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, f32, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import as_type
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.paddle.operands import known_integer, optional_element
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


@paddle.lowers("gather", complex=by_parts())
def gather(node: LoweringNode, op: OpBuilder, x: SSAValue, index: SSAValue, _axis: SSAValue | None = None) -> SSAValue:
    """paddle.gather(x, index, axis) -> opset8.Gather(x, index, axis); an index [n, 1] counts as [n]"""
    axis = known_integer(node, 2, "axis", 0)
    if rank_of(index) == 2:
        index = op.Reshape(index, [-1], special_zero=False)
    return op.Gather(x, index, axis)


paddle.lowers_each({"index_select": lambda op, x, index, *, dim=0: op.Gather(x, index, dim)}, complex=by_parts())

paddle.lowers_each(
    {
        "index_sample": lambda op, x, index: op.GatherElements(x, index, axis=1),
        "scatter_nd_add": lambda op, x, index, updates: op["opset15.ScatterNDUpdate"](x, index, updates, reduction="sum"),
        "where_index": lambda op, condition: op.Transpose(op.NonZero(condition, output_type=si64), [1, 0]),
    }
)


@paddle.lowers("gather_nd", complex=by_parts())
def gather_nd(op: OpBuilder, x: SSAValue, index: SSAValue) -> SSAValue:
    """paddle.gather_nd(x, index) -> opset8.GatherND(x, index)"""
    if (shape_of(index) or (-1,))[-1] == 0:
        return op.Broadcast(x, op.Concat(op.Slice(op.ShapeOf(index), [0], [-1], [1]), op.ShapeOf(x), axis=0))
    return op.GatherND(x, index, batch_dims=0)


paddle.lowers_each_node(
    {
        "take_along_axis": lambda node, op, x, index, *, Axis=0: op.GatherElements(x, index, axis=normalize_axis(Axis, node.known_rank(0))),
        # paddle.lookup_table_v2(ids, table) -> opset8.Gather(table, ids, 0); rows of `padding_idx` are 0
        "lookup_table_v2": lambda node, op, ids, table, *, padding_idx=-1: _looked_up(node, op, ids, table, padding_idx),
        # paddle.lookup_table(ids [… , 1], table) -> opset8.Gather(table, ids without the last axis, 0)
        "lookup_table": lambda node, op, ids, table, *, padding_idx=-1: _looked_up(node, op, op.Squeeze(ids, [-1]), table, padding_idx),
    }
)


@paddle.lowers("put_along_axis")
def put_along_axis(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    index: SSAValue,
    value: SSAValue,
    *,
    Axis: int = 0,
    Reduce: str = "assign",
    Include_self: bool = True,
) -> SSAValue:
    """paddle.put_along_axis(x, index, value) {Axis, Reduce} -> opset12.ScatterElementsUpdate(x, index, value)"""
    modes = {"assign": "none", "add": "sum", "mul": "prod", "multiply": "prod", "mean": "mean", "amin": "min", "amax": "max"}
    if Reduce not in modes:
        node.fail(f"Reduce {Reduce!r} does not exist")
    updates = as_type(op, value, element_of(x))
    if shape_of(updates) != shape_of(index):
        updates = op.Broadcast(updates, op.ShapeOf(index))
    axis = op.constant(normalize_axis(Axis, node.known_rank(0)))
    return op.ScatterElementsUpdate(x, index, updates, axis, reduction=modes[Reduce], use_init_val=Include_self)


@paddle.lowers("scatter")
def scatter(op: OpBuilder, x: SSAValue, index: SSAValue, updates: SSAValue, *, overwrite: bool = True) -> SSAValue:
    """paddle.scatter(x, index, updates) -> opset3.ScatterUpdate(x, index, updates, 0)

    Without `overwrite` the rows at the index are replaced by the sums of their updates.
    """
    if rank_of(index) == 0 and rank_of(updates) != rank_of(x):
        updates = op.Unsqueeze(updates, [0])
    if rank_of(index) != 1:
        index = op.Reshape(index, [-1], special_zero=False)
    if overwrite:
        return op.ScatterUpdate(x, index, updates, op.constant(0))
    zeros = op.Multiply(updates, op.constant_like(0, updates))
    cleared = op.ScatterUpdate(x, index, zeros, op.constant(0))
    return op["opset15.ScatterNDUpdate"](cleared, op.Unsqueeze(index, [1]), updates, reduction="sum")


@paddle.lowers("index_add")
def index_add(node: LoweringNode, op: OpBuilder, x: SSAValue, index: SSAValue, added: SSAValue, *, axis: int = 0) -> SSAValue:
    """paddle.index_add(x, index, added) {axis} -> opset15.ScatterNDUpdate {reduction = "sum"}, with the axis moved to
    the front
    """
    rank = node.known_rank(0)
    axis = normalize_axis(axis, rank)
    order = [axis, *(each for each in range(rank) if each != axis)]
    data, updates = (op.transposed(each, order) for each in (x, added))
    result = op["opset15.ScatterNDUpdate"](data, op.Unsqueeze(index, [1]), updates, reduction="sum")
    return op.transposed(result, [order.index(each) for each in range(rank)])


@paddle.lowers("index_put")
def index_put(node: LoweringNode, op: OpBuilder, x: SSAValue, value: SSAValue, *indices: SSAValue, accumulate: bool = False) -> SSAValue:
    """paddle.index_put(x, value, indices…) -> opset15.ScatterNDUpdate(x, indices in the last axis, value)"""
    if any(element_of(each) == boolean for each in indices):
        if len(indices) != 1:
            node.fail("several indices of which one is a mask are not supported")
        indices_ = op.Transpose(op.NonZero(indices[0], output_type=si64), [1, 0])
    else:
        shared = indices
        for other in indices:
            shared = tuple(op.Broadcast(each, op.ShapeOf(other), mode="bidirectional") if each is not other else each for each in shared)
        indices_ = op.Concat(*(op.Unsqueeze(op.convert(each, si64), [-1]) for each in shared), axis=-1)
    depth = node.known_rank(0)
    count = (shape_of(indices_) or (-1,))[-1]
    lead = op.Slice(op.ShapeOf(indices_), [0], [-1], [1])
    rest = op.Slice(op.ShapeOf(x), [count if count >= 0 else len(indices)], [depth], [1])
    updates = op.Broadcast(as_type(op, value, element_of(x)), op.Concat(lead, rest, axis=0))
    return op["opset15.ScatterNDUpdate"](x, indices_, updates, reduction="sum" if accumulate else "none")


def _looked_up(node: LoweringNode, op: OpBuilder, ids: SSAValue, table: SSAValue, padding: int) -> SSAValue:
    rows = (shape_of(table) or (-1,))[0]
    if padding != -1 and (padding < 0 or 0 <= rows <= padding):
        node.fail(f"padding_idx {padding} is not a row of a table of {rows}")
    if padding != -1 and rows < 0:
        is_padding = op.Unsqueeze(op.Equal(ids, op.constant_like(padding, ids)), [-1])
        return op.Select(is_padding, op.constant_like(0, table), op.Gather(table, ids, 0))
    if padding != -1:
        kept = np.ones((rows, 1), np.float32)
        kept[padding] = 0
        table = op.Multiply(table, op.constant_like(kept, table))
    return op.Gather(table, ids, 0)


@paddle.lowers("masked_select")
def masked_select(op: OpBuilder, x: SSAValue, mask: SSAValue) -> SSAValue:
    """paddle.masked_select(x, mask) -> the elements where the mask is true, opset8.GatherND(x, opset3.NonZero(mask))"""
    if shape_of(mask) != shape_of(x):
        mask = op.Broadcast(mask, op.ShapeOf(x))
    return op.GatherND(x, op.Transpose(op.NonZero(mask, output_type=si64), [1, 0]), batch_dims=0)


@paddle.lowers("one_hot_v2", "one_hot")
def one_hot(node: LoweringNode, op: OpBuilder, x: SSAValue, depth: SSAValue) -> SSAValue:
    """paddle.one_hot_v2(x, depth) -> opset1.OneHot(x, depth, 1, 0); one_hot without the last axis of x, of size 1"""
    element = optional_element(node, "dtype") or f32
    indices = op.Squeeze(x, [-1]) if node.op.KIND == "one_hot" and rank_of(x) != 1 else x
    size = op.Reshape(depth, [], special_zero=False)
    return op.OneHot(indices, size, op.constant(1, element), op.constant(0, element), axis=-1)


@paddle.lowers("sequence_mask")
def sequence_mask(
    node: LoweringNode, op: OpBuilder, lengths: SSAValue, most: SSAValue | None = None, *, out_dtype: Attribute = si64
) -> SSAValue:
    """paddle.sequence_mask(lengths, most) -> whether each index is below the length; by default up to the longest"""
    known = node.constant_integers(1)
    if most is None or (known is not None and known[0] < 0):
        limit = op.ReduceMax(lengths, list(range(node.known_rank(0))), keep_dims=False)
    else:
        limit = op.Reshape(most, [], special_zero=False)
    positions = op.Range(op.constant(0, si64), op.convert(limit, si64), op.constant(1, si64), output_type=si64)
    return op.convert(op.Less(positions, op.Unsqueeze(op.convert(lengths, si64), [-1])), out_dtype)
