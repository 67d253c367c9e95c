"""Edges of the graph: between operations in the front phase, between operations and data nodes afterwards.

The attribute `out` of an edge is the index of the output port where it begins, `in` that of the input port where it
ends. An edge between an operation and a data node has only one of them, that of the operation. Further attributes that
an extension gives an edge last until its transformation ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.model_optimizer.block.sentinels import is_node, is_value

Vertex: TypeAlias = "Operation | SSAValue"
"""The subject of a node: an operation, or a tensor for a data node."""

EdgeEnd: TypeAlias = "tuple[Operation, str, int]"
"""The key of the attributes of an edge: an operation, `in` or `out`, and the index of the port."""

_NAMES_OF_ATTRIBUTES = ("attrs", "data_attrs")
"""The attributes of edges and nodes that list the names of other attributes in Model Optimizer; extensions append to
them.
"""


class EdgeAttributes(dict[str, Any]):
    """The attributes of an edge: the indices of its ports, and those that extensions set.

    Args:
        numbers: the indices of the ports.
        store: the attributes that extensions set, by edge; attributes that are set here are stored in it.
        end: the key of the edge.
    """

    def __init__(self, numbers: dict[str, int], store: dict[EdgeEnd, dict[str, Any]], end: EdgeEnd) -> None:
        super().__init__(numbers)
        if store:
            self.update(store.get(end, {}))
        self._store = store
        self._end = end

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self._store.setdefault(self._end, {})[key] = value

    def __missing__(self, key: str) -> list[str]:
        if key not in _NAMES_OF_ATTRIBUTES:
            raise KeyError(key)
        names: list[str] = []
        self[key] = names
        return names


def end_of(source: Vertex, destination: Vertex, numbers: dict[str, int]) -> EdgeEnd:
    """The key of an edge: the operation and the index of its input port or, for an edge to a data node, of its output
    port.

    `numbers` has these indices, by `in` and `out`.
    """
    if isinstance(destination, Operation):
        return destination, "in", numbers["in"]
    assert isinstance(source, Operation)
    return source, "out", numbers["out"]


def incoming(vertex: Vertex, with_data: bool) -> Iterator[tuple[Vertex, dict[str, int]]]:
    """The edges that end in a node, in the order of the input ports: their sources and the indices of their ports.

    The sources of an operation are data nodes if `with_data`, else operations.
    """
    if isinstance(vertex, SSAValue):
        if isinstance(vertex, OpResult) and is_node(vertex.op):
            yield vertex.op, {"out": vertex.index}
        return
    for index, operand in enumerate(vertex.operands):
        if isinstance(operand, OpResult) and is_value(operand):
            yield (operand, {"in": index}) if with_data else (operand.op, {"in": index, "out": operand.index})


def outgoing(vertex: Vertex, with_data: bool, block: Block) -> Iterator[tuple[Vertex, dict[str, int]]]:
    """The edges that begin in a node: their destinations and the indices of their ports.

    The destinations of an operation are data nodes if `with_data`, else operations of the block.
    """
    if isinstance(vertex, SSAValue):
        for use in vertex.uses:
            if use.operation.parent is block:
                yield use.operation, {"in": use.index}
        return
    for result in vertex.results:
        if with_data:
            yield result, {"out": result.index}
            continue
        for use in result.uses:
            if use.operation.parent is block:
                yield use.operation, {"in": use.index, "out": result.index}
