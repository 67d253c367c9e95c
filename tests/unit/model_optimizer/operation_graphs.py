"""Graphs with nodes of Model Optimizer's operations, lowered and run on OpenVINO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from moir.dialects.context import MoirContext
from moir.dialects.element_types import from_numpy
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.emit.in_memory import to_openvino
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.session import edit
from moir.model_optimizer.lowering.lower_mo import LowerMoPass, lower_node

Build = Callable[[Graph, list[GraphNode]], "GraphNode | Sequence[GraphNode | tuple[GraphNode, int]]"]


def graph_of(
    inputs: Sequence[np.ndarray], stage: str, framework: str, shapes: Sequence[Sequence[int]] | None = None
) -> tuple[ModuleOp, Graph, list[GraphNode]]:
    """A module with a Parameter for each array, its graph, and the nodes of the Parameters."""
    model = ModelOp.of("model", Block())
    nodes: list[Parameter] = []
    for index, array in enumerate(inputs):
        shape = tuple(shapes[index]) if shapes is not None else array.shape
        parameter = Parameter.create(
            result_types=[tensor(shape, from_numpy(array.dtype))], attributes={"name": string_attribute(f"x{index}")}
        )
        model.block.add_op(parameter)
        nodes.append(parameter)
    graph = Graph(model.block, stage, framework, {"layout": "NHWC" if framework == "tf" else "NCHW"})
    return ModuleOp([model]), graph, [GraphNode.of(graph, parameter) for parameter in nodes]


def lowered(
    build: Build, inputs: Sequence[np.ndarray], stage: str = "front", framework: str = "onnx", shapes: Sequence[Sequence[int]] | None = None
) -> ModuleOp:
    """The module of the nodes that `build` makes of the inputs, after `lower-mo`."""
    module, graph, nodes = graph_of(inputs, stage, framework, shapes)
    with edit(graph, lower=None if stage == "front" else lower_node):
        outputs = build(graph, nodes)
        for number, output in enumerate([outputs] if isinstance(outputs, GraphNode) else outputs):
            node, port = output if isinstance(output, tuple) else (output, 0)
            value = node.ir_operation.results[port]
            graph.block.add_op(Result.create(operands=[value], attributes={"name": string_attribute(f"result{number}")}))
            graph.touch(node.ir_operation)
    if stage == "front":
        LowerMoPass(framework).apply(MoirContext(), module)
    module.verify()
    return module


def run(build: Build, *inputs: np.ndarray, core: Any = None, **options: Any) -> list[np.ndarray]:
    """The results of a model of the nodes that `build` makes."""
    import openvino

    module = lowered(build, inputs, **options)
    core = core or openvino.Core()
    compiled = core.compile_model(to_openvino(module, core=core), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    actual = compiled(list(inputs))
    return [actual[index] for index in range(len(compiled.outputs))]


def kinds(module: ModuleOp) -> list[str]:
    """The names of the operations of a module, in order."""
    return [op.name for op in module.walk() if op.name not in ("builtin.module", "moir.model")]
