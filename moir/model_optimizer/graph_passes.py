"""Passes that run transformations and extractors written for Model Optimizer's API.

After each transformation `graph.session` puts the block in order; in the middle and back phases it lowers or infers
new operations. A transformation that is not `run_not_recursively` also runs on the bodies of loops and conditionals.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import ModelOp, ModuleLevel, models_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from moir.extensions.transformation import PhasePass
from moir.frameworks import FRAMEWORKS
from moir.lowering.driver import opset_versions
from moir.lowering.table import LoweringTable
from moir.model_optimizer.api.extraction.caffe_layers import connect_embedded_inputs
from moir.model_optimizer.api.extraction.front_extractor import FrontExtractorOp
from moir.model_optimizer.api.transformations.no_match import report_effect, report_unfound
from moir.model_optimizer.api.transformations.replacement import ReplacementPattern
from moir.model_optimizer.block.making_places import place_of_function
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import Stage
from moir.model_optimizer.frameworks.lookup import view_of_operation
from moir.model_optimizer.graph.framework_forms import restore_framework_forms
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.input_orders import order_inputs
from moir.model_optimizer.graph.made_constants import match_constants
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.output_counts import complete_outputs
from moir.model_optimizer.graph.session import check_connected, edit
from moir.model_optimizer.graph_entries import keep_entries, lasting_entries
from moir.model_optimizer.lowering.lower_mo import lower_node
from moir.model_optimizer.lowering.presentation import note_convolutions


def framework_of(model: ModelOp, parameters: Namespace) -> str | None:
    """The framework that extensions were loaded for, else the one recorded in a model; None if neither is known."""
    if parameters.framework:
        return parameters.framework
    recorded = model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS)
    known = recorded.data.get("framework") if isinstance(recorded, DictionaryAttr) else None
    return None if known is None else str(value_of(known))


def graph_of(model: ModelOp, phase: str, parameters: Namespace) -> Graph:
    """The graph of a model in a phase; `parameters` are the value of `graph.graph["cmd_params"]`."""
    framework = framework_of(model, parameters)
    if parameters.extensions:
        model.attributes.setdefault(ModuleLevel.LAYERS_KEEP_NAMES, UnitAttr())
    if framework is not None and FRAMEWORKS[framework].channel_last:
        note_convolutions(model)
    if framework is not None and phase == "front":
        complete_outputs(model.block, framework)
    return Graph(model.block, cast(Stage, phase), framework, {**lasting_entries(model, parameters), "cmd_params": parameters})


def with_bodies(graph: Graph) -> Iterator[Graph]:
    """Yields a graph, then the graphs of its bodies, which are looked up one by one because transformations may change
    them.
    """
    yield graph
    for body in graph.body_graphs():
        yield from with_bodies(body)


@dataclass(frozen=True)
class GraphPass(PhasePass):
    """Runs a transformation written for Model Optimizer's API as a pass."""

    name = "graph-transformation"

    source: type[ReplacementPattern]
    parameters: Namespace
    phase: str | None = None
    """The phase it runs in, by default that of the class."""

    def in_phase(self, phase: str) -> ModulePass:
        return replace(self, phase=phase)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            graph = graph_of(model, self.phase or self.source.phase, self.parameters)
            transformation = self.source()
            with edit(graph, lower=lower_node, by=self.source.__name__ if graph.stage == "front" else None):
                graphs = list[Graph]()
                for each in [graph] if transformation.run_not_recursively else with_bodies(graph):
                    graphs.append(each)
                    transformation.find_and_replace_pattern(each)
                report_unfound(graphs, self.source.__name__, getattr(self.source, "op", None))
                report_effect(graphs, self.source.__name__)
            keep_entries(model, graph.graph)


@dataclass(frozen=True)
class FrontStepPass(ModulePass):
    """A step of moir itself before, or after, all transformations of the front phase."""

    parameters: Namespace

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            graph = graph_of(model, "front", self.parameters)
            with edit(graph):
                for each in with_bodies(graph):
                    self.step(each)

    def step(self, graph: Graph) -> None:
        """Edit the graph of a model, or of a body."""
        raise NotImplementedError


class OrderInputsPass(FrontStepPass):
    """Gives nodes the inputs in the order that they had in Model Optimizer, see `graph.input_orders`."""

    name = "order-inputs"

    def step(self, graph: Graph) -> None:
        order_inputs(graph)


class MatchConstantsPass(FrontStepPass):
    """Gives constants that extensions made the element types of the other operands, see `graph.made_constants`."""

    name = "match-constants"

    def step(self, graph: Graph) -> None:
        match_constants(graph)


class RestoreFrameworkFormsPass(FrontStepPass):
    """Turns nodes that no transformation has changed into operations of the framework again, see
    `graph.framework_forms`.

    As the last step of the front phase it reports nodes that transformations left incomplete.
    """

    name = "restore-framework-forms"

    def step(self, graph: Graph) -> None:
        check_connected(graph)
        restore_framework_forms(graph)


@dataclass(frozen=True)
class ExtractionPass(ModulePass):
    """Lets extractors read the attributes of nodes, before all transformations.

    A kind without lowering and extractor becomes the operation of the `Op` class with its name, if an extension has
    one; so does any kind whose class declares an operation of the extension.
    """

    name = "extract"

    extractors: Mapping[str, type[FrontExtractorOp]]
    operations: Mapping[str, type[Op]]
    tables: tuple[LoweringTable, ...]
    parameters: Namespace

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for model in models_of(op):
            versions = opset_versions(model)
            graph = graph_of(model, "front", self.parameters)
            with edit(graph):
                for each in with_bodies(graph):
                    for operation in list(nodes_of(each.block)):
                        if isinstance(operation, FrameworkOp) and operation.name.partition(".")[0] in FRAMEWORKS:
                            self._extract(GraphNode.of(each, operation), operation, versions)
                        elif isinstance(operation, Constant):
                            self._run(self.extractors.get(FRAMEWORKS[str(each.graph["fw"])].constant_kind), GraphNode.of(each, operation))

    def _extract(self, node: GraphNode, op: FrameworkOp, versions: Mapping[str, int]) -> None:
        domain, _, kind = op.KIND.rpartition(".")
        custom_kind = view_of_operation(op).custom_kind
        names = ((custom_kind(op) if custom_kind is not None else None) or op.KIND, kind)
        extractor = next(
            (extractor_of_kind for name in names if (extractor_of_kind := self.extractors.get(name.lower())) is not None), None
        )
        if self._run(extractor, node):
            return
        operation = self.operations.get(kind)
        if operation is None:
            return
        described = operation(node.graph, {})
        if described.is_extension_of(kind) or not self._is_lowered(op, versions.get(domain, 1)):
            described.update_node(node)

    @staticmethod
    def _run(extractor: type[FrontExtractorOp] | None, node: GraphNode) -> bool:
        if extractor is None or not extractor.enabled:
            return False
        if not extractor.extracted(node):
            raise ConversionError(
                f"its extractor {extractor.__name__} says it is not supported",
                operation=node.kind_name,
                node=node.name,
                location=place_of_function(extractor.extract),
                hint="extract returns True for a node that is",
            )
        connect_embedded_inputs(node)
        return True

    def _is_lowered(self, op: Operation, version: int) -> bool:
        framework, _, _ = op.name.partition(".")
        kind = cast(FrameworkOp, op).KIND
        return any(table.framework == framework and table.handler(kind, version) is not None for table in self.tables)
