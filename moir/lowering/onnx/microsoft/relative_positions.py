"""The bias of T5's attention, a number for each distance between a query and a key.

    %y = onnx.com.microsoft.RelativePositionBias(%table, %queries, %keys) {max_distance = 128}
->  %y = opset1.Unsqueeze(opset8.Gather(%table, buckets [max distance + 1][distances], 1), [0])

Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", 2020: small
distances have a bucket of their own, larger ones share buckets whose width grows with the logarithm of the distance.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.constant_forms import reshaped
from moir.expansions.shape_values import as_integer, as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

LARGEST_TABLE = 1 << 20
"""The largest distance for which a table of buckets is stored; no model needs more."""


@onnx.lowers("com.microsoft.RelativePositionBias")
def relative_position_bias(
    node: LoweringNode,
    op: OpBuilder,
    bias_table: SSAValue,
    query_length: SSAValue,
    key_length: SSAValue,
    *,
    max_distance: int,
    is_bidirectional: bool = False,
) -> SSAValue:
    """onnx.com.microsoft.RelativePositionBias(table, queries, keys) {max_distance, is_bidirectional}
    -> opset8.Gather(table, buckets of the distances, 1), [1, heads, queries, keys]

    The type of the table says [buckets, heads], but its elements are in the order of [heads, buckets].
    """
    shape = shape_of(bias_table)
    if shape is None or len(shape) != 2 or min(shape) < 1:
        node.fail(f"the table of shape {shape} is not one of buckets and heads", hint="make it an initializer")
    count, heads = shape
    sides = 2 if is_bidirectional else 1
    one_sided = count // sides
    exact = one_sided // 2
    if exact < 1 or not exact < max_distance <= LARGEST_TABLE:
        node.fail(f"max_distance {max_distance} does not fit to {count} buckets")
    queries, keys = (op.Range(0, as_scalar(op, as_integer(op, each)), 1, output_type=si64) for each in (query_length, key_length))
    distances = op.Subtract(keys, op.Unsqueeze(queries, [1]))
    sizes = op.Abs(distances) if is_bidirectional else op.Negative(op.Minimum(distances, 0))
    buckets = op.Gather(op.constant(_buckets(one_sided, max_distance)), op.Minimum(sizes, max_distance), 0)
    if is_bidirectional:
        buckets = op.Add(buckets, op.Select(op.Greater(distances, 0), one_sided, op.constant(0)))
    table = reshaped(op, bias_table, (heads, count))
    return op.Unsqueeze(op.Gather(table, buckets, 1), [0])


def _buckets(count: int, max_distance: int) -> Array:
    """The bucket, below `count`, of each distance from 0 to `max_distance`; larger distances share the last bucket."""
    exact = count // 2
    distances = np.arange(max_distance + 1)
    ratio = np.log(np.maximum(distances, 1).astype(np.float32) / np.float32(exact)) / np.log(np.float32(max_distance) / np.float32(exact))
    large = np.minimum(exact + (ratio * np.float32(count - exact)).astype(np.int64), count - 1)
    return np.where(distances < exact, distances, large)
