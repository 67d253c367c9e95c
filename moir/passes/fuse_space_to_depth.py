"""`fuse-space-to-depth`: Reshape · Transpose · Reshape that moves blocks from the spatial dimensions into the channels.

    %1 = opset1.Reshape(%0, [0, 16, 8, 2, 8, 2])                 // %0: [N, 16, 16, 16]
    %2 = opset1.Transpose(%1, [0, 3, 5, 1, 2, 4])
    %3 = opset1.Reshape(%2, [0, 64, 8, 8])
->  %3 = opset1.SpaceToDepth(%0) {block_size = 2, mode = "blocks_first"}

For `depth_first` the order is [0, 1, 3, 5, 2, 4]; with one or three spatial dimensions alike.
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
from moir.passes.dimensions import Dimensions, same, same_tokens
from moir.passes.regrouping import has_regroupings, regrouping_of
from moir.passes.rewriting import Pattern, Rewriter, rewrite


class SpaceToBlocks(Pattern):
    """Every spatial dimension split into blocks, these put in front of or behind the channels."""

    roots = (Reshape,)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        found = regrouping_of(op, self.known)
        if found is None:
            return
        spatial = len(found.source) - 2
        if spatial < 1 or len(found.parts) != 2 * spatial + 2 or len(found.target) != spatial + 2:
            return
        outer, inner = tuple(range(2, 2 * spatial + 2, 2)), tuple(range(3, 2 * spatial + 2, 2))
        size, channels = found.parts[3], found.source[1]
        if isinstance(size, Symbol) or size < 2 or any(not same(found.parts[axis], size) for axis in inner):
            return
        for mode, order in (("blocks_first", (0, *inner, 1, *outer)), ("depth_first", (0, 1, *inner, *outer))):
            if found.order != order:
                continue
            whole = [token for token in found.source[2:] if not isinstance(token, Symbol)]
            # Of several unknown sizes the first Reshape could have exchanged two.
            if isinstance(channels, Symbol) or len(whole) < spatial - 1 or any(token % size for token in whole):
                return
            shrunk = [
                found.parts[axis] if isinstance(token, Symbol) else token // size
                for axis, token in zip(outer, found.source[2:], strict=True)
            ]
            parts = (found.source[0], channels, *(token for each in shrunk for token in (each, size)))
            if same_tokens(found.parts, parts) and same_tokens(found.target, (found.source[0], channels * size**spatial, *shrunk)):
                rewriter.replace_with(op, rewriter.op.SpaceToDepth(found.value, block_size=size, mode=mode))
                return


@dataclass(frozen=True)
class FuseSpaceToDepthPass(ModulePass):
    """Fuses space to depth, the inverse of a pixel shuffle."""

    name = "fuse-space-to-depth"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if has_regroupings(op):
            known = Dimensions(static=True).scan(op)
            rewrite(op, [SpaceToBlocks(known)], known=known)
