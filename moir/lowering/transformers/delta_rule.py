"""The gated delta rule: a linear attention whose state decays, and whose value for a key is overwritten."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.expansions.loops.delta_rule import delta_step
from moir.expansions.loops.token_steps import token_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.attention import HEADS_FIRST
from moir.lowering.transformers.convolution import FEATURES_FIRST
from moir.lowering.transformers.states import fixed_state, recurrent_variable, zeros_of
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable

EPSILON = 1e-6
"""The number that is added to the sum of the squares of a query or key."""


@transformers.lowers("GatedDeltaRule")
def gated_delta_rule(
    node: LoweringNode,
    op: OpBuilder,
    queries: SSAValue,
    keys: SSAValue,
    values: SSAValue,
    strengths: SSAValue,
    steps: SSAValue,
    decay: SSAValue,
    step_bias: SSAValue,
    beams: SSAValue,
    *,
    key_heads: int,
    heads: int,
    layer: int,
    strength_factor: float = 1.0,
    is_tiled: bool = False,
) -> SSAValue:
    """transformers.GatedDeltaRule(queries, keys, values, strengths, steps, decay, step bias, beams) {heads, …}
    -> Loop over the tokens: state = exp(gate) · state; state += key · (value - keyᵀ · state) · strength; queryᵀ · state

    Yang, Kautz and Hatamizadeh, "Gated Delta Networks: Improving Mamba2 with Delta Rule", 2024. Queries and keys are
    [batch, tokens, key heads * size], values [batch, tokens, heads * size], the others have a number for each head.
    Each key head is for several heads in a row, or all of them are repeated with `is_tiled`. The gates are
    -exp(decay) · softplus(steps + bias), the strengths sigmoids times a factor. The state
    [batch, heads, key size, value size] is one of the layer.
    """
    key_size, value_size = (_head_size(node, each, count) for each, count in ((keys, key_heads), (values, heads)))
    query, key = (_normalized(op, each, key_heads, heads, key_size, is_tiled) for each in (queries, keys))
    query = op.Divide(query, op.constant(math.sqrt(key_size), f32))
    value = op.Transpose(op.Reshape(values, [0, 0, heads, value_size], special_zero=True), HEADS_FIRST)
    rate = op.Negative(op.Exp(vector(op, decay)))
    gate = op.Multiply(rate, op.SoftPlus(op.Add(steps, vector(op, step_bias))))
    strength = op.Sigmoid(strengths)
    if strength_factor != 1:
        strength = op.Multiply(strength, op.constant(strength_factor, f32))
    gate, strength = (op.Transpose(each, FEATURES_FIRST) for each in (gate, strength))
    variable = recurrent_variable("ssm", layer)
    before = fixed_state(op, beams, variable, (heads, key_size, value_size))
    results = zeros_of(op, values, (-1, heads, -2, value_size))
    outputs, after = token_steps(op, delta_step, (query, key, value, gate, strength), before, results, 2)
    assign_variable(op, variable, after)
    return op.Reshape(op.Transpose(outputs, HEADS_FIRST), [0, 0, heads * value_size], special_zero=True)


def _head_size(node: LoweringNode, x: SSAValue, heads: int) -> int:
    width = (shape_of(x) or (-1,))[-1]
    if width < 0 or width % heads:
        node.fail(f"{width} features cannot be divided among {heads} heads")
    return width // heads


def _normalized(op: OpBuilder, x: SSAValue, own: int, heads: int, size: int, is_tiled: bool) -> SSAValue:
    """Queries or keys [batch, own, tokens, size] divided by their norms, and repeated so that there are `heads` heads:
    each head by itself, or, with `is_tiled`, all of them one after another.
    """
    parts = op.Reshape(x, [0, 0, own, size], special_zero=True)
    if own != heads:
        # A Broadcast or Gather before the loop is taken for no repetition by GenAI's paged backend, which then expects
        # results of as many heads as the keys have.
        axis, repeats = (2, [1, 1, heads // own, 1, 1]) if is_tiled else (3, [1, 1, 1, heads // own, 1])
        parts = op.Reshape(op.Tile(op.Unsqueeze(parts, [axis]), repeats), [0, 0, heads, size], special_zero=True)
    length = op.Sqrt(op.Add(op.ReduceSum(op.Multiply(parts, parts), [-1], keep_dims=True), op.constant(EPSILON, f32)))
    return op.Transpose(op.Multiply(parts, op.Divide(op.constant(1.0, f32), length)), HEADS_FIRST)
