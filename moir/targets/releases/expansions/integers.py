"""Operations on the bits of integers as arithmetic, and on booleans as logic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import boolean, to_numpy
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def logical(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """opset13.BitwiseAnd(x, y) -> opset1.LogicalAnd(x, y) of booleans; likewise BitwiseOr. None for integers."""
    if element_of(node.operands[0]) != boolean:
        return None
    return op[f"opset1.Logical{node.KIND.removeprefix('Bitwise')}"](*node.operands)


def exclusive_or(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """opset13.BitwiseXor(x, y) -> opset1.NotEqual(x, y) of booleans; None for integers."""
    return op.NotEqual(*node.operands) if element_of(node.operands[0]) == boolean else None


def complement(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """opset13.BitwiseNot(x) -> -1 - x, for unsigned integers with all bits set in place of -1; LogicalNot for
    booleans.
    """
    x = node.operands[0]
    element = element_of(x)
    if element == boolean:
        return op.LogicalNot(x)
    return op.Subtract(op.constant(np.array(0).astype(to_numpy(element)) - np.array(1, to_numpy(element)), element), x)


def shift_left(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """x · 2ⁿ; None if n is not constant."""
    factors = _powers(node)
    return None if factors is None else op.Multiply(node.operands[0], op.constant(factors, element_of(node.operands[0])))


def shift_right(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """(x - x mod 2ⁿ) / 2ⁿ, which rounds down and divides without a remainder; None if n is not constant."""
    factors = _powers(node)
    if factors is None:
        return None
    x, divisor = node.operands[0], op.constant(factors, element_of(node.operands[0]))
    return op.Divide(op.Subtract(x, op.FloorMod(x, divisor)), divisor)


def _powers(node: OpsetOp) -> np.ndarray | None:
    """2 to the power of a constant second operand, in the element type of the first.

    None if the operand is not constant, or a power overflows.
    """
    counts, dtype = constant_of(node.operands[1]), to_numpy(element_of(node.operands[0]))
    if counts is None or counts.size == 0 or counts.min() < 0 or counts.max() >= np.iinfo(dtype).bits - 1:
        return None
    return np.left_shift(np.ones(counts.shape, dtype), counts.astype(dtype))


EXPANSIONS: Mapping[str, Expansion] = {
    "opset13.BitwiseAnd": logical,
    "opset13.BitwiseOr": logical,
    "opset13.BitwiseXor": exclusive_or,
    "opset13.BitwiseNot": complement,
    "opset15.BitwiseLeftShift": shift_left,
    "opset15.BitwiseRightShift": shift_right,
}
