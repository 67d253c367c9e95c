"""Writes to lists of tensors, which may make a list longer.

    %m = tf.TensorListSetItem(%l, %i, %x) {resize_if_index_out_of_bounds = true}
->  %n = opset1.Maximum(length of %l, opset1.Add(%i, 1))
    %m = opset3.ScatterUpdate(opset1.Concat(%l, zeros [%n - length of %l, …]), [%i], [%x], 0)
->  %m = opset1.Concat(%l, [%x])                           if %i is the length of %l
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.scattering import ScatterUpdate
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.dialects.symbols import Symbol, same
from moir.expansions.loops import pieces
from moir.expansions.shape_values import as_list, dimension, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.resources.list_values import (
    as_pieces,
    length_of,
    made_list,
    may_differ,
    new_list,
    new_pieces,
    pieces_of,
    release,
    unmade_list,
    zeros,
)
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def _are_same(op: OpBuilder, a: SSAValue, b: SSAValue) -> bool:
    """Whether two tensors of one integer are certain to be equal."""
    first, second = op.known.elements(a), op.known.elements(b)
    return first is not None and second is not None and first.size == second.size == 1 and same(first.item(), second.item())


def _with_length(node: LoweringNode, op: OpBuilder, index: int, length: SSAValue, total: SSAValue, like: SSAValue) -> SSAValue:
    """A list operand of a node, padded with zeros to `total` elements.

    Args:
        node: the node.
        op: the builder.
        index: the index of the operand.
        length: the length of the list, at most `total`.
        total: the new length, a 1-D tensor of one element.
        like: a list of elements of the same shape.
    """
    target = node.operand(index) if unmade_list(node.operand(index)) is not None else made_list(node, op, index)
    if unmade_list(target) is not None:
        release(node, index)
        return zeros(op, total, like, element=False)
    missing = op.constant([0]) if _are_same(op, total, length) else op.Subtract(total, length)
    known = op.known.integers(missing)
    return target if known == (0,) else op.Concat(target, zeros(op, missing, target, element=False), axis=0)


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

    With resize_if_index_out_of_bounds a list of length i or less is extended by zeros first. If i is certainly not
    below the length: opset1.Concat(list, zeros, [x]).
    """
    length, position = length_of(op, input_handle), as_list(op, index)
    if pieces_of(input_handle) is not None or _differs(node, input_handle, item):
        return _with_piece(node, op, input_handle, op.convert(position, si64), item)
    value = op.Unsqueeze(item, 0)
    known_length, known_index = op.known.integers(length), op.known.integers(index)
    grows = resize_if_index_out_of_bounds and (known_length is None or known_index is None or known_index[0] >= known_length[0])
    if not grows and known_length == (1,) and unmade_list(input_handle) is not None:
        release(node, 0)
        return value
    if not grows:
        return op.ScatterUpdate(_with_length(node, op, 0, length, length, value), position, value, 0)
    position = op.convert(position, si64)
    if known_length == (0,) or (known_length and known_index) or _are_same(op, position, length):
        is_empty = unmade_list(input_handle) is not None and op.known.integers(position) == (0,)
        if is_empty:
            release(node, 0)
            return value
        return op.Concat(_with_length(node, op, 0, length, position, value), value, axis=0)
    total = op.Maximum(length, op.Add(position, 1))
    return op.ScatterUpdate(_with_length(node, op, 0, length, total, value), position, value, 0)


