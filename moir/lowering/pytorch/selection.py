"""Elements by flat index, tests of membership, and positions in sorted tensors.

Source: TensorAdvancedIndexing.cpp and Bucketization.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.pytorch.arguments import Scalar, Size, Sizes, axis_from_front
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.indexing import diagonal, from_start, positions, write_positions
from moir.lowering.pytorch.promotion import as_element, promoted
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _flat(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Reshape(x, [-1], special_zero=False)


aten.lowers_each({"take.default": lambda op, self, index: op.Gather(_flat(op, self), index, 0)}, complex=by_parts())

aten.lowers_each(
    {
        "argwhere.default": lambda op, self: op.transposed(op.NonZero(self, output_type=si64), [1, 0]),
        "equal.default": lambda op, self, other: op.ReduceLogicalAnd(_flat(op, op.Equal(self, other)), [0], keep_dims=False),
    }
)


@aten.lowers("put.default")
def put(op: OpBuilder, self: SSAValue, index: SSAValue, source: SSAValue, *, accumulate: bool = False) -> SSAValue:
    """aten.put.default(x, index, y) {accumulate} -> opset15.ScatterNDUpdate(flattened x, index, y)"""
    flat = _flat(op, self)
    indices = op.Unsqueeze(_flat(op, from_start(op, flat, index, 0)), [1])
    further = {"reduction": "sum"} if accumulate else {}
    written = op.ScatterNDUpdate(flat, indices, _flat(op, op.convert(source, element_of(self))), **further)
    return op.Reshape(written, op.ShapeOf(self), special_zero=False)


@aten.lowers("masked_scatter.default", complex=JOINED)
def masked_scatter(op: OpBuilder, self: SSAValue, mask: SSAValue, source: SSAValue) -> SSAValue:
    """aten.masked_scatter.default(x, mask, y) -> x with the elements of y in order where the mask is true"""
    both = op.Broadcast(mask, op.ShapeOf(self), mode="bidirectional")
    x = op.Broadcast(self, op.ShapeOf(both))
    flags = _flat(op, both)
    order = op.Subtract(op.CumSum(op.convert(flags, si64), op.constant(0)), 1)
    taken = op.Gather(_flat(op, op.convert(source, element_of(x))), op.Maximum(order, 0), 0)
    return op.Reshape(op.Select(flags, taken, _flat(op, x)), op.ShapeOf(x), special_zero=False)


@aten.lowers("isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor")
def isin(
    node: LoweringNode,
    op: OpBuilder,
    *,
    elements: Scalar | None = None,
    element: Scalar | None = None,
    test_elements: Scalar | None = None,
    test_element: Scalar | None = None,
    invert: bool = False,
) -> SSAValue:
    """aten.isin.Tensor_Tensor(x, y) {invert} -> whether any element of y equals each of x"""
    x, y = (elements if element is None else element), (test_elements if test_element is None else test_element)
    if x is None or y is None:
        node.fail("an operand is missing")
    a, b = as_element(op, promoted([x, y]), x, y)
    hits = op.Equal(op.Unsqueeze(a, [-1]) if rank_of(a) else op.Reshape(a, [1], special_zero=False), _flat(op, b))
    is_member = op.ReduceLogicalOr(hits, [-1], keep_dims=False)
    return op.LogicalNot(is_member) if invert else is_member


@aten.lowers("bucketize.Tensor", "bucketize.Scalar", "searchsorted.Tensor", "searchsorted.Scalar")
def bucketize(
    node: LoweringNode,
    op: OpBuilder,
    sorted_sequence: SSAValue | None = None,
    boundaries: SSAValue | None = None,
    sorter: SSAValue | None = None,
    *,
    self: Scalar,
    right: bool = False,
    side: str = "",
) -> SSAValue:
    """aten.bucketize.Tensor(x, boundaries) {right} -> opset15.SearchSorted(boundaries, x) {right_mode}"""
    values = sorted_sequence if boundaries is None else boundaries
    if values is None:
        node.fail("its sorted tensor is missing")
    if sorter is not None:
        rank = rank_of(values) or 1
        values = op.GatherElements(values, op.convert(sorter, si64), axis=rank - 1)
    element = promoted([values, self])
    keys, x = as_element(op, element, values, self)
    is_right = right or side == "right"
    if not isinstance(self, SSAValue) or rank_of(self) == 0:
        x = op.Reshape(x, [1], special_zero=False)
        return op.Squeeze(_searched(op, keys, x, is_right), [0])
    return _searched(op, keys, x, is_right)


def _searched(op: OpBuilder, keys: SSAValue, x: SSAValue, is_right: bool) -> SSAValue:
    """For each element of x, the number of keys along the last axis that are less than it, or with `is_right` not
    greater than it.
    """
    wide = op.Unsqueeze(x, [-1])
    if rank_of(keys) != 1:
        keys = op.Unsqueeze(keys, [-2])
    # A NaN sorts after all keys.
    below = op.LogicalNot(op.Greater(keys, wide)) if is_right else op.LogicalNot(op.GreaterEqual(keys, wide))
    return op.ReduceSum(op.convert(below, si64), [-1], keep_dims=False)


@aten.lowers("one_hot.default")
def one_hot(op: OpBuilder, self: SSAValue, *, num_classes: Size = -1) -> SSAValue:
    """aten.one_hot.default(x) {num_classes} -> opset1.OneHot(x, num_classes, 1, 0)"""
    count = num_classes
    if isinstance(count, int) and count < 0:
        flat = _flat(op, self)
        depth = op.Add(op.convert(op.ReduceMax(flat, [0], keep_dims=False), si64), 1)
    else:
        depth = op.constant(count) if isinstance(count, int) else count
    return op.OneHot(op.convert(self, si64), depth, op.constant(1, si64), op.constant(0, si64), axis=-1)


@aten.lowers("diagonal_scatter.default", complex=JOINED)
def diagonal_scatter(
    node: LoweringNode, op: OpBuilder, self: SSAValue, src: SSAValue, *, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> SSAValue:
    """aten.diagonal_scatter.default(x, y) {offset, dim1, dim2} -> x with y as a diagonal"""
    indices = diagonal(node, op, positions(op, self), offset=offset, dim1=dim1, dim2=dim2)
    return write_positions(op, self, indices, src)


@aten.lowers("as_strided_scatter.default")
def as_strided_scatter(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    src: SSAValue,
    *,
    size: Sizes,
    stride: Sizes,
    storage_offset: int = 0,
) -> SSAValue:
    """aten.as_strided_scatter.default(x, y) {size, stride, storage_offset} -> x with y at the elements of the view"""
    from moir.lowering.pytorch.stacking import as_strided

    indices = as_strided(node, op, positions(op, self), size=size, stride=stride, storage_offset=storage_offset)
    return write_positions(op, self, indices, src)


@aten.lowers("combinations.default")
def combinations(node: LoweringNode, op: OpBuilder, self: SSAValue, *, r: int = 2, with_replacement: bool = False) -> SSAValue:
    """aten.combinations.default(x [N]) {r, with_replacement} -> all combinations of r elements, a row each"""
    from itertools import combinations as chosen
    from itertools import combinations_with_replacement

    count = (node.shape(0) or (-1,))[0]
    if count < 0:
        node.fail("the number of its elements is dynamic")
    rows = list((combinations_with_replacement if with_replacement else chosen)(range(count), r))
    return op.Gather(self, op.constant(np.array(rows, np.int64).reshape(len(rows), r), si64), 0)


@aten.lowers("repeat_interleave.self_Tensor", "repeat_interleave.Tensor", complex=by_parts())
def repeat_interleave(
    node: LoweringNode, op: OpBuilder, repeats: SSAValue, *, self: Scalar | None = None, dim: int | None = None
) -> SSAValue:
    """aten.repeat_interleave.self_Tensor(x, counts) {dim} -> each element of an axis as often as its count says"""
    counts = op.convert(repeats, si64)
    if isinstance(self, SSAValue):
        x, axis = (_flat(op, self), 0) if dim is None else (self, axis_from_front(node, dim, rank_of(self) or 0))
        counts = op.Broadcast(_flat(op, counts), dimension_list(op, x, axis))
    else:
        x, axis = None, 0
    ends = op.CumSum(counts, op.constant(0))
    total = op.ReduceSum(counts, [0], keep_dims=False)
    positions = op.Range(op.constant(0), total, op.constant(1), output_type=si64)
    indices = op.ReduceSum(op.convert(op.LessEqual(ends, op.Unsqueeze(positions, [1])), si64), [1], keep_dims=False)
    return indices if x is None else op.Gather(x, indices, axis)
