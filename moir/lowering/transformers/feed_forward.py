"""Feed-forward blocks with one multilayer perceptron for all tokens."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import product, vector
from moir.rewriting.builder import OpBuilder


@transformers.lowers("MLP")
def mlp(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    up: SSAValue,
    down: SSAValue,
    up_bias: SSAValue | None = None,
    down_bias: SSAValue | None = None,
    *,
    activation: str,
) -> SSAValue:
    """transformers.MLP(x, up, down, biases) {activation} -> MatMul(activation(MatMul(x, up) + bias), down) + bias"""
    return product(node, op, activated(node, op, product(node, op, x, up, up_bias), activation), down, down_bias)


@transformers.lowers("GatedMLP")
def gated_mlp(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gate: SSAValue,
    up: SSAValue,
    down: SSAValue,
    gate_bias: SSAValue | None = None,
    up_bias: SSAValue | None = None,
    down_bias: SSAValue | None = None,
    *,
    activation: str,
    cutoff: float | None = None,
    gate_factor: float = 1.0,
) -> SSAValue:
    """transformers.GatedMLP(x, gate, up, down, biases) {activation, cutoff, gate_factor}
    -> MatMul(activation((MatMul(x, gate) + bias) * factor) * (MatMul(x, up) + bias), down) + bias

    Shazeer, "GLU Variants Improve Transformer", 2020. With `cutoff` gates of less than their mean and `cutoff` standard
    deviations are 0, others are what they have more (Gemma 3n).
    """
    gates = product(node, op, x, gate, gate_bias)
    if gate_factor != 1:
        gates = op.Multiply(gates, gate_factor)
    if cutoff is not None:
        mean = op.ReduceMean(gates, [-1], keep_dims=True)
        deviation = op.Sqrt(op.ReduceMean(op.Power(op.Subtract(gates, mean), 2.0), [-1], keep_dims=True))
        gates = op.Relu(op.Subtract(gates, op.Add(mean, op.Multiply(deviation, cutoff))))
    inner = activated(node, op, gates, activation)
    return product(node, op, op.Multiply(inner, product(node, op, x, up, up_bias)), down, down_bias)


@transformers.lowers("PackedGatedMLP")
def packed_gated_mlp(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gate_up: SSAValue,
    down: SSAValue,
    bias: SSAValue | None = None,
    down_bias: SSAValue | None = None,
    *,
    activation: str,
) -> SSAValue:
    """transformers.PackedGatedMLP(x, gate and up, down, biases) {activation}
    -> VariadicSplit(MatMul(x, gate and up)), then as GatedMLP

    The first half of the rows of the first matrix is the gate.
    """
    both = product(node, op, x, gate_up, bias)
    shape = shape_of(gate_up)
    if shape is None:
        node.fail("the shape of its weight is unknown")
    size = shape[0] // 2
    first, second = op.VariadicSplit.parts(2, both, op.constant(-1), op.constant(np.array([size, size], np.int64)))
    return product(node, op, op.Multiply(activated(node, op, first, activation), second), down, down_bias)


@transformers.lowers("XIELU")
def xielu(op: OpBuilder, x: SSAValue, alpha_p: SSAValue, alpha_n: SSAValue, beta: SSAValue, eps: SSAValue) -> SSAValue:
    """transformers.XIELU(x, αp, αn, β, ε)
    -> Select(x > 0, softplus(αp) · x², (softplus(αn) + β) · (eˣ - 1 - x)) + β · x

    Huang and Schlag, "Deriving Activation Functions Using Integration", 2024. The exponential is of min(x, ε).
    """
    beta_value = vector(op, beta)
    upper = op.Multiply(op.SoftPlus(vector(op, alpha_p)), op.Multiply(x, x))
    lower = op.Subtract(op.Subtract(op.Exp(op.Minimum(x, vector(op, eps))), 1.0), x)
    lower = op.Multiply(lower, op.Add(op.SoftPlus(vector(op, alpha_n)), beta_value))
    return op.Add(op.Select(op.Greater(x, op.constant(0.0, f32)), upper, lower), op.Multiply(x, beta_value))
