"""What the function does that a reduction, a scatter or a sort of XLA applies to pairs of elements.

    XlaReduce(x, 0) {reducer: (a, b) -> AddV2(a, b)}                        is a sum
    XlaVariadicReduceV2(x, i, …) {reducer: (a, i, b, j) -> (a, i) or (b, j)}  is a position of a maximum
    XlaVariadicSort(x) {comparator: (a, b) -> Less(a, b)}                   sorts in ascending order

A function that only compares its arguments and selects among them depends on nothing but their order. So what it does
is known from its results for all orders that two pairs of arguments can have, which are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import integer_of, origin
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.records import Record

PAIRS = {
    "Add": "sum",
    "AddV2": "sum",
    "BitwiseAnd": "and",
    "BitwiseOr": "or",
    "LogicalAnd": "and",
    "LogicalOr": "or",
    "Max": "max",
    "Maximum": "max",
    "Min": "min",
    "Minimum": "min",
    "Mul": "prod",
}
"""What a function of one operation makes of its two arguments; the operands may be in any order."""


_COMPARED = {"EQ": "Equal", "GE": "GreaterEqual", "GT": "Greater", "LE": "LessEqual", "LT": "Less", "NE": "NotEqual"}
_SPELLINGS = {
    "add": "Add",
    "and": "LogicalAnd",
    "bitcast_convert": "Bitcast",
    "broadcast_in_dim": "BroadcastTo",
    "convert": "Cast",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "multiply": "Mul",
    "not": "LogicalNot",
    "or": "LogicalOr",
    "reshape": "Reshape",
    "select": "Select",
    "shift_right_logical": "RightShift",
    "subtract": "Sub",
    "xor": "BitwiseXor",
}
"""Kinds in their other spelling, in lower case, by those that are compared here."""


def kind_of(op: object) -> str:
    """The kind of an operation of a framework, in one spelling; a comparison has that of its direction."""
    if not isinstance(op, FrameworkOp):
        return ""
    if op.KIND == "compare" and (direction := op.properties.get("comparison_direction")) is not None:
        return _COMPARED.get(value_of(direction), "")
    return _SPELLINGS.get(op.KIND, op.KIND)


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    """The operands of what computes a value, without identities around them."""
    return [origin(operand) for operand in value.owner.operands] if isinstance(value.owner, FrameworkOp) else []


def combination(body: Region, first: int = 0, second: int = 1, result: int = 0) -> str | None:
    """What a result makes of two arguments: one of the values of PAIRS, `first`, `second`; None for anything else."""
    arguments: list[SSAValue] = [parameter.results[0] for parameter in parameters_of(body.block)]
    results = results_of(body.block)
    if result >= len(results) or max(first, second) >= len(arguments):
        return None
    value, pair = origin(results[result]), [arguments[first], arguments[second]]
    if value in pair:
        return ("first", "second")[pair.index(value)]
    operands = operands_of(value)
    if len(operands) != 2 or {id(operand) for operand in operands} != {id(argument) for argument in pair}:
        return None
    return PAIRS.get(kind_of(value.owner))


# Functions that compare and select

_COMPARING: Mapping[str, Callable[..., Any]] = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalNot": np.logical_not,
    "LogicalOr": np.logical_or,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "NotEqual": np.not_equal,
    "Select": np.where,
    "SelectV2": np.where,
}
"""Operations whose results are decided by the order of their operands."""

_OPERANDS = {"LogicalNot": 1, "Select": 3, "SelectV2": 3}
"""How many operands those have that do not have two."""


def _sort_key(value: SSAValue) -> SSAValue:
    """The float that jax compares by its bits: x for the integer that is ordered as x is, with NaN after all numbers.

    The integer has the bits of x, with all but the sign inverted if x is negative: x ^ (x >> 31 >>> 1).
    """
    if kind_of(value.owner) != "BitwiseXor":
        return value
    signed, mask = operands_of(value)
    shifts: list[SSAValue] = []
    while kind_of(mask.owner) in ("Bitcast", "RightShift"):
        shifts += [mask] if kind_of(mask.owner) == "RightShift" else []
        mask = operands_of(mask)[0]
    is_key = kind_of(signed.owner) == "Bitcast" and mask == operands_of(signed)[0] and len(shifts) == 2
    if not is_key or [integer_of(operands_of(shift)[1]) for shift in shifts] not in ([1, 15], [1, 31], [1, 63]):
        return value
    return mask


def _canonical(value: SSAValue) -> SSAValue:
    """x for SelectV2(Equal(x, 0), 0, x) and SelectV2(NotEqual(x, x), NaN, x), which give equal numbers equal bits."""
    if kind_of(value.owner) not in ("Select", "SelectV2"):
        return value
    condition, constant, other = operands_of(value)
    other, compared = _canonical(other), operands_of(condition)
    kind, number = kind_of(condition.owner), _number(constant)
    is_zero = kind == "Equal" and number == 0 and any(_number(each) == 0 for each in compared) and other in compared
    is_nan = kind == "NotEqual" and number is not None and number != number and all(each == other for each in compared)
    return other if is_zero or is_nan else value


def _number(value: SSAValue) -> float | None:
    """A constant of one element, in any shape; None for any other value."""
    while kind_of(value.owner) in ("Reshape", "BroadcastTo", "Cast"):
        value = operands_of(value)[0]
    if not isinstance(value.owner, Constant) or value.owner.value.array.size != 1:
        return None
    return float(value.owner.value.array.reshape(()))


class Outcomes:
    """The results of a function that only compares and selects, for numbers in place of its arguments.

    Args:
        body: the function.
    """

    def __init__(self, body: Region) -> None:
        self.arguments: list[SSAValue] = [parameter.results[0] for parameter in parameters_of(body.block)]
        self.results = [origin(value) for value in results_of(body.block)]
        self.used: set[int] = set()
        """The numbers of the arguments that the results depend on."""
        self.is_known = self._uses(self.results)

    def _uses(self, values: Sequence[SSAValue]) -> bool:
        """Note the arguments that values depend on; returns whether these are only compared and selected."""
        pending, seen = list(values), set[SSAValue]()
        while pending:
            value = _sort_key(pending.pop())
            value = _canonical(value)
            if value in seen:
                continue
            seen.add(value)
            if value in self.arguments:
                self.used.add(self.arguments.index(value))
            elif (kind := kind_of(value.owner)) in _COMPARING and len(operands_of(value)) == _OPERANDS.get(kind, 2):
                pending += operands_of(value)
            else:
                return False
        return True

    def of(self, numbers: Mapping[int, int]) -> list[int]:
        """The results for the numbers of the arguments that they depend on."""
        known: dict[SSAValue, Any] = {self.arguments[index]: number for index, number in numbers.items()}
        return [int(self._value(result, known)) for result in self.results]

    def every(self) -> Iterator[tuple[dict[int, int], list[int]]]:
        """All orders that the arguments can have, as numbers, with the results for each."""
        used = sorted(self.used)
        for numbers in product(range(len(used)), repeat=len(used)):
            given = dict(zip(used, numbers, strict=True))
            yield given, self.of(given)

    def _value(self, value: SSAValue, known: dict[SSAValue, Any]) -> Any:
        value = _canonical(_sort_key(value))
        if value not in known:
            known[value] = _COMPARING[kind_of(value.owner)](*[self._value(operand, known) for operand in operands_of(value)])
        return known[value]


MAXIMUM_ARGUMENTS = 4
"""The most arguments of a function whose results are computed for all orders."""


class Extreme(Record):
    """A function that takes one of two pairs of a number and its index: that of the larger number, or the smaller one.

    Of equal numbers it takes the smaller index, or the larger one.
    """

    is_maximum: bool
    takes_smaller_index: bool

    def of(self, first: tuple[int, int], second: tuple[int, int]) -> list[int]:
        """The pair that is taken."""
        sign, index_sign = (1 if self.is_maximum else -1), (-1 if self.takes_smaller_index else 1)
        return list(max(first, second, key=lambda pair: (sign * pair[0], index_sign * pair[1])))


def extreme(body: Region) -> Extreme | None:
    """What a function of (number, index, number, index) takes; None if it takes no extreme."""
    outcomes = Outcomes(body)
    if not outcomes.is_known or sorted(outcomes.used) != [0, 1, 2, 3] or len(outcomes.results) != 2:
        return None
    every = list(outcomes.every())
    for maximum, smaller in product((True, False), repeat=2):
        found = Extreme(maximum, smaller)
        if all(taken == found.of((given[0], given[1]), (given[2], given[3])) for given, taken in every):
            return found
    return None


class Key(Record):
    """An operand of a sort that decides the order: its number, and whether its elements ascend."""

    operand: int
    ascends: bool


def sort_keys(body: Region) -> list[Key] | None:
    """The keys of a comparator (x, y, x', y', …), which says whether x stands in front of y; None if it has no keys.

    The second key decides where the elements of the first one are equal.
    """
    outcomes = Outcomes(body)
    operands = sorted({index // 2 for index in outcomes.used})
    if not outcomes.is_known or len(outcomes.results) != 1 or not 0 < len(outcomes.used) <= MAXIMUM_ARGUMENTS:
        return None
    every = list(outcomes.every())
    for order in permutations(operands):
        for directions in product((True, False), repeat=len(order)):
            keys = [Key(operand, ascends) for operand, ascends in zip(order, directions, strict=True)]
            if all(bool(found[0]) is _precedes(given, keys) for given, found in every):
                return keys
    return None


def _precedes(numbers: Mapping[int, int], keys: Sequence[Key]) -> bool:
    """Whether the first element of each pair stands in front of the second one."""
    for key in keys:
        x, y = (numbers.get(2 * key.operand + side, -1) for side in (0, 1))
        if x != y:
            return (x < y) == key.ascends
    return False
