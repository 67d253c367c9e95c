"""The neighbour of a float in the direction of another number (nextafter), computed without access to its bits.

Source: S. Rump et al., "Computing predecessor and successor in rounding to nearest" (2009).
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import bf16, f16, f32, f64
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder

_FORMATS: dict[Attribute, tuple[int, float, float]] = {
    f64: (53, 2.0**-1074, float(np.finfo(np.float64).max)),
    f32: (24, 2.0**-149, float(np.finfo(np.float32).max)),
    f16: (11, 2.0**-24, 65504.0),
    bf16: (8, 2.0**-133, (2 - 2.0**-7) * 2.0**127),
}
"""The bits of the significand of each element type, its smallest positive number and its largest one."""


def neighbour_toward(op: OpBuilder, x: SSAValue, target: SSAValue) -> SSAValue:
    """The next float after x in the direction of `target`; x itself if they are equal.

    It is x plus or minus a little more than half of the distance to its neighbour, which rounds to the neighbour. The
    neighbour of infinity is the largest finite number; NaN stays NaN. For types with fewer bits than f32 the sum is
    computed in f32 and rounded by the Convert.
    """
    element = element_of(x)
    bits, smallest, largest = _FORMATS[element]
    wide = element if element in (f32, f64) else f32
    a, b = op.convert(x, wide), op.convert(target, wide)
    unit = 2.0**-bits
    step = op.Add(op.Multiply(op.Abs(a), unit * (1 + 2 * unit)), smallest)
    finite = op.Select(op.Greater(b, a), op.Add(a, step), op.Subtract(a, step))
    beside = op.Select(op.IsInf(a), op.Multiply(op.Sign(a), op.constant_like(largest, a)), finite)
    is_last = op.LogicalOr(op.Equal(a, b), op.LogicalOr(op.IsNaN(a), op.IsNaN(b)))
    return op.convert(op.Select(is_last, op.Select(op.IsNaN(a), a, b), beside), element)
