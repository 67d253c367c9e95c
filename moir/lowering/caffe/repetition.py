"""Repetition: tiles."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Tile")
@with_parameters("tile_param")
def tile(node: LoweringNode, op: OpBuilder, x: SSAValue, *, tiles: int, axis: int = 1) -> SSAValue:
    """caffe.Tile(x) {axis = 1, tiles} -> opset1.Tile(x, repeats)"""
    rank = node.known_rank(0)
    repeats = [1] * rank
    repeats[normalize_axis(axis, rank)] = tiles
    return op.Tile(x, repeats)
