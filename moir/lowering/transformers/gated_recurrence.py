"""Real-gated linear recurrent units: a state of each feature, whose decay is computed from each token."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.attention import HEADS_FIRST
from moir.lowering.transformers.state_space import StateSpace, scanned
from moir.lowering.transformers.states import zeros_of
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import restored, vector
from moir.rewriting.builder import OpBuilder

SHARPNESS = 8.0
"""The factor of the logarithm of the decay (De and others, "Griffin", 2024)."""

LEAST_STEP = 1e-30
"""A bound of the gates of the recurrence, whose reciprocals are computed; smaller ones change no state either."""


@transformers.lowers("GatedRecurrence")
def gated_recurrence(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    input_weight: SSAValue,
    input_bias: SSAValue,
    recurrence_weight: SSAValue,
    recurrence_bias: SSAValue,
    decay: SSAValue,
    positions: SSAValue,
    beams: SSAValue,
    *,
    layer: int,
) -> SSAValue:
    """transformers.GatedRecurrence(x, input weight, input bias, recurrence weight, recurrence bias, decay, positions,
    beams) {layer}
    -> Loop over the tokens: state = a · state + Sqrt(1 - a²) · input gate · x; a = exp(-8 · softplus(decay) · gate)

    De and others, "Griffin: Mixing Gated Linear Recurrences with Local Attention for Efficient Language Models", 2024.
    Both gates are sigmoids of products with a matrix for each head, [heads, size, size]. The token at position 0 has
    the factor 1 instead of the root. It is a selective state space with a head for each feature, whose time step is the
    gate of the recurrence and whose input is its reciprocal.
    """
    values, shape = constant_of(decay), shape_of(input_weight)
    if values is None or shape is None or len(shape) != 3 or values.size != shape[0] * shape[1]:
        node.fail(f"its decay is no constant for each feature of heads with weights {shape}")
    heads, size, features = shape[0], shape[1], values.size
    rates = np.asarray(-SHARPNESS * np.logaddexp(0.0, values.astype(np.float64)), np.float32).reshape(-1)
    by_head = op.Transpose(op.Reshape(x, [0, 0, heads, size], special_zero=True), HEADS_FIRST)

    def gates(weight: SSAValue, bias: SSAValue) -> SSAValue:
        """The sigmoids [batch, tokens, features] of the products of each head."""
        product = op.Transpose(op.MatMul(by_head, restored(op, weight)), HEADS_FIRST)
        return op.Sigmoid(op.Add(op.Reshape(product, [0, 0, features], special_zero=True), vector(op, bias)))

    steps = op.Maximum(gates(recurrence_weight, recurrence_bias), LEAST_STEP)
    roots = op.Sqrt(op.Subtract(1.0, op.Exp(op.Multiply(steps, op.constant(2 * rates, f32)))))
    is_first = op.Unsqueeze(op.Equal(positions, 0), [2])
    values_in = op.Multiply(op.Multiply(x, gates(input_weight, input_bias)), op.Select(is_first, 1.0, roots))
    outputs = op.Add(zeros_of(op, x, (-1, -2, features, 1)), 1.0)
    inputs = op.Unsqueeze(op.Divide(1.0, steps), [3])
    joined = scanned(op, StateSpace(op.Unsqueeze(values_in, [3]), steps, inputs, outputs, rates), beams, layer)
    return op.Reshape(joined, [0, 0, features], special_zero=True)
