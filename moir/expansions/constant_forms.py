"""Conversions that keep constants constant: unpacking, other element types, other shapes.

Constants of fewer than 8 bits are packed: several elements share a byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import REAL_TYPES, describe, f32, is_element_type, si32, to_numpy
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.rewriting.builder import OpBuilder


def is_packed(element: Attribute) -> bool:
    """Whether several elements of an element type share a byte."""
    return is_element_type(element) and describe(element).is_packed


def unpacked_type(element: Attribute) -> Attribute:
    """The type to which an element type is unpacked: i32 or f32 for less than 8 bits, otherwise the type itself."""
    if not is_packed(element):
        return element
    return f32 if element in REAL_TYPES else si32


def small_constant(op: OpBuilder, value: SSAValue) -> Array | None:
    """The array of a constant; None for values that are not constant, and for packed element types."""
    return None if is_packed(element_of(value)) else op.known.constant(value)


def constant_array(op: OpBuilder, value: SSAValue) -> Array | None:
    """The array of a constant, with packed integers unpacked to i32.

    None for a value that is not constant, for packed floats, and for packed integers whose size in bits does not divide
    8.
    """
    element, shape = element_of(value), shape_of(value) or ()
    if not isinstance(value.owner, Constant) or not is_packed(element):
        return small_constant(op, value)
    bits = describe(element).bits
    if element in REAL_TYPES or 8 % bits:
        return None
    packed = value.owner.value.array
    fields = (packed.reshape(-1, 1) >> np.arange(0, 8, bits, dtype=np.uint8)) & (2**bits - 1)
    entries: Array = fields.reshape(-1)[: int(np.prod(shape))].astype(np.int32)
    if describe(element).xml[0] == "i":
        entries = np.where(entries >= 2 ** (bits - 1), entries - 2**bits, entries)
    return entries.reshape(shape)


def as_type(op: OpBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """Convert a value to another element type; a constant stays a constant."""
    if element_of(value) == element:
        return value
    array = constant_array(op, value)
    return op.convert(value, element) if array is None else op.constant(array.astype(to_numpy(element)), element)


def with_dimensions_after(op: OpBuilder, value: SSAValue, count: int) -> SSAValue:
    """Append `count` dimensions of 1 to a value of static rank; a constant stays a constant."""
    if count == 0:
        return value
    array = small_constant(op, value)
    if array is not None:
        return op.constant(array.reshape(*array.shape, *(1,) * count))
    rank = rank_of(value) or 0
    return op.Unsqueeze(value, [rank + index for index in range(count)])


def reshaped(op: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Reshape a value to a static shape with the same number of elements; a constant, also a packed one, stays a
    constant.
    """
    if not isinstance(value.owner, Constant):
        return op.Reshape(value, list(shape), special_zero=False)
    data = value.owner.value
    if not is_packed(data.element):
        return op.constant(data.array.reshape(tuple(shape)), data.element)
    return op.create(Constant, (), {"value": DataAttr.of(data.array, data.element, shape)}).results[0]


def along_channels(op: OpBuilder, vector: SSAValue, axes: int) -> SSAValue:
    """Reshape a vector [C] to [1, C, 1, …] with `axes` dimensions of 1 at the end; a constant stays a constant."""
    return reshaped(op, vector, (1, -1, *(1,) * axes))
