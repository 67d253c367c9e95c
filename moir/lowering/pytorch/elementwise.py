"""Elementwise functions of one operand, computed in the element type of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32
from moir.dialects.shapes import element_of
from moir.expansions.functions import operation
from moir.frameworks.traits import ELEMENTWISE, MAY_COPY, VIEW, WHOLE_VIEW
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_formula, by_function, by_parts
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import inferred_element, is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

_Function = Callable[[OpBuilder, SSAValue], SSAValue]

FUNCTIONS: Mapping[str, str | _Function] = {
    **{name: name for name in ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp")},
    **{name: name for name in ("floor", "log", "neg", "round", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh")},
    **{name: name for name in ("arccos", "arcsin", "arctan")},
    "expm1": lambda op, x: op.Subtract(op.Exp(x), 1),
    "exp2": lambda op, x: op.Exp(op.Multiply(x, log(2))),
    "log1p": lambda op, x: op.Log(op.Add(x, 1)),
    "log2": lambda op, x: op.Divide(op.Log(x), log(2)),
    "log10": lambda op, x: op.Divide(op.Log(x), log(10)),
    "reciprocal": lambda op, x: op.Divide(op.constant_like(1, x), x),
    "rsqrt": lambda op, x: op.Power(x, -0.5),
    "square": lambda op, x: op.Multiply(x, x),
    "erfc": lambda op, x: op.Subtract(op.constant_like(1, x), op.Erf(x)),
    "trunc": lambda op, x: op.Multiply(op.Sign(x), op.Floor(op.Abs(x))),
    "fix": lambda op, x: op.Multiply(op.Sign(x), op.Floor(op.Abs(x))),
    "frac": lambda op, x: op.Subtract(x, op.Multiply(op.Sign(x), op.Floor(op.Abs(x)))),
    "deg2rad": lambda op, x: op.Multiply(x, 0.017453292519943295),
    "rad2deg": lambda op, x: op.Multiply(x, 57.29577951308232),
    "sgn": lambda op, x: op.Sign(x),
    "negative": lambda op, x: op.Negative(x),
    "absolute": lambda op, x: op.Abs(x),
}
"""How each function is computed: the name of a function in `moir.expansions.functions`, or a builder."""

_COMPLEX = "acos acosh asin asinh atan atanh cos cosh exp2 expm1 log log10 log1p log2 rsqrt sigmoid sin sinh sqrt square tan tanh"
_REAL = "arccos arcsin arctan ceil deg2rad erf erfc fix floor frac rad2deg round sign trunc"

EXACT = frozenset(("ceil", "floor", "round", "trunc", "fix"))
"""Functions that return integers unchanged."""

OF_BOOLEANS = frozenset(("sign", "sgn", "abs", "absolute", "square"))
"""Functions that return booleans unchanged."""


@aten.lowers("abs.default", "absolute.default", complex=by_formula("pytorch.complex.arithmetic:magnitude"), traits=(ELEMENTWISE,))
@aten.lowers("exp.default", complex=by_formula("pytorch.complex.arithmetic:exp"), traits=(ELEMENTWISE,))
@aten.lowers("neg.default", "negative.default", complex=by_parts(), traits=(ELEMENTWISE,))
@aten.lowers("reciprocal.default", complex=by_formula("pytorch.complex.arithmetic:reciprocal"), traits=(ELEMENTWISE,))
@aten.lowers("sgn.default", complex=by_function("sign"), traits=(ELEMENTWISE,))
@aten.lowers(*(f"{name}.default" for name in _COMPLEX.split()), complex=by_function(), traits=(ELEMENTWISE,))
@aten.lowers(*(f"{name}.default" for name in _REAL.split()), traits=(ELEMENTWISE,))
def function(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.cos.default(x) -> opset1.Cos(x), and so on; integers are converted to the floats of the result first"""
    name = node.op.KIND.partition(".")[0]
    element = inferred_element(node)
    x = op.convert(self, element)
    if (name in EXACT and is_integral(element)) or (name in OF_BOOLEANS and element == boolean):
        return x
    computation = FUNCTIONS[name]
    return operation(op, computation)(x) if isinstance(computation, str) else computation(op, x)


