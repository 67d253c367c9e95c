"""Elementwise functions that several operations compute, by the names that frameworks have for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from xdsl.ir import SSAValue

from moir.expansions.special.gamma import in_single, logarithm_of_gamma
from moir.expansions.special.normal_quantile import quantile
from moir.expansions.special.polygamma import digamma
from moir.rewriting.builder import OpBuilder


def cube_root(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The real cube root, also of negative numbers."""
    return op.Multiply(op.Sign(x), op.Power(op.Abs(x), 1 / 3))


FORMULAS: Mapping[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "cbrt": cube_root,
    "degrees": lambda op, x: op.Multiply(x, 180 / math.pi),
    "digamma": lambda op, x: in_single(op, partial(digamma, op), x),
    "erfc": lambda op, x: op.Subtract(1.0, op.Erf(x)),
    "erfinv": lambda op, x: op.ErfInv(x),
    "expm1": lambda op, x: op.Subtract(op.Exp(x), 1.0),
    "gammaln": lambda op, x: in_single(op, partial(logarithm_of_gamma, op), x),
    "inv": lambda op, x: op.Divide(1.0, x),
    "log10": lambda op, x: op.Multiply(op.Log(x), 1 / math.log(10)),
    "log1p": lambda op, x: op.Log(op.Add(x, 1.0)),
    "log2": lambda op, x: op.Multiply(op.Log(x), 1 / math.log(2)),
    "ndtri": lambda op, x: in_single(op, partial(quantile, op), x),
    "radians": lambda op, x: op.Multiply(x, math.pi / 180),
    "rcbrt": lambda op, x: op.Divide(1.0, cube_root(op, x)),
    "reciprocal": lambda op, x: op.Divide(1.0, x),
    "relu6": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
    "rsqrt": lambda op, x: op.Power(x, -0.5),
    "square": lambda op, x: op.Multiply(x, x),
}
"""The builders of elementwise functions, by the functions' names in lower case."""
