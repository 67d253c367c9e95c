"""The attributes of an operation of a program as the properties of one of the `stablehlo` dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.data import Array
from moir.dialects.properties import attribute_of
from moir.frontends.stablehlo.program import Dense

_DROPPED = frozenset(("precision_config", "result_accuracy", "operand_layouts", "result_layouts", "mhlo.sharding", "indices_are_sorted"))


def properties_of(attributes: Mapping[str, Any]) -> dict[str, Attribute]:
    """The properties of an operation, from its attributes in the program: entries of dictionaries such as dimension
    numbers become properties of their own, nested lists are flattened.
    """
    properties: dict[str, Attribute] = {}
    for name, value in attributes.items():
        if name in _DROPPED or value is None:
            continue
        if isinstance(value, dict):
            properties |= properties_of(cast("dict[str, Any]", value))
            continue
        plain = plain_value(value)
        if plain is not None:
            properties[name] = attribute_of(plain)
    return properties


def plain_value(value: Any) -> Any:
    """An attribute as a scalar or a flat list; None for a value that cannot have such a form."""
    if isinstance(value, Dense):
        array = value.listed()
        return array.reshape(-1).tolist() if array.ndim else array.item()
    if isinstance(value, np.ndarray):
        return cast("Array", value).reshape(-1).tolist()
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if any(isinstance(each, list) for each in items):
            return [inner for each in items for inner in cast("list[Any]", each)]
        if any(isinstance(each, dict) or each is None for each in items):
            return None
        return [str(each) if isinstance(each, str) else each for each in items]
    if isinstance(value, str):
        return str(value)
    return value if isinstance(value, int | float | bool | Attribute) else None
