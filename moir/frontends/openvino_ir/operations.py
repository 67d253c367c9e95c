"""Layers -> operations of the opset dialects, and of the dialect `extension` for types that no operation set has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types, opset
from moir.dialects.discardable import BODY_INFORMATION, DIMENSION_NAMES, LAYER_VERSION, PORT_INFORMATION, UNKNOWN_ATTRIBUTES
from moir.dialects.extension import EXTENSION, extension_class
from moir.dialects.names import add_tensor_names
from moir.dialects.opset.infrastructure import parse_shape
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.dialects.xml import SCALARS, operation_of_layer, properties_of
from moir.errors import InferenceError, ModelFileError
from moir.frontends.openvino_ir.bodies import Body, BodyParts, bodies_of, has_bodies
from moir.frontends.openvino_ir.layers import Layer, Network, parsed_number
from moir.frontends.openvino_ir.runtime_info import entries_of, model_entries
from moir.frontends.openvino_ir.weights import WeightsFile
from moir.rewriting.verified_form import form_of

MAXIMUM_RESULTS = 1 << 16
"""Largest number of outputs, so that a small file cannot demand unlimited memory."""

NO_BODIES = BodyParts({}, [], 0, [])

PORT_ENTRIES_OF = {"opset1.Parameter": "out0", "opset1.Result": "in0"}
"""Operation -> the port whose layout is stored at the operation itself (see `moir.emit.runtime_info`)."""


class BlockBuilder:
    """Builds the blocks of one file.

    Args:
        weights: the `.bin`.
    """

    def __init__(self, weights: WeightsFile) -> None:
        self._weights = weights
        self._properties: dict[tuple[object, ...], tuple[dict[str, Attribute], dict[str, str]]] = {}
        self.unknown_sets: dict[str, list[str]] = {}
        """The layers of versions that are not operation sets, by the version."""

    def body(self, holder: Element) -> Body:
        """The block of a `<net>` or of a body, its types not inferred yet.

        Raises ModelFileError, with the name of the layer, for anything that the runtime would not read either.
        """
        network = Network(holder)
        values: dict[int, Sequence[SSAValue]] = {}
        operations: dict[int, Operation] = {}
        for position in network.in_order():
            layer = network.layers[position]
            operands: list[SSAValue] = []
            for source in layer.sources:
                assert source is not None
                results = values[source.layer]
                if source.output >= len(results):
                    raise network.layers[source.layer].error(f"its output {source.output} is used, but it has {len(results)} outputs")
                operands.append(results[source.output])
            try:
                op = operations[position] = self._operation(layer, operands)
            except (ModelFileError, InferenceError) as error:
                if error.operation is not None:
                    raise
                raise layer.error(error.reason if error.location is None else f"{error.location}: {error.reason}", error.hint) from error
            values[position] = op.results
        # Parameters and Results keep the order of the file, which is that of inputs and outputs.
        block = Block(list(operations.values()))
        return Body(
            block,
            _numbered(layer.id for layer in network.layers if layer.is_parameter),
            _numbered(layer.id for layer in network.layers if layer.is_result),
            model_entries(holder),
        )

    def _operation(self, layer: Layer, operands: list[SSAValue]) -> Operation:
        operation = _class_of(layer)
        if not operation.name.startswith("opset") and layer.version != EXTENSION:
            self.unknown_sets.setdefault(layer.version, []).append(f"{layer.type} {layer.name!r}")
        data = layer.element.find("data")
        texts = {} if data is None else dict(data.attrib)
        bodies = bodies_of(operation.KIND, layer, self.body) if has_bodies(operation.KIND) else NO_BODIES
        types: Sequence[Attribute] = ()
        is_typed = True
        if operation.name == "opset1.Constant":
            is_typed = False
            properties, unknown = {"value": self._constant(layer, texts)}, _without(texts, "element_type", "shape", "offset", "size")
        elif operation.name == "opset1.Parameter":
            properties, types = parameter(layer, texts)
            unknown = _without(texts, "element_type", "shape")
        elif operation.name.startswith("opset"):
            properties, unknown = self._properties_of(operation, texts)
            properties |= bodies.properties
            is_typed = False
        else:
            properties, unknown = {name: string_attribute(text) for name, text in texts.items()}, {}
            types = [port_type(port) for port in layer.ports("output")]
        attributes = _attributes(layer, operation, unknown)
        if any(bodies.information):
            attributes[BODY_INFORMATION] = ArrayAttr([DictionaryAttr(each) for each in bodies.information])
        op = operation.create(operands=operands, properties=properties, attributes=attributes, regions=bodies.regions)
        if not is_typed:
            count = bodies.results if bodies.regions else _result_count(op, layer)
            types = [UNKNOWN] * count
        op.results = SSAValues(OpResult(type_, op, index) for index, type_ in enumerate(types))
        if operation.name == "opset1.Result":
            for names in filter(None, [layer.element.get("output_names")]):
                add_tensor_names(operands[0], names, required=True)
        elif len(op.results):
            _name_tensors(op, layer)
        self._check(op)
        return op

    def _properties_of(self, operation: type[OpsetOp], texts: dict[str, str]) -> tuple[dict[str, Attribute], dict[str, str]]:
        """The properties of an operation and the attributes that it does not define, from the texts in `<data>`.

        Raises ModelFileError for a text that is not of the property's kind. Layers of one class often have the same
        texts, so results are cached.
        """
        key = (operation, *texts.items())
        known_properties = self._properties.get(key)
        if known_properties is None:
            try:
                read = properties_of(operation, texts)
            except ValueError as error:
                raise ModelFileError(str(error)) from error
            known_properties = self._properties[key] = (operation.completed(read.properties), dict(read.unknown))
        return dict(known_properties[0]), known_properties[1]

    def _constant(self, layer: Layer, texts: dict[str, str]) -> Attribute:
        missing = [name for name in ("element_type", "shape", "offset", "size") if name not in texts]
        if missing:
            raise layer.error(f"its attribute {missing[0]} is missing")
        shape = parse_shape(texts["shape"])
        if shape is None or min(shape, default=0) < 0:
            raise layer.error(f"{texts['shape']!r} is not a shape of a constant")
        bounds = [parsed_number(texts[name]) for name in ("offset", "size")]
        if None in bounds:
            raise layer.error(f"offset {texts['offset']!r} or size {texts['size']!r} is not a number")
        offset, size = (number or 0 for number in bounds)
        return self._weights.constant(element_type(texts["element_type"]), shape, offset, size)

    def _check(self, op: OpsetOp) -> None:
        """Check that an operation satisfies its definition, so that its types can be inferred; else raises
        ModelFileError.
        """
        form = form_of(type(op))
        try:
            if form is None or not form.fits(op):
                op.verify_()
            else:
                op.check_invariants()
        except VerifyException as error:
            raise ModelFileError(str(error)) from error


_OF_RUNTIME = ("Parameter", "Result", "Const")
"""Types of layers that are never operations of an extension."""


def _class_of(layer: Layer) -> type[OpsetOp]:
    """The class of a layer's operation. Raises ModelFileError for a type that its operation set does not have."""
    operation = operation_of_layer(layer.type, layer.version)
    if operation is not None:
        return operation
    if layer.version.startswith("opset") and layer.version not in opset.OPSETS:
        raise layer.error(f"there is no operation set {layer.version!r}", f"the newest one is {opset.OPSETS[-1]}")
    if layer.type in _OF_RUNTIME and layer.version != EXTENSION:
        raise layer.error(f"there is no operation set {layer.version!r}, and no extension of the runtime has such a layer")
    if layer.version.startswith("opset"):
        newest = operation_of_layer(layer.type, opset.OPSETS[-1])
        if newest is not None:
            raise layer.error(f"{layer.version} has no such operation; {newest.name} is the newest")
        raise layer.error("no operation set has such an operation", opset.similar_operations(f"{layer.version}.{layer.type}"))
    name = f"{EXTENSION}.{layer.type}"
    return opset.operation(name) if layer.version == EXTENSION and opset.is_registered(name) else extension_class(layer.type)


