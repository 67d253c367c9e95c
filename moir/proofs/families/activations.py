"""Forms of GELU, and limits and roundings of FakeQuantize."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.proofs.families.graph import MOST_RANKS, Graph
from moir.proofs.families.small_graphs import all_sizes, filled


def _of_error_function(graph: Graph, x: SSAValue, form: str, is_first: bool) -> SSAValue:
    """1 + erf(x / √2), or the same as 1 - erf(-x / √2).

    Args:
        graph: the graph to build in.
        x: the operand.
        form: `quotient` divides by √2, `negative` negates x, any other value multiplies by √½.
        is_first: whether x stands first in commutative operations.
    """
    op = graph.op
    argument = op.Divide(x, math.sqrt(2)) if form == "quotient" else op.Multiply(*_ordered(x, math.sqrt(0.5), is_first))
    if form == "negative":
        return op.Subtract(1.0, op.Erf(op.Negative(argument)))
    return op.Add(*_ordered(op.Erf(argument), 1.0, is_first))


def _of_tanh(graph: Graph, x: SSAValue, form: str, is_first: bool) -> SSAValue:
    """1 + tanh(√(2/π) (x + 0.044715 x³)).

    Args:
        graph: the graph to build in.
        x: the operand.
        form: `quotient` computes the cube as a power, `negative` is 1 - tanh(-…), any other value uses products.
        is_first: whether x stands first in commutative operations.
    """
    op = graph.op
    cube = op.Power(x, 3.0) if form == "quotient" else op.Multiply(*_ordered(op.Multiply(x, x), x, is_first))
    inner = op.Multiply(*_ordered(op.Add(x, op.Multiply(cube, 0.044715)), math.sqrt(2 / math.pi), is_first))
    return op.Add(*_ordered(op.Tanh(inner), 1.0, is_first)) if form != "negative" else op.Subtract(1.0, op.Tanh(op.Negative(inner)))


def _ordered(a: object, b: object, is_first: bool) -> tuple[object, object]:
    return (b, a) if is_first else (a, b)


def _half(op: Any, value: SSAValue, is_quotient: bool, is_first: bool) -> SSAValue:
    return op.Divide(value, 2.0) if is_quotient else op.Multiply(*_ordered(value, 0.5, is_first))


def gelus() -> Iterator[ModuleOp]:
    """Models with x · ½ · (1 + f), in all orders of the product, with erf and tanh in several forms, at ranks up
    to 4.
    """
    forms = product(range(MOST_RANKS + 1), (_of_error_function, _of_tanh), ("quotient", "product", "negative"))
    for (rank, function, form), (halved, grouping, is_first) in product(forms, product((False, True), range(3), (False, True))):
        graph = Graph()
        op, x = graph.op, graph.input((-1,) * rank)
        normal = function(graph, x, form, is_first)
        match grouping:
            case 0:
                value = op.Multiply(*_ordered(_half(op, x, halved, is_first), normal, is_first))
            case 1:
                value = op.Multiply(*_ordered(x, _half(op, normal, halved, is_first), is_first))
            case _:
                value = _half(op, op.Multiply(*_ordered(x, normal, is_first)), halved, is_first)
        yield graph.module(value)


def _rounded(graph: Graph, value: SSAValue, low: float, high: float, shape: tuple[int, ...], levels: int) -> SSAValue:
    limits = [filled(graph, shape, [number]) for number in (low, high)]
    return graph.op.FakeQuantize(value, *limits, *limits, levels=levels)


LIMITS: Mapping[str, Callable[[Any, SSAValue], SSAValue]] = {
    "Relu": lambda op, x: op.Relu(x),
    "Clamp": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
    "Maximum": lambda op, x: op.Maximum(x, 0.0),
    "Minimum": lambda op, x: op.Minimum(6.0, x),
    "both": lambda op, x: op.Minimum(op.Maximum(x, -1.0), 8.0),
}
"""Operations that limit data."""


def limited() -> Iterator[ModuleOp]:
    """Models with a FakeQuantize of limited data, with limits beyond its range and within it, one or one of each
    channel.
    """
    for rank, limit, (low, high), levels in product(range(4), LIMITS.values(), ((0.0, 6.0), (-1.0, 6.0), (0.0, 8.0)), (2, 4)):
        for shape in ((3, 2, 1)[:rank],):
            for own in dict.fromkeys(((), (1,) * rank, (shape[0], *[1] * (rank - 1)) if rank else ())):
                graph = Graph()
                yield graph.module(_rounded(graph, limit(graph.op, graph.input(shape)), low, high, own, levels))


def concatenated() -> Iterator[ModuleOp]:
    """Models with Concats of data that are rounded to the same levels, or to others, along all axes at ranks up
    to 2.
    """
    for rank, levels in product((1, 2), (2, 3)):
        for shape in all_sizes(rank):
            for axis, other in product(range(rank), (1.0, 2.0)):
                graph = Graph()
                parts = [_rounded(graph, graph.input(shape), -1.0, high, (), levels) for high in (1.0, other)]
                yield graph.module(graph.op.Concat(*parts, axis=axis))
