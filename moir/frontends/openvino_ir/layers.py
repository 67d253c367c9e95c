"""The layers and edges of a `<net>` or of a body, before they are operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from moir.analysis.order import stable_order
from moir.errors import ModelFileError


class Source(NamedTuple):
    """The end of an edge at its producer: the position of the layer, and the index of its output."""

    layer: int
    output: int


class Layer:
    """A layer.

    Args:
        element: its element.

    Attributes:
        sources: for each input the producer, once the edges are read.

    Raises ModelFileError for a layer without id, name, type or version, and for ports that are not numbered.
    """

    __slots__ = ("element", "id", "inputs", "name", "outputs", "sources", "type", "version")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.name = element.get("name", "")
        self.type = element.get("type", "")
        self.version = element.get("version", "")
        for name in ("id", "name", "type", "version"):
            if name not in element.attrib:
                raise self.error(f"a layer has no {name}")
        self.id = self.number(element, "id")
        self.inputs = self._ports("input")
        self.outputs = self._ports("output")
        self.sources: list[Source | None] = [None] * len(self.inputs)

    @property
    def is_parameter(self) -> bool:
        """Whether the layer is an input of the model or the body."""
        return self.type == "Parameter"

    @property
    def is_result(self) -> bool:
        """Whether the layer is an output of the model or the body."""
        return self.type == "Result"

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error that names the layer."""
        operation = ".".join(part for part in (self.version, self.type) if part)
        return ModelFileError(reason, operation=operation or None, node=self.name or None, hint=hint)

    def number(self, element: Element, name: str, default: int | None = None) -> int:
        """A numeric attribute of an element. Raises ModelFileError if it is not a number, or missing without a
        default."""
        text = element.get(name)
        if text is None and default is not None:
            return default
        value = parsed_number(text)
        if value is None:
            said = "is missing" if text is None else f"is {text!r}, not a number"
            raise self.error(f"{name} of <{element.tag}> {said}")
        return value

    def ports(self, section: str) -> list[Element]:
        """The ports of `input` or `output`."""
        return [port for holder in self.element.findall(section) for port in holder.findall("port")]

    def _ports(self, section: str) -> dict[int, int]:
        """The position of each port by its id. Inputs and outputs may use the same ids."""
        position_by_id: dict[int, int] = {}
        for position, port in enumerate(self.ports(section)):
            number = self.number(port, "id")
            if number in position_by_id:
                raise self.error(f"two ports of its {section} have the id {number}")
            position_by_id[number] = position
        return position_by_id


def parsed_number(text: str | None) -> int | None:
    """The integer of a text; None if the text is not an integer, or if the integer exceeds the size of any file."""
    if text is None or len(text) > 20:
        return None
    try:
        return int(text)
    except ValueError:
        return None


class Network:
    """The layers of a `<net>` or of a body, connected.

    Args:
        holder: the element with `<layers>` and `<edges>`.

    Raises ModelFileError for duplicate ids, for edges to ports that do not exist, and for two edges that end at one
    input.
    """

    def __init__(self, holder: Element) -> None:
        layers = holder.find("layers")
        self.layers = [Layer(element) for element in (() if layers is None else layers.findall("layer"))]
        self.positions: dict[int, int] = {}
        for position, layer in enumerate(self.layers):
            if layer.id in self.positions:
                other = self.layers[self.positions[layer.id]]
                raise layer.error(f"its id {layer.id} is that of layer {other.name!r}, too")
            self.positions[layer.id] = position
        edges = holder.find("edges")
        for edge in () if edges is None else edges.findall("edge"):
            self._connect(edge)
        for layer in self.layers:
            if None in layer.sources:
                raise layer.error(f"no edge ends at its input {layer.sources.index(None)}")

    def _connect(self, edge: Element) -> None:
        numbers = {name: parsed_number(edge.get(name)) for name in ("from-layer", "from-port", "to-layer", "to-port")}
        for name, number in numbers.items():
            if number is None:
                raise ModelFileError(f"{name} of an edge is {edge.get(name)!r}, not a number")
        source, target = (self._end(numbers, name) for name in ("from", "to"))
        if source.is_result:
            raise source.error("an edge begins at it, but an output of the model gives no value")
        output = _port(source.outputs, numbers["from-port"], source, "output")
        position = _port(target.inputs, numbers["to-port"], target, "input")
        if target.sources[position] is not None:
            raise target.error(f"two edges end at its input {position}")
        target.sources[position] = Source(self.positions[source.id], output)

    def _end(self, numbers: Mapping[str, int | None], end: str) -> Layer:
        number = numbers[f"{end}-layer"]
        position = None if number is None else self.positions.get(number)
        if position is None:
            raise ModelFileError(f"an edge is {end} layer {number}, which does not exist")
        return self.layers[position]

    def in_order(self) -> list[int]:
        """The positions of the layers: producers before users, Results last, otherwise as in the file.

        Raises ModelFileError for a cycle, with the names of some of its layers.
        """
        sources = [dict.fromkeys(source.layer for source in layer.sources if source is not None) for layer in self.layers]
        order = range(len(sources)) if _is_sorted(sources) else stable_order(sources)
        if len(order) < len(sources):
            left = set(range(len(sources))) - set(order)
            names = [self.layers[position].name for position in _cycle(left, sources)]
            raise ModelFileError(f"the graph has a cycle: {' -> '.join([*names, names[0]][:12])}")
        results = [position for position, layer in enumerate(self.layers) if layer.is_result]
        after = frozenset(results)
        return [position for position in order if position not in after] + results


def _port(ports: Mapping[int, int], number: int | None, layer: Layer, section: str) -> int:
    position = None if number is None else ports.get(number)
    if position is None:
        raise layer.error(f"an edge is at port {number}, but its {section} has no such port")
    return position


def _is_sorted(sources: Sequence[Iterable[int]]) -> bool:
    return all(source < position for position, needed in enumerate(sources) for source in needed)


def _cycle(left: set[int], sources: Sequence[Iterable[int]]) -> list[int]:
    """The layers of one cycle, among layers `left`, each of which uses the output of another of them; `sources` has the
    producers of all layers.
    """
    path: dict[int, int] = {}
    position = min(left)
    while position not in path:
        path[position] = len(path)
        position = next(source for source in sources[position] if source in left)
    return list(path)[path[position] :][::-1]
