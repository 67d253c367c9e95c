"""Recognition of the function that a reduction, scatter or sort of XLA applies to pairs of elements.

    XlaReduce(x, 0) {reducer: (a, b) -> AddV2(a, b)}                        is a sum
    XlaVariadicReduceV2(x, i, …) {reducer: (a, i, b, j) -> (a, i) or (b, j)}  is a position of a maximum
    XlaVariadicSort(x) {comparator: (a, b) -> Less(a, b)}                   sorts in ascending order

The results of a function that only compares its arguments and selects among them depend on the order of the arguments
alone. So the function is identified by its results for all possible orders, which are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import integer_of, origin
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.records import Record
from moir.tables import by_member, pairs

PAIRS = by_member(
    {
        "sum": "Add AddV2",
        "and": "BitwiseAnd LogicalAnd",
        "or": "BitwiseOr LogicalOr",
        "max": "Max Maximum",
        "min": "Min Minimum",
        "prod": "Mul",
    }
)
"""The reduction for a function of two arguments that consists of one operation; its operands may be in any order."""


_COMPARED = {"EQ": "Equal", "GE": "GreaterEqual", "GT": "Greater", "LE": "LessEqual", "LT": "Less", "NE": "NotEqual"}
_SPELLINGS = pairs(
    "add Add, and LogicalAnd, bitcast_convert Bitcast, broadcast_in_dim BroadcastTo, convert Cast, equal Equal, "
    "greater Greater, greater_equal GreaterEqual, less Less, less_equal LessEqual, logical_and LogicalAnd, "
    "logical_not LogicalNot, logical_or LogicalOr, maximum Maximum, minimum Minimum, mul Mul, multiply Mul, "
    "not LogicalNot, not_equal NotEqual, or LogicalOr, reshape Reshape, select Select, select_v2 SelectV2, "
    "shift_right_logical RightShift, sub Sub, subtract Sub, xor BitwiseXor"
)
"""The kinds that are compared here, by their spellings in lower case, without the prefix of a dialect."""

_IN_FRONT = "stablehlo_"


def kind_of(op: object) -> str:
    """The kind of an operation in a spelling common to all frameworks; a comparison has the kind of its direction."""
    if not isinstance(op, FrameworkOp):
        return ""
    spelled = op.KIND.lower().removeprefix(_IN_FRONT)
    if spelled == "compare" and (direction := op.properties.get("comparison_direction")) is not None:
        return _COMPARED.get(value_of(direction), "")
    return _SPELLINGS.get(spelled, op.KIND)


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    """The operands of the operation that computes a value, skipping identities."""
    return [origin(operand) for operand in value.owner.operands] if isinstance(value.owner, FrameworkOp) else []


def combination(body: Region, first: int = 0, second: int = 1, result: int = 0) -> str | None:
    """The combination of two arguments in a result: one of the values of PAIRS, or `first`, or `second`; else None."""
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
"""Operations whose results depend only on the order of their operands."""

_OPERANDS = {"LogicalNot": 1, "Select": 3, "SelectV2": 3}
"""The number of operands of the kinds in `_COMPARING` that do not have two."""


def _sort_key(value: SSAValue) -> SSAValue:
    """The float x if a value is the sort key of x, else None: jax compares floats by an integer key, which orders NaN
    last.

    The key has the bits of x, with all but the sign bit inverted if x is negative: x ^ (x >> 31 >>> 1).
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
    """The number in a constant of one element of any shape; None for other values."""
    while kind_of(value.owner) in ("Reshape", "BroadcastTo", "Cast"):
        value = operands_of(value)[0]
    if not isinstance(value.owner, Constant) or value.owner.value.array.size != 1:
        return None
    return float(value.owner.value.array.reshape(()))


