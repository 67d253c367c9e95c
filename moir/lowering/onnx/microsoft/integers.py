"""Operations of the domain com.microsoft on integers, with results of 32 bits, and operations that check numbers.

    %y = onnx.com.microsoft.MulInteger(%a, %a_zero, %b, %b_zero)
->  %y = opset1.Multiply(opset1.Convert(%a) - %a_zero, opset1.Convert(%b) - %b_zero)
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32, ui8, ui16, ui32
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


def _sum_type(value: SSAValue) -> Attribute:
    """The 32-bit type of sums and products of integers: u32 if they are unsigned, else i32."""
    return ui32 if element_of(value) in (ui8, ui16) else si32


@onnx.lowers("com.microsoft.MulInteger")
def integer_multiplication(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.com.microsoft.MulInteger(a, a_zero, b, b_zero) -> (a - a_zero) * (b - b_zero), as i32 or u32"""
    a, b = (_shifted(op, node.operand(index), node.optional(index + 1)) for index in (0, 2))
    return op.convert(op.Multiply(a, b), _sum_type(node.operand(0)))


def _shifted(op: OpBuilder, value: SSAValue, zero_point: SSAValue | None) -> SSAValue:
    """Integers minus their zero point, as i32."""
    wide = op.convert(value, si32)
    return wide if zero_point is None else op.Subtract(wide, op.convert(zero_point, si32))


@onnx.lowers("com.microsoft.ReduceSumInteger")
def integer_sum(op: OpBuilder, data: SSAValue, *, axes: tuple[int, ...], keepdims: bool = True) -> SSAValue:
    """onnx.com.microsoft.ReduceSumInteger(data) {axes, keepdims} -> ReduceSum(Convert(data), axes) {keep_dims}"""
    over = list(axes) or all_axes(op, data)
    return op.convert(op.ReduceSum(op.convert(data, si32), over, keep_dims=keepdims), _sum_type(data))


@onnx.lowers("com.microsoft.IsAllFinite")
def is_all_finite(node: LoweringNode, op: OpBuilder, *inputs: SSAValue, isinf_only: bool = False, isnan_only: bool = False) -> SSAValue:
    """onnx.com.microsoft.IsAllFinite(x, …) {isinf_only, isnan_only} -> ReduceLogicalAnd(IsFinite(x)), …"""
    if isinf_only and isnan_only:
        node.fail("isinf_only and isnan_only exclude each other")

    def is_valid(x: SSAValue) -> SSAValue:
        if isinf_only:
            return op.LogicalNot(op.IsInf(x))
        return op.LogicalNot(op.IsNaN(x)) if isnan_only else op.IsFinite(x)

    checks = [op.ReduceLogicalAnd(is_valid(x), all_axes(op, x), keep_dims=False) for x in inputs]
    return reduce(op.LogicalAnd, checks)
