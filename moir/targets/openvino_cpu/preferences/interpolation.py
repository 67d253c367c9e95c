"""Interpolate with the operands that the CPU plugin needs."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED

IMAGE_RANKS = (4, 5)


class ScalesOfImages(Pattern):
    """Gives an Interpolate of images scales of all dimensions, so that the operand of axes is omitted.

        %y = opset11.Interpolate(%x, [2.0, 2.0], [2, 3]) {mode = "nearest"}       // %x: [1, 3, 8, 8]
    ->  %y = opset11.Interpolate(%x, [1.0, 1.0, 2.0, 2.0]) {mode = "nearest"}

    Otherwise the plugin computes the scales of all dimensions itself. A dimension of scale 1 is not resized.
    """

    roots = ("opset11.Interpolate",)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) == 3 and rank_of(op.operands[0]) in IMAGE_RANKS

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, target, axes = op.operands
        if op.text("shape_calculation_mode") != "scales" or op.text("mode") not in ("nearest", "linear_onnx"):
            return
        scales, places, rank = constant_of(target), constant_of(axes), rank_of(data)
        if scales is None or places is None or rank is None or scales.ndim != 1 or scales.shape != places.shape:
            return
        # If only some of the axes after batch and channels are resized, the plugin computes other results.
        if set(places.tolist()) != set(range(2, rank)):
            return
        complete = np.ones(rank, scales.dtype)
        complete[places] = scales
        operands = [data, rewriter.op.constant(complete, element_of(target))]
        rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties)).results[0])


FORMS = (Form("complete-scales", (ScalesOfImages,), stage=PREFERRED),)
