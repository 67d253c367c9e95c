"""`store-quantized-weights`: weights that a model quantizes while it runs are stored as the integers that it computes.

    %0 = opset1.FakeQuantize(%w, -1.28, 1.27, -1.28, 1.27) {levels = 256}      // %w: a constant
    %y = opset1.Convolution(%x, %0)
->  %c = opset1.Constant() {value = …} : tensor<8x3x3x3xsi8>
    %0 = opset1.Multiply(opset1.Convert(%c), 0.01)
    %y = opset1.Convolution(%x, %0)

Exporters write models in this form after quantization-aware training. Products can be computed with such
integers, which the rounded numbers to which the FakeQuantize would be folded no longer show. Grids of signed or
unsigned bytes without a zero point have this form; weights with another grid are folded.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of, values_of
from moir.dialects.element_types import f32, si8, ui8
from moir.dialects.large_arrays import computed
from moir.dialects.memory_map import Array
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

FIRST_CODES = {(-128, 256): si8, (-127, 255): si8, (0, 256): ui8, (0, 255): ui8}
"""The element type of codes, by the lowest code and the number of levels."""

TOLERANCE = 2.0**-10
"""The largest distance of the lowest code from an integer; the limits of a FakeQuantize are rounded."""


def codes(levels: int, first: int, data: Array, low: Array, high: Array) -> Array:
    """The integers of quantized numbers, rounded as FakeQuantize does, as uint8 or int8.

    Args:
        levels: the number of quantization levels.
        first: the integer of the lowest level: 0 for uint8, negative for int8.
        data: the numbers.
        low, high: the limits of the input range.
    """
    level = np.rint((data - low) / (high - low) * np.float32(levels - 1))
    return (np.clip(level, 0, levels - 1) + np.float32(first)).astype(np.uint8 if first == 0 else np.int8)


class QuantizedWeights(Pattern):
    """Replaces a FakeQuantize of weights by the integers that it computes and their scale."""

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        users = [(use.index, use.operation) for use in op.results[0].uses]
        return all(index == 1 and isinstance(user, Convolution | GroupConvolution | MatMul) for index, user in users)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        weights, levels = values_of(op.operands[0]), op.integer("levels")
        limits = [constant_of(each) for each in op.operands[1:]]
        if weights is None or element_of(op.operands[0]) != f32 or op.text("auto_broadcast") != "numpy":
            return
        low, high, output_low, output_high = limits
        if low is None or high is None or output_low is None or output_high is None or rank_of(op.operands[0]) == 0:
            return
        steps = (output_high.astype(np.float64) - output_low) / (levels - 1)
        if not np.all(steps > 0) or not np.all(high > low) or not np.all(np.isfinite(steps)):
            return
        starts = output_low / steps
        first = int(np.rint(starts.reshape(-1)[0]))
        element = FIRST_CODES.get((first, levels))
        if element is None or np.max(np.abs(starts - first)) > TOLERANCE:
            return
        build = rewriter.op
        stored = build.constant(computed(partial(codes, levels, first), weights, low, high), element)
        scale = build.constant(steps.astype(np.float32), f32)
        rewriter.replace_with(op, build.Multiply(build.convert(stored, f32), scale))


class StoreQuantizedWeightsPass(PatternPass):
    """Stores weights as integers if the model would quantize them while it runs."""

    name = "store-quantized-weights"

    KEEPS_DIMENSIONS = True

    PATTERNS = (QuantizedWeights,)
