"""Lists of tensors. A list of n tensors of one shape is lowered to one tensor [n, …].

A new list whose elements have an unknown shape is not lowered until its first element or a loop determines the shape;
then it is erased with its last use. A list that remains is reported as not lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import dynamic, si32, si64, string, to_numpy
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.opset.scattering import ScatterUpdate
from moir.dialects.shapes import UNKNOWN, is_static, rank_of, shape_of
from moir.dialects.symbols import Symbol
from moir.expansions.shape_values import as_list, as_scalar, dimension, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

HINT = "OpenVINO has tensors only: give the elements of the TensorArray a known shape (element_shape=…)"

NEW_LISTS = ("TensorListReserve", "EmptyTensorList")

LARGEST_LIST = 2**20
"""Largest number of elements for which a new list of zeros becomes a constant."""


def new_list(op: OpBuilder, kind: str, operands: Sequence[SSAValue]) -> SSAValue:
    """The operation for a new list that is not lowered to a tensor yet."""
    created = operation_class("tf", kind).create(operands=operands, result_types=[UNKNOWN])
    op.insert(created)
    return created.results[0]


def unmade_list(value: SSAValue) -> FrameworkOp | None:
    """The operation that creates a list that is not lowered to a tensor yet; None for any other value."""
    owner = value.owner
    return owner if isinstance(owner, FrameworkOp) and owner.KIND in NEW_LISTS else None


def release(node: LoweringNode, index: int) -> None:
    """Record that one use of the list is lowered; the list is erased with its last use."""
    if (owner := unmade_list(node.operand(index))) is not None:
        node.run.release(owner)


def length_of(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The length of a list, as an i64 tensor with one entry."""
    owner = unmade_list(value)
    if owner is None:
        return dimension_list(op, value, 0)
    if owner.KIND == "EmptyTensorList":
        return op.constant([0])
    return as_list(op, op.convert(owner.operands[0], si64))


def zeros(op: OpBuilder, length: SSAValue, like: SSAValue, *, element: bool) -> SSAValue:
    """A list of zeros in the shape of `like`, which is an element of the list if `element` is true, else another
    list.
    """
    shape = shape_of(like)
    known = op.known.integers(length)
    inner = shape if element or shape is None else shape[1:]
    if known is not None and inner is not None and -1 not in inner and known[0] * prod(inner) <= LARGEST_LIST:
        return op.filled_like((known[0], *inner), 0.0, like)
    dimensions = op.ShapeOf(like)
    if not element:
        dimensions = op.Slice(dimensions, [1], [np.iinfo(np.int64).max], [1])
    return op.Broadcast(op.constant_like(0, like), op.Concat(length, dimensions, axis=0))


def filled(op: OpBuilder, length: SSAValue, shape: Sequence[int], element: Attribute) -> SSAValue:
    """A list of zeros whose elements have a known shape."""
    known = op.known.integers(length)
    count = None if known is None else max(known[0], 0)
    zero = np.zeros((), to_numpy(element))
    if count is not None and count * prod(shape) <= LARGEST_LIST:
        return op.filled((count, *shape), zero, element)
    return op.Broadcast(op.constant(zero, element), op.Concat(length, list(shape), axis=0))


def made_list(node: LoweringNode, index: int) -> SSAValue:
    """A list operand as a tensor. Raises ConversionError if the list is not lowered to a tensor yet."""
    value = node.operand(index)
    if unmade_list(value) is not None:
        node.fail("the shape of the elements of a list is not known", HINT)
    return value


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
        return new_list(op, "TensorListReserve", [count])
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
    dimensions = shape_of(input_handle)
    if num_elements >= 0 and dimensions and dimensions[0] not in (-1, num_elements):
        node.fail(f"it should stack {num_elements} elements, and the list has {dimensions[0]}")
    return input_handle


@tf.lowers("TensorListGetItem")
def get_item(node: LoweringNode, op: OpBuilder, _input_handle: SSAValue, index: SSAValue) -> SSAValue:
    """tf.TensorListGetItem(list, i, shape) -> opset8.Gather(list, i, 0)"""
    return op.Gather(made_list(node, 0), as_scalar(op, index), 0)


@tf.lowers("TensorListGather")
def gather(node: LoweringNode, op: OpBuilder, _input_handle: SSAValue, indices_: SSAValue) -> SSAValue:
    """tf.TensorListGather(list, indices, shape)
    -> opset8.Gather(list, indices, 0); the list itself if the indices are 0, 1, … and select all elements
    """
    value = made_list(node, 0)
    shape, indices = shape_of(value), op.known.integers(indices_)
    if shape and indices is not None and indices == tuple(range(shape[0])):
        return value
    return op.Gather(value, indices_, 0)


