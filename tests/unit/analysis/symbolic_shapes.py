"""Result shapes of an operation computed with symbols, compared with those computed with numbers.

A dimension of an operand is replaced by a symbol that hides its number. What the operation then says of its results must agree with what
it says of the numbers: a number is the same number, a symbol of an operand hides it. What it says of unknown dimensions (-1) it says of
symbols too.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.ir import SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, shape_of
from moir.dialects.symbols import Dimension, Symbol
from moir.errors import InferenceError

Hidden = dict[Symbol, int]
"""The number of each symbol; none for a symbol in place of an unknown dimension."""

Choice = Callable[[Hidden, int, int], Dimension]
"""What stands for a dimension, from its operand's index and its number."""


class OperandsOnly(KnownValues):
    """Known values that do not look at the shapes of operands, which are others than their types say."""

    def dimension(self, value: SSAValue, axis: int) -> Dimension:
        return Symbol(dimension=True)


def distinct(hidden: Hidden, _operand: int, number: int) -> Dimension:
    """A symbol of its own for each dimension."""
    symbol = Symbol(dimension=True)
    hidden.update({symbol: number} if number >= 0 else {})
    return symbol


def equal(hidden: Hidden, operand: int, number: int) -> Dimension:
    """One symbol for all dimensions of one number."""
    actual = [symbol for symbol, hidden_number in hidden.items() if hidden_number == number]
    return actual[0] if actual else distinct(hidden, operand, number)


def of_first_operand(hidden: Hidden, operand: int, number: int) -> Dimension:
    """Symbols for the dimensions of the first operand, numbers for the others."""
    return distinct(hidden, operand, number) if operand == 0 or number < 0 else number


def larger_than_two(hidden: Hidden, operand: int, number: int) -> Dimension:
    """Symbols for the larger dimensions only."""
    return number if 0 <= number <= 2 else equal(hidden, operand, number)


def replaced(op: OpsetOp, choice: Choice, hidden: Hidden) -> list[SymbolicShape]:
    """The shapes of the operands of an operation with symbols; those of constants do not change."""
    shapes: list[SymbolicShape] = []
    for index, operand in enumerate(op.operands):
        shape = shape_of(operand)
        constant = shape is None or isinstance(operand.owner, Constant)
        shapes.append(shape if constant or shape is None else tuple([choice(hidden, index, number) for number in shape]))
    return shapes


def check_symbolic_shapes(op: OpsetOp) -> None:
    """Compare the shapes of the results of an operation, computed in several ways. Fails where they contradict each other."""
    if op.regions:
        return
    expected = op.result_shapes([shape_of(operand) for operand in op.operands], KnownValues())
    for choice in (distinct, equal, of_first_operand, larger_than_two):
        hidden: Hidden = {}
        shapes = replaced(op, choice, hidden)
        unknown: Shapes = [None if shape is None else tuple([d if is_fixed(d) else -1 for d in shape]) for shape in shapes]
        text = f"{op.name} with {choice.__name__} symbols"
        try:
            actual = op.result_shapes(shapes, OperandsOnly())
        except InferenceError:
            # A definition may ask for more than that operands can be right: a Reshape to [0, -1] must be known to have no elements.
            with pytest.raises(InferenceError):
                op.result_shapes(unknown, OperandsOnly())
            continue
        for result, of_numbers, of_unknown in zip(actual, expected, op.result_shapes(unknown, OperandsOnly()), strict=True):
            if result is None:
                assert of_unknown is None, f"{text}: the rank of the result is not known"
            elif of_numbers is not None and not takes_symbols_for_one(op):
                assert len(result) == len(of_numbers), text
                for dimension, number in zip(result, of_numbers, strict=True):
                    assert agrees(dimension, number, hidden), f"{text}: {result} for {of_numbers}"
            if result is not None and of_unknown is not None:
                assert len(result) == len(of_unknown), text
                for dimension, known in zip(result, of_unknown, strict=True):
                    same = dimension == known or (isinstance(dimension, Symbol) and hidden.get(dimension) == known)
                    assert same or not is_fixed(known), f"{text}: {result}, but {of_unknown} without symbols"


def takes_symbols_for_one(op: OpsetOp) -> bool:
    """Whether an operation removes dimensions that are not known, as if they were 1."""
    return op.name in ("opset1.Squeeze", "opset15.Squeeze")


def agrees(dimension: Dimension, number: Dimension, hidden: Hidden) -> bool:
    """Whether what is said of a dimension is right, given its number or -1."""
    if isinstance(dimension, Symbol):
        return dimension not in hidden or not is_fixed(number) or hidden[dimension] == number
    return dimension in (-1, number)
