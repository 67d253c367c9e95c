"""Arithmetic expressions of one value and constants as polynomials of that value.

    %a = opset1.Multiply(%x, %x)
    %b = opset1.Multiply(%a, 0.1)
    %c = opset1.Add(%b, %x)               // 0.1 x² + x, in whichever order it is written

Fusions whose operations occur in many orders compare coefficients instead of listing the orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.constants import outranks, scalar_of
from moir.dialects.properties import value_of

Polynomial: TypeAlias = Mapping[int, float]
"""A polynomial: its coefficients by power."""

MAXIMUM_DEGREE = 8
MAXIMUM_OPERATIONS = 16
"""The limit on the number of operations of a polynomial that is read: no fusion needs more."""


def total(a: Polynomial, b: Polynomial) -> Polynomial:
    """a + b"""
    return {power: a.get(power, 0.0) + b.get(power, 0.0) for power in {**a, **b}}


def product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """a · b; None if the degree exceeds `MAXIMUM_DEGREE`."""
    if max(a) + max(b) > MAXIMUM_DEGREE:
        return None
    result: dict[int, float] = {}
    for power, coefficient in a.items():
        for other, factor in b.items():
            result[power + other] = result.get(power + other, 0.0) + coefficient * factor
    return result


def negative(a: Polynomial) -> Polynomial:
    """-a"""
    return {power: -coefficient for power, coefficient in a.items()}


class PolynomialReader:
    """Reads values as polynomials of `variable`, and collects the operations that compute them."""

    def __init__(self, variable: SSAValue) -> None:
        self.variable = variable
        self.operations: list[Operation] = []

    def read(self, value: SSAValue) -> Polynomial | None:
        """A value as a polynomial of the variable; None if it is not a polynomial, or has too high a degree or too many
        terms.
        """
        if value is self.variable:
            return {1: 1.0}
        number = scalar_of(value)
        if number is not None:
            return {0: number}
        if len(self.operations) >= MAXIMUM_OPERATIONS:
            return None
        if (negated := negated_by(value)) is not None:
            assert isinstance(value, OpResult)
            self.operations.append(value.op)
            polynomial = self.read(negated)
            return None if polynomial is None else negative(polynomial)
        operands = operands_of(value)
        if operands is None:
            return None
        op, a, b = operands
        self.operations.append(op)
        left = self.read(a)
        right = None if left is None else self.read(b)
        return None if left is None or right is None else combined(op.name, left, right)


def combined(name: str, a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The result of an arithmetic operation on two polynomials; None if it is not a polynomial within the limits."""
    match name:
        case "opset1.Add":
            return total(a, b)
        case "opset1.Subtract":
            return total(a, negative(b))
        case "opset1.Multiply":
            return product(a, b)
        case "opset1.Divide":
            divisor = b.get(0, 0.0)
            return product(a, {0: 1 / divisor}) if list(b) == [0] and divisor else None
        case _:
            exponent = b.get(0, 0.0)
            if list(b) != [0] or exponent not in (1, 2, 3):
                return None
            result: Polynomial | None = a
            for _ in range(int(exponent) - 1):
                result = None if result is None else product(result, a)
            return result


ARITHMETIC = frozenset(("opset1.Add", "opset1.Subtract", "opset1.Multiply", "opset1.Divide", "opset1.Power"))


def negated_by(value: SSAValue) -> SSAValue | None:
    """The operand of the Negative that produces a value; None if another operation does."""
    return value.op.operands[0] if isinstance(value, OpResult) and value.op.name == "opset1.Negative" else None


def operands_of(value: SSAValue) -> tuple[Operation, SSAValue, SSAValue] | None:
    """The arithmetic operation that produces a value, and its two operands; None for any other value.

    None, too, if broadcasting against a constant operand may give the result a higher rank.
    """
    if not isinstance(value, OpResult) or value.op.name not in ARITHMETIC or value_of(value.op.properties["auto_broadcast"]) != "numpy":
        return None
    a, b = value.op.operands
    for constant, other in ((a, b), (b, a)):
        if scalar_of(constant) is not None and outranks(constant, other):
            return None
    return value.op, a, b


def possible_variables(value: SSAValue) -> Iterator[SSAValue]:
    """Values of which `value` may be a polynomial, the closest ones first."""
    pending, seen = [value], {value}
    while pending and len(seen) <= MAXIMUM_OPERATIONS:
        current = pending.pop(0)
        if scalar_of(current) is not None:
            continue
        yield current
        negated = negated_by(current)
        for operand in (operands_of(current) or ())[1:] if negated is None else (negated,):
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
