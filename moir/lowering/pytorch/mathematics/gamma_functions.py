"""The gamma function's relatives, the zeta function, and the tails of the normal distribution.

Source: the documentation of torch.special of PyTorch 2.13, and Math.h in aten/src/ATen/native.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.special import polygamma as derivatives
from moir.expansions.special.gamma import in_single, logarithm_of_gamma
from moir.expansions.special.incomplete_gamma import lower_gamma, upper_gamma
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.mathematics import scaled_error_function
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _digamma(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The derivative of the logarithm of gamma; for 0 and -0 infinite, as -1 / x."""
    return op.Select(op.Equal(x, 0.0), op.Divide(-1.0, x), derivatives.digamma(op, x))


def _zeta(op: OpBuilder, x: SSAValue, q: SSAValue) -> SSAValue:
    """The Hurwitz zeta function; infinite at all poles, whatever the sign of their terms is."""
    is_pole = op.LogicalAnd(op.LessEqual(q, 0.0), op.Equal(q, op.Floor(q)))
    is_pole = op.LogicalAnd(is_pole, op.Greater(x, 1.0))
    return op.Select(is_pole, op.constant_like(np.inf, x), derivatives.zeta(op, x, q))


_FUNCTIONS = {
    "digamma": _digamma,
    "special_digamma": _digamma,
    "special_psi": _digamma,
    "special_erfcx": scaled_error_function.scaled_complement,
    "special_log_ndtr": scaled_error_function.logarithm_of_normal,
}


@aten.lowers(*(f"{name}.default" for name in _FUNCTIONS))
def function(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.digamma.default(x) -> an asymptotic series, and so on; integers are converted to the floats of the result"""
    return in_single(op, partial(_FUNCTIONS[node.op.KIND.partition(".")[0]], op), op.convert(self, inferred_element(node)))


_BINARY = {"igamma": lower_gamma, "special_gammainc": lower_gamma, "igammac": upper_gamma, "special_gammaincc": upper_gamma}


@aten.lowers(*(f"{name}.default" for name in _BINARY))
def incomplete_gamma(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.igamma.default(a, x) -> a series or a continued fraction, in a Loop"""
    a, x = as_element(op, inferred_element(node), self, other)
    return in_single(op, partial(_BINARY[node.op.KIND.partition(".")[0]], op), a, x)


@aten.lowers("special_zeta.default", "special_zeta.other_scalar", "special_zeta.self_scalar")
def hurwitz_zeta(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.special_zeta.default(x, q) -> a sum and the Euler-Maclaurin series"""
    x, q = as_element(op, inferred_element(node), self, other)
    shape = op.ShapeOf(op.Add(x, q))
    return in_single(op, partial(_zeta, op), *(op.Broadcast(each, shape) for each in (x, q)))


@aten.lowers("polygamma.default", "special_polygamma.default")
def polygamma(node: LoweringNode, op: OpBuilder, self: SSAValue, *, n: int) -> SSAValue:
    """aten.polygamma.default(x) {n} -> (-1)ⁿ⁺¹ n! zeta(n + 1, x), for n = 0 digamma(x)"""
    if n < 0:
        node.fail(f"a derivative of order {n}")

    def compute(x: SSAValue) -> SSAValue:
        if n == 0:
            return _digamma(op, x)
        factor = (-1.0) ** (n + 1) * math.gamma(n + 1.0)
        return op.Multiply(_zeta(op, op.constant_like(n + 1, x), x), factor)

    return in_single(op, compute, op.convert(self, inferred_element(node)))


@aten.lowers("mvlgamma.default", "special_multigammaln.default")
def multivariate_gamma(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: int) -> SSAValue:
    """aten.mvlgamma.default(x) {p} -> p (p - 1) / 4 · ln π + Σ ln Γ(x - i / 2) over i below p"""
    if p < 1:
        node.fail(f"a gamma function of {p} dimensions")

    def compute(x: SSAValue) -> SSAValue:
        shifted = op.Subtract(op.Unsqueeze(x, [-1]), op.constant_like(np.arange(p) / 2, x))
        return op.Add(op.ReduceSum(logarithm_of_gamma(op, shifted), [-1], keep_dims=False), p * (p - 1) / 4 * math.log(math.pi))

    return in_single(op, compute, op.convert(self, inferred_element(node)))


@aten.lowers("special_spherical_bessel_j0.default")
def spherical_bessel(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """aten.special_spherical_bessel_j0.default(x) -> sin(x) / x; 1 for 0, 0 for ∞"""
    x = op.convert(x, inferred_element(node))
    quotient = op.Divide(op.Sin(x), op.Select(op.Equal(x, 0.0), op.constant_like(1, x), x))
    return op.Select(op.Equal(x, 0.0), op.constant_like(1, x), op.Select(op.IsInf(x), op.constant_like(0, x), quotient))
