"""Special functions, classes of numbers, and integers' divisors.

Source: the documentation of torch.special and torch of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import log, pi, sqrt
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, f32, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import is_negative
from moir.expansions.special import bessel
from moir.expansions.special.gamma import logarithm_of_gamma
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral, promoted
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

_Function = Callable[[OpBuilder, SSAValue], SSAValue]


def _normal(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The cumulative normal distribution; by the other tail for negative x, where 1 - erf loses digits."""
    return op.Multiply(op.Add(op.Erf(op.Multiply(x, sqrt(0.5))), 1), 0.5)


def _entropy(op: OpBuilder, x: SSAValue) -> SSAValue:
    """-x · log x; 0 for 0, -∞ for negative x."""
    inside = op.Negative(op.Multiply(x, op.Log(op.Select(op.Greater(x, 0), x, op.constant_like(1, x)))))
    return op.Select(op.GreaterEqual(x, 0), inside, op.Select(op.IsNaN(x), x, op.constant_like(-np.inf, x)))


def _sinc(op: OpBuilder, x: SSAValue) -> SSAValue:
    angle = op.Multiply(x, pi)
    is_zero = op.Equal(x, 0)
    safe = op.Select(is_zero, op.constant_like(1, x), angle)
    return op.Select(is_zero, op.constant_like(1, x), op.Divide(op.Sin(safe), safe))


FUNCTIONS: Mapping[str, _Function] = {
    "erfinv": lambda op, x: op.ErfInv(x),
    "special_erfinv": lambda op, x: op.ErfInv(x),
    "lgamma": logarithm_of_gamma,
    "special_gammaln": logarithm_of_gamma,
    "sinc": _sinc,
    "special_sinc": _sinc,
    "special_entr": _entropy,
    "special_ndtr": _normal,
    "special_expit": lambda op, x: op.Sigmoid(x),
    "special_erf": lambda op, x: op.Erf(x),
    "special_erfc": lambda op, x: op.Subtract(op.constant_like(1, x), op.Erf(x)),
    "special_exp2": lambda op, x: op.Exp(op.Multiply(x, log(2))),
    "special_expm1": lambda op, x: op.Subtract(op.Exp(x), 1),
    "special_log1p": lambda op, x: op.Log(op.Add(x, 1)),
}
"""How each function is computed: a builder by its name."""


