"""`widen-kernels`: padded convolutions with kernels of one element and strides get kernels of two elements.

    %1 = opset1.Convolution(%0, %w) {strides = [2, 2], pads_begin = [1, 1], pads_end = [1, 1]}     // %w: [8, 4, 1, 1]
->  %1 = opset1.Convolution(%0, %v) {strides = [2, 2], pads_begin = [1, 1], pads_end = [2, 1]}     // %v: [8, 4, 2, 1]

The second element is 0, and takes one more element of padding. The CPU plugin (2026.4) moves the strides of kernels of
one element in front of the elementwise operations and convolutions before them, without regard to the padding; the
result then has another size.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import weight_of
from moir.dialects.opset.convolution import Convolution
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class PaddedUnitKernel(Pattern):
    """Appends a zero to the kernels of a convolution, along the first axis with a stride and padding."""

    roots = (Convolution,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        padded = any(op.integers("pads_begin")) or any(op.integers("pads_end"))
        return padded and max(op.integers("strides")) > 1 and op.text("auto_pad") == "explicit"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution)
        kernel = (shape_of(op.operands[1]) or ())[2:]
        begin, end = op.integers("pads_begin"), op.integers("pads_end")
        places = [
            place
            for place, (stride, before, after) in enumerate(zip(op.integers("strides"), begin, end, strict=True))
            if stride > 1 and before + after > 0
        ]
        if set(kernel) != {1} or not places:
            return
        axis, more = places[0], [0] * (len(kernel) + 2)
        more[2 + axis] = 1
        weights, filters = weight_of(op.operands[1]), op.operands[1]
        if weights is None:
            wider = rewriter.op.Pad(filters, [0] * len(more), more, rewriter.op.constant_like(0, filters), pad_mode="constant")
        else:
            wider = rewriter.op.constant(np.pad(np.asarray(weights), [(0, size) for size in more]), element_of(filters))
        pads = [size + (place == axis) for place, size in enumerate(end)]
        # Dilations, which mean nothing for a single element, would move the second one out of its padding.
        properties = {"strides": op.integers("strides"), "dilations": [1] * len(kernel), "pads_begin": begin, "pads_end": pads}
        rewriter.replace_with(op, rewriter.op.Convolution(op.operands[0], wider, **properties))


class WidenKernelsPass(PatternPass):
    """Widens kernels of one element whose strides the plugin would misplace."""

    name = "widen-kernels"

    def patterns(self) -> list[Pattern]:
        return [PaddedUnitKernel()]
