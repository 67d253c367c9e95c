"""The smallest and the largest number of operands of an operation of an operation set, from its IRDL definition."""

from __future__ import annotations

from functools import cache

from xdsl.irdl import IRDLOperation, OptOperandDef, VarOperandDef
from xdsl.irdl.constraints import AtMost, RangeLengthConstraint

UNLIMITED = 1 << 16
"""A number that is larger than the number of operands of any operation; it stands for no limit."""


@cache
def operand_limit(operation: type[IRDLOperation]) -> int:
    """The largest number of operands that an operation of a class may have; `UNLIMITED` if there is no limit."""
    count = 0
    for _, definition in operation.get_irdl_definition().operands:
        if isinstance(definition, OptOperandDef):
            count += 1
        elif isinstance(definition, VarOperandDef):
            length = definition.constr.length if isinstance(definition.constr, RangeLengthConstraint) else None
            if not isinstance(length, AtMost):
                return UNLIMITED
            count += length.bound
        else:
            count += 1
    return count


@cache
def operands_required(operation: type[IRDLOperation]) -> int:
    """The smallest number of operands that an operation of a class may have."""
    return sum(1 for _, definition in operation.get_irdl_definition().operands if not isinstance(definition, VarOperandDef))