@aten.lowers(*(f"{name}.default" for name in FUNCTIONS))
def special(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.sinc.default(x) -> sin(πx) / πx, and so on; integers are converted to the floats of the result first"""
    return FUNCTIONS[node.op.KIND.partition(".")[0]](op, op.convert(self, inferred_element(node)))


_BESSEL: Mapping[str, _Function] = {
    **{
        f"{name}{order}": partial(bessel.modified_first_kind, order=order)
        for name in ("i", "special_i", "special_modified_bessel_i")
        for order in (0, 1)
        if (name, order) != ("i", 1)
    },
    **{f"special_i{order}e": partial(bessel.modified_first_kind, order=order, is_scaled=True) for order in (0, 1)},
    **{f"special_modified_bessel_k{order}": partial(bessel.modified_second_kind, order=order) for order in (0, 1)},
    **{f"special_scaled_modified_bessel_k{order}": partial(bessel.modified_second_kind, order=order, is_scaled=True) for order in (0, 1)},
    **{f"special_bessel_j{order}": partial(bessel.first_kind, order=order) for order in (0, 1)},
    **{f"special_bessel_y{order}": partial(bessel.second_kind, order=order) for order in (0, 1)},
}
"""Bessel functions of the orders 0 and 1."""


@aten.lowers(*(f"{name}.default" for name in _BESSEL))
def bessel_function(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.i0.default(x) -> polynomials in x² near 0 and in 1 / |x| elsewhere; integers are converted to floats first

    Functions of the second kind, `k` and `y`, are NaN below 0.
    """
    name, x = node.op.KIND.partition(".")[0], op.convert(self, inferred_element(node))
    values = _BESSEL[name](op, x)
    return op.Select(op.Less(x, 0), op.constant_like(np.nan, x), values) if name[-2] in "ky" else values


@aten.lowers("special_ndtri.default")
def ndtri(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.special_ndtri.default(p) -> √2 · erfinv(2p - 1)"""
    x = op.convert(self, inferred_element(node))
    return op.Multiply(op.ErfInv(op.Subtract(op.Multiply(x, 2), 1)), sqrt(2))


@aten.lowers("nan_to_num.default")
def nan_to_num(
    op: OpBuilder,
    self: SSAValue,
    *,
    nan: Scalar | None = None,
    posinf: Scalar | None = None,
    neginf: Scalar | None = None,
) -> SSAValue:
    """aten.nan_to_num.default(x) {nan, posinf, neginf} -> opset1.Select for NaN, ∞ and -∞"""
    element = element_of(self)
    if is_integral(element):
        return self
    import ml_dtypes

    limits = cast("Any", ml_dtypes).finfo(to_numpy(element))
    values = [0.0 if nan is None else nan, float(limits.max) if posinf is None else posinf]
    values.append(float(limits.min) if neginf is None else neginf)
    replaced = as_element(op, element, *values)
    result = op.Select(op.IsNaN(self), replaced[0], self)
    result = op.Select(op.IsInf(self, detect_negative=False, detect_positive=True), replaced[1], result)
    return op.Select(op.IsInf(self, detect_negative=True, detect_positive=False), replaced[2], result)


@aten.lowers("signbit.default", "isposinf.default", "isneginf.default")
@aten.lowers("isreal.default", complex=by_formula("pytorch.complex.functions:is_real"))
def classified(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.signbit.default(x) -> whether x is negative, -0 included; `isposinf`, `isneginf` -> opset10.IsInf; `isreal`
    -> true everywhere
    """
    kind, element = node.op.KIND.partition(".")[0], element_of(self)
    if kind == "isreal":
        return op.Equal(op.Multiply(op.convert(op.NotEqual(self, self), f32), 0), 0)
    if element == boolean:
        return op.LogicalAnd(self, op.LogicalNot(self))
    if kind == "signbit":
        return op.Less(self, 0) if is_integral(element) else is_negative(op, self)
    x = op.convert(self, f32) if is_integral(element) else self
    return op.IsInf(x, detect_positive=kind == "isposinf", detect_negative=kind == "isneginf")


@aten.lowers("isclose.default")
def isclose(op: OpBuilder, self: SSAValue, other: SSAValue, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> SSAValue:
    """aten.isclose.default(x, y) {rtol, atol} -> x = y, or both finite and |x - y| ≤ atol + rtol · |y|"""
    element = promoted([self, other])
    x, y = as_element(op, element, self, other)
    same = op.Equal(x, y) if element != boolean else op.LogicalNot(op.LogicalXor(x, y))
    if element == boolean:
        return same
    a, b = (op.convert(each, f32) if is_integral(element) else each for each in (x, y))
    near = op.LessEqual(op.Abs(op.Subtract(a, b)), op.Add(op.Multiply(op.Abs(b), rtol), atol))
    is_close = op.LogicalOr(same, op.LogicalAnd(op.LogicalAnd(near, op.IsFinite(a)), op.IsFinite(b)))
    return op.LogicalOr(is_close, op.LogicalAnd(op.IsNaN(a), op.IsNaN(b))) if equal_nan and element in REAL_TYPES else is_close


@aten.lowers(
    "float_power.Tensor_Tensor", "float_power.Tensor_Scalar", "float_power.Scalar", complex=by_formula("pytorch.complex.functions:power")
)
@aten.lowers("ldexp.Tensor")
def float_power(
    node: LoweringNode, op: OpBuilder, *, self: Scalar, exponent: Scalar | None = None, other: Scalar | None = None
) -> SSAValue:
    """aten.float_power.Tensor_Tensor(x, y) -> opset1.Power(x, y) of f64; `ldexp` -> x · 2ʸ"""
    second = other if exponent is None else exponent
    if second is None:
        node.fail("its exponent is missing")
    x, y = as_element(op, inferred_element(node), self, second)
    return op.Power(x, y) if node.op.KIND.startswith("float_power") else op.Multiply(x, op.Power(op.constant_like(2, y), y))


@aten.lowers("special_xlog1py.default", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar")
def xlog1py(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.special_xlog1py.default(x, y) -> x · log(1 + y), 0 where x is 0 and y is not NaN"""
    x, y = as_element(op, inferred_element(node), self, other)
    is_zero = op.LogicalAnd(op.Equal(x, 0), op.LogicalNot(op.IsNaN(y)))
    return op.Select(is_zero, op.constant_like(0, x), op.Multiply(x, op.Log(op.Add(y, 1))))


@aten.lowers("gcd.default", "lcm.default")
def gcd(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.gcd.default(x, y) -> Euclid's remainders, as many as integers of 32 bits can need, in a Loop; `lcm` -> the
    least common multiple
    """
    from moir.expansions.special.divisors import greatest_common_divisor, least_common_multiple

    x, y = (op.Abs(each) for each in as_element(op, inferred_element(node), self, other))
    return (greatest_common_divisor if node.op.KIND.startswith("gcd") else least_common_multiple)(op, x, y)