@tf.lowers("TensorListSetItem")
def set_item(
    node: LoweringNode,
    op: OpBuilder,
    input_handle: SSAValue,
    index: SSAValue,
    item: SSAValue,
    *,
    resize_if_index_out_of_bounds: bool = False,
) -> SSAValue:
    """tf.TensorListSetItem(list, i, x) -> opset3.ScatterUpdate(list, [i], [x], 0)

    With resize_if_index_out_of_bounds a list of length i is extended by one element: opset1.Concat(list, [x]).
    """
    value = op.Unsqueeze(item, 0)
    target = input_handle
    if unmade_list(target) is not None:
        length = length_of(op, target)
        if op.known.integers(length) == (1,):
            release(node, 0)
            return value
        target = zeros(op, length, item, element=True)
        release(node, 0)
    if resize_if_index_out_of_bounds and (known := node.known.integers(index)) is not None:
        length = dimension(op, target, 0)
        if isinstance(length, int) and length <= known[0]:
            missing = known[0] - length
            between = [zeros(op, op.constant([missing]), target, element=False)] if missing else []
            return op.Concat(target, *between, value, axis=0)
    elif resize_if_index_out_of_bounds:
        node.fail("the list may grow with an index that is not known", hint="give the TensorArray its size (dynamic_size=False)")
    return op.ScatterUpdate(target, as_list(op, index), value, 0)


@tf.lowers("TensorListSetRange")
def set_range(node: LoweringNode, op: OpBuilder, target: SSAValue, values: SSAValue, *, start: int = 0, complete: bool = False) -> SSAValue:
    """tf.TensorListSetRange(list, x) {start, complete} -> opset1.Concat(list before start, x, list after x)

    x replaces the elements from `start` on. `complete` states that x extends to the end of the list; otherwise x may be
    shorter.
    """
    length = length_of(op, target)
    fits = complete or _is_rest(node, length, values, start)
    unmade = unmade_list(target) is not None
    if fits and start == 0:
        release(node, 0)
        return values
    before: list[SSAValue] = []
    if start:
        first = op.constant([start])
        before = [
            _front(op, target, start) or (zeros(op, first, values, element=False) if unmade else op.Slice(target, [0], first, [1], [0]))
        ]
    after: list[SSAValue] = []
    if not fits:
        done = dimension_list(op, values, 0)
        done = op.Add(done, start) if start else done
        if unmade:
            after = [zeros(op, op.Subtract(length, done), values, element=False)]
        else:
            after = [op.Slice(target, done, [np.iinfo(np.int64).max], [1], [0])]
    if unmade:
        release(node, 0)
    return op.Concat(*before, values, *after, axis=0)


def _front(op: OpBuilder, target: SSAValue, start: int) -> SSAValue | None:
    """The elements of a list before `start`, if no others were written to a list of zeros; else None."""
    owner = target.owner
    if start != 1 or not isinstance(owner, ScatterUpdate) or op.known.integers(owner.operands[1]) != (0,):
        return None
    return owner.operands[2]


def _is_rest(node: LoweringNode, length: SSAValue, values: SSAValue, start: int) -> bool:
    """Whether the number of values is known to equal the number of list elements from `start` on."""
    shape = shape_of(values)
    known = node.known.elements(length)
    if not shape or known is None:
        return False
    entry = known.reshape(-1)[0]
    if isinstance(entry, Symbol):
        return start == 0 and node.known.dimension(values, 0) is entry
    return shape[0] == int(entry) - start


@tf.lowers("TensorListScatterIntoExistingList")
def scatter_into(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, tensor: SSAValue, indices: SSAValue) -> SSAValue:
    """tf.TensorListScatterIntoExistingList(list, x, indices) -> opset3.ScatterUpdate(list, indices, x, 0)"""
    target = input_handle
    if unmade_list(target) is not None:
        length = length_of(op, target)
        release(node, 0)
        target = zeros(op, length, tensor, element=False)
    return op.ScatterUpdate(target, indices, tensor, 0)


@tf.lowers("TensorListScatter", "TensorListScatterV2")
def scatter(op: OpBuilder, tensor: SSAValue, indices: SSAValue, _element_shape: SSAValue, num_elements: SSAValue | None = None) -> SSAValue:
    """tf.TensorListScatterV2(x, indices, shape, n)
    -> opset3.ScatterUpdate(zeros [n, …], indices, x, 0); x if the indices are 0, 1, …
    """
    shape, known = shape_of(tensor), op.known.integers(indices)
    given = op.known.integers(num_elements) if num_elements is not None else (-1,)
    if known is not None and known == tuple(range(len(known))) and given is not None and given[0] in (-1, len(known)) and shape:
        return tensor
    if num_elements is not None and (given is None or given[0] >= 0):
        count = as_list(op, op.convert(num_elements, si64))
    else:
        count = as_list(op, op.Add(op.ReduceMax(op.convert(indices, si64), [0], keep_dims=False), 1))
    return op.ScatterUpdate(zeros(op, count, tensor, element=False), indices, tensor, 0)


@tf.lowers("TensorListLength")
def length(node: LoweringNode, op: OpBuilder, input_handle: SSAValue) -> SSAValue:
    """tf.TensorListLength(list) -> the first dimension, as i32"""
    value = op.convert(as_scalar(op, length_of(op, input_handle)), si32)
    release(node, 0)
    return value


