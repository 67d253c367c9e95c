"""Repetitions of elements along axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.proofs.families.graph import MOST_RANKS, Graph
from moir.proofs.families.small_graphs import all_sizes


def _repeated(graph: Graph, value: SSAValue, rank: int, axis: int, count: int) -> SSAValue:
    """Repeat each element of a value of a rank `count` times along an axis, in the form of `tf.repeat`."""
    op = graph.op
    counts = np.array([count if each == axis + 1 else 1 for each in range(rank + 1)], np.int64)
    tiled = op.Tile(op.Unsqueeze(value, np.array([axis + 1], np.int64)), counts)
    sizes = op.ShapeOf(value)
    parts = [op.Gather(sizes, np.array([each], np.int64), 0) for each in range(rank)]
    parts[axis] = op.Multiply(parts[axis], op.constant([count], si64))
    return op.Reshape(tiled, op.Concat(*parts, axis=0), special_zero=False)


def repeats() -> Iterator[ModuleOp]:
    """Models with repetitions of the elements along one axis, and along two, for all sizes up to 3 at ranks up to 3."""
    for rank, count in product(range(1, MOST_RANKS), (2, 3)):
        for shape, axis, other in product(all_sizes(rank), range(rank), (None, *range(rank))):
            if other == axis:
                continue
            graph = Graph()
            value = _repeated(graph, graph.input(shape), rank, axis, count)
            yield graph.module(value if other is None else _repeated(graph, value, rank, other, 2))
