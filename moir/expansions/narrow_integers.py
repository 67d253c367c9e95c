"""Arithmetic of 8-bit integers, whose results wrap around as numpy's do.

The CPU plugin (2026.4) saturates sums, differences, products and powers of 8-bit integers, and rounds their quotients
to the nearest integer if shapes are dynamic. 32-bit integers it computes exactly, and a conversion to 8 bits wraps.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from moir.dialects.element_types import si8, si32, ui8
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder


def in_32_bits(op: OpBuilder, compute: Callable[..., SSAValue], *operands: SSAValue) -> SSAValue:
    """compute(*operands); 8-bit integers are converted to i32, and the result of `compute` back."""
    element = element_of(operands[0])
    if element not in (si8, ui8):
        return compute(*operands)
    return op.convert(compute(*(op.convert(each, si32) for each in operands)), element)
