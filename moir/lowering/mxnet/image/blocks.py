"""Blocks of pixels as channels, and channels as blocks of pixels."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("space_to_depth")
def space_to_depth(op: OpBuilder, x: SSAValue, *, block_size: int) -> SSAValue:
    """mxnet.space_to_depth(x) {block_size} -> opset1.SpaceToDepth(x) {mode = "blocks_first"}"""
    return op.SpaceToDepth(x, block_size=block_size, mode="blocks_first")


@mxnet.lowers("depth_to_space")
def depth_to_space(op: OpBuilder, x: SSAValue, *, block_size: int) -> SSAValue:
    """mxnet.depth_to_space(x) {block_size} -> opset1.DepthToSpace(x) {mode = "blocks_first"}"""
    return op.DepthToSpace(x, block_size=block_size, mode="blocks_first")
