"""Elementwise arithmetic, elementary functions, operations on single bits, and conversions of the element type.

    %y = onnx.Sum(%a, %b, %c)
->  %0 = opset1.Add(%a, %b)
    %y = opset1.Add(%0, %c)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import (
    INTEGER_TYPES,
    REAL_TYPES,
    bf16,
    boolean,
    dynamic,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    si32,
    string,
    to_numpy,
    ui2,
    ui4,
    ui8,
)
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.narrow_integers import in_32_bits
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import computed_type, element_type
from moir.lowering.onnx.operands import aligned
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

_UNARY = {
    "Abs": "Abs",
    "Acos": "Acos",
    "Acosh": "Acosh",
    "Asin": "Asin",
    "Asinh": "Asinh",
    "Atan": "Atan",
    "Atanh": "Atanh",
    "BitwiseNot": "BitwiseNot",
    "Ceil": "Ceiling",
    "Cos": "Cos",
    "Cosh": "Cosh",
    "Exp": "Exp",
    "Floor": "Floor",
    "Log": "Log",
    "Neg": "Negative",
    "Round": "Round",
    "Sign": "Sign",
    "Sin": "Sin",
    "Sinh": "Sinh",
    "Sqrt": "Sqrt",
    "Tan": "Tan",
    "Tanh": "Tanh",
}

_BINARY = {
    "Add": "Add",
    "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr",
    "BitwiseXor": "BitwiseXor",
    "Mul": "Multiply",
    "Sub": "Subtract",
}

LARGEST: dict[Attribute, float] = {f8e4m3: 448.0, f8e5m2: 57344.0}
"""The largest numbers of the 8-bit floats."""

_VARIADIC = {"Max": "Maximum", "Min": "Minimum", "Sum": "Add"}

_OVERFLOWING = frozenset(("Abs", "Add", "Mul", "Neg", "Sub", "Sum"))
"""Kinds whose results may not fit into the integers of their operands."""


def _computed(node: LoweringNode, op: OpBuilder, compute: Callable[..., SSAValue], *operands: SSAValue) -> SSAValue:
    return in_32_bits(op, compute, *operands) if node.op.KIND in _OVERFLOWING else compute(*operands)


@onnx.lowers(*_UNARY)
def unary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Ceil(x) -> opset1.Ceiling(x)"""
    return _computed(node, op, getattr(op, _UNARY[node.op.KIND]), node.operand(0))