@tf.lowers("TensorListSetRange")
def set_range(
    node: LoweringNode,
    op: OpBuilder,
    target: SSAValue,
    values: SSAValue,
    *,
    start: int = 0,
    complete: bool = False,
    resize_if_index_out_of_bounds: bool = False,
) -> SSAValue:
    """tf.TensorListSetRange(list, x) {start, complete} -> opset1.Concat(list before start, x, list after x)

    x replaces the elements from `start` on. `complete` states that x extends to the end of the list; otherwise x may be
    shorter, and with resize_if_index_out_of_bounds longer.
    """
    if unmade_list(values) is not None:
        release(node, 1)
        return target
    if pieces_of(values) is not None or pieces_of(target) is not None:
        return _set_pieces(node, op, target, values, start, complete)
    length, unmade, grows = length_of(op, target), unmade_list(target) is not None, resize_if_index_out_of_bounds
    if not unmade:
        values = _as_elements_of(op, values, target)
    fits = complete or _reaches_end(op, length, values, start, grows)
    if fits and start == 0:
        release(node, 0)
        return values
    count = dimension_list(op, values, 0)
    before: list[SSAValue] = []
    if start:
        before = [
            _front(op, target, start) or (zeros(op, op.constant([start]), values, element=False) if unmade else _cut(op, target, 0, start))
        ]
        known = op.known.integers(length)
        if grows and (known is None or known[0] < start):
            before = _grown_front(op, target, length, start, values, count)
    after: list[SSAValue] = []
    if not fits:
        done = op.Add(count, start) if start else count
        if unmade:
            rest = op.Subtract(length, done)
            after = [zeros(op, op.Maximum(rest, 0) if grows else rest, values, element=False)]
        else:
            after = [op.Slice(target, done, [np.iinfo(np.int64).max], [1], [0])]
    release(node, 0)
    return op.Concat(*before, values, *after, axis=0)


def _set_pieces(node: LoweringNode, op: OpBuilder, target: SSAValue, values: SSAValue, start: int, complete: bool) -> SSAValue:
    """A list whose elements differ in size, after `values` are written from element `start` on.

    `complete` states that they extend to the end of the list. Elements of a new list that are not written have no rows.
    Raises ConversionError if elements of a list whose elements differ would be replaced.
    """
    length = length_of(op, target)
    known, is_new, old = op.known.integers(length), unmade_list(target) is not None, pieces_of(target)
    if start and is_new:
        node.fail(f"it writes elements of different sizes from element {start} on, and no elements before it")
    if old is not None and known != (start,):
        node.fail("it replaces elements of a list whose elements differ in their sizes", hint="append to the list instead")
    written = as_pieces(node, op, values)
    release(node, 0)
    release(node, 1)
    done = op.Add(pieces.count(op, written), start)
    if old is None and not complete and known != (0,):
        if is_new:
            written = pieces.append_empty(op, written, op.Maximum(op.Subtract(length, done), 0), rank_of(written.data) or 1)
        else:
            rest = op.Slice(target, done, [np.iinfo(np.int64).max], [1], [0])
            written = pieces.joined(op, written, as_pieces(node, op, rest))
    if start:
        written = pieces.joined(op, old or as_pieces(node, op, _cut(op, target, 0, start)), written)
    return new_pieces(op, written)


def _differs(node: LoweringNode, handle: SSAValue, item: SSAValue) -> bool:
    """Whether `item`, which is added to the list `handle`, may have another first dimension than the elements of the
    list.
    """
    own, shape = shape_of(handle), shape_of(item)
    if unmade_list(handle) is not None or not own or not shape or len(own) != len(shape) + 1 or 0 in own[:1]:
        return False
    first, other = own[1], shape[0]
    return first != other if -1 not in (first, other) else may_differ(node.op.results[0])


def _with_piece(node: LoweringNode, op: OpBuilder, handle: SSAValue, position: SSAValue, item: SSAValue) -> SSAValue:
    """A list with an element that may differ in size written at `position`, a 1-D tensor of one element.

    Elements between the end of the list and the position have no rows. Raises ConversionError for a scalar element, or
    one of dynamic rank.
    """
    if not rank_of(item):
        node.fail("the rank of the elements of a list is not known" if rank_of(item) is None else "it adds a scalar to a list of others")
    before, added, length = as_pieces(node, op, handle), pieces.of_tensors(op, [item], 0), length_of(op, handle)
    release(node, 0)
    if _are_same(op, position, length):
        return new_pieces(op, pieces.joined(op, before, added))
    missing = op.Maximum(op.Subtract(position, length), 0)
    if op.known.integers(missing) != (0,):
        before = pieces.append_empty(op, before, missing, rank_of(before.data) or 1)
    return new_pieces(op, pieces.replaced(op, before, added, position))


