"""Range checks of indices in a program: clamps, wrapping of negative indices, and comparisons with a known result.

opset1.Maximum(opset1.Minimum(%i, 49), -50)           // %i, limited to -50 … 49
opset1.Equal(opset1.Minimum(%i, 49), %i)              // whether %i is within … 49
opset1.LogicalAnd(opset1.GreaterEqual(%i, 0), opset1.LessEqual(%i, 49))
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import scalar_of, values_of
from moir.analysis.integral_bounds import integral_bounds
from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.opset.arithmetic import Add, Maximum, Minimum
from moir.dialects.opset.comparison import Equal, GreaterEqual, Less, LessEqual, LogicalAnd, LogicalNot, NotEqual, Select
from moir.dialects.opset.interfaces.bounds import Bounds, integer_limits
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of
from moir.support.records import Record

COMPARED = {"Less": (1, 0, True), "LessEqual": (1, 0, False), "Greater": (0, 1, True), "GreaterEqual": (0, 1, False)}
"""For each comparison of operands 0 and 1: the index of the greater operand, the index of the smaller operand, and
whether it is strict.
"""


class Wrapped(Record):
    """An index of which negative values count from the end: `Select(i < 0, i + size, i)`."""

    index: SSAValue
    size: int


class Interval(Record):
    """An index with an inclusive range [low, high], to which the program clamps it or in which a condition requires it
    to be.
    """

    index: SSAValue
    low: float = -math.inf
    high: float = math.inf

    def holds(self, size: int) -> bool:
        """Whether an index is in the interval if and only if it is valid for a dimension of this size, counted from the
        end included.
        """
        least, most = bounds_of(self.index)
        return max(self.low, least) == max(-size, least) and min(self.high, most) == min(size - 1, most)

    def keeps(self, size: int) -> bool:
        """Whether clamping is a no-op for indices that are valid in a dimension of this size."""
        least, most = bounds_of(self.index)
        return self.low <= max(-size, least) and self.high >= min(size - 1, most)


def bounds_of(value: SSAValue) -> Bounds:
    """The lowest and the highest integer that any element of a value can be."""
    return integral_bounds(value) or (-math.inf, math.inf)


def number_of(value: SSAValue) -> int | None:
    """The integer of a constant with one element that broadcasts to any other operand; None for other values.

    True is 1 and false is 0.
    """
    rank, number = rank_of(value), scalar_of(value)
    if number is None and element_of(value) == boolean and (truth := values_of(value)) is not None and truth.size == 1:
        number = float(np.asarray(truth).item())
    if number is None or rank is None or rank >= 2 or not float(number).is_integer():
        return None
    return int(number)


def wrapped(value: SSAValue) -> Wrapped | None:
    """The index i of `Select(i < 0, i + size, i)`; None for a value of any other form."""
    op = value.owner
    if not isinstance(op, Select) or element_of(value) not in (si32, si64):
        return None
    condition, moved, index = op.operands[0].owner, op.operands[1].owner, op.operands[2]
    if not isinstance(condition, Less) or condition.operands[0] is not index or number_of(condition.operands[1]) != 0:
        return None
    if not isinstance(moved, Add) or index not in moved.operands:
        return None
    size = number_of(moved.operands[1] if moved.operands[0] is index else moved.operands[0])
    return None if size is None or size < 1 else Wrapped(index, size)


def limited(value: SSAValue) -> Interval:
    """The value before constant Maximum and Minimum operations, in any order, with the interval that they clamp
    it to.
    """
    low, high = -math.inf, math.inf
    while isinstance(op := value.owner, Maximum | Minimum):
        data, limit = op.operands if number_of(op.operands[1]) is not None else reversed(op.operands)
        number = number_of(limit)
        if number is None or not math.isinf(low if isinstance(op, Maximum) else high):
            break
        low, high = (number, high) if isinstance(op, Maximum) else (low, number)
        value = data
        if low > high:
            return Interval(op.results[0])
    return Interval(value, low, high)


def checked(condition: SSAValue, index: SSAValue, after: int) -> Interval | None:
    """The range that a boolean condition requires of an index; None if the condition is no such range check.

    The condition may have inserted dimensions of 1, of which `after` have to follow the dimensions of the index.
    """
    condition, outer = without_inserted(condition, index)
    limits, rank = _compared(condition), rank_of(index)
    if limits is None or outer is None or rank is None or element_of(index) not in (si32, si64):
        return None
    source, inner = without_inserted(limits.index, index)
    if source is not index or inner is None:
        return None
    axes = [None if axis is None else inner[axis] for axis in outer]
    following: list[int | None] = [*range(rank), *[None] * after]
    if rank and (axes[len(axes) - len(following) :] != following or any(axis is not None for axis in axes[: -len(following)])):
        return None
    return limits.with_fields(index=index)


def without_inserted(value: SSAValue, stop: SSAValue) -> tuple[SSAValue, list[int | None] | None]:
    """A value before dimensions of 1 were inserted; some of these may be removed again, or reduced by a
    ReduceLogicalAnd.

    Also returns, for each dimension of the value, its index in the result, None for an inserted one; the list is None
    if the indices are unknown. Operations before `stop` are not looked at.
    """
    op, rank = value.owner, rank_of(value)
    if value is stop or not isinstance(op, OpsetOp) or op.KIND not in ("ReduceLogicalAnd", "Squeeze", "Unsqueeze") or len(op.operands) < 2:
        return value, None if rank is None else [*range(rank)]
    axes, inner = values_of(op.operands[1]), rank_of(op.operands[0])
    source, axes_of_source = without_inserted(op.operands[0], stop)
    if axes is None or axes_of_source is None or rank is None or inner is None:
        return source, None
    named = {int(axis) % max(rank, inner) for axis in np.asarray(axes).ravel()}
    if op.KIND == "Unsqueeze":
        rest = iter(axes_of_source)
        return source, [None if axis in named else next(rest) for axis in range(rank)]
    if any(axes_of_source[axis] is not None for axis in named):
        return value, [*range(rank)]
    return source, axes_of_source if rank == inner else [
        axis_before for axis, axis_before in enumerate(axes_of_source) if axis not in named
    ]


def _compared(condition: SSAValue) -> Interval | None:
    """The value that a condition compares with constants, and the interval where the condition is true; None for other
    conditions.
    """
    op = condition.owner
    if isinstance(op, Equal):
        for first, second in (op.operands, reversed(op.operands)):
            if (limits := limited(first)).index is second and limits.index is not first:
                return limits
    if isinstance(op, GreaterEqual | LessEqual) and (number := number_of(op.operands[1])) is not None:
        return Interval(op.operands[0], low=number) if isinstance(op, GreaterEqual) else Interval(op.operands[0], high=number)
    if isinstance(op, LogicalAnd):
        parts = [_compared(operand) for operand in op.operands]
        first, second = parts
        if first is not None and second is not None and first.index is second.index:
            return Interval(first.index, max(first.low, second.low), min(first.high, second.high))
    return None


def certainty(condition: SSAValue) -> bool | None:
    """The result of a comparison of integers if it is always true or always false by the ranges of its operands, else
    None.
    """
    op = condition.owner
    if not isinstance(op, OpsetOp):
        return None
    if op.MOVES:
        return certainty(op.operands[0])
    if isinstance(op, LogicalNot):
        condition_value = certainty(op.operands[0])
        return None if condition_value is None else not condition_value
    if isinstance(op, LogicalAnd):
        parts = [certainty(operand) for operand in op.operands]
        return False if False in parts else None if None in parts else True
    if op.KIND == "ReduceLogicalAnd":
        # The conjunction of no elements is true, so an operand that is all false does not decide it.
        return certainty(op.operands[0]) or None
    if op.KIND not in COMPARED and not isinstance(op, Equal | NotEqual):
        return None
    if integer_limits(element_of(op.operands[0])) is None:
        return None
    if isinstance(op, Equal | NotEqual):
        (a, b), (c, d) = map(bounds_of, op.operands)
        apart = b < c or d < a
        same = op.operands[0] is op.operands[1] or a == b == c == d
        return apart == isinstance(op, NotEqual) if apart or same else None
    greater, lesser, strict = COMPARED[op.KIND]
    (least, most), (low, high) = bounds_of(op.operands[greater]), bounds_of(op.operands[lesser])
    if least > high or (least == high and not strict):
        return True
    return False if most < low or (most == low and strict) else None
