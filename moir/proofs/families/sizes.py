"""Computations of sizes: targets of Reshapes, arithmetic on dimensions, and Concats of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.element_types import si64
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph

LIKELY = range(1, 5)
"""Sizes that are tried in place of dynamic dimensions."""


def _fits(entries: Sequence[int], rank: int) -> bool:
    """Whether data of a rank, whose last size is 4, can be reshaped to `entries`, which are dimensions of the data and
    integers.
    """
    for sizes in product(*[LIKELY] * (rank - 1), (4,)):
        target = [sizes[entry] if 0 <= entry < rank and number < rank else entry or 2 for number, entry in enumerate(entries)]
        static = prod(each for each in target if each > 0)
        if prod(sizes) % static == 0 and (target.count(-1) == 1 or (target.count(-1) == 0 and prod(sizes) == static)):
            return True
    return False


def reshapes() -> Iterator[ModuleOp]:
    """Models with a Reshape to a Concat of dimensions of its data and numbers, for all lists of up to three that fit
    and have no dimension twice, at ranks up to 3.
    """
    for rank in range(1, MOST_RANKS):
        for entries in product((*range(rank), -1, 1, 2), repeat=min(rank + 1, 3)):
            named = [entry for number, entry in enumerate(entries) if 0 <= entry < rank and number < rank]
            if len(set(named)) < len(named) or not _fits(entries, rank):
                continue
            for special_zero in (False, True):
                graph = Graph()
                value = graph.input((-1,) * (rank - 1) + (4,))
                sizes = graph.op.ShapeOf(value)
                parts = [
                    graph.op.Gather(sizes, np.array([entry], np.int64), 0)
                    if 0 <= entry < rank and number < rank
                    else graph.op.constant([entry or 2], si64)
                    for number, entry in enumerate(entries)
                ]
                try:
                    yield graph.module(graph.op.Reshape(value, graph.op.Concat(*parts, axis=0), special_zero=special_zero))
                except InferenceError:
                    continue


KINDS = ("Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum", "FloorMod")


def unsqueezed() -> Iterator[ModuleOp]:
    """Models with an Unsqueeze of arithmetic on scalars: dimensions, numbers and a scalar input, for all pairs of
    operations.
    """
    for first, second, axis, number in product(KINDS, KINDS, (0, -1), (2, 3)):
        for is_input in (False, True):
            graph = Graph()
            sizes = graph.op.ShapeOf(graph.input((-1, -1)))
            dimension = graph.op.Gather(sizes, 0, 0)
            other = graph.input((), si64) if is_input else graph.op.Gather(sizes, np.array(1, np.int64), 0)
            value = getattr(graph.op, first)(dimension, graph.op.constant(number, si64))
            if second not in ("Divide", "FloorMod"):
                value = getattr(graph.op, second)(value, other)
            yield graph.module(graph.op.Unsqueeze(value, np.array([axis], np.int64)))


def concatenated() -> Iterator[ModuleOp]:
    """Models with a Concat of dimensions of one or two values and a number, for all lists of three."""
    for indices, place in product(product(range(-3, 3), repeat=2), range(3)):
        for is_other in (False, True):
            graph = Graph()
            first = graph.op.ShapeOf(graph.input((-1,) * 3))
            second = graph.op.ShapeOf(graph.input((-1,) * 3)) if is_other else first
            parts = [
                graph.op.Gather(source, np.array([index], np.int64), 0) for source, index in zip((first, second), indices, strict=True)
            ]
            parts.insert(place, graph.op.constant([5], si64))
            yield graph.module(graph.op.Concat(*parts, axis=0))


def shapes() -> Iterator[ModuleOp]:
    """Models with dimensions that are gathered one by one or together, behind operations that keep the shape, and
    compared.
    """
    for rank in range(1, MOST_RANKS):
        for indices in product(range(-rank, rank), repeat=2):
            for kind in ("one", "both", "equal"):
                graph = Graph()
                value = graph.input((-1,) * rank)
                sizes = graph.op.ShapeOf(graph.op.Relu(value))
                if kind == "both":
                    yield graph.module(graph.op.Gather(sizes, np.array(indices, np.int64), 0), graph.op.Sqrt(value))
                    continue
                parts = [graph.op.Unsqueeze(graph.op.Gather(sizes, index, 0), np.array([0], np.int64)) for index in indices]
                if kind == "one":
                    yield graph.module(graph.op.Concat(*parts, axis=0), graph.op.Sqrt(value))
                else:
                    one = graph.op.constant([1], si64)
                    yield graph.module(graph.op.Select(graph.op.Equal(parts[0], graph.op.constant([-1], si64)), one, parts[1]))