def _cut(op: OpBuilder, target: SSAValue, first: int, end: int) -> SSAValue:
    return op.Slice(target, [first], [end], [1], [0])


def _as_elements_of(op: OpBuilder, values: SSAValue, target: SSAValue) -> SSAValue:
    """Values that a loop collected, reshaped to the static shape of the elements of a list.

    If the body does not state the sizes, a Loop without iterations would have results of other sizes.
    """
    own, shape = shape_of(values), shape_of(target)
    if shape is None or not is_static(shape[1:]) or (own is not None and is_static(own[1:])):
        return values
    return op.Reshape(values, op.Concat(dimension_list(op, values, 0), list(shape[1:]), axis=0), special_zero=False)


def _grown_front(op: OpBuilder, target: SSAValue, length: SSAValue, start: int, values: SSAValue, count: SSAValue) -> list[SSAValue]:
    """Tensors that concatenate to the first `start` elements of a list after a write.

    Args:
        op: the builder.
        target: the list before the write.
        length: its length. If it is below `start` and `count` is not 0, zeros are appended up to `start`.
        start: the index of the first element that is written.
        values: the elements that are written, which have the shape of the list's elements.
        count: the number of `values`.
    """
    own = op.Minimum(length, start)
    gap = op.Multiply(op.Minimum(count, 1), op.Subtract(start, own))
    if unmade_list(target) is not None:
        return [zeros(op, op.Add(own, gap), values, element=False)]
    return [_cut(op, target, 0, start), zeros(op, gap, target, element=False)]


def _front(op: OpBuilder, target: SSAValue, start: int) -> SSAValue | None:
    """The first element of a list, if it was written by a ScatterUpdate at index 0 and `start` is 1; None otherwise."""
    owner = target.owner
    if start != 1 or not isinstance(owner, ScatterUpdate) or op.known.integers(owner.operands[1]) != (0,):
        return None
    return owner.operands[2]


def _reaches_end(op: OpBuilder, length: SSAValue, values: SSAValue, start: int, grows: bool) -> bool:
    """Whether `values`, written from `start` on, certainly extend to the end of a list; with `grows` also if they
    extend beyond it.
    """
    shape, known = shape_of(values), op.known.elements(length)
    if known is None:
        return False
    entry = known.reshape(-1)[0]
    if isinstance(entry, Symbol):
        return bool(shape) and start == 0 and op.known.dimension(values, 0) is entry
    rest = int(entry) - start
    return (grows and rest <= 0) or bool(shape and (shape[0] == rest or (grows and shape[0] > rest)))


def _grown_for(op: OpBuilder, length: SSAValue, indices: SSAValue) -> SSAValue:
    """The length of a list after a write at indices: the largest index plus 1, or `length` if that is larger."""
    known, present = op.known.integers(indices), op.known.integers(length)
    if known is not None and present is not None:
        return op.constant([max(present[0], *(each + 1 for each in known))] if known else list(present))
    largest = op.ReduceMax(op.Concat(op.convert(indices, si64), op.Subtract(length, 1), axis=0), [0], keep_dims=True)
    return op.Add(largest, 1)


def _is_whole(op: OpBuilder, indices: SSAValue, total: SSAValue) -> bool:
    """Whether indices are certain to be 0, 1, … up to the length of a list."""
    known, length = op.known.integers(indices), op.known.integers(total)
    return known is not None and length is not None and known == tuple(range(length[0]))


@tf.lowers("TensorListScatterIntoExistingList")
def scatter_into(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, tensor: SSAValue, indices: SSAValue) -> SSAValue:
    """tf.TensorListScatterIntoExistingList(list, x, indices)
    -> opset3.ScatterUpdate(list, indices, x, 0), where the list is extended by zeros up to the largest index
    """
    length = length_of(op, input_handle)
    total = _grown_for(op, length, indices)
    if _is_whole(op, indices, total):
        release(node, 0)
        return tensor
    return op.ScatterUpdate(_with_length(node, op, 0, length, total, tensor), indices, tensor, 0)


