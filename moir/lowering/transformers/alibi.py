"""Attention with linear biases (ALiBi): the scores of a head decrease linearly with the distance of the key.

Press, Smith and Lewis, "Train Short, Test Long", 2022. The biases are computed from the position of the key alone: the
position of the query adds the same number to all its scores, which does not change the softmax.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si64
from moir.expansions.causal_masks import HIDDEN
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def slopes(heads: int, largest: float = 8.0) -> Array:
    """The slope of each head h of n: 2^(-largest · (h + 1) / n) for a power of two n.

    Otherwise those of the greatest power of two below n, then every second one of the power of two above it.
    """
    power = 1 << (heads.bit_length() - 1)
    powers = [2.0 ** (-largest * (each + 1) / power) for each in range(power)]
    powers += [2.0 ** (-largest * (2 * each + 1) / (2 * power)) for each in range(heads - power)]
    return np.array(powers, np.float32)


def with_alibi(
    node: LoweringNode, op: OpBuilder, mask: SSAValue, attention_mask: SSAValue, heads: int, scale: float, kind: str
) -> tuple[SSAValue, float]:
    """The mask with the biases of all heads [batch, heads, queries, keys], and the factor of the scores.

    Select(hidden keys, lowest, Reshape(Reshape(slopes [1, heads, 1] * positions [batch, 1, keys])))

    Paged attention (SDPAToPagedAttention) does not add masks: it reads the slopes from exactly these operations, with
    the slopes as the first operand of the product, and two Reshapes after it. The second Reshape has a computed target
    in which 0 copies a dimension, so that `cancel-reshapes` does not merge the two.

    `kind` is `plain` or `scaled`; raises ConversionError for another one.
    """
    values = slopes(heads, node.number("alibi_bias", 8.0))
    if kind == "scaled":
        # Slopes of bf16, as the model computes them.
        import ml_dtypes

        values = values.astype(ml_dtypes.bfloat16).astype(np.float32) * np.float32(scale)
    elif kind != "plain":
        node.fail(f"biases of the kind {kind!r} are not known")
    positions = op.Multiply(op.Subtract(op.CumSum(attention_mask, op.constant(1)), op.constant(1, si64)), attention_mask)
    biases = op.Multiply(op.constant(values.reshape(1, -1, 1), f32), op.Convert(op.Unsqueeze(positions, [1]), destination_type=f32))
    sizes = op.ShapeOf(attention_mask)
    shape = op.Concat(op.Gather(sizes, [0], 0), op.constant([heads, 1]), op.Gather(sizes, [1], 0), axis=0)
    biases = op.Reshape(op.Reshape(biases, [-1, 1, 0], special_zero=True), shape, special_zero=True)
    hidden = op.Less(mask, op.constant(HIDDEN / 2, f32))
    return op.Select(hidden, op.constant(float(np.finfo(np.float32).min), f32), biases), scale
