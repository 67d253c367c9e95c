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
from moir.support.records import Record
from moir.support.tables import by_member

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
"""For each kind of a symmetric function of two arguments, the reduction it defines."""


_COMPARED = {"EQ": "Equal", "GE": "GreaterEqual", "GT": "Greater", "LE": "LessEqual", "LT": "Less", "NE": "NotEqual"}
_SPELLINGS = {
    "add": "Add",
    "and": "LogicalAnd",
    "bitcast_convert": "Bitcast",
    "broadcast_in_dim": "BroadcastTo",
    "convert": "Cast",
    "equal": "Equal",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
    "less": "Less",
    "less_equal": "LessEqual",
    "logical_and": "LogicalAnd",
    "logical_not": "LogicalNot",
    "logical_or": "LogicalOr",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mul": "Mul",
    "multiply": "Mul",
    "not": "LogicalNot",
    "not_equal": "NotEqual",
    "or": "LogicalOr",
    "reshape": "Reshape",
    "select": "Select",
    "select_v2": "SelectV2",
    "shift_right_logical": "RightShift",
    "sub": "Sub",
    "subtract": "Sub",
    "xor": "BitwiseXor",
}
"""The common names of the kinds that this module compares, by their spellings in lower case without the dialect."""

_IN_FRONT = "stablehlo_"


def kind_of(op: object) -> str:
    """The kind of an operation, in a spelling that all frameworks share; a comparison has the kind of its direction.

    Empty for anything but an operation of a framework.
    """
    if not isinstance(op, FrameworkOp):
        return ""
    spelled = op.KIND.lower().removeprefix(_IN_FRONT)
    if spelled == "compare" and (direction := op.properties.get("comparison_direction")) is not None:
        return _COMPARED.get(value_of(direction), "")
    return _SPELLINGS.get(spelled, op.KIND)


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    """The operands of the framework operation that computes a value, looking through identities; empty for other
    values.
    """
    return [origin(operand) for operand in value.owner.operands] if isinstance(value.owner, FrameworkOp) else []


def combination(body: Region, first: int = 0, second: int = 1, result: int = 0) -> str | None:
    """The name of the binary function of two arguments that a body computes as a result.

    A value of PAIRS; or `first` or `second` if the result is that argument itself; None for other functions.

    Args:
        body: the function.
        first, second: the indices of the arguments.
        result: the index of the result.
    """
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
"""Operations whose results depend only on the order of their operands, with numpy functions that compute them."""

_OPERANDS = {"LogicalNot": 1, "Select": 3, "SelectV2": 3}
"""The number of operands of the kinds in `_COMPARING` that do not have two."""


def _sort_key(value: SSAValue) -> SSAValue:
    """The float x if a value is JAX's sort key of x, an integer that orders NaN last; any other value unchanged.

    The key has the bits of x, with all but the sign bit inverted if x is negative: x ^ (x >> 31 >>> 1), or a Select as
    `_selected_key` has it.
    """
    if kind_of(value.owner) == "Select":
        return _selected_key(value)
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


_LARGEST_INTEGERS = frozenset(float(2 ** (bits - 1) - 1) for bits in (16, 32, 64))
_BITS_OF_NAN = frozenset(float(bits) for bits in (0x7E00, 0x7FC0, 0x7FC00000, 0x7FF8000000000000))
"""The integers whose bits are a NaN without a sign in f16, bf16, f32 and f64."""


def _selected_key(value: SSAValue) -> SSAValue:
    """The float x if a value is the Select that JAX writes for x's sort key; any other value unchanged.

    The Select is Select(Less(k, 0), Bitcast(Sub(largest integer, Bitcast(x))), k), where k has the bits of x.
    """
    condition, negative, bits = operands_of(value)
    compared = operands_of(condition)
    if kind_of(condition.owner) != "Less" or len(compared) != 2 or compared[0] is not bits or _number(compared[1]) != 0:
        return value
    while kind_of(negative.owner) == "Bitcast":
        negative = operands_of(negative)[0]
    if kind_of(negative.owner) != "Sub":
        return value
    largest, inverted = operands_of(negative)
    x = operands_of(inverted)[0] if kind_of(inverted.owner) == "Bitcast" else None
    return x if x is not None and _number(largest) in _LARGEST_INTEGERS and _has_bits_of(bits, x) else value


def _has_bits_of(bits: SSAValue, x: SSAValue) -> bool:
    """Whether a value has the bits of x: one pattern for all NaN, and one for 0 and -0."""
    while kind_of(bits.owner) == "Select":
        condition, constant, other = operands_of(bits)
        compared, kind = operands_of(condition), kind_of(condition.owner)
        is_nan = kind == "NotEqual" and all(each is x for each in compared) and _number(constant) in _BITS_OF_NAN
        is_zero = kind == "Equal" and x in compared and any(_number(each) == 0 for each in compared) and _number(constant) == 0
        if not (is_nan or is_zero):
            return False
        bits = other
    return kind_of(bits.owner) == "Bitcast" and operands_of(bits)[0] is x


