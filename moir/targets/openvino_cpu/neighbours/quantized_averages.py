"""Forms that keep the CPU plugin from computing averages and Clamps of quantized values in 8-bit integers, which would
round their results.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.dialects.element_types import REAL_TYPES, f32
from moir.dialects.opset.activation import Clamp
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.pooling import AvgPool, AvgPool1, AvgPool14, AvgPoolOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.slicing import PadOp
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, rectified_identity
from moir.targets.openvino_cpu.quantized_values import COMPUTED, MOVED, has_no_zero_point, is_convolved, is_quantized
from moir.targets.record import Fault, Form


class ScalesOfAverages(Pattern):
    """Computes a PRelu of slope 1 between factors of several signs and an AvgPool in a quantized model.

        %1 = opset1.Multiply(%0, %c)                         // %c: [1, 4, 1, 1], some of its numbers are negative
        %2 = opset1.AvgPool(%1)
        %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high)
    ->  %4 = opset1.PRelu(%1, [1])
        %2 = opset1.AvgPool(%4)

    The plugin moves the factors through the AvgPool into the limits of the FakeQuantize, which is wrong for negative
    ones. It computes the PRelu together with the product.
    """

    roots = (Multiply, Divide)
    companions = ((AvgPool, AvgPool1, AvgPool14), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        factors = [each for each in (constant_of(value) for value in op.operands) if each is not None and each.size > 1]
        return any((each < 0).any() for each in factors) and any(isinstance(each, AvgPoolOp) for each in _ends(op.results[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, rectified_identity(rewriter.op, same))


class AverageOfQuantizedValues(Pattern):
    """Computes an identity behind an AvgPool of quantized values whose result is not quantized again.

        %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high)
        %2 = opset1.AvgPool(%1)
        %3 = opset1.Negative(%2)
    ->  %4 = opset1.Maximum(-inf, %2)
        %3 = opset1.Negative(%4)

    The plugin computes the average in integers of 8 bits, which rounds it, if it takes the following operation for
    quantization. It computes the Maximum together with the following operation. If a model has a FakeQuantize anywhere,
    this also holds for the average of integers of 8 bits that are converted to floats and multiplied by constants.
    """

    roots = (AvgPool, AvgPool1, AvgPool14)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        # The result of the model is of 32 bits or converted, which counts as an operation.
        ends = (FakeQuantize, Result) if element_of(op.results[0]) == f32 else (FakeQuantize,)
        return is_quantized(op.operands[0]) and any(not isinstance(each, ends) for each in _ends(op.results[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same, replaced=op.results[0]))


class PaddedAverage(Pattern):
    """Computes an identity between quantized values and an AvgPool that averages zeros around them.

        %1 = opset1.FakeQuantize(%0, -1.0, 2.0, -1.0, 2.0)
        %2 = opset1.AvgPool(%1) {pads_begin = [1, 1], "exclude-pad" = false}
    ->  %3 = opset1.Maximum(-inf, %1)
        %2 = opset1.AvgPool(%3) {pads_begin = [1, 1], "exclude-pad" = false}

    The plugin averages integers of 8 bits, and pads them with the integer 0, which stands for another number where
    the quantization has a zero point, also if a Pad before the AvgPool pads. Levels below 0 have a zero point in the
    plugin if a quantized convolution reads the averages. Declines where there is none.
    """

    roots = (AvgPool, AvgPool1, AvgPool14)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        if not _counts_padding(op) or not is_quantized(data):
            return False
        return not has_no_zero_point(data, is_unsigned=is_convolved(op.results[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


class PaddedAverageOfDifferences(PaddedAverage):
    """Computes an identity between the product of a difference and an AvgPool that averages zeros around it.

        %1 = opset1.Multiply(opset1.Subtract(%0, %c), %s)        // constants; a FakeQuantize is elsewhere in the model
        %2 = opset1.AvgPool(%1) {pads_begin = [1, 1], "exclude-pad" = false}
    ->  %3 = opset1.Maximum(-inf, %1)
        %2 = opset1.AvgPool(%3) {pads_begin = [1, 1], "exclude-pad" = false}

    If a model has a FakeQuantize anywhere, the plugin takes the constants for those of a dequantization and averages
    before it subtracts. So it does with a product to which a constant is added, and where an average, an extreme, a
    Clamp or another operation through which the plugin moves the constants stands before the AvgPool.
    """

    companions = ((FakeQuantize,), (Subtract, Add))

    def may_match(self, op: Operation) -> bool:
        return _counts_padding(op) and _is_shifted(op.operands[0])


def _counts_padding(op: Operation) -> bool:
    """Whether an AvgPool includes the zeros of padding in its averages, its own or that of a Pad before it, of which
    the plugin makes padding of the AvgPool.
    """
    assert isinstance(op, AvgPoolOp)
    before = op.operands[0].owner
    if isinstance(before, PadOp) and before.text("pad_mode") == "constant":
        return True
    has_pads = any((*op.integers("pads_begin"), *op.integers("pads_end"))) or op.text("auto_pad").startswith("same")
    return has_pads and not op.flag("exclude-pad")


def _is_shifted(value: SSAValue) -> bool:
    """Whether a value is computed by both a product with a constant and a sum or difference with a constant, in any
    order, also where operations through which the plugin moves the constants stand between or behind them.
    """
    is_scaled = is_moved = False
    while isinstance(owner := value.owner, OpsetOp) and owner.operands:
        computed = [each for each in owner.operands if not is_constant(each)]
        if not computed or owner.KIND not in COMPUTED or (isinstance(owner, Add | Subtract | Multiply | Divide) and len(computed) > 1):
            return False
        is_moved = is_moved or isinstance(owner, Add | Subtract)
        is_scaled = is_scaled or isinstance(owner, Multiply | Divide)
        if is_scaled and is_moved:
            return True
        value = computed[0]
    return False


class ClampOfQuantizedValues(Pattern):
    """Computes an identity between quantized values and a Clamp.

        %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high)
        %2 = opset1.Clamp(%1) {min = -0.5, max = 0.7}
    ->  %3 = opset1.Maximum(-inf, %1)
        %2 = opset1.Clamp(%3) {min = -0.5, max = 0.7}

    The plugin computes the Clamp in integers of 8 bits, with limits that it rounds to quantized values. It computes the
    Maximum together with the FakeQuantize and the Clamp. If a model has a FakeQuantize anywhere, this also holds for
    the Clamp of integers of 8 bits that are converted to floats and multiplied by constants, and the plugin divides the
    limits of the Clamp of a product with -0 by -0, and does not compile the model.
    """

    roots = (Clamp,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        return element_of(data) in REAL_TYPES and (is_quantized(data) or _is_product_with_negative_zero(data))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        same = computed_identity(rewriter.op, op.operands[0])
        rewriter.replace_with(op, rewriter.op.create(Clamp, [same], dict(op.properties)).results[0])


def _is_product_with_negative_zero(value: SSAValue) -> bool:
    """Whether a value is the product of another one and the constant -0."""
    factors = [constant_of(each) for each in value.owner.operands] if isinstance(value.owner, Multiply) else []
    return any(each is not None and bool(((each == 0) & np.signbit(each)).any()) for each in factors)


def _ends(value: SSAValue) -> Iterator[Operation]:
    """The operations that read a value, directly or after operations through which the plugin moves quantization."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, OpsetOp) and user.KIND in MOVED:
            for result in user.results:
                yield from _ends(result)
        elif user.name != "opset3.ShapeOf":
            yield user


