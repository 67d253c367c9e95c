"""Functions of each element, and operations that only matter in training.

Source: elemwise_unary_op*.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32, is_element_type, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.formulas import FORMULAS
from moir.expansions.functions import operation
from moir.expansions.quantization import half_away_from_zero
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import is_integer
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


def _truncated(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Multiply(op.Sign(x), op.Floor(op.Abs(x)))


_ROUNDINGS: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "fix": _truncated,
    # MXNet's rint rounds halves down.
    "rint": lambda op, x: op.Ceiling(op.Subtract(x, 0.5)),
    "round": half_away_from_zero,
    "round_ste": half_away_from_zero,
    "trunc": _truncated,
}
"""The rounding functions, each with its builder. Integers are not changed."""


def _gamma(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The gamma function: the exponential of its logarithm, with the sign for negative numbers."""
    is_negative = op.LogicalAnd(op.Less(x, 0.0), op.Equal(op.FloorMod(op.Floor(x), 2.0), 1.0))
    magnitude = op.Exp(FORMULAS["gammaln"](op, x))
    return op.Select(is_negative, op.Negative(magnitude), magnitude)


_PREFIXES = ("_npi_", "_npx_", "_np_", "_contrib_")


def plain_name(kind: str) -> str:
    """The name of a kind without the prefix of its interface (`_np_`, `_npx_`, …)."""
    return next((kind.removeprefix(prefix) for prefix in _PREFIXES if kind.startswith(prefix)), kind)


_KINDS = (
    "_contrib_round_ste _contrib_sign_ste _npi_abs _npi_absolute _npi_arccos _npi_arccosh _npi_arcsin _npi_arcsinh _npi_arctan "
    "_npi_arctanh _npi_cbrt _npi_ceil _npi_cos _npi_cosh _npi_degrees _npi_exp _npi_expm1 _npi_fix _npi_floor _npi_log _npi_log10 "
    "_npi_log1p _npi_log2 _npi_negative _npi_radians _npi_reciprocal _npi_rint _npi_sign _npi_sin _npi_sinh _npi_sqrt _npi_square "
    "_npi_tan _npi_tanh _npi_trunc _npx_erf _npx_erfinv _npx_gamma _npx_gammaln _npx_relu _npx_sigmoid abs arccos arccosh arcsin "
    "arcsinh arctan arctanh cbrt ceil cos cosh degrees erf erfinv exp expm1 fix floor gamma gammaln log log10 log1p log2 mish negative "
    "radians rcbrt reciprocal relu rint round rsqrt sigmoid sign sin sinh softsign sqrt square tan tanh trunc"
)
"""The spellings of functions of one operand."""


@mxnet.lowers(*_KINDS.split())
def function(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.arcsin(x) -> opset1.Asin(x), and so on

    Integers are converted to f32 for functions of real numbers.
    """
    name = plain_name(node.op.KIND)
    if name in _ROUNDINGS:
        return x if is_integer(x) else _ROUNDINGS[name](op, x)
    if name != "gamma" and name not in FORMULAS:
        return operation(op, name)(x)
    x = op.convert(x, f32) if is_integer(x) and name != "square" else x
    return _gamma(op, x) if name == "gamma" else FORMULAS[name](op, x)


@mxnet.lowers(
    *("BlockGrad", "Dropout", "IdentityAttachKLSparseReg", "MakeLoss", "_contrib_gradientmultiplier", "_npx_dropout", "cast_storage"),
    *("identity", "make_loss", "stop_gradient"),
)
def identity(node: LoweringNode, x: SSAValue, *, mode: str = "training") -> SSAValue:
    """mxnet.BlockGrad(x) -> x; likewise the other operations that only matter in training"""
    if mode == "always":
        node.fail("dropout with mode = always draws random numbers in inference, too; leave it out of the symbol")
    return x


@mxnet.lowers("logical_not", "_npi_logical_not")
def logical_not(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.logical_not(x) -> x == 0, in the type of x; numpy's is boolean"""
    return in_type_of(node, op, op.Equal(x, 0), x)


@mxnet.lowers("_contrib_quadratic")
def quadratic(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._contrib_quadratic(x) {a = 0, b = 0, c = 0} -> (a · x + b) · x + c"""
    a, b, c = (node.number(name, 0.0) for name in "abc")
    return op.Add(op.Multiply(op.Add(op.Multiply(x, a), b), x), c)


@mxnet.lowers("_npi_around")
def around(op: OpBuilder, x: SSAValue, *, decimals: int = 0) -> SSAValue:
    """mxnet._npi_around(x) {decimals = 0} -> opset5.Round(x · 10 ^ decimals) {half_away_from_zero} / 10 ^ decimals"""
    factor = 10.0**decimals
    if is_integer(x):
        return x
    return op.Divide(half_away_from_zero(op, op.Multiply(x, factor)), factor) if factor != 1 else half_away_from_zero(op, x)


@mxnet.lowers("_npi_nan_to_num")
def numbers_only(node: LoweringNode, op: OpBuilder, *, nan: float = 0.0) -> SSAValue:
    """mxnet._npi_nan_to_num(x) {nan = 0, posinf, neginf} -> x with numbers in place of NaN and the infinities"""
    x, element = node.operand(0), element_of(node.operand(0))
    if is_integer(x):
        return x
    largest = float(np.finfo(to_numpy(element)).max)
    x = op.Select(op.IsNaN(x), op.constant_like(nan, x), x)
    x = op.Select(op.Equal(x, np.inf), op.constant_like(node.number("posinf", largest), x), x)
    return op.Select(op.Equal(x, -np.inf), op.constant_like(node.number("neginf", -largest), x), x)


@mxnet.lowers(*(prefix + name for name in ("isfinite", "isinf", "isnan") for prefix in ("", "_contrib_", "_npi_")))
def test(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._contrib_isnan(x) -> opset10.IsNaN(x) in the type of x; numpy's is boolean; likewise isfinite and isinf"""
    return in_type_of(node, op, operation(op, plain_name(node.op.KIND))(x), x)


def in_type_of(node: LoweringNode, op: OpBuilder, truth: SSAValue, like: SSAValue) -> SSAValue:
    """A boolean result, converted to the type of `like` for kinds of the symbol interface; unchanged for kinds of
    numpy's.
    """
    if node.op.KIND.startswith("_np"):
        return truth
    element = element_of(like)
    return op.convert(truth, element) if is_element_type(element) and element != boolean else truth
