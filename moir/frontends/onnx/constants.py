"""The node Constant, whose value is one of several attributes.

Source: Constant in the operators of ONNX (since version 1; with sparse values since 11, with values that are not
tensors since 12).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.properties import value_of


def _floats(value: Any) -> DataAttr:
    return DataAttr.of(np.array(value, np.float32))


def _integers(value: Any) -> DataAttr:
    return DataAttr.of(np.array(value, np.int64))


def _strings(value: Any) -> DataAttr:
    return DataAttr.of(np.array(value, object), element_types.string)


_FORMS: Mapping[str, tuple[type, bool, Callable[[Any], DataAttr]]] = {
    "value_float": (float, False, _floats),
    "value_floats": (float, True, _floats),
    "value_int": (int, False, _integers),
    "value_ints": (int, True, _integers),
    "value_string": (str, False, _strings),
    "value_strings": (str, True, _strings),
}
"""For each attribute: the type of its value or of the elements of its value, whether it is a list, and the conversion.

The conversion makes the value a tensor.
"""


def node_constant(properties: Mapping[str, Attribute]) -> DataAttr | str:
    """The value of a Constant, or the reason why it is invalid, as a clause for a message."""
    if len(properties) != 1:
        return f"a Constant has one attribute, this one has {len(properties)}"
    ((name, attribute),) = properties.items()
    if name in ("value", "sparse_value"):
        return attribute if isinstance(attribute, DataAttr) else f"attribute {name!r} is not a tensor"
    if name not in _FORMS:
        return f"a Constant has no attribute {name!r}"
    kind, is_list, convert = _FORMS[name]
    value = value_of(attribute)
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    if isinstance(value, tuple) != is_list or any(type(item) is not kind for item in items):
        return f"attribute {name!r} is of another type"
    return convert(value)
