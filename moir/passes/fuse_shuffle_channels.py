"""`fuse-shuffle-channels`: a dimension seen as a matrix and transposed becomes ShuffleChannels.

    %1 = opset1.Reshape(%0, [0, 2, 58, 28, 28])                  // %0: [N, 116, 28, 28]
    %2 = opset1.Transpose(%1, [0, 2, 1, 3, 4])
    %3 = opset1.Reshape(%2, [0, 116, 28, 28])
->  %3 = opset1.ShuffleChannels(%0) {axis = 1, group = 2}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from moir.dialects.known_values import Symbol
from moir.dialects.opset.shape import Reshape
from moir.passes.dimensions import Dimensions, same_tokens
from moir.passes.regrouping import has_regroupings, regrouping_of
from moir.passes.rewriting import Pattern, Rewriter, rewrite


class ShuffledChannels(Pattern):
    """One dimension split in two, these exchanged and merged again, all others as they are."""

    roots = (Reshape,)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        found = regrouping_of(op, self.known)
        if found is None or len(found.parts) != len(found.source) + 1:
            return
        moved = [axis for axis, origin in enumerate(found.order) if axis != origin]
        if len(moved) != 2 or moved[1] != moved[0] + 1:
            return
        axis = moved[0]
        group, channels = found.parts[axis], found.source[axis]
        if isinstance(group, Symbol) or isinstance(channels, Symbol) or group < 1 or channels % group:
            return
        split = (*found.source[:axis], group, channels // group, *found.source[axis + 1 :])
        if not same_tokens(found.parts, split) or not same_tokens(found.target, found.source):
            return
        rewriter.replace_with(op, rewriter.op.ShuffleChannels(found.value, axis=axis, group=group))


@dataclass(frozen=True)
class FuseShuffleChannelsPass(ModulePass):
    """Fuses channel shuffles, Zhang et al., "ShuffleNet", 2017."""

    name = "fuse-shuffle-channels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if has_regroupings(op):
            known = Dimensions(static=True).scan(op)
            rewrite(op, [ShuffledChannels(known)], known=known)
