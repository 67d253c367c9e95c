"""Selective state spaces: a state of each feature, whose decay and update are computed from each token."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.expansions.loops.token_steps import token_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.states import fixed_state, recurrent_variable, zeros_of
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable


@transformers.lowers("SelectiveStateSpace")
def selective_state_space(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    steps: SSAValue,
    inputs: SSAValue,
    outputs: SSAValue,
    decay: SSAValue,
    skip: SSAValue,
    beams: SSAValue,
    *,
    layer: int,
) -> SSAValue:
    """transformers.SelectiveStateSpace(x, steps, inputs, outputs, decay, skip, beams) {layer}
    -> Loop over the tokens: state = exp(-exp(decay) · step) · state + step · x · input; output · state, plus skip · x

    Gu and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023. x and the steps, of which the
    softplus is taken, are [batch, tokens, features], inputs and outputs [batch, tokens, size]. The state
    [batch, features, size] is one of the layer.
    """
    shape, values = shape_of(decay), constant_of(decay)
    if shape is None or len(shape) != 2 or values is None:
        node.fail(f"its decay of the shape {shape} is no constant [features, size]")
    features, size = shape
    rates = -np.exp(np.asarray(values, np.float32))

    def step(op: OpBuilder, slices: list[SSAValue], state: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The state after a token, and the result of the token [batch, 1, features]."""
        width, taken, input_, output = slices
        kept = op.Multiply(op.Exp(op.Multiply(op.Transpose(width, np.array([0, 2, 1])), op.constant(rates, f32))), state)
        after = op.Add(kept, op.MatMul(taken, input_, transpose_a=True))
        return after, op.MatMul(output, after, transpose_b=True)

    widths = op.SoftPlus(steps)
    variable = recurrent_variable("ssm", layer)
    before = fixed_state(op, beams, variable, (features, size))
    cuts = (widths, op.Multiply(widths, x), inputs, outputs)
    joined, after = token_steps(op, step, cuts, before, zeros_of(op, x, (-1, -2, features)), 1)
    assign_variable(op, variable, after)
    return op.Add(joined, op.Multiply(x, vector(op, skip)))
