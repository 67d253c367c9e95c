"""Feed-forward blocks with experts: a router chooses some of them for each token.

All experts are written as products of one constant [experts, rows, columns]; this form shows that few of them are
chosen, so that a target need not compute the others.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.arithmetic import soft_cap
from moir.lowering.transformers.convolution import END
from moir.lowering.transformers.routing import Routing, expert_weights
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import product, restored, vector
from moir.rewriting.builder import OpBuilder


@transformers.lowers("MixtureOfExperts")
def mixture_of_experts(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    router: SSAValue,
    gate: SSAValue,
    up: SSAValue,
    down: SSAValue,
    router_bias: SSAValue | None = None,
    gate_bias: SSAValue | None = None,
    up_bias: SSAValue | None = None,
    down_bias: SSAValue | None = None,
    correction: SSAValue | None = None,
    router_input: SSAValue | None = None,
    factors: SSAValue | None = None,
    *,
    chosen: int,
    scores: str,
    is_normalized: bool = False,
    least_sum: float = 0.0,
    scale: float = 1.0,
    groups: int = 1,
    chosen_groups: int = 1,
    group_score: str = "best",
    jitter: float = 0.0,
    cap: float = 0.0,
    activation: str,
    limit: float = 0.0,
    slope: float = 1.0,
    is_interleaved: bool = False,
    is_plain: bool = False,
    scales_inputs: bool = False,
) -> SSAValue:
    """transformers.MixtureOfExperts(x, router, gate, up, down, biases, correction, router input, factors) {chosen, …}
    -> ReduceSum(weights * (activation(tokens · gate) * (tokens · up)) · down) over the experts

    Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer", 2017. The
    matrices of the experts are [experts, rows, columns], their biases [experts, rows]. The weights are 0 for experts
    that a token did not choose. With `is_interleaved` gate and up are one value, in which their rows
    alternate; with `is_plain` gate is up, and the inner value is activation(tokens · up). The router reads x unless it
    has an input of its own; `factors` [experts] are multiplied with the weights. With `scales_inputs` the experts
    compute the products of tokens and weights, and their results are added. The logits of the router are
    cap · tanh(logits / cap) if there is a `cap`.
    """
    shape = shape_of(gate)
    width = (shape_of(x) or (-1,))[-1]
    if shape is None or len(shape) != 3 or width < 0:
        node.fail(f"its matrices of the shape {shape} are not those of experts")
    count = shape[0]
    tokens = op.Reshape(x, [-1, width], special_zero=False)
    routing = Routing(chosen, scores, is_normalized, least_sum, scale, groups, chosen_groups, group_score, jitter)
    routed = tokens if router_input is None else op.Reshape(router_input, [-1, width], special_zero=False)
    logits = product(node, op, routed, router, router_bias)
    weights = expert_weights(node, op, soft_cap(op, logits, cap) if cap else logits, routing, correction)
    if factors is not None:
        weights = op.Multiply(weights, vector(op, factors))
    each = op.Reshape(op.Tile(tokens, [count, 1]), [count, -1, width], special_zero=False)
    if scales_inputs:
        each = op.Multiply(each, op.Unsqueeze(op.Transpose(weights, np.array([1, 0])), [2]))
    gates = _products(op, each, gate, gate_bias)
    if is_plain:
        inner = activated(node, op, gates, activation)
    else:
        if is_interleaved:
            gates, ups = (_every_second(op, gates, first) for first in (0, 1))
        else:
            ups = _products(op, each, up, up_bias)
        inner = op.Multiply(*_gated(node, op, gates, ups, activation, limit, slope))
    results = _products(op, inner, down, down_bias)
    sizes = op.Concat(op.constant([count]), op.Gather(op.ShapeOf(x), [0, 1], 0), axis=0)
    results = op.Reshape(results, op.Concat(sizes, op.constant([width]), axis=0), special_zero=False)
    if scales_inputs:
        return op.ReduceSum(results, [0], keep_dims=False)
    columns = op.Unsqueeze(op.Reshape(op.Transpose(weights, np.array([1, 0])), sizes, special_zero=False), [3])
    return op.ReduceSum(op.Multiply(results, columns), [0], keep_dims=False)


def _products(op: OpBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None) -> SSAValue:
    """The products of values x [experts, tokens, columns] with the matrix of each expert, plus the bias if there is
    one.
    """
    y = op.MatMul(x, restored(op, weight), transpose_b=True)
    if bias is None:
        return y
    count, rows = shape_of(bias) or (-1, -1)
    return op.Add(y, vector(op, bias, 0.0, (count, 1, rows)))


def _every_second(op: OpBuilder, x: SSAValue, first: int) -> SSAValue:
    """Every second element of the last of three dimensions, from index `first` on."""
    return op.Slice(x, op.constant([first]), op.constant([END]), op.constant([2]), op.constant([2]))


def _gated(
    node: LoweringNode, op: OpBuilder, gate: SSAValue, up: SSAValue, activation: str, limit: float, slope: float
) -> tuple[SSAValue, SSAValue]:
    """Both factors of the inner value of a gated layer: the activation of `gate`, and `up`.

    For `clamped swish` (gpt-oss) they are min(gate, limit) · sigmoid(slope · min(gate, limit)) and clamp(up, ±limit) +
    1.
    """
    if activation != "clamped swish":
        return activated(node, op, gate, activation), up
    gate = op.Minimum(gate, limit)
    return op.Multiply(gate, op.Sigmoid(op.Multiply(gate, slope))), op.Add(op.Clamp(up, min=-limit, max=limit), 1.0)
