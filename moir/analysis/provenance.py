"""Where operations come from: the nodes of the framework that an operation computes.

    sources(op)  ->  (Source("conv1", "onnx.Conv"), Source("bn1", "onnx.BatchNormalization"))

Passes carry the nodes in the locations of operations (`moir.dialects.locations`): operations that a rewrite builds
have those of all operations that it replaces. An operation without location was added outside of rewrites: it has the
nodes of its users; if they have none, those of its operands; else those of the operation whose body it is in. An
operation that no pass has touched is its own source, if it has a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    UnknownLoc,
)
from xdsl.ir import Block, Operation, OpResult

from moir.dialects.locations import located, merged, separate
from moir.dialects.moir import all_blocks
from moir.dialects.names import name_of
from moir.support.records import Record

SOURCES_SHOWN = 3
"""Maximum number of nodes that an error message names."""


class Source(Record):
    """A node of the framework.

    Args:
        node: its name; if only the position of an operation in a text is known, file, line and column.
        operation: its type, the name of its operation in the module that was read: `onnx.Conv`, `tf.MatMul`;
            `opset1.Parameter` for inputs and `opset1.Constant` for weights; empty if only a position in a text is
            known.
    """

    node: str
    operation: str

    def __str__(self) -> str:
        return f"{self.operation} {self.node!r}" if self.operation else self.node


def sources(op: Operation) -> tuple[Source, ...]:
    """The nodes of the framework from which an operation comes; empty if nothing around it can be traced.

    For many operations of a module without locations, `all_sources` takes less time.
    """
    nodes = _sources(located(op))
    if nodes or op.parent is None:
        return nodes
    return all_sources(_root(op)).get(op, ())


def all_sources(module: ModuleOp | Operation) -> dict[Operation, tuple[Source, ...]]:
    """The nodes of the framework for each operation in the models of a module, bodies included."""
    return {op: _sources(location) for op, location in traced_locations(module).items()}


def traced_locations(module: ModuleOp | Operation) -> dict[Operation, LocationAttr]:
    """The location of each operation in the models of a module; an operation without one gets that of its
    users, its operands or the operation around it.
    """
    locations: dict[Operation, LocationAttr] = {}
    for block in all_blocks(module):
        _trace(block, locations)
    return {op: merged(_nodes(location)) for op, location in locations.items()}


def _trace(block: Block, locations: dict[Operation, LocationAttr]) -> None:
    """Compute the locations of the operations of a block, given that of the operation around it, and store them in
    `locations`.
    """
    operations = list(block.ops)
    locations.update((op, located(op)) for op in operations)
    missing = [op for op in operations if isinstance(locations[op], UnknownLoc)]
    if not missing:
        return
    for op in reversed(missing):
        users = [use.operation for result in op.results for use in result.uses]
        locations[op] = _together(locations.get(each, UNKNOWN_LOC) for each in users)
    around = block.parent_op()
    for op in missing:
        if isinstance(locations[op], UnknownLoc):
            operands = [operand.op for operand in op.operands if isinstance(operand, OpResult)]
            locations[op] = _together(locations.get(each, UNKNOWN_LOC) for each in operands)
        if isinstance(locations[op], UnknownLoc) and around is not None:
            locations[op] = locations.get(around, UNKNOWN_LOC)


def _together(locations: Iterable[LocationAttr]) -> LocationAttr:
    known = [each for each in locations if not isinstance(each, UnknownLoc)]
    return merged(known) if known else UNKNOWN_LOC


def _root(op: Operation) -> Operation:
    while (around := op.parent_op()) is not None:
        op = around
    return op


def _sources(location: LocationAttr) -> tuple[Source, ...]:
    return tuple(map(_source, _nodes(location)))


def _nodes(location: LocationAttr) -> tuple[LocationAttr, ...]:
    """The locations of single nodes within a location, which may be nested, without duplicates."""
    if not isinstance(location, FusedLoc):
        return separate(location)
    return tuple(dict.fromkeys(node for part in separate(location) for node in _nodes(part)))


def _source(location: LocationAttr) -> Source:
    """The node that a location of one node denotes; for a position in a text, file, line and column."""
    match location:
        case NameLoc():
            inner = location.location
            return Source(location.desc.data, inner.desc.data if isinstance(inner, NameLoc) else "")
        case FileLineColLoc():
            return Source(f"{location.filename.data}:{location.line.data}:{location.column.data}", "")
        case CallSiteLoc():
            return Source(str(location).removeprefix("loc"), "")
        case _:
            return Source(str(location), "")


def described(nodes: Sequence[Source]) -> str:
    """Nodes for a message: `onnx.Conv 'conv1', onnx.Relu 'relu1'`, at most three of them by name."""
    more = f", … {len(nodes)} in all" if len(nodes) > SOURCES_SHOWN else ""
    return ", ".join(map(str, nodes[:SOURCES_SHOWN])) + more


def origin(op: Operation) -> str | None:
    """The nodes in the location of an operation, as text for a message; None if the location has no node but the
    operation itself.
    """
    nodes = _sources(located(op))
    return None if nodes in ((), (Source(name_of(op) or "", op.name),)) else described(nodes)
