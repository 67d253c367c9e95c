"""A model in the `onnx` dialect as a ModelProto.

Values have the names of their tensors, or of the operations that compute them. A body of an operation has the values
that it captures under their names outside, as ONNX's scopes have it. Source: onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.discardable import DIMENSION_NAMES
from moir.dialects.element_types import describe, string
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.onnx import NUMBERS
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel, is_none
from moir.dialects.names import name_of, names_of
from moir.dialects.properties import is_floats, value_of
from moir.dialects.shapes import element_of, shape_of
from moir.emit.onnx.encoding import MessageWriter
from moir.emit.weights import Weights, storage
from moir.errors import EmissionError
from moir.version import VERSION

EXTERNAL_BYTES = 1 << 10
"""Minimum size in bytes of a tensor that is stored beside the model, if any are."""

_FLOAT, _INT, _STRING, _TENSOR, _GRAPH, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 4, 5, 6, 7, 8
_NOT_ATTRIBUTES = frozenset(("captured", "graph_attributes"))

_FORMAT_VERSIONS = {13: 7, 15: 8, 19: 9, 21: 10}
"""Operator-set version -> the version of ONNX's file format for models of this and later operator sets; a file has the
oldest format that fits.
"""


class OnnxWriter:
    """Writes one model.

    Args:
        version: the version of ONNX's operator set.
        weights: collects the tensors that are stored beside the model; None to store all in it.
        data_file: the name of the file of these tensors.
    """

    def __init__(self, version: int, weights: Weights | None = None, data_file: str = "") -> None:
        self.nodes = 0
        self.weights_bytes = 0
        self._version = version
        self._weights = weights
        self._data_file = data_file
        self._names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._node_names: set[str] = set()
        self._last: dict[str, int] = {}

    def model(self, model: ModelOp) -> MessageWriter:
        """The ModelProto. Raises EmissionError if ONNX cannot represent the model."""
        message = MessageWriter()
        message.integer(1, [format_ for since, format_ in _FORMAT_VERSIONS.items() if since <= self._version][-1])
        message.text(2, "moir")
        message.text(3, VERSION)
        message.message(7, self._model_graph(model))
        for domain, version in operator_set_versions(model).items():
            operator_set = MessageWriter()
            operator_set.text(1, "" if domain == ONNX_DOMAIN else domain)
            operator_set.integer(2, version)
            message.message(8, operator_set)
        metadata = model.attributes.get(ModuleLevel.METADATA)
        if isinstance(metadata, DictionaryAttr):
            for key, value in metadata.data.items():
                if isinstance(value, StringAttr):
                    entry = MessageWriter()
                    entry.text(1, key)
                    entry.text(2, value.data)
                    message.message(14, entry)
        return message

    # Names

    def _unique(self, name: str) -> str:
        return self._first_free(name, self._taken)

    def _first_free(self, name: str, taken: set[str]) -> str:
        """A name that is not in `taken`: `name` itself, or else `name` with the smallest free number appended."""
        candidate = name
        while candidate in taken:
            self._last[name] = self._last.get(name, 0) + 1
            candidate = f"{name}_{self._last[name]}"
        taken.add(candidate)
        return candidate

    def _name(self, value: SSAValue) -> str:
        """The name of a value, empty for an absent one."""
        name = self._names.get(value)
        if name is None:
            if is_none(value.owner):
                return ""
            op = cast("Operation", value.owner)
            index = "" if len(op.results) == 1 else f":{list(op.results).index(cast(Any, value))}"
            own = names_of(value)
            base = own[0] if own else f"{name_of(op) or op.name.rpartition('.')[2]}{index}"
            name = self._names[value] = self._unique(base)
        return name

    # Graphs

    def _model_graph(self, model: ModelOp) -> MessageWriter:
        parameters = [op for op in model.block.ops if op.name == "opset1.Parameter"]
        results = [op for op in model.block.ops if op.name == "opset1.Result"]
        for op in parameters:
            self._name(op.results[0])
        outputs: list[tuple[str, SSAValue]] = []
        dimension_names: list[tuple[str, ...]] = []
        for op in results:
            dimension_names.append(_dimension_names(op))
            value = op.operands[0]
            name = _output_name(op)
            if value in self._names:
                # A value is one output, and no input: a further one is a copy.
                outputs.append((self._unique(name), value))
            else:
                self._names[value] = self._unique(name)
                outputs.append((self._names[value], value))
        return self._graph(model.block, model.sym_name.data, parameters, outputs, dimension_names)

    def _graph(
        self,
        block: Block,
        name: str,
        parameters: list[Operation],
        outputs: list[tuple[str, SSAValue]],
        dimension_names: Sequence[tuple[str, ...]] = (),
    ) -> MessageWriter:
        """Encode a block as ONNX's message GraphProto; an output whose name is not that of its value is a copy of it.

        `dimension_names` are the names of the dimensions of each output. Raises EmissionError for an operation of
        another dialect than `onnx`.
        """
        graph, initializers = MessageWriter(), MessageWriter()
        for op in block.ops:
            if op.name == "opset1.Constant":
                self._initializer(op, initializers)
            elif isinstance(op, FrameworkOp) and op.name.startswith("onnx."):
                graph.message(1, self._node(op))
            elif op.name not in ("opset1.Parameter", "opset1.Result") and not is_none(op):
                raise EmissionError("an ONNX model holds operations of the dialect onnx", operation=op.name, node=name_of(op))
        for output, value in outputs:
            if self._name(value) != output:
                copy = MessageWriter()
                copy.text(1, self._name(value))
                copy.text(2, output)
                copy.text(4, "Identity")
                graph.message(1, copy)
        graph.text(2, name or "model")
        graph.include(initializers)
        for op in parameters:
            graph.message(11, self._value(self._name(op.results[0]), op.results[0], _dimension_names(op)))
        for index, (output, value) in enumerate(outputs):
            graph.message(12, self._value(output, value, dimension_names[index] if dimension_names else ()))
        return graph

    def _value(self, name: str, value: SSAValue, dimension_names: tuple[str, ...]) -> MessageWriter:
        """Encode the name, the element type and the shape of a value as ONNX's message ValueInfoProto."""
        info, type_, tensor_type = MessageWriter(), MessageWriter(), MessageWriter()
        tensor_type.integer(1, _number(element_of(value), name))
        shape = shape_of(value)
        if shape is not None:
            dimensions = MessageWriter()
            for axis, size in enumerate(shape):
                dimension = MessageWriter()
                if size >= 0:
                    dimension.integer(1, size)
                elif axis < len(dimension_names) and dimension_names[axis]:
                    dimension.text(2, dimension_names[axis])
                dimensions.message(1, dimension)
            tensor_type.message(2, dimensions)
        type_.message(1, tensor_type)
        info.text(1, name)
        info.message(2, type_)
        return info

    # Nodes

    def _node(self, op: FrameworkOp) -> MessageWriter:
        node = MessageWriter()
        captured = value_of(op.properties["captured"]) if "captured" in op.properties else 0
        operands = list(op.operands)[: len(op.operands) - captured]
        while operands and is_none(operands[-1].owner):
            operands.pop()
        for value in operands:
            node.text(1, self._name(value))
        for result in op.results:
            node.text(2, self._name(result))
        if (name := name_of(op)) is not None:
            node.text(3, self._first_free(name, self._node_names))
        domain, _, kind = op.KIND.rpartition(".")
        node.text(4, kind)
        for name, attribute in op.properties.items():
            if name not in _NOT_ATTRIBUTES:
                node.message(5, self._attribute(name, attribute, op))
        if op.regions:
            outer = list(op.operands)[len(op.operands) - captured :]
            for name, region in zip(value_of(op.properties["graph_attributes"]), op.regions, strict=True):
                graph = MessageWriter()
                graph.text(1, name)
                graph.message(6, self._body(region.block, outer, f"{name_of(op) or kind}/{name}"))
                graph.integer(20, _GRAPH)
                node.message(5, graph)
        if domain:
            node.text(7, domain)
        self.nodes += 1
        return node

    def _body(self, block: Block, captured: list[SSAValue], name: str) -> MessageWriter:
        parameters = [op for op in block.ops if op.name == "opset1.Parameter"]
        own = parameters[: len(parameters) - len(captured)]
        for op, value in zip(parameters[len(own) :], captured, strict=True):
            self._names[op.results[0]] = self._name(value)
        inputs = {op.results[0] for op in parameters}
        outputs: list[tuple[str, SSAValue]] = []
        seen = set[SSAValue]()
        for op in block.ops:
            if op.name == "opset1.Result":
                value = op.operands[0]
                is_copied = value in inputs or value in seen or cast("Operation", value.owner).name == "opset1.Constant"
                seen.add(value)
                outputs.append((self._unique(f"{self._name(value)}.output") if is_copied else self._name(value), value))
        return self._graph(block, name, own, outputs)

    def _attribute(self, name: str, attribute: Attribute, op: Operation) -> MessageWriter:
        """Encode a property of `op` as ONNX's message AttributeProto.

        Raises EmissionError for a property that ONNX cannot represent.
        """
        message = MessageWriter()
        message.text(1, name)
        value = value_of(attribute)
        match attribute:
            case IntegerAttr():
                message.integer(3, int(value))
                kind = _INT
            case FloatAttr():
                message.number(2, value)
                kind = _FLOAT
            case StringAttr():
                message.text(4, value)
                kind = _STRING
            case DenseArrayBase():
                if is_floats(attribute):
                    message.numbers(7, value)
                    kind = _FLOATS
                else:
                    message.integers(8, value)
                    kind = _INTS
            case ArrayAttr() if all(isinstance(each, str) for each in value):
                for each in value:
                    message.text(9, each)
                kind = _STRINGS
            case DataAttr():
                message.message(5, self._tensor("", attribute, is_external=False))
                kind = _TENSOR
            case _:
                raise EmissionError(f"ONNX has no form for the attribute {name}", operation=op.name, node=name_of(op))
        message.integer(20, kind)
        return message

    # Tensors

    def _initializer(self, op: Operation, initializers: MessageWriter) -> None:
        value = op.properties.get("value")
        if not isinstance(value, DataAttr):
            raise EmissionError("its value is no #moir.data", operation=op.name, node=name_of(op))
        initializers.message(5, self._tensor(self._name(op.results[0]), value))

    def _tensor(self, name: str, data: DataAttr, *, is_external: bool = True) -> MessageWriter:
        """Encode a constant as ONNX's message TensorProto. The elements of a large constant are in the file of weights,
        if there is one and `is_external` is set; the message says where.
        """
        tensor = MessageWriter()
        tensor.integers(1, data.shape)
        tensor.integer(2, _number(data.element, name))
        if data.element == string:
            for text in data.array.ravel():
                tensor.text(6, str(text))
            tensor.text(8, name)
            return tensor
        tensor.text(8, name)
        self.weights_bytes += data.nbytes
        if self._weights is None or not is_external or data.nbytes < EXTERNAL_BYTES:
            tensor.elements(9, storage(data))
            return tensor
        offset, size = self._weights.place(data)
        for key, text in (("location", self._data_file), ("offset", str(offset)), ("length", str(size))):
            entry = MessageWriter()
            entry.text(1, key)
            entry.text(2, text)
            tensor.message(13, entry)
        tensor.integer(14, 1)
        return tensor