class Outcomes:
    """The results of a function that only compares and selects, evaluated for numbers as its arguments.

    Args:
        body: the function.
    """

    def __init__(self, body: Region) -> None:
        self.arguments: list[SSAValue] = [parameter.results[0] for parameter in parameters_of(body.block)]
        self.results = [origin(value) for value in results_of(body.block)]
        self.used: set[int] = set()
        """The indices of the arguments that the results depend on."""
        self.is_known = self._uses(self.results)

    def _uses(self, values: Sequence[SSAValue]) -> bool:
        """Record the arguments that values depend on; returns whether the arguments are only compared and selected."""
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
        """The results, given numbers for the arguments that they depend on."""
        return [int(each) for each in self.of_each(numbers)]

    def of_each(self, numbers: Mapping[int, Any]) -> list[Any]:
        """The results for numbers, or for arrays of them, given for the arguments that the results depend on."""
        known: dict[SSAValue, Any] = {self.arguments[index]: number for index, number in numbers.items()}
        return [np.asarray(self._value(result, known)) for result in self.results]

    def compares_pairs(self) -> bool:
        """Whether arguments are only compared within the pairs (0, 1), (2, 3), …, so that only the orders within pairs
        determine the results.
        """
        pending, seen = list(self.results), set[SSAValue]()
        while pending:
            value = _canonical(_sort_key(pending.pop()))
            if value in seen:
                continue
            seen.add(value)
            operands = [_canonical(_sort_key(each)) for each in operands_of(value)]
            indices = {self.arguments.index(each) // 2 for each in operands if each in self.arguments}
            is_within = (
                kind_of(value.owner) in _COMPARED.values() and len(indices) == 1 and all(each in self.arguments for each in operands)
            )
            if value in self.arguments or (indices and not is_within):
                return False
            pending += [each for each in operands if each not in self.arguments]
        return True

    def every(self) -> Iterator[tuple[dict[int, int], list[int]]]:
        """All orders that the arguments can have, as numbers, each with the results."""
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
"""The largest number of arguments for which the results are computed for all orders."""

MAXIMUM_KEYS = 8
"""The largest number of sort keys that are recognized."""


class Extreme(Record):
    """A function of two pairs (number, index) that returns the pair with the larger number, or with the smaller one.

    Among equal numbers it returns the pair with the smaller index, or with the larger one.
    """

    is_maximum: bool
    takes_smaller_index: bool

    def of(self, first: tuple[int, int], second: tuple[int, int]) -> list[int]:
        """The pair that the function returns."""
        sign, index_sign = (1 if self.is_maximum else -1), (-1 if self.takes_smaller_index else 1)
        return list(max(first, second, key=lambda pair: (sign * pair[0], index_sign * pair[1])))


def extreme(body: Region) -> Extreme | None:
    """The maximum or minimum with its index that a function of (number, index, number, index) computes, or None."""
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
    """An operand of a sort that determines the order: its index, and whether the order is ascending."""

    operand: int
    ascends: bool


def sort_keys(body: Region) -> list[Key] | None:
    """The sort keys of a comparator (x, y, x', y', …), which returns whether x precedes y; None if it is not such an
    order.

    Each further key orders elements whose keys before it are equal.
    """
    outcomes = Outcomes(body)
    operands = sorted({index // 2 for index in outcomes.used})
    if not outcomes.is_known or len(outcomes.results) != 1 or not 0 < len(operands) <= MAXIMUM_KEYS:
        return None
    if 2 * operands[-1] + 1 >= len(outcomes.arguments):
        return None
    if 2 * len(operands) <= MAXIMUM_ARGUMENTS:
        numbers = list(product(range(2 * len(operands)), repeat=2 * len(operands)))
    elif outcomes.compares_pairs():
        numbers = [[each for sign in signs for each in (sign, 0)] for signs in product((-1, 0, 1), repeat=len(operands))]
    else:
        return None
    pairs = np.array(numbers).reshape(len(numbers), len(operands), 2)
    arguments = {2 * operand + side: pairs[:, place, side] for place, operand in enumerate(operands) for side in (0, 1)}
    precedes = outcomes.of_each(arguments)[0].astype(bool)
    signs = dict(zip(operands, np.sign(pairs[:, :, 0] - pairs[:, :, 1]).T, strict=True))
    keys: list[Key] = []
    # The rows of which no key so far says the order.
    undecided = np.ones(len(numbers), bool)
    while signs:
        key = next(
            (
                Key(operand, ascends)
                for (operand, sign), ascends in product(signs.items(), (True, False))
                if np.array_equal(precedes[undecided & (sign != 0)], (sign < 0)[undecided & (sign != 0)] == ascends)
            ),
            None,
        )
        if key is None:
            return None
        keys.append(key)
        undecided &= signs.pop(key.operand) == 0
    return None if precedes[undecided].any() else keys
