"""Scalars of a proof: terms of z3 as the elements of tensors.

Floats are real numbers, integers are bit vectors that wrap around, booleans are truth values; sizes and indices are
unbounded integers. Functions without a definition in z3 are uninterpreted; `polynomials` and `solver` contain their
laws.
"""

# Terms of z3 have no types.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from moir.proofs.smt import z3
from moir.proofs.term_tables import TermTable

Scalar: TypeAlias = Any
"""A term of z3, or a number of Python that stands for one."""

SYMBOLS = ("exp", "log", "sqrt", "tanh", "erf", "sin", "cos", "tan", "sinh", "cosh", "floor", "rint")
"""The functions of real numbers that are uninterpreted in proofs."""

ODD = frozenset(("tanh", "erf", "sin", "tan", "sinh"))
"""Functions for which f(-x) = -f(x)."""

_REAL = z3.RealSort()

FUNCTIONS: dict[str, Any] = {name: z3.Function(name, _REAL, _REAL) for name in SYMBOLS}
POWER = z3.Function("power", _REAL, _REAL, _REAL)

LIMIT_OF_DENOMINATORS = 1000
"""The largest denominator of the fraction that a stored float is taken to be the rounded value of."""

LIMIT_OF_SQUARES = 128
"""The largest denominator of the fraction that the square of a float is, if the float is taken to be a root: 1 / √96,
for heads of 96.
"""

LARGEST_NARROWED = 1e30
"""Numbers of this magnitude or above are not replaced by fractions: they are the limits of f32 and f64."""

ROUNDING = 2.0**-22
"""The largest distance of a stored float from that fraction, relative to its magnitude."""


class UnprovableError(Exception):
    """An operation, an element type or a shape has no meaning in a proof."""


@cache
def real(number: float) -> Scalar:
    """The real number that a float stands for: 0.33333334 is 1/3, and 0.70710677 the root of 1/2.

    Numbers of f64 are rounded to f32 first, so that a constant of a model equals one of a definition. NaN becomes an
    arbitrary number, so that a proof is valid only where NaN is moved. Raises UnprovableError for infinities.
    """
    if np.isnan(number):
        return z3.Real("nan")
    if not np.isfinite(number):
        raise UnprovableError(f"{number} is no real number")
    narrow = float(np.float32(number)) if abs(number) < LARGEST_NARROWED and number != int(number) else float(number)
    exact = Fraction(narrow)
    simple = _simple(exact, LIMIT_OF_DENOMINATORS, ROUNDING)
    square = None if simple is not None else _simple(exact * exact, LIMIT_OF_SQUARES, 2 * ROUNDING)
    if square is not None:
        root = FUNCTIONS["sqrt"](z3.Q(square.numerator, square.denominator))
        return root if exact > 0 else -root
    value = exact if simple is None else simple
    return z3.Q(value.numerator, value.denominator)


def _simple(value: Fraction, limit: int, rounding: float) -> Fraction | None:
    """The fraction with a denominator up to `limit` that differs from a number by at most `rounding` times the number.

    Returns None if there is none.
    """
    simple = value.limit_denominator(limit)
    return simple if simple and abs(simple - value) <= rounding * abs(value) else None


def is_term(value: Scalar) -> bool:
    """Whether a scalar is a term of z3."""
    return isinstance(value, z3.ExprRef)


def width_of(dtype: np.dtype[Any]) -> int:
    """The number of bits of an integer type."""
    return dtype.itemsize * 8


def literal(number: Any, dtype: np.dtype[Any]) -> Scalar:
    """The term of a number of an element type."""
    match dtype.kind:
        case "b":
            return z3.BoolVal(bool(number))
        case "i" | "u":
            return z3.BitVecVal(int(number), width_of(dtype))
        case _:
            return real(float(number))


def variable(name: str, rank: int, dtype: np.dtype[Any]) -> Callable[..., Scalar]:
    """The elements of an arbitrary tensor, as an uninterpreted z3 function of `rank` indices.

    Building a term costs more than looking it up, and graphs of a family have the same elements.
    """
    sort = z3.BoolSort() if dtype.kind == "b" else z3.BitVecSort(width_of(dtype)) if dtype.kind in "iu" else _REAL
    if not rank:
        element = z3.Const(name, sort)
        return lambda: element
    function = z3.Function(name, *[z3.IntSort()] * rank, sort)

    def at(*index: Any) -> Scalar:
        known = _ELEMENTS.get(function, *index)
        return _ELEMENTS.put(function(*index), function, *index) if known is None else known

    return at


_ELEMENTS: TermTable[Scalar] = TermTable()
"""Elements of tensors of any values, by their functions and indices."""


