"""Arrays of tensors, which loops write: their tensors are stacked along a new first axis.

    %a = paddle.create_array() {shape = [2, 8]}          %a = opset1.Constant : tensor<0x2x8xf32>
    %b = paddle.write_to_array(%x, %i, %a)           ->  %b = opset1.Concat(%a up to %i, %x, %a after %i)
    %y = paddle.tensor_array_to_tensor(%b)               %y = %b, with the first axis moved to `axis`

All tensors of an array have one shape; a loop that writes tensors whose sizes may differ is refused.

Source: tensor_array_read_write_op.cc and tensor_array_to_tensor_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import f32, si64, to_numpy
from moir.dialects.shapes import format_shape, is_static, normalize_axis, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

HINT = "the operation sets have tensors only: write tensors of one shape, or concatenate them in the loop"


def _lengths(node: LoweringNode) -> dict[SSAValue, SSAValue]:
    """Value with the length of an array -> the array; a tensor that is written at this index is appended."""
    return node.run.state("lengths of arrays", dict[SSAValue, SSAValue])


@paddle.lowers("create_array")
def create_array(op: OpBuilder, *, shape: tuple[int, ...], dtype: Attribute = f32) -> SSAValue:
    """paddle.create_array() {shape, dtype} -> opset1.Constant without elements: [0, shape], with 1 for dynamic sizes"""
    return op.constant(np.zeros((0, *(1 if size < 0 else size for size in shape)), to_numpy(dtype)), dtype)


def _of_tensors_like(node: LoweringNode, op: OpBuilder, array: SSAValue, x: SSAValue) -> SSAValue:
    """An array whose tensors have the shape of x; if the array has no tensors yet, it takes over the sizes of x.

    A Reshape would not do: type inference would conclude from equal numbers of elements that dynamic sizes are equal.
    Raises ConversionError if the array certainly has tensors of another shape.
    """
    sizes, own = shape_of(x), shape_of(array)
    if sizes is not None and own is not None and is_static(sizes) and own[1:] == sizes:
        return array
    if sizes is not None and own is not None and own[0] > 0:
        if len(own) != len(sizes) + 1 or any(-1 not in pair and pair[0] != pair[1] for pair in zip(own[1:], sizes, strict=True)):
            node.fail(f"it writes a tensor of shape {format_shape(sizes)} to an array of tensors of shape {format_shape(own[1:])}", HINT)
        # A concatenation fails for sizes that turn out to differ.
        return array
    count = op.Slice(op.ShapeOf(array), [0], [1], [1])
    return op.Broadcast(array, op.Concat(count, op.ShapeOf(x), axis=0))


def is_written_array(value: SSAValue) -> bool:
    """Whether a value, before it is lowered, is an array to which a tensor was written."""
    return isinstance(value.owner, Operation) and value.owner.name == "paddle.write_to_array"


@paddle.lowers("write_to_array")
def write_to_array(node: LoweringNode, op: OpBuilder, x: SSAValue, index: SSAValue, array: SSAValue) -> SSAValue:
    """paddle.write_to_array(x, index, array) -> opset1.Concat of the tensors before the index, x, and those after it"""
    written = op.Unsqueeze(x, [0])
    is_appended = _lengths(node).get(index) is array
    array = _of_tensors_like(node, op, array, x)
    if is_appended:
        return op.Concat(array, written, axis=0)
    first = op.Reshape(op.convert(index, si64), [1], special_zero=False)
    before = op.Slice(array, [0], first, [1], [0])
    after = op.Slice(array, op.Add(first, 1), [2**31 - 1], [1], [0])
    return op.Concat(before, written, after, axis=0)


@paddle.lowers("read_from_array")
def read_from_array(op: OpBuilder, array: SSAValue, index: SSAValue) -> SSAValue:
    """paddle.read_from_array(array, index) -> opset8.Gather(array, index, 0)"""
    return op.Gather(array, op.Reshape(op.convert(index, si64), [], special_zero=False), 0)


@paddle.lowers("lod_array_length")
def array_length(node: LoweringNode, op: OpBuilder, array: SSAValue) -> SSAValue:
    """paddle.lod_array_length(array) -> the first size of opset3.ShapeOf(array)"""
    length = op.Gather(op.ShapeOf(array), [0], 0)
    _lengths(node)[length] = array
    return length


@paddle.lowers("tensor_array_to_tensor")
def array_to_tensor(node: LoweringNode, op: OpBuilder, array: SSAValue, *, axis: int = 0, use_stack: bool = False) -> Replacement:
    """paddle.tensor_array_to_tensor(array) {axis, use_stack} -> opset1.Transpose(array), and opset1.Reshape"""
    rank = node.known_rank(0)
    axis_ = normalize_axis(axis, rank if use_stack else rank - 1)
    moved = op.transposed(array, [*range(1, axis_ + 1), 0, *range(axis_ + 1, rank)])
    if not use_stack:
        sizes = op.ShapeOf(moved)
        before, after = op.Slice(sizes, [0], [axis_], [1]), op.Slice(sizes, [axis_ + 2], [rank], [1])
        moved = op.Reshape(moved, op.Concat(before, op.constant([-1]), after, axis=0), special_zero=False)
    return [moved, *[None] * (node.result_count - 1)]
