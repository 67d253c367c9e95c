"""Infers result types for an operation without `infer` that replaces a sub-graph: the types of the tensors that it
replaces.

Model Optimizer computed them with TensorFlow. Here the sub-graph is lowered and inferred in a copy of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects.context import MoirContext
from moir.dialects.inference import set_type
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import rank_of
from moir.errors import InferenceError
from moir.frameworks import FRAMEWORKS
from moir.model_optimizer.api.transformations.subgraph_match import NumberedPort
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.pipeline import front, load_pass
from moir.rewriting.dead_code import eliminate_dead

_PREFIX = "moir_original_type_"


def original_types(graph: Graph, ports: Sequence[NumberedPort]) -> dict[NumberedPort, Attribute]:
    """The types of the tensors of output ports, after the operations of the framework are lowered.

    Raises InferenceError for a tensor whose rank is dynamic because operations before it cannot be lowered.
    """
    wanted = list(dict.fromkeys(ports))
    if not wanted:
        return {}
    values = [node.ir_operation.results[number] for node, number in wanted]
    inferred = _lowered_types(graph, values)
    for (node, number), value in zip(wanted, inferred, strict=True):
        if value is None or rank_of(value) is None:
            raise InferenceError(
                f"the shape of output {number} cannot be inferred from the original sub-graph",
                operation=node.kind_name,
                node=node.name,
                hint="give the Op class that replaces it an attribute 'infer'",
            )
    return {port: value.type for port, value in zip(wanted, inferred, strict=True) if value is not None}


def _lowered_types(graph: Graph, values: Sequence[SSAValue]) -> list[SSAValue | None]:
    module = graph.block.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    if module is None or not isinstance(graph.block.parent_op(), ModelOp):
        raise InferenceError("sub-graphs are replaced in models only, not in bodies of operations")
    mapping: dict[SSAValue, SSAValue] = {}
    blocks: dict[Block, Block] = {}
    copy = module.clone(mapping, blocks)
    block = blocks[graph.block]
    for op in list(block.ops):
        if isinstance(op, Result):
            op.detach()
            op.erase()
    for index, value in enumerate(values):
        block.add_op(Result.create(operands=[mapping[value]], attributes={"name": string_attribute(f"{_PREFIX}{index}")}))
    eliminate_dead(block)
    for name in front([FRAMEWORKS[str(graph.graph["fw"])]]):
        if name != "check-lowered":
            load_pass(name)().apply(MoirContext(), copy)
    types = _results(copy.walk())
    return [types.get(f"{_PREFIX}{index}") for index in range(len(values))]


def _results(operations: Iterable[Operation]) -> dict[str, SSAValue]:
    named: dict[str, SSAValue] = {}
    for op in operations:
        if isinstance(op, Result):
            name: Any = op.attributes.get("name")
            named[name.data if name is not None else ""] = op.operands[0]
    return named


def infer_as(types: Sequence[Attribute]) -> dict[str, Callable[[GraphNode], None]]:
    """Functions for the attributes `infer` and `type_infer` of a node, by name, that give its results the given
    types.
    """

    def infer(node: GraphNode) -> None:
        for result, type_ in zip(node.ir_operation.results, types, strict=False):
            set_type(result, type_)

    return {"infer": infer, "type_infer": infer}
