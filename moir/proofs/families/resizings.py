"""Reshape, Squeeze, Unsqueeze, and a Gather of a single element, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph


def _subsets(rank: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, rank + 1):
        yield from combinations(range(rank), count)


def _unsqueezed(graph: Graph, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    return graph.op.Unsqueeze(value, np.array(axes, np.int64))


def inserted_and_removed() -> Iterator[ModuleOp]:
    """Models with Unsqueeze and Squeeze in all four orders, for all axes at ranks up to 4."""
    for rank in range(MOST_RANKS):
        for first in _subsets(MOST_RANKS - 1):
            whole = rank + len(first)
            if whole > MOST_RANKS or max(first) >= whole:
                continue
            for second in _subsets(MOST_RANKS):
                for kind in ("Squeeze", "Unsqueeze"):
                    graph = Graph()
                    inner = _unsqueezed(graph, graph.input((-1,) * rank), first)
                    try:
                        outer = getattr(graph.op, kind)(inner, np.array(second, np.int64))
                    except InferenceError:
                        continue
                    yield graph.module(outer)
    for sizes in product((-1, 1), repeat=MOST_RANKS):
        units = [axis for axis, size in enumerate(sizes) if size == 1]
        for count in range(1, len(units) + 1):
            for first in combinations(units, count):
                for kind in ("Squeeze", "Unsqueeze"):
                    for second in _subsets(MOST_RANKS):
                        graph = Graph()
                        inner = graph.op.Squeeze(graph.input(sizes), np.array(first, np.int64))
                        try:
                            outer = getattr(graph.op, kind)(inner, np.array(second, np.int64))
                        except InferenceError:
                            continue
                        yield graph.module(outer)


TARGETS: tuple[tuple[int, ...], ...] = (
    *((0, -1), (-1, 0), (0, 0, -1), (0, -1, 1), (1, -1), (-1,), (0, 1, -1), (-1, 6), (0, 2, -1), (0, 2, 3), (2, 3, -1)),
    (0, 6),
)
"""Targets of a Reshape: copied, static and remaining dimensions in several orders."""

SHAPES: tuple[tuple[int, ...], ...] = ((-1, 6), (-1, 2, 3), (6, -1), (-1, -1, 6), (-1, -1))


def reshaped_twice() -> Iterator[ModuleOp]:
    """Models with two Reshapes, for all pairs of targets and several shapes, and a Reshape of a Squeeze or an
    Unsqueeze.
    """
    for shape, first, second in product(SHAPES, TARGETS, TARGETS):
        graph = Graph()
        try:
            inner = graph.op.Reshape(graph.input(shape), np.array(first, np.int64), special_zero=True)
            yield graph.module(graph.op.Reshape(inner, np.array(second, np.int64), special_zero=True))
        except InferenceError:
            continue
    for shape, axes, target in product(SHAPES, _subsets(3), TARGETS):
        graph = Graph()
        try:
            inner = _unsqueezed(graph, graph.input(shape), axes)
            yield graph.module(graph.op.Reshape(inner, np.array(target, np.int64), special_zero=True))
        except InferenceError:
            continue


def resized_reshapes() -> Iterator[ModuleOp]:
    """Models with a Squeeze or Unsqueeze of a Reshape, for all targets, several shapes and all axes."""
    for shape, target, kind, axes in product(SHAPES, TARGETS, ("Squeeze", "Unsqueeze"), _subsets(4)):
        graph = Graph()
        try:
            inner = graph.op.Reshape(graph.input(shape), np.array(target, np.int64), special_zero=True)
            yield graph.module(getattr(graph.op, kind)(inner, np.array(axes, np.int64)))
        except InferenceError:
            continue


def gathered() -> Iterator[ModuleOp]:
    """Models with a Gather of the only entry of an inserted dimension, for all axes at ranks up to 4."""
    for rank, first in product(range(MOST_RANKS), _subsets(MOST_RANKS - 1)):
        whole = rank + len(first)
        if whole > MOST_RANKS or max(first) >= whole:
            continue
        for axis, index in product(range(-whole, whole), (0, -1)):
            graph = Graph()
            inner = _unsqueezed(graph, graph.input((-1,) * rank), first)
            yield graph.module(graph.op.Gather(inner, index, axis))


def unsqueezed_broadcasts() -> Iterator[ModuleOp]:
    """Models with an Unsqueeze of a number that is broadcast to a Concat of sizes, for all axes at ranks up to 3."""
    for count, mode in product(range(1, MOST_RANKS), ("numpy", "bidirectional")):
        for axes in _subsets(count + 1):
            graph = Graph()
            sizes = graph.op.ShapeOf(graph.input((-1,) * count))
            parts = [graph.op.Gather(sizes, np.array([axis], np.int64), 0) for axis in range(count)]
            target = graph.op.Concat(*parts, graph.op.constant([3], si64), axis=0)
            yield graph.module(_unsqueezed(graph, graph.op.Broadcast(0.5, target, mode=mode), axes))
