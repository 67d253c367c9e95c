"""Decoding of sequences.

Source: gather_tree_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.shape_values import dimension_list, dimension_value
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


@paddle.lowers("gather_tree")
def gather_tree(op: OpBuilder, ids: SSAValue, parents: SSAValue) -> SSAValue:
    """paddle.gather_tree(ids [T, N, beam], parents) -> opset1.GatherTree(ids, parents, T for each sequence, -1)"""
    lengths = op.ConvertLike(op.Broadcast(dimension_value(op, ids, 0), dimension_list(op, ids, 1)), ids)
    return op.GatherTree(ids, parents, lengths, op.constant_like(-1, ids))
