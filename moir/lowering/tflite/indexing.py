"""Look-ups of elements by their indices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("GATHER", complex=PAIRS)
def gather(node: LoweringNode, op: OpBuilder, params: SSAValue, indices: SSAValue, *, axis: int = 0, batch_dims: int = 0) -> Replacement:
    """tflite.GATHER(x, indices) {axis, batch_dims} -> what tf.GatherV2(x, indices, axis) {batch_dims} lowers to"""
    return lowered_as(node, op, "GatherV2", [params, indices, op.constant(axis, si32)], {"batch_dims": batch_dims})


@tflite.lowers("EMBEDDING_LOOKUP")
def embedding(op: OpBuilder, ids: SSAValue, table: SSAValue) -> SSAValue:
    """tflite.EMBEDDING_LOOKUP(ids, table) -> opset8.Gather(table, ids, 0)"""
    return op.Gather(table, ids, 0)


@tflite.lowers("EMBEDDING_LOOKUP_SPARSE")
def sparse_embedding(
    node: LoweringNode,
    op: OpBuilder,
    ids: SSAValue,
    indices: SSAValue,
    dense_shape: SSAValue,
    weights: SSAValue,
    table: SSAValue,
    *,
    combiner: str = "SUM",
) -> SSAValue:
    """tflite.EMBEDDING_LOOKUP_SPARSE(ids [n], indices [n, r], shape [r], weights [n], table) ->
    opset15.ScatterNDUpdate(zeros, indices without the last column, rows of the table times weights) {reduction = "sum"}

    The sums are divided by the sums of the weights, or by the roots of the sums of their squares.
    """
    if combiner not in _DIVISORS:
        node.fail(f"the combiner {combiner} is not supported")
    rank = node.known_rank(4)
    outer = op.convert(op.Slice(dense_shape, [0], [-1], [1], [0]), si64)
    segments = op.convert(op.Slice(indices, [0], [-1], [1], [1]), si64)

    def added(values: SSAValue, shape: SSAValue) -> SSAValue:
        zeros = op.Broadcast(op.constant_like(0, values), shape)
        return op["opset15.ScatterNDUpdate"](zeros, segments, values, reduction="sum")

    def factors(values: SSAValue) -> SSAValue:
        return op.Reshape(values, [-1] + [1] * (rank - 1), special_zero=False)

    inner = op.Slice(op.ShapeOf(table), [1], [rank], [1], [0])
    sums = added(op.Multiply(op.Gather(table, ids, 0), factors(weights)), op.Concat(outer, inner, axis=0))
    power = _DIVISORS[combiner]
    if not power:
        return sums
    totals = added(weights if power == 1 else op.Multiply(weights, weights), outer)
    divisor = op.Unsqueeze(totals if power == 1 else op.Sqrt(totals), list(range(-rank + 1, 0)))
    return op.Select(op.Equal(divisor, 0.0), sums, op.Divide(sums, divisor))


_DIVISORS = {"SUM": 0, "MEAN": 1, "SQRTN": 2}
"""For each combiner, the order p of the norm of the weights by which sums are divided; 0 for no division."""
