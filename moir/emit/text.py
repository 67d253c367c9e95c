"""The text of names, properties and types in the XML of the IR."""

from __future__ import annotations

import re
from functools import cache
from typing import cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.xml import text_of
from moir.errors import EmissionError
from moir.support.decimals import decimal_of

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


def escape_name(text: str) -> str:
    """A name escaped for an XML attribute. Characters that XML 1.0 forbids become U+FFFD: names have no semantics."""
    return _escape(text if text.isprintable() else _impossible().sub("\ufffd", text))


def escape_value(text: str) -> str:
    """A value escaped for an XML attribute. Raises EmissionError for characters that XML 1.0 forbids."""
    character = None if text.isprintable() else _impossible().search(text)
    if character:
        raise EmissionError(f"{text!r} has the character {character.group()!r}, which XML cannot hold")
    return _escape(text)


@cache
def _impossible() -> re.Pattern[str]:
    """A pattern of the characters that XML 1.0 forbids, all unprintable; compiled only for unprintable text, because
    compiling it is slow.
    """
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def property_text(attribute: Attribute) -> str:
    """The value of a property, escaped. Raises EmissionError for an attribute that IR cannot represent."""
    try:
        return escape_value(text_of(attribute))
    except ValueError as error:
        raise EmissionError(str(error)) from None


def port_text(type_: Attribute) -> tuple[str, str]:
    """The `<precision>` and `<dim>` elements of a port. Raises EmissionError for a type that IR does not have."""
    element = element_of(type_)
    if not element_types.is_element_type(element) or (element is element_types.dynamic and "tensor" not in type_.name):
        raise EmissionError(f"the IR has no values of type {type_}")
    dimensions = "".join([f"\t\t\t\t\t<dim>{dimension}</dim>\n" for dimension in shape_of(type_) or ()])
    return element_types.describe(element).precision, dimensions


_BOUNDS = r"(\d{0,18})\.\.(\d{0,18})"


def parameter_shape(type_: Attribute, bounds: str | None) -> str:
    """The `shape` of a Parameter: `?` for a dynamic dimension, `1..10` for a bounded one, `...` for a dynamic rank.

    Args:
        type_: type of the Parameter's result.
        bounds: the bounds of each dimension, as in `1..10,3,?`; None if there are none.

    Raises EmissionError if the bounds contradict the type.
    """
    shape = shape_of(type_)
    if shape is None:
        return "..."
    texts = ["?" if dimension < 0 else str(dimension) for dimension in shape]
    if not bounds:
        return ",".join(texts)
    entries = [entry.strip() for entry in bounds.split(",")]
    if len(entries) != len(shape) or not all(map(_within, shape, entries)):
        raise EmissionError(f"bounds {bounds!r} do not fit its shape [{','.join(texts)}]")
    return ",".join([entry if text == "?" and entry != "-1" else text for text, entry in zip(texts, entries, strict=True)])


def _within(dimension: int, entry: str) -> bool:
    """Whether a dimension of a type (-1 if dynamic) is consistent with `entry`, its bounds as text."""
    if entry in ("?", "-1"):
        return True
    if (size := decimal_of(entry)) is not None:
        return dimension in (-1, size)
    match = re.fullmatch(_BOUNDS, entry, re.ASCII)
    if match is None or entry == "..":
        return False
    low, high = int(match[1] or 0), int(match[2]) if match[2] else None
    if high is not None and high < low:
        return False
    return dimension < 0 or (low <= dimension and (high is None or dimension <= high))


def plain_text(attribute: Attribute) -> str:
    """The value of an entry of runtime information, not escaped."""
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return str(value_of(cast(Attribute, attribute)))
    raise EmissionError(f"runtime information of the form {type(attribute).__name__} has no place in the IR")
