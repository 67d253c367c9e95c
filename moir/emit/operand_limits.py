"""Checks for types of operands and values of attributes that an operation does not accept: such an IR cannot be read.

The error names the node, and no IR is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, boolean, dynamic, si32, si64, string
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import floats_of, is_floats
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.emit.operand_limit_table import LIMITS
from moir.errors import EmissionError
from moir.support.records import Record


class Limit(Record):
    """The limits of an operand.

    Args:
        integers: whether its elements must be integers.
        logical: whether they may be boolean then.
        wide: whether they must be i32 or i64.
        floats: whether its elements must be floats.
        strings: whether its elements may be strings.
        rank: its greatest rank; None if it has no limit.
        is_single: whether it must have one element.
    """

    integers: bool
    logical: bool
    wide: bool
    floats: bool
    strings: bool
    rank: int | None
    is_single: bool


@cache
def limits_of(name: str) -> tuple[Limit, ...]:
    """The limits of the operands of an operation, up to the last operand that has a limit."""
    return tuple(
        Limit(
            each[0] in "ibw",
            each[0] == "b",
            each[0] == "w",
            each[0] == "f",
            each[0] == "-",
            int(each[1]) if each[1:2].isdecimal() else None,
            each.endswith("="),
        )
        for each in LIMITS.get(name, "").split()
    )


def check_operands(op: OpsetOp, operands: Sequence[SSAValue]) -> None:
    """Raise EmissionError if the type of an operand is one that the operation does not accept."""
    for index, (limit, value) in enumerate(zip(limits_of(op.name), operands, strict=False)):
        if reason := _beyond(limit, value):
            raise EmissionError(f"operand {index} {reason}")


def check_attributes(op: OpsetOp) -> None:
    """Raise EmissionError if the value of an attribute is one that the operation does not accept."""
    for name, attribute in op.properties.items():
        if isinstance(attribute, FloatAttr):
            if math.isnan(attribute.value.data):
                raise EmissionError(f"attribute {name} is NaN")
        elif is_floats(attribute) and any(map(math.isnan, floats_of(attribute))):
            raise EmissionError(f"an element of attribute {name} is NaN")


def _beyond(limit: Limit, value: SSAValue) -> str | None:
    """How the type of a value violates a limit, as a clause for a message; None if it satisfies the limit, as far as
    the type is known.
    """
    element, rank = element_of(value), rank_of(value)
    if element is not dynamic:
        if limit.integers and element not in INTEGER_TYPES and not (limit.logical and element == boolean):
            return f"is of {element}, where integers are needed"
        if limit.wide and element not in (si32, si64):
            return f"is of {element}, where i32 or i64 is needed"
        if limit.floats and element not in REAL_TYPES:
            return f"is of {element}, where floats are needed"
        if element is string and not limit.strings:
            return "is of strings, where numbers are needed"
    if limit.rank is not None and rank is not None and rank > limit.rank:
        return f"has rank {rank}, where at most {limit.rank} is possible"
    count = element_count(shape_of(value)) if limit.is_single else None
    return None if count in (None, 1) else f"has {count} elements, where one is needed"
