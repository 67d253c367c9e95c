"""The functions of a model file: the graph of their calls, and the size of the result of inlining them.

Source: FunctionProto in onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moir.frontends.onnx.structure import Function, SourceNode, StructureReader
from moir.support.records import Record

FREE_PARTS = 100_000
"""Number of nodes, inputs and outputs that inlining may add to any model.

A few hundred bytes of nested functions can stand for more than fits into memory.
"""
FREE_TEXT = 16 << 20
"""Number of characters of the names of inlined nodes in any model; a name begins with the names of all calls around
it."""
GROWTH = 32
"""The most nodes and text that inlining may add, as a multiple of those in the file."""
MAXIMUM_NESTING = 64
"""Largest nesting of calls and graphs."""


class Functions:
    """The functions of one file, by domain, operation type and overload.

    Args:
        reader: creates the errors, which name the file.
        functions: the functions.

    Raises ModelFileError if two functions have the same key, if one calls itself, directly or not, or if inlining adds
    too much.
    """

    def __init__(self, reader: StructureReader, functions: Iterable[Function]) -> None:
        self.reader = reader
        self._by_key: dict[tuple[str, str, str], Function] = {}
        self._measured: dict[tuple[str, str, str], _Size] = {}
        for function in functions:
            if function.key in self._by_key:
                raise reader.error(f"function {self.name(function)!r} is there twice")
            self._by_key[function.key] = function

    @staticmethod
    def name(function: Function) -> str:
        """A function's name, for messages."""
        return ".".join(part for part in function.key if part)

    def find(self, node: SourceNode) -> Function | None:
        """The function that a node calls; None if the node is an operation."""
        return self._by_key.get(node.key) if self._by_key else None

    def check(self, nodes: Iterable[SourceNode]) -> None:
        """Raises ModelFileError if inlining all calls in the nodes and their graphs does not end, or exceeds the
        limits.
        """
        if not self._by_key:
            return
        own = [_size(nodes), *(_size(function.nodes) for function in self._by_key.values())]
        added = [self._called(node, call, depth, ()) for node, call, depth in self._calls(nodes, 0)]
        parts = FREE_PARTS + GROWTH * sum(each.parts for each in own)
        text = FREE_TEXT + GROWTH * sum(each.text for each in own)
        hint = "convert a part of the model, or give functions fewer calls"
        if sum(each.parts for each in added) > parts:
            raise self.reader.error(f"inlining its functions yields more than {parts} nodes, inputs and outputs", hint=hint)
        if sum(each.text for each in added) > text:
            raise self.reader.error(f"inlining its functions yields names of more than {text} characters", hint=hint)

    def _calls(self, nodes: Iterable[SourceNode], depth: int) -> Iterator[tuple[SourceNode, Function, int]]:
        for node in nodes:
            function = self.find(node)
            if function is not None:
                yield node, function, depth
            for _, graph in node.graphs:
                yield from self._calls(graph.nodes, depth + 1)

    def _called(self, node: SourceNode, function: Function, depth: int, callers: tuple[Function, ...]) -> _Size:
        """The size that inlining a call of `function` adds.

        `depth` is the nesting of the graph with the call, `callers` are the functions around it. Raises ModelFileError
        for a function that calls itself, or too deep nesting.
        """
        if any(function is caller for caller in callers):
            raise self.reader.error(f"function {self.name(function)!r} calls itself", node)
        if len(callers) > MAXIMUM_NESTING:
            raise self.reader.error(f"functions are nested more than {MAXIMUM_NESTING} deep", node)
        if function.key not in self._measured:
            size = _size(function.nodes).with_fields(nesting=1)
            for inner, callee, inner_depth in self._calls(function.nodes, 1):
                size = size.with_added(self._called(inner, callee, 0, (*callers, function)), inner_depth)
            self._measured[function.key] = size.with_fields(parts=size.parts + 1)
        inlined = self._measured[function.key]
        if depth + inlined.nesting > MAXIMUM_NESTING:
            raise self.reader.error(f"functions and graphs are nested more than {MAXIMUM_NESTING} deep", node)
        return inlined.with_fields(text=inlined.text + inlined.parts * (len(node.name) + 1))


class _Size(Record):
    """The size of a list of nodes after all calls in them are inlined.

    Args:
        parts: the number of nodes, inputs and outputs.
        text: the number of characters of their names.
        nesting: the nesting of calls and graphs in them.
    """

    parts: int
    text: int
    nesting: int = 0

    def with_added(self, other: _Size, depth: int) -> _Size:
        """The sum of this size and `other`, the size of graphs that are `depth` levels deeper."""
        return _Size(self.parts + other.parts, self.text + other.text, max(self.nesting, depth + other.nesting))


def _size(nodes: Iterable[SourceNode]) -> _Size:
    """The size of nodes and the graphs in them, without the functions that they call."""
    parts = text = 0
    pending = list(nodes)
    while pending:
        node = pending.pop()
        parts += 1 + len(node.inputs) + len(node.outputs)
        text += len(node.name) + sum(map(len, node.outputs))
        for _, graph in node.graphs:
            pending += graph.nodes
    return _Size(parts, text)
