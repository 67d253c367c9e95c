"""Rows of tables, and tokens by their indices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import restored
from moir.rewriting.builder import OpBuilder


@transformers.lowers("Embedding")
def embedding(op: OpBuilder, rows: SSAValue, table: SSAValue, *, scale: float = 1.0, limit: int | None = None) -> SSAValue:
    """transformers.Embedding(rows, table) {scale, limit} -> Gather(Convert(table), rows, 0) * scale

    Rows from `limit` on, if it is given, are row 0.
    """
    if limit is not None:
        rows = op.Select(op.Less(rows, op.constant(limit, si64)), rows, op.constant(0, si64))
    embedded = op.Gather(restored(op, table), rows, op.constant(0))
    return embedded if scale == 1 else op.Multiply(embedded, op.constant(scale, f32))


@transformers.lowers("FirstToken")
def first_token(op: OpBuilder, x: SSAValue) -> SSAValue:
    """transformers.FirstToken(x [batch, tokens, width]) -> Gather(x, 0, 1) [batch, width]"""
    return op.Gather(x, op.constant(0), op.constant(1))


@transformers.lowers("MeanToken")
def mean_token(op: OpBuilder, x: SSAValue, attention_mask: SSAValue) -> SSAValue:
    """transformers.MeanToken(x [batch, tokens, width], attention_mask) -> ReduceSum(x * mask) / ReduceSum(mask)"""
    mask = op.Unsqueeze(op.Convert(attention_mask, destination_type=f32), [2])
    return op.Divide(op.ReduceSum(op.Multiply(x, mask), [1], keep_dims=False), op.ReduceSum(mask, [1], keep_dims=False))
