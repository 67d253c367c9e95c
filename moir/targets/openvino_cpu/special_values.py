"""Infinities and NaN that the CPU plugin computes otherwise."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import DataAttr
from moir.dialects.element_types import INTEGER_TYPES, boolean
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Subtract
from moir.dialects.opset.comparison import Equal, Greater, GreaterEqual
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.elementwise import BroadcastingOp
from moir.dialects.opset.reduction import ReduceMax, ReduceMin
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class ConstantIsNan(Pattern):
    """Replaces an operation with a constant NaN by NaNs.

        %1 = opset1.Maximum(%0, %c)                          // %c: a constant, NaN
    ->  %2 = opset3.ShapeOf(%0)
        %1 = opset1.Broadcast(%c, %2)

    The plugin looks for activations (Clamp, HSigmoid, Swish, …) without regard to NaN in the place of their
    constants: it computes numbers with them, or does not compile the model.
    """

    roots = (Add, Divide, Maximum, Minimum, Multiply, Subtract)

    def may_match(self, op: Operation) -> bool:
        return any(_is_nan(each.owner) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BroadcastingOp)
        constant, value = op.operands
        if not _is_nan(constant.owner):
            constant, value = value, constant
        shape = shape_of(value)
        if (rank_of(constant) or 0) > len(shape or ()):
            return
        build = rewriter.op
        sizes = build.constant(list(shape)) if shape is not None and is_static(shape) else build.ShapeOf(value)
        rewriter.replace_with(op, build.Broadcast(build.constant_like(math.nan, value), sizes))


def _is_nan(producer: Operation | Block) -> bool:
    """Whether a value is produced by a constant of one element, NaN."""
    data = producer.properties["value"] if type(producer) is Constant else None
    values = data.data.values if isinstance(data, DataAttr) else None
    if values is None or values.size != 1 or values.dtype.kind not in "fV":
        return False
    number = np.asarray(values).reshape(-1)[0]
    return bool(number != number)


class ComparisonOfFloats(Pattern):
    """Reverses a comparison whose operands may be NaN.

        %1 = opset1.Greater(%x, %y)
    ->  %1 = opset1.Less(%y, %x)

    The plugin computes the former as the negation of the latter, so that they hold for NaN.
    """

    roots = (Greater, GreaterEqual)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Greater | GreaterEqual)
        if element_of(op.operands[0]) in INTEGER_TYPES | {boolean} or op.text("auto_broadcast") == "pdpd":
            return
        kind = rewriter.op.Less if isinstance(op, Greater) else rewriter.op.LessEqual
        rewriter.replace_with(op, kind(op.operands[1], op.operands[0], auto_broadcast=op.text("auto_broadcast")))


EXTREMES: dict[type[Operation], float] = {ReduceMax: -np.inf, ReduceMin: np.inf}
"""The reductions, and the results that the plugin does not compute."""


class ExtremeIsInfinite(Pattern):
    """Compares the elements instead of their maximum or minimum.

        %1 = opset1.ReduceMax(%x, [-1]) {keep_dims = true}
        %2 = opset1.Equal(%1, -∞)
    ->  %3 = opset1.Equal(%x, -∞)
        %2 = opset1.ReduceLogicalAnd(%3, [-1]) {keep_dims = true}

    Likewise for a minimum and infinity. Attention asks this of rows whose elements are all masked. The plugin
    computes the largest finite number for a maximum or minimum of infinities alone.
    """

    roots = (Equal,)
    companions = (tuple(EXTREMES),)

    def may_match(self, op: Operation) -> bool:
        return any(type(operand.owner) in EXTREMES for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for extreme, other in (op.operands, reversed(op.operands)):
            reduction = extreme.owner
            if isinstance(reduction, ReduceMax | ReduceMin) and _is_all(other, EXTREMES[type(reduction)], rank_of(extreme)):
                infinity = rewriter.op.constant_like(EXTREMES[type(reduction)], reduction.operands[0])
                infinite = rewriter.op.Equal(reduction.operands[0], infinity)
                every = rewriter.op.ReduceLogicalAnd(infinite, reduction.operands[1], keep_dims=reduction.flag("keep_dims"))
                rewriter.replace_with(op, every)
                return


def _is_all(value: SSAValue, number: float, rank: int | None) -> bool:
    """Whether a value is a constant of one element, a number, and of no higher rank than another value."""
    array = constant_of(value)
    return array is not None and array.size == 1 and rank is not None and array.ndim <= rank and bool(array.item() == number)


FORMS = (
    Form("spread-nan", "Writes results that are NaN everywhere as such.", lambda: [ConstantIsNan()]),
    Form("reverse-comparisons", "Reverses comparisons of floats that the plugin computes wrongly for NaN.", lambda: [ComparisonOfFloats()]),
    Form("compare-with-infinity", "Compares elements, instead of their maximum, with infinity.", lambda: [ExtremeIsInfinite()]),
)
