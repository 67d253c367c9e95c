"""Integers of fewer than 8 bits in constants: their limits, and their values, which are stored packed."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, describe
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.onnx.operands import small_constant
from moir.rewriting.builder import OpBuilder


def integer_limits(element: Attribute) -> tuple[int, int]:
    """The smallest and the largest number of an integer type."""
    row = describe(element)
    return (-(2 ** (row.bits - 1)), 2 ** (row.bits - 1) - 1) if row.xml[0] == "i" else (0, 2**row.bits - 1)


def constant_array(op: OpBuilder, value: SSAValue) -> Array | None:
    """The array of a constant, with packed integers unpacked; None for any other value."""
    if not isinstance(value.owner, Constant) or not describe(element_of(value)).is_packed:
        return small_constant(op, value)
    element, shape = element_of(value), shape_of(value) or ()
    bits = describe(element).bits
    if element in REAL_TYPES or 8 % bits:
        return None
    packed = value.owner.value.array
    fields = (packed.reshape(-1, 1) >> np.arange(0, 8, bits, dtype=np.uint8)) & (2**bits - 1)
    entries: Array = fields.reshape(-1)[: int(np.prod(shape))].astype(np.int32)
    if integer_limits(element)[0] < 0:
        entries = np.where(entries >= 2 ** (bits - 1), entries - 2**bits, entries)
    return entries.reshape(shape)
