"""Normalizations in the form that the CPU plugin computes fastest, or computes at all."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import is_static, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form
from moir.targets.stages import PREFERRED


def normalized_rows(build: OpBuilder, op: OpsetOp, shape: tuple[int, ...], ones: int = 0) -> SSAValue:
    """The result of a GroupNormalization by an MVN of its groups as rows. The target of the second Reshape is a
    constant if at most one size of `shape` is dynamic, else it is computed.

    `ones` is the number of dimensions of size 1 between groups and rows.
    """
    data, scale, shift = op.operands
    rows = build.Reshape(data, [0, op.integer("num_groups"), *[1] * ones, -1], special_zero=True)
    value = build.MVN(rows, [2 + ones], eps=op.number("epsilon"), normalize_variance=True, eps_mode="INSIDE_SQRT")
    unknown = [axis for axis in range(1, len(shape)) if shape[axis] < 0]
    known = build.constant([0, *(-1 if size < 0 else size for size in shape[1:])])
    target = known if len(unknown) < 2 else build.ShapeOf(data)
    value = build.Reshape(value, target, special_zero=len(unknown) < 2)
    channels = [-1, *[1] * (len(shape) - 2)]
    for kind, factors, neutral in (("Multiply", scale, 1), ("Add", shift, 0)):
        numbers = constant_of(factors)
        if numbers is None:
            value = build[f"opset1.{kind}"](value, build.Reshape(factors, channels, special_zero=False))
        elif (numbers != neutral).any():
            value = build[f"opset1.{kind}"](value, build.constant(np.reshape(numbers, channels)))
    return value


class GroupsOfDynamicShape(Pattern):
    """Normalizes groups of channels as rows if sizes are dynamic.

        %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 4, epsilon = 0.00001}     // %x: [?, 16, ?, ?]
    ->  %g = opset1.Reshape(%x, [0, 4, -1])
        %n = opset6.MVN(%g, [2]) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
        %r = opset1.Reshape(%n, opset3.ShapeOf(%x))
        %y = opset1.Add(opset1.Multiply(%r, %scale'), %shift')            // [16, 1, 1]; not for 1 and 0

    The plugin does the same with four more nodes for each normalization, which compute shapes: in the decoder of an
    image it executes 215 nodes instead of 158. It computes groups of static sizes as one operation.
    """

    roots = ("opset12.GroupNormalization",)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        shape = shape_of(op.operands[0])
        if shape is not None and not is_static(shape) and len(shape) > 2 and shape[1] >= 0:
            rewriter.replace_with(op, normalized_rows(rewriter.op, op, shape))


class GroupsOfColumns(Pattern):
    """Normalizes groups of the columns of a matrix as rows if sizes are dynamic.

        %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 2, epsilon = 0.00001}     // %x: [?, 4]
    ->  %g = opset1.Reshape(%x, [0, 2, -1])
        %n = opset6.MVN(%g, [2]) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
        %y = opset1.Add(opset1.Multiply(opset1.Reshape(%n, [0, 4]), %scale), %shift)        // not for 1 and 0

    The plugin does not compile the operation for matrices of dynamic shape.
    """

    roots = ("opset12.GroupNormalization",)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is not None and len(shape) == 2 and not is_static(shape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        rewriter.replace_with(op, normalized_rows(rewriter.op, op, shape_of(op.operands[0]) or ()))


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
    Form(
        "normalize-columns",
        (GroupsOfColumns,),
        faults=(Fault("grouped-columns", "GroupNormalization of two dimensions of dynamic shape", "is not compiled"),),
    ),
    Form("divide-by-norms", (NormsOfOtherAxes,), stage=PREFERRED),
    Form("normalize-rows", (GroupsOfDynamicShape,), stage=PREFERRED),
)
