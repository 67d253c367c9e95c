"""The values that lists of tensors are lowered to.

A list of n tensors of one shape is a tensor [n, …]. A list of tensors that differ in their first dimension is an
operation with two operands, the concatenation and the sizes, which exists only while converting. A new list whose
elements have a dynamic shape is an operation that is not lowered until its first element or a loop determines the
shape; then it is erased with its last use. A list that remains is reported as not lowered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.frameworks.tensorflow import forwards, kind_of
from moir.dialects.shapes import UNKNOWN, rank_of, shape_of
from moir.expansions.loops import pieces
from moir.expansions.loops.pieces import Pieces
from moir.expansions.shape_values import as_list, dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

HINT = "the operation sets have tensors only: give the elements of the TensorArray a static shape (element_shape=…)"

NEW_LISTS = ("TensorListReserve", "EmptyTensorList")

NONE: Mapping[str, Attribute] = MappingProxyType({})

EXTENDING = ("TensorListSetItem", "TensorListPushBack", "TensorListConcatLists", "TensorListSetRange")
"""Kinds whose result is a list that contains the elements of an operand."""

READING = ("TensorListConcat", "TensorListConcatV2", "TensorListGetItem")
"""Kinds that read elements of a list that may differ in their first dimension."""

PIECES = "TensorListPieces"
"""The kind of the operation that stands for a list of tensors that differ in their first dimension."""

LARGEST_LIST = 2**20
"""Largest number of elements for which a new list of zeros becomes a constant."""


def new_list(op: OpBuilder, kind: str, operands: Sequence[SSAValue], properties: Mapping[str, Attribute] = NONE) -> SSAValue:
    """Build the operation `tf.<kind>` that stands for a list until it is lowered to a tensor, and return its value."""
    created = operation_class("tf", kind).create(operands=operands, properties=dict(properties), result_types=[UNKNOWN])
    op.insert(created)
    return created.results[0]


def with_read_shapes(node: LoweringNode, op: OpBuilder, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The operands of the bodies of a control-flow node; unlowered lists become zeros of the element shape that is
    read.

    A list whose readers declare no element shape stays as it is.
    """
    made = list(values)
    for index, value in enumerate(made):
        owner = unmade_list(value)
        if owner is not None and "read_shape" in owner.properties:
            made[index] = filled(op, length_of(op, value), owner.integers("read_shape"), owner.element("element_dtype"))
            node.run.release(owner)
    return made


def unmade_list(value: SSAValue) -> FrameworkOp | None:
    """The operation that creates a list that is not lowered to a tensor yet; None for any other value."""
    owner = value.owner
    return owner if isinstance(owner, FrameworkOp) and owner.KIND in NEW_LISTS else None


def new_pieces(op: OpBuilder, list_pieces: Pieces) -> SSAValue:
    """Build the list of tensors that may differ in their first dimension, given as their concatenation and their
    sizes.
    """
    return new_list(op, PIECES, [list_pieces.data, list_pieces.sizes])


def pieces_of(value: SSAValue) -> Pieces | None:
    """The concatenation and the sizes of a list of tensors that may differ in their first dimension; None for other
    values.
    """
    owner = value.owner
    return Pieces(owner.operands[0], owner.operands[1], 0) if isinstance(owner, FrameworkOp) and owner.KIND == PIECES else None


def as_pieces(node: LoweringNode, op: OpBuilder, value: SSAValue) -> Pieces:
    """A list as the concatenation of its elements and their sizes, also if it is a tensor [n, m, …].

    Raises ConversionError if the rank of the elements is dynamic or 0.
    """
    list_pieces, rank = pieces_of(value), rank_of(value)
    if list_pieces is not None:
        return list_pieces
    if rank is None or rank < 2:
        node.fail("the rank of the elements of a list is not known" if rank is None else "it joins a list of scalars with one of others")
    return pieces.of_stack(op, value, rank - 1)


def refuse_pieces(node: LoweringNode, values: Iterable[SSAValue]) -> None:
    """Raises ConversionError if one of `values`, operands of the bodies of a node, is a list whose elements differ in
    size.
    """
    if any(pieces_of(value) is not None for value in values):
        node.fail("it hands on a list whose elements differ in their sizes", hint="concatenate the list before")


def may_differ(value: SSAValue) -> bool:
    """Whether the elements of a list may differ in shape: its uses, and the uses of lists made from it, only append or
    read elements.
    """
    pending, seen, is_read = [value], set[SSAValue](), False
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses:
            kind = kind_of(use.operation)
            if kind in EXTENDING or forwards(use.operation):
                pending.append(use.operation.results[0])
            elif kind in READING:
                is_read = True
            elif kind != "TensorListLength":
                return False
    return is_read


def release(node: LoweringNode, index: int) -> None:
    """Record that one use of the list in operand `index` is lowered; the list is erased with its last use."""
    owner = node.operand(index).owner
    if isinstance(owner, FrameworkOp) and owner.KIND in (*NEW_LISTS, PIECES):
        node.run.release(owner)


def length_of(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The length of a list, as a 1-D tensor of one element of type i64."""
    owner = unmade_list(value)
    if (list_pieces := pieces_of(value)) is not None:
        return pieces.count(op, list_pieces)
    if owner is None:
        return dimension_list(op, value, 0)
    if owner.KIND == "EmptyTensorList":
        return op.constant([0])
    return as_list(op, op.convert(owner.operands[0], si64))


def zeros(op: OpBuilder, length: SSAValue, like: SSAValue, *, element: bool) -> SSAValue:
    """A list of zeros whose elements have the shape of `like` if `element` is true, else that of the elements of
    `like`.
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
    """A list of `length` elements of zeros, each of a static shape."""
    known = op.known.integers(length)
    count = None if known is None else max(known[0], 0)
    zero = np.zeros((), to_numpy(element))
    if count is not None and count * prod(shape) <= LARGEST_LIST:
        return op.filled((count, *shape), zero, element)
    return op.Broadcast(op.constant(zero, element), op.Concat(length, list(shape), axis=0))


def made_list(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """The list in operand `index` as a tensor.

    Elements that may differ are stacked: the model fails if their sizes are not equal. Raises ConversionError if the
    list is not lowered to a tensor yet.
    """
    value = node.operand(index)
    if (list_pieces := pieces_of(value)) is not None:
        release(node, index)
        return pieces.stacked(op, list_pieces, rank_of(list_pieces.data) or 1)
    if unmade_list(value) is not None:
        node.fail("the shape of the elements of a list is not known", HINT)
    return value
