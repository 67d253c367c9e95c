"""Writes of elements and slices along one axis, and reductions of updates into the elements of a tensor.

Source: TensorAdvancedIndexing.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, axis_from_front
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.indexing import from_start
from moir.lowering.pytorch.promotion import as_element, is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("index_copy.default", "index_add.default", "index_fill.int_Scalar", "index_fill.int_Tensor", complex=JOINED)
def index_copy(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    index: SSAValue,
    source: SSAValue | None = None,
    *,
    dim: int,
    value: Scalar = 0,
    alpha: Scalar = 1,
) -> SSAValue:
    """aten.index_copy.default(x, index, y) {dim} -> opset3.ScatterUpdate(x, index, y, dim); `index_fill` writes a
    number, `index_add` -> opset15.ScatterNDUpdate {reduction = "sum"}
    """
    rank, element = node.known_rank(0), element_of(self)
    shape = op.ShapeOf(self)
    if rank == 0:
        self, rank = op.Unsqueeze(self, [0]), 1
        source = None if source is None else op.Reshape(source, [1], special_zero=False)
    axis = axis_from_front(node, dim, rank)
    positions = from_start(op, self, index if node.rank(1) else op.Unsqueeze(index, [0]), axis)
    if source is None:
        parts = [op.ShapeOf(positions) if each == axis else dimension_list(op, self, each) for each in range(rank)]
        source = op.Broadcast(as_element(op, element, value)[0], op.Concat(*parts, axis=0) if rank > 1 else parts[0])
    source = op.convert(source, element)
    if not node.op.KIND.startswith("index_add"):
        written = op.ScatterUpdate(self, positions, source, op.constant(axis))
        return written if node.known_rank(0) else op.Reshape(written, shape, special_zero=False)
    if alpha != 1:
        (factor,) = as_element(op, element, alpha)
        source = op.LogicalAnd(source, factor) if element == boolean else op.Multiply(source, factor)
    # Booleans are added as integers.
    self, source = (op.convert(each, si32) if element == boolean else each for each in (self, source))
    order = [axis, *(each for each in range(rank) if each != axis)]
    added = op.ScatterNDUpdate(op.transposed(self, order), op.Unsqueeze(positions, [-1]), op.transposed(source, order), reduction="sum")
    added = op.NotEqual(added, 0) if element == boolean else added
    copied = op.transposed(added, [order.index(each) for each in range(rank)])
    return copied if node.known_rank(0) else op.Reshape(copied, shape, special_zero=False)


_REDUCTIONS = {"add": "sum", "sum": "sum", "prod": "prod", "multiply": "prod", "mean": "mean", "amax": "max", "amin": "min"}


@aten.lowers("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add.default", complex=JOINED)
@aten.lowers("scatter_reduce.two")
def scatter(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    index: SSAValue,
    src: SSAValue | None = None,
    *,
    dim: int,
    value: Scalar = 0,
    reduce: str = "",
    include_self: bool = True,
) -> SSAValue:
    """aten.scatter.src(x, index, y) {dim} -> opset12.ScatterElementsUpdate(x, index, y, dim) {reduction}; `scatter_add`
    and `scatter_reduce` likewise
    """
    rank, element = node.known_rank(0), element_of(self)
    if rank == 0:
        self, index = (op.Reshape(each, [1], special_zero=False) for each in (self, index))
        src = None if src is None else op.Reshape(src, [1], special_zero=False)
    axis, rank = axis_from_front(node, dim, max(rank, 1)), max(rank, 1)
    if src is None:
        updates = op.Broadcast(as_element(op, element, value)[0], op.ShapeOf(index))
    else:
        updates = op.convert(src, element)
        if shape_of(src) != shape_of(index) or -1 in (shape_of(src) or (-1,)):
            updates = op.Slice(updates, [0] * rank, op.ShapeOf(index), [1] * rank, list(range(rank)))
    name = "add" if node.op.KIND.startswith("scatter_add") else reduce
    if name and name not in _REDUCTIONS:
        node.fail(f"a reduction {name!r}")
    if name:
        scattered = reduced_into(op, self, index, updates, axis, _REDUCTIONS[name], include_self)
    else:
        scattered = op.ScatterElementsUpdate(self, index, updates, op.constant(axis), reduction="none", use_init_val=True)
    return op.Reshape(scattered, [], special_zero=False) if node.known_rank(0) == 0 else scattered


def reduced_into(
    op: OpBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue, axis: int, reduction: str, include_self: bool
) -> SSAValue:
    """x with `updates` reduced, by `reduction`, into its elements at `indices` along an axis.

    With `include_self` the elements of x take part. Means of integers are rounded down.
    """
    element = element_of(x)
    if reduction != "mean" or not is_integral(element):
        return op.ScatterElementsUpdate(x, indices, updates, op.constant(axis), reduction=reduction, use_init_val=include_self)
    wide, updates_ = (op.convert(each, si64) for each in (x, updates))
    total = op.ScatterElementsUpdate(wide, indices, updates_, op.constant(axis), reduction="sum", use_init_val=include_self)
    start = op.Broadcast(op.constant(int(include_self)), op.ShapeOf(x))
    ones = op.Broadcast(op.constant(1), op.ShapeOf(updates))
    count = op.ScatterElementsUpdate(start, indices, ones, op.constant(axis), reduction="sum", use_init_val=True)
    return op.convert(op.Divide(total, op.Maximum(count, 1)), element)


@aten.lowers("index_reduce.default")
def index_reduce(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    index: SSAValue,
    source: SSAValue,
    *,
    dim: int,
    reduce: str,
    include_self: bool = True,
) -> SSAValue:
    """aten.index_reduce.default(x, index, y) {dim, reduce} -> opset12.ScatterElementsUpdate(x, index, y) {reduction}"""
    rank = node.known_rank(0)
    axis, shape_before = axis_from_front(node, dim, rank), op.ShapeOf(self)
    if reduce not in _REDUCTIONS:
        node.fail(f"a reduction {reduce!r}")
    if rank == 0:
        self, source = (op.Reshape(each, [1], special_zero=False) for each in (self, source))
        rank = 1
    shape = [1] * rank
    shape[axis] = -1
    updates = op.convert(source, element_of(self))
    indices = op.Broadcast(op.Reshape(index, shape, special_zero=False), op.ShapeOf(updates))
    reduced = reduced_into(op, self, indices, updates, axis, _REDUCTIONS[reduce], include_self)
    return reduced if node.known_rank(0) else op.Reshape(reduced, shape_before, special_zero=False)
