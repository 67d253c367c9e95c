"""Comparison, logic, bits and selection.

Comparisons are computed in the element type to which PyTorch promotes their operands.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, describe
from moir.dialects.shapes import element_of
from moir.frameworks.traits import ELEMENTWISE
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import as_element, inferred_element, promoted
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

COMPARISONS = {
    **{"eq": "Equal", "ne": "NotEqual", "lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"},
    **{"not_equal": "NotEqual", "less": "Less", "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual"},
}
"""The operations of comparisons."""


@aten.lowers(
    "eq.Tensor", "eq.Scalar", "ne.Tensor", "ne.Scalar", complex=by_formula("pytorch.complex.arithmetic:equal"), traits=(ELEMENTWISE,)
)
@aten.lowers(
    *(f"{name}.{overload}" for name in COMPARISONS if name not in ("eq", "ne") for overload in ("Tensor", "Scalar")), traits=(ELEMENTWISE,)
)
def compare(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.lt.Tensor(x, y) -> opset1.Less(x, y), and so on"""
    name = COMPARISONS[node.op.KIND.partition(".")[0]]
    element = promoted([self, other])
    return getattr(op, name)(*as_element(op, element, self, other))


def truth(op: OpBuilder, value: Scalar) -> SSAValue:
    """A value as booleans: whether it is not 0."""
    if not isinstance(value, SSAValue):
        return op.constant(bool(value), boolean)
    return value if element_of(value) == boolean else op.NotEqual(value, 0)


@aten.lowers("logical_and.default", "logical_or.default", "logical_xor.default", traits=(ELEMENTWISE,))
def logical(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.logical_and.default(x, y) -> opset1.LogicalAnd(x ≠ 0, y ≠ 0), and so on"""
    build = {"logical_and": op.LogicalAnd, "logical_or": op.LogicalOr, "logical_xor": op.LogicalXor}
    return build[node.op.KIND.partition(".")[0]](truth(op, self), truth(op, other))


@aten.lowers(
    *(f"bitwise_{name}.{overload}" for name in ("and", "or", "xor") for overload in ("Tensor", "Scalar", "Scalar_Tensor")),
    *(f"__{name}__.{overload}" for name in ("and", "or", "xor") for overload in ("Tensor", "Scalar")),
    traits=(ELEMENTWISE,),
)
def bitwise(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.bitwise_and.Tensor(x, y) -> opset13.BitwiseAnd(x, y), of booleans LogicalAnd, and so on"""
    name = node.op.KIND.partition(".")[0].strip("_").removeprefix("bitwise_")
    x, y = as_element(op, inferred_element(node), self, other)
    if element_of(x) == boolean:
        return {"and": op.LogicalAnd, "or": op.LogicalOr, "xor": op.LogicalXor}[name](x, y)
    return {"and": op.BitwiseAnd, "or": op.BitwiseOr, "xor": op.BitwiseXor}[name](x, y)


@aten.lowers(
    *(f"__{name}__.{overload}" for name in ("lshift", "rshift") for overload in ("Tensor", "Scalar")),
    *(f"bitwise_{name}_shift.{overload}" for name in ("left", "right") for overload in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")),
    traits=(ELEMENTWISE,),
)
def shift(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.bitwise_left_shift.Tensor(x, y) -> opset15.BitwiseLeftShift(x, y); `rshift` -> opset15.BitwiseRightShift

    A shift by at least the number of bits, or by a negative number, moves all bits out: the result is 0, or for a
    right shift the sign.
    """
    element = inferred_element(node)
    x, y = as_element(op, element, self, other)
    is_left = "lshift" in node.op.KIND or "left" in node.op.KIND
    bits = describe(element).bits
    if not isinstance(other, SSAValue) and 0 <= other < bits:
        return op.BitwiseLeftShift(x, y) if is_left else op.BitwiseRightShift(x, y)
    kept = op.LogicalAnd(op.GreaterEqual(y, 0), op.Less(y, bits))
    shifts = op.Select(kept, y, op.constant_like(bits - 1, y))
    if not is_left:
        return op.BitwiseRightShift(x, shifts)
    return op.Multiply(op.BitwiseLeftShift(x, shifts), op.convert(kept, element))


@aten.lowers("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar", complex=JOINED, traits=(ELEMENTWISE,))
def where(node: LoweringNode, op: OpBuilder, condition: SSAValue, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.where.self(condition, x, y) -> opset1.Select(condition, x, y)"""
    return op.Select(truth(op, condition), *as_element(op, inferred_element(node), self, other))


@aten.lowers("masked_fill.Scalar", "masked_fill.Tensor", complex=JOINED, traits=(ELEMENTWISE,))
def masked_fill(node: LoweringNode, op: OpBuilder, self: SSAValue, mask: SSAValue, *, value: Scalar) -> SSAValue:
    """aten.masked_fill.Scalar(x, mask) {value} -> opset1.Select(mask, value, x)"""
    x, filled = as_element(op, inferred_element(node), self, value)
    return op.Select(truth(op, mask), filled, x)
