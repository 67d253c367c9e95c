"""The functions of a model file: the graph of their calls, and the size of the result of inlining them.

Source: FunctionProto in onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moir.frontends.onnx.structure import Function, SourceNode, StructureReader

MAXIMUM_INLINED = 5_000_000
"""Largest number of nodes, inputs and outputs that inlining may add.

A few hundred bytes of nested functions can stand for more than fits into memory.
"""
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
        self._measured: dict[tuple[str, str, str], tuple[int, int]] = {}
        for function in functions:
            if function.key in self._by_key:
                raise reader.error(f"function {self.name(function)!r} is there twice")
            self._by_key[function.key] = function

    @staticmethod
    def name(function: Function) -> str:
        """A function's name, for messages."""
        return ".".join(part for part in function.key if part)

    def find(self, node: SourceNode) -> Function | None:
        """The function that a node calls, None if the node is an operation."""
        return self._by_key.get(node.key) if self._by_key else None

    def check(self, nodes: Iterable[SourceNode]) -> None:
        """Check that inlining all calls in the nodes and their graphs terminates and stays within the limits."""
        if not self._by_key:
            return
        if sum(self._cost(node, call, depth, ())[0] for node, call, depth in self._calls(nodes, 0)) > MAXIMUM_INLINED:
            raise self.reader.error(f"inlining its functions yields more than {MAXIMUM_INLINED} nodes and operands")

    def _calls(self, nodes: Iterable[SourceNode], depth: int) -> Iterator[tuple[SourceNode, Function, int]]:
        for node in nodes:
            function = self.find(node)
            if function is not None:
                yield node, function, depth
            for _, graph in node.graphs:
                yield from self._calls(graph.nodes, depth + 1)

    def _cost(self, node: SourceNode, function: Function, depth: int, callers: tuple[Function, ...]) -> tuple[int, int]:
        """The number of nodes and operands that inlining a call adds, and the nesting of calls and graphs in it."""
        if any(function is caller for caller in callers):
            raise self.reader.error(f"function {self.name(function)!r} calls itself", node)
        if len(callers) > MAXIMUM_NESTING:
            raise self.reader.error(f"functions are nested more than {MAXIMUM_NESTING} deep", node)
        if function.key not in self._measured:
            count, nesting = 1 + _size(function.nodes), 1
            for inner, callee, inner_depth in self._calls(function.nodes, 1):
                callee_count, callee_nesting = self._cost(inner, callee, 0, (*callers, function))
                count += callee_count
                nesting = max(nesting, inner_depth + callee_nesting)
            self._measured[function.key] = count, nesting
        count, nesting = self._measured[function.key]
        if depth + nesting > MAXIMUM_NESTING:
            raise self.reader.error(f"functions and graphs are nested more than {MAXIMUM_NESTING} deep", node)
        return count, nesting


def _size(nodes: Iterable[SourceNode]) -> int:
    return sum(1 + len(node.inputs) + len(node.outputs) + sum(_size(graph.nodes) for _, graph in node.graphs) for node in nodes)