def _canonical(value: SSAValue) -> SSAValue:
    """The float x of an expression that gives equal numbers equal bits; any other value unchanged.

    The expression is SelectV2(Equal(x, 0), 0, x) or SelectV2(NotEqual(x, x), NaN, x).
    """
    if kind_of(value.owner) not in ("Select", "SelectV2"):
        return value
    condition, constant, other = operands_of(value)
    other, compared = _canonical(other), operands_of(condition)
    kind, constant_value = kind_of(condition.owner), _number(constant)
    is_zero = kind == "Equal" and constant_value == 0 and any(_number(each) == 0 for each in compared) and other in compared
    is_nan = (
        kind == "NotEqual" and constant_value is not None and constant_value != constant_value and all(each == other for each in compared)
    )
    return other if is_zero or is_nan else value


def _number(value: SSAValue) -> float | None:
    """The element of a constant with one element, of any shape; None for other values."""
    while kind_of(value.owner) in ("Reshape", "BroadcastTo", "Cast"):
        value = operands_of(value)[0]
    if not isinstance(value.owner, Constant) or value.owner.value.array.size != 1:
        return None
    return float(value.owner.value.array.reshape(()))


class Outcomes:
    """Evaluates a function that only compares its arguments and selects among them.

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
        """Record which arguments `values` depend on.

        Returns whether the operations in between only compare arguments and select among them.
        """
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

    def of(self, values: Mapping[int, int]) -> list[int]:
        """The results of the function for `values`, integers by the index of the argument."""
        return [int(each) for each in self.of_each(values)]

    def of_each(self, values: Mapping[int, Any]) -> list[Any]:
        """The results of the function for `values`, numbers or arrays by the index of the argument."""
        known: dict[SSAValue, Any] = {self.arguments[index]: value for index, value in values.items()}
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
        """Yield every relative order of the used arguments, ties included, with the results of the function for it.

        An order is a rank for each used argument, by the index of the argument.
        """
        used = sorted(self.used)
        for ranks in product(range(len(used)), repeat=len(used)):
            values = dict(zip(used, ranks, strict=True))
            yield values, self.of(values)

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
        """The pair that the function returns for two pairs (number, index)."""
        sign, index_sign = (1 if self.is_maximum else -1), (-1 if self.takes_smaller_index else 1)
        return list(max(first, second, key=lambda pair: (sign * pair[0], index_sign * pair[1])))


def extreme(body: Region) -> Extreme | None:
    """The function of (number, index, number, index) that a body computes, if it is a maximum or minimum with its
    index; else None.
    """
    outcomes = Outcomes(body)
    if not outcomes.is_known or sorted(outcomes.used) != [0, 1, 2, 3] or len(outcomes.results) != 2:
        return None
    every = list(outcomes.every())
    for maximum, smaller in product((True, False), repeat=2):
        candidate = Extreme(maximum, smaller)
        if all(taken == candidate.of((values[0], values[1]), (values[2], values[3])) for values, taken in every):
            return candidate
    return None


class Key(Record):
    """An operand of a sort that determines the order: its index, and whether the order is ascending."""

    operand: int
    ascends: bool


def sort_keys(body: Region) -> list[Key] | None:
    """The sort keys of a comparator (x, y, x', y', …), which returns whether x precedes y; None if it is not a
    lexicographic order.

    Each further key orders elements whose keys before it are equal.
    """
    outcomes = Outcomes(body)
    operands = sorted({index // 2 for index in outcomes.used})
    if not outcomes.is_known or len(outcomes.results) != 1 or not 0 < len(operands) <= MAXIMUM_KEYS:
        return None
    if 2 * operands[-1] + 1 >= len(outcomes.arguments):
        return None
    if 2 * len(operands) <= MAXIMUM_ARGUMENTS:
        ranks = list(product(range(2 * len(operands)), repeat=2 * len(operands)))
    elif outcomes.compares_pairs():
        ranks = [[each for sign in signs for each in (sign, 0)] for signs in product((-1, 0, 1), repeat=len(operands))]
    else:
        return None
    pairs = np.array(ranks).reshape(len(ranks), len(operands), 2)
    arguments = {2 * operand + side: pairs[:, operand_index, side] for operand_index, operand in enumerate(operands) for side in (0, 1)}
    precedes = outcomes.of_each(arguments)[0].astype(bool)
    signs = dict(zip(operands, np.sign(pairs[:, :, 0] - pairs[:, :, 1]).T, strict=True))
    keys: list[Key] = []
    # The rows whose elements are equal in all keys so far.
    undecided = np.ones(len(ranks), bool)
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
