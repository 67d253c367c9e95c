"""Bounds of integers, for the classes of operations: the least and the greatest number that an element can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.element_types import describe

Bounds: TypeAlias = tuple[float, float]

OperandBounds: TypeAlias = Callable[[int], "Bounds | None"]
"""A function from the index of an operand to the bounds of its elements; None if these need not be integers."""

ANY: Bounds = (-math.inf, math.inf)

LARGEST_SIZE = float((1 << 31) - 1)
"""An upper limit of sizes and indices."""


def integer_limits(element: Attribute) -> Bounds | None:
    """The least and the greatest number of a type of integers; None for other types and for those below eight bits."""
    described = describe(element)
    if described.is_packed or described.numpy.kind not in "iu":
        return None
    information = np.iinfo(described.numpy)
    return float(information.min), float(information.max)


def union(bounds: list[Bounds | None]) -> Bounds | None:
    """The bounds of a value that has elements of several operands, given the bounds of each; None if one of them is
    unknown.
    """
    known = [each for each in bounds if each is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(bounds) else None


def at_corners(of: OperandBounds, function: Callable[[float, float], float]) -> Bounds | None:
    """The bounds of a function of two operands that is monotonic in each, computed from the bounds of the operands.

    None if the bounds of an operand are unknown.
    """
    a, b = of(0), of(1)
    if a is None or b is None:
        return None
    corners = [function(x, y) for x in a for y in b]
    return (min(corners), max(corners)) if not any(map(math.isnan, corners)) else ANY


def of_remainders(of: OperandBounds, *, is_floored: bool) -> Bounds | None:
    """The bounds of integer remainders, which have the sign of the dividend or, if floored, of the divisor.

    None unless the bounds of both operands are known and the divisor is at least 1.
    """
    dividend, divisor = of(0), of(1)
    if dividend is None or divisor is None or divisor[0] < 1:
        return None
    largest = divisor[1] - 1
    if dividend[0] >= 0:
        return 0.0, min(largest, dividend[1])
    return (0.0 if is_floored else -largest), largest
