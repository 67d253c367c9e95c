"""Elementwise arithmetic with broadcasting, and operations on bits.

    %y = tf.AddN(%a, %b, %c)
->  %0 = opset1.Add(%a, %b)
    %y = opset1.Add(%0, %c)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, f32, si32, string, ui8
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.complex_numbers import angle_of
from moir.expansions.constant_forms import with_dimensions_after
from moir.expansions.functions import operation
from moir.expansions.quotients import floored_real_quotient
from moir.expansions.shape_values import rank_value
from moir.expansions.special.neighbours import neighbour_toward
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_function, by_parts
from moir.lowering.tensorflow.attributes.data_format import is_channel_last
from moir.lowering.tensorflow.ranks import broadcast, with_bias
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_BINARY = "BitwiseAnd BitwiseOr BitwiseXor FloorMod LeftShift Maximum Minimum Mod RightShift TruncateMod"


def operand_type(node: LoweringNode) -> Attribute:
    """The element type of the operands: attribute T, else the type of operand 0."""
    return node.element_attribute("T", node.element(0))


def refuse_strings(node: LoweringNode) -> None:
    """Raises ConversionError if the operands of a binary node are strings."""
    if string in (node.element(0), operand_type(node)):
        node.fail("the operation sets do not compute with strings", hint="cut the model after this node, where the values are numbers")


@tf.lowers("Add", "AddV2", "Sub", rank=broadcast, complex=PAIRS)
@tf.lowers("RealDiv", rank=broadcast, complex=by_function("divide"))
@tf.lowers("SquaredDifference", rank=broadcast, complex=by_function("squared_difference"))
@tf.lowers(*_BINARY.split(), rank=broadcast)
def binary(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Sub(a, b) -> opset1.Subtract(a, b); likewise the other binary operations

    Raises ConversionError for strings.
    """
    refuse_strings(node)
    return operation(op, node.op.KIND)(x, y)


MAXIMUM_FACTORS = 64
"""The largest constant exponent for which a power of integers is lowered to products."""