@tf.lowers("TensorListScatter", "TensorListScatterV2")
def scatter(op: OpBuilder, tensor: SSAValue, indices: SSAValue, _element_shape: SSAValue, num_elements: SSAValue | None = None) -> SSAValue:
    """tf.TensorListScatterV2(x, indices, shape, n)
    -> opset3.ScatterUpdate(zeros [n, …], indices, x, 0); x if the indices are 0, 1, …

    A list without n, or with -1 for it, ends behind the largest index.
    """
    known = (-1,) if num_elements is None else op.known.integers(num_elements)
    if known is not None:
        total = op.constant([known[0]]) if known[0] >= 0 else _grown_for(op, op.constant([0]), indices)
    else:
        assert num_elements is not None
        total = _grown_for(op, op.Maximum(as_list(op, op.convert(num_elements, si64)), 0), indices)
    return tensor if _is_whole(op, indices, total) else op.ScatterUpdate(zeros(op, total, tensor, element=False), indices, tensor, 0)


@tf.lowers("TensorListPushBack")
def push_back(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, tensor: SSAValue) -> SSAValue:
    """tf.TensorListPushBack(list, x) -> opset1.Concat(list, [x])"""
    length = length_of(op, input_handle)
    if pieces_of(input_handle) is not None or _differs(node, input_handle, tensor):
        return _with_piece(node, op, input_handle, length, tensor)
    value = op.Unsqueeze(tensor, 0)
    if unmade_list(input_handle) is not None and op.known.integers(length) == (0,):
        release(node, 0)
        return value
    return op.Concat(_with_length(node, op, 0, length, length, value), value, axis=0)


@tf.lowers("TensorListConcatLists")
def concat_lists(node: LoweringNode, op: OpBuilder, input_a: SSAValue, input_b: SSAValue) -> SSAValue:
    """tf.TensorListConcatLists(input_a, input_b) -> opset1.Concat(input_a, input_b)"""
    lists = [input_a, input_b]
    if any(pieces_of(each) is not None for each in lists) and not any(unmade_list(each) is not None for each in lists):
        for index in (0, 1):
            release(node, index)
        return new_pieces(op, pieces.joined(op, as_pieces(node, op, input_a), as_pieces(node, op, input_b)))
    for index, other in ((0, input_b), (1, input_a)):
        length = length_of(op, lists[index])
        if unmade_list(lists[index]) is None:
            continue
        if op.known.integers(length) == (0,):
            release(node, index)
            return other
        if unmade_list(other) is None:
            lists[index] = _with_length(node, op, index, length, length, other)
    if any(unmade_list(each) is not None for each in lists):
        made_list(node, op, 0)
    return op.Concat(*lists, axis=0)


@tf.lowers("TensorListResize")
def resize(node: LoweringNode, op: OpBuilder, input_handle: SSAValue, size_: SSAValue) -> SSAValue:
    """tf.TensorListResize(list, n) -> opset8.Slice(list, 0, n), padded with zeros if the list is shorter"""
    if unmade_list(input_handle) is not None:
        count = op.convert(size_, si64)
        release(node, 0)
        return new_list(op, "TensorListReserve", [count])
    target = made_list(node, op, 0)
    known, present = op.known.integers(size_), dimension(op, target, 0)
    if known is not None and isinstance(present, int):
        missing, size = op.constant([max(known[0] - present, 0)]), op.constant([known[0]])
    else:
        size = op.Reshape(op.convert(size_, si64), [1], special_zero=False)
        missing = op.Maximum(op.Subtract(size, present), 0)
    if op.known.integers(missing) != (0,):
        target = op.Concat(target, zeros(op, missing, target, element=False), axis=0)
    return op.Slice(target, [0], size, [1], [0])
