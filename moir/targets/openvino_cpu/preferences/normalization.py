"""Normalizations in the form that the CPU plugin computes fastest."""

from __future__ import annotations

import math

from xdsl.ir import Operation

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.normalization import normalized_rows
from moir.targets.record import Form


class GroupsOfUnknownSizes(Pattern):
    """Normalizes groups of channels as rows if sizes are unknown.

        %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 4, epsilon = 0.00001}     // %x: [?, 16, ?, ?]
    ->  %g = opset1.Reshape(%x, [0, 4, -1])
        %n = opset6.MVN(%g, [2]) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
        %r = opset1.Reshape(%n, opset3.ShapeOf(%x))
        %y = opset1.Add(opset1.Multiply(%r, %scale'), %shift')            // [16, 1, 1]; not for 1 and 0

    The plugin does the same with four more nodes for each normalization, which compute shapes: in the decoder of an
    image it executes 215 nodes in place of 158. It computes groups of known sizes as one operation.
    """

    roots = ("opset12.GroupNormalization",)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        shape = shape_of(op.operands[0])
        if shape is not None and not is_static(shape) and len(shape) > 2 and shape[1] >= 0:
            rewriter.replace_with(op, normalized_rows(rewriter.op, op, shape))


class NormsOfOtherAxes(Pattern):
    """Divides by the norms if they are not computed along the channels.

        %y = opset1.NormalizeL2(%x, [3]) {eps = 1e-24, eps_mode = "max"}          // %x: [2, 4, 8, 49]
    ->  %n = opset4.ReduceL2(%x, [3]) {keep_dims = true}
        %y = opset1.Divide(%x, opset1.Maximum(%n, 1e-12))

    The plugin has an operation for norms along the second dimension, or along all from the second one on, of data with
    up to four dimensions. It computes other norms from squares, which takes two more nodes.
    """

    roots = ("opset1.NormalizeL2",)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, axes = op.operands
        places, shape, build = rewriter.known.integers(axes), shape_of(data), rewriter.op
        if op.text("eps_mode") != "max" or places is None or shape is None:
            return
        reduced = sorted({place % len(shape) for place in places}) if shape else []
        if not reduced or (len(shape) <= 4 and reduced in ([1], [*range(1, len(shape))])):
            return
        norm = build.ReduceL2(data, axes, keep_dims=True)
        rewriter.replace_with(op, build.Divide(data, build.Maximum(norm, build.constant_like(math.sqrt(op.number("eps")), data))))


FORMS = (
    Form("divide-by-norms", (NormsOfOtherAxes,)),
    Form("normalize-rows", (GroupsOfUnknownSizes,)),
)
