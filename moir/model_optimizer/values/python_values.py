"""Conversions between properties of operations and the Python values that extensions read and set."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.opset.interfaces.properties import PropertyKind
from moir.dialects.properties import attribute_of, is_floats, is_integers, value_of
from moir.errors import ConversionError


def numpy_type(element: Attribute) -> Any:
    """An element type as the numpy type that stores it, None for an unknown element type and for one that the IR does
    not have.
    """
    if element == element_types.dynamic or not element_types.is_element_type(element):
        return None
    return element_types.to_numpy(element).type


def element_type(data_type: Any) -> Attribute:
    """The element type for a numpy type, or for the name of a type in numpy or in the IR.

    Raises ConversionError if there is none.
    """
    if data_type is None:
        return element_types.dynamic
    if isinstance(data_type, Attribute) and element_types.is_element_type(data_type):
        return data_type
    if isinstance(data_type, str):
        try:
            return element_types.from_xml(data_type)
        except KeyError:
            pass
    try:
        return element_types.from_numpy(np.dtype(cast(Any, data_type)))
    except (KeyError, TypeError, ValueError) as error:
        raise ConversionError(f"{data_type!r} is not an element type") from error


def python_value(attribute: Attribute) -> Any:
    """The Python value of an attribute.

    Numbers and constants are arrays, an element type is a numpy type; an attribute of another dialect is returned
    unchanged.
    """
    if isinstance(attribute, DataAttr):
        return attribute.array
    if element_types.is_element_type(attribute):
        return numpy_type(attribute)
    if is_integers(attribute):
        return np.array(value_of(attribute), dtype=np.int64)
    if is_floats(attribute):
        return np.array(value_of(attribute), dtype=np.float64)
    if isinstance(attribute, DictionaryAttr):
        return {key: python_value(value) for key, value in attribute.data.items()}
    if isinstance(attribute, ArrayAttr):
        return [python_value(item) for item in cast("ArrayAttr[Attribute]", attribute)]
    return value_of(attribute)


def plain(value: Any) -> Any:
    """A value in which numpy's scalars and arrays are replaced by Python numbers and lists, and bytes by text."""
    if isinstance(value, np.generic):
        return cast(Any, value).item()
    if isinstance(value, np.ndarray):
        return cast(Any, value).tolist()
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[Any]", value)]
    return value


def is_true(value: Any) -> bool:
    """Whether a flag, which may be a text, is true."""
    return value.strip().lower() in ("1", "true") if isinstance(value, str) else bool(value)


def attribute_value(value: Any) -> Attribute | None:
    """The attribute of a Python value, None if the IR has no attribute for it."""
    if isinstance(value, np.ndarray) and value.ndim != 1:
        try:
            return DataAttr.of(cast(Array, value))
        except KeyError:
            return None
    if isinstance(value, type | np.dtype):
        try:
            return element_type(value)
        except ConversionError:
            return None
    try:
        return attribute_of(plain(value))
    except (TypeError, OverflowError, ValueError):
        return None


def property_value(kind: PropertyKind, value: Any) -> Attribute:
    """The property of a kind for a Python value. Raises ValueError if the kind does not allow the value."""
    try:
        if kind.kind == "element":
            return element_type(value)
        if isinstance(value, Attribute):
            attribute = kind.attribute(value)
        elif kind.kind == "attribute":
            property_of_value = attribute_value(value)
            if property_of_value is None:
                raise ValueError(f"{value!r} has no form in the IR")
            return property_of_value
        else:
            attribute = kind.attribute(plain(value))
        kind.verify(attribute, cast(Any, None))
    except (TypeError, VerifyException, OverflowError, ConversionError) as error:
        raise ValueError(str(error)) from error
    return attribute


def constant_array(value: Any) -> Array:
    """The array of a constant, from the value an extension gives; bytes become strings."""
    array = np.ma.getdata(np.asarray(value))
    if array.dtype.kind not in "OS":
        return array
    other = next((item for item in array.reshape(-1).tolist() if not isinstance(item, bytes | str)), None)
    if other is not None:
        raise ConversionError(f"a constant cannot have values of type {type(other).__name__}")
    texts = np.empty(array.shape, dtype=object)
    texts.reshape(-1)[:] = [
        item.decode(errors="surrogateescape") if isinstance(item, bytes) else item for item in array.reshape(-1).tolist()
    ]
    return texts
