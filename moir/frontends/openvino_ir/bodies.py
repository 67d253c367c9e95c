"""Port maps and back edges of If, Loop and TensorIterator -> properties; `moir.emit.bodies` does the reverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Operation, Region

from moir.dialects.moir import BodyPort, BodyPortAttr, Slicing
from moir.dialects.properties import integer_attribute, integers_attribute
from moir.frontends.openvino_ir.layers import Layer

CURRENT_ITERATION, EXECUTION_CONDITION = "current_iteration", "execution_condition"
"""Values of `purpose`: of the Parameter of a Loop that counts its iterations, and of the Result that says whether
another iteration follows."""


class Body(NamedTuple):
    """The body of a loop or branch, as read from the file.

    Args:
        block: its block.
        parameters: the index of each Parameter by the id of its layer.
        results: the index of each Result by the id of its layer.
        information: its runtime information.
    """

    block: Block
    parameters: dict[int, int]
    results: dict[int, int]
    information: dict[str, Attribute]


class BodyParts(NamedTuple):
    """The parts of an operation that come from its bodies.

    Args:
        properties: its properties for the port maps.
        regions: its bodies.
        results: its number of results.
        information: the runtime information of each body.
    """

    properties: dict[str, Attribute]
    regions: list[Region]
    results: int
    information: list[dict[str, Attribute]]


ReadBody = Callable[[Element], Body]


def has_bodies(kind: str) -> bool:
    """Whether operations of a kind have bodies."""
    return kind in _READERS


def bodies_of(kind: str, layer: Layer, read: ReadBody) -> BodyParts:
    """The bodies of a layer.

    Args:
        kind: the kind of the operation.
        layer: the layer.
        read: reads the element of a body.

    Raises ModelFileError for missing bodies, and for port maps that refer to nothing.
    """
    return _READERS[kind](layer, read)


def _body(layer: Layer, name: str, read: ReadBody) -> Body:
    element = layer.element.find(name)
    if element is None:
        raise layer.error(f"its {name} is missing")
    return read(element)


def _entries(layer: Layer, section: str, element: str) -> list[Element]:
    return [entry for holder in layer.element.findall(section) for entry in holder.findall(element)]


def _operand(layer: Layer, entry: Element) -> int:
    """The index of the operand that an entry of a port map names by the id of a port. Raises ModelFileError for an
    unknown id.
    """
    number = layer.number(entry, "external_port_id")
    if number not in layer.inputs:
        raise layer.error(f"its port map names the input port {number}, which it does not have")
    return layer.inputs[number]


def _output(layer: Layer, entry: Element) -> int:
    """The index of the output that an entry of a port map names, by the id of the port or, in older files, by the
    index.

    Raises ModelFileError if there is no such output.
    """
    number = layer.number(entry, "external_port_id")
    port = layer.outputs.get(number, number)
    if not 0 <= port < len(layer.outputs):
        raise layer.error(f"its port map names the output port {number}, which it does not have")
    return port


def _inner(layer: Layer, entry: Element, name: str, numbers: dict[int, int], kind: str) -> int:
    """The index of the Parameter or Result of a body that attribute `name` of a port map's entry names by the id of its
    layer.

    `numbers` maps these ids to indices; `kind` names the operation in the ModelFileError for an unknown id.
    """
    number = layer.number(entry, name)
    if number not in numbers:
        raise layer.error(f"{name} of <{entry.tag}> is {number}, which is no {kind} of its body")
    return numbers[number]


def _filled(layer: Layer, layer_ids: dict[int, BodyPort], count: int, what: str) -> list[BodyPort]:
    missing = next((index for index in range(count) if index not in layer_ids), None)
    if missing is not None:
        raise layer.error(f"its port map has no entry for {what} {missing}")
    return [layer_ids[index] for index in range(count)]


def _ports(ports: Sequence[BodyPort]) -> ArrayAttr[BodyPortAttr]:
    return ArrayAttr([BodyPortAttr(port) for port in ports])


def _slicing(layer: Layer, entry: Element) -> Slicing | None:
    if "axis" not in entry.attrib:
        return None
    defaults = {"axis": None, "start": 0, "end": -1, "stride": 1, "part_size": 1}
    return Slicing(*(layer.number(entry, name, default) for name, default in defaults.items()))


def _repeated(layer: Layer, read: ReadBody, *, counts: bool) -> BodyParts:
    """Read the body of a Loop (`counts`, whose body may have the iteration count as a Parameter), or of a
    TensorIterator.

    Raises ModelFileError for port maps and back edges that do not fit the body.
    """
    body = _body(layer, "body", read)
    inputs: dict[int, BodyPort] = {}
    for entry in _entries(layer, "port_map", "input"):
        number = _inner(layer, entry, "internal_layer_id", body.parameters, "Parameter")
        if number in inputs:
            raise layer.error(f"its port map has two entries for Parameter {number}")
        if counts and entry.get("purpose") == CURRENT_ITERATION:
            inputs[number] = BodyPort(None)
        else:
            inputs[number] = BodyPort(_operand(layer, entry), slicing=_slicing(layer, entry))
    for edge in _entries(layer, "back_edges", "edge"):
        result = _inner(layer, edge, "from-layer", body.results, "Result")
        number = _inner(layer, edge, "to-layer", body.parameters, "Parameter")
        if number not in inputs or inputs[number].back_edge is not None:
            raise layer.error(f"Parameter {number} of its body has no initial value, or two back edges")
        inputs[number] = BodyPort(inputs[number].index, result, inputs[number].slicing)
    outputs: dict[int, BodyPort] = {}
    condition: int | None = None
    for entry in _entries(layer, "port_map", "output"):
        result = _inner(layer, entry, "internal_layer_id", body.results, "Result")
        if counts and entry.get("purpose") == EXECUTION_CONDITION:
            condition = result
        if layer.number(entry, "external_port_id") >= 0:
            outputs[_output(layer, entry)] = BodyPort(result, slicing=_slicing(layer, entry))
    properties: dict[str, Attribute] = {
        "inputs": _ports(_filled(layer, inputs, len(body.parameters), "Parameter")),
        "outputs": _ports(_filled(layer, outputs, len(layer.outputs), "output")),
    }
    if counts:
        if condition is None:
            raise layer.error("no Result of its body is the condition of the next iteration")
        properties["condition"] = integer_attribute(condition)
    return BodyParts(properties, [Region(body.block)], len(layer.outputs), [body.information])


def _loop(layer: Layer, read: ReadBody) -> BodyParts:
    return _repeated(layer, read, counts=True)


def _tensor_iterator(layer: Layer, read: ReadBody) -> BodyParts:
    return _repeated(layer, read, counts=False)


def _if(layer: Layer, read: ReadBody) -> BodyParts:
    properties: dict[str, Attribute] = {}
    regions: list[Region] = []
    information: list[dict[str, Attribute]] = []
    for branch in ("then", "else"):
        body = _body(layer, f"{branch}_body", read)
        inputs: dict[int, BodyPort] = {}
        for entry in _entries(layer, f"{branch}_port_map", "input"):
            number = _inner(layer, entry, "internal_layer_id", body.parameters, "Parameter")
            inputs[number] = BodyPort(_operand(layer, entry))
        operands = [port.index or 0 for port in _filled(layer, inputs, len(body.parameters), f"{branch} Parameter")]
        properties[f"{branch}_inputs"] = integers_attribute(tuple(operands))
        outputs: dict[int, BodyPort] = {}
        for entry in _entries(layer, f"{branch}_port_map", "output"):
            result = _inner(layer, entry, "internal_layer_id", body.results, "Result")
            if any(port.index == result for port in outputs.values()):
                raise layer.error(f"Result {result} of its {branch}_body gives two outputs")
            outputs[_output(layer, entry)] = BodyPort(result)
        _arrange(body, [port.index or 0 for port in _filled(layer, outputs, len(layer.outputs), "output")])
        regions.append(Region(body.block))
        information.append(body.information)
    return BodyParts(properties, regions, len(layer.outputs), information)


def _arrange(body: Body, order: list[int]) -> None:
    """Arrange the Results of a branch so that result k of the operation is Result k, which was Result `order[k]`.

    A Result that is not a result of the operation is removed.
    """
    if order == list(range(len(body.results))):
        return
    results: list[Operation] = [op for op in body.block.ops if op.name == "opset1.Result"]
    for op in results:
        op.detach()
    for index in order:
        body.block.add_op(results[index])
    for index in set(range(len(results))) - set(order):
        results[index].erase()


_READERS: dict[str, Callable[[Layer, ReadBody], BodyParts]] = {"If": _if, "Loop": _loop, "TensorIterator": _tensor_iterator}
