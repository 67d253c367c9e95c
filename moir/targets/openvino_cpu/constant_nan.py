"""Operations with a constant NaN, which the CPU plugin mistakes for activations."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Block, Operation

from moir.dialects.data import DataAttr
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Subtract
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.elementwise import BroadcastingOp
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class ConstantIsNan(Pattern):
    """Replaces an operation with a constant NaN as an operand by a NaN, broadcast to the shape of its result.

        %1 = opset1.Maximum(%0, %c)                          // %c: a constant, NaN
    ->  %2 = opset3.ShapeOf(%0)
        %1 = opset1.Broadcast(%c, %2)

    The plugin fuses activations (Clamp, HSigmoid, Swish, …) without checking that their constants are not NaN: the
    fused operation returns finite numbers, or the model does not compile.
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
    """Whether an operation is a constant with one element that is NaN. False for a block, which defines an argument."""
    data = producer.properties["value"] if type(producer) is Constant else None
    values = data.data.values if isinstance(data, DataAttr) else None
    if values is None or values.size != 1 or values.dtype.kind not in "fV":
        return False
    number = np.asarray(values).reshape(-1)[0]
    return bool(number != number)


FORMS = (
    Form(
        "propagate-nan-constants",
        (ConstantIsNan,),
        faults=(
            Fault(
                "activation-nan",
                "activations made of simple operations (Clamp, HSigmoid, …) with a constant NaN",
                "are computed with the constant, or not compiled",
            ),
        ),
    ),
)
