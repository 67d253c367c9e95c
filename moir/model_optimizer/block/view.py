"""The core of a graph: a view of the operations and values of one block, without nodes.

It has the ids of operations, the entries of `graph.graph`, the known values, and the elementary edits from which all
others are composed. It notes what was edited, so that `session.finish` can put the block in order afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir import frameworks
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.dialects.data import Array
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Result
from moir.dialects.python_object import python_entries
from moir.model_optimizer.block.edges import EdgeAttributes, EdgeEnd, Vertex, end_of, incoming, outgoing
from moir.model_optimizer.block.identifiers import Identifiers
from moir.model_optimizer.block.operation_names import body_names, body_of, is_mo_operation, op_names
from moir.model_optimizer.block.sentinels import ABSENT_PORT, DISCONNECTED, SENTINELS, is_node, new_sentinel, nodes_of
from moir.model_optimizer.block.settings import Settings

Stage: TypeAlias = Literal["front", "middle", "back"]

COMPUTED_VALUES = "$values"
"""The Python attribute of a `mo` operation with the values its `infer` computed, by number of the result."""


class GraphValues(KnownValues):
    """The known values of a graph; for an operation of the `mo` dialect, those that its `infer` computed.

    Extensions read values that Model Optimizer computed while it inferred shapes, such as the anchors of detectors.
    """

    maximum_elements = 1 << 20

    def elements(self, value: SSAValue) -> Array | None:
        if isinstance(value, OpResult) and is_mo_operation(value.op):
            return python_entries(value.op).get(COMPUTED_VALUES, {}).get(value.index)
        return super().elements(value)


class BlockView:
    """A view of a block.

    Args:
        block: the block of a model, or of a body; by default an empty one.
        stage: the phase.
        framework: the framework of the model; by default that of the first operation of a framework, else `onnx`.
        settings: further entries of `graph.graph`, e.g. `cmd_params`; `layout` is by default that of the framework; in
            the back phase channels are first.
    """

    def __init__(
        self, block: Block | None = None, stage: Stage = "front", framework: str | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        block = ModelOp.of("model", Block()).block if block is None else block
        self.block = block
        owner = block.parent_op()
        name = owner.sym_name.data if isinstance(owner, ModelOp) else "body"
        framework = framework or _framework_of(block)
        self.graph = Settings(
            {
                "fw": framework,
                "layout": "NHWC" if frameworks.FRAMEWORKS[framework].channel_last and stage != "back" else "NCHW",
                "cmd_params": None,
                "ir_version": 11,
                "is_cyclic": False,
                "name": name,
                "stage": stage,
                **(settings or {}),
            }
        )
        self.known = GraphValues()
        self.changed_operations: set[Operation] = set()
        """Operations whose result types may have changed: they are inferred again when the transformation ends."""
        self.is_modified = False
        """Whether anything was edited."""
        self.orphaned_results: set[Operation] = set()
        """Outputs of the model whose producer was removed."""
        self.operand_counts: dict[Operation, int] = {}
        """The number of operands that operations had before further ones were connected."""
        self.data_entries: dict[SSAValue, dict[str, Any]] = {}
        """The attributes that extensions gave data nodes, by tensor."""
        self.edge_entries: dict[EdgeEnd, dict[str, Any]] = {}
        """The attributes that extensions gave edges."""
        self.detached: dict[SSAValue, list[tuple[Operation, int]]] = {}
        """The consumers of data nodes whose producer was removed, until another producer is connected."""
        self.sought: dict[str, bool] = {}
        """The values of `op` that extensions asked for -> whether a node had the value."""
        self.matches: int | None = None
        """Number of matches of patterns, or of replaced nodes; None if no search took place."""
        self._identifiers: Identifiers | None = None
        self._by_op: dict[str, list[Operation]] | None = None
        self._order: dict[Operation, int] | None = None
        self._sentinels: dict[type[Operation], SSAValue] = {}
        self._bodies: dict[Block, Self] = {}

    @property
    def stage(self) -> Stage:
        """The phase."""
        return self.graph["stage"]

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self.graph["stage"] = stage

    @property
    def is_channel_last(self) -> bool:
        """Whether the layout of the graph is NHWC. Unlike reading the entry `layout`, this is not recorded as a read by
        an extension.
        """
        return self.graph.unnoted("layout") == "NHWC"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.graph["name"]

    def count_matches(self, count: int) -> None:
        """Add to the number of matches of patterns that were found in this graph."""
        self.matches = (self.matches or 0) + count

    @property
    def has_data_nodes(self) -> bool:
        """Whether there are data nodes: in all phases but the front one."""
        return self.stage != "front"

    # Bodies.

    def view(self, block: Block) -> Self:
        """The graph of a body in this graph, the same object each time."""
        if block not in self._bodies:
            settings = {key: value for key, value in self.graph.items() if key not in ("fw", "name", "stage")}
            self._bodies[block] = type(self)(block, self.stage, self.graph["fw"], settings)
        return self._bodies[block]

    def body_graphs(self) -> list[Self]:
        """The graphs of all bodies of operations of this graph."""
        return [self.view(body_of(op, name)) for op in nodes_of(self.block) if op.regions for name in body_names(op)]

    def viewed_bodies(self) -> list[Self]:
        """The graphs of those bodies for which extensions asked so far; no other body can have been edited."""
        return list(self._bodies.values())

    # Identity of operations and tensors, and edges between them.

    @property
    def identifiers(self) -> Identifiers:
        """The ids of operations and tensors."""
        if self._identifiers is None:
            self._identifiers = Identifiers(self.block)
        return self._identifiers

    def id_of(self, subject: Vertex) -> str:
        """The id of an operation or a tensor."""
        return self.identifiers.of(subject)

    def subject(self, id_: object) -> Vertex:
        """The operation or tensor of an id. Raises ConversionError if there is none."""
        return self.identifiers.require(id_)

    def unique_id(self, prefix: str = "") -> str:
        """The prefix if no node has it as its id, else the prefix and a number."""
        return self.identifiers.unique(prefix)

    def is_present(self, subject: Vertex) -> bool:
        """Whether an operation, or the producer of a tensor, is still in the block."""
        op = subject if isinstance(subject, Operation) else subject.owner
        return isinstance(op, Operation) and op.parent is self.block

    def incoming(self, subject: Vertex) -> Iterator[tuple[Vertex, EdgeAttributes]]:
        """The edges that end in a node."""
        return ((source, self._attributed(source, subject, numbers)) for source, numbers in list(incoming(subject, self.has_data_nodes)))

    def _attributed(self, source: Vertex, destination: Vertex, numbers: dict[str, int]) -> EdgeAttributes:
        return EdgeAttributes(numbers, self.edge_entries, end_of(source, destination, numbers))

    def outgoing(self, subject: Vertex) -> Iterator[tuple[Vertex, EdgeAttributes]]:
        """The edges that begin in a node, sorted by output port, consumer and input port."""
        edges = list(outgoing(subject, self.has_data_nodes, self.block))
        if len(edges) > 1 and not isinstance(edges[0][0], SSAValue):
            order = self.order_of({vertex for vertex, _ in edges})  # pyright: ignore[reportUnhashable]
            edges.sort(key=lambda edge: (edge[1].get("out", 0), order[edge[0]], edge[1]["in"]))
        shown = [edge for edge in edges if isinstance(edge[0], SSAValue) or is_node(edge[0])]
        return iter([(vertex, self._attributed(subject, vertex, numbers)) for vertex, numbers in shown])

    def order_of(self, operations: Iterable[Vertex]) -> Mapping[Vertex, int]:
        """Positions of operations in the block, to compare them."""
        if self._order is None or any(op not in self._order for op in operations):
            self._order = {op: index for index, op in enumerate(self.block.ops)}
        return self._order  # pyright: ignore[reportReturnType]

    def operations_named(self, op_name: str) -> list[Operation]:
        """The operations that have a name among their `op_names`, in the order of the block."""
        if self._by_op is None:
            self._by_op = {}
            for op in nodes_of(self.block):
                self._register(op, self._by_op)
        return [op for op in self._by_op.get(op_name, ()) if op.parent is self.block]

    @staticmethod
    def names_of(op: Operation) -> Sequence[str]:
        """The values of `op` by which an operation is found: those of the framework and of Model Optimizer."""
        return op_names(op, python_entries(op))

    def _register(self, op: Operation, by_op: dict[str, list[Operation]]) -> None:
        for name in self.names_of(op):
            by_op.setdefault(name, []).append(op)

    # Edits, which all others are made of.

    def append(self, op: Operation, id_: str | None = None) -> None:
        """Put a new operation at the end of the block; `id_` is the id it gets, if no other node has it."""
        self.block.add_op(op)
        self.identifiers.add(op, id_)
        if self._by_op is not None:
            self._register(op, self._by_op)
        self.touch(op)

    def append_copy(self, op: Operation) -> Operation:
        """Put a copy of an operation, with disconnected inputs, at the end of the block."""
        copy = op.clone()
        copy.operands = [self.sentinel(DISCONNECTED) for _ in op.operands]
        self.append(copy)
        return copy

    def sentinel(self, kind: type[Operation]) -> SSAValue:
        """The sentinel of this kind in the block, made if there is none: the value for a port without a tensor."""
        value = self._sentinels.get(kind)
        if value is None or value.owner.parent is not self.block:  # pyright: ignore[reportAttributeAccessIssue]
            value = self._sentinels[kind] = new_sentinel(self.block, kind)
        return value

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Make a value an operand.

        Missing operands before it become disconnected ports, in the `mo` dialect absent ports.
        """
        self.touch(op)
        if index < len(op.operands):
            op.operands[index] = value
            return
        self.operand_counts.setdefault(op, len(op.operands))
        filler = ABSENT_PORT if is_mo_operation(op) else DISCONNECTED
        missing = index - len(op.operands)
        op.operands = [*op.operands, *([self.sentinel(filler)] * missing if missing else ()), value]

    def disconnect_operand(self, op: Operation, index: int) -> None:
        """Disconnect an input port."""
        self.set_operand(op, index, self.sentinel(DISCONNECTED))

    def trim(self, op: Operation, kinds: tuple[type[Operation], ...] = SENTINELS) -> None:
        """Drop trailing operands that are sentinels of the given kinds."""
        count = len(op.operands)
        while count and isinstance(op.operands[count - 1].owner, kinds):
            count -= 1
        if count < len(op.operands):
            op.operands = list(op.operands[:count])

    def remove_operations(self, operations: Iterable[Operation]) -> None:
        """Remove operations and disconnect the input ports that took their tensors. The operations may form cycles."""
        removed = list(dict.fromkeys(operations))
        members = set(removed)
        for op in removed:
            for result in op.results:
                for use in [use for use in result.uses if use.operation not in members]:
                    if is_node(use.operation):
                        self.disconnect_operand(use.operation, use.index)
                        if isinstance(use.operation, Result):
                            self.orphaned_results.add(use.operation)
                self.data_entries.pop(result, None)
            self.changed_operations.discard(op)
        for op in removed:
            op.operands = []
        for op in removed:
            op.detach()
            op.erase()
        self._changed()

    def sort(self) -> None:
        """Put the block in topological order. Raises ConversionError for a cycle, with the names of its nodes."""
        sort_block(self.block)
        self._order = None

    # Notes of what was edited.

    def touch(self, op: Operation) -> None:
        """Mark an operation to be inferred again."""
        self.changed_operations.add(op)
        self._changed()

    def touch_consumers(self, value: SSAValue) -> None:
        """Mark the consumers of a tensor to be inferred again."""
        for use in value.uses:
            if is_node(use.operation):
                self.touch(use.operation)
        self._changed()

    def _changed(self) -> None:
        self.is_modified = True
        self.known.forget()

    def forget_names(self) -> None:
        """Discard the index of operations by name, since a name has changed."""
        self.is_modified = True

    def forget_operations(self) -> None:
        """Discard the index of operations by `op`, since the `op` of one has changed."""
        self._by_op = None
        self._changed()

    def finished(self) -> None:
        """Discard the records of edits, because the block is in order again."""
        self.operand_counts.clear()
        self.detached.clear()
        self.changed_operations.clear()
        self.is_modified = False


def _framework_of(block: Block) -> str:
    dialects = (op.name.partition(".")[0] for op in block.walk())
    return next((dialect for dialect in dialects if dialect in frameworks.FRAMEWORKS), frameworks.ONNX.dialect)
