"""Selective state spaces: a state of each feature, whose decay and update are computed from each token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.expansions.loops.state_space import state_step
from moir.expansions.loops.token_steps import token_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.states import fixed_state, recurrent_variable, zeros_of
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable

Array = npt.NDArray[np.float32]


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
    step_bias: SSAValue | None = None,
    *,
    layer: int,
    groups: int = 1,
) -> SSAValue:
    """transformers.SelectiveStateSpace(x, steps, inputs, outputs, decay, skip, beams, step bias) {layer, groups}
    -> Loop over the tokens: state = exp(-exp(decay) · step) · state + step · x · input; output · state, plus skip · x

    Steps are softplus(steps + bias). x and the result are [batch, tokens, features]; the state of the layer is one of
    its variables.

    With a decay [features, size], the steps are [batch, tokens, features], inputs and outputs [batch, tokens, size] (Gu
    and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023). Each number of the state decays
    by itself, so it is a head of the state [batch, size * features, 1, 1].

    With a decay [heads], the steps are [batch, tokens, heads], inputs and outputs [batch, tokens, groups * size]: the
    heads of a group share them (Dao and Gu, "Transformers are SSMs", 2024). The state is [batch, heads, head size,
    size].
    """
    shape, values = shape_of(decay), constant_of(decay)
    if shape is None or len(shape) not in (1, 2) or values is None:
        node.fail(f"its decay of the shape {shape} is no constant [features, size] or [heads]")
    rates = -np.exp(np.asarray(values, np.float32))
    widths = op.SoftPlus(steps if step_bias is None else op.Add(steps, vector(op, step_bias)))
    if len(shape) == 2:
        features, size = shape
        parts, wide = (op.Tile(each, [1, 1, size]) for each in (x, widths))
        read = [op.Unsqueeze(each, [3]) for each in (inputs, outputs)]
        joined = scanned(op, StateSpace(op.Unsqueeze(parts, [3]), wide, read[0], read[1], rates.T.reshape(-1)), beams, layer)
        result = op.ReduceSum(op.Reshape(joined, [0, 0, size, features], special_zero=True), [2], keep_dims=False)
        return op.Add(result, op.Multiply(x, vector(op, skip)))
    features, width = ((shape_of(each) or (-1,))[-1] for each in (x, inputs))
    if features < 1 or features % shape[0] or width < 1 or width % groups or shape[0] % groups:
        node.fail(f"{features} features cannot be divided among {shape[0]} heads, or {width} inputs among {groups} groups")
    heads = op.Reshape(x, [0, 0, shape[0], features // shape[0]], special_zero=True)
    read = [op.Reshape(each, [0, 0, groups, width // groups], special_zero=True) for each in (inputs, outputs)]
    joined = scanned(op, StateSpace(heads, widths, read[0], read[1], rates), beams, layer)
    result = op.Add(joined, op.Multiply(heads, vector(op, skip, 0.0, (-1, 1))))
    return op.Reshape(result, [0, 0, features], special_zero=True)


@dataclass(frozen=True)
class StateSpace:
    """The operands of a selective state space, of f32.

    Args:
        x: [batch, tokens, heads, head size].
        steps: the time steps [batch, tokens, heads].
        inputs, outputs: the input and output matrices (B and C) of each token, [batch, tokens, groups, state size]. The
            consecutive heads of a group share both.
        rates: the decay rate of the state of each head, [heads], negative.
    """

    x: SSAValue
    steps: SSAValue
    inputs: SSAValue
    outputs: SSAValue
    rates: Array


def scanned(op: OpBuilder, space: StateSpace, beams: SSAValue, layer: int) -> SSAValue:
    """The results [batch, tokens, heads, head size] of a state space, whose state is stored in a variable of the
    layer.
    """
    heads, size, groups, width = (dimension for each in (space.x, space.inputs) for dimension in (shape_of(each) or (-1,) * 4)[2:])
    variable = recurrent_variable("ssm", layer)
    before = fixed_state(op, beams, variable, (heads, size, width))

    def spread(x: SSAValue) -> SSAValue:
        """The values of groups [batch, tokens, groups, …] repeated for each head: [batch, tokens, heads, state
        size].
        """
        repeated = op.Tile(op.Unsqueeze(x, [3]), [1, 1, 1, heads // groups, 1])
        return op.Reshape(repeated, [0, 0, heads, width], special_zero=True)

    factors = op.Reshape(op.Exp(op.Multiply(op.constant(space.rates, f32), space.steps)), [0, 0, heads, 1, 1], special_zero=True)
    weighted = op.Multiply(op.Unsqueeze(space.steps, [3]), spread(space.inputs))
    updates = op.Multiply(op.Unsqueeze(weighted, [3]), op.Unsqueeze(space.x, [4]))
    cuts = (factors, updates, op.Unsqueeze(spread(space.outputs), [3]))
    joined, after = token_steps(op, state_step, cuts, before, zeros_of(op, space.x, (-1, -2, heads, size)), 1)
    assign_variable(op, variable, after)
    return joined
