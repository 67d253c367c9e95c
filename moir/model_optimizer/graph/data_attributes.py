"""The attributes of a data node: shape and value of its tensor, and what an extension adds."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from moir.dialects.inference import set_type
from moir.dialects.names import names_of
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.graph.attributes import MissingAttributeError
from moir.model_optimizer.graph.data import get_value, set_shape, set_value
from moir.model_optimizer.graph.shapes import masked_shape
from moir.model_optimizer.graph.values import element_type, numpy_type

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph

_OWN = ("id", "name", "kind", "shape", "value", "data_type")


class DataAttributes(MutableMapping[str, Any]):
    """The attributes of the data node of a tensor."""

    __slots__ = ("entries", "graph", "value")

    def __init__(self, graph: Graph, value: SSAValue) -> None:
        self.graph = graph
        self.value = value
        self.entries = graph.data_entries.get(value, {})

    def __getitem__(self, key: str) -> Any:
        match key:
            case "id":
                return self.graph.id_of(self.value)
            case "name":
                return next(iter(names_of(self.value)), self.graph.id_of(self.value))
            case "kind":
                return "data"
            case "shape":
                return masked_shape(shape_of(self.value))
            case "value":
                return get_value(self.graph, self.value)
            case "data_type":
                return numpy_type(element_of(self.value))
            case _ if key in self.entries:
                return self.entries[key]
            case _:
                raise MissingAttributeError(f"data node {self.graph.id_of(self.value)!r} has no attribute {key!r}")

    def __setitem__(self, key: str, value: Any) -> None:
        match key:
            case "shape":
                set_shape(self.value, value)
                self.graph.touch_consumers(self.value)
            case "value":
                set_value(self.graph, self.value, value)
                self.graph.touch_consumers(self.value)
            case "data_type":
                set_type(self.value, tensor(shape_of(self.value), element_type(value)))
            case "id" | "name" | "kind":
                raise ConversionError(f"the {key} of a data node cannot be changed", node=self.graph.id_of(self.value))
            case _:
                self.entries = self.graph.data_entries.setdefault(self.value, {})
                self.entries[key] = value

    def __delitem__(self, key: str) -> None:
        if key in _OWN:
            raise ConversionError(f"the {key} of a data node cannot be deleted", node=self.graph.id_of(self.value))
        if key not in self.entries:
            raise MissingAttributeError(f"data node {self.graph.id_of(self.value)!r} has no attribute {key!r}")
        del self.entries[key]

    def __contains__(self, key: object) -> bool:
        return key in _OWN or key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *self.entries))

    def __len__(self) -> int:
        return len(_OWN) + len(self.entries)
