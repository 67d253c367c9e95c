"""Port maps and back edges of operations with bodies: If, Loop and TensorIterator."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import ArrayAttr

from moir.dialects.moir import BodyPort, BodyPortAttr, Slicing
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.emit.order import LayerOrder
from moir.errors import EmissionError
from moir.support.records import Record


class Bodies(Record):
    """The bodies of an operation.

    Args:
        connections: the XML of port maps and back edges.
        elements: name of the XML element and layers of each body.
    """

    connections: str
    elements: tuple[tuple[str, LayerOrder], ...]


def bodies_of(op: OpsetOp, inputs: int) -> Bodies:
    """The bodies of an operation with regions.

    Args:
        op: the operation.
        inputs: the number of its input ports; output ports are numbered after these.

    Raises EmissionError if IR has no such operation with bodies, or cannot represent one of the connections.
    """
    writer = _WRITERS.get(op.KIND)
    if writer is None:
        raise EmissionError("the IR has no form for an operation of this type with a body", operation=op.name, node=name_of(op))
    layers = [LayerOrder(region.block) for region in op.regions]
    try:
        return writer(op, inputs, layers)
    except (IndexError, KeyError) as error:
        raise EmissionError("its port map refers to something that is not there", operation=op.name, node=name_of(op)) from error


def _if(op: OpsetOp, ports: int, layers: list[LayerOrder]) -> Bodies:
    text: list[str] = []
    elements: list[tuple[str, LayerOrder]] = []
    for branch, body in zip(("then", "else"), layers, strict=True):
        operands = op.integers(f"{branch}_inputs")
        if len(operands) != len(body.parameters) or len(op.results) != len(body.results):
            raise IndexError
        inputs = [_entry("input", _operand(op, ports, index, 1), port) for port, index in enumerate(operands)]
        outputs = [_entry("output", ports + index, _result(body, index)) for index in range(len(op.results))]
        text.append(_section(f"{branch}_port_map", inputs + outputs))
        elements.append((f"{branch}_body", body))
    return Bodies("".join(text), tuple(elements))


def _loop(op: OpsetOp, ports: int, layers: list[LayerOrder]) -> Bodies:
    condition = _entry("output", -1, _result(layers[0], op.integer("condition")), purpose="execution_condition")
    return _repeated(op, ports, layers[0], 2, [condition])


def _tensor_iterator(op: OpsetOp, ports: int, layers: list[LayerOrder]) -> Bodies:
    return _repeated(op, ports, layers[0], 0, [])


_WRITERS: dict[str, Callable[[OpsetOp, int, list[LayerOrder]], Bodies]] = {
    "If": _if,
    "Loop": _loop,
    "TensorIterator": _tensor_iterator,
}


def _repeated(op: OpsetOp, ports: int, body: LayerOrder, own_operands: int, special: list[str]) -> Bodies:
    """The body of a loop.

    Args:
        ports: number of input ports.
        own_operands: number of operands of the loop itself (trip count, condition), which no Parameter can receive.
        special: entries of the port map other than those of inputs and outputs.
    """
    inputs, outputs = _ports(op, "inputs"), _ports(op, "outputs")
    if len(inputs) != len(body.parameters) or len(outputs) != len(op.results):
        raise IndexError
    entries: list[str] = []
    back_edges: list[str] = []
    for index, port in enumerate(inputs):
        if port.index is None:
            entries.append(_entry("input", -1, index, purpose="current_iteration"))
        else:
            entries.append(_entry("input", _operand(op, ports, port.index, own_operands), index, port.slicing))
        if port.back_edge is not None:
            back_edges.append(f'\t\t\t\t<edge from-layer="{_result(body, port.back_edge)}" to-layer="{index}"/>\n')
    for index, port in enumerate(outputs):
        if port.index is None:
            raise IndexError
        entries.append(_entry("output", ports + index, _result(body, port.index), port.slicing))
    connections = _section("port_map", entries + special) + _section("back_edges", back_edges)
    return Bodies(connections, (("body", body),))


def _ports(op: OpsetOp, name: str) -> list[BodyPort]:
    return [item.data for item in cast("ArrayAttr[BodyPortAttr]", op.properties[name])]


def _operand(op: OpsetOp, ports: int, index: int, own_operands: int) -> int:
    """The number of the input port of operand `index`, which a body's Parameter receives.

    Raises EmissionError for one of the `own_operands` that the operation keeps for itself.
    """
    if not 0 <= index < ports:
        raise IndexError
    if index < own_operands:
        raise EmissionError(
            f"operand {index} feeds its body, but the IR keeps this operand for the operation itself",
            operation=op.name,
            node=name_of(op),
            hint="give the value once more as an input of its own",
        )
    return index


def _result(body: LayerOrder, index: int) -> int:
    """The position, among the layers of a body, of its Result `index`."""
    if not 0 <= index < len(body.results):
        raise IndexError
    return len(body.operations) - len(body.results) + index


def _entry(element: str, port: int, layer: int, slicing: Slicing | None = None, purpose: str | None = None) -> str:
    cut = ""
    if slicing is not None:
        cut = (
            f' axis="{slicing.axis}" start="{slicing.start}" end="{slicing.end}" stride="{slicing.stride}" part_size="{slicing.part_size}"'
        )
    use = f' purpose="{purpose}"' if purpose else ""
    return f'\t\t\t\t<{element} external_port_id="{port}" internal_layer_id="{layer}"{cut}{use}/>\n'


def _section(element: str, entries: list[str]) -> str:
    return f"\t\t\t<{element}>\n{''.join(entries)}\t\t\t</{element}>\n"
