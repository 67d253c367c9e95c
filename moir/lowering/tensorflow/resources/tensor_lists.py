"""Lists of tensors: their creation, and what reads their elements, length or shape.

%l = tf.TensorListReserve(%shape, %n)                  ->  %l = zeros [%n, …]
%x = tf.TensorListGetItem(%l, %i, %shape)                  %x = opset8.Gather(%l, %i, 0)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import dynamic, si32, si64, string
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.expansions.loops import pieces
from moir.expansions.loops.pieces import Pieces
from moir.expansions.shape_values import as_list, as_scalar, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.resources.list_values import (
    HINT,
    PIECES,
    filled,
    length_of,
    made_list,
    new_list,
    new_pieces,
    pieces_of,
    release,
    unmade_list,
)
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("TensorListReserve")
def reserve(
    node: LoweringNode, op: OpBuilder, element_shape: SSAValue, num_elements: SSAValue, *, element_dtype: Attribute = dynamic
) -> Replacement:
    """tf.TensorListReserve(shape, n) -> zeros [n, shape…] if the shape is known"""
    if not node.is_used(0):
        return []
    shape = op.known.integers(element_shape)
    count = op.convert(num_elements, si64)
    if shape is None or rank_of(element_shape) == 0 or -1 in shape or element_dtype in (dynamic, string):
        known = node.has("read_shape") and element_dtype not in (dynamic, string)
        properties = {"read_shape": node.op.properties["read_shape"], "element_dtype": element_dtype} if known else {}
        return new_list(op, "TensorListReserve", [count], properties)
    return filled(op, as_list(op, count), shape, element_dtype)


@tf.lowers("EmptyTensorList")
def empty(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.EmptyTensorList(shape, limit) stays until an element is added."""
    return new_list(op, "EmptyTensorList", []) if node.is_used(0) else []


@tf.lowers("TensorListFromTensor")
def from_tensor(tensor: SSAValue) -> SSAValue:
    """tf.TensorListFromTensor(x, shape) -> x"""
    return tensor


@tf.lowers("TensorListStack")
def stack(
    node: LoweringNode, op: OpBuilder, input_handle: SSAValue, element_shape: SSAValue, *, num_elements: int = -1, element_dtype: Attribute
) -> SSAValue:
    """tf.TensorListStack(list, shape) -> list"""
    shape = op.known.integers(element_shape)
    owner = unmade_list(input_handle)
    if owner is not None:
        if shape is None or rank_of(element_shape) == 0 or -1 in shape:
            node.fail("the shape of the elements of a list is not known", HINT)
        length = length_of(op, input_handle)
        element = element_dtype
        release(node, 0)
        return filled(op, length, shape, element)
    input_handle = made_list(node, op, 0)
    dimensions = shape_of(input_handle)
    if num_elements >= 0 and dimensions and dimensions[0] not in (-1, num_elements):
        node.fail(f"it should stack {num_elements} elements, and the list has {dimensions[0]}")
    return input_handle


@tf.lowers("TensorListGetItem")
def get_item(node: LoweringNode, op: OpBuilder, _input_handle: SSAValue, index: SSAValue) -> SSAValue:
    """tf.TensorListGetItem(list, i, shape) -> opset8.Gather(list, i, 0)"""
    if (list_pieces := pieces_of(node.operand(0))) is not None:
        release(node, 0)
        return pieces.piece(op, list_pieces, index)
    return op.Gather(made_list(node, op, 0), as_scalar(op, index), 0)


@tf.lowers("TensorListGather")
def gather(node: LoweringNode, op: OpBuilder, _input_handle: SSAValue, indices_: SSAValue) -> SSAValue:
    """tf.TensorListGather(list, indices, shape)
    -> opset8.Gather(list, indices, 0); the list itself if the indices are 0, 1, … and select all elements
    """
    value = made_list(node, op, 0)
    shape, indices = shape_of(value), op.known.integers(indices_)
    if shape and indices is not None and indices == tuple(range(shape[0])):
        return value
    return op.Gather(value, indices_, 0)


@tf.lowers("TensorListLength")
def length(node: LoweringNode, op: OpBuilder, input_handle: SSAValue) -> SSAValue:
    """tf.TensorListLength(list) -> the first dimension, as i32"""
    value = op.convert(as_scalar(op, length_of(op, input_handle)), si32)
    release(node, 0)
    return value


