"""Padding that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.dialects.element_types import boolean, ui8
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.slicing import Pad
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class ComputedPadValue(Pattern):
    """Replaces the computed pad value of a Pad by a Select between the padded data and the value.

        %y = opset12.Pad(%x, [1, 0], [0, 2], %v) {pad_mode = "constant"}
    ->  %0 = opset12.Pad(%x, [1, 0], [0, 2]) {pad_mode = "constant"}
        %1 = opset12.Pad(true in the shape of %x, [1, 0], [0, 2])
        %y = opset1.Select(%1, %0, %v)

    The plugin ignores a computed pad value and pads with zeros if the shape of %x is static at compile time.
    """

    roots = (Pad,)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 3 and not isinstance(op.operands[3].owner, Constant)

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


FORMS = (Form("select-pad-values", "Replaces computed values of Pads by Selects.", lambda: [ComputedPadValue()]),)
