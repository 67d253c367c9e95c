"""`fuse-shuffle-channels`: a dimension that is split in two, transposed and merged again becomes a ShuffleChannels.

    %1 = opset1.Reshape(%0, [0, 2, 58, 28, 28])                  // %0: [N, 116, 28, 28]
    %2 = opset1.Transpose(%1, [0, 2, 1, 3, 4])
    %3 = opset1.Reshape(%2, [0, 116, 28, 28])
->  %3 = opset1.ShuffleChannels(%0) {axis = 1, group = 2}
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.dimensions import same_tokens
from moir.dialects.symbols import Symbol
from moir.passes.fuse.regrouping.regrouping import Regrouping, RegroupingPass, RegroupingPattern
from moir.rewriting.builder import OpBuilder


class ShuffledChannels(RegroupingPattern):
    """Fuses a dimension that is split into two, which are exchanged and merged; all other dimensions are unchanged."""

    def fused(self, regrouping: Regrouping, op: OpBuilder) -> SSAValue | None:
        if len(regrouping.parts) != len(regrouping.source) + 1:
            return None
        moved = [axis for axis, origin in enumerate(regrouping.order) if axis != origin]
        if len(moved) != 2 or moved[1] != moved[0] + 1:
            return None
        axis = moved[0]
        group, channels = regrouping.parts[axis], regrouping.source[axis]
        if isinstance(group, Symbol) or isinstance(channels, Symbol) or group < 1 or channels % group:
            return None
        split = (*regrouping.source[:axis], group, channels // group, *regrouping.source[axis + 1 :])
        if not same_tokens(regrouping.parts, split) or not same_tokens(regrouping.target, regrouping.source):
            return None
        return op.ShuffleChannels(regrouping.value, axis=axis, group=group)


class FuseShuffleChannelsPass(RegroupingPass):
    """Fuses a Reshape, Transpose and Reshape that shuffle channels (Zhang et al., 2017) to one ShuffleChannels."""

    name = "fuse-shuffle-channels"

    PATTERNS = (ShuffledChannels,)
