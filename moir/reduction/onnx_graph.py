"""Parts of an ONNX model, as ONNX models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.reduction.module_graph import FEW, RANDOM_FROM, with_producers
from moir.reduction.reduced import Candidate


class OnnxGraph:
    """The nodes of an ONNX model, of which any subset is a model.

    Args:
        path: the file.
        recorded: arrays of its tensors in a run, by name. A tensor without an array is not cut: its node is kept.
    """

    def __init__(self, path: Path, recorded: Mapping[str, Array]) -> None:
        self._folder = path.parent
        self._model = _onnx().load(path, load_external_data=False)
        self._recorded = recorded
        graph = self._model.graph
        self._constants: dict[str, Any] = {each.name: each for each in graph.initializer}
        self._constants |= {node.output[0]: node for node in graph.node if node.op_type == "Constant"}
        self.operations: list[Any] = [node for node in graph.node if node.op_type != "Constant"]
        self._producers = {name: index for index, node in enumerate(self.operations) for name in node.output if name}
        self._operands = [list(dict.fromkeys(_operands(node))) for node in self.operations]

    def number(self, tensor: str) -> int | None:
        """The index of the node that computes a tensor; None for inputs and initializers."""
        return self._producers.get(tensor)

    @property
    def neighbours(self) -> list[list[int]]:
        """For each node, the indices of the nodes that compute its operands or use its results."""
        neighbours: list[list[int]] = [[] for _ in self.operations]
        for index, operands in enumerate(self._operands):
            for producer in {self._producers[name] for name in operands if name in self._producers}:
                neighbours[index].append(producer)
                neighbours[producer].append(index)
        return neighbours

    def closed(self, kept: frozenset[int]) -> frozenset[int]:
        """The nodes `kept` and, transitively, the producers of their operands; tensors that can become inputs are not
        followed.
        """
        return with_producers(kept, self._needed_producers)

    def _needed_producers(self, number: int) -> Iterator[int]:
        for name in self._operands[number]:
            producer = self._producers.get(name)
            if producer is not None and name not in self._recorded:
                yield producer

    def part(self, kept: frozenset[int], *, random: frozenset[int] = frozenset()) -> Candidate:
        """A model of some nodes.

        Its inputs are tensors of other nodes, its outputs the tensors that none of its nodes uses.

        Args:
            kept: the ids of the nodes.
            random: the ids of the initializers that get random values instead of their own.
        """
        onnx = _onnx()
        kept = self.closed(kept)
        model: Any = onnx.ModelProto()
        model.CopyFrom(self._header())
        graph = model.graph
        graph.name = self._model.graph.name or "reduced"
        inside = {name for number in kept for name in self.operations[number].output}
        inputs: dict[str, Array] = {}
        weights = 0
        for name in dict.fromkeys(name for number in sorted(kept) for name in self._operands[number]):
            if name in inside:
                continue
            constant = self._constants.get(name)
            if constant is None:
                self._cut(graph, name, inputs)
            elif isinstance(constant, onnx.NodeProto):
                graph.node.append(constant)
            else:
                array = self._array(constant)
                if _is_weight(array):
                    array = _randomized(array, weights) if weights in random else array
                    weights += 1
                graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        graph.node.extend(self.operations[number] for number in sorted(kept))
        used = {name for number in kept for name in self._operands[number]}
        expected: dict[str, Array] = {}
        for name in (name for number in sorted(kept) for name in self.operations[number].output):
            if name and name not in used:
                self._output(graph, name)
                if name in self._recorded:
                    expected[name] = self._recorded[name]
        return Candidate(model.SerializeToString(), inputs, {} if random else expected, sum(1 for _ in _with_bodies(graph.node)))

    def weights(self, kept: frozenset[int]) -> int:
        """The number of weights (large floating-point initializers) in the model of the nodes with the indices
        `kept`.
        """
        names = {name for number in self.closed(kept) for name in self._operands[number]}
        initializers = [self._constants[name] for name in names if hasattr(self._constants.get(name), "data_type")]
        return sum(_is_weight(self._array(each)) for each in initializers)

    def _header(self) -> Any:
        """The ONNX model without its graph."""
        onnx = _onnx()
        header: Any = onnx.ModelProto(ir_version=self._model.ir_version, producer_name=self._model.producer_name)
        header.opset_import.extend(self._model.opset_import)
        header.functions.extend(self._model.functions)
        return header

    def _array(self, initializer: Any) -> Array:
        return _onnx().numpy_helper.to_array(initializer, str(self._folder))

    def _cut(self, graph: Any, name: str, inputs: dict[str, Array]) -> None:
        """Make a tensor computed outside of the extracted model a graph input with its recorded array, added to
        `inputs`.

        A computed integer scalar or short 1-D tensor, such as a shape, becomes an initializer instead.
        """
        onnx = _onnx()
        array = self._recorded[name]
        if array.dtype.kind in "iu" and array.ndim <= 1 and array.size <= FEW and name in self._producers:
            graph.initializer.append(onnx.numpy_helper.from_array(array, name))
            return
        inputs[name] = array
        declared = next((each for each in self._model.graph.input if each.name == name), None)
        graph.input.append(declared or onnx.helper.make_tensor_value_info(name, _type(array), array.shape))

    def _output(self, graph: Any, name: str) -> None:
        onnx = _onnx()
        declared = next((each for each in self._model.graph.output if each.name == name), None)
        if declared is None and name in self._recorded:
            array = self._recorded[name]
            declared = onnx.helper.make_tensor_value_info(name, _type(array), [None] * array.ndim)
        graph.output.append(declared or onnx.ValueInfoProto(name=name))


def _onnx() -> Any:
    return import_module("onnx")


def _operands(node: Any) -> Iterator[str]:
    """Yields the tensors that a node reads, including those that its bodies capture."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        for body in (attribute.g, *attribute.graphs) if attribute.HasField("g") or attribute.graphs else ():
            own = {each.name for each in (*body.input, *body.initializer)} | {name for inner in body.node for name in inner.output}
            read = [name for inner in body.node for name in _operands(inner)] + [each.name for each in body.output]
            yield from (name for name in read if name not in own)


def _with_bodies(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yields the given nodes and, recursively, those of the graphs in their attributes, without Constant nodes."""
    for node in nodes:
        if node.op_type != "Constant":
            yield node
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                yield from _with_bodies(body.node)


def _is_weight(array: Array) -> bool:
    return array.dtype.kind in "fV" and array.size >= RANDOM_FROM


def _randomized(array: Array, seed: int) -> Array:
    """Random values with the mean and the standard deviation of an array; positive ones if it has no negative
    elements.
    """
    wide = array.astype(np.float32)
    drawn = np.random.default_rng(seed).normal(wide.mean(), wide.std(), wide.shape)
    return (np.abs(drawn) + 1e-3 if wide.min() >= 0 else drawn).astype(array.dtype)


def _type(array: Array) -> int:
    onnx = _onnx()
    return onnx.TensorProto.STRING if array.dtype.kind in "OUS" else onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def nodes_of(graph: OnnxGraph, tensors: Sequence[str]) -> set[int]:
    """The indices of the nodes that compute the tensors with these names."""
    return {number for name in tensors if (number := graph.number(name)) is not None}
