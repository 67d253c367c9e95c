"""A graph that is being drawn, whose values have known shapes and element types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper, shape_inference

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.onnx_model import OnnxModel, declare_input

OPSET = 21
IMPORTS = [helper.make_opsetid("", OPSET)]
IR_VERSION = 10
LARGEST = 6000
"""Elements of the largest value: small models compile faster, and show the same faults."""

FORMS = ("static",) * 5 + ("symbolic", "mixed", "batch")
"""What the inputs of a graph say about their shapes; "batch" leaves out the first dimension of each."""


@dataclass(frozen=True)
class Value:
    """A value of a graph.

    Args:
        name: its name.
        shape: its sizes.
        dtype: its element type.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats."""
        return self.dtype.kind == "f"


class Draft:
    """A graph that is being drawn.

    Args:
        draw: makes the choices.
        channels_last: whether images have their channels last, between Transposes where an operation wants them second.
        largest: elements of the largest value.
    """

    def __init__(self, draw: Draw, channels_last: bool = False, largest: int = LARGEST) -> None:
        self.draw = draw
        self.channels_last = channels_last
        self.largest = largest
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, Array] = {}
        self.constants: dict[str, Array] = {}
        self.values: list[Value] = []
        """Inputs and results of operations, those inside of a composition of nodes left out."""
        self.outputs: list[Value] = []
        self.count = self.constant_count = 0
        self.quantized_weights = 0.05
        """Probability that weights are dequantized from integers of 8 bits."""

    def numbers(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Values of an input: of both signs, or mostly of one; integers are small."""
        draw = self.draw
        if dtype.kind == "b":
            return draw.random.random(tuple(shape)) < 0.5
        if dtype.kind in "iu":
            return draw.random.integers(0 if dtype.kind == "u" else -9, 10, size=tuple(shape)).astype(dtype)
        scale, shift = draw.one_of((1.0, 1.0, 3.0, 8.0)), draw.one_of((0.0, 0.0, 0.0, -2.0, 2.0))
        return (draw.random.normal(size=tuple(shape)) * scale + shift).astype(np.float32).astype(dtype)

    def input(self, shape: Sequence[int], dtype: Any = np.float32) -> Value:
        """An input of the graph."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.numbers(shape, np.dtype(dtype))
        value = Value(name, tuple(shape), np.dtype(dtype))
        self.values.append(value)
        return value

    def constant(self, array: Any, dtype: Any = None) -> Value:
        """A constant."""
        name = f"c{self.constant_count}"
        self.constant_count += 1
        self.constants[name] = array = np.asarray(array, dtype)
        return Value(name, array.shape, array.dtype)

    def weights(self, shape: Sequence[int], like: Value, scale: float = 0.0) -> Value:
        """A constant of random numbers of both signs, by default such that sums of products with them stay small."""
        fan = max(1, prod(shape[1:]))
        numbers = self.draw.random.normal(size=tuple(shape)) * (scale or 1.5 / fan**0.5)
        return self.constant(numbers.astype(np.float32).astype(like.dtype))

    def op(self, kind: str, *operands: Value | None, **attributes: Any) -> Value:
        """Append a node; its first result."""
        return self.ops(kind, *operands, outputs=1, **attributes)[0]

    def ops(self, kind: str, *operands: Value | None, outputs: int, **attributes: Any) -> list[Value]:
        """Append a node with some outputs. Raises NoCase if its operands make no sense or a result is empty or too large."""
        number = self.count
        self.count += 1
        names = [f"v{number}" if index == 0 else f"v{number}_{index}" for index in range(outputs)]
        node = helper.make_node(kind, [each.name if each else "" for each in operands], names, f"{kind}_{number}", **attributes)
        given = [each for each in operands if each]
        types = {each.name: helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for each in given}
        data = {
            each.name: numpy_helper.from_array(self.constants[each.name], each.name)
            for each in given
            if each.name in self.constants and each.dtype.kind in "if" and each.rank <= 1
        }
        schema = defs.get_schema(kind, OPSET, "")
        try:
            inferred = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=IMPORTS, ir_version=IR_VERSION)
        except Exception as error:
            raise NoCase(f"{kind}: {error}") from error
        results = [_value(name, inferred.get(name), self.largest) for name in names]
        self.nodes.append(node)
        return results

    def scalar(self, number: float, like: Value) -> Value:
        """A constant with one number, in the element type of a value, of rank 0 or 1."""
        return self.constant(np.full(self.draw.one_of(((), (), (1,))), number).astype(like.dtype))

    def reduce(self, kind: str, x: Value, axes: Sequence[int], keepdims: int = 1) -> Value:
        """A reduction along axes, some of which are counted from the end."""
        drawn = [axis - x.rank if self.draw.chance(0.3) else axis for axis in axes]
        return self.op(kind, x, self.constant(np.array(drawn, np.int64)), keepdims=keepdims)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """A Reshape to sizes, of which the first or another one may be computed from the others."""
        target = list(shape)
        if target and self.draw.chance(0.4):
            target[self.draw.integer(0, len(target) - 1)] = -1
        return self.op("Reshape", x, self.constant(np.array(target, np.int64)))

    def transpose(self, x: Value, order: Sequence[int]) -> Value:
        """A Transpose."""
        return self.op("Transpose", x, perm=list(order))

    def channels_second(self, x: Value) -> Value:
        """An image with its channels in the second dimension."""
        return self.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1))) if self.channels_last else x

    def as_image(self, x: Value) -> Value:
        """An image with channels second in the layout of the graph."""
        return self.transpose(x, (0, *range(2, x.rank), 1)) if self.channels_last else x

    def channel_axis(self, x: Value) -> int:
        """The dimension of the channels of a value."""
        return x.rank - 1 if self.channels_last or x.rank < 2 else 1

    @contextmanager
    def body(self) -> Iterator[list[onnx.NodeProto]]:
        """Nodes that are appended within it go into the list of a body, and values there are not those of the graph."""
        nodes, values = self.nodes, self.values
        self.nodes, self.values = [], []
        try:
            yield self.nodes
        finally:
            self.nodes, self.values = nodes, [*values, *(each for each in self.values if each.name in self.inputs)]

    def case(self, subject: str) -> Case:
        """The graph as a case. Raises NoCase if nothing is computed."""
        outputs = [each for each in dict.fromkeys(self.outputs) if each.name not in self.inputs and each.name not in self.constants]
        if not outputs:
            raise NoCase("nothing is computed")
        nodes = _needed(self.nodes, {each.name for each in outputs})
        read = {name for node in nodes for name in read_by(node)}
        inputs = {name: array for name, array in self.inputs.items() if name in read}
        if not inputs:
            raise NoCase("nothing is read")
        form, shared = self.draw.one_of(FORMS), dict[int, str]()
        declared = [
            _with_batch(name, array) if form == "batch" else declare_input(self.draw, name, array, form, shared)
            for name, array in inputs.items()
        ]
        results = [
            helper.make_tensor_value_info(each.name, helper.np_dtype_to_tensor_dtype(each.dtype), [None] * each.rank) for each in outputs
        ]
        initializers = [numpy_helper.from_array(array, name) for name, array in self.constants.items() if name in read]
        graph = helper.make_graph(nodes, "case", declared, results, initializers)
        proto = helper.make_model(graph, opset_imports=IMPORTS, ir_version=IR_VERSION)
        model = OnnxModel(proto, {name: array.shape for name, array in inputs.items()})
        return Case(subject, model, inputs, [each.name for each in outputs])


def _value(name: str, type_: onnx.TypeProto | None, largest: int) -> Value:
    """A result with its inferred type. Raises NoCase if that is not known, is empty or too large."""
    if type_ is None or not type_.tensor_type.HasField("shape"):
        raise NoCase(f"{name}: no shape is inferred")
    sizes = [each.dim_value if each.HasField("dim_value") else 0 for each in type_.tensor_type.shape.dim]
    if 0 in sizes or prod(sizes) > largest:
        raise NoCase(f"{name}: sizes {sizes}")
    return Value(name, tuple(sizes), np.dtype(helper.tensor_dtype_to_np_dtype(type_.tensor_type.elem_type)))


def read_by(node: onnx.NodeProto) -> Iterator[str]:
    """The names of values that a node reads, those that its bodies read included."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from read_by(inner)


def _needed(nodes: Sequence[onnx.NodeProto], wanted: set[str]) -> list[onnx.NodeProto]:
    """The nodes that some values depend on, in their order."""
    needed = set(wanted)
    actual: list[onnx.NodeProto] = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.output):
            needed.update(read_by(node))
            actual.append(node)
    return actual[::-1]


def _with_batch(name: str, array: Array) -> onnx.ValueInfoProto:
    """An input with an unknown first dimension."""
    shape = [f"{name}_batch", *array.shape[1:]] if array.ndim else []
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
