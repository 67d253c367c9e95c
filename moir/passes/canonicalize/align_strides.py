"""`align-strides`: a convolution to one column has the stride of rows for columns, too.

    %1 = opset1.Convolution(%0, %w) {strides = [1, 2]}        // %0: [8, 1, 9, 6], %w: [4, 1, 3, 5], %1: [8, 4, 7, 1]
->  %2 = opset8.Slice(%0, [0], [5], [1], [-1])
    %1 = opset1.Convolution(%2, %w) {strides = [1, 1]}

Where there is one column, its stride says nothing; columns that a smaller stride would reach are cut off. The CPU
plugin (2026.4) takes the stride of columns for that of rows if several images of one channel become one column, and
reads beyond the data.
"""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.convolution import Convolution
from moir.dialects.shapes import shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class ConvolutionToOneColumn(Pattern):
    """Replaces a larger stride of columns, which has no effect, by that of rows."""

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        strides = op.integers("strides")
        return len(strides) > 1 and strides[-1] > strides[-2] and op.text("auto_pad") in ("explicit", "valid")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        data, kernel, result = (shape_of(value) for value in (*op.operands, op.results[0]))
        if data is None or kernel is None or result is None or result[-1] != 1 or kernel[1] != 1 or data[0] == 1 or data[-1] < 0:
            return
        strides = op.integers("strides")
        none = (0,) * len(strides)
        begins, ends = (op.integers(name) if op.text("auto_pad") == "explicit" else none for name in ("pads_begin", "pads_end"))
        needed = (kernel[-1] - 1) * op.integers("dilations")[-1] + 1 - begins[-1]
        if kernel[-1] < 0 or needed < 1:
            return
        images = op.operands[0]
        if data[-1] > needed:
            images = rewriter.op.Slice(images, [0], [needed], [1], [-1])
        properties = {
            "strides": [*strides[:-1], strides[-2]],
            "dilations": op.integers("dilations"),
            "pads_begin": begins,
            "pads_end": [*ends[:-1], max(needed - data[-1], 0)],
        }
        rewriter.replace_with(op, rewriter.op.Convolution(images, op.operands[1], **properties))


class AlignStridesPass(PatternPass):
    """Gives columns the stride of rows where there is only one column."""

    name = "align-strides"

    def patterns(self) -> list[Pattern]:
        return [ConvolutionToOneColumn()]
