"""Products with matrices of weights."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import product
from moir.rewriting.builder import OpBuilder


@transformers.lowers("Linear")
def linear(
    node: LoweringNode, op: OpBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None = None, *, activation: str = ""
) -> SSAValue:
    """transformers.Linear(x, weight [N, K], bias) {activation} -> activation(MatMul(x, weight) {transpose_b} + bias)"""
    y = product(node, op, x, weight, bias)
    return activated(node, op, y, activation) if activation else y
