"""Comparisons of complex numbers, by both of their parts."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.complex_numbers import is_zero, parts
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def equality(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Equal(x, y) -> whether both parts are equal"""
    return op.ReduceLogicalAnd(op.Equal(node.operand(0), node.operand(1)), [-1], keep_dims=False)


def inequality(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.NotEqual(x, y) -> whether one of the parts differs"""
    return op.LogicalNot(equality(node, op))


def coordinates(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Where(x) -> the coordinates of the complex numbers other than 0"""
    differs = op.LogicalNot(is_zero(op, parts(op, node.operand(0))))
    return op.Transpose(op.NonZero(differs, output_type=si64), [1, 0])
