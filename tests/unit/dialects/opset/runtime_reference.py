"""One operation, asked of OpenVINO Runtime and of moir: result types and values.

Operands are `("f32", (1, -1, 3))` or `("f32", None)` for a value of that type, a numpy array for a constant, `None` for an absent one.
Properties have XML names and Python values; element types are spelled as in the IR. Properties left out have the default of moir's class
on both sides, as they would have in a file moir writes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import openvino
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase
from xdsl.ir import Attribute, SSAValue

from moir.analysis.known_values import KnownValues
from moir.analysis.known_values import evaluate as evaluate_operation
from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe, from_numpy, from_xml
from moir.dialects.moir import NoneOp
from moir.dialects.opset import operation
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import FALSE, TRUE, value_of
from moir.dialects.shapes import UNKNOWN, element_of, shape_of, tensor
from tests.unit.analysis.symbolic_shapes import check_symbolic_shapes

Operand = Any
Port = tuple[int, int]
InferredType = tuple[tuple[int, ...] | None, str]


@cache
def core() -> openvino.Core:
    """The runtime."""
    return openvino.Core()


def attributes_of(op_name: str, properties: Mapping[str, Any]) -> dict[str, Attribute]:
    """All properties of an operation as attributes, defaults included."""
    table = property_table(operation(op_name))
    attributes = dict(table.defaults)
    for name, value in properties.items():
        kind = table.specs[name].kind
        attributes[name] = from_xml(value) if kind.kind == "element" and isinstance(value, str) else kind.attribute(value)
    return attributes


def xml_value(attribute: Attribute) -> str:
    """A property as the IR spells it."""
    if element_types.is_element_type(attribute):
        return describe(attribute).xml
    if attribute in (TRUE, FALSE):
        return "true" if attribute == TRUE else "false"
    value = value_of(attribute)
    if isinstance(attribute, DenseArrayBase | ArrayAttr):
        return ",".join(repr(item) if isinstance(item, float) else str(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def dimensions_text(shape: Sequence[int] | None) -> str:
    """A shape as the `shape` attribute of a Parameter or Const."""
    return "..." if shape is None else ",".join("?" if dimension < 0 else str(dimension) for dimension in shape)


class ModelText:
    """The XML of a model with one operation, and its weights."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.weights = bytearray()

    def add(self, kind: str, version: str, data: Mapping[str, str], sources: Sequence[Port], results: int, precision: str = "FP32") -> int:
        """Add a layer whose inputs come from ports `(layer, port)` of other layers; returns its id. Outputs are counted on from inputs."""
        number = len(self.layers)
        attributes = "".join(f" {key}={quoteattr(value)}" for key, value in data.items())
        ports = "".join(f'<port id="{index}"/>' for index in range(len(sources)))
        outputs = "".join(f'<port id="{len(sources) + index}" precision="{precision}"/>' for index in range(results))
        self.layers.append(
            f'<layer id="{number}" name="n{number}" type="{kind}" version="{version}"><data{attributes}/>'
            + (f"<input>{ports}</input>" if ports else "")
            + (f"<output>{outputs}</output>" if outputs else "")
            + "</layer>"
        )
        for index, (layer, port) in enumerate(sources):
            self.edges.append(f'<edge from-layer="{layer}" from-port="{port}" to-layer="{number}" to-port="{index}"/>')
        return number

    def add_constant(self, array: np.ndarray[Any, Any]) -> int:
        """Add a Const layer; returns its id."""
        payload = bytes(DataAttr.of(array).contiguous_bytes())
        row = describe(from_numpy(array.dtype))
        data = {
            "element_type": row.xml,
            "shape": dimensions_text(array.shape),
            "offset": str(len(self.weights)),
            "size": str(len(payload)),
        }
        self.weights += payload
        return self.add("Const", "opset1", data, (), 1, row.precision)

    def add_parameter(self, xml: str, shape: Sequence[int] | None) -> int:
        """Add a Parameter layer; returns its id."""
        data = {"shape": dimensions_text(shape), "element_type": xml}
        return self.add("Parameter", "opset1", data, (), 1, describe(from_xml(xml)).precision)

    def model(self) -> openvino.Model:
        """The model, read by the runtime."""
        text = f'<net name="m" version="11"><layers>{"".join(self.layers)}</layers><edges>{"".join(self.edges)}</edges></net>'
        weights = np.frombuffer(bytes(self.weights) or b"\0", dtype=np.uint8)
        return core().read_model(model=text.encode(), weights=openvino.Tensor(weights.copy()))


