"""The base classes of transformations that an entry of a JSON configuration file enables.

    class ReplaceRegion(FrontReplacementFromConfigFileSubGraph):
        replacement_id = "RegionReplacer"

        def generate_sub_graph(self, graph, match):
            ...
            return {"region": node}

        def input_edges_match(self, graph, match, new_sub_graph):
            return {match.single_input_node(0): (new_sub_graph["region"].id, 0)}

`replacement_id` is the `id` of the entry; without an entry of this id such a transformation does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute

from moir.model_optimizer.api.configuration.json_configuration import (
    CUSTOM_REPLACEMENTS,
    CustomReplacementDescriptor,
    Descriptions,
    by_id,
    descriptions_of,
    load_configuration,
)
from moir.model_optimizer.api.transformations.endpoints import unneeded
from moir.model_optimizer.api.transformations.instances import find_instances
from moir.model_optimizer.api.transformations.original_types import infer_as, original_types
from moir.model_optimizer.api.transformations.replacement import BASE_CLASSES, FrontReplacementPattern, FrontReplacementSubgraph
from moir.model_optimizer.api.transformations.subgraph_match import NumberedPort, SubgraphMatch
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op


def configured_descriptions(graph: Graph) -> Descriptions:
    """The descriptions of a conversion, read from the file in `cmd_params` unless the graph has them already."""
    path = getattr(graph.graph.get("cmd_params"), "transformations_config", None)
    if CUSTOM_REPLACEMENTS not in graph.graph and path:
        graph.graph[CUSTOM_REPLACEMENTS] = by_id(load_configuration(path))
    return descriptions_of(graph)


class FrontReplacementFromConfigFileSubGraph(FrontReplacementSubgraph):
    """Replaces each sub-graph that the entries of an id describe by scopes or points.

    Define `replace_sub_graph`, or `generate_sub_graph`, `input_edges_match` and `output_edges_match`. The match is a
    `SubgraphMatch`.
    """

    def find_and_replace_pattern(self, graph: Graph) -> None:
        descriptors = configured_descriptions(graph).get(self.replacement_id, ())
        self.replace_all(graph, [match for descriptor in descriptors for match in self.find_sub_graphs(graph, descriptor)])

    def find_sub_graphs(self, graph: Graph, descriptor: CustomReplacementDescriptor) -> list[SubgraphMatch]:
        """The sub-graphs an entry describes. Raises ConversionError if there are none."""
        if descriptor.match_kind == "general":
            reason = f"{type(self).__name__} replaces sub-graphs, and the match_kind is 'general'"
            raise descriptor.fail(reason, "match_kind", hint="it is 'scope' or 'points'")
        return find_instances(graph, descriptor)

    def replace_all(self, graph: Graph, matches: Sequence[SubgraphMatch]) -> None:
        """Replace the sub-graphs of all entries.

        Raises ConversionError if an earlier replacement has removed one of them.
        """
        for match in matches:
            gone = next((node for node in match.nodes if not graph.is_present(node.subject)), None)
            if gone is not None:
                raise match.custom_replacement_desc.fail(f"the node {gone.id!r} of a sub-graph was removed with a sub-graph before it")
            self.replace_sub_graph(graph, match)

    def nodes_to_remove(self, graph: Graph, match: SubgraphMatch) -> list[str]:
        """The ids of the old nodes to remove: by default those of the sub-graph that no other node depends on.

        The outputs of the model are not among these nodes: outputs without users are removed with their producers.
        """
        return [node.id for node in unneeded(graph, match.nodes, with_outputs=True)]

    @classmethod
    def missing_member(cls) -> str | None:
        base = FrontReplacementFromConfigFileSubGraph
        if cls.find_and_replace_pattern is not base.find_and_replace_pattern:
            return None
        if cls.replacement_id == base.replacement_id:
            return "replacement_id"
        defined = cls.replace_sub_graph is not base.replace_sub_graph or cls.generate_sub_graph is not base.generate_sub_graph
        return None if defined else "replace_sub_graph"


class FrontReplacementFromConfigFileOp(FrontReplacementFromConfigFileSubGraph):
    """Replaces each sub-graph by one operation, of the class whose `op` the entry names.

    Input i of the operation takes the tensor at input i of the sub-graph; output i replaces output i. The custom
    attributes become attributes of the node and are written to the IR besides those of the class. If the class has no
    `infer`, the results get the shapes and element types of the outputs of the sub-graph.
    """

    def __init__(self) -> None:
        self._types: dict[NumberedPort, Attribute] = {}

    def replace_all(self, graph: Graph, matches: Sequence[SubgraphMatch]) -> None:
        inferred = [match for match in matches if not self._has_infer(graph, match.custom_replacement_desc)]
        self._types = original_types(graph, [port for match in inferred for port in match.output_ports()])
        super().replace_all(graph, matches)

    def _has_infer(self, graph: Graph, descriptor: CustomReplacementDescriptor) -> bool:
        return self._operation(graph, descriptor).attrs.get("infer") is not None

    def _operation(self, graph: Graph, descriptor: CustomReplacementDescriptor) -> Op:
        if descriptor.op is None:
            raise descriptor.fail("the entry has no key 'op'")
        if descriptor.op not in Op.registered_ops:
            raise descriptor.fail(
                f"there is no Op class for {descriptor.op!r}", "op", hint="check that the file which defines it is in ops/ of the extension"
            )
        operation = _with_custom_attributes(Op.get_op_class_by_name(descriptor.op), descriptor.custom_attributes)
        return operation(graph, dict(descriptor.custom_attributes))

    def generate_sub_graph(self, graph: Graph, match: SubgraphMatch) -> dict[str, GraphNode]:
        descriptor = match.custom_replacement_desc
        op = self._operation(graph, descriptor)
        counts = {"in_ports_count": match.inputs_count(), "out_ports_count": match.outputs_count()}
        attrs: dict[str, Any] = {"name": graph.unique_id(f"{descriptor.op}_"), **counts}
        if op.attrs.get("infer") is None:
            attrs |= infer_as([self._types[port] for port in match.output_ports()])
        return {"op": op.add_node(attrs)}

    def input_edges_match(self, graph: Graph, match: SubgraphMatch, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        new = new_sub_graph["op"].id
        return {match.input_nodes(index)[0]: (new, index) for index in range(match.inputs_count())}

    def output_edges_match(self, graph: Graph, match: SubgraphMatch, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        new = new_sub_graph["op"].id
        return {port: (new, index) for index, port in enumerate(match.output_ports())}

    @classmethod
    def missing_member(cls) -> str | None:
        is_named = cls.replacement_id != FrontReplacementSubgraph.replacement_id
        return None if is_named else "replacement_id"


def _with_custom_attributes(operation: type[Op], attributes: Mapping[str, Any]) -> type[Op]:
    """An Op class that writes the custom attributes of an entry as well."""

    def backend_attrs(self: Op) -> list[Any]:
        own = list(operation.backend_attrs(self))
        written = {record if isinstance(record, str) else record[0] for record in own}
        return [*own, *(name for name in attributes if name not in written)]

    # No subclass is to be registered in place of the class itself.
    return type(operation.__name__, (operation,), {"backend_attrs": backend_attrs, "__module__": operation.__module__})


class FrontReplacementFromConfigFileGeneral(FrontReplacementPattern):
    """A transformation of the whole graph, called for each entry with its id and the match_kind `general`.

    Define `transform_graph`.
    """

    replacement_id: str = FrontReplacementSubgraph.replacement_id

    def find_and_replace_pattern(self, graph: Graph) -> None:
        for descriptor in configured_descriptions(graph).get(self.replacement_id, ()):
            if descriptor.match_kind != "general":
                raise descriptor.fail(
                    f"{type(self).__name__} changes the whole graph, and the match_kind is {descriptor.match_kind!r}",
                    "match_kind",
                    hint="it is 'general'",
                )
            self.transform_graph(graph, dict(descriptor.custom_attributes))

    def transform_graph(self, graph: Graph, replacement_descriptions: dict[str, Any]) -> None:
        """Change the graph; `replacement_descriptions` are the custom attributes of an entry."""
        raise self._incomplete("transform_graph")

    @classmethod
    def missing_member(cls) -> str | None:
        base = FrontReplacementFromConfigFileGeneral
        if cls.find_and_replace_pattern is not base.find_and_replace_pattern:
            return None
        if cls.replacement_id == base.replacement_id:
            return "replacement_id"
        return "transform_graph" if cls.transform_graph is base.transform_graph else None


BASE_CLASSES.update((FrontReplacementFromConfigFileSubGraph, FrontReplacementFromConfigFileOp, FrontReplacementFromConfigFileGeneral))
