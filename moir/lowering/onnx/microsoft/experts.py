"""Mixtures of experts of the domain com.microsoft: MoE with floats, QMoE with packed integers.

    %y = onnx.com.microsoft.MoE(%x, %router, %fc1, %bias1, %fc2, %bias2) {k = 2, activation_type = "silu"}
->  %0 = opset1.MatMul(%x for each expert, %fc1) {transpose_b} + %bias1
    %1 = opset1.MatMul(Swish(%0), %fc2) {transpose_b} + %bias2
    %y = opset1.ReduceSum(%1 * weights, [0])

All experts are written as products of one tensor [experts, rows, columns]; the weights are 0 for experts that a token
did not choose. Shazeer et al., "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer", 2017.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.constant_forms import reshaped
from moir.expansions.quantization import dequantized
from moir.expansions.shape_values import LARGEST_SIZE
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.microsoft.elementwise import gated_swish
from moir.lowering.onnx.microsoft.packed_weights import integer_weights, unpacked
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

ACTIVATIONS: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "relu": lambda op, x: op.Relu(x),
    "gelu": lambda op, x: op.Gelu(x, approximation_mode="TANH"),
    "silu": lambda op, x: op.Swish(x),
    "identity": lambda _, x: x,
    "relu2": lambda op, x: op.Power(op.Relu(x), 2.0),
}
"""The activations that take one value; swiglu and geglu take two."""


class Layer(Record):
    """A matrix for each expert [experts, rows, columns], and biases [experts, rows]; None for an absent one."""

    weight: SSAValue
    bias: SSAValue | None

    def product(self, op: OpBuilder, x: SSAValue) -> SSAValue:
        """The products of the values [experts, tokens, columns] with the matrix of each expert, plus the biases."""
        y = op.MatMul(x, self.weight, transpose_b=True)
        if self.bias is None:
            return y
        shape = shape_of(self.bias)
        if shape is None or -1 in shape:
            return op.Add(y, op.Unsqueeze(self.bias, [1]))
        return op.Add(y, reshaped(op, self.bias, (shape[0], 1, shape[1])))


@onnx.lowers("com.microsoft.MoE")
def mixture_of_experts(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.com.microsoft.MoE(x, router, fc1, bias1, fc2, bias2, fc3, bias3) {k, activation_type, …}
    -> ReduceSum(weights * (activation(x · fc1 + bias1) · fc2 + bias2)) over the experts
    """
    layers = [None if (weight := node.optional(index)) is None else Layer(weight, node.optional(index + 1)) for index in (2, 4, 6)]
    return _mixture(node, op, layers)


