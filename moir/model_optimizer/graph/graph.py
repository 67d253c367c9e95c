"""The graph that extensions get: a view of one block of operations with the methods of Model Optimizer's `Graph`.

    graph = Graph(model.block, stage="front", framework="onnx")
    for node in graph.get_op_nodes(op="ReLU"):
        ...

There is no second graph: every method reads or edits the block. In the front phase nodes are operations; in the middle
and back phases there is a data node between an operation and the consumers of its tensor. Edits leave the block
unsorted, with sentinels as operands of disconnected ports; `moir.model_optimizer.graph.session.edit` puts it in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from xdsl.ir import Block, Operation, SSAValue

from moir.dialects.moir import ModelOp
from moir.dialects.names import names_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.errors import ConversionError
from moir.model_optimizer.block.edges import Vertex
from moir.model_optimizer.block.sentinels import is_node, nodes_of
from moir.model_optimizer.graph.clean_up import clean_up
from moir.model_optimizer.graph.editing import erase_node
from moir.model_optimizer.graph.matching import value_matches
from moir.model_optimizer.graph.networkx_graph import NetworkxGraph
from moir.model_optimizer.graph.node import GraphNode, create_node, out_port_of
from moir.model_optimizer.graph.normal_inputs import normalise, restore_slice
from moir.model_optimizer.graph.port import Port


class Graph(NetworkxGraph):
    """The nodes of a block. The arguments are those of `BlockView`."""

    def node_of(self, subject: Vertex) -> GraphNode:
        """The node of an operation or a tensor."""
        return GraphNode.of(self, subject)

    def data_node(self, value: SSAValue) -> GraphNode:
        """The data node of a tensor."""
        return GraphNode.of(self, value)

    def out_port_of(self, value: SSAValue) -> Port[GraphNode]:
        """The output port of the node that computes a tensor."""
        return out_port_of(self, value)

    def operations_named(self, op_name: str) -> list[Operation]:
        """The operations that have a name among their `op_names`, in the order of the block.

        They have the inputs that Model Optimizer gave operations of this name.
        """
        operations = super().operations_named(op_name)
        if self.stage != "front":
            if op_name == "Slice":
                for op in operations:
                    restore_slice(self, op)
            return operations
        # The list is complete before anything changes: each change makes the view forget its names.
        changed = [normalise(self, op, op_name) for op in operations]
        return super().operations_named(op_name) if any(changed) else operations

    def get_op_nodes(self, **attrs: Any) -> list[GraphNode]:
        """The operation nodes with these values of attributes (none given: all), in the order of the block."""
        wanted = dict(attrs)
        op_name = wanted.pop("op", None)
        if isinstance(op_name, str):
            operations: Iterable[Operation] = self.operations_named(op_name)
            self.sought[op_name] = bool(operations) or self.sought.get(op_name, False)
        else:
            operations = list(nodes_of(self.block))
            if op_name is not None:
                wanted["op"] = op_name
        if wanted.get("kind") == "op":
            del wanted["kind"]
        nodes = [GraphNode.of(self, op) for op in operations]
        return [node for node in nodes if _has_values(node, wanted)] if wanted else nodes

    def get_data_nodes(self, has_value: bool | None = None) -> list[GraphNode]:
        """The data nodes; with `has_value` only those whose value is known (True) or unknown (False).

        Empty in the front phase.
        """
        if not self.has_data_nodes:
            return []
        nodes = [GraphNode.of(self, result) for op in nodes_of(self.block) for result in op.results]
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
        """The id of the node with a name. Raises ConversionError if there is none, or there are several."""
        operations = self.identifiers.by_name(name)
        if len(operations) > 1:
            # A Result has the same name as the node that computes its operand.
            operations = [op for op in operations if not isinstance(op, Result)] or operations
        if len(operations) != 1:
            raise ConversionError(
                f"{'no' if not operations else len(operations)} node{'s have' if operations else ' has'} the name {name!r}"
            )
        return self.id_of(operations[0])

    def has_tensor_name(self, tensor_name: str) -> bool:
        """Whether a tensor has this name."""
        operations = (op for op in nodes_of(self.block) if "tensor_names" in op.attributes)
        return any(tensor_name in names_of(result) for op in operations for result in op.results)

    @property
    def inputs_order(self) -> list[str]:
        """The names of the inputs, in order."""
        return [GraphNode.of(self, op).name for op in self.block.ops if isinstance(op, Parameter)]

    @property
    def outputs_order(self) -> list[str]:
        """The names of the outputs, in order."""
        return [GraphNode.of(self, op).name for op in self.block.ops if isinstance(op, Result)]

    def create(self, attrs: Mapping[str, Any], id_: str | None = None) -> GraphNode:
        """The node of a new operation without connections; see `creation.create_operation`."""
        return create_node(self, attrs, id_)

    def copy(self) -> Self:
        """A graph of a copy of the block, whose nodes have the same ids and attributes."""
        values: dict[SSAValue, SSAValue] = {}
        blocks: dict[Block, Block] = {}
        owner = self.block.parent_op()
        if not isinstance(owner, ModelOp):
            raise ConversionError("the graph of a body cannot be copied without the operation it is of")
        owner.clone(values, blocks)
        made = type(self)(blocks[self.block], self.stage, self.graph["fw"], {**self.graph, "name": self.name})
        for op, copy in zip(self.block.ops, made.block.ops, strict=True):
            if is_node(op):
                made.identifiers.rename(copy, self.id_of(op))
            for result, twin in zip(op.results, copy.results, strict=True):
                if is_node(op):
                    made.identifiers.rename(twin, self.id_of(result))
                if result in self.data_entries:
                    made.data_entries[twin] = dict(self.data_entries[result])
        return made

    @staticmethod
    def get_inputs_with_ports(
        match: Mapping[str, GraphNode], pattern_edges: Iterable[Sequence[Any]], input_names_in_pattern: Iterable[str]
    ) -> list[tuple[GraphNode, int]]:
        """For each of the named nodes of a match: the node, and the output port at which an edge of the pattern leaves
        it.

        Args:
            match: the nodes by alias.
            pattern_edges: the edges of the pattern; the first that begins at a node counts.
            input_names_in_pattern: the aliases of the nodes.
        """
        inputs: list[tuple[GraphNode, int]] = []
        edges = [(str(edge[0]), str(edge[1])) for edge in pattern_edges]
        for alias in input_names_in_pattern:
            taker = next(end for start, end in edges if start == alias)
            sources = [port.get_source() for port in match[taker].in_ports().values()]
            inputs.extend((source.node, source.idx) for source in sources if source is not None and source.node == match[alias])
        return inputs

    def erase_node(self, node: GraphNode) -> None:
        """Remove a node with one connected input and one output; its consumers take its input instead."""
        erase_node(node)

    def clean_up(self, undead_node_types: Iterable[str] | None = None) -> None:
        """Fold constants and remove operations that no output depends on; see `clean_up.clean_up`.

        `undead_node_types` are values of `type` of operations that stay.
        """
        clean_up(self, set(undead_node_types or ()))


def _has_values(node: GraphNode, attrs: Mapping[str, Any]) -> bool:
    return all(node.has(key) and value_matches(node, key, value) for key, value in attrs.items())
