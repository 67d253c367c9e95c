"""Elementwise functions, comparisons, conversions.

%y = stablehlo.exponential(%x)  ->  %y = opset1.Exp(%x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.constants import values_of
from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, bf16, boolean, f16, f32, f64, si8, si16, si32, si64
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.complex_numbers import angle_of
from moir.expansions.formulas import FORMULAS
from moir.expansions.special.bessel import modified_first_kind
from moir.expansions.special.gamma import in_single
from moir.expansions.special.neighbours import neighbour_toward
from moir.expansions.special.polygamma import polygamma, zeta
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.order_of_nan import extreme_of_pair
from moir.rewriting.builder import OpBuilder

SIGNED = (*REAL_TYPES, si8, si16, si32, si64)

Single = Callable[[OpBuilder, SSAValue], SSAValue]
Pair = Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]


SINGLE: Mapping[str, Single] = {
    "abs": lambda op, x: op.Abs(x),
    "cbrt": FORMULAS["cbrt"],
    "ceil": lambda op, x: op.Ceiling(x),
    "chlo.bessel_i1e": lambda op, x: modified_first_kind(op, x, 1, is_scaled=True),
    "chlo.acos": lambda op, x: op.Acos(x),
    "chlo.acosh": lambda op, x: op.Acosh(x),
    "chlo.asin": lambda op, x: op.Asin(x),
    "chlo.asinh": lambda op, x: op.Asinh(x),
    "chlo.atan": lambda op, x: op.Atan(x),
    "chlo.atanh": lambda op, x: op.Atanh(x),
    "chlo.conj": lambda _, x: x,
    "chlo.cosh": lambda op, x: op.Cosh(x),
    "chlo.digamma": FORMULAS["digamma"],
    "chlo.erf": lambda op, x: op.Erf(x),
    "chlo.erf_inv": FORMULAS["erfinv"],
    "chlo.erfc": lambda op, x: in_single(op, partial(FORMULAS["erfc"], op), x),
    "chlo.is_inf": lambda op, x: op.IsInf(x),
    "chlo.is_neg_inf": lambda op, x: op.IsInf(x, detect_positive=False),
    "chlo.is_pos_inf": lambda op, x: op.IsInf(x, detect_negative=False),
    "chlo.lgamma": FORMULAS["gammaln"],
    "chlo.sinh": lambda op, x: op.Sinh(x),
    "chlo.square": lambda op, x: op.Multiply(x, x),
    "chlo.tan": lambda op, x: op.Tan(x),
    "cosine": lambda op, x: op.Cos(x),
    "exponential": lambda op, x: op.Exp(x),
    "exponential_minus_one": lambda op, x: in_single(op, partial(FORMULAS["expm1"], op), x),
    "floor": lambda op, x: op.Floor(x),
    "imag": lambda op, x: op.Broadcast(op.constant_like(0, x), op.ShapeOf(x)),
    "is_finite": lambda op, x: op.IsFinite(x),
    "log": lambda op, x: op.Log(x),
    "log_plus_one": lambda op, x: in_single(op, partial(FORMULAS["log1p"], op), x),
    "logistic": lambda op, x: op.Sigmoid(x),
    "negate": lambda op, x: op.Negative(x) if element_of(x) in SIGNED else op.Subtract(0, x),
    # Of real numbers; the parts of complex ones are values of their own.
    "real": lambda _, x: x,
    "round_nearest_afz": lambda op, x: op.Round(x, mode="half_away_from_zero"),
    "round_nearest_even": lambda op, x: op.Round(x, mode="half_to_even"),
    "rsqrt": lambda op, x: op.Divide(1.0, op.Sqrt(x)),
    "sign": lambda op, x: op.Sign(x),
    "sine": lambda op, x: op.Sin(x),
    "sqrt": lambda op, x: op.Sqrt(x),
    "tan": lambda op, x: op.Tan(x),
    "tanh": lambda op, x: op.Tanh(x),
}


@stablehlo.lowers(*SINGLE)
def function(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.exponential(x) -> opset1.Exp(x); likewise the other elementwise functions of one operand, those of chlo
    too
    """
    return SINGLE[node.op.KIND](op, operand)


# Two operands

