"""Elementwise sums, factors and bounds."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import restored, vector
from moir.rewriting.builder import OpBuilder


def soft_cap(op: OpBuilder, x: SSAValue, cap: float) -> SSAValue:
    """The soft-capped x, cap · tanh(x / cap)."""
    return op.Multiply(op.Tanh(op.Divide(x, cap)), cap)


@transformers.lowers("SoftCap")
def soft_capped(op: OpBuilder, x: SSAValue, *, cap: float) -> SSAValue:
    """transformers.SoftCap(x) {cap} -> cap · Tanh(x / cap)"""
    return soft_cap(op, x, cap)


@transformers.lowers("Scale")
def scale(op: OpBuilder, x: SSAValue, weight: SSAValue | None = None, *, factor: float) -> SSAValue:
    """transformers.Scale(x, weight) {factor} -> Multiply(Multiply(x, factor), weight)

    The weight is one number, or one for each element of the last dimension.
    """
    scaled = x if factor == 1 and weight is not None else op.Multiply(x, op.constant(factor, f32))
    return scaled if weight is None else op.Multiply(scaled, vector(op, weight))


@transformers.lowers("Clip")
def clip(op: OpBuilder, x: SSAValue, *, bound: float) -> SSAValue:
    """transformers.Clip(x) {bound} -> Clamp(x) {min = -bound, max = bound}"""
    return op.Clamp(x, min=-bound, max=bound)


@transformers.lowers("Add")
def add(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """transformers.Add(x, y) -> Add(x, y); y may be a weight"""
    return op.Add(x, restored(op, y))


@transformers.lowers("Difference")
def difference(
    op: OpBuilder, x: SSAValue, y: SSAValue, query_1: SSAValue, key_1: SSAValue, query_2: SSAValue, key_2: SSAValue, *, start: float
) -> SSAValue:
    """transformers.Difference(x, y, query_1, key_1, query_2, key_2) {start}
    -> x - y · (Exp(ReduceSum(query_1 · key_1)) - Exp(ReduceSum(query_2 · key_2)) + start)
    """
    pairs = ((query_1, key_1), (query_2, key_2))
    first, second = (op.Exp(op.ReduceSum(op.Multiply(vector(op, a), vector(op, b)), [0], keep_dims=True)) for a, b in pairs)
    return op.Subtract(x, op.Multiply(y, op.Add(op.Subtract(first, second), start)))


@transformers.lowers("Multiply")
def multiply(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """transformers.Multiply(x, y) -> Multiply(x, y)"""
    return op.Multiply(x, y)


@transformers.lowers("Gate")
def gate(node: LoweringNode, op: OpBuilder, x: SSAValue, gates: SSAValue, *, activation: str = "sigmoid", heads: int = 1) -> SSAValue:
    """transformers.Gate(x, gates) {activation, heads} -> Multiply(x, activation(gates))

    With several heads x is [batch, tokens, heads * size], and the gates [batch, tokens, heads].
    """
    factors = activated(node, op, gates, activation)
    if heads == 1:
        return op.Multiply(x, factors)
    width = (shape_of(x) or (-1,))[-1]
    parts = op.Reshape(x, [0, 0, heads, width // heads], special_zero=True)
    return op.Reshape(op.Multiply(parts, op.Unsqueeze(factors, [3])), [0, 0, width], special_zero=True)
