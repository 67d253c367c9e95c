"""Lower and upper bounds of values whose elements are integers, whatever their element type.

    %1 = opset5.Round(%0)                                 // integers, of any size
    %2 = opset1.Clamp(%1) {min = 0.0, max = 255.0}        // 0 … 255
    %3 = opset1.MatMul(%2, %weights)                      // %weights: [20, 8] of -127 … 127: ± 20 · 255 · 127

    %4 = opset4.Range(0, %n, 1)                           // counts: 0 …
    %5 = opset1.FloorMod(%4, 6)                           // 0 … 5

NaN, which Round returns unchanged, is ignored. Results of integer types wrap around beyond the range of their type.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import values_of
from moir.dialects.opset.interfaces.bounds import Bounds, integer_limits
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of

DEEPEST = 8
"""The greatest length of the chains of operations that are followed from a value to its operands."""

LARGEST_CONSTANT = 1 << 20
"""The greatest number of elements of a constant whose bounds are computed."""


def integral_bounds(value: SSAValue, depth: int = 0) -> Bounds | None:
    """The lowest and the highest integer that any element can be; None if elements need not be integers."""
    values = values_of(value)
    if values is not None:
        return bounds_of_constant(np.asarray(values)) if 0 < values.size <= LARGEST_CONSTANT and values.dtype.kind in "iuf" else None
    limits, bounds = integer_limits(element_of(value)), None
    if isinstance(value, OpResult) and isinstance(op := value.op, OpsetOp) and depth < DEEPEST:
        operands = op.operands
        bounds = op.integral_bounds(value.index, lambda index: integral_bounds(operands[index], depth + 1))
    if bounds is None or limits is None:
        return limits if bounds is None else bounds
    return bounds if limits[0] <= bounds[0] and bounds[1] <= limits[1] else limits


def bounds_of_constant(array: np.ndarray) -> Bounds | None:
    """The lowest and the highest element of an array of integers; None if an element is not an integer."""
    if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        return None
    return float(array.min()), float(array.max())
