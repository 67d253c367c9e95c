"""Elementwise mathematics, comparisons, conversions and selections."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import (
    INTEGER_TYPES,
    REAL_TYPES,
    boolean,
    describe,
    f8e4m3,
    f8e5m2,
    si8,
    si16,
    si32,
    si64,
    to_numpy,
    ui8,
    ui16,
    ui32,
    ui64,
)
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.quantization import dequantized
from moir.lowering.to_onnx.table import opset

opset.lowers_each(
    {
        "Abs": lambda op, x: op.Abs(x),
        "Acos": lambda op, x: op.Acos(x),
        "Acosh": lambda op, x: op.Acosh(x),
        "Asin": lambda op, x: op.Asin(x),
        "Asinh": lambda op, x: op.Asinh(x),
        "Atan": lambda op, x: op.Atan(x),
        "Atanh": lambda op, x: op.Atanh(x),
        "Ceiling": lambda op, x: op.Ceil(x) if element_of(x) in REAL_TYPES else op.Identity(x),
        "Cos": lambda op, x: op.Cos(x),
        "Cosh": lambda op, x: op.Cosh(x),
        "Erf": lambda op, x: op.Erf(x),
        "Exp": lambda op, x: op.Exp(x),
        "Floor": lambda op, x: op.Floor(x) if element_of(x) in REAL_TYPES else op.Identity(x),
        "Identity": lambda op, x: op.Identity(x),
        "Log": lambda op, x: op.Log(x),
        "Negative": lambda op, x: op.Neg(x),
        "Sign": lambda op, x: op.Sign(x),
        "Sin": lambda op, x: op.Sin(x),
        "Sinh": lambda op, x: op.Sinh(x),
        "Sqrt": lambda op, x: op.Sqrt(x),
        "Tan": lambda op, x: op.Tan(x),
        "Tanh": lambda op, x: op.Tanh(x),
        "LogicalNot": lambda op, x: op.Not(x),
        "IsNaN": lambda op, x: op.IsNaN(x),
        "IsFinite": lambda op, x: op.Not(op.Or(op.IsNaN(x), op.IsInf(x))),
        "BitwiseNot": lambda op, x: op.Not(x) if element_of(x) == boolean else op.BitwiseNot(x),
    }
)

_BINARY = {
    "Add": "Add",
    "Subtract": "Sub",
    "Equal": "Equal",
    "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual",
    "Less": "Less",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalOr": "Or",
    "LogicalXor": "Xor",
    "Xor": "Xor",
    "Power": "Pow",
}
"""The ONNX kind of each kind of two operands that has an exact counterpart."""


def check_broadcast(node: LoweringNode) -> None:
    """Raises ConversionError if the operands broadcast by the rule pdpd, which ONNX does not have."""
    if node.attribute("auto_broadcast", "numpy") != "pdpd":
        return
    shapes = [shape_of(value) for value in node.operands]
    if len({shape for shape in shapes if shape != ()}) > 1:
        node.fail("its operands broadcast by the rule pdpd, which ONNX does not have", hint="reshape the operands for numpy's rule")


def _of_two(kind: str) -> None:
    @opset.lowers(kind)
    def binary(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        check_broadcast(node)
        return op.create(_BINARY[kind], (a, b), {}, 1).results[0]

    binary.__name__ = kind


for _kind in _BINARY:
    _of_two(_kind)


@opset.lowers("Multiply")
def multiply(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset1.Multiply(a, b) -> onnx.Mul(a, b); of converted integers and scales a DequantizeLinear, see
    `dequantized`
    """
    check_broadcast(node)
    weight = dequantized(op, a, b)
    return op.Mul(a, b) if weight is None else weight


