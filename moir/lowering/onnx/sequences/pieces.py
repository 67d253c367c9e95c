"""Sequences of computed length whose members differ in one dimension: some known members, and then other members,
stored as their concatenation along this dimension and their sizes.

    %s = onnx.SequencePieces(%a, %data, %sizes) {axis = 0}; %y = onnx.ConcatFromSequence(%s) {axis = 0}
->  %y = opset1.Concat(%a, %data) {axis = 0}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.properties import attribute_of
from moir.dialects.shapes import UNKNOWN, normalize_axis, rank_of
from moir.expansions.loops import pieces
from moir.expansions.loops.pieces import Pieces
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.sequences import stacked
from moir.lowering.onnx.sequences.stacked import Stack
from moir.rewriting.builder import OpBuilder

KIND = "SequencePieces"


def new_pieces(op: OpBuilder, members: Sequence[SSAValue], rest: Pieces) -> SSAValue:
    """Build the operation that stands for a sequence: some known members, then the members in `rest`."""
    operands, properties = [*members, rest.data, rest.sizes], {"axis": attribute_of(rest.axis)}
    created = operation_class("onnx", KIND).create(operands=operands, properties=properties, result_types=[UNKNOWN])
    op.insert(created)
    return created.results[0]


def parts_of(value: SSAValue | None) -> tuple[list[SSAValue], Pieces] | None:
    """The known members of a sequence, and the members after them; None for a value that is not such a sequence."""
    producer = None if value is None else value.owner
    if not isinstance(producer, FrameworkOp) or producer.KIND != KIND:
        return None
    *members, data, sizes = producer.operands
    return members, Pieces(data, sizes, producer.integer("axis"))


def pieces_of(op: OpBuilder, value: SSAValue | None) -> Pieces | None:
    """All members of a sequence as one concatenation with their sizes; None for a value that is not such a sequence."""
    if (parts := parts_of(value)) is None:
        return None
    members, rest = parts
    return pieces.joined(op, pieces.of_tensors(op, members, rest.axis), rest) if members else rest


def length(op: OpBuilder, sequence: Pieces) -> SSAValue:
    """The number of members of a sequence, a scalar."""
    return as_scalar(op, pieces.count(op, sequence))


def joined(node: LoweringNode, op: OpBuilder, sequence: Pieces, axis: int, is_new: bool) -> SSAValue:
    """The members of a sequence, concatenated along an axis or stacked along a new one.

    The model fails if the members differ in another dimension than the one along which they are concatenated.
    """
    rank = rank_of(sequence.data)
    assert rank is not None
    if is_new:
        return pieces.stacked(op, sequence, rank, normalize_axis(axis, rank + 1))
    if normalize_axis(axis, rank) == sequence.axis:
        return sequence.data
    return stacked.joined(node, op, Stack([], pieces.stacked(op, sequence, rank)), axis, is_new=False)