@onnx.lowers("com.microsoft.QMoE")
def mixture_of_quantized_experts(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.com.microsoft.QMoE(x, router, fc1, scales1, bias1, fc2, scales2, bias2, fc3, scales3, bias3, zeros1, …)
    -> as com.microsoft.MoE, of dequantized matrices
    """
    if (kind := node.text("quant_type", "int")) != "int":
        node.fail(f"weights of quant_type {kind!r} are not supported", hint="export the model with integers")
    if node.flag("weights_prepacked") and node.integer("weights_prepacked") > 0:
        node.fail("its weights are prepacked for a GPU", hint="export the model without prepacked weights")
    if any(node.optional(index) is not None for index in range(14, len(node.values))):
        node.fail("router weights and scales of activations are not supported")
    layers = [_quantized_layer(node, op, number) for number in (1, 2, 3)]
    return _mixture(node, op, layers)


def _quantized_layer(node: LoweringNode, op: OpBuilder, number: int) -> Layer | None:
    """The layer fc`number`, 1 to 3, with a dequantized matrix; None if the node does not have it.

    Raises ConversionError if its matrix, scales or zero points are no constants, or do not fit each other.
    """
    index = number * 3 - 1
    if node.optional(index) is None:
        return None
    bits = node.integer(f"fc{number}_expert_weight_bits", node.integer("expert_weight_bits", 4))
    packed, scales, zeros = node.constant(index), node.constant(index + 1), node.constant(10 + number)
    if packed is None or scales is None or (zeros is None and node.optional(10 + number) is not None):
        node.fail(f"the matrices of fc{number} are no constants", hint="make weights, scales and zero points initializers")
    if bits not in (2, 4, 8) or packed.ndim != 3:
        node.fail(f"weights of {bits} bits with {packed.ndim} dimensions are not supported")
    values = unpacked(packed.view(np.uint8), bits)
    count, rows, columns = values.shape
    blocks = scales.reshape(count, rows, -1).shape[-1]
    if scales.shape[:2] != (count, rows) or columns % blocks:
        node.fail(f"scales {list(scales.shape)} are not those of matrices {[count, rows, columns]}")
    points = np.full((1, 1, 1, 1), 2 ** (bits - 1), np.uint8)
    if zeros is not None:
        points = unpacked(zeros.view(np.uint8), bits)
        points = points.reshape(count, -1)[:, :rows] if scales.ndim == 2 else points[..., :blocks]
        points = points.reshape(count, rows, blocks, 1)
    stored = integer_weights(op, values.reshape(count, rows, blocks, columns // blocks), bits)
    element = node.element(0)
    factors = op.constant_like(scales.reshape(count, rows, blocks, 1), node.operand(0))
    how = Quantization(factors, op.constant_like(points, node.operand(0)), IntegerRange(max(bits, 4), False))
    matrix = op.Reshape(dequantized(op, stored, how, element), [count, rows, columns], special_zero=False)
    return Layer(matrix, node.optional(index + 2))


def _mixture(node: LoweringNode, op: OpBuilder, layers: list[Layer | None]) -> SSAValue:
    """The result of a mixture of experts, given the layers fc1, fc2 and fc3, some of which may be None."""
    first, second, third = layers
    x, router = node.operand(0), node.operand(1)
    if first is None or second is None:
        node.fail("the matrices fc1 or fc2 are missing")
    count, width = (shape_of(second.weight) or (-1,))[0], (shape_of(second.weight) or (-1, -1))[1]
    if min(count, width) < 0 or rank_of(x) not in (None, 2, 3):
        node.fail(f"the shape {shape_of(second.weight)} of its matrices is not static, or x {shape_of(x)} has not 2 or 3 dimensions")
    tokens = op.Reshape(x, [-1, width], special_zero=False)
    each = op.Reshape(op.Tile(tokens, [count, 1]), [count, -1, width], special_zero=False)
    inner = _inner_values(node, op, each, first, third)
    weights = op.convert(_expert_weights(node, op, op.convert(router, f32)), element_of(x))
    columns = op.Unsqueeze(op.Transpose(weights, [1, 0]), [2])
    result = op.ReduceSum(op.Multiply(second.product(op, inner), columns), [0], keep_dims=False)
    return result if rank_of(x) == 2 else reshaped_like(op, result, x)


def _expert_weights(node: LoweringNode, op: OpBuilder, scores: SSAValue) -> SSAValue:
    """The weight of each expert for each token [tokens, experts]: its probability if it is one of the k best,
    else 0.
    """
    if node.flag("use_sparse_mixer"):
        node.fail("use_sparse_mixer is not supported")
    probabilities = op.Softmax(scores, axis=-1)
    best, indices = op.TopK.results(probabilities, node.integer("k", 1), axis=-1, mode="max", sort="value", stable=True)
    if node.flag("normalize_routing_weights"):
        best = op.Divide(best, op.ReduceSum(best, [-1], keep_dims=True))
    zeros = op.Multiply(probabilities, 0.0)
    return op.ScatterElementsUpdate(zeros, indices, best, -1)


def _inner_values(node: LoweringNode, op: OpBuilder, x: SSAValue, first: Layer, third: Layer | None) -> SSAValue:
    """The activations between the layers: of x · fc1; gated activations also take x · fc3, or the second half of x ·
    fc1.
    """
    kind, fusion = node.text("activation_type", "relu"), node.integer("swiglu_fusion", 0)
    if node.flag("swiglu_limit_after_activation"):
        node.fail("swiglu_limit_after_activation is not supported")
    y = first.product(op, x)
    if kind not in ("swiglu", "geglu"):
        if kind not in ACTIVATIONS:
            node.fail(f"activation {kind!r} is not one of {', '.join([*ACTIVATIONS, 'swiglu', 'geglu'])}")
        gate = ACTIVATIONS[kind](op, y)
        return gate if third is None else op.Multiply(gate, third.product(op, x))
    if fusion == 1:
        gate, up = (op.Slice(y, [start], [LARGEST_SIZE], [2], [2]) for start in (0, 1))
    elif fusion == 2:
        gate, up = op.Split.parts(2, y, -1, num_splits=2)
    elif third is not None and kind == "swiglu":
        gate, up = y, third.product(op, x)
    else:
        node.fail(f"swiglu_fusion is {fusion}, but there is no matrix fc3")
    if kind == "geglu":
        return op.Multiply(op.Gelu(gate, approximation_mode="TANH"), up)
    limit = node.number("swiglu_limit", float("inf"))
    slope, shift = node.number("activation_alpha", 1.0), node.number("activation_beta", 0.0)
    return gated_swish(op, gate, up, slope, shift, limit if np.isfinite(limit) else None)