@tf.lowers("TensorListPopBack")
def pop_back(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.TensorListPopBack(list, shape) -> opset8.Slice(list, 0, -1), opset8.Gather(list, -1, 0)"""
    value = made_list(node, op, 0)
    return [op.Slice(value, [0], [-1], [1], [0]), op.Gather(value, -1, 0)]


@tf.lowers("TensorListConcat", "TensorListConcatV2")
def concat(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.TensorListConcatV2(list, shape, leading) -> opset1.Reshape(list [n, m, …], [n · m, …])

    The second result has the first dimension of each element. Raises ConversionError if the rank of the elements is
    dynamic or 0.
    """
    if (list_pieces := pieces_of(node.operand(0))) is not None:
        release(node, 0)
        return [
            _with_declared(op, list_pieces.data, node.constant_integers(1)),
            pieces.lengths(op, list_pieces) if node.is_used(1) else None,
        ][: node.result_count]
    value = made_list(node, op, 0)
    shape, declared = shape_of(value), node.constant_integers(1)
    if shape is None and declared is not None and len(declared) > 0 and -1 not in declared[1:]:
        shape = (-1, *declared)
    if shape is None or len(shape) < 2:
        node.fail("the rank of the elements of a list is not known", HINT)
    if all(size >= 0 for size in shape[2:]):
        joined = op.Reshape(value, [-1, *shape[2:]], special_zero=False)
    else:
        joined = op.Reshape(value, op.Concat([-1], op.Slice(op.ShapeOf(value), [2], [len(shape)], [1]), axis=0), special_zero=False)
    if not node.is_used(1):
        return [joined, None][: node.result_count]
    return [joined, op.Broadcast(op.Gather(op.ShapeOf(value), 1, 0), dimension_list(op, value, 0))]


def _with_declared(op: OpBuilder, joined: SSAValue, declared: Sequence[int] | None) -> SSAValue:
    """A concatenation of elements, reshaped to their declared sizes if its own are dynamic; else the concatenation
    itself.

    An empty concatenation does not have the sizes of the elements.
    """
    own = shape_of(joined)
    if own is None or declared is None or len(declared) != len(own) or -1 in declared[1:] or is_static(own[1:]):
        return joined
    return op.Reshape(joined, [-1, *declared[1:]], special_zero=False)


@tf.lowers(PIECES)
def pieces_(_node: LoweringNode) -> Replacement | None:
    """tf.TensorListPieces(x, sizes) stays until its uses are lowered: returns None."""
    return None


@tf.lowers("TensorListSplit")
def split(node: LoweringNode, op: OpBuilder, tensor: SSAValue, _element_shape: SSAValue, lengths_: SSAValue) -> SSAValue:
    """tf.TensorListSplit(x [n · m, …], shape, lengths) -> opset1.Reshape(x, [n, m, …]) for equal lengths m

    For other lengths: the tensor and the sizes of its parts.
    """
    lengths, shape = op.known.integers(lengths_), shape_of(tensor)
    if shape is None:
        node.fail("the rank of operand 0 is dynamic", hint="give the model's inputs a static rank")
    if lengths is None or len(set(lengths)) != 1:
        first = op.Unsqueeze(op.convert(lengths_, si64), 1)
        others = op.Slice(op.ShapeOf(tensor), [1], [len(shape)], [1], [0])
        target = op.Concat(dimension_list(op, lengths_, 0), [len(shape) - 1], axis=0)
        sizes = op.Concat(first, op.Broadcast(others, target), axis=1) if len(shape) > 1 else first
        return new_pieces(op, Pieces(tensor, sizes, 0))
    rest = op.Slice(op.ShapeOf(tensor), [1], [len(shape)], [1]) if -1 in shape[1:] else op.constant(np.array(shape[1:], np.int64))
    return op.Reshape(tensor, op.Concat([len(lengths), lengths[0]], rest, axis=0), special_zero=False)


@tf.lowers("TensorListElementShape")
def element_shape(node: LoweringNode, op: OpBuilder, *, shape_type: Attribute = si32) -> SSAValue:
    """tf.TensorListElementShape(list) -> all dimensions but the first

    TensorFlow returns the shape declared when the list was created, which may have dynamic dimensions (-1).
    """
    value = made_list(node, op, 0)
    shape = shape_of(value)
    if shape is not None and is_static(shape[1:]):
        return op.constant(list(shape[1:]), shape_type)
    return op.Slice(op.ShapeOf(value, output_type=shape_type), [1], [np.iinfo(np.int32).max], [1], [0])
