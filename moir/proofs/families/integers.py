"""Limits, comparisons and choices of integers, as programs of JAX compute indices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, f32, si8, si32, to_numpy, ui8
from moir.proofs.families.graph import Graph
from moir.proofs.families.small_graphs import filled

TYPES: tuple[Attribute, ...] = (si8, si32, ui8)
SIZES = (1, 7)


def _number(graph: Graph, number: int, element: Attribute) -> SSAValue:
    return graph.op.constant(np.array(number).astype(to_numpy(element)), element)


def _wrapped(graph: Graph, x: SSAValue, size: int, element: Attribute) -> SSAValue:
    is_negative = graph.op.Less(x, _number(graph, 0, element))
    return graph.op.Select(is_negative, graph.op.Add(x, _number(graph, size, element)), x)


def converted_twice() -> Iterator[ModuleOp]:
    """Models with numbers rounded to integers and limited, converted to integers of 8 bits and back: the limits are
    those of the type and others, smaller and larger ones.
    """
    bounds = (-129, -128, -3, 0, 3, 127, 128, 255, 256)
    for element, shape, kind, low, high in product((si8, ui8), ((), (2,)), ("Round", "Floor"), bounds, bounds):
        if low < high:
            graph = Graph()
            rounded = getattr(graph.op, kind)(graph.input(shape))
            integers = graph.op.Convert(graph.op.Clamp(rounded, min=float(low), max=float(high)), destination_type=element)
            yield graph.module(graph.op.Convert(integers, destination_type=f32))


def limits() -> Iterator[ModuleOp]:
    """Models with Minimum and Maximum of integers that are limited already, or not."""
    for element, kind, low, high, limit in product(TYPES, ("Minimum", "Maximum"), (0, 3), (3, 9), (0, 3, 5, 9)):
        graph = Graph()
        lower = graph.op.Maximum(graph.input((-1,), element), _number(graph, low, element))
        limited = graph.op.Minimum(lower, _number(graph, high, element))
        yield graph.module(getattr(graph.op, kind)(limited, _number(graph, limit, element)))


def selects() -> Iterator[ModuleOp]:
    """Models with Select by a comparison of limited integers that is always true, always false, or neither."""
    for element, kind, limit in product(TYPES, ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"), (0, 2, 3, 4, 9, 10)):
        graph = Graph()
        lower = graph.op.Maximum(graph.input((-1,), element), _number(graph, 3, element))
        limited = graph.op.Minimum(lower, _number(graph, 9, element))
        condition = getattr(graph.op, kind)(limited, _number(graph, limit, element))
        yield graph.module(graph.op.Select(condition, limited, _number(graph, 5, element)))


def wrapped() -> Iterator[ModuleOp]:
    """Models with a Gather at a wrapped and limited index, for tables of several sizes, limits and axes."""
    for size, added, last, axis in product(SIZES, SIZES, SIZES, (0, 1)):
        graph = Graph()
        table = graph.input((size, -1) if axis == 0 else (-1, size))
        index = _wrapped(graph, graph.input((-1,), si32), added, si32)
        limited = graph.op.Maximum(graph.op.Minimum(index, _number(graph, last - 1, si32)), _number(graph, 0, si32))
        yield graph.module(graph.op.Gather(table, limited, axis))


def ranges() -> Iterator[ModuleOp]:
    """Models of 0 <= index <= last, for an index that was made nonnegative by adding a size.

    The last index is size - 1 in some models, and another one in others.
    """
    for size, last, unsqueezed in product(SIZES, SIZES, (False, True)):
        graph = Graph()
        index = _wrapped(graph, graph.input((-1,), si32), size, si32)
        value = graph.op.Unsqueeze(index, np.array([1], np.int64)) if unsqueezed else index
        low = graph.op.GreaterEqual(value, _number(graph, 0, si32))
        yield graph.module(graph.op.LogicalAnd(low, graph.op.LessEqual(value, _number(graph, last - 1, si32))))


def truths() -> Iterator[ModuleOp]:
    """Models with comparisons of booleans converted to numbers with -1, 0, 1 and 2, on the left and on the right."""
    kinds = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")
    for kind, number, side, element in product(kinds, (-1, 0, 1, 2), (0, 1), (f32, si32)):
        graph = Graph()
        value = graph.op.Convert(graph.input((-1,), boolean), destination_type=element)
        parts: Any = (value, _number(graph, number, element))
        yield graph.module(getattr(graph.op, kind)(*(parts[::-1] if side else parts)))


def one_hots() -> Iterator[ModuleOp]:
    """Models with comparisons of an index with positions, which begin with 0 or not, for all axes at ranks up to 3."""
    for rank, first, count in product(range(3), (0, 1), (1, 3)):
        for axis in range(rank + 1):
            graph = Graph()
            inner = graph.op.Unsqueeze(graph.input((-1,) * rank, si32), np.array([axis], np.int64))
            positions = np.arange(first, first + count, dtype=np.int32).reshape([-1, *(1,) * (rank - axis)])
            equal = graph.op.Equal(inner, graph.op.constant(positions, si32))
            yield graph.module(graph.op.Convert(equal, destination_type=f32))


def filled_gathers() -> Iterator[ModuleOp]:
    """Models with Gathers of indices that are counted from the end, limited and checked, with a filler for those out
    of range: of tables of any values or constant ones, for all axes at ranks up to 2.
    """
    for rank, constant, filler in product((1, 2), (False, True), (0.0, 5.0)):
        for axis, size in product(range(rank), (1, 2, 3) if rank == 1 else (1, 3)):
            graph = Graph()
            op = graph.op
            shape = [size if each == axis else 2 for each in range(rank)]
            table = filled(graph, shape) if constant else graph.input(shape)
            index, last = graph.input((1,), si32), np.int32(size - 1)
            wrapped = op.Select(op.Less(index, np.int32(0)), op.Add(index, np.int32(size)), index)
            limited = op.Maximum(op.Minimum(wrapped, last), np.int32(0))
            inside = op.LogicalAnd(op.GreaterEqual(wrapped, np.int32(0)), op.LessEqual(wrapped, last))
            if rank - axis - 1:
                inside = op.Unsqueeze(inside, np.arange(1, rank - axis, dtype=np.int64))
            yield graph.module(op.Select(inside, op.Gather(table, limited, axis), filler))
