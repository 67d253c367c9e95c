"""The graph: a view of one block of operations with the methods Model Optimizer's extensions know.

    graph = Graph(model.block, stage="front", framework="onnx")
    for node in graph.get_op_nodes(op="ReLU"):
        ...

There is no second graph: every method reads or edits the block. In the front phase nodes are operations; in the middle and back phases
there is a data node between an operation and those that take its tensor. Editing leaves the block out of order and with sentinels in it
where ports are disconnected; `moir.model_optimizer.graph.session.edit` puts it right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.dialects.moir import ModelOp
from moir.dialects.names import tensor_names_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.errors import ConversionError
from moir.frameworks import FRAMEWORKS
from moir.model_optimizer.graph.attributes import OperationAttributes
from moir.model_optimizer.graph.bodies import body_names, body_of
from moir.model_optimizer.graph.creation import create_operation
from moir.model_optimizer.graph.data import GraphValues
from moir.model_optimizer.graph.edges import EdgeAttributes, Vertex, incoming, outgoing
from moir.model_optimizer.graph.folding import fold_constants
from moir.model_optimizer.graph.identifiers import Identifiers
from moir.model_optimizer.graph.names import op_names
from moir.model_optimizer.graph.networkx_methods import NetworkxMethods
from moir.model_optimizer.graph.node import Node
from moir.model_optimizer.graph.order import erase_operations, live_operations, sort_block
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.graph.sentinels import ABSENT_PORT, DISCONNECTED, SENTINELS, is_node, is_value, new_sentinel, nodes_of

Stage: TypeAlias = Literal["front", "middle", "back"]


class Graph(NetworkxMethods):
    """A view of a block.

    Args:
        block: the block of a model, or of a body.
        stage: the phase.
        framework: the framework the model is from; by default that of the first operation that is one of a framework, else `onnx`.
        settings: further entries of `graph.graph`, e.g. `cmd_params`, `layout`.
    """

    def __init__(
        self, block: Block, stage: Stage = "front", framework: str | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.block = block
        owner = block.parent_op()
        name = owner.sym_name.data if isinstance(owner, ModelOp) else "body"
        self.graph: dict[str, Any] = {
            "fw": framework or _framework_of(block),
            "layout": "NCHW",
            "cmd_params": None,
            "ir_version": 11,
            "name": name,
            "stage": stage,
            **(settings or {}),
        }
        self.known = GraphValues()
        self.changed_operations: set[Operation] = set()
        """Operations whose result types may have changed: they are inferred again when the transformation ends."""
        self.is_modified = False
        """Whether anything was edited."""
        self.orphaned_results: set[Operation] = set()
        """Outputs whose tensor went with the node that made it."""
        self.operand_counts: dict[Operation, int] = {}
        """Numbers of operands before there were more."""
        self.data_entries: dict[SSAValue, dict[str, Any]] = {}
        self._identifiers: Identifiers | None = None
        self._by_op: dict[str, list[Operation]] | None = None
        self._order: dict[Operation, int] | None = None
        self._sentinels: dict[type[Operation], SSAValue] = {}
        self._views: dict[Block, Graph] = {}

    @property
    def stage(self) -> Stage:
        """The phase."""
        return self.graph["stage"]

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self.graph["stage"] = stage

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.graph["name"]

    @property
    def has_data_nodes(self) -> bool:
        """Whether there are data nodes: in all phases but the front one."""
        return self.stage != "front"

    def view(self, block: Block) -> Graph:
        """The graph of a body in this graph, the same object each time."""
        if block not in self._views:
            settings = {key: value for key, value in self.graph.items() if key not in ("fw", "name", "stage")}
            self._views[block] = Graph(block, self.stage, self.graph["fw"], settings)
        return self._views[block]

    def body_graphs(self) -> list[Graph]:
        """The graphs of all bodies of operations of this graph."""
        return [self.view(body_of(op, name)) for op in nodes_of(self.block) if op.regions for name in body_names(op)]

    def viewed_bodies(self) -> Iterable[Graph]:
        """Those of them that somebody has asked for."""
        return self._views.values()

    # Nodes.

    @property
    def identifiers(self) -> Identifiers:
        """The ids of the nodes."""
        if self._identifiers is None:
            self._identifiers = Identifiers(self.block)
        return self._identifiers

    def id_of(self, subject: Vertex) -> str:
        """The id of the node of an operation or a tensor."""
        return self.identifiers.of(subject)

    def subject(self, id_: object) -> Vertex:
        """The operation or tensor of an id. Raises ConversionError if there is none."""
        return self.identifiers.require(id_)

    def node_of(self, subject: Vertex) -> Node:
        """The node of an operation or a tensor."""
        return Node.of(self, subject)

    def data_node(self, value: SSAValue) -> Node:
        """The data node of a tensor."""
        return Node.of(self, value)

    def out_port_of(self, value: SSAValue) -> Port:
        """The output port that gives a tensor."""
        assert isinstance(value, OpResult)
        return Port(Node.of(self, value.op), value.index, "out")

    def outgoing(self, subject: Vertex) -> Iterator[tuple[Vertex, EdgeAttributes]]:
        """The edges that begin in a node, those to one consumer in the order of its ports, consumers in the order of the block."""
        edges = list(outgoing(subject, self.has_data_nodes, self.block))
        if len(edges) > 1 and not isinstance(edges[0][0], SSAValue):
            order = self.order_of({vertex for vertex, _ in edges})  # pyright: ignore[reportUnhashable]
            edges.sort(key=lambda edge: (edge[1].get("out", 0), order[edge[0]], edge[1]["in"]))
        return iter([edge for edge in edges if isinstance(edge[0], SSAValue) or is_node(edge[0])])

    def incoming(self, subject: Vertex) -> Iterator[tuple[Vertex, EdgeAttributes]]:
        """The edges that end in a node."""
        return incoming(subject, self.has_data_nodes)

    def order_of(self, operations: Iterable[Vertex]) -> Mapping[Vertex, int]:
        """Positions of operations in the block, to compare them."""
        if self._order is None or any(op not in self._order for op in operations):
            self._order = {op: index for index, op in enumerate(self.block.ops)}
        return self._order  # pyright: ignore[reportReturnType]

    def get_op_nodes(self, **attrs: Any) -> list[Node]:
        """The operation nodes with these values of attributes (none given: all), in the order of the block."""
        wanted = dict(attrs)
        op_name = wanted.pop("op", None)
        if isinstance(op_name, str):
            operations: Iterable[Operation] = self.operations_named(op_name)
        else:
            operations = list(nodes_of(self.block))
            if op_name is not None:
                wanted["op"] = op_name
        if wanted.get("kind") == "op":
            del wanted["kind"]
        nodes = [Node.of(self, op) for op in operations]
        return [node for node in nodes if _has_values(node, wanted)] if wanted else nodes

    def operations_named(self, op_name: str) -> list[Operation]:
        """The operations that answer to a name of Model Optimizer's, in the order of the block."""
        if self._by_op is None:
            self._by_op = {}
            for op in nodes_of(self.block):
                for name in op_names(op, OperationAttributes(self, op).entries):
                    self._by_op.setdefault(name, []).append(op)
        return [op for op in self._by_op.get(op_name, ()) if op.parent is self.block]

    def get_data_nodes(self, has_value: bool | None = None) -> list[Node]:
        """The data nodes; only those whose value is known, or is not known. None in the front phase."""
        if not self.has_data_nodes:
            return []
        nodes = [Node.of(self, result) for op in nodes_of(self.block) for result in op.results]
        return nodes if has_value is None else [node for node in nodes if node.has_valid("value") == has_value]

    def get_nodes_with_attributes(self, **attrs: Any) -> list[str]:
        """The ids of the nodes, data nodes among them, that have all of these attributes with these values."""
        if attrs.get("kind") == "data":
            nodes = self.get_data_nodes()
        else:
            nodes = self.get_op_nodes(**attrs)
            if "kind" not in attrs and "op" not in attrs:
                nodes = [*nodes, *self.get_data_nodes()]
        return [node.id for node in nodes if _has_values(node, {key: value for key, value in attrs.items() if key not in ("op", "kind")})]

    def get_node_id_by_name(self, name: str) -> str:
        """The id of the node of a name. Raises ConversionError if there is none, or there are several."""
        found = self.identifiers.by_name(name)
        if len(found) > 1:
            # An output is called as the node whose tensor it is.
            found = [op for op in found if not isinstance(op, Result)] or found
        if len(found) != 1:
            raise ConversionError(f"{'no' if not found else len(found)} node{'s have' if found else ' has'} the name {name!r}")
        return self.id_of(found[0])

    def unique_id(self, prefix: str = "") -> str:
        """An id no node has: the prefix, with a number behind it if need be."""
        return self.identifiers.unique(prefix)

    def has_tensor_name(self, tensor_name: str) -> bool:
        """Whether a tensor has this name."""
        return any(
            tensor_name in names.split(",")
            for op in nodes_of(self.block)
            if "tensor_names" in op.attributes
            for names in tensor_names_of(op)
        )

    @property
    def inputs_order(self) -> list[str]:
        """The names of the inputs, in order."""
        return [Node.of(self, op).name for op in self.block.ops if isinstance(op, Parameter)]

    @property
    def outputs_order(self) -> list[str]:
        """The names of the outputs, in order."""
        return [Node.of(self, op).name for op in self.block.ops if isinstance(op, Result)]

    # Edits, which everything else uses.

    def create(self, attrs: Mapping[str, Any], id_: str | None = None) -> Node:
        """A node with these attributes, without connections, at the end of the block. See `create_operation`."""
        op = create_operation(self, attrs)
        self.identifiers.add(op, id_)
        if self._by_op is not None:
            for name in op_names(op, OperationAttributes(self, op).entries):
                self._by_op.setdefault(name, []).append(op)
        self.touch(op)
        return Node.of(self, op)

    def copy_of(self, op: Operation, new_attrs: Mapping[str, Any]) -> Node:
        """A copy of an operation without connections."""
        copy = op.clone()
        copy.operands = [self.sentinel(DISCONNECTED) for _ in op.operands]
        self.block.add_op(copy)
        self.touch(copy)
        self.forget_operations()
        self.identifiers.add(copy)
        node = Node.of(self, copy)
        for key, value in new_attrs.items():
            node[key] = value
        return node

    def sentinel(self, kind: type[Operation]) -> SSAValue:
        """The value that stands for a port without a tensor."""
        value = self._sentinels.get(kind)
        if value is None or value.owner.parent is not self.block:  # pyright: ignore[reportAttributeAccessIssue]
            value = self._sentinels[kind] = new_sentinel(self.block, kind)
        return value

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Make a value an operand; operands in front of it that do not exist are disconnected ports, or numbers without one."""
        self.touch(op)
        if index < len(op.operands):
            op.operands[index] = value
            return
        self.operand_counts.setdefault(op, len(op.operands))
        filler = ABSENT_PORT if op.name.startswith("mo.") else DISCONNECTED
        missing = index - len(op.operands)
        op.operands = [*op.operands, *([self.sentinel(filler)] * missing if missing else ()), value]

    def disconnect_operand(self, op: Operation, index: int) -> None:
        """Disconnect an input port."""
        self.set_operand(op, index, self.sentinel(DISCONNECTED))

    def trim(self, op: Operation, kinds: tuple[type[Operation], ...] = SENTINELS) -> None:
        """Drop the operands at the end that are sentinels of these kinds."""
        count = len(op.operands)
        while count and isinstance(op.operands[count - 1].owner, kinds):
            count -= 1
        if count < len(op.operands):
            op.operands = list(op.operands[:count])

    def remove_operations(self, operations: Iterable[Operation]) -> None:
        """Remove operations; what took their tensors is disconnected."""
        doomed = list(dict.fromkeys(operations))
        members = set(doomed)
        for op in doomed:
            for result in op.results:
                for use in [use for use in result.uses if use.operation not in members]:
                    if is_node(use.operation):
                        self.disconnect_operand(use.operation, use.index)
                        if isinstance(use.operation, Result):
                            self.orphaned_results.add(use.operation)
                self.data_entries.pop(result, None)
            self.changed_operations.discard(op)
        erase_operations(doomed)
        self._changed()

    def touch(self, op: Operation) -> None:
        """Note that an operation is to be inferred again."""
        self.changed_operations.add(op)
        self._changed()

    def touch_consumers(self, value: SSAValue) -> None:
        """Note that the operations that take a tensor are to be inferred again."""
        for use in value.uses:
            if is_node(use.operation):
                self.touch(use.operation)
        self._changed()

    def _changed(self) -> None:
        self.is_modified = True
        self.known.forget()

    def forget_values(self) -> None:
        """Forget computed values."""
        self.known.forget()

    def forget_names(self) -> None:
        """Note that a name changed."""
        self.is_modified = True

    def forget_operations(self) -> None:
        """Note that an operation answers to another name now."""
        self._by_op = None
        self._changed()

    # Clean-up and order.

    def clean_up(self, undead_node_types: Iterable[str] | None = None) -> None:
        """Remove the operations that no output depends on, in this graph and in the bodies in it.

        In the middle and back phases operations on constants are replaced by constants first; what is computed from ShapeOf stays.

        Args:
            undead_node_types: types of nodes that stay nevertheless, with what they depend on.
        """
        types = set(undead_node_types or ())
        if self.has_data_nodes and fold_constants(self.block, types):
            self.changed_operations = {op for op in self.changed_operations if op.parent is not None}
            for op in nodes_of(self.block):
                self.identifiers.of(op)
            self.forget_operations()
        kept = [op for op in nodes_of(self.block) if types and Node.of(self, op).soft_get("type") in types]
        live = live_operations(self.block, kept)
        sentinels = {value.owner for value in self._sentinels.values()}
        dead = [op for op in self.block.ops if op not in live and op not in sentinels]
        if dead:
            self.remove_operations(dead)
        for body in self.body_graphs():
            body.clean_up(undead_node_types)

    def sort(self) -> None:
        """Put the block in topological order. Raises ConversionError for a cycle, with the names of its nodes."""
        sort_block(self.block)
        self._order = None

    def erase_node(self, node: Node) -> None:
        """Remove a node with one connected input and one output; its consumers take its input instead."""
        op = node.operation
        inputs = [operand for operand in op.operands if is_value(operand)]
        if len(inputs) != 1 or len(op.results) > 1:
            raise ConversionError(
                f"a node with {len(inputs)} inputs and {len(op.results)} outputs cannot be erased", operation=node.kind_name, node=node.name
            )
        for result in op.results:
            connection = self.out_port_of(result).get_connection()
            source = self.out_port_of(inputs[0])
            if connection is not None and connection.get_destinations():
                connection.set_source(source)
        self.remove_operations([op])


def _framework_of(block: Block) -> str:
    for op in block.ops:
        dialect = op.name.partition(".")[0]
        if dialect in FRAMEWORKS:
            return dialect
    return "onnx"


def _has_values(node: Node, attrs: Mapping[str, Any]) -> bool:
    from moir.model_optimizer.graph.matching import value_matches

    return all(node.has(key) and value_matches(node, key, value) for key, value in attrs.items())
