"""Quantization that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, f32, f64, si8, si16, ui16, ui32, ui64
from moir.dialects.moir import ModelOp
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import Shape, element_of, is_static, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

REMOVED_LEVELS = 1 << 16
"""The number of levels from which on the plugin removes a FakeQuantize."""


class QuantizationTo16Bits(Pattern):
    """Replaces a FakeQuantize with 65536 levels by arithmetic.

        %y = opset1.FakeQuantize(%x, %low, %high, %first, %last) {levels = 65536}
    ->  %0 = (opset1.Minimum(opset1.Maximum(%x, %low), %high) - %low) / (%high - %low) * 65535
        %y = opset5.Round(%0) / 65535 * (%last - %first) + %first

    The plugin removes such a FakeQuantize if its input and output ranges are equal, so that values are no longer
    clamped, or it does not compile the model. A FakeQuantize whose output range is that of quantized integers is not
    changed.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, FakeQuantize)
        return op.integer("levels") == REMOVED_LEVELS

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        limits = [rewriter.known.constant(each) for each in op.operands[1:]]
        if _is_another_range(*limits):
            return
        rewriter.replace_with(op, _leveled(rewriter.op, op))


def _leveled(build: OpBuilder, op: FakeQuantize) -> SSAValue:
    """FakeQuantize written out in f32 arithmetic: clamping, scaling, rounding and scaling back."""
    # 16-bit floating-point types cannot represent all quantized values.
    x, low, high, first, last = (build.convert(each, f32) for each in op.operands)
    steps = float(op.integer("levels") - 1)
    within = build.Minimum(build.Maximum(x, low), high)
    place: SSAValue = build.Multiply(build.Divide(build.Subtract(within, low), build.Subtract(high, low)), steps)
    level = build.Divide(build.Round(place, mode="half_to_even"), steps)
    result = build.Add(build.Multiply(level, build.Subtract(last, first)), first)
    return build.convert(result, element_of(op.results[0]))


def _is_another_range(low: Array | None, high: Array | None, first: Array | None, last: Array | None) -> bool:
    """Whether the output range is known to differ from the input range; False if a limit is not constant.

    Args:
        low, high: the limits of the input.
        first, last: the limits of the output.
    """
    if low is None or high is None or first is None or last is None:
        return False
    tolerance = float(np.max(np.abs(high - low))) / 256
    return not (np.allclose(low, first, rtol=0, atol=tolerance) and np.allclose(high, last, rtol=0, atol=tolerance))


