"""Elementwise functions of one operand, computed in the element type of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32
from moir.dialects.shapes import element_of
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
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
"""The computation of each function: the name of an operation for `moir.expansions.functions`, or a function."""

EXACT = frozenset(("ceil", "floor", "round", "trunc", "fix"))
"""Functions that return integers unchanged."""

OF_BOOLEANS = frozenset(("sign", "sgn", "abs", "absolute", "square"))
"""Functions that return booleans unchanged."""


@aten.lowers(*(f"{name}.default" for name in FUNCTIONS))
def function(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.cos.default(x) -> opset1.Cos(x), and so on; integers are converted to the floats of the result first"""
    name = node.op.KIND.partition(".")[0]
    element = inferred_element(node)
    x = op.convert(self, element)
    if (name in EXACT and is_integral(element)) or (name in OF_BOOLEANS and element == boolean):
        return x
    how = FUNCTIONS[name]
    return operation(op, how)(x) if isinstance(how, str) else how(op, x)


@aten.lowers("round.decimals")
def round_decimals(op: OpBuilder, self: SSAValue, *, decimals: int) -> SSAValue:
    """aten.round.decimals(x) {decimals = d} -> Round(x · 10ᵈ) / 10ᵈ"""
    factor = 10.0 ** abs(decimals)
    scaled = op.Multiply(self, factor) if decimals >= 0 else op.Divide(self, factor)
    rounded = op.Round(scaled)
    return op.Divide(rounded, factor) if decimals >= 0 else op.Multiply(rounded, factor)


@aten.lowers("isnan.default", "isinf.default", "isfinite.default")
def classified(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.isnan.default(x) -> opset10.IsNaN(x), and so on"""
    x = op.convert(self, f32) if is_integral(element_of(self)) else self
    return {"isnan": op.IsNaN, "isinf": op.IsInf, "isfinite": op.IsFinite}[node.op.KIND.partition(".")[0]](x)


@aten.lowers("logical_not.default")
def logical_not(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.logical_not.default(x) -> opset1.LogicalNot(x ≠ 0)"""
    return op.LogicalNot(self) if element_of(self) == boolean else op.Equal(self, 0)


@aten.lowers("bitwise_not.default")
def bitwise_not(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.bitwise_not.default(x) -> opset13.BitwiseNot(x)"""
    return op.LogicalNot(self) if element_of(self) == boolean else op.BitwiseNot(self)


@aten.lowers(
    *("clone.default", "detach.default", "alias.default", "contiguous.default", "lift_fresh_copy.default", "lift.default"),
    *("positive.default", "conj.default", "resolve_conj.default", "resolve_neg.default", "lift_fresh.default"),
    *("detach_copy.default", "alias_copy.default", "real.default", "prims.copy_strided.default"),
)
def identity(self: SSAValue) -> SSAValue:
    """aten.clone.default(x) -> x"""
    return self


@aten.lowers(
    *("to.dtype", "to.device", "to.dtype_layout", "to.other", "_to_copy.default", "type_as.default"),
    *("float.default", "half.default", "bfloat16.default", "double.default", "int.default", "long.default", "bool.default"),
)
def converted(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.to.dtype(x) {dtype} -> opset1.Convert(x); a number is true if it is not 0"""
    element = inferred_element(node)
    if element == boolean and element_of(self) != boolean:
        return op.NotEqual(self, 0)
    return op.convert(self, element)