@tf.lowers("Pow", rank=broadcast, complex=by_function("power"))
def power(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Pow(a, b) -> opset1.Power(a, b); for integers a chain of opset1.Multiply, which wraps around as in
    TensorFlow
    """
    refuse_strings(node)
    exponents = op.known.constant(y)
    if operand_type(node) not in INTEGER_TYPES:
        return op.Power(x, y)
    if exponents is None or exponents.size != 1 or exponents.ndim > (rank_of(x) or 0):
        return integer_power(op, x, y)
    exponent = int(exponents.reshape(()))
    return repeated_product(op, x, exponent=exponent) if 1 <= exponent <= MAXIMUM_FACTORS else op.Power(x, y)


def integer_power(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Powers of integers to computed exponents up to 63, as products of a, a², a⁴, … for the bits of the exponents."""
    result = None
    for exponent_bit in range(6):
        bit = op.FloorMod(b, 2)
        # a where the bit is 1, else 1.
        factor = op.Add(op.Multiply(op.Subtract(a, 1), bit), 1)
        result = factor if result is None else op.Multiply(result, factor)
        if exponent_bit < 5:
            a, b = op.Multiply(a, a), op.Divide(op.Subtract(b, bit), 2, m_pythondiv=False)
    assert result is not None
    return result


def repeated_product(op: OpBuilder, value: SSAValue, *, exponent: int) -> SSAValue:
    """A value to the power of the positive integer `exponent`, by repeated squaring."""
    result: SSAValue | None = None
    while True:
        if exponent & 1:
            result = value if result is None else op.Multiply(result, value)
        exponent >>= 1
        if not exponent:
            return value if result is None else result
        value = op.Multiply(value, value)


@tf.lowers("Mul", rank=broadcast, complex=PAIRS)
def multiply(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Mul(a, b)
    -> opset1.Multiply(a, b); of complex numbers: a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
    """
    refuse_strings(node)
    if not isinstance(operand_type(node), ComplexType):
        return op.Multiply(x, y)
    (a_real, a_imaginary), (b_real, b_imaginary) = (op.Split.results(each, -1, num_splits=2) for each in (x, y))
    real = op.Subtract(op.Multiply(a_real, b_real), op.Multiply(a_imaginary, b_imaginary))
    imaginary = op.Add(op.Multiply(a_real, b_imaginary), op.Multiply(a_imaginary, b_real))
    return op.Concat(real, imaginary, axis=-1)


@tf.lowers("AddN", "AccumulateNV2", complex=PAIRS)
def sum_of_operands(node: LoweringNode, op: OpBuilder, *inputs: SSAValue) -> SSAValue:
    """tf.AddN(a, b, c) -> Add(Add(a, b), c)"""
    operands = inputs
    return reduce(op.Add, operands) if operands else node.fail("it has no operands")


@tf.lowers("BiasAdd", "BiasAddV1", rank=with_bias, complex=by_parts(0, 1))
def add_bias(node: LoweringNode, op: OpBuilder, value: SSAValue, bias: SSAValue, *, data_format: str = "NHWC") -> SSAValue:
    """tf.BiasAdd(value, b) {data_format = "NHWC"}
    -> opset1.Add(value, b); for channel-first data with dimensions of 1 appended to those of b
    """
    if is_channel_last(node, data_format):
        return op.Add(value, bias)
    rank = rank_of(value)
    if rank is None:
        ones = op.Broadcast(op.constant([1]), op.Subtract(rank_value(op, value), 2))
        return op.Add(value, op.Reshape(bias, op.Concat([-1], ones, axis=0), special_zero=False))
    return op.Add(value, with_dimensions_after(op, bias, max(rank - 2, 0)))


@tf.lowers("ClipByValue")
def clip(op: OpBuilder, t: SSAValue, clip_value_min: SSAValue, clip_value_max: SSAValue) -> SSAValue:
    """tf.ClipByValue(x, low, high) -> opset1.Minimum(opset1.Maximum(x, low), high)

    As in TensorFlow, the result is the upper limit if the lower one is greater.
    """
    return op.Minimum(op.Maximum(t, clip_value_min), clip_value_max)


@tf.lowers("PopulationCount")
def population_count(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.PopulationCount(x) -> the sum of the bits, added in pairs, in groups of four, of eight, …, in each 32 bits"""
    element = element_of(x)
    if element not in INTEGER_TYPES:
        node.fail("only integers have bits that can be counted")
    width = describe(element).bits
    halves = [op.convert(x, si32)]
    if width > 32:
        halves.append(op.convert(op.BitwiseRightShift(x, op.constant_like(32, x)), si32))
    elif width < 32:
        halves = [op.BitwiseAnd(halves[0], np.array((1 << width) - 1, np.int32))]
    return op.convert(reduce(op.Add, [_ones(op, half, min(width, 32)) for half in halves]), ui8)


def _ones(op: OpBuilder, integers: SSAValue, width: int) -> SSAValue:
    """The number of one bits in 32-bit integers, of which only the lowest `width` bits may be set."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        if shift < width:
            moved = op.BitwiseRightShift(integers, np.array(shift, np.int32))
            low, high = (op.BitwiseAnd(each, np.array(mask, np.int32)) for each in (integers, moved))
            integers = op.Add(low, high)
    return integers


# Division


@tf.lowers("FloorDiv", rank=broadcast)
def floor_divide(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.FloorDiv(a, b) -> opset1.Floor(opset1.Divide(a, b)); for integers opset1.Divide(a, b), which rounds down"""
    refuse_strings(node)
    if operand_type(node) in INTEGER_TYPES:
        return op.Divide(x, y)
    return floored_real_quotient(op, x, y)


@tf.lowers("Div", "TruncateDiv", rank=broadcast, complex=by_function("divide"))
def divide(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Div(a, b)
    -> opset1.Divide(a, b), where integer quotients are rounded towards zero; TruncateDiv rounds floats as well
    """
    refuse_strings(node)
    element = operand_type(node)
    if element in INTEGER_TYPES:
        return op.Divide(x, y, m_pythondiv=False)
    quotient = op.Divide(x, y)
    if node.op.KIND == "Div":
        return quotient
    return op.Multiply(floored_real_quotient(op, op.Abs(x), op.Abs(y)), op.Sign(quotient))


# Functions of two operands that are 0 wherever one of the operands is 0


_ZERO_AT_ZERO: Mapping[str, tuple[int, Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]]] = {
    "DivNoNan": (1, lambda op, x, y: op.Divide(x, y)),
    "MulNoNan": (1, lambda op, x, y: op.Multiply(x, y)),
    "Xdivy": (0, lambda op, x, y: op.Divide(x, y)),
    "Xlog1py": (0, lambda op, x, y: op.Multiply(x, op.Log(op.Add(y, 1)))),
    "Xlogy": (0, lambda op, x, y: op.Multiply(x, op.Log(y))),
}
"""For each kind, the index of the operand that makes the result 0 where it is 0, and the function of both operands
elsewhere.
"""


@tf.lowers(*_ZERO_AT_ZERO, rank=broadcast, complex=by_function())
def zero_at_zero(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Xlogy(x, y) -> opset1.Select(opset1.Equal(x, 0), 0, x * Log(y)), and other functions that are 0 at 0"""
    refuse_strings(node)
    index, compute = _ZERO_AT_ZERO[node.op.KIND]
    value = compute(op, x, y)
    return op.Select(op.Equal((x, y)[index], 0), 0, value)


@tf.lowers("Atan2")
def angle(op: OpBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """tf.Atan2(y, x) -> Atan(y / x), plus or minus π where x is negative; the sign of zeros is ignored"""
    return angle_of(op, y, x)


@tf.lowers("NextAfter")
def neighbour(node: LoweringNode, op: OpBuilder, x1: SSAValue, x2: SSAValue) -> SSAValue:
    """tf.NextAfter(x1, x2) -> x1 ± (|x1| (2⁻²⁴ + 2⁻⁴⁷) + 2⁻¹⁴⁹), which rounds to the next float"""
    if node.element_attribute("T", element_of(x1)) is not f32:
        node.fail("neighbours of other numbers than f32 are not supported", hint="compute it with f32")
    return neighbour_toward(op, x1, x2)
