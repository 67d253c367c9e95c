"""Padding that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, boolean, ui8
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.slicing import Pad, Pad1, PadOp
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.openvino_cpu.quantized_values import COMPUTED, has_no_zero_point, is_convolved, is_quantized
from moir.targets.record import Fault, Form


class ComputedPadValue(Pattern):
    """Replaces the computed pad value of a Pad by a Select between the padded data and the value.

        %y = opset12.Pad(%x, [1, 0], [0, 2], %v) {pad_mode = "constant"}
    ->  %0 = opset12.Pad(%x, [1, 0], [0, 2]) {pad_mode = "constant"}
        %1 = opset12.Pad(true in the shape of %x, [1, 0], [0, 2])
        %y = opset1.Select(%1, %0, %v)

    The plugin ignores a computed pad value and pads with zeros if the shape of %x is static at compile time. It
    converts constant pad values to f32, where 2³¹ - 1 becomes -2³¹: constants that are not exact in f32 are therefore
    selected, too.
    """

    roots = (Pad,)

    def may_match(self, op: Operation) -> bool:
        if len(op.operands) < 4:
            return False
        number = constant_of(op.operands[3]) if isinstance(op.operands[3].owner, Constant) else None
        return number is None or _is_inexact(number)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Pad)
        if op.text("pad_mode") != "constant":
            return
        data, begins, ends, value = op.operands
        build, shape = rewriter.op, shape_of(data)
        if shape is not None and is_static(shape):
            ones = build.constant(np.ones(shape, np.uint8), ui8)
        else:
            ones = build.Broadcast(build.constant(np.array(1, np.uint8), ui8), build.ShapeOf(data))
        inside = build.convert(build.Pad(ones, begins, ends, pad_mode="constant"), boolean)
        rewriter.replace_with(op, build.Select(inside, build.Pad(data, begins, ends, pad_mode="constant"), value))


def _is_inexact(number: Array) -> bool:
    """Whether an integer, saturated to 32 bits, is not exact in f32."""
    if number.dtype.kind not in "iu" or number.size != 1:
        return False
    limited = min(max(int(number.item()), -(2**31)), 2**31 - 1)
    return int(np.float32(limited)) != limited


class PadValueBetweenQuantizedValues(Pattern):
    """Separates a Pad along one axis from the quantization of its data.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)
        %y = opset12.Pad(%0, [1, 0], [0, 0], 0.5) {pad_mode = "constant"}
    ->  %y = opset12.Pad(opset1.Maximum(-inf, %0), [1, 0], [0, 0], 0.5) {pad_mode = "constant"}

    Otherwise the plugin pads the quantized integers with the value as an integer, or does not compile the model. With 0
    it does so along an axis of size 1, which it takes for that of the zero points; so 0 is declined for other axes and
    for data without a zero point. A maximum with minus infinity is the identity.
    """

    roots = (Pad, Pad1)

    def may_match(self, op: Operation) -> bool:
        return all(isinstance(each.owner, Constant) for each in op.operands[3:]) and _is_rounded(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, PadOp)
        data, *others = op.operands
        begins, ends, *values = (rewriter.known.constant(each) for each in others)
        if begins is None or ends is None or op.text("pad_mode") != "constant":
            return
        axes = np.flatnonzero((begins != 0) | (ends != 0))
        has_value = any(each is not None and np.any(each) for each in values)
        if axes.size == 1 and (has_value or _loses_zero(op, int(axes[0]))):
            copied = computed_identity(rewriter.op, data)
            rewriter.replace_with(op, rewriter.op.create(type(op), [copied, *others], dict(op.properties)).results[0])


def _loses_zero(op: PadOp, axis: int) -> bool:
    """Whether the plugin pads quantized data along an axis with an integer 0 that does not stand for the number 0."""
    shape = shape_of(op.operands[0])
    if shape is None or shape[axis] != 1:
        return False
    return not has_no_zero_point(op.operands[0], is_unsigned=is_convolved(op.results[0]))


def _is_rounded(value: SSAValue) -> bool:
    """Whether a float is computed from quantized values, or dequantized from 8-bit integers."""
    if element_of(value) not in REAL_TYPES:
        return False
    if is_quantized(value):
        return True
    while isinstance(owner := value.owner, OpsetOp) and owner.KIND in COMPUTED and not isinstance(owner, Multiply):
        value = owner.operands[0]
    return isinstance(owner, Multiply) and any(isinstance(each.owner, Convert | Subtract) for each in owner.operands)


FORMS = (
    Form(
        "select-pad-values",
        (ComputedPadValue, PadValueBetweenQuantizedValues),
        "Pads with computed values by a Select, and separates other values from quantization.",
        after=(
            "widen-elements",
            "pad-before-convolutions",
            "pad-blocks",
            "pair-single-channels",
        ),
        faults=(
            Fault(
                "padded-levels",
                "Pad along one axis, with a value other than 0, of what a FakeQuantize rounds",
                "is padded with the value as an integer, or is not compiled",
            ),
            Fault(
                "padded-single-elements",
                "Pad along one axis, whose size is 1, with 0, of what a FakeQuantize with a zero point rounds, or with levels below 0 "
                "before a quantized convolution",
                "is padded with the integer 0, which stands for another number",
            ),
            Fault("computed-pad-value", "Pad of data of static sizes with a computed value", "pads with zeros"),
            Fault("large-pad-value", "Pad of integers with a value that f32 does not hold", "pads with another number, -2³¹ for 2³¹ - 1"),
        ),
    ),
)
