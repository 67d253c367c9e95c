"""Blocks that compute with the value of each token by itself: products, normalizations, sums, embeddings."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import product, restored, vector
from moir.rewriting.builder import OpBuilder


@transformers.lowers("Embedding")
def embedding(op: OpBuilder, rows: SSAValue, table: SSAValue, *, scale: float = 1.0) -> SSAValue:
    """transformers.Embedding(rows, table) {scale} -> Gather(Convert(table), rows, 0) * scale"""
    found = op.Gather(restored(op, table), rows, op.constant(0))
    return found if scale == 1 else op.Multiply(found, op.constant(scale, f32))


@transformers.lowers("Linear")
def linear(
    node: LoweringNode, op: OpBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None = None, *, activation: str = ""
) -> SSAValue:
    """transformers.Linear(x, weight [N, K], bias) {activation} -> activation(MatMul(x, weight) {transpose_b} + bias)"""
    y = product(node, op, x, weight, bias)
    return activated(node, op, y, activation) if activation else y


@transformers.lowers("RMSNorm")
def rms_norm(
    node: LoweringNode, op: OpBuilder, x: SSAValue, weight: SSAValue | None = None, *, epsilon: float, offset: float = 0.0, part: int = -1
) -> SSAValue:
    """transformers.RMSNorm(x, weight) {epsilon, offset, part} -> x / Sqrt(ReduceMean(x²) + epsilon) * (weight + offset)

    Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019. The mean is over the last dimension, or over each
    `part` of it.
    """
    parts, width = parts_of(node, op, x, part)
    mean = op.ReduceMean(op.Power(parts, 2.0), [-1], keep_dims=True)
    normed = op.Multiply(parts, op.Divide(1.0, op.Sqrt(op.Add(mean, epsilon))))
    if weight is not None:
        shape = shape_of(weight) or (part,)
        normed = op.Multiply(normed, vector(op, weight, offset, (1,) * (_rank(parts) - len(shape)) + shape))
    return normed if width is None else op.Reshape(normed, [0, 0, width], special_zero=True)


@transformers.lowers("LayerNorm")
def layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weight: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    epsilon: float,
    offset: float = 0.0,
    part: int = -1,
) -> SSAValue:
    """transformers.LayerNorm(x, weight, bias) {epsilon, offset, part} -> MVN(x) * (weight + offset) + bias

    Ba, Kiros and Hinton, "Layer Normalization", 2016. The mean is over the last dimension, or over each `part` of it.
    """
    parts, width = parts_of(node, op, x, part)
    normed = op.MVN(parts, [-1], normalize_variance=True, eps=epsilon, eps_mode="INSIDE_SQRT")
    if weight is not None:
        normed = op.Multiply(normed, vector(op, weight, offset, shape_of(weight) or (part,)))
    if bias is not None:
        normed = op.Add(normed, vector(op, bias, 0.0, shape_of(bias) or (part,)))
    return normed if width is None else op.Reshape(normed, [0, 0, width], special_zero=True)


def parts_of(node: LoweringNode, op: OpBuilder, x: SSAValue, part: int) -> tuple[SSAValue, int | None]:
    """The parts of the last dimension of x as a dimension of their own, and its size; x and None if it is one part."""
    shape = shape_of(x)
    if part < 0 or (shape is not None and shape[-1] == part):
        return x, None
    if shape is None or shape[-1] < 0 or shape[-1] % part:
        node.fail(f"the last dimension of its operand does not consist of parts of {part}")
    return op.Reshape(x, [0, 0, shape[-1] // part, part], special_zero=True), shape[-1]


def _rank(x: SSAValue) -> int:
    return len(shape_of(x) or ())


@transformers.lowers("Split")
def split(op: OpBuilder, x: SSAValue, *, groups: int, widths: tuple[int, ...]) -> Replacement:
    """transformers.Split(x) {groups, widths} -> VariadicSplit(x, 2, widths), within each group

    x is [batch, tokens, groups * sum(widths)], a result [batch, tokens, groups * width].
    """
    if groups == 1:
        return list(op.VariadicSplit.parts(len(widths), x, op.constant(2), op.constant(np.array(widths, np.int64))))
    grouped = op.Reshape(x, [0, 0, groups, sum(widths)], special_zero=True)
    parts = op.VariadicSplit.parts(len(widths), grouped, op.constant(3), op.constant(np.array(widths, np.int64)))
    return [op.Reshape(each, [0, 0, groups * width], special_zero=True) for each, width in zip(parts, widths, strict=True)]


def soft_cap(op: OpBuilder, x: SSAValue, cap: float) -> SSAValue:
    """cap · tanh(x / cap)"""
    return op.Multiply(op.Tanh(op.Divide(x, cap)), cap)


@transformers.lowers("FirstToken")
def first_token(op: OpBuilder, x: SSAValue) -> SSAValue:
    """transformers.FirstToken(x [batch, tokens, width]) -> Gather(x, 0, 1) [batch, width]"""
    return op.Gather(x, op.constant(0), op.constant(1))


@transformers.lowers("Scale")
def scale(op: OpBuilder, x: SSAValue, *, factor: float) -> SSAValue:
    """transformers.Scale(x) {factor} -> Multiply(x, factor)"""
    return op.Multiply(x, op.constant(factor, f32))


@transformers.lowers("Clip")
def clip(op: OpBuilder, x: SSAValue, *, bound: float) -> SSAValue:
    """transformers.Clip(x) {bound} -> Clamp(x) {min = -bound, max = bound}"""
    return op.Clamp(x, min=-bound, max=bound)


@transformers.lowers("Add")
def add(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """transformers.Add(x, y) -> Add(x, y)"""
    return op.Add(x, y)


@transformers.lowers("SoftCap")
def soft_capped(op: OpBuilder, x: SSAValue, *, cap: float) -> SSAValue:
    """transformers.SoftCap(x) {cap} -> cap · Tanh(x / cap)"""
    return soft_cap(op, x, cap)