def _result_count(op: OpsetOp, layer: Layer) -> int:
    """The number of results of an operation. The file may write fewer ports, or more.

    Raises ModelFileError for a number that no operation has.
    """
    try:
        count = op.result_count()
    except InferenceError:
        # The number of results depends on operand types, which are inferred once all operations are built.
        return len(layer.outputs)
    if count > MAXIMUM_RESULTS:
        raise ModelFileError(f"an operation with {count} outputs is not possible")
    return max(count, 0)


def _attributes(layer: Layer, operation: type[OpsetOp], unknown: dict[str, str]) -> dict[str, Attribute]:
    """The discardable attributes of an operation: its name, its runtime information, and the attributes in `unknown`,
    which its definition lacks.
    """
    attributes: dict[str, Attribute] = {"name": string_attribute(layer.name)}
    entries = entries_of(layer.element) if layer.element.find("rt_info") is not None else {}
    ports: dict[str, Attribute] = {}
    own = PORT_ENTRIES_OF.get(operation.name)
    for section, prefix in (("input", "in"), ("output", "out")):
        for index, port in enumerate(layer.ports(section)):
            if port.find("rt_info") is None:
                continue
            runtime_info = entries_of(port)
            if own == f"{prefix}{index}" and "layout" in runtime_info:
                entries["layout"] = runtime_info.pop("layout")
            if runtime_info:
                ports[f"{prefix}{index}"] = DictionaryAttr(runtime_info)
    if operation.name == "opset1.Parameter" and isinstance(named := entries.pop(DIMENSION_NAMES, None), DictionaryAttr):
        attributes[DIMENSION_NAMES] = _dimension_names(layer, named)
    if entries:
        attributes["runtime_info"] = DictionaryAttr(entries)
    if ports:
        attributes[PORT_INFORMATION] = DictionaryAttr(ports)
    if unknown:
        attributes[UNKNOWN_ATTRIBUTES] = DictionaryAttr({name: string_attribute(text) for name, text in unknown.items()})
    if not operation.name.startswith("opset") and layer.version != EXTENSION:
        attributes[LAYER_VERSION] = string_attribute(layer.version)
    return attributes