def _number(element: Attribute, name: str) -> int:
    """The number that ONNX has for an element type.

    Raises EmissionError for a type without one; `name` is the value with it.
    """
    if element not in NUMBERS:
        raise EmissionError(f"ONNX has no element type {describe(element).xml}, which {name!r} has")
    return NUMBERS[element]


def _dimension_names(op: Operation) -> tuple[str, ...]:
    """The names of the dimensions of an input or output; empty if it has none."""
    names = op.attributes.get(DIMENSION_NAMES)
    return () if names is None else tuple(value_of(names))


def _output_name(result: Operation) -> str:
    """The name of an output of the model: the name of the Result if its tensor has that name, else the tensor's first
    name.
    """
    names, name = names_of(result.operands[0]), name_of(result)
    if name is not None and (name in names or not names):
        return name
    return names[0] if names else "output"


def operator_set_versions(model: ModelOp) -> dict[str, int]:
    """The versions of the operator sets that a model imports, by domain.

    Raises EmissionError if ONNX's own is not among them.
    """
    imports = model.attributes.get(ModuleLevel.OPSET_IMPORT)
    if not isinstance(imports, DictionaryAttr) or ONNX_DOMAIN not in imports.data:
        raise EmissionError("the model does not say the version of ONNX's operator set", hint="run the pass lower-to-onnx")
    return {domain: value_of(version) for domain, version in imports.data.items()}
