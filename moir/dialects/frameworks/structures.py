"""Nested values of configurations as attributes: lists and dictionaries of any depth, which may contain None and
booleans.

    {"units": 4, "cell": {"activation": None}}  <->  {units = 4 : i64, cell = {activation}}

Plain values have the forms of `moir.dialects.properties`; None is a unit attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.ir import Attribute

from moir.dialects.properties import attribute_of, value_of


def structure_attribute(value: object) -> Attribute:
    """The attribute of a nested value. Raises TypeError if it is not a value of JSON."""
    if value is None:
        return UnitAttr()
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        return DictionaryAttr({str(name): structure_attribute(each) for name, each in items.items() if str(name)})
    if isinstance(value, Sequence) and not isinstance(value, str):
        entries = cast("Sequence[object]", value)
        is_plain = all(isinstance(each, int | float) and not isinstance(each, bool) for each in entries)
        return attribute_of(entries) if is_plain else ArrayAttr([structure_attribute(each) for each in entries])
    return attribute_of(value)


def structure_of(attribute: Attribute) -> Any:
    """The nested value of an attribute that `structure_attribute` made, except that its lists become tuples."""
    if isinstance(attribute, UnitAttr):
        return None
    if isinstance(attribute, DictionaryAttr):
        return {name: structure_of(each) for name, each in attribute.data.items()}
    if isinstance(attribute, ArrayAttr):
        return tuple(structure_of(each) for each in cast("ArrayAttr[Attribute]", attribute).data)
    return value_of(attribute)