@opset.lowers("NotEqual")
def not_equal(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset1.NotEqual(a, b) -> onnx.Not(onnx.Equal(a, b))"""
    check_broadcast(node)
    return op.Not(op.Equal(a, b))


def _extreme(kind: str, of_booleans: str) -> None:
    @opset.lowers(kind)
    def extreme(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        check_broadcast(node)
        return op.create(of_booleans if element_of(a) == boolean else kind[:3], (a, b), {}, 1).results[0]

    extreme.__name__ = kind


_extreme("Maximum", "Or")
_extreme("Minimum", "And")


@opset.lowers("Divide")
def divide(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue, *, m_pythondiv: bool = True) -> SSAValue:
    """opset1.Divide(a, b) -> onnx.Div(a, b); of integers rounded down with `m_pythondiv`, as ONNX rounds toward zero"""
    check_broadcast(node)
    if not m_pythondiv or element_of(a) in REAL_TYPES or describe(element_of(a)).xml[0] == "u":
        return op.Div(a, b)
    remainder = op.Mod(a, b)
    return op.Div(op.Sub(a, remainder), b)


@opset.lowers("Mod")
def mod(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset1.Mod(a, b) -> onnx.Mod(a, b), the remainder with the sign of the dividend"""
    check_broadcast(node)
    return op.Mod(a, b, fmod=1)


@opset.lowers("FloorMod")
def floor_mod(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset1.FloorMod(a, b) -> the remainder with the sign of the divisor, which onnx.Mod has for integers only"""
    check_broadcast(node)
    if element_of(a) not in REAL_TYPES:
        return op.Mod(a, b)
    remainder = op.Mod(a, b, fmod=1)
    differs = op.And(op.Not(op.Equal(remainder, 0)), op.Less(op.Mul(remainder, op.Sign(b)), 0))
    return op.Where(differs, op.Add(remainder, b), remainder)


@opset.lowers("SquaredDifference")
def squared_difference(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset1.SquaredDifference(a, b) -> (a - b)²"""
    check_broadcast(node)
    difference = op.Sub(a, b)
    return op.Mul(difference, difference)


def _bitwise(kind: str, of_booleans: str) -> None:
    @opset.lowers(kind, since=18)
    def bitwise(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        check_broadcast(node)
        return op.create(of_booleans if element_of(a) == boolean else kind, (a, b), {}, 1).results[0]

    bitwise.__name__ = kind


_bitwise("BitwiseAnd", "And")
_bitwise("BitwiseOr", "Or")
_bitwise("BitwiseXor", "Xor")

_UNSIGNED: dict[Attribute, Attribute] = {si8: ui8, si16: ui16, si32: ui32, si64: ui64}
"""The unsigned type for each signed type; ONNX shifts unsigned integers only."""


@opset.lowers("BitwiseLeftShift")
def left_shift(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset15.BitwiseLeftShift(a, b) -> a · 2ᵇ; the bits of a signed integer are shifted as those of an unsigned one"""
    check_broadcast(node)
    element = element_of(a)
    unsigned = _UNSIGNED.get(element, element)
    return op.cast(op.BitShift(op.cast(a, unsigned), op.cast(b, unsigned), direction="LEFT"), element)


@opset.lowers("BitwiseRightShift")
def right_shift(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """opset15.BitwiseRightShift(a, b) -> ⌊a / 2ᵇ⌋; a negative a is shifted as its complement -1 - a, which is not
    negative
    """
    check_broadcast(node)
    element = element_of(a)
    if element not in _UNSIGNED:
        return op.BitShift(a, b, direction="RIGHT")
    unsigned = _UNSIGNED[element]
    is_negative, minus_one = op.Less(a, 0), op.constant(-1, element)
    bits = op.cast(op.Where(is_negative, op.Sub(minus_one, a), a), unsigned)
    shifted = op.cast(op.BitShift(bits, op.cast(b, unsigned), direction="RIGHT"), element)
    return op.Where(is_negative, op.Sub(minus_one, shifted), shifted)


@opset.lowers("Round")
def round_(op: OnnxBuilder, x: SSAValue, *, mode: str = "half_to_even") -> SSAValue:
    """opset5.Round(x) {mode} -> onnx.Round(x), or for halves away from zero Sign(x) · Floor(Abs(x) + 0.5); x for
    integers
    """
    if element_of(x) not in REAL_TYPES:
        return op.Identity(x)
    return op.Round(x) if mode == "half_to_even" else op.Mul(op.Sign(x), op.Floor(op.Add(op.Abs(x), 0.5)))


@opset.lowers("IsInf")
def is_inf(op: OnnxBuilder, x: SSAValue, *, detect_negative: bool = True, detect_positive: bool = True) -> SSAValue:
    """opset10.IsInf(x) {detect_negative, detect_positive} -> onnx.IsInf(x) with the same attributes"""
    return op.IsInf(x, detect_negative=int(detect_negative), detect_positive=int(detect_positive))


@opset.lowers("Select")
def select(node: LoweringNode, op: OnnxBuilder, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
    """opset1.Select(condition, then, otherwise) -> onnx.Where(condition, then, otherwise)"""
    check_broadcast(node)
    return op.Where(condition, then, otherwise)


@opset.lowers("Convert")
def convert(op: OnnxBuilder, x: SSAValue, *, destination_type: Attribute) -> SSAValue:
    """opset1.Convert(x) {destination_type} -> onnx.Cast(x) {to}"""
    if element_of(x) == destination_type:
        return op.Identity(x)
    # A number too large for an 8-bit float becomes infinite or NaN, as in the operation sets.
    saturates = 0 if destination_type in (f8e4m3, f8e5m2) and op.version >= 19 else None
    return op.Cast(x, to=destination_type, saturate=saturates)


@opset.lowers("ConvertLike")
def convert_like(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _like: SSAValue) -> SSAValue:
    """opset1.ConvertLike(x, like) -> onnx.Cast(x) to the element type of `like`"""
    return op.Cast(x, to=node.element(1))


@opset.lowers("ConvertPromoteTypes")
def convert_promote_types(node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue) -> list[SSAValue]:
    """opset14.ConvertPromoteTypes(a, b) -> both operands, cast to the element type that results have"""
    element = element_of(node.op.results[0])
    return [op.cast(op.Identity(each), element) for each in (a, b)]


@opset.lowers("Clamp")
def clamp(op: OnnxBuilder, x: SSAValue, *, min: float, max: float) -> SSAValue:
    """opset1.Clamp(x) {min, max} -> onnx.Clip(x, min, max), whose bounds for integers are rounded to those within the
    interval
    """
    element = element_of(x)
    if element in INTEGER_TYPES:
        import math

        import numpy as np

        limits = np.iinfo(to_numpy(element))
        low = limits.min if min <= limits.min else math.ceil(min)
        high = limits.max if max >= limits.max else math.floor(max)
        return op.Clip(x, op.constant(low, element), op.constant(high, element))
    return op.Clip(x, op.constant(min, element), op.constant(max, element))
