"""Texts of XML attributes, which `backend_attrs` writes, as properties of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import PropertyKind, property_table
from moir.errors import ConversionError
from moir.model_optimizer.values.python_values import element_type

_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def _items(text: str) -> list[str]:
    stripped = text.strip().removeprefix("[").removesuffix("]").removeprefix("(").removesuffix(")")
    return [item.strip() for item in stripped.split(",") if item.strip()]


def _integer(text: str) -> int:
    if text.strip().lower() in ("true", "false"):
        return int(_BOOLEANS[text.strip().lower()])
    number = float(text)
    return int(text) if not number.is_integer() or "." not in text else int(number)


def _value(kind: str, text: str) -> Any:
    match kind:
        case "int":
            return _integer(text)
        case "bool":
            return _BOOLEANS[text.strip().lower()]
        case "float":
            return float(text)
        case "ints":
            return [_integer(item) for item in _items(text)]
        case "floats":
            return [float(item) for item in _items(text)]
        case "strs":
            return _items(text)
        case "element":
            try:
                return element_types.from_xml(text.strip().lower())
            except KeyError:
                return element_type(text.strip())
        case _:
            return text


def property_of(kind: PropertyKind, text: str) -> Attribute:
    """The property for the text of an XML attribute. Raises ValueError if the kind does not allow it."""
    if kind.allowed:
        # Enumeration values are case-insensitive.
        spelled = {allowed.lower(): allowed for allowed in kind.allowed}
        text = ",".join(spelled.get(item.lower(), item) for item in _items(text))
    try:
        attribute = kind.attribute(_value(kind.kind, text))
        kind.verify(attribute, None)  # pyright: ignore[reportArgumentType]
    except (KeyError, OverflowError, ConversionError, VerifyException) as error:
        raise ValueError(str(error)) from error
    return attribute


def properties_of(operation: type[OpsetOp], texts: Mapping[str, str]) -> dict[str, Attribute]:
    """The properties of an operation for XML attributes. Unknown attributes are ignored, as by the runtime.

    Raises ConversionError for a text that is not of the property's kind.
    """
    properties: dict[str, Attribute] = {}
    for name, spec in property_table(operation).specs.items():
        if name not in texts:
            continue
        # Old operations leave an attribute that may be absent empty.
        if texts[name] == "" and spec.kind.kind not in ("str", "ints", "floats", "strs"):
            continue
        try:
            properties[name] = property_of(spec.kind, texts[name])
        except ValueError as error:
            raise ConversionError(f"its attribute {name} cannot be {texts[name]!r}: {error}") from error
    return properties
