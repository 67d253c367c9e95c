"""Recognition of the function of one variable that a composition of elementwise operations and constants computes.

A framework whose compiler lacks a function exports it as a polynomial of dozens of operations. The results of such a
composition for sample arguments show which function it computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import TOLERANCES, scalar_of
from moir.dialects.data import Array
from moir.dialects.element_types import to_numpy
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of

MOST_OPERATIONS = 128
"""The maximum number of operations in such a composition."""

SAMPLES = np.concatenate([np.linspace(-12, 12, 2001), np.linspace(-2, 2, 1001), np.array([-1e4, -40, 40, 1e4])])
"""Arguments at which functions are compared."""


def operations_between(value: SSAValue, variable: SSAValue) -> list[OpsetOp] | None:
    """The elementwise operations that compute a value from a variable and constant scalars alone, in order.

    None if other values take part, or there are too many operations.
    """
    between: dict[OpsetOp, None] = {}
    pending: list[tuple[SSAValue, bool]] = [(value, False)]
    while pending:
        current, is_done = pending.pop()
        if current is variable or scalar_of(current) is not None:
            continue
        op = current.op if isinstance(current, OpResult) else None
        if not isinstance(op, OpsetOp) or not (op.POINTWISE or op.BROADCASTS) or len(op.results) != 1:
            return None
        if is_done:
            between[op] = None
        elif op not in between:
            pending.append((current, True))
            pending.extend((operand, False) for operand in op.operands)
            if len(pending) > 4 * MOST_OPERATIONS:
                return None
    return list(between) if len(between) <= MOST_OPERATIONS else None


def computes(operations: list[OpsetOp], variable: SSAValue, function: Callable[[float], float]) -> bool:
    """Whether operations, given in order, compute `function` of a variable, up to rounding."""
    element = element_of(variable)
    if element not in TOLERANCES or not operations:
        return False
    samples: Array = SAMPLES.astype(to_numpy(element))
    values: dict[SSAValue, Array] = {variable: samples}
    with np.errstate(all="ignore"):
        for op in operations:
            operands = [
                values[each] if each in values else np.asarray(scalar_of(each)).astype(to_numpy(element_of(each))) for each in op.operands
            ]
            results = op.evaluate(*operands)
            if results is None:
                return False
            values[op.results[0]] = results[0]
    computed = values[operations[-1].results[0]].astype(np.float64)
    expected = np.array([function(each) for each in samples.astype(np.float64).tolist()])
    return bool(np.isfinite(computed).all() and (abs(computed - expected) <= TOLERANCES[element]).all())


def is_complement_of_error_function(operations: list[OpsetOp], variable: SSAValue) -> bool:
    """Whether operations compute erfc, the complement of the error function."""
    return computes(operations, variable, math.erfc)