@aten.lowers("round.decimals", traits=(ELEMENTWISE,))
def round_decimals(op: OpBuilder, self: SSAValue, *, decimals: int) -> SSAValue:
    """aten.round.decimals(x) {decimals = d} -> Round(x · 10ᵈ) / 10ᵈ"""
    factor = 10.0 ** abs(decimals)
    scaled = op.Multiply(self, factor) if decimals >= 0 else op.Divide(self, factor)
    rounded = op.Round(scaled)
    return op.Divide(rounded, factor) if decimals >= 0 else op.Multiply(rounded, factor)


@aten.lowers("isnan.default", complex=by_formula("pytorch.complex.functions:is_nan"), traits=(ELEMENTWISE,))
@aten.lowers("isinf.default", complex=by_formula("pytorch.complex.functions:is_infinite"), traits=(ELEMENTWISE,))
@aten.lowers("isfinite.default", complex=by_formula("pytorch.complex.functions:is_finite"), traits=(ELEMENTWISE,))
def classified(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.isnan.default(x) -> opset10.IsNaN(x), and so on"""
    x = op.convert(self, f32) if is_integral(element_of(self)) else self
    return {"isnan": op.IsNaN, "isinf": op.IsInf, "isfinite": op.IsFinite}[node.op.KIND.partition(".")[0]](x)


@aten.lowers("logical_not.default", complex=by_formula("pytorch.complex.functions:is_zero"), traits=(ELEMENTWISE,))
def logical_not(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.logical_not.default(x) -> opset1.LogicalNot(x ≠ 0)"""
    return op.LogicalNot(self) if element_of(self) == boolean else op.Equal(self, 0)


@aten.lowers("bitwise_not.default", traits=(ELEMENTWISE,))
def bitwise_not(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.bitwise_not.default(x) -> opset13.BitwiseNot(x)"""
    return op.LogicalNot(self) if element_of(self) == boolean else op.BitwiseNot(self)


@aten.lowers(
    "alias.default", "detach.default", "lift_fresh.default", "positive.default", complex=by_parts(), traits=(ELEMENTWISE, WHOLE_VIEW)
)
@aten.lowers("contiguous.default", complex=by_parts(), traits=(ELEMENTWISE, WHOLE_VIEW, MAY_COPY))
@aten.lowers(
    *(f"{name}.default" for name in ("clone", "alias_copy", "detach_copy", "lift", "lift_fresh_copy", "resolve_neg")),
    complex=by_parts(),
    traits=(ELEMENTWISE,),
)
@aten.lowers("prims.copy_strided.default", complex=by_parts())
@aten.lowers("resolve_conj.default", complex=PAIRS)
@aten.lowers("real.default", complex=by_formula("pytorch.complex.arithmetic:parts"), traits=(VIEW,))
def identity(self: SSAValue) -> SSAValue:
    """aten.clone.default(x) -> x; likewise other kinds that return their operand, such as `alias` and `contiguous`"""
    return self


@aten.lowers(
    *("to.dtype", "to.device", "to.dtype_layout", "to.other", "type_as.default"),
    complex=JOINED,
    traits=(ELEMENTWISE, WHOLE_VIEW, MAY_COPY),
)
@aten.lowers("_to_copy.default", complex=JOINED, traits=(ELEMENTWISE,))
@aten.lowers(
    *("float.default", "half.default", "bfloat16.default", "double.default", "int.default", "long.default", "bool.default"),
    traits=(ELEMENTWISE,),
)
def converted(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.to.dtype(x) {dtype} -> opset1.Convert(x), likewise `float`, `int` and others; for booleans x ≠ 0"""
    element = inferred_element(node)
    if element == boolean and element_of(self) != boolean:
        return op.NotEqual(self, 0)
    return op.convert(self, element)
