"""DepthToSpace and SpaceToDepth: moving channels to blocks of pixels, and blocks of pixels to channels."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.rewriting.builder import OpBuilder


@onnx.lowers("DepthToSpace", rank=fixed(4))
@moves_strings(0)
def depth_to_space(node: LoweringNode, op: OpBuilder, input: SSAValue, *, blocksize: int) -> SSAValue:
    """onnx.DepthToSpace(x) {blocksize, mode = DCR} -> opset1.DepthToSpace(x) {block_size, mode = blocks_first}"""
    return op.DepthToSpace(input, mode=block_mode(node), block_size=blocksize)


@onnx.lowers("SpaceToDepth", rank=fixed(4))
@moves_strings(0)
def space_to_depth(node: LoweringNode, op: OpBuilder, input: SSAValue, *, blocksize: int) -> SSAValue:
    """onnx.SpaceToDepth(x) {blocksize, mode = DCR} -> opset1.SpaceToDepth(x) {block_size, mode = blocks_first}"""
    return op.SpaceToDepth(input, mode=block_mode(node), block_size=blocksize)


def block_mode(node: LoweringNode) -> str:
    """The order of elements in a block, as opset1.DepthToSpace names it.

    Raises ConversionError for an unknown attribute `mode`.
    """
    modes = {"DCR": "blocks_first", "CRD": "depth_first"}
    mode = node.text("mode", "DCR")
    if mode not in modes:
        node.fail(f"mode {mode!r} is neither DCR nor CRD")
    return modes[mode]
