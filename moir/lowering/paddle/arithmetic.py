"""Arithmetic of two tensors, whose second one may be aligned to an axis of the first.

Source: elementwise ops, scale_op.cc, clip_op.cc and sum_op.cc of PaddlePaddle 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import boolean, f32
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.complex_numbers import angle_of, is_negative
from moir.expansions.constant_forms import as_type
from moir.expansions.quotients import floored_real_quotient
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import all_complex, by_parts, with_handler
from moir.lowering.paddle.operands import is_integer, known_number
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder

_Function = Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]


def _divided(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x / y; for integers the quotient rounded towards 0."""
    return op.Divide(x, y, m_pythondiv=False) if is_integer(x) else op.Divide(x, y)


def _floor_divided(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    return op.Divide(x, y) if is_integer(x) else floored_real_quotient(op, x, y)


def _with_numbers(combine: str) -> _Function:
    """Make a handler for the maximum or minimum (`combine`) of two tensors that ignores NaN: where one is NaN, the
    other is returned.
    """

    def combined(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        value = getattr(op, combine)(x, y)
        return value if is_integer(x) else op.Select(op.IsNaN(x), y, op.Select(op.IsNaN(y), x, value))

    return combined


_ADDING: dict[str, _Function] = {
    "elementwise_add": lambda op, x, y: op.Add(x, y),
    "elementwise_sub": lambda op, x, y: op.Subtract(x, y),
    "grad_add": lambda op, x, y: op.Add(x, y),
    "minus": lambda op, x, y: op.Subtract(x, y),
}
_OF_REAL_NUMBERS: dict[str, _Function] = {
    "elementwise_floordiv": _floor_divided,
    "elementwise_fmax": _with_numbers("Maximum"),
    "elementwise_fmin": _with_numbers("Minimum"),
    "elementwise_max": lambda op, x, y: op.Maximum(x, y),
    "elementwise_min": lambda op, x, y: op.Minimum(x, y),
    "elementwise_mod": lambda op, x, y: op.FloorMod(x, y),
    "elementwise_pow": lambda op, x, y: op.Power(x, y),
}
_ARITHMETIC: dict[str, _Function] = {
    **_ADDING,
    **_OF_REAL_NUMBERS,
    "elementwise_mul": lambda op, x, y: op.Multiply(x, y),
    "elementwise_div": _divided,
}


@paddle.lowers(*_ADDING, complex=by_parts(accepts=all_complex))
@paddle.lowers("elementwise_mul", complex=with_handler("paddle.complex.operations:product"))
@paddle.lowers("elementwise_div", complex=with_handler("paddle.complex.operations:quotient"))
@paddle.lowers(*_OF_REAL_NUMBERS)
def arithmetic(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, axis: int = -1) -> SSAValue:
    """paddle.elementwise_add(x, y) {axis = -1} -> opset1.Add(x, y), and so on

    `axis` is the dimension of x that the first dimension of y belongs to: y is reshaped to [y…, 1, …].
    """
    y = aligned(node, op, x, y, axis)
    if element_of(x) == boolean and node.op.KIND in ("elementwise_add", "elementwise_mul"):
        return (op.LogicalOr if node.op.KIND == "elementwise_add" else op.LogicalAnd)(x, y)
    return _ARITHMETIC[node.op.KIND](op, x, y)


def aligned(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, axis: int) -> SSAValue:
    """y with trailing dimensions of 1 inserted, so that its first dimension is aligned to dimension `axis` of x; y
    itself for -1.

    Raises ConversionError if a rank is dynamic, or y does not fit.
    """
    if axis == -1:
        return y
    rank, shape = rank_of(x), shape_of(y)
    if rank is None or shape is None:
        node.fail("the rank of an operand that is aligned to an axis is dynamic", hint="give the model's inputs a static rank")
    surplus = rank - axis - len(shape)
    if surplus == 0 or not shape:
        return y
    if surplus < 0:
        if any(size != 1 for size in shape[surplus:]):
            node.fail(f"an operand of rank {len(shape)} cannot be aligned with axis {axis} of an operand of rank {rank}")
        return op.Squeeze(y, list(range(len(shape) + surplus, len(shape))))
    return op.Unsqueeze(y, list(range(len(shape), len(shape) + surplus)))


def _adds_nothing(op: Operation, _operands: Sequence[int]) -> bool:
    """Whether a paddle.scale has a bias of 0.

    For complex numbers the handler is applied to both parts; a bias would also be added to the imaginary part.
    """
    return "bias" not in op.properties or value_of(op.properties["bias"]) == 0


@paddle.lowers("scale", complex=by_parts(accepts=_adds_nothing))
def scale(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _factor: SSAValue | None = None,
    shift: SSAValue | None = None,
    *,
    bias: float = 0.0,
    bias_after_scale: bool = True,
) -> SSAValue:
    """paddle.scale(x, factor) {bias, bias_after_scale} -> x · factor + bias, or (x + bias) · factor

    A factor of 1 and a bias of 0 are left out.
    """
    factor_operand, known = node.optional(1), node.constant(1)
    factor: SSAValue | float = 1.0
    if factor_operand is not None:
        factor = (
            float(known.reshape(-1)[0]) if known is not None and known.size == 1 else op.Reshape(factor_operand, [1], special_zero=False)
        )
    offset: SSAValue | float = bias if shift is None else op.Reshape(shift, [1], special_zero=False)
    element = element_of(x)
    steps: list[tuple[str, SSAValue | float]] = [("Multiply", factor), ("Add", offset)]
    value = x
    for name, number in steps if bias_after_scale else steps[::-1]:
        if not isinstance(number, SSAValue):
            if number == (1.0 if name == "Multiply" else 0.0):
                continue
            if is_integer(x) and not float(number).is_integer():
                value = op.convert(value, f32)
            value = getattr(op, name)(value, number)
        else:
            value = getattr(op, name)(value, as_type(op, number, element_of(value)))
    return op.convert(value, element)


@paddle.lowers("clip")
def clip(node: LoweringNode, op: OpBuilder, x: SSAValue, low: SSAValue | None = None, high: SSAValue | None = None) -> SSAValue:
    """paddle.clip(x, min, max) -> opset1.Clamp(x), or Minimum and Maximum of limits that are computed"""
    limits = [node.constant(index) for index in (1, 2)]
    if all(limit is not None and limit.size == 1 for limit in limits):
        ends = [float(limit.reshape(-1)[0]) for limit in limits if limit is not None]
        if ends[0] <= ends[1]:
            return op.Clamp(x, min=ends[0], max=ends[1])
    element = element_of(x)
    if low is not None:
        x = op.Maximum(x, as_type(op, low, element))
    return x if high is None else op.Minimum(x, as_type(op, high, element))


@paddle.lowers("pow")
def power(op: OpBuilder, x: SSAValue, exponent: SSAValue | None = None, *, factor: float = 1.0) -> SSAValue:
    """paddle.pow(x, exponent) -> opset1.Power(x, exponent)"""
    if exponent is not None:
        return op.Power(x, as_type(op, exponent, element_of(x)))
    if is_integer(x) and not float(factor).is_integer():
        x = op.convert(x, f32)
    return op.Power(x, factor)


paddle.lowers_each(
    {
        "increment": lambda op, x, *, step=1.0: op.Add(x, step),
        "atan2": lambda op, y, x: angle_of(op, y, x),
        "lerp": lambda op, x, y, weight: op.Add(x, op.Multiply(as_type(op, weight, element_of(x)), op.Subtract(y, x))),
    }
)


@paddle.lowers("sum", complex=by_parts(accepts=all_complex))
def total(op: OpBuilder, *values: SSAValue) -> SSAValue:
    """paddle.sum(values…) -> their sum"""
    return reduce(op.Add, values)


@paddle.lowers("multiplex")
def multiplex(op: OpBuilder, indices: SSAValue, *values: SSAValue) -> SSAValue:
    """paddle.multiplex(indices, values…) -> row i of values[indices[i]]"""
    stacked = op.Concat(*(op.Unsqueeze(value, [1]) for value in values), axis=1)
    return op.Squeeze(op.Gather(stacked, op.Reshape(indices, [-1, 1], special_zero=False), 1, batch_dims=1), [1])


@paddle.lowers("isclose", "allclose")
def is_close(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    y: SSAValue,
    _rtol: SSAValue | None = None,
    _atol: SSAValue | None = None,
    *,
    equal_nan: bool = False,
) -> SSAValue:
    """paddle.isclose(x, y, rtol, atol) -> |x - y| <= atol + rtol · |y|; of all elements for allclose"""
    rtol, atol = (
        known_number(node, index, name, float(node.text(name, default) or default))
        for index, name, default in ((2, "rtol", "1e-05"), (3, "atol", "1e-08"))
    )
    near = op.LessEqual(op.Abs(op.Subtract(x, y)), op.Add(op.Multiply(op.Abs(y), rtol), atol))
    near = op.LogicalOr(near, op.Equal(x, y))
    if equal_nan:
        near = op.LogicalOr(near, op.LogicalAnd(op.IsNaN(x), op.IsNaN(y)))
    return near if node.op.KIND == "isclose" else op.ReduceLogicalAnd(near, list(range(node.known_rank(0))), keep_dims=False)


_BITS = {
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "bitwise_left_shift": "BitwiseLeftShift",
    "bitwise_right_shift": "BitwiseRightShift",
}
_OF_BOOLEANS = {"bitwise_and": "LogicalAnd", "bitwise_or": "LogicalOr", "bitwise_xor": "LogicalXor"}
"""The operations on booleans."""


@paddle.lowers("copysign")
def copysign(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.copysign(x, y) -> the magnitude of x with the sign of y; -0 counts as negative"""
    magnitude = op.Abs(x)
    return op.Select(is_negative(op, y), op.Negative(magnitude), magnitude)


@paddle.lowers("elementwise_heaviside", "heaviside")
def heaviside(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.heaviside(x, y) -> y where x is 0, 0 where it is negative, 1 elsewhere"""
    step = op.Select(op.Less(x, 0), op.constant_like(0, x), op.constant_like(1, x))
    return op.Select(op.Equal(x, 0), y, step)


@paddle.lowers(*_BITS)
def bits(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.bitwise_and(x, y) -> opset13.BitwiseAnd(x, y), and so on; opset1.LogicalAnd of booleans"""
    kind = node.op.KIND
    if kind in _OF_BOOLEANS and element_of(x) is boolean:
        return getattr(op, _OF_BOOLEANS[kind])(x, y)
    return getattr(op, _BITS[kind])(x, y)
