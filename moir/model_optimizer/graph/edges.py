"""Edges of the graph: between operations in the front phase, between operations and data nodes afterwards.

The attribute `out` of an edge is the number of the output port where it begins, `in` that of the input port where it
ends. An edge between an operation and a data node has only one of them, that of the operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.model_optimizer.graph.sentinels import is_node, is_value

Vertex: TypeAlias = "Operation | SSAValue"
"""The subject of a node: an operation, or a tensor for a data node."""

EdgeAttributes: TypeAlias = dict[str, int]


def incoming(vertex: Vertex, with_data: bool) -> Iterator[tuple[Vertex, EdgeAttributes]]:
    """The edges that end in a node, in the order of the input ports: their sources and attributes."""
    if isinstance(vertex, SSAValue):
        if isinstance(vertex, OpResult) and is_node(vertex.op):
            yield vertex.op, {"out": vertex.index}
        return
    for index, operand in enumerate(vertex.operands):
        if isinstance(operand, OpResult) and is_value(operand):
            yield (operand, {"in": index}) if with_data else (operand.op, {"in": index, "out": operand.index})


def outgoing(vertex: Vertex, with_data: bool, block: Block) -> Iterator[tuple[Vertex, EdgeAttributes]]:
    """The edges that begin in a node: their destinations and attributes."""
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
