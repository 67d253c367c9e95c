"""A model as the XML of OpenVINO IR, version 11 if it names no other: layers and edges.

The name of an operation determines type and version of its layer: `opset8.Gather` is written as `type="Gather"
version="opset8"`, also for an operation of a user's dialect. The XML is written piece by piece, without a tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.discardable import LAYER_VERSION, UNKNOWN_ATTRIBUTES
from moir.dialects.framework import decode_kind
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.names import OUTPUT_NAMES, name_of, tensor_names_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of
from moir.dialects.xml import layer_type, written_properties
from moir.emit.operand_limits import check_attributes, check_operands
from moir.emit.order import LayerOrder, misplaced_operand, operands_of
from moir.emit.runtime_info import LayerInformation, body_information, model_information
from moir.emit.text import escape_name, escape_value, parameter_shape, plain_text, port_text, property_text
from moir.emit.weights import Weights
from moir.errors import ConversionError, EmissionError
from moir.support.records import Record

NEWEST_VERSION = 11
"""The newest version of OpenVINO IR, which is written unless a model records another one."""

_EXTENSION = "extension"
_EMPTY_DATA, _END_OF_DATA = "\t\t\t<data", "/>\n"


class ModelWriter:
    """Writes one model.

    Args:
        write: called with each piece of the XML.
        weights: collects the constants of the model and of all its bodies.
    """

    def __init__(self, write: Callable[[str], object], weights: Weights) -> None:
        self.layers = 0
        self._write = write
        self._weights = weights
        # Keyed by identity: attributes live as long as the module, and hashing them costs more than these look-ups
        # save.
        self._data_elements: dict[tuple[object, ...], str] = {}
        self._ports: dict[int, tuple[str, str]] = {}
        self._input_elements: dict[tuple[object, ...], str] = {}

    def model(self, model: ModelOp, conversion_parameters: Mapping[str, str] | None) -> None:
        """Write the whole model. Raises EmissionError if IR cannot represent it."""
        version = model.attributes.get(ModuleLevel.IR_VERSION)
        number = NEWEST_VERSION if version is None else value_of(version)
        self._write(f'<?xml version="1.0"?>\n<net name="{escape_name(model.sym_name.data)}" version="{number}">\n')
        layers = LayerOrder(model.block)
        self._network(layers, layers.tensor_names)
        self._write(model_information(model, conversion_parameters))
        self._write("</net>\n")

    def _network(self, layers: LayerOrder, tensor_names: Mapping[OpResult, str]) -> None:
        """Write `<layers>` and `<edges>`; `tensor_names` has the names of those results whose operations
        declare none.
        """
        sources: dict[int, str] = {}
        edges: list[str] = []
        informed = {op.operands[0]: op for op in layers.results if "runtime_info" in op.attributes}
        self._write("\t<layers>\n")
        for index, (op, name) in enumerate(zip(layers.operations, layers.names, strict=True)):
            try:
                operands = operands_of(op)
                self._layer(op, index, name, operands, tensor_names, informed)
                for port, operand in enumerate(operands):
                    source = sources.get(id(operand))
                    if source is None:
                        raise misplaced_operand(op)
                    edges.append(f'\t\t<edge {source} to-layer="{index}" to-port="{port}"/>\n')
            except ConversionError as error:
                if error.operation is not None:
                    raise
                raise EmissionError(error.reason, operation=op.name, node=name_of(op), hint=error.hint) from error
            for port, result in enumerate(op.results, len(operands)):
                sources[id(result)] = f'from-layer="{index}" from-port="{port}"'
        self._write(f"\t</layers>\n\t<edges>\n{''.join(edges)}\t</edges>\n")
        self.layers += len(layers.operations)

    def _layer(
        self,
        op: OpsetOp,
        index: int,
        name: str,
        operands: list[SSAValue],
        tensor_names: Mapping[OpResult, str],
        informed: Mapping[SSAValue, Operation],
    ) -> None:
        """Write a layer.

        `informed` maps values to the Results that use them and have runtime information, which IR stores at the output
        port that produces the value.
        """
        kind = _layer_form(type(op)).kind or _own_kind(op)
        data = self._data(op)
        if UNKNOWN_ATTRIBUTES in op.attributes:
            data = _with_unknown_attributes(data, op)
        outputs = op.attributes.get(OUTPUT_NAMES)
        if outputs is not None and isinstance(outputs, StringAttr):
            kind += f' {OUTPUT_NAMES}="{escape_name(outputs.data)}"'
        parts = [f'\t\t<layer id="{index}" name="{escape_name(name)}" {kind}>\n', data]
        information = LayerInformation.of(op)
        parts.append(information.layer)
        # The runtime information of a Result belongs to the port of the operation that produces its operand.
        inputs: Mapping[int, str] = information.inputs if op.results or "runtime_info" not in op.attributes else {}
        if operands:
            parts.append(self._inputs(op, operands, inputs))
        if op.results:
            parts.append("\t\t\t<output>\n")
            names = tensor_names_of(op)
            for port_index, (result, tensor_name) in enumerate(zip(op.results, names, strict=False)):
                if tensor_names and not tensor_name:
                    tensor_name = tensor_names.get(result, "")
                label = f' names="{escape_name(tensor_name)}"' if tensor_name else ""
                port_information = information.outputs.get(port_index, "")
                if not port_information and informed and result in informed:
                    port_information = LayerInformation.of(informed[result]).inputs.get(0, "")
                parts.append(self._port(result.type, len(operands) + port_index, label, port_information))
            parts.append("\t\t\t</output>\n")
        self._write("".join(parts))
        if op.regions:
            from moir.emit.bodies import bodies_of

            bodies = bodies_of(op, len(operands))
            self._write(bodies.connections)
            for number, (element, layers) in enumerate(bodies.elements):
                self._write(f"<{element}>\n")
                self._network(layers, {})
                self._write(f"{body_information(op, number)}</{element}>\n")
        self._write("\t\t</layer>\n")

    def _inputs(self, op: OpsetOp, operands: list[SSAValue], information: Mapping[int, str]) -> str:
        """The `<input>` of a layer. The types of its operands are checked."""
        signature = (op.name, *[id(operand.type) for operand in operands])
        text = None if information else self._input_elements.get(signature)
        if text is None:
            check_operands(op, operands)
            ports = [self._port(each.type, port, "", information.get(port, "")) for port, each in enumerate(operands)]
            text = f"\t\t\t<input>\n{''.join(ports)}\t\t\t</input>\n"
            if not information:
                self._input_elements[signature] = text
        return text

    def _port(self, type_: Attribute, port: int, label: str, information: str) -> str:
        text = self._ports.get(id(type_))
        if text is None:
            text = self._ports[id(type_)] = port_text(type_)
        precision, dimensions = text
        if not dimensions and not information:
            return f'\t\t\t\t<port id="{port}" precision="{precision}"{label}/>\n'
        return f'\t\t\t\t<port id="{port}" precision="{precision}"{label}>\n{dimensions}{information}\t\t\t\t</port>\n'

    def _data(self, op: OpsetOp) -> str:
        """The `<data>` of a layer, empty if it has no attributes."""
        if op.name == "opset1.Constant":
            return self._constant_data(op)
        if op.name == "opset1.Parameter":
            return _parameter_data(op)
        properties = op.properties
        key = (type(op), *properties, *map(id, properties.values()))
        text = self._data_elements.get(key)
        if text is None:
            text = self._data_elements[key] = _data_element(op)
        return text

    def _constant_data(self, op: OpsetOp) -> str:
        value = op.properties.get("value")
        if not isinstance(value, DataAttr):
            raise EmissionError("its value is no #moir.data")
        offset, size = self._weights.place(value)
        kind = element_types.describe(value.element).xml
        shape = ",".join(map(str, value.shape))
        return f'\t\t\t<data element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"/>\n'


def _data_element(op: OpsetOp) -> str:
    """The `<data>` of a layer that is neither a Constant nor a Parameter."""
    check_attributes(op)
    properties, completed = op.properties, op.completed(op.properties)
    form = _layer_form(type(op))
    written: Iterable[tuple[str, Attribute | None]] = form.properties
    if not form.kind and not form.properties:
        # An operation without a class: all of its properties are written to `<data>`.
        written = [(_attribute_name(name), None) for name in properties]
    texts: list[str] = []
    for name, default in written:
        attribute = properties.get(name, default)
        if attribute is not None:
            # Empty dilations mean ones; readers of an IR do not complete them.
            text = property_text(attribute) or property_text(completed.get(name, attribute))
            texts.append(f' {name}="{text}"')
    return f"{_EMPTY_DATA}{''.join(texts)}{_END_OF_DATA}" if texts else ""


def _with_unknown_attributes(data: str, op: Operation) -> str:
    """`data`, the `<data>` of a layer, with the attributes added that the operation's class does not declare; readers
    of an IR ignore these.
    """
    unknown = op.attributes[UNKNOWN_ATTRIBUTES]
    if not isinstance(unknown, DictionaryAttr):
        raise EmissionError(f"{UNKNOWN_ATTRIBUTES} is not a dictionary")
    texts = [f' {_attribute_name(name)}="{escape_value(plain_text(value))}"' for name, value in unknown.data.items()]
    return f"{data.removesuffix(_END_OF_DATA) or _EMPTY_DATA}{''.join(texts)}{_END_OF_DATA}"


def _parameter_data(op: Operation) -> str:
    bounds = op.properties.get("bounds")
    type_ = op.results[0].type
    shape = parameter_shape(type_, bounds.data if isinstance(bounds, StringAttr) else None)
    element = element_of(type_)
    if not element_types.is_element_type(element):
        raise EmissionError(f"the IR has no values of type {type_}")
    return f'\t\t\t<data shape="{shape}" element_type="{element_types.describe(element).xml}"/>\n'


class _LayerForm(Record):
    """The parts of the XML of a layer that are equal for all operations of a class.

    Args:
        kind: the XML of type and version; empty if each operation has its own (`_own_kind`).
        properties: names and defaults of the properties that are written to `<data>`, in the order of the class.
    """

    kind: str
    properties: tuple[tuple[str, Attribute | None], ...]


@cache
def _layer_form(operation: type[OpsetOp]) -> _LayerForm:
    version, _, type_ = operation.name.partition(".")
    if version.startswith("opset"):
        type_ = layer_type(operation)
    return _LayerForm(
        "" if version == _EXTENSION else _kind(type_, version),
        tuple((escape_value(name), spec.default) for name, spec in written_properties(operation).items()),
    )


def _own_kind(op: OpsetOp) -> str:
    """The XML of type and version of a layer of the `extension` dialect.

    A class that a user wrote for such an operation declares neither type nor version.
    """
    version = op.attributes.get(LAYER_VERSION)
    return _kind(decode_kind(op.name.partition(".")[2]), version.data if isinstance(version, StringAttr) else _EXTENSION)


def _kind(type_: str, version: str) -> str:
    return f'type="{escape_name(type_)}" version="{escape_name(version)}"'


def _attribute_name(name: str) -> str:
    if re.fullmatch(r"[\w.-]+", name, re.ASCII) is None or name[0] in "-.0123456789":
        raise EmissionError(f"{name!r} cannot be the name of an attribute in XML")
    return name
