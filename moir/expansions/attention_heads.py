"""The heads of an attention: splitting the features of each token into heads, and joining the heads again."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


def split_heads(op: OpBuilder, x: SSAValue, heads: int) -> SSAValue:
    """Split features into heads: [batch, sequence, heads * size] -> [batch, heads, sequence, size]"""
    return op.Transpose(op.Reshape(x, [0, 0, heads, -1], special_zero=True), [0, 2, 1, 3])


def join_heads(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Join heads to features: [batch, heads, sequence, size] -> [batch, sequence, heads * size]"""
    return op.Reshape(op.Transpose(x, [0, 2, 1, 3]), [0, 0, -1], special_zero=True)
