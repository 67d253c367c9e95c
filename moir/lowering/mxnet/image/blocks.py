"""Blocks of pixels as channels, and channels as blocks of pixels."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("space_to_depth")
def space_to_depth(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.space_to_depth(x) {block_size} -> opset1.SpaceToDepth(x) {mode = "blocks_first"}"""
    return op.SpaceToDepth(node.operand(0), block_size=node.integer("block_size"), mode="blocks_first")


@mxnet.lowers("depth_to_space")
def depth_to_space(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.depth_to_space(x) {block_size} -> opset1.DepthToSpace(x) {mode = "blocks_first"}"""
    return op.DepthToSpace(node.operand(0), block_size=node.integer("block_size"), mode="blocks_first")