stablehlo.lowers_each(
    {
        "chlo.polygamma": lambda op, n, x: in_single(op, partial(polygamma, op), n, x),
        "chlo.zeta": lambda op, x, q: in_single(op, partial(zeta, op), x, q),
    }
)


def _power(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    return op.Power(a, b)


def _divided(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    if element_of(a) in REAL_TYPES:
        return op.Divide(a, b)
    return op.Divide(a, b, m_pythondiv=False)


ARITHMETIC: Mapping[str, tuple[Pair, Pair | None]] = {
    "add": (lambda op, a, b: op.Add(a, b), lambda op, a, b: op.LogicalOr(a, b)),
    "and": (lambda op, a, b: op.BitwiseAnd(a, b), lambda op, a, b: op.LogicalAnd(a, b)),
    "divide": (_divided, None),
    "maximum": (lambda op, a, b: extreme_of_pair(op, a, b, largest=True), lambda op, a, b: op.LogicalOr(a, b)),
    "minimum": (lambda op, a, b: extreme_of_pair(op, a, b, largest=False), lambda op, a, b: op.LogicalAnd(a, b)),
    "multiply": (lambda op, a, b: op.Multiply(a, b), lambda op, a, b: op.LogicalAnd(a, b)),
    "or": (lambda op, a, b: op.BitwiseOr(a, b), lambda op, a, b: op.LogicalOr(a, b)),
    "power": (_power, None),
    "remainder": (lambda op, a, b: op.Mod(a, b), None),
    "subtract": (lambda op, a, b: op.Subtract(a, b), lambda op, a, b: op.LogicalXor(a, b)),
    "xor": (lambda op, a, b: op.BitwiseXor(a, b), lambda op, a, b: op.LogicalXor(a, b)),
}
"""The builders of functions of two operands: for numbers, and for booleans (None if there is none)."""


@stablehlo.lowers(*ARITHMETIC)
def arithmetic(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.add(a, b) -> opset1.Add(a, b); for booleans opset1.LogicalOr(a, b)

    Likewise and, divide, maximum and the other elementwise functions of two operands. Raises ConversionError for
    booleans if the kind has no meaning for them.
    """
    of_numbers, of_truths = ARITHMETIC[node.op.KIND]
    if node.op.KIND in ("maximum", "minimum") and (extreme := _beside_infinity(op, node.op.KIND, lhs, rhs)) is not None:
        return extreme
    if element_of(lhs) is not boolean:
        return of_numbers(op, *with_scalars(op, lhs, rhs))
    if of_truths is None:
        node.fail("it is not defined for truth values")
    # A conjunction with a constant true is the other operand, if that has the shape of the result.
    return of_truths(op, *(with_scalars(op, lhs, rhs) if is_spread(lhs) and is_spread(rhs) else (lhs, rhs)))


def is_spread(value: SSAValue) -> bool:
    """Whether a tensor is the result of a Broadcast, or a constant that is one element broadcast to a shape."""
    return isinstance(value.owner, Broadcast) or _repeated(value) is not None


def _repeated(value: SSAValue) -> Array | None:
    """The element of a constant whose elements are equal (all its strides are 0); None for any other value."""
    values = values_of(value)
    if not isinstance(values, np.ndarray) or values.size < 2 or any(values.strides):
        return None
    return np.array(values[(0,) * values.ndim])


def uniform(op: OpBuilder, value: SSAValue) -> SSAValue | None:
    """The scalar from which a tensor was broadcast; None for other tensors."""
    if (scalar := _repeated(value)) is not None:
        return op.constant(scalar, element_of(value))
    owner = value.owner
    if not isinstance(owner, Broadcast):
        return None
    known = op.known.constant(owner.operands[0])
    return None if known is None or known.size != 1 else op.constant(known.reshape(()), element_of(value))


def with_scalars(op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Both operands of an elementwise operation, with Broadcasts removed that the operation's own broadcasting makes
    redundant.
    """
    if not is_spread(rhs) or (is_spread(lhs) and uniform(op, lhs) is not None):
        return before_broadcast(op, lhs), rhs
    rest = before_broadcast(op, rhs)
    if is_spread(lhs) and _join(source := before_broadcast(op, lhs), rest, lhs):
        return source, rest
    return lhs, rest


def _join(a: SSAValue, b: SSAValue, whole: SSAValue) -> bool:
    """Whether the shapes of a and b broadcast to the shape of `whole`; False unless all three shapes are static."""
    shapes = [shape_of(each) for each in (a, b, whole)]
    if any(shape is None or not is_static(shape) for shape in shapes):
        return False
    first, second, target = (tuple(shape or ()) for shape in shapes)
    return np.broadcast_shapes(first, second) == target


def before_broadcast(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The operand of the Broadcast that computes a value, for an operation that broadcasts by itself; any other value
    unchanged.
    """
    if (scalar := uniform(op, value)) is not None:
        return scalar
    while isinstance(value.owner, Broadcast) and value.owner.text("mode") in ("numpy", "bidirectional"):
        value = value.owner.operands[0]
    return value


def _beside_infinity(op: OpBuilder, kind: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue | None:
    """The other operand of a maximum with -infinity or of a minimum with infinity; JAX writes these for softmax.

    `kind` is `maximum` or `minimum`. None if neither operand is that infinity.
    """
    limit = -np.inf if kind == "maximum" else np.inf
    for value, other in ((lhs, rhs), (rhs, lhs)):
        owner = value.owner
        source = owner.operands[0] if isinstance(owner, Broadcast) else value
        known = op.known.constant(source) if _repeated(source) is None else _repeated(source)
        if known is not None and known.size == 1 and known.dtype.kind == "f" and float(known.reshape(())) == limit:
            return other
    return None


stablehlo.lowers_each(
    {
        "atan2": lambda op, lhs, rhs: angle_of(op, lhs, rhs),
        "chlo.next_after": lambda op, lhs, rhs: neighbour_toward(op, lhs, rhs),
        "not": lambda op, operand: op.LogicalNot(operand) if element_of(operand) is boolean else op.BitwiseNot(operand),
        # Of a real number.
        "imag": lambda op, operand: op.Multiply(operand, 0.0),
    }
)


_COMPARED = {"EQ": "Equal", "GE": "GreaterEqual", "GT": "Greater", "LE": "LessEqual", "LT": "Less", "NE": "NotEqual"}


@stablehlo.lowers("compare")
def compare(
    node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue, *, comparison_direction: str, compare_type: str = "NOTYPE"
) -> SSAValue:
    """stablehlo.compare(a, b) {comparison_direction = "LT"} -> opset1.Less(a, b), floats in total order too"""
    if comparison_direction not in _COMPARED:
        node.fail(f"the direction {comparison_direction!r} does not exist")
    a, b = with_scalars(op, lhs, rhs)
    if compare_type == "TOTALORDER" and element_of(lhs) in REAL_TYPES:
        return _compared_in_total_order(op, a, b, comparison_direction)
    return getattr(op, _COMPARED[comparison_direction])(a, b)


def _compared_in_total_order(op: OpBuilder, a: SSAValue, b: SSAValue, direction: str) -> SSAValue:
    """A comparison of floats in their total order, in which -0 is less than 0, and NaN the largest number.

    NaN with a negative sign, by definition the smallest number, is not distinguished from NaN with a positive sign.
    """
    match direction:
        case "LT":
            between_zeros = op.LogicalAnd(op.Equal(a, b), op.Less(op.Divide(1.0, a), op.Divide(1.0, b)))
            before_nan = op.LogicalAnd(op.LogicalNot(op.IsNaN(a)), op.IsNaN(b))
            return op.LogicalOr(op.LogicalOr(op.Less(a, b), between_zeros), before_nan)
        case "GT":
            return _compared_in_total_order(op, b, a, "LT")
        case "LE":
            return op.LogicalNot(_compared_in_total_order(op, b, a, "LT"))
        case "GE":
            return op.LogicalNot(_compared_in_total_order(op, a, b, "LT"))
        case "EQ":
            same_sign = op.Equal(op.Divide(1.0, a), op.Divide(1.0, b))
            same_number = op.LogicalAnd(op.Equal(a, b), same_sign)
            return op.LogicalOr(same_number, op.LogicalAnd(op.IsNaN(a), op.IsNaN(b)))
        case _:
            return op.LogicalNot(_compared_in_total_order(op, a, b, "EQ"))


@stablehlo.lowers("select")
def select(op: OpBuilder, pred: SSAValue, on_true: SSAValue, on_false: SSAValue) -> SSAValue:
    """stablehlo.select(c, a, b) -> opset1.Select(c, a, b)"""
    values = with_scalars(op, on_true, on_false)
    is_whole = not is_spread(on_true) or not is_spread(on_false)
    return op.Select(before_broadcast(op, pred) if is_whole else pred, *values)


@stablehlo.lowers("clamp")
def clamp(op: OpBuilder, minimum: SSAValue, operand: SSAValue, maximum: SSAValue) -> SSAValue:
    """stablehlo.clamp(low, x, high) -> opset1.Minimum(opset1.Maximum(x, low), high), or opset1.Clamp for constants"""
    low, high = before_broadcast(op, minimum), before_broadcast(op, maximum)
    limits = [op.known.constant(each) for each in (low, high)]
    first, last = (None if each is None or each.size != 1 else float(each.reshape(())) for each in limits)
    if element_of(operand) in REAL_TYPES and first is not None and last is not None and first <= last:
        return op.Clamp(operand, min=first, max=last)
    return op.Minimum(op.Maximum(operand, low), high)


@stablehlo.lowers("convert")
def convert(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.convert(x) -> opset1.Convert(x); numbers that are not 0 are true"""
    element = element_of(node.op.results[0])
    if element is boolean and element_of(operand) is not boolean:
        return op.NotEqual(operand, 0)
    return op.convert(operand, element)


@stablehlo.lowers("reduce_precision")
def reduce_precision(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, exponent_bits: int = 8, mantissa_bits: int = 23) -> SSAValue:
    """stablehlo.reduce_precision(x) {exponent_bits, mantissa_bits} -> y - (y - x), y = x · (2ⁿ + 1)

    The difference keeps the upper bits of the mantissa. A conversion to a type of 16 bits would do so, too, but
    may be taken for one without effect. Numbers above the largest one with these exponents become infinite, numbers
    below the smallest normal one become 0.

    Source: T. Dekker, "A Floating-Point Technique for Extending the Available Precision" (1971).
    """
    element = element_of(operand)
    own = _FORMATS.get(element)
    if own is None or exponent_bits < 1 or mantissa_bits < 0:
        node.fail(f"a precision of {exponent_bits} and {mantissa_bits} bits of this element type does not exist")
    if exponent_bits >= own[0] and mantissa_bits >= own[1]:
        return operand
    if element == f64 and (exponent_bits > 8 or mantissa_bits > 23):
        node.fail(f"a precision of {exponent_bits} and {mantissa_bits} bits of f64 is not supported", hint="at most 8 and 23 bits are")
    return op.convert(_reduced(op, op.convert(operand, f32), min(exponent_bits, 8), min(mantissa_bits, 23)), element)


_FORMATS: Mapping[Attribute, tuple[int, int]] = {f16: (5, 10), bf16: (8, 7), f32: (8, 23), f64: (11, 52)}
"""The bits of the exponent and of the mantissa of each element type."""

_LARGE = 2.0**100
"""From this number on, numbers are divided before they are rounded, since the product with 2ⁿ + 1 would be infinite."""


def _reduced(op: OpBuilder, x: SSAValue, exponent_bits: int, mantissa_bits: int) -> SSAValue:
    """x, of type f32, rounded to a float with fewer bits of exponent and mantissa."""
    rounded = x
    if mantissa_bits < 23:
        is_large = op.Greater(op.Abs(x), _LARGE)
        one = op.constant_like(1, x)
        scaled = op.Multiply(x, op.Select(is_large, op.constant_like(1 / _LARGE, x), one))
        shifted = op.Multiply(scaled, float(2 ** (23 - mantissa_bits) + 1))
        rounded = op.Multiply(op.Subtract(shifted, op.Subtract(shifted, scaled)), op.Select(is_large, op.constant_like(_LARGE, x), one))
        rounded = op.Select(op.IsFinite(x), rounded, x)
    if exponent_bits == 8:
        return rounded
    size, bias = op.Abs(rounded), 2 ** (exponent_bits - 1) - 1
    most = (2 - 2.0**-mantissa_bits) * 2.0**bias
    rounded = op.Select(op.Greater(size, most), op.Multiply(op.Sign(rounded), np.inf), rounded)
    return op.Select(op.Less(size, 2.0 ** (1 - bias)), op.Multiply(rounded, 0.0), rounded)