def runtime_model(op_name: str, operands: Sequence[Operand], properties: Mapping[str, Any], results: int = 1) -> openvino.Model:
    """A model of one operation, as read by the runtime. Absent operands can only be trailing ones."""
    text = ModelText()
    given = list(operands)
    while given and given[-1] is None:
        given.pop()
    sources = [(text.add_constant(item) if isinstance(item, np.ndarray) else text.add_parameter(*item), 0) for item in given]
    opset, _, kind = op_name.partition(".")
    data = {name: xml_value(attribute) for name, attribute in attributes_of(op_name, properties).items()}
    number = text.add(kind, opset, data, sources, results)
    for index in range(results):
        text.add("Result", "opset1", {}, [(number, len(sources) + index)], 0)
    return text.model()


def infer_with_runtime(op_name: str, operands: Sequence[Operand], properties: Mapping[str, Any], results: int = 1) -> list[InferredType]:
    """Shape (-1 unknown; None for an unknown rank) and element type of each result. Raises RuntimeError if the runtime refuses."""
    return types_of(runtime_model(op_name, operands, properties, results))


def types_of(model: openvino.Model) -> list[InferredType]:
    """Shape and element type of each output of a model."""
    return [(_shape(output.get_partial_shape()), output.get_element_type().get_type_name()) for output in model.outputs]


def _shape(shape: openvino.PartialShape) -> tuple[int, ...] | None:
    if shape.rank.is_dynamic:
        return None
    return tuple(dimension.get_length() if dimension.is_static else -1 for dimension in shape)


def moir_operation(op_name: str, operands: Sequence[Operand], properties: Mapping[str, Any], results: int = 1) -> OpsetOp:
    """The operation on Parameters and Constants, its result types not inferred yet."""
    attributes = attributes_of(op_name, properties)
    return operation(op_name).create(
        operands=[_operand(item) for item in operands], properties=attributes, result_types=[UNKNOWN] * results
    )


def _operand(item: Operand) -> SSAValue:
    if item is None:
        return NoneOp.of().results[0]
    if isinstance(item, np.ndarray):
        data = DataAttr.of(item)
        return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)]).results[0]
    return Parameter.create(result_types=[tensor(item[1], from_xml(item[0]))]).results[0]


def infer_with_moir(op_name: str, operands: Sequence[Operand], properties: Mapping[str, Any], results: int = 1) -> list[InferredType]:
    """The same, inferred by moir, whose symbolic shapes must agree. Raises InferenceError if operands contradict the operation."""
    op = moir_operation(op_name, operands, properties, results)
    op.verify(verify_nested_ops=False)
    types = op.infer(KnownValues())
    check_symbolic_shapes(op)
    return [(shape_of(type_), describe(element_of(type_)).xml) for type_ in types]


def evaluate_with_runtime(
    op_name: str,
    arrays: Sequence[np.ndarray[Any, Any]],
    properties: Mapping[str, Any],
    results: int = 1,
    constants: Collection[int] | None = None,
) -> list[np.ndarray[Any, Any]]:
    """Results on the CPU in full precision. Operands are constants except the first, or those listed in `constants`."""
    fixed = range(1, len(arrays)) if constants is None else constants
    operands = [array if index in fixed else (describe(from_numpy(array.dtype)).xml, array.shape) for index, array in enumerate(arrays)]
    model = runtime_model(op_name, operands, properties, results)
    compiled = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    inputs = [_tensor(array) for index, array in enumerate(arrays) if index not in fixed]
    request = compiled.create_infer_request()
    for index, item in enumerate(inputs):
        request.set_input_tensor(index, item)
    request.infer()
    return [_array(request.get_output_tensor(index)) for index in range(results)]


def _tensor(array: np.ndarray[Any, Any]) -> openvino.Tensor:
    row = describe(from_numpy(array.dtype))
    if row.numpy.kind != "V":
        return openvino.Tensor(np.ascontiguousarray(array).reshape(array.shape))
    result = openvino.Tensor(getattr(openvino.Type, row.xml), openvino.Shape(array.shape))
    result.data.reshape(-1).view(np.uint8)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return result


def _array(result: openvino.Tensor) -> np.ndarray[Any, Any]:
    dtype = describe(from_xml(result.get_element_type().get_type_name())).numpy
    data = np.array(result.data)
    return data if data.dtype == dtype or dtype.kind == "O" else data.reshape(-1).view(dtype).reshape(data.shape)


def evaluate_with_moir(
    op_name: str, arrays: Sequence[np.ndarray[Any, Any]], properties: Mapping[str, Any], results: int = 1
) -> list[np.ndarray[Any, Any]]:
    """Results computed by the operation's own `evaluate`. Fails if it has none, or if results are not of the inferred type."""
    op = moir_operation(op_name, list(arrays), properties, results)
    types = op.infer(KnownValues())
    values = evaluate_operation(op, list(arrays))
    assert values is not None, f"{op_name} is not evaluated"
    for value, type_ in zip(values, types, strict=True):
        shape = shape_of(type_)
        assert value.dtype == element_types.to_numpy(element_of(type_)), f"{op_name}: {value.dtype} is not of {type_}"
        assert shape is None or all(known in (-1, actual) for known, actual in zip(shape, value.shape, strict=True))
    return list(values)
