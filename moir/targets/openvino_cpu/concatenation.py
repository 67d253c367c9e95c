"""Concatenations that the CPU plugin computes wrongly."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import REAL_TYPES, bf16, describe, dynamic, f16, f32, f64, si8, si32, si64, string, ui8
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat, Split
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of, size_along
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


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
    """The value in whose memory a value is stored: the operand of the reshaping operations that compute it, or the
    value itself.
    """
    while isinstance(value.owner, OpsetOp) and value.owner.RESHAPES:
        value = value.owner.operands[0]
    return value


def _meets_concat(value: SSAValue) -> bool:
    """Whether a Concat is a user of a value, directly or through operations that reshape it."""
    users = [use.operation for use in value.uses]
    return any(
        isinstance(user, Concat) or (isinstance(user, OpsetOp) and user.RESHAPES and _meets_concat(user.results[0])) for user in users
    )


_RESIZED: AbstractSet[Attribute] = frozenset({bf16, f16, f32, f64, si8, si32, si64, ui8})
"""The element types of opset11.Interpolate."""


class RepeatedPartsOfSplit(Pattern):
    """Concatenates repeated parts of a Split in an element type of Interpolate.

        %a, %b = opset1.Split(%x, 2) {num_splits = 2}        // of si16
        %y = opset1.Concat(%a, %a, %b, %b) {axis = 2}
    ->  %0 = opset1.Concat(%a as si32, %a as si32, %b as si32, %b as si32) {axis = 2}
        %y = opset1.Convert(%0) {destination_type = si16}

    The plugin replaces such a Concat by an Interpolate, also for element types that this operation does not have.
    """

    roots = (Concat,)
    companions = ((Split,),)

    def may_match(self, op: Operation) -> bool:
        is_repeated = len(set(op.operands)) < len(op.operands) and element_of(op.results[0]) not in _RESIZED | {dynamic, string}
        return is_repeated and any(isinstance(each.owner, Split) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Concat)
        build, element = rewriter.op, element_of(op.results[0])
        wide = f32 if element in REAL_TYPES else si64 if describe(element).bits > describe(si32).bits else si32
        joined = build.Concat(*(build.convert(each, wide) for each in op.operands), axis=op.integer("axis"))
        rewriter.replace_with(op, build.convert(joined, element))


FORMS = (
    Form(
        "widen-repeated-parts",
        (RepeatedPartsOfSplit,),
        faults=(
            Fault("repeated-parts", "Concat of repeated parts of a Split, of elements that Interpolate does not have", "is not compiled"),
        ),
    ),
    Form(
        "join-empty-parts",
        (PartWithoutElements,),
        after=("sum-empty-products",),
        faults=(
            Fault(
                "empty-constant",
                "Concat of a value of dynamic shape with a constant that has no element, but a size above 0 along the axis",
                "leaves the constant out",
            ),
        ),
    ),
    Form(
        "separate-absolute-values",
        (AbsoluteOfConcat,),
        faults=(
            Fault(
                "absolute-concat",
                "Abs of a Concat that another Concat reads, too, or of a Concat of 1-D tensors with any other user",
                "writes the absolute values into the memory that the other one reads",
            ),
        ),
    ),
)
