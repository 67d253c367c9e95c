"""Concatenations that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import REAL_TYPES, string
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of, size_along
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

VIEWS = frozenset(("Reshape", "Squeeze", "Unsqueeze"))
"""Operations whose results may share the memory of their operand."""


class PartWithoutElements(Pattern):
    """Replaces a Concat that has an empty operand by a Broadcast to its result shape.

        %y = opset1.Concat(%x, %c) {axis = 1}                // %x: [?, 2], %c: [0, 3]
    ->  %0 = opset3.ShapeOf(%x)
        %y = opset3.Broadcast(0, %0 + [0, 3])

    The plugin skips an empty operand, so the result is too short along the axis if the dimension of 0 is another one.
    In this case the result is empty, so only its shape has to be computed.
    """

    roots = (Concat,)

    def may_match(self, op: Operation) -> bool:
        return any(0 in (shape_of(each) or ()) for each in op.operands) and -1 in (shape_of(op.results[0]) or (-1,))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Concat)
        axis, build = op.integer("axis"), rewriter.op
        shapes = [shape_of(value) for value in op.operands]
        missing = [shape if shape is not None and element_count(shape) == 0 and size_along(shape, axis) > 0 else None for shape in shapes]
        others = [value for value, shape in zip(op.operands, missing, strict=True) if shape is None]
        empty = [shape for shape in missing if shape is not None]
        if not empty or not others or element_of(op.operands[0]) == string:
            return
        added = np.zeros(len(empty[0]), np.int64)
        added[axis] = sum(shape[axis] for shape in empty)
        joined = build.Concat(*others, axis=axis) if len(others) > 1 else others[0]
        rewriter.replace_with(op, build.Broadcast(build.constant_like(0, joined), build.Add(build.ShapeOf(joined), added)))


class AbsoluteOfConcat(Pattern):
    """Replaces the Abs of a Concat that something else reads by a PRelu of slope -1.

        %0 = opset1.Concat(%a, %b) {axis = 0}                // of 1-D tensors
        %1 = opset1.Abs(%0)
        %2 = opset1.Sigmoid(%0)
    ->  %1 = opset1.PRelu(%0, [-1])

    The plugin computes an Abs in place: it overwrites its operand, which it also does if a Concat of any rank is an
    operand of another Concat, in whose memory it lies. Integers and scalars become a Maximum of %0 and its negative.
    """

    roots = ("opset1.Abs",)
    companions = ((Concat,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(_origin(op.operands[0]).owner, Concat)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x, build = op.operands[0], rewriter.op
        is_list = isinstance(x.owner, Concat) and rank_of(x) in (1, None)
        if not _meets_concat(_origin(x)) and not (is_list and not x.has_one_use()):
            return
        if element_of(x) in REAL_TYPES and rank_of(x) != 0:
            rewriter.replace_with(op, build.PRelu(x, build.constant_like([-1.0], x)))
        else:
            rewriter.replace_with(op, build.Maximum(x, build.Negative(x)))


def _origin(value: SSAValue) -> SSAValue:
    """The value in whose memory a value is stored: the operand of operations that only reshape it."""
    while isinstance(value.owner, OpsetOp) and value.owner.KIND in VIEWS:
        value = value.owner.operands[0]
    return value


def _meets_concat(value: SSAValue) -> bool:
    """Whether a Concat uses a value, directly or through operations that reshape it."""
    users = [use.operation for use in value.uses]
    return any(
        isinstance(user, Concat) or (isinstance(user, OpsetOp) and user.KIND in VIEWS and _meets_concat(user.results[0])) for user in users
    )


FORMS = (
    Form("join-empty-parts", (PartWithoutElements,)),
    Form("separate-absolute-values", (AbsoluteOfConcat,)),
)
