"""Sequences of computed length whose members have one shape: some known members, and a tensor [count, …] of the others.

    %s = onnx.SequenceStack(%a, %rest); %y = onnx.ConcatFromSequence(%s) {axis = 0, new_axis = 1}
->  %y = opset1.Concat(opset1.Unsqueeze(%a, 0), %rest) {axis = 0}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.shapes import is_static, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

KIND = "SequenceStack"


@dataclass(frozen=True)
class Stack:
    """The known members of a sequence, and the members after them as a tensor [count, …]."""

    members: Sequence[SSAValue]
    rest: SSAValue


def stack_of(value: SSAValue | None) -> Stack | None:
    """The known members of a sequence, and the stack of those after them; None for a value that is not such a
    sequence.
    """
    producer = None if value is None else value.owner
    if not isinstance(producer, FrameworkOp) or producer.KIND != KIND:
        return None
    *members, rest = producer.operands
    return Stack(members, rest)


def length(op: OpBuilder, stack: Stack) -> SSAValue:
    """The number of members of a sequence, a scalar."""
    count = dimension_value(op, stack.rest, 0)
    return op.Add(count, len(stack.members)) if stack.members else count


def member(node: LoweringNode, op: OpBuilder, stack: Stack, position: SSAValue) -> SSAValue:
    """The member of a sequence at a computed index; a negative one counts from the end."""
    return op.Gather(joined(node, op, stack, 0, is_new=True), as_scalar(op, position), 0)


def joined(node: LoweringNode, op: OpBuilder, stack: Stack, axis: int, is_new: bool) -> SSAValue:
    """The members of a sequence, concatenated along an axis or stacked along a new one."""
    rank = rank_of(stack.rest)
    if rank is None:
        node.fail("the rank of the members of the sequence is dynamic", hint="give the model's inputs a static rank")
    axis = normalize_axis(axis, rank if is_new else max(rank - 1, 1))
    rest, shape = stack.rest, shape_of(stack.rest)
    sizes = [dimension_value(op, rest, each, (1,)) for each in range(rank)]
    is_guessed = bool(stack.members) and shape is not None and not is_static(shape[1:])
    if is_guessed:
        # opset5.Loop does not define the other sizes of concatenated outputs if there is no iteration.
        like = [dimension_value(op, stack.members[0], each, (1,)) for each in range(rank - 1)]
        sizes[1:] = [size if is_new or each != axis else sizes[1 + axis] for each, size in enumerate(like)]
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
    rest = op.transposed(rest, order)
    if not is_new:
        if rank < 2:
            node.fail("scalars can only be stacked along a new axis, not concatenated")
        if shape is not None and shape[axis + 1] == 1 and not is_guessed:
            # Needs no sizes, so members without elements need no treatment of their own.
            rest = op.Squeeze(rest, [axis + 1])
        else:
            merged = op.Multiply(sizes[0], sizes[axis + 1])
            target = op.Concat(*sizes[1 : axis + 1], merged, *sizes[axis + 2 :], axis=0) if rank > 2 else merged
            rest = op.Reshape(rest, target, special_zero=False)
    elif is_guessed:
        rest = op.Reshape(rest, op.Concat(*(sizes[each] for each in order), axis=0), special_zero=False)
    first = [op.Unsqueeze(each, [axis]) if is_new else each for each in stack.members]
    return op.Concat(*first, rest, axis=axis) if first else rest
