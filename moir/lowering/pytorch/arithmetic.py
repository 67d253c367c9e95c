"""Arithmetic on two or more operands, in the element type of the result.

Source: BinaryOps.cpp and native_functions.yaml of PyTorch 2.9.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean
from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import angle_of, hypotenuse, is_negative
from moir.frameworks.traits import ELEMENTWISE
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.complex.rules import SUMMED, bilinear_in
from moir.lowering.pytorch.mathematics.integer_powers import integer_power
from moir.lowering.pytorch.promotion import as_element, category, inferred_element, is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _scaled(op: OpBuilder, value: SSAValue, alpha: Scalar) -> SSAValue:
    if not isinstance(alpha, SSAValue) and alpha == 1:
        return value
    return op.Multiply(value, as_element(op, element_of(value), alpha)[0])


def _operands(node: LoweringNode, op: OpBuilder, *values: Scalar) -> list[SSAValue]:
    return as_element(op, inferred_element(node), *values)


@aten.lowers(
    "add.Tensor",
    "add.Scalar",
    "sub.Tensor",
    "sub.Scalar",
    "rsub.Tensor",
    "rsub.Scalar",
    "subtract.Tensor",
    complex=SUMMED,
    traits=(ELEMENTWISE,),
)
def add(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar, alpha: Scalar = 1) -> SSAValue:
    """aten.add.Tensor(x, y) {alpha = a} -> opset1.Add(x, a · y); `sub` subtracts, `rsub` is y - a · x"""
    x, y = _operands(node, op, self, other)
    kind = node.op.KIND
    if kind.startswith("rsub"):
        return op.Subtract(y, _scaled(op, x, alpha))
    if kind.startswith("sub"):
        return op.Subtract(x, _scaled(op, y, alpha))
    if element_of(x) == boolean:
        return op.LogicalOr(x, y)
    return op.Add(x, _scaled(op, y, alpha))


@aten.lowers(
    "mul.Tensor",
    "mul.Scalar",
    "multiply.Tensor",
    "multiply.Scalar",
    complex=by_formula("pytorch.complex.arithmetic:mul"),
    traits=(ELEMENTWISE,),
)
def mul(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.mul.Tensor(x, y) -> opset1.Multiply(x, y); of booleans LogicalAnd"""
    x, y = _operands(node, op, self, other)
    return op.LogicalAnd(x, y) if element_of(x) == boolean else op.Multiply(x, y)


