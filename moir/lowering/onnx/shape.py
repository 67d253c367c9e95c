"""Operations that change or return the shape of a tensor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, is_static, normalize_axis, shape_of
from moir.expansions.shape_values import without_computed_axes, without_ones
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.ranks import with_axes
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result, fixed
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("Identity", "MemcpyFromHost", "MemcpyToHost", "com.microsoft.SampleOp", rank=as_result)
def identity(input: SSAValue) -> SSAValue:
    """onnx.Identity(x) -> x; likewise MemcpyFromHost, MemcpyToHost and com.microsoft.SampleOp"""
    return input


@onnx.lowers("Reshape", rank=fixed(None, 1))
def reshape_attribute(op: OpBuilder, data: SSAValue, *, shape: tuple[int, ...]) -> SSAValue:
    """onnx.Reshape(x) {shape} -> opset1.Reshape(x, shape) {special_zero = true}"""
    return op.Reshape(data, shape, special_zero=True)


@onnx.lowers("Reshape", since=5)
def reshape(node: LoweringNode, op: OpBuilder, data_: SSAValue, shape: SSAValue, *, allowzero: bool = False) -> Replacement:
    """onnx.Reshape(x, shape) {allowzero = 0}
    -> opset1.Reshape(x, shape) {special_zero = true}; x if it already has this shape
    """
    known = op.known.lasting_integers(shape)
    if known is not None and known == shape_of(data_):
        return data_
    return op.Reshape(data_, of_length(op, shape, declared_rank(node)), special_zero=not allowzero)


@onnx.lowers("Squeeze", rank=with_axes(1))
def squeeze_attribute(node: LoweringNode, op: OpBuilder, data: SSAValue, *, axes: tuple[int, ...] = ()) -> SSAValue:
    """onnx.Squeeze(x) {axes} -> opset15.Squeeze(x, axes)"""
    if axes:
        return op.Squeeze(data, axes)
    if node.has("axes") and not is_static(shape_of(data) or (-1,)):
        # A declared rank does not help: the empty list may mean that no dimension is removed, or each of size 1.
        node.fail("its list of axes is empty", hint="leave the axes out, or replace the node by Identity")
    return without_units(node, op)


def without_units(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Operand 0 without its dimensions of 1.

    Raises ConversionError if the rank of the result is neither known, nor declared, nor implied by its users.
    """
    data, shape = node.operand(0), node.shape(0)
    if shape is not None and is_static(shape):
        return op.Squeeze(data)
    # The rules about the ranks that operands need are loaded for the few models that need them.
    from moir.lowering.ranks import rank_by_use

    rank = rank_by_use(node.op.results[0], onnx.rank)
    if rank is None:
        node.fail(
            "which dimensions are 1 is unknown, and so the rank of the result", hint="give the inputs static shapes, or the node axes"
        )
    return without_ones(op, data, rank)


@onnx.lowers("Squeeze", since=13)
def squeeze(node: LoweringNode, op: OpBuilder, data: SSAValue, axes: SSAValue | None = None) -> SSAValue:
    """onnx.Squeeze(x, axes) -> opset15.Squeeze(x, axes); x if the list of axes is empty"""
    if axes is None or node.constant_integers(1) == ():
        return data if axes is not None else without_units(node, op)
    rank, result = node.rank(0), declared_rank(node)
    axes = axes if rank is None or result is None else of_length(op, axes, rank - result)
    count = element_count(shape_of(axes))
    if rank is None or count is None or node.constant(1) is not None:
        return op.Squeeze(data, axes)
    return without_computed_axes(op, data, axes, rank, count)


@onnx.lowers("Unsqueeze", rank=with_axes(-1))
def unsqueeze_attribute(node: LoweringNode, op: OpBuilder, *, axes: tuple[int, ...]) -> SSAValue:
    """onnx.Unsqueeze(x) {axes} -> opset1.Unsqueeze(x, axes)"""
    return unsqueezed(node, op, axes)


