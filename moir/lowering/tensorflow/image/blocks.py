"""Blocks of pixels as channels or images, and the reverse."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last, is_channel_last
from moir.lowering.tensorflow.padding import around_block, sides_of
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand


@tf.lowers("DepthToSpace", "SpaceToDepth", rank=fixed(4, 1), complex=by_parts(0), traits=(SAYS_LAYOUT,))
def depth_and_space(node: LoweringNode, op: OpBuilder, input: SSAValue, *, block_size: int, data_format: str = "NHWC") -> SSAValue:
    """tf.DepthToSpace(x) {block_size, data_format = NHWC}
    -> opset1.DepthToSpace(x) {block_size, mode = blocks_first} on [N, C, H, W]; SpaceToDepth in the same way
    """
    last = is_channel_last(node, data_format)
    build = op.DepthToSpace if node.op.KIND == "DepthToSpace" else op.SpaceToDepth
    moved = build(channel_first(op, input, 4, last=last), mode="blocks_first", block_size=block_size)
    return channel_last(op, moved, 4, last=last)


@tf.lowers("SpaceToBatchND")
def space_to_batch(node: LoweringNode, op: OpBuilder, input: SSAValue, block_shape: SSAValue) -> SSAValue:
    """tf.SpaceToBatchND(x, block, paddings) -> opset2.SpaceToBatch(x, [1, block, 1…], [0, begin, 0…], [0, end, 0…])"""
    block = around_block(op, input, block_shape, 1)
    return op.SpaceToBatch(input, block, *borders(node, op, 2))


@tf.lowers("BatchToSpaceND")
def batch_to_space(node: LoweringNode, op: OpBuilder, input: SSAValue, block_shape: SSAValue) -> SSAValue:
    """tf.BatchToSpaceND(x, block, crops) -> opset2.BatchToSpace(x, [1, block, 1…], [0, begin, 0…], [0, end, 0…])"""
    block = around_block(op, input, block_shape, 1)
    return op.BatchToSpace(input, block, *borders(node, op, 2))


@tf.lowers("SpaceToBatch")
def space_to_batch_square(node: LoweringNode, op: OpBuilder, input: SSAValue, *, block_size: int) -> SSAValue:
    """tf.SpaceToBatch(x, paddings) {block_size}
    -> opset2.SpaceToBatch(x, [1, block_size, block_size, 1], [0, begin, 0], [0, end, 0])
    """
    return op.SpaceToBatch(input, [1, block_size, block_size, 1], *borders(node, op, 1))


@tf.lowers("BatchToSpace")
def batch_to_space_square(node: LoweringNode, op: OpBuilder, input: SSAValue, *, block_size: int) -> SSAValue:
    """tf.BatchToSpace(x, crops) {block_size}
    -> opset2.BatchToSpace(x, [1, block_size, block_size, 1], [0, begin, 0], [0, end, 0])
    """
    return op.BatchToSpace(input, [1, block_size, block_size, 1], *borders(node, op, 1))


def borders(node: LoweringNode, op: OpBuilder, index: int) -> list[Operand]:
    """The begins and ends of borders for every dimension of operand 0.

    Operand `index` has a row [begin, end] for each spatial dimension; the borders of other dimensions are 0.
    """
    known = node.constant(index)
    if known is not None:
        sides = [op.constant(side, si64) for side in sides_of(known)]
    else:
        sides = [op.Gather(node.operand(index), side, 1) for side in (0, 1)]
    return [around_block(op, node.operand(0), side, 0) for side in sides]
