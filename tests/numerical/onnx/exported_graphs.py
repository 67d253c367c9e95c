"""Graphs of ONNX as exporters write them, node by node, and their comparison with ONNX Runtime.

graph = ExportedGraph()
graph.node("Relu", graph.node("MatMul", "x", graph.weight(array)), result="y")
check(graph.model({"x": (np.float32, ["batch", 4])}, ["y"]), [{"x": data}], folder)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from moir.conversion import save_model
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.interface import convert_model
from tests.numerical.onnx.conversion import expected_results
from tests.numerical.runtime import Array, compare, core, run

MICROSOFT = "com.microsoft"
Declared = tuple[Any, Sequence[int | str]]
"""The element type and the shape of an input."""


class ExportedGraph:
    """A graph under construction; names of tensors that are not given are numbers."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._count = 0

    def name(self) -> str:
        """A new name."""
        self._count += 1
        return str(self._count)

    def constant(self, value: object, kind: Any = None) -> str:
        """A Constant node."""
        name = self.name()
        self.nodes.append(helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.asarray(value, kind))))
        return name

    def weight(self, value: Array | onnx.TensorProto) -> str:
        """An initializer."""
        name = self.name()
        tensor = value if isinstance(value, onnx.TensorProto) else onnx.numpy_helper.from_array(np.asarray(value))
        tensor.name = name
        self.weights.append(tensor)
        return name

    def several(self, kind: str, count: int, *operands: str, domain: str = "", **attributes: Any) -> list[str]:
        """A node with several outputs."""
        names = [self.name() for _ in range(count)]
        self.nodes.append(helper.make_node(kind, list(operands), names, domain=domain, **attributes))
        return names

    def node(self, kind: str, *operands: str, result: str = "", domain: str = "", **attributes: Any) -> str:
        """A node with one output, which is called `result`."""
        name = result or self.name()
        self.nodes.append(helper.make_node(kind, list(operands), [name], domain=domain, **attributes))
        return name

    def model(self, inputs: Mapping[str, Declared], outputs: Sequence[str], opset: int = 17) -> onnx.ModelProto:
        """The model; its outputs declare no types."""
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
            for name, (kind, shape) in inputs.items()
        ]
        graph = helper.make_graph(self.nodes, "g", given, [helper.make_empty_tensor_value_info(name) for name in outputs], self.weights)
        imports = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset > 20 else 9)


def body(nodes: Sequence[onnx.NodeProto], inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str]) -> onnx.GraphProto:
    """A branch, or the body of a loop, with outputs that declare no types."""
    return helper.make_graph(nodes, "body", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])


def check(
    model: onnx.ModelProto, inputs: Sequence[Mapping[str, Array]], folder: Path, *, atol: float = 1e-5, static: bool = True
) -> tuple[str, ...]:
    """Convert a model with the shapes that it declares, then with those of the first inputs, and compare.

    The IR loads as it is. Returns the notes of the first conversion.
    """
    onnx.save(model, folder / "m.onnx")
    shapes = ",".join(f"{name}[{','.join(map(str, array.shape))}]" for name, array in inputs[0].items())
    actual: tuple[str, ...] = ()
    for input_, given in ((None, inputs), (shapes, inputs[:1])) if static else ((None, inputs),):
        module = convert_model(folder / "m.onnx", input=input_)
        if input_ is None:
            [converted] = models_of(module)
            notes = converted.attributes.get(ModuleLevel.NOTES)
            actual = () if notes is None else tuple(value_of(notes))
        save_model(module, folder / "m.xml")
        core().compile_model(folder / "m.xml", "CPU")
        for each in given:
            compare(run(core().read_model(folder / "m.xml"), each), expected_results(model, each, "onnxruntime"), atol=atol)
    return actual