@onnx.lowers("Erf")
def error_function(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Erf(x) -> opset1.Erf(x); for integers in f32, then rounded towards zero"""
    x = node.operand(0)
    element = element_of(x)
    return op.convert(op.Erf(op.convert(x, f32)), element) if element in INTEGER_TYPES else op.Erf(x)


@onnx.lowers("Reciprocal")
def reciprocal(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Reciprocal(x) -> 1 / x"""
    return op.Divide(1.0, node.operand(0))


@onnx.lowers(*_BINARY)
def binary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Sub(a, b) -> opset1.Subtract(a, b)"""
    return _computed(node, op, getattr(op, _BINARY[node.op.KIND]), *aligned(node, op))


@onnx.lowers("Div")
def divide(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Div(a, b) -> opset1.Divide(a, b), where the quotient of integers is rounded towards zero"""
    a, b = aligned(node, op)
    return in_32_bits(op, partial(op.Divide, m_pythondiv=element_of(a) in REAL_TYPES), a, b)


@onnx.lowers("Mod")
def remainder(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Mod(a, b) {fmod} -> opset1.Mod(a, b), opset1.FloorMod(a, b) without fmod"""
    kind = op.Mod if node.flag("fmod") else op.FloorMod
    return kind(node.operand(0), node.operand(1))


@onnx.lowers("Pow")
def power(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Pow(a, b) -> opset1.Power(a, b) in the element type of a

    It is computed in that of b if only b has floats, or if b has floats that a of 16 bits does not have.
    """
    a, b = aligned(node, op)
    base, exponent = element_of(a), element_of(b)
    if base == exponent:
        return in_32_bits(op, op.Power, a, b)
    if dynamic in (base, exponent):
        return op.Power(a, op.ConvertLike(b, a))
    if exponent in REAL_TYPES and (base in INTEGER_TYPES or (base in (bf16, f16) and not _has_values_of(op, base, b))):
        return op.convert(op.Power(op.convert(a, exponent), b), base)
    return in_32_bits(op, op.Power, a, _converted(op, b, a))


def _has_values_of(op: OpBuilder, element: Attribute, value: SSAValue) -> bool:
    """Whether an element type has all elements of a value, as far as they are known."""
    array = op.known.constant(value)
    if array is None:
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(array.astype(to_numpy(element)).astype(array.dtype), array)


def _converted(op: OpBuilder, value: SSAValue, like: SSAValue) -> SSAValue:
    """A value converted to the element type of another one; a constant remains a constant."""
    array = op.known.constant(value)
    return op.convert(value, element_of(like)) if array is None or array.size > 1 else op.constant_like(array, like)


@onnx.lowers(*_VARIADIC)
def variadic(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Max(a, b, c) -> Maximum(Maximum(a, b), c)"""
    if not node.operands:
        node.fail("it has no operands")
    shapes = [shape_of(operand) for operand in node.operands]
    if len(shapes) > 2 and not all(map(is_static, shapes)) and any(0 in (shape or ()) for shape in shapes):
        # The CPU plugin (2026.4) aborts.
        node.fail("one operand has no elements, and the shape of another is unknown", hint="set the shapes of the inputs")
    return reduce(partial(_computed, node, op, getattr(op, _VARIADIC[node.op.KIND])), node.operands)


@onnx.lowers("Mean")
def mean(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Mean(a, b, c) -> Add(Add(a, b), c) / 3"""
    operands = node.operands
    total = variadic_sum(op, operands) if operands else node.fail("it has no operands")
    return op.Divide(total, float(len(operands))) if len(operands) > 1 else total


def variadic_sum(op: OpBuilder, operands: list[SSAValue]) -> SSAValue:
    """The sum of one or more values."""
    return reduce(op.Add, operands)


@onnx.lowers("Cast")
def cast(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Cast(x) {to} -> opset1.Convert(x) {destination_type}; x itself if it already has the type"""
    x, element = node.operand(0), element_type(node, "to")
    if element_of(x) == element:
        return x
    if string in (element_of(x), element):
        node.fail("the runtime converts no strings", hint="cut the model behind this node")
    return converted(op, x, element, node.flag("saturate", True))


def converted(op: OpBuilder, x: SSAValue, element: Attribute, saturate: bool = True) -> SSAValue:
    """x converted to another element type.

    With `saturate` the result is limited to the largest finite number of an 8-bit float, which the runtime's Convert
    does not do. The runtime's Clamp makes a number of NaN, which stays NaN here.
    """
    types = {element, element_of(x)}
    if any(computed_type(each) != each for each in types) and not types & {f32, f16, bf16, f64, dynamic}:
        # The CPU plugin (2026.4) converts some of the narrow floats from and to other floats only.
        x = op.convert(x, f32)
    if saturate and element in LARGEST and element_of(x) in REAL_TYPES and element_of(x) != element:
        x = op.Select(op.IsNaN(x), x, op.Clamp(x, min=-LARGEST[element], max=LARGEST[element]))
    if element in (ui2, ui4) and element_of(x) in REAL_TYPES:
        # The CPU plugin (2026.4) makes 0 of negative numbers if shapes are dynamic; as integers they wrap around.
        x = op.convert(x, si32)
    if element == boolean and element_of(x) == ui2:
        # The CPU plugin (2026.4) does not convert it in one step.
        x = op.convert(x, ui8)
    return op.convert(x, element)


@onnx.lowers("CastLike")
def cast_like(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.CastLike(x, like) -> opset1.Convert(x), or opset1.ConvertLike(x, like) if the type of like is unknown"""
    x, like = node.operand(0), node.operand(1)
    element = element_of(like)
    if string in (element_of(x), element) and element_of(x) != element:
        node.fail("the runtime converts no strings", hint="cut the model behind this node")
    return op.ConvertLike(x, like) if element is dynamic else converted(op, x, element, node.flag("saturate", True))