FORMS = (
    Form(
        "separate-quantized-averages",
        (ScalesOfAverages, PaddedAverage, PaddedAverageOfDifferences, AverageOfQuantizedValues, ClampOfQuantizedValues),
        "Inserts an identity between averages or limits of quantized values and the operations that the plugin merges with them.",
        after=(
            "clamp-before-pooling",
            "rewrite-fake-quantize",
        ),
        faults=(
            Fault(
                "factors-of-averages",
                "constant factors of several signs, then AvgPool, then FakeQuantize",
                "the limits of the FakeQuantize are divided by the factors",
            ),
            Fault(
                "average-of-levels",
                "AvgPool of what a FakeQuantize rounds, then another operation than a FakeQuantize",
                "the averages are rounded to the levels",
            ),
            Fault(
                "padded-averages",
                "AvgPool that counts its padding, or after a Pad, of what a FakeQuantize with a zero point rounds, or with levels below "
                "0 before a quantized convolution",
                "is padded with the integer 0, which stands for another number",
            ),
            Fault(
                "padded-differences",
                "AvgPool that counts its padding, of the product of a constant and a difference from one, in a model that has a "
                "FakeQuantize",
                "is padded before the subtraction",
            ),
            Fault(
                "padded-sums",
                "AvgPool that counts its padding, of a product with a constant plus a constant, in a model that has a FakeQuantize",
                "is padded before the sum",
            ),
            Fault(
                "padded-averages-of-differences",
                "AvgPool that counts its padding, of a negation, average, extreme, Clamp or Broadcast of the product of a constant and a "
                "difference from one, in a model that has a FakeQuantize",
                "is padded before the subtraction",
            ),
            Fault(
                "limits-of-levels", "Clamp of what is computed of numbers that a FakeQuantize rounds", "the limits are rounded to levels"
            ),
            Fault(
                "limits-of-bytes",
                "Clamp of integers of 8 bits that are converted to floats, by a constant, in a model that has a FakeQuantize",
                "the limits are rounded to levels",
            ),
            Fault("limits-of-negative-zero", "Clamp of a product with -0, in a model that has a FakeQuantize", "is not compiled"),
            Fault(
                "average-of-halves",
                "AvgPool in f16 of what a FakeQuantize rounds, as a result of the model",
                "the averages are rounded to the levels",
            ),
            Fault(
                "average-of-bytes",
                "AvgPool of integers of 8 bits that are converted to floats, by a constant, in a model that has a FakeQuantize",
                "the averages are rounded to the levels",
            ),
        ),
    ),
)
