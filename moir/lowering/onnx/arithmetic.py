"""Elementwise arithmetic with broadcasting, and operations on bits.

    %y = onnx.Sum(%a, %b, %c)
->  %0 = opset1.Add(%a, %b)
    %y = opset1.Add(%0, %c)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import (
    INTEGER_TYPES,
    REAL_TYPES,
    bf16,
    dynamic,
    f16,
    si8,
    si16,
    si32,
    si64,
    to_numpy,
)
from moir.dialects.shapes import element_of
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import aligned
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import broadcast
from moir.rewriting.builder import OpBuilder


@onnx.lowers("BitwiseNot")
def bitwise_not(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.BitwiseNot(x) -> opset13.BitwiseNot(x)"""
    return op.BitwiseNot(x)


@onnx.lowers("Add", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mul", "Sub", rank=broadcast)
def binary(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, axis: int | None = None, broadcast: bool = False) -> SSAValue:
    """onnx.Sub(a, b) -> opset1.Subtract(a, b); likewise Add, Mul, BitwiseAnd, BitwiseOr and BitwiseXor"""
    return operation(op, node.op.KIND)(a, aligned(node, op, b, axis, broadcast))


@onnx.lowers("Div", rank=broadcast)
def divide(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, axis: int | None = None, broadcast: bool = False) -> SSAValue:
    """onnx.Div(a, b) -> opset1.Divide(a, b), where the quotient of integers is rounded towards zero"""
    return op.Divide(a, aligned(node, op, b, axis, broadcast), m_pythondiv=element_of(a) in REAL_TYPES)


@onnx.lowers("Mod", rank=broadcast)
def remainder(op: OpBuilder, a: SSAValue, b: SSAValue, *, fmod: bool = False) -> SSAValue:
    """onnx.Mod(a, b) {fmod} -> opset1.Mod(a, b), opset1.FloorMod(a, b) without fmod"""
    kind = op.Mod if fmod else op.FloorMod
    return kind(a, b)


@onnx.lowers("Pow", rank=broadcast)
def power(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, axis: int | None = None, broadcast: bool = False) -> SSAValue:
    """onnx.Pow(a, b) -> opset1.Power(a, b) in the element type of a

    It is computed in the type of b if only b is floating-point, or if a is a 16-bit type that cannot represent values
    of b.
    """
    a, b = x, aligned(node, op, y, axis, broadcast)
    base, exponent = element_of(a), element_of(b)
    if base == exponent:
        return op.Power(a, b)
    if dynamic in (base, exponent):
        return op.Power(a, op.ConvertLike(b, a))
    if exponent in REAL_TYPES and (base in INTEGER_TYPES or (base in (bf16, f16) and not _has_values_of(op, base, b))):
        return op.convert(op.Power(op.convert(a, exponent), b), base)
    return op.Power(a, _converted(op, b, a))


def _has_values_of(op: OpBuilder, element: Attribute, value: SSAValue) -> bool:
    """Whether an element type represents all known elements of a value exactly; elements that are unknown are
    ignored.
    """
    array = op.known.constant(value)
    if array is None:
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(array.astype(to_numpy(element)).astype(array.dtype), array)


def _converted(op: OpBuilder, value: SSAValue, like: SSAValue) -> SSAValue:
    """Convert a value to the element type of `like`; a constant of one element stays a constant."""
    array = op.known.constant(value)
    return op.convert(value, element_of(like)) if array is None or array.size > 1 else op.constant_like(array, like)


@onnx.lowers("Max", "Min", "Sum", rank=broadcast)
def variadic(node: LoweringNode, op: OpBuilder, *data: SSAValue) -> SSAValue:
    """onnx.Max(a, b, c) -> Maximum(Maximum(a, b), c); likewise Min and Sum"""
    if not data:
        node.fail("it has no operands")
    return reduce(operation(op, node.op.KIND), data)


@onnx.lowers("Mean", rank=broadcast)
def mean(node: LoweringNode, op: OpBuilder, *data: SSAValue) -> SSAValue:
    """onnx.Mean(a, b, c) -> Add(Add(a, b), c) / 3"""
    operands = data
    total = variadic_sum(op, operands) if operands else node.fail("it has no operands")
    return op.Divide(total, float(len(operands))) if len(operands) > 1 else total


def variadic_sum(op: OpBuilder, operands: Sequence[SSAValue]) -> SSAValue:
    """The sum of one or more values."""
    return reduce(op.Add, operands)


@onnx.lowers("BitShift")
def shift(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, direction: str) -> SSAValue:
    """onnx.BitShift(x, y) {direction} -> opset15.BitwiseLeftShift(x, y), or BitwiseRightShift

    After a shift by a negative number, or by the width or more, only the sign of x remains; opset15
    leaves that case undefined.
    """
    if direction not in ("LEFT", "RIGHT"):
        node.fail(f"attribute direction is {direction!r}, it should be LEFT or RIGHT")
    width = 8 * to_numpy(node.element(0)).itemsize
    known = node.constant(1)
    if known is None or known.min(initial=0) < 0 or known.max(initial=0) >= width:
        inside = op.LogicalAnd(op.GreaterEqual(y, op.constant_like(0, y)), op.Less(y, op.constant_like(width, y)))
        y = op.Select(inside, y, op.constant_like(width - 1, y))
    else:
        inside = None
    result = (op.BitwiseLeftShift if direction == "LEFT" else op.BitwiseRightShift)(x, y)
    keeps_sign = direction == "RIGHT" and node.element(0) in (si8, si16, si32, si64)
    return result if inside is None or keeps_sign else op.Select(inside, result, op.constant_like(0, x))