def _dimension_names(layer: Layer, named: DictionaryAttr) -> Attribute:
    """The names of the dimensions of an input layer, an empty text for a static one and for one without a name.

    `named` is the entry of its `<rt_info>` that `moir.emit.runtime_info` writes: `d0`, `d1`, … -> name.
    """
    sizes = [parsed_number(each.text) for port in layer.ports("output")[:1] for each in port.findall("dim")]
    names = {key: value.data for key, value in named.data.items() if isinstance(value, StringAttr)}
    return strings_attribute([names.get(f"d{axis}", "") if size is None or size < 0 else "" for axis, size in enumerate(sizes)])


def _name_tensors(op: Operation, layer: Layer) -> None:
    """Set the names of the tensors of an operation."""
    names = [port.get("names", "") for port in layer.ports("output")][: len(op.results)]
    if any(names):
        op.attributes["tensor_names"] = strings_attribute(names + [""] * (len(op.results) - len(names)))


def complete_names(block: Block) -> None:
    """Record that a model without tensor names has none, so that none are derived from names of nodes."""
    for op in block.ops:
        if op.name in ("opset1.Parameter", "opset1.Result"):
            owner = op.operands[0].owner if op.operands else op
            if isinstance(owner, Operation) and "tensor_names" not in owner.attributes:
                owner.attributes["tensor_names"] = strings_attribute([""] * len(owner.results))


def element_type(text: str) -> Attribute:
    """The element type that a text in `<data>` names. Raises ModelFileError for any other text."""
    try:
        return SCALARS["element"].read(text)
    except KeyError:
        raise ModelFileError(f"{text!r} is not an element type") from None


def port_type(port: Element) -> Attribute:
    """The type of an output according to the file, for operations whose types cannot be inferred.

    A port without dimensions may be a scalar or of dynamic rank: the IR does not distinguish them.
    """
    try:
        element = element_types.from_precision(port.get("precision", ""))
    except KeyError:
        element = element_types.dynamic
    dimensions = [parsed_number(each.text) for each in port.findall("dim")]
    shape = tuple([-1 if each is None or each < 0 else each for each in dimensions])
    return tensor(shape or None, element)


def parameter(layer: Layer, texts: dict[str, str]) -> tuple[dict[str, Attribute], list[Attribute]]:
    """Properties and types of a Parameter. A Parameter without shape is a scalar, as in the runtime."""
    text = texts.get("shape", "").strip().strip("[]")
    entries = [_dimension(entry.strip()) for entry in text.split(",")] if text and text != "..." else []
    element = element_type(texts["element_type"]) if "element_type" in texts else element_types.dynamic
    if len(layer.ports("output")) > 1:
        raise layer.error("an input has one output port")
    shape = None if text == "..." else tuple([int(entry) if entry.isdecimal() else -1 for entry in entries])
    properties: dict[str, Attribute] = {}
    if any(".." in entry for entry in entries):
        properties["bounds"] = string_attribute(",".join(entries))
    return properties, [tensor(shape, element)]


def _dimension(text: str) -> str:
    """A dimension of a Parameter in the notation of `bounds`: a number, `low..high`, or `?` without bounds.

    Raises ModelFileError for any other text.
    """
    match = re.fullmatch(r"(\d{0,18})\.\.(\d{0,18})", text, re.ASCII)
    if match is None:
        if text in ("?", "-1"):
            return "?"
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
            raise ModelFileError(f"{text!r} is not a dimension")
        return text
    low, high = int(match[1] or 0), int(match[2]) if match[2] else None
    if (low == 0 and high is None) or (high is not None and high < low):
        return "?"
    return str(low) if low == high else text


def _without(texts: dict[str, str], *names: str) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name not in names}


def _numbered(ids: Iterable[int]) -> dict[int, int]:
    return {number: position for position, number in enumerate(ids)}