@tf.lowers("TensorListPushBack")
def push_back(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, tensor: SSAValue) -> SSAValue:
    """tf.TensorListPushBack(list, x) -> opset1.Concat(list, [x])"""
    value = op.Unsqueeze(tensor, 0)
    owner = unmade_list(input_handle)
    if owner is None:
        return op.Concat(input_handle, value, axis=0)
    if owner.KIND == "EmptyTensorList":
        release(node, 0)
        return value
    existing = zeros(op, length_of(op, input_handle), tensor, element=True)
    release(node, 0)
    return op.Concat(existing, value, axis=0)


@tf.lowers("TensorListPopBack")
def pop_back(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.TensorListPopBack(list, shape) -> opset8.Slice(list, 0, -1), opset8.Gather(list, -1, 0)"""
    value = made_list(node, 0)
    return [op.Slice(value, [0], [-1], [1], [0]), op.Gather(value, -1, 0)]


@tf.lowers("TensorListConcatLists")
def concat_lists(node: LoweringNode, op: OpBuilder, input_a: SSAValue, input_b: SSAValue) -> SSAValue:
    """tf.TensorListConcatLists(input_a, input_b) -> opset1.Concat(input_a, input_b)"""
    for index, (owner, other) in enumerate(((unmade_list(input_a), input_b), (unmade_list(input_b), input_a))):
        if owner is not None and owner.KIND == "EmptyTensorList":
            release(node, index)
            return other
    return op.Concat(made_list(node, 0), made_list(node, 1), axis=0)


@tf.lowers("TensorListConcat", "TensorListConcatV2")
def concat(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.TensorListConcatV2(list, shape, leading) -> opset1.Reshape(list [n, m, …], [n · m, …])"""
    value = made_list(node, 0)
    shape = shape_of(value)
    if shape is None or len(shape) < 2:
        node.fail("the rank of the elements of a list is not known", HINT)
    if all(size >= 0 for size in shape[2:]):
        joined = op.Reshape(value, [-1, *shape[2:]], special_zero=False)
    else:
        joined = op.Reshape(value, op.Concat([-1], op.Slice(op.ShapeOf(value), [2], [len(shape)], [1]), axis=0), special_zero=False)
    if not node.is_used(1):
        return [joined, None][: node.result_count]
    return [joined, op.Broadcast(op.Gather(op.ShapeOf(value), 1, 0), dimension_list(op, value, 0))]


@tf.lowers("TensorListSplit")
def split(node: LoweringNode, op: OpBuilder, tensor: SSAValue, _element_shape: SSAValue, lengths_: SSAValue) -> SSAValue:
    """tf.TensorListSplit(x [n · m, …], shape, lengths) -> opset1.Reshape(x, [n, m, …]) for equal lengths m"""
    lengths, shape = op.known.integers(lengths_), shape_of(tensor)
    if lengths is None or len(set(lengths)) != 1 or shape is None:
        node.fail("it splits a tensor into elements of different or unknown length")
    rest = op.Slice(op.ShapeOf(tensor), [1], [len(shape)], [1]) if -1 in shape[1:] else op.constant(np.array(shape[1:], np.int64))
    return op.Reshape(tensor, op.Concat([len(lengths), lengths[0]], rest, axis=0), special_zero=False)


@tf.lowers("TensorListResize")
def resize(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, size_: SSAValue) -> SSAValue:
    """tf.TensorListResize(list, n) -> opset8.Slice(list, 0, n), padded with zeros if the list is shorter"""
    target = input_handle
    if unmade_list(target) is not None:
        count = op.convert(size_, si64)
        release(node, 0)
        return new_list(op, "TensorListReserve", [count])
    known, present = op.known.integers(size_), dimension(op, target, 0)
    if known is not None and isinstance(present, int):
        missing, size = op.constant([max(known[0] - present, 0)]), op.constant([known[0]])
    else:
        size = op.Reshape(op.convert(size_, si64), [1], special_zero=False)
        missing = op.Maximum(op.Subtract(size, present), 0)
    if op.known.integers(missing) != (0,):
        target = op.Concat(target, zeros(op, missing, target, element=False), axis=0)
    return op.Slice(target, [0], size, [1], [0])


@tf.lowers("TensorListElementShape")
def element_shape(node: LoweringNode, op: OpBuilder, *, shape_type: Attribute = si32) -> SSAValue:
    """tf.TensorListElementShape(list) -> all dimensions but the first

    TensorFlow returns the shape declared when the list was created, in which sizes may be unknown (-1).
    """
    value = made_list(node, 0)
    shape = shape_of(value)
    if shape is not None and is_static(shape[1:]):
        return op.constant(list(shape[1:]), shape_type)
    return op.Slice(op.ShapeOf(value, output_type=shape_type), [1], [np.iinfo(np.int32).max], [1], [0])
