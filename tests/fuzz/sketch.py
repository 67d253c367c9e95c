"""Graphs of several nodes, written as expressions, with deviations that a rewrite must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.onnx_model import assemble

Pattern = Callable[["Sketch"], str]
"""Draws a graph; its result is the name of the last value."""

PATTERNS: dict[str, Pattern] = {}
"""Graphs around what passes rewrite, by the name of the pass; of several for one pass, some have a word after a dot."""

CONTROL_FLOW: dict[str, Pattern] = {}
"""Graphs with bodies, sequences and optional values, by name."""

DEVIATION = 0.12
"""Probability that one thing of a pattern is not as the pass wants it."""


def pattern(name: str, table: dict[str, Pattern] = PATTERNS) -> Callable[[Pattern], Pattern]:
    """Register a function that draws graphs."""

    def register(function: Pattern) -> Pattern:
        assert name not in table, name
        table[name] = function
        return function

    return register


class Sketch:
    """A graph that is being drawn.

    Args:
        draw: makes the choices.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: list[onnx.NodeProto] = []
        self.operands: dict[str, Array] = {}
        self.data: list[str] = []
        self.outputs: list[str] = []
        self.opset = draw.one_of((13, 17, 18, 20, 21))
        self.count = 0
        """Nodes so far, those in bodies included."""

    def input(self, shape: Sequence[int], dtype: Any = np.float32) -> str:
        """An input with values of a shape."""
        name = f"x{len(self.operands)}"
        self.operands[name] = self.draw.array(np.dtype(dtype), shape, special=0.03)
        self.data.append(name)
        return name

    def array(self, value: Any, dtype: Any = np.float32, given: float = 0.06) -> str:
        """An operand that is mostly an initializer; an input with the probability `given`."""
        name = f"c{len(self.operands)}"
        self.operands[name] = np.asarray(value, dtype)
        if self.draw.chance(given):
            self.data.append(name)
        return name

    def weights(self, shape: Sequence[int]) -> str:
        """An operand of random numbers that is mostly an initializer."""
        return self.array(self.draw.array(np.dtype(np.float32), shape, special=0))

    def integers(self, *values: int) -> str:
        """A list of i64 numbers."""
        return self.array(list(values), np.int64, 0.015)

    def number(self, value: float, rank: int = 0) -> str:
        """A number that a pattern asks for: of any shape with one element, seldom another number, or several, or of a higher rank."""
        draw = self.draw
        if draw.chance(DEVIATION / 2):
            value = draw.one_of((0.0, 1.0, -value, value * 1.01, value + 1, float("nan")))
        shape = [1] * draw.integer(0, max(1, rank))
        if draw.chance(DEVIATION / 2):
            shape = [1] * (rank + 1)
        if draw.chance(DEVIATION / 2):
            shape = [draw.integer(2, 3), *[1] * rank]
        return self.array(np.full(shape, value))

    def axis(self, wanted: int, rank: int) -> int:
        """An axis that a pattern asks for, seldom another one, counted from either end."""
        if self.draw.chance(DEVIATION):
            wanted = self.draw.integer(0, rank - 1)
        return wanted - rank if self.draw.chance(0.4) else wanted

    def axes(self, wanted: Sequence[int], rank: int) -> list[int]:
        """Axes that a pattern asks for, seldom others."""
        if self.draw.chance(DEVIATION):
            return self.draw.axes(rank, 1)
        return [axis - rank if self.draw.chance(0.3) else axis for axis in wanted]

    def permutation(self, wanted: Sequence[int]) -> list[int]:
        """A permutation that a pattern asks for, seldom another one."""
        return self.draw.permutation(len(wanted)) if self.draw.chance(DEVIATION) else list(wanted)

    def op(self, kind: str, *operands: str, outputs: int = 1, **attributes: Any) -> str:
        """Append a node; the name of its first output. Its result may have a further user, or be an output of the graph, too."""
        name = f"v{self.count}"
        names = [name, *(f"{name}_{number}" for number in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, operands, names, f"{kind.lower()}_{self.count}", **attributes))
        self.count += 1
        if self.draw.chance(DEVIATION / 3):
            self.outputs.append(name)
        if self.draw.chance(DEVIATION / 3):
            self.nodes.append(helper.make_node("Identity", [name], [f"{name}_seen"], f"seen_{name}"))
            self.outputs.append(f"{name}_seen")
        return name

    def either(self, kind: str, left: str, right: str) -> str:
        """A commutative operation with its operands in either order."""
        return self.op(kind, left, right) if self.draw.chance(0.5) else self.op(kind, right, left)

    def plain(self, kind: str, *operands: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """Append a node whose results are used as the pattern says and nowhere else: they may be sequences."""
        names = [f"v{self.count}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, operands, names, f"{kind.lower()}_{self.count}", **attributes))
        self.count += 1
        return names

    def body(self, parameters: Mapping[str, tuple[int, int | None]], build: Callable[[], Sequence[str]]) -> onnx.GraphProto:
        """A body: its parameters with data types and ranks, and a function that appends its nodes and names its results.

        A result that the body does not compute is passed on by an Identity, as ONNX asks for.
        """
        nodes, outputs = self.nodes, self.outputs
        self.nodes, self.outputs = [], []
        results = []
        for name in build():
            computed = any(name in node.output for node in self.nodes) and name not in results
            results.append(name if computed else self.plain("Identity", name)[0])
        inputs = [
            helper.make_tensor_value_info(name, type_, None if rank is None else [None] * rank)
            for name, (type_, rank) in parameters.items()
        ]
        types = [helper.make_empty_tensor_value_info(name) for name in results]
        result = helper.make_graph(self.nodes, f"body_{self.count}", inputs, types)
        self.nodes, self.outputs = nodes, outputs
        return result

    def reduce(self, kind: str, x: str, axes: Sequence[int], keepdims: int = 1) -> str:
        """A reduction over axes that are an attribute or an operand, as the version wants it."""
        if self.opset >= 18 or kind == "ReduceSum":
            return self.op(kind, x, self.integers(*axes), keepdims=keepdims)
        return self.op(kind, x, axes=list(axes), keepdims=keepdims)

    def reshape(self, x: str, *sizes: int) -> str:
        """A Reshape to sizes, one of which may become -1."""
        target = list(sizes)
        if prod(target) > 0 and self.draw.chance(0.4):
            target[self.draw.integer(0, len(target) - 1)] = -1
        return self.op("Reshape", x, self.integers(*target))

    def case(self, subject: str, result: str) -> Case:
        """The graph as a case."""
        outputs = list(dict.fromkeys([*self.outputs, result]))
        if result in self.operands:
            raise NoCase("nothing is computed")
        used = set(_read(self.nodes))
        operands = {name: value for name, value in self.operands.items() if name in used}
        source, inputs = assemble(self.draw, self.nodes, operands, outputs, {"": self.opset}, 0.0 if not self.data else 1.0, self.data)
        return Case(subject, source, inputs, outputs)


def _read(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """The names of values that nodes read, those that their bodies capture included."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _read(attribute.g.node)
