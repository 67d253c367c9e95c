"""Attention, and the rotations before it, in the form that the CPU plugin computes fastest."""

from __future__ import annotations

import math

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_about, scalar_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class UsualScale(Pattern):
    """Removes the scale of attention if it is the default, and a mask of zeros.

        %y = opset13.ScaledDotProductAttention(%q, %k, %v, 0.0, 0.125)    // %q: [2, 12, 7, 64]
    ->  %y = opset13.ScaledDotProductAttention(%q, %k, %v)

    If the plugin does not compute attention as one operation, the runtime decomposes it into products with the scale
    as a factor. If several operations share a factor, the plugin does not fuse the multiplication into the product
    before it.
    """

    roots = ("opset13.ScaledDotProductAttention",)

    def may_match(self, op: Operation) -> bool:
        # The scale stays where sinks follow it.
        return 3 < len(op.operands) < 6

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        query, *others, mask = op.operands[:4]
        width, element = (shape_of(query) or (-1,))[-1], element_of(query)
        if len(op.operands) > 4:
            scale = scalar_of(op.operands[4])
            if scale is None or width < 1 or not is_about(scale, 1 / math.sqrt(width), element):
                return
        is_without_effect = shape_of(mask) == () and element_of(mask) == element and scalar_of(mask) == 0
        if is_without_effect or len(op.operands) > 4:
            masks = [] if is_without_effect else [mask]
            rewriter.replace_with(op, rewriter.op.ScaledDotProductAttention(query, *others, *masks, causal=op.flag("causal")))


class RotaryHalves(Pattern):
    """Splits a value that is rotated by halves with a VariadicSplit, by the lengths of the halves.

        %a, %b = opset1.Split(%x, 3) {num_splits = 2}                     // %x: [1, 6, 7, 16]
        %y = opset1.Concat(opset1.Negative(%b), %a) {axis = -1}
    ->  %a, %b = opset1.VariadicSplit(%x, 3, [8, -1])

    The plugin computes rotary embeddings (Su et al., "RoFormer", 2021) as one operation. It recognizes them by slices
    or by a VariadicSplit.
    """

    roots = ("opset1.Split",)
    companions = (("opset1.Concat",),)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        shape, axis = shape_of(op.operands[0]), scalar_of(op.operands[1])
        if op.integer("num_splits") != 2 or not shape or axis not in (-1, len(shape) - 1) or shape[-1] < 2:
            return
        first, second = op.results
        turned = [use.operation.results[0] for use in second.uses if is_negation(use.operation)]
        if any(
            use.operation.name == "opset1.Concat" and tuple(use.operation.operands)[1:] == (first,) for each in turned for use in each.uses
        ):
            rewriter.replace_with(op, rewriter.op.VariadicSplit.results(op.operands[0], op.operands[1], [shape[-1] // 2, -1]))


def is_negation(op: Operation) -> bool:
    """Whether an operation computes the negative of its operand."""
    return op.name == "opset1.Negative" or (op.name == "opset1.Multiply" and any(scalar_of(operand) == -1 for operand in op.operands))


class ScaledQueries(Pattern):
    """Scales queries instead of scores if the keys are a part of another tensor.

        %k = opset8.Gather(%packed, 1, 0)                                 // [2, 12, 7, 64]
        %y = opset13.ScaledDotProductAttention(%q, %k, %v, %mask)
    ->  %y = opset13.ScaledDotProductAttention(opset1.Multiply(%q, 0.125), %k, %v, %mask, 1.0)

    The runtime decomposes attention into products with transposed and scaled keys. It merges this Transpose with one
    that produces the keys, or else with the product, but not if the scale is between the two. Then the plugin executes
    one more node in each layer, which copies the keys.
    """

    roots = ("opset13.ScaledDotProductAttention",)

    def may_match(self, op: Operation) -> bool:
        # Attention with sinks is no product and softmax of the scores alone.
        return len(op.operands) < 6

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        query, key, value, *others = op.operands
        width, build = (shape_of(query) or (-1,))[-1], rewriter.op
        scale = 1 / math.sqrt(width) if width > 0 else None
        if len(others) > 1:
            scale = scalar_of(others[1])
        if scale is None or scale == 1 or not is_part(key):
            return
        scaled = build.Multiply(query, build.constant_like(scale, query))
        mask = others[0] if others else build.constant_like(0.0, query)
        rewriter.replace_with(
            op,
            build.ScaledDotProductAttention(scaled, key, value, mask, build.constant_like(1.0, query), causal=op.flag("causal")),
        )


PARTS = ("Gather", "Slice", "StridedSlice", "Split", "VariadicSplit")
"""The operations that take a part of a tensor."""


def is_part(value: SSAValue) -> bool:
    """Whether a value is a part of another tensor, perhaps with fewer dimensions."""
    op = value.owner
    while isinstance(op, OpsetOp) and op.KIND in ("Squeeze", "Reshape"):
        op = op.operands[0].owner
    return isinstance(op, OpsetOp) and op.KIND in PARTS


FORMS = (
    Form("scale-queries", (ScaledQueries,), stage=PREFERRED),
    Form("split-rotary-halves", (RotaryHalves,), stage=PREFERRED),
    Form("omit-default-scales", (UsualScale,), stage=PREFERRED),
)
