"""Families of small models for bounded proofs: Concats of Concats, and slices of slices and of Concats."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph

LAST = np.iinfo(np.int64).max


def concats() -> Iterator[ModuleOp]:
    """Models with a Concat of Concats, for all axes of both at ranks up to 4, and every position of the inner one."""
    for rank in range(1, MOST_RANKS + 1):
        for outer, inner, position in product(range(-rank, rank), range(-rank, rank), range(3)):
            graph = Graph()
            values = [graph.input((-1,) * rank) for _ in range(4)]
            joined = graph.op.Concat(*values[:2], axis=inner)
            parts = values[2:]
            parts.insert(position, joined)
            yield graph.module(graph.op.Concat(*parts, axis=outer))


def _sliced(graph: Graph, value: SSAValue, axis: int, start: int, stop: int, step: int = 1) -> SSAValue:
    numbers = [np.array([each], np.int64) for each in (start, stop, step, axis)]
    return graph.op.Slice(value, *numbers)


CUTS = ((0, 2, 1), (1, LAST, 1), (-2, LAST, 1), (0, -1, 1), (1, -1, 2), (0, LAST, 3))
"""Starts, stops and steps: from either end, with and without a step."""


def consecutive_slices() -> Iterator[ModuleOp]:
    """Models with two slices, for all pairs of axes at ranks up to 3 and all pairs of bounds."""
    for rank in range(1, MOST_RANKS):
        for (a, b), first, second in product(product(range(rank), repeat=2), CUTS, CUTS):
            graph = Graph()
            yield graph.module(_sliced(graph, _sliced(graph, graph.input((-1,) * rank), a, *first), b, *second))


def slices_of_whole() -> Iterator[ModuleOp]:
    """Models with the slices of a whole dimension of 6, for all axes at ranks up to 4.

    They have equal and other lengths, stand in every order, are counted from either end, and have gaps and
    overlaps, for which the pattern declines.
    """
    lists = [(0, 3, 6), (0, 2, 6), (0, 2, 4, 6), (0, 1, 6)]
    for rank in range(1, MOST_RANKS + 1):
        for axis, bounds, from_end in product(range(rank), lists, (False, True)):
            parts = list(pairwise(bounds))
            for order in permutations(parts):
                graph = Graph()
                data = graph.op.Relu(graph.input([6 if each == axis else -1 for each in range(rank)]))
                results = [
                    _sliced(graph, data, axis, start - 6 if from_end and start else start, stop if stop < 6 else LAST)
                    for start, stop in order
                ]
                yield graph.module(*results)
    for bounds in ([(0, 2), (3, 6)], [(0, 4), (3, 6)], [(0, 3), (3, 5)]):
        graph = Graph()
        data = graph.op.Relu(graph.input((-1, 6)))
        yield graph.module(*(_sliced(graph, data, 1, *each) for each in bounds))


def single_slices() -> Iterator[ModuleOp]:
    """Models with a slice of one element whose dimension is removed, for all axes and indices at ranks up to 4."""
    for rank in range(1, MOST_RANKS + 1):
        for axis, start, kind in product(range(rank), (0, 1, 2, -1, -3), ("Squeeze", "Reshape")):
            graph = Graph()
            sizes = [3 if each == axis else each + 2 for each in range(rank)]
            part = _sliced(graph, graph.input(sizes), axis, start, start + 1 if start != -1 else LAST)
            rest = [size for each, size in enumerate(sizes) if each != axis]
            if kind == "Squeeze":
                yield graph.module(graph.op.Squeeze(part, np.array([axis], np.int64)))
            elif rest:
                yield graph.module(graph.op.Reshape(part, np.array(rest, np.int64), special_zero=False))


def elements_of_concats() -> Iterator[ModuleOp]:
    """Models with a Gather of one element of a Concat of 1-D tensors of one element, or of others, for all indices."""
    for element, count, rank in product((f32, si64), range(1, MOST_RANKS + 1), (0, 1)):
        for index, sizes in product(range(-count, count), ((1,), (-1,))):
            graph = Graph()
            values = [graph.input(sizes, element) for _ in range(count)]
            indices = np.array(index if rank == 0 else [index], np.int64)
            try:
                yield graph.module(graph.op.Gather(graph.op.Concat(*values, axis=0), indices, 0))
            except InferenceError:
                continue