@onnx.lowers("Unsqueeze", since=13)
def unsqueeze(node: LoweringNode, op: OpBuilder, _data: SSAValue, axes: SSAValue) -> SSAValue:
    """onnx.Unsqueeze(x, axes) -> opset1.Unsqueeze(x, axes); x if the list of axes is empty"""
    return unsqueezed(node, op, axes)


def unsqueezed(node: LoweringNode, op: OpBuilder, axes: Operand) -> SSAValue:
    """Operand 0 with dimensions of size 1 inserted at axes of the result."""
    data, rank = node.operand(0), node.rank(0)
    if not isinstance(axes, SSAValue):
        return op.Unsqueeze(data, axes) if axes else data
    known, result = node.known.integers(axes), declared_rank(node)
    if rank is not None and result is not None:
        axes = of_length(op, axes, result - rank)
    count = element_count(shape_of(axes))
    if known is not None or count is None or rank is None:
        return op.Unsqueeze(data, axes) if known != () else data
    # The rank of an Unsqueeze is inferred from constant axes only. A Reshape has a static rank: its target consists of
    # the dimensions of the data, with 1 at the axes.
    rank += count
    positions = op.FloorMod(op.convert(axes, si64), rank)
    stays = op.ScatterUpdate([1] * rank, positions, [0] * count, 0)
    dimensions = op.Concat([1], op.ShapeOf(data), axis=0)
    sources = op.Multiply(op.CumSum(stays, 0), stays)
    return op.Reshape(data, op.Gather(dimensions, sources, 0), special_zero=False)


@onnx.lowers("Flatten")
def flatten(op: OpBuilder, input: SSAValue, *, axis: int = 1) -> SSAValue:
    """onnx.Flatten(x) {axis = 1} -> opset1.Reshape(x, [0, -1]) {special_zero = true}"""
    shape = shape_of(input)
    if shape is not None:
        axis = axis if axis == len(shape) else normalize_axis(axis, len(shape))
    if axis == 1 and (shape is None or element_count(shape[1:]) != 0):
        return op.Reshape(input, [0, -1], special_zero=True)
    return op.Reshape(input, flattened(op, input, axis), special_zero=False)


def flattened(op: OpBuilder, data: SSAValue, axis: int) -> Operand:
    """The target shape that merges the dimensions before an axis, and the others; -1 for a size to be inferred."""
    shape = shape_of(data)
    if shape is not None and 0 in shape and is_static(shape):
        # Nothing has to be computed, and -1 would stand for any size.
        return [element_count(shape[:axis]) or 0, element_count(shape[axis:]) or 0]
    if axis == 0 and shape is not None and 0 not in shape:
        return [1, -1]
    if shape is not None and axis == len(shape) and 0 not in shape:
        return [-1, 1]
    # The product of an empty list is 1, so the axis may be the first one or the rank. Data that may have no elements
    # leave it open what -1 stands for.
    count = op.ReduceProd(op.Slice(op.ShapeOf(data), [0], [axis], [1], [0]), [0], keep_dims=True)
    if shape is not None and element_count(shape[:axis]) and element_count(shape[axis:]) != 0:
        return op.Concat(count, [-1], axis=0)
    rest = op.ReduceProd(op.Slice(op.ShapeOf(data), [axis], [2**31 - 1], [1], [0]), [0], keep_dims=True)
    return op.Concat(count, rest, axis=0)


@onnx.lowers("Shape")
def shape(node: LoweringNode, op: OpBuilder, *, start: int = 0) -> SSAValue:
    """onnx.Shape(x) {start, end} -> opset3.ShapeOf(x), and opset8.Slice for a part of it"""
    dimensions = op.ShapeOf(node.operand(0))
    if start == 0 and not node.has("end"):
        return dimensions
    return op.Slice(dimensions, [start], [node.integer("end", 2**31 - 1)], [1], [0])


@onnx.lowers("Size")
def size(op: OpBuilder, data: SSAValue) -> SSAValue:
    """onnx.Size(x) -> opset1.ReduceProd(opset3.ShapeOf(x), 0)"""
    if shape_of(data) == ():
        return op.constant(1, si64)
    return op.ReduceProd(op.ShapeOf(data), [0], keep_dims=False)
