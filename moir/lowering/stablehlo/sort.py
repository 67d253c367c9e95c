"""Sorts in the order of a comparator, and the largest elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.reduction import own_operands
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.order_of_nan import may_be_nan, with_nan_as_extreme
from moir.lowering.xla.sorting import sorted_by
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("sort")
def sort(node: LoweringNode, op: OpBuilder, *, dimension: int = -1) -> Sequence[SSAValue]:
    """stablehlo.sort(x…) {dimension} -> opset11.TopK of the key, opset6.GatherElements of the others"""
    return sorted_by(node, op, node.op.regions[0], own_operands(node), dimension % max(node.known_rank(0), 1))


@stablehlo.lowers("chlo.top_k")
def top_k(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, k: int) -> Sequence[SSAValue]:
    """stablehlo.chlo.top_k(x) {k} -> opset11.TopK(x, k) along the last axis

    The total order of floats, in which -0 is less than 0, would need a second sort by the signs of zeros.
    """
    return _largest(node, op, operand, op.constant(k, si64))


def _largest(node: LoweringNode, op: OpBuilder, operand: SSAValue, count: SSAValue) -> Sequence[SSAValue]:
    """The `count` largest elements along the last axis and their indices; NaN is above all numbers."""
    key = with_nan_as_extreme(op, operand, largest=True) if may_be_nan(op, operand) else operand
    values, indices = op.TopK.results(key, count, axis=-1, mode="max", sort="value", stable=True, index_element_type=si32)
    if key is not operand:
        values = op.GatherElements(operand, indices, axis=node.known_rank(0) - 1)
    return [values, indices][: node.result_count]


@stablehlo.lowers("dynamic_top_k")
def dynamic_top_k(node: LoweringNode, op: OpBuilder, operand: SSAValue, k: SSAValue) -> Sequence[SSAValue]:
    """stablehlo.dynamic_top_k(x, k) -> opset11.TopK(x, k) along the last axis"""
    return _largest(node, op, operand, op.Reshape(op.convert(k, si64), [], special_zero=False))
