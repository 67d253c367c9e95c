"""Operations that change or return shapes.

Source: reshape_op.cc, squeeze_op.cc, unsqueeze_op.cc, flatten_op.cc, expand_v2_op.cc, shape_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import all_complex, by_formula, by_parts
from moir.lowering.paddle.operands import has_scalars, known_integers, vector_of
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _only(node: LoweringNode, value: SSAValue) -> list[SSAValue | None]:
    """The results of a node: `value`, then None for XShape, which only records the operand's shape."""
    return [value, *[None] * (node.result_count - 1)]


@paddle.lowers("combine")
def combine(op: OpBuilder, *values: SSAValue) -> SSAValue:
    """paddle.combine(numbers…) -> opset1.Concat of them as 1-D tensors of i64"""
    integers = [op.convert(value, si64) for value in values]
    elements = [each if shape_of(each) == (1,) else op.Reshape(each, [1], special_zero=False) for each in integers]
    return elements[0] if len(elements) == 1 else op.Concat(*elements, axis=0)


@paddle.lowers("reshape2", "reshape", complex=by_parts())
def reshape(node: LoweringNode, op: OpBuilder, x: SSAValue, shape: SSAValue) -> Replacement:
    """paddle.reshape2(x, shape) -> opset1.Reshape(x, shape) {special_zero = true}"""
    return _only(node, op.Reshape(x, vector_of(op, shape), special_zero=True))


@paddle.lowers("squeeze2", "squeeze", complex=by_parts())
def squeeze(node: LoweringNode, op: OpBuilder, x: SSAValue, axes: SSAValue | None = None) -> Replacement:
    """paddle.squeeze2(x, axes) -> opset15.Squeeze(x, axes); without axes all dimensions of 1; dimensions of `axes` that
    are not 1 stay
    """
    wanted_axes = () if axes is None else known_integers(node, 1, "axes")
    shape = node.shape(0)
    if not wanted_axes:
        if shape is None or min(shape, default=0) < 0:
            node.fail("it removes all dimensions of 1, which are not known", hint="give the model's inputs static shapes")
        axes_ = [axis for axis, size in enumerate(shape) if size == 1]
    else:
        rank = node.known_rank(0)
        wanted = sorted({normalize_axis(axis, rank) for axis in wanted_axes})
        axes_ = [axis for axis in wanted if shape is None or shape[axis] in (1, -1)]
    if not has_scalars(node) and shape is not None and len(axes_) == len(shape):
        axes_ = axes_[1:]
    return _only(node, op.Squeeze(x, axes_) if axes_ else x)


@paddle.lowers("unsqueeze2", "unsqueeze", complex=by_parts())
def unsqueeze(node: LoweringNode, op: OpBuilder, x: SSAValue, _axes: SSAValue) -> Replacement:
    """paddle.unsqueeze2(x, axes) -> opset1.Unsqueeze(x, axis) for one axis after the other"""
    wanted_axes = known_integers(node, 1, "axes")
    rank = node.known_rank(0)
    inserted: list[int] = []
    for axis in wanted_axes:
        # Each axis counts in the shape that those before it have made.
        axis_ = axis if axis >= 0 else axis + rank + len(inserted) + 1
        inserted = [each + 1 if each >= axis_ else each for each in inserted]
        inserted.append(axis_)
    return _only(node, op.Unsqueeze(x, sorted(inserted)) if inserted else x)


@paddle.lowers("flatten_contiguous_range", complex=by_parts())
def flatten(node: LoweringNode, op: OpBuilder, x: SSAValue, *, start_axis: int = 1, stop_axis: int = 1) -> Replacement:
    """paddle.flatten_contiguous_range(x) {start_axis, stop_axis} -> opset1.Reshape(x, [before, -1, after])"""
    rank, shape = node.known_rank(0), shape_of(x) or ()
    if rank == 0:
        return _only(node, op.Reshape(x, [1], special_zero=False))
    first, last = normalize_axis(start_axis, rank), normalize_axis(stop_axis, rank)
    if first > last:
        node.fail(f"start_axis {start_axis} is after stop_axis {stop_axis}")
    after = shape[last + 1 :]
    if -1 not in after:
        return _only(node, op.Reshape(x, [*[0] * first, -1, *after], special_zero=True))
    sizes = op.ShapeOf(x)
    tail = op.Slice(sizes, [last + 1], [rank], [1])
    return _only(node, op.Reshape(x, op.Concat(op.constant([*[0] * first, -1]), tail, axis=0), special_zero=True))


@paddle.lowers("flatten2", "flatten")
def flatten_to_matrix(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = 1) -> Replacement:
    """paddle.flatten2(x) {axis = 1} -> a matrix: the product of the sizes before the axis, and the product of the
    sizes from it on
    """
    shape = shape_of(x) or ()
    if axis == 0:
        return _only(node, op.Reshape(x, [1, -1], special_zero=False))
    if axis == 1:
        return _only(node, op.Reshape(x, [0, -1], special_zero=True))
    inner = shape[axis:]
    if -1 in inner or not shape:
        rows = op.ReduceProd(op.Slice(op.ShapeOf(x), [0], [axis], [1]), [0], keep_dims=True)
        return _only(node, op.Reshape(x, op.Concat(rows, op.constant([-1]), axis=0), special_zero=False))
    return _only(node, op.Reshape(x, [-1, int(np.prod(inner, dtype=np.int64))], special_zero=False))


@paddle.lowers("shape", complex=by_formula("paddle.complex.operations:shape", is_real=True))
@paddle.lowers("shape64", complex=by_formula("paddle.complex.operations:long_shape", is_real=True))
def shape(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.shape(x) -> opset3.ShapeOf(x) as i32; shape64: as i64"""
    return op.ShapeOf(x, output_type=si32 if node.op.KIND == "shape" else si64)


@paddle.lowers("expand_v2", complex=by_parts())
def expand(node: LoweringNode, op: OpBuilder, x: SSAValue, shape: SSAValue) -> SSAValue:
    """paddle.expand_v2(x, shape) -> opset3.Broadcast(x, shape); -1 keeps a size"""
    target = vector_of(op, shape)
    known = node.known.integers(target)
    if known is None or -1 in known:
        # A size of 1 broadcasts to any, and in the bidirectional mode to that of x.
        target = op.constant([max(each, 1) for each in known]) if known is not None else op.Maximum(target, 1)
        return op.Broadcast(x, target, mode="bidirectional")
    return op.Broadcast(x, target, mode="bidirectional") if 0 in known and rank_of(x) is None else op.Broadcast(x, target)


@paddle.lowers("expand_as_v2")
def expand_as(op: OpBuilder, x: SSAValue, y: SSAValue | None = None, *, target_shape: tuple[int, ...] = ()) -> SSAValue:
    """paddle.expand_as_v2(x, y) -> opset3.Broadcast(x, opset3.ShapeOf(y))"""
    return op.Broadcast(x, op.ShapeOf(y) if y is not None else list(target_shape))


@paddle.lowers("broadcast_tensors", complex=by_parts(accepts=all_complex))
def broadcast_tensors(op: OpBuilder, *values: SSAValue) -> Replacement:
    """paddle.broadcast_tensors(values…) -> each one in the shape of all"""
    results: list[SSAValue | None] = []
    for index, value in enumerate(values):
        for other in (*values[:index], *values[index + 1 :]):
            value = op.Broadcast(value, op.ShapeOf(other), mode="bidirectional")
        results.append(value)
    return results