def index_of(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    """An integer element as an index: an unbounded integer."""
    if isinstance(value, int):
        return value
    if z3.is_bv_value(value):
        return value.as_signed_long() if dtype.kind == "i" else value.as_long()
    return z3.BV2Int(value, is_signed=dtype.kind == "i") if z3.is_bv(value) else value


def of_size(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    """A size as an element of a tensor of integers, or of real numbers."""
    if dtype.kind in "iu":
        return z3.BitVecVal(value, width_of(dtype)) if isinstance(value, int) else z3.Int2BV(value, width_of(dtype))
    return z3.ToReal(value) if is_term(value) else real(float(value))


def alike(elements: Sequence[Scalar], dtype: np.dtype[Any]) -> list[Scalar]:
    """Elements of one type as terms of one sort: integers are sizes if one of them is."""
    if dtype.kind in "iu" and any(isinstance(each, int) or z3.is_int(each) for each in elements):
        return [_as_size(each, dtype) for each in elements]
    return list(elements)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one of two real numbers or sizes."""
    return z3.If(a <= b, a, b)


def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger one of two real numbers or sizes."""
    return z3.If(a >= b, a, b)


def _less(is_signed: bool) -> Callable[[Scalar, Scalar], Scalar]:
    return (lambda a, b: a < b) if is_signed else z3.ULT


def _power(a: Scalar, b: Scalar) -> Scalar:
    """a to the power of b: a product, a quotient or a root where b is such a number."""
    exponent = z3.simplify(b)
    if z3.is_rational_value(exponent):
        number = Fraction(exponent.numerator_as_long(), exponent.denominator_as_long())
        root = {1: a, 2: FUNCTIONS["sqrt"](a)}.get(number.denominator)
        if root is not None and 0 < abs(number.numerator) <= 4:
            product = root
            for _ in range(abs(number.numerator) - 1):
                product = product * root
            return product if number > 0 else 1 / product
        if number == 0:
            return z3.Q(1, 1)
    return POWER(a, b)


def _sign(x: Scalar) -> Scalar:
    return z3.If(x > 0, z3.Q(1, 1), z3.If(x < 0, z3.Q(-1, 1), z3.Q(0, 1)))


_EXPONENTIAL = FUNCTIONS["exp"]

REALS: dict[str, Callable[..., Scalar]] = {
    **FUNCTIONS,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": _power,
    "square": lambda a: a * a,
    "reciprocal": lambda a: 1 / a,
    "negative": lambda a: -a,
    "absolute": lambda a: z3.If(a >= 0, a, -a),
    "sign": _sign,
    "maximum": larger,
    "minimum": smaller,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "erfc": lambda a: 1 - FUNCTIONS["erf"](a),
    "expm1": lambda a: _EXPONENTIAL(a) - 1,
    "logaddexp": lambda a, b: FUNCTIONS["log"](_EXPONENTIAL(a) + _EXPONENTIAL(b)),
}
"""The meaning of numpy's functions for real numbers, by name."""

BOOLEANS: dict[str, Callable[..., Scalar]] = {
    "logical_and": z3.And,
    "logical_or": z3.Or,
    "logical_xor": z3.Xor,
    "logical_not": z3.Not,
    "equal": lambda a, b: a == b,
    "not_equal": z3.Xor,
    "less": lambda a, b: z3.And(z3.Not(a), b),
    "less_equal": lambda a, b: z3.Implies(a, b),
    "greater": lambda a, b: z3.And(a, z3.Not(b)),
    "greater_equal": lambda a, b: z3.Implies(b, a),
}
"""The meaning of numpy's functions for truth values, by name."""


def truncated_remainder(a: Scalar, b: Scalar, is_signed: bool) -> Scalar:
    """The remainder of bit vectors with the sign of the dividend."""
    return z3.SRem(a, b) if is_signed else z3.URem(a, b)


def floored_quotient(a: Scalar, b: Scalar, is_signed: bool) -> Scalar:
    """The quotient of bit vectors, rounded down."""
    if not is_signed:
        return z3.UDiv(a, b)
    return a / b - z3.If(z3.And(z3.SRem(a, b) != 0, (a < 0) != (b < 0)), z3.BitVecVal(1, a.size()), z3.BitVecVal(0, a.size()))


def floored_remainder(a: Scalar, b: Scalar, is_signed: bool) -> Scalar:
    """The remainder of bit vectors with the sign of the divisor."""
    return a - b * floored_quotient(a, b, is_signed) if is_signed else z3.URem(a, b)


MOST_FACTORS = 4


def integer_power(a: Scalar, b: Scalar) -> Scalar:
    """The power of a bit vector with a small constant exponent."""
    exponent = z3.simplify(b)
    if not z3.is_bv_value(exponent) or not 0 < exponent.as_long() <= MOST_FACTORS:
        raise UnprovableError("a power of integers")
    result = a
    for _ in range(exponent.as_long() - 1):
        result = result * a
    return result


def integer_magnitude(a: Scalar) -> Scalar:
    """The magnitude of a signed bit vector; the smallest number has none and is unchanged."""
    return z3.If(a < 0, -a, a)


def integer_functions(is_signed: bool) -> dict[str, Callable[..., Scalar]]:
    """The meaning of numpy's functions for bit vectors, by name."""
    less = _less(is_signed)
    return {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "negative": lambda a: -a,
        "square": lambda a: a * a,
        "power": integer_power,
        "absolute": lambda a: integer_magnitude(a) if is_signed else a,
        "maximum": lambda a, b: z3.If(less(a, b), b, a),
        "minimum": lambda a, b: z3.If(less(b, a), b, a),
        "less": less,
        "less_equal": lambda a, b: z3.Not(less(b, a)),
        "greater": lambda a, b: less(b, a),
        "greater_equal": lambda a, b: z3.Not(less(a, b)),
        "equal": lambda a, b: a == b,
        "not_equal": lambda a, b: a != b,
        "bitwise_and": lambda a, b: a & b,
        "bitwise_or": lambda a, b: a | b,
        "bitwise_xor": lambda a, b: a ^ b,
        "bitwise_not": lambda a: ~a,
        "fmod": lambda a, b: truncated_remainder(a, b, is_signed),
        "remainder": lambda a, b: floored_remainder(a, b, is_signed),
        "floor_divide": lambda a, b: floored_quotient(a, b, is_signed),
    }


SIZES: dict[str, Callable[..., Scalar]] = {
    **{name: REALS[name] for name in ("add", "subtract", "multiply", "negative", "square", "absolute", "maximum", "minimum")},
    **{name: REALS[name] for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")},
    "remainder": lambda a, b: a % b,
    "floor_divide": lambda a, b: a / b,
}
"""The meaning of numpy's functions for sizes, which do not wrap around, by name."""

_TABLES = {"f": REALS, "V": REALS, "b": BOOLEANS, "i": integer_functions(True), "u": integer_functions(False)}

DEFINED_POWER = z3.Function("defined_power", _REAL, _REAL, z3.BoolSort())
"""Whether a power with any exponent is defined: where its base is positive, and perhaps elsewhere."""


def definedness(name: str, elements: Sequence[Scalar]) -> Any:
    """The condition under which one of numpy's functions is defined for elements; None if it always is."""
    if name in ("divide", "floor_divide", "remainder", "fmod"):
        return elements[1] != 0
    if name == "reciprocal":
        return elements[0] != 0
    if name == "sqrt":
        return elements[0] >= 0
    if name == "log":
        return elements[0] > 0
    if name != "power" or not z3.is_real(elements[0]):
        return None
    base, exponent = elements[0], z3.simplify(elements[1])
    if not z3.is_rational_value(exponent):
        return DEFINED_POWER(base, exponent)
    number = Fraction(exponent.numerator_as_long(), exponent.denominator_as_long())
    if number.denominator == 1:
        return base != 0 if number < 0 else None
    return base > 0 if number < 0 else base >= 0


TRUTHS = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))
"""Functions whose result is a truth value for all operands."""


_APPLIED: TermTable[Scalar] = TermTable()
"""Terms of numpy's functions, by the function, the element type and the arguments."""


def apply(name: str, dtype: np.dtype[Any], *arguments: Scalar) -> Scalar:
    """The term of one of numpy's functions on elements of a type. Raises UnprovableError if it has no meaning."""
    known = _APPLIED.get(name, dtype.str, *arguments)
    return _APPLIED.put(_applied(name, dtype, *arguments), name, dtype.str, *arguments) if known is None else known


def _applied(name: str, dtype: np.dtype[Any], *arguments: Scalar) -> Scalar:
    table = _TABLES.get(dtype.kind, {})
    if dtype.kind in "iu" and any(isinstance(each, int) or z3.is_int(each) for each in arguments):
        table, arguments = SIZES, tuple(_as_size(each, dtype) for each in arguments)
    function = table.get(name)
    if function is None:
        raise UnprovableError(f"{name} of {dtype} has no meaning in a proof")
    return function(*arguments)


def _as_size(value: Scalar, dtype: np.dtype[Any]) -> Scalar:
    size = index_of(value, dtype)
    return z3.IntVal(size) if isinstance(size, int) else size
