"""Operations that change or ask for the shape of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, normalize_axis
from moir.passes.building import OpBuilder, Operand
from moir.passes.lower_onnx.shape_values import shape_list
from moir.passes.lower_onnx.table import onnx
from moir.passes.lowering import Node


@onnx.lowers("Identity")
def identity(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Identity(x) -> x"""
    return node.operand(0)


@onnx.lowers("Reshape")
def reshape_attribute(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Reshape(x) {shape} -> opset1.Reshape(x, shape) {special_zero = true}"""
    return op.Reshape(node.operand(0), node.integers("shape"), special_zero=True)


@onnx.lowers("Reshape", since=5)
def reshape(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Reshape(x, shape) {allowzero = 0} -> opset1.Reshape(x, shape) {special_zero = true}; x if that is its shape"""
    target = node.constant_integers(1)
    if target is not None and target == node.shape(0):
        return node.operand(0)
    return op.Reshape(node.operand(0), node.operand(1), special_zero=not node.flag("allowzero"))


@onnx.lowers("Squeeze")
def squeeze_attribute(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Squeeze(x) {axes} -> opset15.Squeeze(x, axes)"""
    return op.Squeeze(node.operand(0), node.integers("axes") if node.has("axes") else None)


@onnx.lowers("Squeeze", since=13)
def squeeze(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Squeeze(x, axes) -> opset15.Squeeze(x, axes); x if there are no axes in the list"""
    return node.operand(0) if node.constant_integers(1) == () else op.Squeeze(node.operand(0), node.optional(1))


@onnx.lowers("Unsqueeze")
def unsqueeze_attribute(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Unsqueeze(x) {axes} -> opset1.Unsqueeze(x, axes)"""
    return unsqueezed(node, op, node.integers("axes"))


@onnx.lowers("Unsqueeze", since=13)
def unsqueeze(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Unsqueeze(x, axes) -> opset1.Unsqueeze(x, axes); x if there are no axes in the list"""
    return unsqueezed(node, op, node.operand(1))


def unsqueezed(node: Node, op: OpBuilder, axes: Operand) -> SSAValue:
    """Operand 0 with dimensions of size 1 inserted."""
    known = node.known.integers(axes) if isinstance(axes, SSAValue) else axes
    return node.operand(0) if known == () else op.Unsqueeze(node.operand(0), axes)


@onnx.lowers("Flatten")
def flatten(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Flatten(x) {axis = 1} -> opset1.Reshape(x, [0, -1]) {special_zero = true}"""
    data, shape, axis = node.operand(0), node.shape(0), node.integer("axis", 1)
    if shape is None:
        lead = op.ReduceProd(op.Slice(op.ShapeOf(data), [0], [axis], [1], [0]), [0], keep_dims=True)
        # An axis of the whole rank takes all dimensions, one of 0 none: their product is 1.
        return op.Reshape(data, shape_list(op, [lead, -1]), special_zero=False)
    axis = axis if axis == len(shape) else normalize_axis(axis, len(shape))
    return op.Reshape(data, flattened(op, data, shape, axis), special_zero=True)


def flattened(op: OpBuilder, data: SSAValue, shape: Sequence[int], axis: int) -> Operand:
    """The target shape, with 0 for a dimension that stays and -1 for the side whose size is not known."""
    lead, tail = element_count(tuple(shape[:axis])), element_count(tuple(shape[axis:]))
    if axis == 1:
        return [0, -1] if tail != 0 else [0, 0]
    if lead is not None:
        return [lead, -1 if tail is None or lead else tail]
    if tail is not None:
        return (
            [-1, tail]
            if tail
            else op.Concat(op.ReduceProd(op.Slice(op.ShapeOf(data), [0], [axis], [1], [0]), [0], keep_dims=True), [0], axis=0)
        )
    count = op.ReduceProd(op.Slice(op.ShapeOf(data), [0], [axis], [1], [0]), [0], keep_dims=True)
    return op.Concat(count, [-1], axis=0)


@onnx.lowers("Shape")
def shape(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Shape(x) {start, end} -> opset3.ShapeOf(x), and opset8.Slice for a part of it"""
    dimensions, start = op.ShapeOf(node.operand(0)), node.integer("start", 0)
    if start == 0 and not node.has("end"):
        return dimensions
    return op.Slice(dimensions, [start], [node.integer("end", 2**31 - 1)], [1], [0])


@onnx.lowers("Size")
def size(node: Node, op: OpBuilder) -> SSAValue:
    """onnx.Size(x) -> opset1.ReduceProd(opset3.ShapeOf(x), 0)"""
    if node.shape(0) == ():
        return op.constant(1, si64)
    return op.ReduceProd(op.ShapeOf(node.operand(0)), [0], keep_dims=False)
