"""Functions of single elements, comparisons and arithmetic.

%y = keras.ops.Subtract(%x) {arguments = [2, "%0"]}  ->  %y = opset1.Subtract(2, %x)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, boolean, f16, f32, f64, si32, si64, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import is_negative
from moir.expansions.formulas import FORMULAS
from moir.expansions.functions import operation, selu
from moir.expansions.special.bessel import modified_first_kind
from moir.lowering.binder import LoweringNode
from moir.lowering.keras import activation_functions as activations
from moir.lowering.keras.attributes import Arguments, axis_list, element_named, is_tensor, numbers_of
from moir.lowering.keras.functions.pairs import ARITHMETIC, REAL_ARITHMETIC
from moir.lowering.keras.promotion import operands
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

Single = Callable[[OpBuilder, SSAValue], SSAValue]


def pair_of(node: LoweringNode, op: OpBuilder, least: Attribute | None = None, *, strong: type | None = None) -> list[SSAValue]:
    """Both arguments of a function, converted to their common element type (see `promotion.operands`).

    `least` takes part in finding the common type. A Python number of the type `strong` counts as an f32 or i32 tensor.
    Raises ConversionError if there are fewer than two arguments.
    """
    arguments = Arguments(node, "x1", "x2")
    first: Any = arguments.get("x1", arguments.get("x"))
    second: Any = arguments.get("x2", arguments.get("y"))
    if first is None or second is None:
        node.fail("it has less than two arguments")
    element = f32 if strong is float else si32
    values = [op.constant(each, element) if type(each) is strong else _as_number(each) for each in (first, second)]
    return operands(op, *values, least=least)


def _as_number(value: Any) -> Any:
    """A Python list of scalars as a 1-D array; any other argument unchanged."""
    return np.asarray(cast("list[Any]", value)) if isinstance(value, list) else value


def _sinc(op: OpBuilder, x: SSAValue) -> SSAValue:
    """sin(πx) / πx, and 1 for 0."""
    scaled = op.Multiply(x, math.pi)
    is_zero = op.Equal(x, 0.0)
    safe = op.Select(is_zero, op.constant_like(1.0, x), scaled)
    return op.Select(is_zero, op.constant_like(1.0, x), op.Divide(op.Sin(safe), safe))


def _angle(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The angle of real numbers: π for negative ones, else 0."""
    return op.Select(op.Less(x, 0.0), op.constant_like(math.pi, x), op.constant_like(0.0, x))


COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")
LOGICAL = ("LogicalAnd", "LogicalOr", "LogicalXor")
BITWISE = ("BitwiseAnd", "BitwiseLeftShift", "BitwiseOr", "BitwiseRightShift", "BitwiseXor")
"""Functions of two operands that are operations of the same name."""

SHIFTS = {"LeftShift": "BitwiseLeftShift", "RightShift": "BitwiseRightShift"}
"""The operation for each shift of `keras.ops`."""


