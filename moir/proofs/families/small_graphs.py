"""The sizes and constants that the graphs of bounded checks share: ranks up to 4, and sizes up to 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.proofs.families.graph import MOST_RANKS, Graph

SIZES = (1, 2, 3)
"""The sizes of dimensions."""

TERMS = tuple((-1) ** number * (number + 3) / 8 for number in range(84))
"""Distinct numbers whose sums and products are exact in f32."""

DIVISORS = tuple((-1) ** number * 2.0 ** (number % 13 - 6) for number in range(84))
"""Numbers whose reciprocals are exact in f32; the first 26 are distinct."""

POSITIVE = tuple((4.0, 0.25, 16.0, 1.0)[number % 4] for number in range(84))
"""Squares, for variances and deviations; their roots and reciprocals are exact in f32."""


def all_sizes(rank: int) -> Iterator[tuple[int, ...]]:
    """All static shapes of a rank."""
    return product(SIZES, repeat=rank)


def broadcast_pairs(most: int = MOST_RANKS) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shapes of data at all ranks, each with the shapes of constants that broadcast to it: every dimension is that of
    the data, or 1. Shapes whose dimensions are the same in another order are left out.
    """
    for rank in range(most + 1):
        for pairs in combinations_with_replacement([(size, own) for size in SIZES for own in {1, size}], rank):
            yield tuple(size for size, _ in pairs), tuple(own for _, own in pairs)


def filled(graph: Graph, shape: Sequence[int], numbers: Sequence[float] = TERMS, start: int = 0) -> SSAValue:
    """An f32 constant of a shape whose elements are `numbers` in turn, from index `start` on."""
    count = prod(shape)
    array = np.array([numbers[(start + index) % len(numbers)] for index in range(count)], np.float32)
    return graph.op.constant(array.reshape(tuple(shape)))