class LimitsAlongThirdAxis(Pattern):
    """Reshapes data of three dimensions to two for a FakeQuantize whose limits vary along the last axis.

        %y = opset1.FakeQuantize(%x, %low, %high, %low, %high)   // %x: [?, ?, ?], %low: [4]
    ->  %0 = opset1.Reshape(%x, [-1, the last size of %x])
        %1 = opset1.Maximum(-inf, opset1.FakeQuantize(%0, %low, %high, %low, %high))
        %y = opset1.Reshape(%1, the shape of %x)

    The plugin does not compile limits along the third axis of data of dynamic shape. It would move scales of the last
    axis behind the second Reshape as scales of the second one, hence the Maximum. A FakeQuantize of data of more
    dimensions is replaced by arithmetic.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        if shape is not None and (len(shape) < 3 or is_static(shape)):
            return False
        rank = 3 if shape is None else len(shape)
        return any(_size_along(shape_of(each), 2, rank) != 1 for each in op.operands[1:])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        x, build = op.operands[0], rewriter.op
        limits = [shape_of(each) for each in op.operands[1:]]
        if rank_of(x) not in (3, None) or any(limit is None or set(limit[:-1]) - {1} for limit in limits):
            rewriter.replace_with(op, _leveled(build, op))
            return
        ends = [build.Reshape(each, [-1], special_zero=False) if (rank_of(each) or 0) > 1 else each for each in op.operands[1:]]
        shape = build.ShapeOf(x)
        rows = build.Reshape(x, build.Concat([-1], build.Gather(shape, [-1], 0), axis=0), special_zero=False)
        rounded = build.create(FakeQuantize, [rows, *ends], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Reshape(computed_identity(build, rounded), shape, special_zero=False))


def _size_along(shape: Shape, axis: int, rank: int) -> int:
    """The size of the limits along an axis of data of `rank` dimensions, with shapes aligned at the last axis; 1 if the
    limits lack the axis.
    """
    place = len(shape or ()) - rank + axis
    return 1 if shape is not None and place < 0 else -1 if shape is None else shape[place]


class IntegersOfMaxima(Pattern):
    """Rounds quantized maxima before they are converted to signed integers.

        %0 = opset1.FakeQuantize(opset1.ReduceMax(%x), %low, %high, -128, 127) {levels = 256}
        %y = opset1.Convert(%0) {destination_type = si8}
    ->  %1 = opset5.Round(%0)
        %y = opset1.Convert(%1) {destination_type = si8}

    If %x is quantized, too, the plugin computes with unsigned integers and does not shift them to signed ones. The
    quantized values are whole numbers, so the Round changes nothing.
    """

    roots = (Convert,)

    def may_match(self, op: Operation) -> bool:
        if element_of(op.results[0]) != si8 or not isinstance(rounding := op.operands[0].owner, FakeQuantize):
            return False
        return isinstance(rounding.data.owner, OpsetOp) and rounding.data.owner.name == "opset1.ReduceMax"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        rounded = rewriter.op.Round(op.operands[0], mode="half_to_even")
        rewriter.replace_with(op, rewriter.op.convert(rounded, si8))


class ConstantsBeforeRounding(Pattern):
    """Limits a sum or product with a constant of several elements along axis 1 before it is quantized.

        %0 = opset1.Multiply(%x, %c)   // %x: [?, 3], %c: [1, 3]
        %y = opset1.FakeQuantize(%0, %low, %high, %first, %last)
    ->  %1 = opset1.Maximum(%0, the smaller one of %low and %high)
        %y = opset1.FakeQuantize(%1, %low, %high, %first, %last)

    Otherwise the plugin merges the constant into the limits of the FakeQuantize and uses their first element everywhere
    if %x has dynamic dimensions, which all values in a loop with a dynamic trip count have for the plugin. This happens
    only if %x is not computed by a matrix product, and also if a Convert of f16 or bf16, which the plugin computes in
    f32, is before the FakeQuantize. The FakeQuantize limits numbers in the same way, so the Maximum changes no result.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        value = _unconverted(op.operands[0])
        if not isinstance(owner := value.owner, Add | Subtract | Multiply | Divide) or len(list(value.uses)) > 1:
            return False
        return _may_be_unknown(value) and not any(isinstance(each.owner, _PRODUCTS) for each in owner.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        value = _unconverted(op.operands[0])
        assert isinstance(value.owner, Operation)
        constants = [constant for each in value.owner.operands if (constant := rewriter.known.constant(each)) is not None]
        if not any(_adds_entries(each, rank_of(value)) for each in constants):
            return
        _limit(op, rewriter)


def _unconverted(value: SSAValue) -> SSAValue:
    """A value before a Convert between floating-point types; the value itself if there is none."""
    is_converted = isinstance(value.owner, Convert) and element_of(value.owner.data) in REAL_TYPES
    return value.owner.operands[0] if is_converted and isinstance(value.owner, Operation) else value


class ConvertedOperand(Pattern):
    """Inserts a Maximum between a Convert of wide or unsigned integers, or of f64, and a FakeQuantize.

        %0 = opset1.Convert(%x) {destination_type = f32}     // %x: si16
        %y = opset1.FakeQuantize(%0, %low, %high, %first, %last)
    ->  %1 = opset1.Maximum(%0, the smaller one of %low and %high)
        %y = opset1.FakeQuantize(%1, %low, %high, %first, %last)

    Otherwise the plugin merges the Convert, and products and sums with constants after it, into the FakeQuantize, and
    does not compile one of these types. The FakeQuantize limits numbers in the same way.
    """

    roots = (FakeQuantize,)
    companions = ((Convert,),)

    def may_match(self, op: Operation) -> bool:
        value = op.operands[0]
        while isinstance(owner := value.owner, Add | Subtract | Multiply | Divide):
            value = owner.operands[0]
        return isinstance(owner, Convert) and element_of(owner.data) in _UNMERGED

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _limit(op, rewriter)


_UNMERGED = frozenset((si16, ui16, ui32, ui64, f64))
"""The element types of which the plugin compiles no FakeQuantize."""


def _limit(op: Operation, rewriter: Rewriter) -> None:
    """Insert a Maximum with the lower limit of a FakeQuantize before it."""
    low, high = op.operands[1:3]
    first, last = rewriter.known.constant(low), rewriter.known.constant(high)
    is_ordered = first is not None and last is not None and bool(np.all(first <= last))
    limited = rewriter.op.Maximum(op.operands[0], low if is_ordered else rewriter.op.Minimum(low, high))
    rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [limited, *op.operands[1:]], dict(op.properties)).results[0])


def _may_be_unknown(value: SSAValue) -> bool:
    """Whether a value may have dynamic dimensions for the plugin: its shape is dynamic, or it is in the body of another
    operation.
    """
    shape, block = shape_of(value), value.owner.parent_block() if isinstance(value.owner, Operation) else None
    return shape is None or not is_static(shape) or block is None or not isinstance(block.parent_op(), ModelOp)


_PRODUCTS = (ConvolutionOp, MatMul)


def _adds_entries(constant: Array, rank: int | None) -> bool:
    """Whether a constant, broadcast to a rank, has more than one element along axis 1 (None: dynamic rank)."""
    if rank is None:
        return constant.size > 1
    place = constant.ndim - rank + 1
    return 0 <= place < constant.ndim and constant.shape[place] > 1


FORMS = (
    Form(
        "rewrite-fake-quantize",
        (QuantizationTo16Bits, LimitsAlongThirdAxis, IntegersOfMaxima, ConstantsBeforeRounding, ConvertedOperand),
        "Rewrites a FakeQuantize of 65536 levels, with limits along axis 2, or of maxima, converted integers or sums with constants.",
        faults=(
            Fault("converted-levels", "FakeQuantize of a Convert from i16, u16, u32, u64 or f64", "is not compiled"),
            Fault("quantize-16-bits", "FakeQuantize to 65536 levels", "is removed, with the limits of its range, or is not compiled"),
            Fault(
                "maximum-of-levels",
                "Convert to i8 of a FakeQuantize of a ReduceMax of what a FakeQuantize rounds",
                "is 128 less where it is above -1",
            ),
            Fault(
                "quantize-sum",
                "FakeQuantize of a sum, difference, product or quotient with constants along the second axis, dynamic or in a loop",
                "the first of the constants is taken everywhere",
            ),
            Fault("third-axis-levels", "FakeQuantize of data of dynamic shape with limits along the third axis", "is not compiled"),
        ),
    ),
)
