"""`fuse-space-to-depth`: Reshape, Transpose, Reshape that move blocks from spatial dimensions to channels are fused.

    %1 = opset1.Reshape(%0, [0, 16, 8, 2, 8, 2])                 // %0: [N, 16, 16, 16]
    %2 = opset1.Transpose(%1, [0, 3, 5, 1, 2, 4])
    %3 = opset1.Reshape(%2, [0, 64, 8, 8])
->  %3 = opset1.SpaceToDepth(%0) {block_size = 2, mode = "blocks_first"}

For `depth_first` the permutation is [0, 1, 3, 5, 2, 4]. One and three spatial dimensions are treated alike.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.dimensions import same_tokens
from moir.dialects.symbols import Symbol, same
from moir.passes.fuse.regrouping.regrouping import Regrouping, RegroupingPass, RegroupingPattern
from moir.rewriting.builder import OpBuilder


class SpaceToBlocks(RegroupingPattern):
    """Fuses a split of every spatial dimension into blocks, which move before or after the channels."""

    def fused(self, regrouping: Regrouping, op: OpBuilder) -> SSAValue | None:
        spatial = len(regrouping.source) - 2
        if spatial < 1 or len(regrouping.parts) != 2 * spatial + 2 or len(regrouping.target) != spatial + 2:
            return None
        outer, inner = tuple(range(2, 2 * spatial + 2, 2)), tuple(range(3, 2 * spatial + 2, 2))
        size, channels = regrouping.parts[3], regrouping.source[1]
        if isinstance(size, Symbol) or size < 2 or any(not same(regrouping.parts[axis], size) for axis in inner):
            return None
        for mode, order in (("blocks_first", (0, *inner, 1, *outer)), ("depth_first", (0, 1, *inner, *outer))):
            if regrouping.order != order:
                continue
            whole = [token for token in regrouping.source[2:] if not isinstance(token, Symbol)]
            # If several sizes are dynamic, the first Reshape might exchange them.
            if isinstance(channels, Symbol) or len(whole) < spatial - 1 or any(token % size for token in whole):
                return None
            shrunk = [
                regrouping.parts[axis] if isinstance(token, Symbol) else token // size
                for axis, token in zip(outer, regrouping.source[2:], strict=True)
            ]
            parts = (regrouping.source[0], channels, *(token for each in shrunk for token in (each, size)))
            if same_tokens(regrouping.parts, parts) and same_tokens(
                regrouping.target, (regrouping.source[0], channels * size**spatial, *shrunk)
            ):
                return op.SpaceToDepth(regrouping.value, block_size=size, mode=mode)
        return None


class FuseSpaceToDepthPass(RegroupingPass):
    """Fuses a Reshape, Transpose and Reshape that move blocks of the image into channels to one SpaceToDepth."""

    name = "fuse-space-to-depth"

    PATTERNS = (SpaceToBlocks,)