@keras.lowers(*(f"ops.{name}" for name in (*ARITHMETIC, *COMPARISONS, *BITWISE, *SHIFTS)))
def arithmetic(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Add(a, b) -> opset1.Add(a, b) in the common element type

    Likewise the other arithmetic functions, comparisons, bitwise functions and shifts.
    """
    name = node.op.KIND.removeprefix("ops.")
    pair = pair_of(node, op)
    if name in ("Subtract", "FloorDivide", "Mod", "Fmod") and element_of(pair[0]) == boolean:
        pair = [op.convert(each, si32) for each in pair]
    return ARITHMETIC[name](op, *pair) if name in ARITHMETIC else getattr(op, SHIFTS.get(name, name))(*pair)


@keras.lowers(*(f"ops.{name}" for name in REAL_ARITHMETIC))
def real_arithmetic(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Divide(a, b) -> opset1.Divide(a, b) of floats; likewise the other functions of `REAL_ARITHMETIC`"""
    name = node.op.KIND.removeprefix("ops.")
    is_wide = name in _KEEPS_WIDTH
    pair = pair_of(node, op, None if is_wide else f32, strong=float if name == "Arctan2" else None)
    return REAL_ARITHMETIC[name](op, *(as_real(op, each, is_wide=is_wide) for each in pair))


@keras.lowers(*(f"ops.{name}" for name in LOGICAL))
def logical(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.LogicalAnd(a, b) -> opset1.LogicalAnd(a ≠ 0, b ≠ 0); likewise the other functions of `LOGICAL`"""
    operands = pair_of(node, op)
    return getattr(op, node.op.KIND.removeprefix("ops."))(*(op.convert(each, boolean) for each in operands))


# Functions of one number

_BY_NAME = (
    *("Absolute", "Abs", "Fabs", "Arccos", "Arccosh", "Arcsin", "Arcsinh", "Arctan", "Arctanh", "Ceil", "Cos", "Cosh", "Erf", "Exp"),
    *("Floor", "Log", "Negative", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
)
"""Functions that one opset operation of the same name computes."""

_KEEPS_WIDTH = frozenset(("Cbrt", "Deg2rad", "Heaviside", "Hypot", "I0", "Rad2deg"))
"""Functions whose results are f64 where integers have 64 bits."""

_KEEPS_INTEGERS = frozenset(("Absolute", "Abs", "Negative", "Relu", "Sign", "Square", "Relu6", "Trunc"))

SINGLE: Mapping[str, Single] = {
    "Cbrt": FORMULAS["cbrt"],
    "Deg2rad": FORMULAS["radians"],
    "Erfc": FORMULAS["erfc"],
    "Erfinv": FORMULAS["erfinv"],
    "Exp2": lambda op, x: op.Power(op.constant_like(2.0, x), x),
    "Expm1": FORMULAS["expm1"],
    "I0": lambda op, x: modified_first_kind(op, x, 0),
    "HardSigmoid": activations.hard_sigmoid,
    "HardSilu": lambda op, x: op.HSwish(x),
    "HardTanh": lambda op, x: op.Clamp(x, min=-1.0, max=1.0),
    "Log10": FORMULAS["log10"],
    "Log1p": FORMULAS["log1p"],
    "Log2": FORMULAS["log2"],
    "LogSigmoid": activations.log_sigmoid,
    "Angle": _angle,
    "Rad2deg": FORMULAS["degrees"],
    "Sinc": _sinc,
    "Reciprocal": FORMULAS["reciprocal"],
    "Relu6": FORMULAS["relu6"],
    "Rsqrt": FORMULAS["rsqrt"],
    "Selu": selu,
    "Silu": lambda op, x: op.Swish(x),
    "SparsePlus": activations.sparse_plus,
    "SparseSigmoid": activations.FUNCTIONS["sparse_sigmoid"],
    "Square": FORMULAS["square"],
    "TanhShrink": activations.FUNCTIONS["tanh_shrink"],
    "Trunc": lambda op, x: x if element_of(x) in INTEGER_TYPES else op.Multiply(op.Sign(x), op.Floor(op.Abs(x))),
}
"""Functions of one operand that are lowered to several operations."""


def single(node: LoweringNode) -> SSAValue:
    """The argument `x` of a function of one operand. Raises ConversionError if it is no tensor."""
    return Arguments(node, "x").tensor("x")


def as_real(op: OpBuilder, x: SSAValue, *, is_wide: bool = False) -> SSAValue:
    """A tensor as floats: integers and Booleans become f32, or with `is_wide` i64 becomes f64; floats are unchanged."""
    element = element_of(x)
    if element == si64 and is_wide:
        return op.convert(x, f64)
    return op.convert(x, f32) if element in INTEGER_TYPES or element == boolean else x


def as_declared(op: OpBuilder, result: SSAValue) -> SSAValue:
    """A result converted to f32, for functions that return f32 for all element types."""
    return op.convert(result, f32)


@keras.lowers(*(f"ops.{name}" for name in (*_BY_NAME, *SINGLE)))
def function(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Exp(x) -> opset1.Exp(x), of floats; likewise the other functions of one operand"""
    name, x = node.op.KIND.removeprefix("ops."), single(node)
    data = x if name in _KEEPS_INTEGERS and element_of(x) != boolean else as_real(op, x, is_wide=name in _KEEPS_WIDTH)
    if name == "Reciprocal":
        return as_declared(op, SINGLE[name](op, data))
    if name in SINGLE:
        return SINGLE[name](op, data)
    if name == "Round":
        digits = node.integer("decimals", 0)
        if digits >= 0 and element_of(x) in INTEGER_TYPES:
            return x
        scaled = data if not digits else op.Multiply(data, float(10**digits))
        rounded = op.Round(scaled, mode="half_to_even")
        return rounded if not digits else op.Divide(rounded, float(10**digits))
    return operation(op, name)(data)


@keras.lowers("ops.Imag")
def imaginary(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Imag(x) -> zeros, of real numbers"""
    x = single(node)
    return op.Broadcast(op.constant_like(0, x), op.ShapeOf(x))


@keras.lowers("ops.Isclose")
def is_close(node: LoweringNode, op: OpBuilder, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> SSAValue:
    """keras.ops.Isclose(a, b) {rtol, atol} -> |a - b| ≤ atol + rtol · |b| of finite numbers, a = b of others"""
    a, b = (as_real(op, each) for each in pair_of(node, op))
    near = op.LessEqual(op.Abs(op.Subtract(a, b)), op.Add(op.Multiply(op.Abs(b), rtol), atol))
    is_close = op.LogicalOr(op.LogicalAnd(near, op.IsFinite(b)), op.Equal(a, b))
    both = op.LogicalAnd(op.NotEqual(a, a), op.NotEqual(b, b))
    return op.LogicalOr(is_close, both) if equal_nan else is_close


@keras.lowers("ops.Identity", "ops.Copy", "ops.StopGradient", "ops.ConvertToTensor", "ops.Array", "ops.Real", "ops.Conj", "ops.Conjugate")
def unchanged(node: LoweringNode, op: OpBuilder, *, dtype: str | None = None) -> SSAValue:
    """keras.ops.StopGradient(x) -> x; likewise functions that copy a tensor, or take the real part of a real one"""
    x = Arguments(node, "x").positional[0]
    if not is_tensor(x):
        return operands(op, x)[0]
    return x if dtype is None else op.convert(x, element_named(node, dtype))


@keras.lowers("ops.Cast", "ops.SaturateCast")
def cast_to(node: LoweringNode, op: OpBuilder, *, dtype: str) -> SSAValue:
    """keras.ops.Cast(x) {dtype} -> opset1.Convert(x)"""
    x, element = single(node), element_named(node, dtype)
    if node.op.KIND == "ops.SaturateCast" and element in INTEGER_TYPES and element_of(x) not in (element, boolean):
        limits = np.iinfo(to_numpy(element))
        x = op.Clamp(x, min=float(limits.min), max=float(limits.max))
    return op.convert(x, element)


@keras.lowers("ops.LogicalNot")
def negation(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.LogicalNot(x) -> opset1.LogicalNot(x)"""
    return op.LogicalNot(op.convert(single(node), boolean))


@keras.lowers("ops.BitwiseNot", "ops.BitwiseInvert")
def inversion(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.BitwiseNot(x) -> opset13.BitwiseNot(x)"""
    return op.BitwiseNot(single(node))


@keras.lowers("ops.Isnan", "ops.Isinf", "ops.Isfinite", "ops.Isposinf", "ops.Isneginf", "ops.Signbit")
def classification(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Isnan(x) -> opset10.IsNaN(x); likewise Isinf, Isfinite, Isposinf, Isneginf and Signbit"""
    x = as_real(op, single(node))
    match node.op.KIND:
        case "ops.Isnan":
            return op.IsNaN(x)
        case "ops.Isinf":
            return op.IsInf(x)
        case "ops.Isposinf":
            return op.IsInf(x, detect_negative=False)
        case "ops.Isneginf":
            return op.IsInf(x, detect_positive=False)
        case "ops.Signbit":
            return is_negative(op, x)
        case _:
            return op.IsFinite(x)


@keras.lowers("ops.Clip")
def clip(node: LoweringNode, op: OpBuilder, *, x_min: object | None = None, x_max: object | None = None) -> SSAValue:
    """keras.ops.Clip(x) {x_min, x_max} -> opset1.Clamp(x), or opset1.Maximum and opset1.Minimum"""
    arguments = Arguments(node, "x", "x_min", "x_max")
    low, high = arguments.get("x_min", x_min), arguments.get("x_max", x_max)
    data = single(node)
    if isinstance(low, int | float) and isinstance(high, int | float) and element_of(data) in REAL_TYPES and low <= high:
        return op.Clamp(data, min=float(low), max=float(high))
    for bound, join in ((low, op.Maximum), (high, op.Minimum)):
        if bound is not None:
            data = join(*operands(op, data, np.asarray(cast(Any, bound)) if isinstance(bound, list | tuple) else cast(Any, bound)))
    return data


@keras.lowers("ops.Where", "ops.Select")
def where(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Where(c, a, b) -> opset1.Select(c, a, b)"""
    if node.op.KIND == "ops.Select":
        return select(node, op)
    arguments = Arguments(node, "condition", "x1", "x2")
    condition, first, second = arguments.get("condition"), arguments.get("x1"), arguments.get("x2")
    if first is None or second is None:
        node.fail("the positions of true elements, without values, are not supported")
    mask = op.convert(condition, boolean) if is_tensor(condition) else op.constant(numbers_of(condition).astype(bool))
    return op.Select(mask, *operands(op, first, second))


def select(node: LoweringNode, op: OpBuilder) -> SSAValue:
    arguments = Arguments(node, "condlist", "choicelist", "default")
    conditions, choices = arguments.get("condlist", []), arguments.get("choicelist", [])
    *rest, last = operands(op, *choices, arguments.get("default", 0))
    for condition, choice in reversed(list(zip(conditions, rest, strict=True))):
        last = op.Select(op.convert(condition, boolean), choice, last)
    return last


@keras.lowers("ops.NanToNum")
def without_nan(
    node: LoweringNode, op: OpBuilder, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> SSAValue:
    """keras.ops.NanToNum(x) -> x with numbers in place of NaN and the infinities"""
    x = single(node)
    if element_of(x) in INTEGER_TYPES or element_of(x) == boolean:
        return x
    limit = float(np.finfo({f16: np.float16, f64: np.float64}.get(cast(Any, element_of(x)), np.float32)).max)
    x = op.Select(op.IsNaN(x), op.constant_like(nan, x), x)
    x = op.Select(op.IsInf(x, detect_negative=False), op.constant_like(limit if posinf is None else posinf, x), x)
    return op.Select(op.IsInf(x, detect_positive=False), op.constant_like(-limit if neginf is None else neginf, x), x)


# Activations with attributes


@keras.lowers("ops.LeakyRelu", "ops.Elu", "ops.Celu", "ops.Gelu", "ops.Glu", "ops.Squareplus", "ops.SoftShrink", "ops.HardShrink")
@keras.lowers("ops.Threshold", "ops.Sparsemax", "ops.Softmax", "ops.LogSoftmax")
def activation(
    node: LoweringNode,
    op: OpBuilder,
    *,
    alpha: float = 1.0,
    approximate: bool = True,
    axis: object | None = -1,
    b: float = 4.0,
    default_value: float = 0.0,
    negative_slope: float = 0.2,
    threshold: float = 0.5,
) -> SSAValue:
    """keras.ops.Gelu(x) {approximate} -> opset7.Gelu(x) {approximation_mode}; likewise the other activations with
    parameters
    """
    x = as_real(op, single(node))
    axis_ = axis if isinstance(axis, int) else -1
    match node.op.KIND:
        case "ops.LeakyRelu":
            return activations.leaky_relu(op, x, negative_slope)
        case "ops.Elu":
            return op.Elu(x, alpha=alpha)
        case "ops.Celu":
            return activations.celu(op, x, alpha)
        case "ops.Gelu":
            return activations.gelu(op, x, approximate=approximate)
        case "ops.Glu":
            return activations.glu(op, x, axis_)
        case "ops.Squareplus":
            return activations.squareplus(op, x, b)
        case "ops.SoftShrink":
            return activations.soft_shrink(op, x, threshold)
        case "ops.HardShrink":
            return activations.hard_shrink(op, x, threshold)
        case "ops.Threshold":
            return activations.threshold(op, x, threshold, default_value)
        case "ops.Sparsemax":
            return activations.sparsemax(op, x, axis_)
        case _:
            return _normalized(node, op, x, axis)


def _normalized(node: LoweringNode, op: OpBuilder, x: SSAValue, axis: object) -> SSAValue:
    """The softmax of x, or for LogSoftmax its logarithm, over one axis or several; over all axes if `axis` is None."""
    axes = axis_list(node, axis, node.known_rank(0))
    if len(axes) == 1:
        return op.Softmax(x, axis=axes[0]) if node.op.KIND == "ops.Softmax" else op.LogSoftmax(x, axis=axes[0])
    shifted = op.Subtract(x, op.ReduceMax(x, axes, keep_dims=True))
    total = op.ReduceSum(op.Exp(shifted), axes, keep_dims=True)
    return op.Divide(op.Exp(shifted), total) if node.op.KIND == "ops.Softmax" else op.Subtract(shifted, op.Log(total))
