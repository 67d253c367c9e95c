"""Quantization that the CPU plugin computes otherwise."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

REMOVED_LEVELS = 1 << 16
"""The number of levels of the FakeQuantize that the plugin removes."""


class QuantizationTo16Bits(Pattern):
    """Writes a FakeQuantize to 65536 levels as arithmetic.

        %y = opset1.FakeQuantize(%x, %low, %high, %first, %last) {levels = 65536}
    ->  %0 = (opset1.Minimum(opset1.Maximum(%x, %low), %high) - %low) / (%high - %low) * 65535
        %y = opset5.Round(%0) / 65535 * (%last - %first) + %first

    The plugin removes one whose results have the range of the operand, and with it the limits of that range, or does
    not compile the model. One that makes integers of numbers stays.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, FakeQuantize)
        return op.integer("levels") == REMOVED_LEVELS

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        limits = [rewriter.known.constant(each) for each in op.operands[1:]]
        if _is_another_range(*limits):
            return
        build, element = rewriter.op, element_of(op.results[0])
        # 16-bit floats do not have all levels.
        x, low, high, first, last = (build.convert(each, f32) for each in op.operands)
        steps = float(REMOVED_LEVELS - 1)
        within = build.Minimum(build.Maximum(x, low), high)
        place: SSAValue = build.Multiply(build.Divide(build.Subtract(within, low), build.Subtract(high, low)), steps)
        level = build.Divide(build.Round(place, mode="half_to_even"), steps)
        result = build.Add(build.Multiply(level, build.Subtract(last, first)), first)
        rewriter.replace_with(op, build.convert(result, element))


def _is_another_range(low: Array | None, high: Array | None, first: Array | None, last: Array | None) -> bool:
    """Whether the limits of the results are known to be others than those of the operand."""
    if low is None or high is None or first is None or last is None:
        return False
    tolerance = float(np.max(np.abs(high - low))) / 256
    return not (np.allclose(low, first, rtol=0, atol=tolerance) and np.allclose(high, last, rtol=0, atol=tolerance))


FORMS = (Form("round-to-levels", "Writes quantization to 65536 levels as arithmetic.", lambda: [QuantizationTo16Bits()]),)
