"""Repetition: tiles."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Tile")
def tile(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Tile(x) {axis = 1, tiles} -> opset1.Tile(x, repeats)"""
    given = parameters(node, "tile_param")
    rank = node.known_rank(0)
    repeats = [1] * rank
    repeats[normalize_axis(given.integer("axis", 1), rank)] = given.integer("tiles")
    return op.Tile(node.operand(0), repeats)
