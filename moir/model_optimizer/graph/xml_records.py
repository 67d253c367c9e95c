"""The XML attributes of a node: from the records that `backend_attrs` returns to the strings in the `<data>` of its
layer.

A record is the name of an attribute, `(XML name, attribute name)`, or `(XML name, function)`, where the function gets
the node and returns the value. An attribute that is None, or that the node does not have, is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from moir.dialects import element_types
from moir.errors import ConversionError
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.python_values import element_type

Record: TypeAlias = str | tuple[str, str | Callable[[GraphNode], object]]


def xml_text(value: object) -> str:
    """The XML text of a value: `true`, the shortest form of a number, joined items, the name of an element type."""
    if isinstance(value, np.ndarray):
        return xml_text(cast(Any, value).reshape(-1).tolist())
    if isinstance(value, np.generic):
        return xml_text(cast(Any, value).item())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence | set) and not isinstance(value, str | bytes):
        return ",".join(xml_text(item) for item in cast("Iterable[object]", value))
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, type | np.dtype):
        return element_types.describe(element_type(value)).xml
    return str(value)


def records_of(node: GraphNode) -> list[Record]:
    """The records that the attribute `IE` of a node contains; an empty list if it does not have the attribute."""
    layers = node.soft_get("IE", None)
    records: list[Record] = []
    if not isinstance(layers, list | tuple):
        return records
    for layer in cast("Sequence[Any]", layers):
        for entry in layer[2]:
            if isinstance(entry, tuple) and cast("tuple[Any, ...]", entry)[0] == "data":
                records.extend(cast("tuple[Any, ...]", entry)[1])
    return records


def xml_attributes(node: GraphNode) -> dict[str, str]:
    """The attributes a node writes to the IR, by their names there.

    Raises ConversionError, with the name of the node, for a record of another form and where a function of one fails.
    """
    texts: dict[str, str] = {}
    for record in records_of(node):
        name, source = cast("tuple[Any, Any]", record if isinstance(record, tuple) and len(record) == 2 else (record, record))
        if not isinstance(name, str) or not (isinstance(source, str) or callable(source)):
            raise ConversionError(
                f"{record!r} is not a record of backend_attrs",
                operation=node.kind_name,
                node=node.name,
                hint="use a name, (XML name, attribute name) or (XML name, function)",
            )
        if isinstance(source, str):
            value: object = node.soft_get(source, None)
        else:
            value = _called(node, name, source)
        if value is not None:
            texts[name] = xml_text(value)
    return texts


def _called(node: GraphNode, name: str, function: Callable[[GraphNode], object]) -> object:
    try:
        return function(node)
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError(
            f"its attribute {name!r} cannot be computed: {type(error).__name__}: {error}", operation=node.kind_name, node=node.name
        ) from error
