"""The results of an inspection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from moir.inspection.tables import Shown, Table, one_line, size_text
from moir.support.records import Record

INPUTS = "inputs, with shapes as --input takes them, before --layout"


class InspectedPort(Record):
    """An input or an output of a model.

    Args:
        name: its name, empty if it has none.
        element: its element type, as `f32`.
        dimensions: its dimensions as texts: a number of elements, a name, or `?` for an unknown one; None if the rank
            is unknown.
        layout: its layout as the model records it, such as `[N,C,H,W]`; None if it records none.
    """

    name: str
    element: str
    dimensions: tuple[str, ...] | None
    layout: str | None

    @property
    def shape(self) -> str:
        """The dimensions as one text: `[?,3,224,224]`, `[...]` for a dynamic rank."""
        return "[...]" if self.dimensions is None else f"[{','.join(self.dimensions)}]"


class OperationKind(Record):
    """The operations of one kind, bodies included.

    Args:
        name: their name, such as `onnx.Conv`.
        count: how many there are.
        convertible: whether moir can convert this kind.
    """

    name: str
    count: int
    convertible: bool


class WeightType(Record):
    """The constants of one element type: how many, of how many elements, of how many bytes together."""

    element: str
    count: int
    elements: int
    bytes: int


class Weight(Record):
    """A constant: the name of its node, its element type, its dimensions in elements, its size in bytes."""

    name: str
    element: str
    shape: tuple[int, ...]
    bytes: int


class Subgraph(Record):
    """A body of an operation.

    Args:
        node: the name of the operation around it.
        operation: the name of that operation's kind.
        role: its name in the operation, such as `then_branch`.
        operations: how many operations it has, those of bodies in it included.
        inputs: how many inputs it has.
        outputs: how many results it has.
    """

    node: str
    operation: str
    role: str
    operations: int
    inputs: int
    outputs: int


class Obstacle(Record):
    """Nodes of one kind that moir cannot convert.

    Args:
        operation: the name of a kind of operation.
        nodes: the names of the nodes.
        reason: why these nodes cannot be converted although others of the kind can; None if nothing lowers the kind.
    """

    operation: str
    nodes: tuple[str, ...]
    reason: str | None


class Neighbour(Record):
    """The other end of an operand or of a use: its node and operation, and the index of its result or operand."""

    node: str
    operation: str
    number: int


class NodeOperand(Record):
    """An operand: its type, the names of its tensor, and what produces it (None for an argument of a block)."""

    type: str
    names: tuple[str, ...]
    producer: Neighbour | None


class NodeResult(Record):
    """A result: its type, the names of its tensor, and what uses it."""

    type: str
    names: tuple[str, ...]
    users: tuple[Neighbour, ...]


class NodeInspection(Shown):
    """One operation with its operands, its users and its origin.

    Args:
        node: the name of the node; empty if it has none.
        operation: its kind, such as `onnx.Conv`.
        convertible: whether moir can convert it.
        attributes: its attributes as texts; for a large value, only its type.
        operands: its operands.
        results: its results.
        sources: the nodes of the framework from which it comes, if it has changed since it was read.
        around: the name of the operation whose body it is in; None if it is in none.
    """

    node: str
    operation: str
    convertible: bool
    attributes: Mapping[str, str]
    operands: tuple[NodeOperand, ...]
    results: tuple[NodeResult, ...]
    sources: tuple[str, ...]
    around: str | None

    def tables(self) -> list[Table]:
        about = [("kind", self.operation), ("body of", self.around or ""), ("comes from", ", ".join(self.sources))]
        if not self.convertible:
            about.append(("", "cannot be converted"))
        tables = [
            Table(self.node or self.operation, ("", ""), tuple(row for row in about if row[1])),
            Table("attributes", ("name", "value"), tuple(self.attributes.items())),
            Table(
                "operands",
                ("", "type", "tensor", "from"),
                tuple(
                    (str(index), each.type, ", ".join(each.names), "" if each.producer is None else _neighbour(each.producer))
                    for index, each in enumerate(self.operands)
                ),
            ),
            Table(
                "results",
                ("", "type", "tensor", "to"),
                tuple(
                    (str(index), each.type, ", ".join(each.names), ", ".join(map(_neighbour, each.users)))
                    for index, each in enumerate(self.results)
                ),
            ),
        ]
        return [each for each in tables if each.rows]


class Inspection(Shown):
    """The contents of a model.

    Args:
        name: the name of the model.
        format: the format that was read: `ONNX`, `OpenVINO IR`, `text of a module`, ….
        inputs: its inputs, in order.
        outputs: its outputs, in order.
        operations: its operations by kind, the most frequent first; no constants, inputs and outputs.
        obstacles: what moir cannot convert; empty if it can lower everything.
        reason: why a conversion fails even before it lowers operations; None if it does not.
        weights: its constants by element type, the largest first.
        largest_weights: the largest constants, at most ten.
        subgraphs: the bodies of its operations.
        metadata: the metadata of the model: versions of operation sets, producer, parameters of a conversion, ….
    """

    name: str
    format: str
    inputs: tuple[InspectedPort, ...]
    outputs: tuple[InspectedPort, ...]
    operations: tuple[OperationKind, ...]
    obstacles: tuple[Obstacle, ...]
    reason: str | None
    weights: tuple[WeightType, ...]
    largest_weights: tuple[Weight, ...]
    subgraphs: tuple[Subgraph, ...]
    metadata: Mapping[str, Any]

    @property
    def is_convertible(self) -> bool:
        """Whether moir can lower every operation."""
        return not self.obstacles and self.reason is None

    @property
    def weight_bytes(self) -> int:
        """The size of all constants in bytes."""
        return sum(each.bytes for each in self.weights)

    def tables(self) -> list[Table]:
        total = sum(each.count for each in self.operations)
        tables = [
            Table("model", ("", ""), (("name", self.name), ("format", self.format), *metadata_rows(self.metadata))),
            *(
                Table(title, ("name", "type", "shape", "layout"), tuple((p.name, p.element, p.shape, p.layout or "") for p in ports))
                for title, ports in ((INPUTS, self.inputs), ("outputs", self.outputs))
            ),
            Table(
                f"operations: {total}",
                ("kind", "count", ""),
                tuple((each.name, str(each.count), "" if each.convertible else "cannot be converted") for each in self.operations),
                frozenset(index for index, each in enumerate(self.operations) if not each.convertible),
            ),
            Table("cannot be converted", ("kind", "nodes", "reason"), tuple(_obstacles(self)), frozenset(range(len(self.obstacles) + 1))),
            Table(
                f"weights: {size_text(self.weight_bytes)}",
                ("type", "count", "elements", "size"),
                tuple((each.element, str(each.count), str(each.elements), size_text(each.bytes)) for each in self.weights),
            ),
            Table(
                "largest weights",
                ("name", "type", "shape", "size"),
                tuple((w.name, w.element, f"[{','.join(map(str, w.shape))}]", size_text(w.bytes)) for w in self.largest_weights),
            ),
            Table(
                "subgraphs",
                ("node", "kind", "body", "operations", "inputs", "outputs"),
                tuple((s.node, s.operation, s.role, str(s.operations), str(s.inputs), str(s.outputs)) for s in self.subgraphs),
            ),
        ]
        return [each for each in tables if each.rows]


def metadata_rows(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The rows (name, text) of a table of a model's metadata; a dictionary gives a row for each of its keys."""
    for name, value in metadata.items():
        if isinstance(value, dict):
            yield from ((f"{name} {key}", _shortened(str(each))) for key, each in cast("dict[str, object]", value).items())
        else:
            yield name, _shortened(str(value))


LONGEST = 200
"""The largest number of characters of a value of metadata in a table."""


def _shortened(text: str) -> str:
    """The beginning of a long text, as one line, followed by the number of its characters; a short text as it is."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} … ({len(text):,} characters, --json prints all)"


def _obstacles(inspection: Inspection) -> Iterator[tuple[str, ...]]:
    if inspection.reason is not None:
        yield "", "", inspection.reason
    for each in inspection.obstacles:
        more = f", … {len(each.nodes)} in all" if len(each.nodes) > 3 else ""
        yield each.operation, ", ".join(each.nodes[:3]) + more, each.reason or "there is no lowering"


def _neighbour(other: Neighbour) -> str:
    return f"{other.operation} {other.node!r}:{other.number}" if other.node else f"{other.operation}:{other.number}"
