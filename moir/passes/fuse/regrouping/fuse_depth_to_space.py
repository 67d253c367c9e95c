"""`fuse-depth-to-space`: Reshape, Transpose, Reshape that move blocks from channels to spatial dimensions are fused.

    %1 = opset1.Reshape(%0, [0, 2, 2, 16, 8, 8])                 // %0: [N, 64, 8, 8]
    %2 = opset1.Transpose(%1, [0, 3, 4, 1, 5, 2])
    %3 = opset1.Reshape(%2, [0, 16, 16, 16])
->  %3 = opset1.DepthToSpace(%0) {block_size = 2, mode = "blocks_first"}

For `depth_first` the first Reshape has the target [N, 16, 2, 2, 8, 8] and the permutation is [0, 1, 4, 2, 5, 3]. One
and three spatial dimensions are treated alike.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.dimensions import same_tokens
from moir.dialects.symbols import Symbol, same
from moir.passes.fuse.regrouping.regrouping import Regrouping, RegroupingPass, RegroupingPattern
from moir.rewriting.builder import OpBuilder


class BlocksToSpace(RegroupingPattern):
    """Fuses a split of the channels into block and remaining channels, where the block moves after the spatial axes."""

    def fused(self, regrouping: Regrouping, op: OpBuilder) -> SSAValue | None:
        spatial = len(regrouping.source) - 2
        if spatial < 1 or len(regrouping.parts) != 2 * spatial + 2 or len(regrouping.target) != spatial + 2:
            return None
        pairs = range(spatial + 2, 2 * spatial + 2)
        for mode, depth, blocks in (("blocks_first", spatial + 1, range(1, spatial + 1)), ("depth_first", 1, range(2, spatial + 2))):
            if regrouping.order != (0, depth, *(axis for pair in zip(pairs, blocks, strict=True) for axis in pair)):
                continue
            size = regrouping.parts[blocks[0]]
            if isinstance(size, Symbol) or size < 2 or any(not same(regrouping.parts[axis], size) for axis in blocks):
                return None
            channels = regrouping.parts[depth]
            block = (size,) * spatial
            parts = (regrouping.source[0], *((*block, channels) if mode == "blocks_first" else (channels, *block)), *regrouping.source[2:])
            grown = [None if isinstance(token, Symbol) else token * size for token in regrouping.source[2:]]
            target = (
                regrouping.source[0],
                channels,
                *[own if token is None else token for token, own in zip(grown, regrouping.target[2:], strict=True)],
            )
            # If several sizes are dynamic, the last Reshape might exchange them.
            if grown.count(None) < 2 and same_tokens(regrouping.parts, parts) and same_tokens(regrouping.target, target):
                return op.DepthToSpace(regrouping.value, block_size=size, mode=mode)
        return None


class FuseDepthToSpacePass(RegroupingPass):
    """Fuses a Reshape, Transpose and Reshape that move blocks of channels into the image to one DepthToSpace."""

    name = "fuse-depth-to-space"

    PATTERNS = (BlocksToSpace,)