@aten.lowers(
    "div.Tensor",
    "div.Scalar",
    "true_divide.Tensor",
    "divide.Tensor",
    "divide.Scalar",
    complex=by_formula("pytorch.complex.arithmetic:div"),
    traits=(ELEMENTWISE,),
)
def div(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.div.Tensor(x, y) -> opset1.Divide(x, y), of integers as floats"""
    return op.Divide(*_operands(node, op, self, other))


@aten.lowers(
    "div.Tensor_mode",
    "div.Scalar_mode",
    "divide.Tensor_mode",
    "divide.Scalar_mode",
    complex=by_formula("pytorch.complex.arithmetic:div"),
    traits=(ELEMENTWISE,),
)
def div_mode(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar, rounding_mode: str = "") -> SSAValue:
    """aten.div.Tensor_mode(x, y) {rounding_mode = "floor"} -> the quotient rounded down, with "trunc" towards 0"""
    x, y = _operands(node, op, self, other)
    if not rounding_mode:
        return op.Divide(x, y)
    if rounding_mode == "floor":
        return floor_quotient(op, x, y)
    if is_integral(element_of(x)):
        return op.Divide(x, y, m_pythondiv=False)
    quotient = op.Divide(x, y)
    return op.Multiply(op.Sign(quotient), op.Floor(op.Abs(quotient)))


def floor_quotient(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x / y rounded down."""
    return op.Divide(x, y) if is_integral(element_of(x)) else op.Floor(op.Divide(x, y))


@aten.lowers("floor_divide.default", "floor_divide.Scalar", traits=(ELEMENTWISE,))
def floor_divide(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.floor_divide.default(x, y) -> the quotient rounded down"""
    return floor_quotient(op, *_operands(node, op, self, other))


@aten.lowers("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor", "fmod.Tensor", "fmod.Scalar", traits=(ELEMENTWISE,))
def remainder(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.remainder.Tensor(x, y) -> opset1.FloorMod(x, y), with the sign of y; `fmod`: opset1.Mod, with the
    sign of x
    """
    x, y = _operands(node, op, self, other)
    return op.FloorMod(x, y) if node.op.KIND.startswith("remainder") else op.Mod(x, y)


@aten.lowers(
    "pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar", complex=by_formula("pytorch.complex.functions:power"), traits=(ELEMENTWISE,)
)
def pow_(node: LoweringNode, op: OpBuilder, *, self: Scalar, exponent: Scalar) -> SSAValue:
    """aten.pow.Tensor_Scalar(x) {exponent} -> opset1.Power(x, exponent), of integers products that wrap around"""
    x, y = _operands(node, op, self, exponent)
    if element_of(x) in INTEGER_TYPES:
        return integer_power(op, x, y if isinstance(exponent, SSAValue) else int(exponent))
    if exponent == 2 and isinstance(exponent, int | float):
        return op.Multiply(x, x)
    if exponent == 1 and isinstance(exponent, int | float):
        return x
    return op.Power(x, y)


@aten.lowers("maximum.default", "minimum.default", "fmax.default", "fmin.default", "max.other", "min.other", traits=(ELEMENTWISE,))
def extreme(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.maximum.default(x, y) -> opset1.Maximum(x, y); `fmax` and `fmin` leave out NaNs; `minimum` ->
    opset1.Minimum
    """
    x, y = _operands(node, op, self, other)
    kind = node.op.KIND
    if element_of(x) == boolean:
        return op.LogicalOr(x, y) if "max" in kind else op.LogicalAnd(x, y)
    extreme_ = op.Maximum(x, y) if "max" in kind else op.Minimum(x, y)
    if not kind.startswith("f") or is_integral(element_of(x)):
        return extreme_
    return op.Select(op.IsNaN(x), y, op.Select(op.IsNaN(y), x, extreme_))


@aten.lowers(
    "clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor", "clamp_min.default", "clamp_max.default", traits=(ELEMENTWISE,)
)
def clamp(node: LoweringNode, op: OpBuilder, self: SSAValue, *, min: Scalar | None = None, max: Scalar | None = None) -> SSAValue:
    """aten.clamp.default(x) {min, max} -> opset1.Clamp(x) {min, max}, or Maximum and Minimum; `clip` likewise,
    `clamp_min` and `clamp_max` with one bound
    """
    return limited(node, op, self, min, max)


def limited(node: LoweringNode, op: OpBuilder, x: SSAValue, low: Scalar | None, high: Scalar | None) -> SSAValue:
    """x clamped to bounds, either of which may be None: by opset1.Clamp for constant numbers, else by Maximum and
    Minimum.
    """
    element = inferred_element(node)
    x = op.convert(x, element)
    if element == boolean:
        x = x if low is None else op.LogicalOr(x, as_element(op, element, low)[0])
        return x if high is None else op.LogicalAnd(x, as_element(op, element, high)[0])
    if isinstance(low, int | float) and isinstance(high, int | float) and low <= high and category(element) == 2:
        return op.Clamp(x, min=float(low), max=float(high))
    if low is not None:
        x = op.Maximum(x, as_element(op, element, low)[0])
    return x if high is None else op.Minimum(x, as_element(op, element, high)[0])


@aten.lowers("clamp_min.Tensor", "clamp_max.Tensor", traits=(ELEMENTWISE,))
def clamp_one(node: LoweringNode, op: OpBuilder, self: SSAValue, *, min: Scalar | None = None, max: Scalar | None = None) -> SSAValue:
    """aten.clamp_min.Tensor(x, min) -> opset1.Maximum(x, min); `clamp_max` -> opset1.Minimum(x, max)"""
    return limited(node, op, self, min, max)


@aten.lowers("atan2.default", "arctan2.default", traits=(ELEMENTWISE,))
def atan2(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.atan2.default(y, x) -> the angle of the point (x, y); `arctan2` likewise"""
    return angle_of(op, *_operands(node, op, self, other))


@aten.lowers("addcmul.default", "addcdiv.default", complex=by_formula("pytorch.complex.functions:addcmul"), traits=(ELEMENTWISE,))
def addcmul(node: LoweringNode, op: OpBuilder, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, *, value: Scalar = 1) -> SSAValue:
    """aten.addcmul.default(x, a, b) {value = v} -> x + v · a · b; `addcdiv` divides a by b"""
    x, a, b = _operands(node, op, self, tensor1, tensor2)
    product = op.Multiply(a, b) if node.op.KIND.startswith("addcmul") else op.Divide(a, b)
    return op.Add(x, _scaled(op, product, value))


@aten.lowers("lerp.Scalar", "lerp.Tensor", complex=by_formula("pytorch.complex.functions:lerp"), traits=(ELEMENTWISE,))
def lerp(node: LoweringNode, op: OpBuilder, self: SSAValue, end: SSAValue, *, weight: Scalar) -> SSAValue:
    """aten.lerp.Scalar(x, y) {weight = w} -> x + w · (y - x), computed from the nearer end"""
    x, y = _operands(node, op, self, end)
    return between(op, x, y, weight if not isinstance(weight, SSAValue) else op.convert(weight, element_of(x)))


def between(op: OpBuilder, x: SSAValue, y: SSAValue, weight: Scalar) -> SSAValue:
    """x + w · (y - x) for a weight w below 1/2, else y - (1 - w) · (y - x), so that both ends are exact, even infinite
    ones.
    """
    distance = op.Subtract(y, x)
    if not isinstance(weight, SSAValue):
        near = weight < 0.5
        return op.Add(x, op.Multiply(distance, weight)) if near else op.Subtract(y, op.Multiply(distance, 1 - weight))
    first = op.Add(x, op.Multiply(weight, distance))
    second = op.Subtract(y, op.Multiply(distance, op.Subtract(op.constant_like(1, weight), weight)))
    return op.Select(op.Less(weight, 0.5), first, second)


@aten.lowers("hypot.default", traits=(ELEMENTWISE,))
def hypot(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.hypot.default(x, y) -> √(x² + y²)"""
    return hypotenuse(op, *_operands(node, op, self, other))


@aten.lowers("logaddexp.default", "logaddexp2.default", traits=(ELEMENTWISE,))
def logaddexp(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue) -> SSAValue:
    """aten.logaddexp.default(x, y) -> max + log(1 + exp(-|x - y|)); `logaddexp2` to base 2"""
    x, y = _operands(node, op, self, other)
    base = np.log(2.0) if node.op.KIND.startswith("logaddexp2") else 1.0
    x, y = (op.Multiply(x, base), op.Multiply(y, base)) if base != 1.0 else (x, y)
    logarithm = op.Add(op.Maximum(x, y), op.Log(op.Add(op.Exp(op.Negative(op.Abs(op.Subtract(x, y)))), 1)))
    return op.Divide(logarithm, base) if base != 1.0 else logarithm


@aten.lowers("xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", traits=(ELEMENTWISE,))
def xlogy(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.xlogy.Tensor(x, y) -> x · log(y), and 0 where x is 0 and y a number"""
    x, y = _operands(node, op, self, other)
    zero = op.constant_like(0, x)
    product = op.Select(op.Equal(x, zero), zero, op.Multiply(x, op.Log(y)))
    return op.Select(op.IsNaN(y), y, product)


@aten.lowers("copysign.Tensor", "copysign.Scalar", traits=(ELEMENTWISE,))
def copysign(node: LoweringNode, op: OpBuilder, *, self: Scalar, other: Scalar) -> SSAValue:
    """aten.copysign.Tensor(x, y) -> |x| with the sign of y"""
    x, y = _operands(node, op, self, other)
    size = op.Abs(x)
    return op.Select(is_negative(op, y), op.Negative(size), size)


@aten.lowers("heaviside.default", traits=(ELEMENTWISE,))
def heaviside(node: LoweringNode, op: OpBuilder, self: SSAValue, values: SSAValue) -> SSAValue:
    """aten.heaviside.default(x, v) -> 0 below 0, v at 0, 1 above"""
    x, v = _operands(node, op, self, values)
    return op.Select(op.Equal(x, 0), v, op.convert(op.Greater(x, 0), element_of(x)))


@aten.lowers("addmv.default", complex=bilinear_in("mat", "vec", "self"))
def addmv(
    node: LoweringNode, op: OpBuilder, self: SSAValue, mat: SSAValue, vec: SSAValue, *, beta: Scalar = 1, alpha: Scalar = 1
) -> SSAValue:
    """aten.addmv.default(x, A, v) -> β · x + α · A v"""
    x, a, v = _operands(node, op, self, mat, vec)
    return op.Add(_scaled(op, x, beta), _scaled(op, op.MatMul(a, v), alpha))
