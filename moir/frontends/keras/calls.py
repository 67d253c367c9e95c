"""The calls of a layer, `inbound_nodes`, in the forms of Keras 3 and Keras 2.

{"args": [[T a, T b]], "kwargs": {"mask": T m}}     Keras 3, tensors are objects
[["a", 0, 0, {}], ["b", 0, 0, {}]]                  Keras 2, two tensors as a list
[["x", 0, 0, {"y": 2.0}]] as `inbound_nodes`        Keras 2, a function of one tensor: the row is the call
["_CONSTANT_VALUE", -1, 3.0, {"y": ["x", 0, 0]}]    Keras 2, a constant in the first place
[["x", 0, 0, {}], [["_CONSTANT_VALUE", -1, 2, {}]]] Keras 2, nested lists of tensors and constants
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from moir.frontends.keras.configuration import MAXIMUM_NESTING, Entry, Reference, contained, decoded
from moir.support.records import Record

_CONSTANT = "_CONSTANT_VALUE"
_NO_ARGUMENTS = frozenset(("training",))
"""Keywords of calls that have a single possible value at inference, so that they are ignored."""


class Call(Record):
    """The arguments of a call, with references in place of tensors."""

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def references(self) -> Iterator[Reference]:
        """All tensors, in the order of the arguments."""
        yield from contained(self.arguments, Reference)
        for value in self.keywords.values():
            yield from contained(value, Reference)


def calls_of(entry: Entry) -> list[Call]:
    """The calls of a layer. Raises ValueError, KeyError or TypeError if it is not a call."""
    if entry.nodes and all(_is_row(node) for node in entry.nodes):
        return [_of_rows([node]) for node in entry.nodes]
    return [_call(node) for node in entry.nodes]


def _call(node: Any) -> Call:
    if isinstance(node, dict) and ("args" in node or "kwargs" in node):
        fields = cast("dict[str, Any]", node)
        keywords = decoded(fields.get("kwargs") or {})
        return Call(tuple(decoded(fields.get("args") or [])), _of_inference(keywords))
    if isinstance(node, dict):
        # A model that is called with a dictionary.
        return Call(({name: _rows(each) for name, each in cast("dict[str, Any]", node).items()},), {})
    return _of_rows(node)


def _of_inference(keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if name not in _NO_ARGUMENTS and value is not None}


def _is_row(value: Any) -> bool:
    """Whether a value is a row of Keras 2 that denotes a tensor: [layer, node, tensor], perhaps followed by
    keywords.
    """
    if not isinstance(value, list):
        return False
    row = cast("list[Any]", value)
    if not 3 <= len(row) <= 4 or not isinstance(row[0], str) or not isinstance(row[1], int):
        return False
    return row[0] == _CONSTANT or isinstance(row[2], int)


def _rows(value: Any) -> Any:
    """A nested value of a Keras 2 configuration, with each `[layer, node, tensor, …]` replaced by a Reference."""
    if _is_row(value):
        return decoded(value[2]) if value[0] == _CONSTANT else Reference(value[0], value[1], value[2])
    if isinstance(value, list):
        return [_rows(each) for each in cast("list[Any]", value)]
    if isinstance(value, dict) and "class_name" not in value:
        return {name: _rows(each) for name, each in cast("dict[str, Any]", value).items()}
    return decoded(cast(object, value))


def _of_rows(rows: list[Any]) -> Call:
    first: Any = rows
    while not _is_row(first):
        if not isinstance(first, list) or not first:
            raise ValueError("a call is not a list of tensors")
        first = cast("list[Any]", first)[0]
    tensors = [_nested(row) for row in rows]
    keywords = cast("dict[str, Any]", first[3]) if len(first) == 4 and isinstance(first[3], dict) else {}
    tensors_by_name = {name: _rows(value) for name, value in keywords.items() if name != "name"}
    return Call((tensors[0] if len(tensors) == 1 else tensors,), _of_inference(tensors_by_name))


def _nested(value: Any, depth: int = 0) -> Any:
    """An argument in the form of Keras 2 with references in place of rows; the argument is a row, or nested lists of
    rows.

    Raises ValueError for anything else.
    """
    if _is_row(value):
        return _rows(value[:3])
    if not isinstance(value, list) or depth > MAXIMUM_NESTING:
        raise ValueError("a call is not a list of tensors")
    return [_nested(each, depth + 1) for each in cast("list[Any]", value)]


def tensors_of(value: Any) -> list[tuple[str | None, Reference]]:
    """The tensors that `input_layers` or `output_layers` list, each with its key, or None if it has no key.

    The value is a triple (layer, node, tensor), a list of triples, or a dictionary of them.
    """
    rows = _rows(value)
    if isinstance(rows, dict):
        named = cast("dict[str, Any]", rows)
        return [
            (name if len(inner) == 1 else None, each)
            for name, value in named.items()
            for inner in [list(contained(value, Reference))]
            for each in inner
        ]
    return [(None, each) for each in contained(rows, Reference)]
