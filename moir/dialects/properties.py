"""Conversion between Python values and attributes.

Properties of operations have these forms: int, bool, float, str, element type, and lists of int, float and str.
Attributes are interned, since the construction of one takes several microseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr, f64, i64
from xdsl.ir import Attribute

_i1 = IntegerType(1)


@lru_cache(maxsize=4096)
def integer_attribute(value: int) -> IntegerAttr[IntegerType]:
    """The attribute of a 64-bit integer."""
    return IntegerAttr(value, i64)


TRUE, FALSE = IntegerAttr(1, _i1), IntegerAttr(0, _i1)


def boolean_attribute(value: bool) -> IntegerAttr[IntegerType]:
    """The attribute of a boolean, an i1."""
    return TRUE if value else FALSE


def float_attribute(value: float) -> FloatAttr[Any]:
    """The attribute of a 64-bit float."""
    # The cache distinguishes the two zeros, which compare equal, by their text.
    return _float_attribute(float(value).hex())


@lru_cache(maxsize=4096)
def _float_attribute(text: str) -> FloatAttr[Any]:
    return FloatAttr(float.fromhex(text), f64)


@lru_cache(maxsize=4096)
def integers_attribute(values: tuple[int, ...]) -> DenseArrayBase[Any]:
    """The attribute of a list of 64-bit integers."""
    return DenseArrayBase.from_list(i64, values)


def floats_attribute(values: tuple[float, ...]) -> DenseArrayBase[Any]:
    """The attribute of a list of 64-bit floats."""
    return DenseArrayBase.from_list(f64, values)


@lru_cache(maxsize=65536)
def string_attribute(value: str) -> StringAttr:
    """The attribute of a string."""
    return StringAttr(value)


def strings_attribute(values: Sequence[str]) -> ArrayAttr[StringAttr]:
    """The attribute of a list of strings."""
    return ArrayAttr([string_attribute(value) for value in values])


def is_integer(attribute: Attribute) -> bool:
    """Whether an attribute is a 64-bit integer."""
    return isinstance(attribute, IntegerAttr) and cast("IntegerAttr[IntegerType]", attribute).type == i64


def is_float(attribute: Attribute) -> bool:
    """Whether an attribute is a 64-bit float."""
    return isinstance(attribute, FloatAttr) and cast("FloatAttr[Any]", attribute).type == f64


def is_integers(attribute: Attribute) -> bool:
    """Whether an attribute is a list of 64-bit integers."""
    return isinstance(attribute, DenseArrayBase) and cast("DenseArrayBase[Any]", attribute).elt_type == i64


def is_floats(attribute: Attribute) -> bool:
    """Whether an attribute is a list of 64-bit floats."""
    return isinstance(attribute, DenseArrayBase) and cast("DenseArrayBase[Any]", attribute).elt_type == f64


@lru_cache(maxsize=65536)
def _unpack(data: bytes, letter: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(data) // 8}{letter}", data)


def integers_of(attribute: Attribute) -> tuple[int, ...]:
    """The values of a list of 64-bit integers."""
    return _unpack(cast("DenseArrayBase[Any]", attribute).data.data, "q")


def floats_of(attribute: Attribute) -> tuple[float, ...]:
    """The values of a list of 64-bit floats."""
    return _unpack(cast("DenseArrayBase[Any]", attribute).data.data, "d")


def attribute_of(value: object) -> Attribute:
    """The attribute of a Python value: bool, int, float, str, or a list of one of them.

    An attribute is returned unchanged.

    A list with a float in it is a list of floats; an empty list is one of integers. Raises TypeError for other values.
    """
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return boolean_attribute(value)
    if isinstance(value, int):
        return integer_attribute(value)
    if isinstance(value, float):
        return float_attribute(value)
    if isinstance(value, str):
        return string_attribute(value)
    if isinstance(value, Sequence):
        items = cast("Sequence[object]", value)
        kinds = set(map(type, items))
        if all(issubclass(kind, int) for kind in kinds):
            return integers_attribute(tuple(cast("Sequence[int]", items)))
        if all(issubclass(kind, int | float) for kind in kinds):
            return floats_attribute(tuple(map(float, cast("Sequence[float]", items))))
        return ArrayAttr([attribute_of(item) for item in items])
    raise TypeError(f"no attribute for {type(value).__name__} {value!r}")


def value_of(attribute: Attribute) -> Any:
    """The Python value of an attribute made by `attribute_of`; any other attribute is returned unchanged."""
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, IntegerAttr):
        integer = cast("IntegerAttr[IntegerType]", attribute)
        return bool(integer.value.data) if integer.type == _i1 else integer.value.data
    if isinstance(attribute, FloatAttr):
        return cast("FloatAttr[Any]", attribute).value.data
    if isinstance(attribute, DenseArrayBase):
        return tuple(cast("DenseArrayBase[Any]", attribute).get_values())
    if isinstance(attribute, ArrayAttr):
        return tuple(value_of(item) for item in cast("ArrayAttr[Attribute]", attribute).data)
    return attribute
