"""Reshapes that merge batch and heads around products, and biases before the dimension of a product is split."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.proofs.families.graph import MOST_RANKS, Graph
from moir.proofs.families.small_graphs import SIZES, filled

SHAPES: tuple[tuple[int, ...], ...] = ((-1, 3, -1, 2), (2, 3, -1, 4), (-1, 2, 4, -1), (2, 3, 4, 5), (1, 2, 1, 3))
"""Batch, heads, rows and width of an operand."""


def _flat(graph: Graph, value: SSAValue) -> SSAValue:
    """Reshape a value of rank 4 so that its first two dimensions are merged."""
    merged = graph.op.Multiply(*(_size(graph, value, axis) for axis in (0, 1)))
    target = graph.op.Concat(merged, *(_size(graph, value, axis) for axis in (2, 3)), axis=0)
    return graph.op.Reshape(value, target, special_zero=False)


def _separate(graph: Graph, flat: SSAValue, like: SSAValue, rows: SSAValue, columns: SSAValue) -> SSAValue:
    """Reshape a value so that its first dimension is split into the first two dimensions of `like`.

    `rows` and `columns` are the sizes of the last two, as 1-D tensors.
    """
    lead = graph.op.Gather(graph.op.ShapeOf(like), np.array([0, 1], np.int64), 0)
    return graph.op.Reshape(flat, graph.op.Concat(lead, rows, columns, axis=0), special_zero=False)


def _size(graph: Graph, value: SSAValue, axis: int) -> SSAValue:
    return graph.op.Gather(graph.op.ShapeOf(value), np.array([axis], np.int64), 0)


def flattened_transposes() -> Iterator[ModuleOp]:
    """Models with a Transpose of the last two dimensions, or in another order, between Reshapes that merge and
    separate batch and heads.
    """
    for shape, order in product(SHAPES, permutations(range(3))):
        graph = Graph()
        data = graph.input(shape)
        moved = graph.op.Transpose(_flat(graph, data), list(order))
        yield graph.module(_separate(graph, moved, data, _size(graph, data, 3), _size(graph, data, 2)))


def flattened_batches() -> Iterator[ModuleOp]:
    """Models with products of operands whose batch and heads are merged: with Transposes and flags, a factor, and an
    addend of any values for all rows, for all columns or for both.

    Both operands come from one input, as those of attention do: their batch and heads are certainly equal.
    """
    for a, b, moved, scaled, is_swapped in product((False, True), repeat=5):
        for added in ("", "11", "1n", "m1", "mn"):
            graph = Graph()
            data = graph.input((-1,) * 4)
            longer = graph.op.Concat(graph.op.Negative(data), data, axis=2)
            values = [longer, data] if is_swapped else [data, longer]
            # [B, H, M, K] and [B, H, N, K], in the order that the flags and the Transpose ask for
            turned = [a, b == moved]
            operands = [graph.op.Transpose(each, [0, 1, 3, 2]) if turn else each for each, turn in zip(values, turned, strict=True)]
            flat = [_flat(graph, each) for each in operands]
            right = graph.op.Transpose(flat[1], [0, 2, 1]) if moved else flat[1]
            value = graph.op.MatMul(flat[0], right, transpose_a=a, transpose_b=b)
            value = graph.op.Multiply(value, 0.125) if scaled else value
            rows, columns = (_size(graph, each, 2) for each in values)
            if added:
                one = graph.op.constant([1], si64)
                sizes = [one if letter == "1" else size for letter, size in zip(added, (rows, columns), strict=True)]
                value = graph.op.Add(value, graph.op.Broadcast(graph.input(()), graph.op.Concat(one, *sizes, axis=0), mode="numpy"))
            yield graph.module(_separate(graph, value, data, rows, columns))


def split_biases() -> Iterator[ModuleOp]:
    """Models with constants that are added to a product after its last dimension is split, for all sizes up to 3 of
    the parts and all shapes of constants that broadcast to them, or to more dimensions.
    """
    for rank, parts in product(range(2, MOST_RANKS), product(SIZES, repeat=2)):
        for own, first, lead in product(product(*({1, size} for size in parts)), (False, True), (0, 1)):
            graph = Graph()
            value = graph.op.MatMul(graph.input([-1] * (rank - 1) + [2]), graph.weights([2, parts[0] * parts[1]]))
            split = graph.op.Reshape(value, np.array([*[0] * (rank - 1), *parts], np.int64), special_zero=True)
            bias = filled(graph, (*[1] * lead, *own))
            yield graph.module(graph.op.Add(*((bias, split) if first else (split, bias))))
