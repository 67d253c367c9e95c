"""The whole model of a reduction, in the form from which parts are taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.conversion import import_model
from moir.dialects.memory_map import Array
from moir.dialects.names import names_of
from moir.dialects.opset.infrastructure import Parameter
from moir.execution.onnx_runtime import OnnxRunner
from moir.execution.ports import interface_of, matched, only_model
from moir.execution.runner import Runner
from moir.options import ConversionOptions
from moir.reduction.module_graph import ModuleGraph, computed_values
from moir.reduction.onnx_graph import OnnxGraph, nodes_of


class FullModel:
    """A model to reduce.

    Args:
        graph: the model.
        tensors: the values of a module by the names of tensors; None for an ONNX model.
    """

    def __init__(self, graph: ModuleGraph | OnnxGraph, tensors: Mapping[str, SSAValue] | None) -> None:
        self.graph = graph
        self._tensors = tensors

    def numbers(self, names: Iterable[str]) -> set[int]:
        """The ids of the operations that compute the named tensors; names that the model lacks are left out."""
        if isinstance(self.graph, OnnxGraph):
            return nodes_of(self.graph, list(names))
        owners = [self._tensors[name].owner for name in names if self._tensors is not None and name in self._tensors]
        return {number for op in owners if isinstance(op, Operation) and (number := self.graph.number(op)) is not None}


def full_model(model: Path | ModuleOp, options: ConversionOptions, runner: Runner, inputs: Mapping[str, Array]) -> FullModel:
    """A model with the values of its tensors in a run.

    Args:
        model: a model file or a module.
        options: the options of its reader.
        runner: runs it.
        inputs: its inputs, by the names of the runner's ports.

    Raises ExecutionError if it cannot be run.
    """
    module = import_model(model, options) if isinstance(model, Path) else model
    names: dict[str, SSAValue] = {}
    for value in computed_values(module):
        for name in names_of(value):
            names.setdefault(name, value)
    arrays = runner.run(inputs, list(names))
    if isinstance(runner, OnnxRunner):
        return FullModel(OnnxGraph(runner.path, arrays | dict(inputs)), None)
    ports = interface_of(module).inputs
    given = matched(inputs, ports, "input")
    parameters = [op.results[0] for op in only_model(module).block.ops if isinstance(op, Parameter)]
    recorded = {value: arrays[name] for name, value in names.items() if name in arrays}
    recorded |= {value: given[port.name] for value, port in zip(parameters, ports, strict=True)}
    return FullModel(ModuleGraph(module, recorded), names)
