"""Reshapes and Transposes that regroup elements: blocks, channels, batches and heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.element_types import si64
from moir.errors import InferenceError
from moir.proofs.families.graph import Graph


def _regrouped(shape: Sequence[int], split: Sequence[int], order: Sequence[int], merged: Sequence[int]) -> ModuleOp | None:
    """A module of an input of a shape, reshaped to `split`, transposed by `order`, and reshaped to `merged`.

    Returns None if the targets do not fit the shape.
    """
    graph = Graph()
    try:
        parts = graph.op.Reshape(graph.input(shape), np.array(split, np.int64), special_zero=True)
        moved = graph.op.Transpose(parts, list(order))
        return graph.module(graph.op.Reshape(moved, np.array(merged, np.int64), special_zero=True))
    except InferenceError:
        return None


def split_and_merged() -> Iterator[ModuleOp]:
    """Models with a Transpose of split dimensions before a Reshape, for all orders of 4 and of 5 dimensions."""
    for order in permutations(range(4)):
        for merged in ((4, -1), (-1, 6), (4, 3, -1), (2, 2, -1)):
            module = _regrouped((4, 6, 5), (4, 2, 3, 5), order, merged)
            if module is not None:
                yield module
    for order in permutations(range(1, 5)):
        module = _regrouped((-1, 5, 6, 4), (0, 5, 2, 3, 4), (0, *order), (0, -1, 4))
        if module is not None:
            yield module


def _blocks() -> Iterator[tuple[int, int, tuple[int, ...]]]:
    yield from product((2, 3), (1, 2), ((4,), (2, 3)))


def depth_to_space() -> Iterator[ModuleOp]:
    """Models with channels that become blocks of space: for 1 and 2 spatial dimensions, both positions of the depth,
    all orders.
    """
    for block, depth, space in _blocks():
        rank = len(space)
        for first in (False, True):
            inner = [depth, *[block] * rank] if first else [*[block] * rank, depth]
            channels = depth * block**rank
            for order in permutations(range(1, 2 + 2 * rank)) if rank == 1 else _likely_orders(first):
                module = _regrouped((-1, channels, *space), (0, *inner, *space), (0, *order), (0, depth, *(size * block for size in space)))
                if module is not None:
                    yield module


def _likely_orders(first: bool) -> list[tuple[int, ...]]:
    """Orders for two spatial dimensions: that of depth to space, and two that are none.

    `first` says whether the depth stands before the block, as in the mode `depth_first`.
    """
    depth, blocks = (1, (2, 3)) if first else (3, (1, 2))
    right = (depth, 4, blocks[0], 5, blocks[1])
    return [right, (depth, 4, blocks[1], 5, blocks[0]), (depth, 5, blocks[0], 4, blocks[1])]


def space_to_depth() -> Iterator[ModuleOp]:
    """Models with blocks of space that become channels: for 1 and 2 spatial dimensions and all orders, or likely
    ones.
    """
    for block, depth, space in _blocks():
        rank = len(space)
        split = [0, depth, *(entry for size in space for entry in (size, block))]
        orders = permutations(range(1, 4)) if rank == 1 else [(1, 3, 5, 2, 4), (3, 5, 1, 2, 4), (5, 3, 1, 2, 4), (1, 3, 5, 4, 2)]
        for order in orders:
            shape = (-1, depth, *(size * block for size in space))
            module = _regrouped(shape, split, (0, *order), (0, depth * block**rank, *space))
            if module is not None:
                yield module


def shuffled_channels() -> Iterator[ModuleOp]:
    """Models with channels in groups whose order is exchanged, for several numbers of groups, ranks and all orders."""
    for groups, count, space in product((2, 3), (2, 4), ((5,), (5, 7))):
        for order in permutations(range(3)):
            rest = tuple(range(3, 3 + len(space)))
            module = _regrouped((-1, groups * count, *space), (0, groups, count, *space), (*order, *rest), (0, groups * count, *space))
            if module is not None:
                yield module


def flattened_matrices() -> Iterator[ModuleOp]:
    """Models with a product of a matrix and data whose leading dimensions are merged before it and come back after it,
    or change places, at ranks from 3 to 4.
    """
    for rank, transposed, swapped in product((3, 4), (False, True), (False, True)):
        graph = Graph()
        data = graph.input((*[-1] * (rank - 1), 6))
        flat = graph.op.Reshape(data, np.array([-1, 6], np.int64), special_zero=False)
        value = graph.op.MatMul(flat, graph.input((5, 6) if transposed else (6, 5)), transpose_b=transposed)
        axes = list(range(rank - 1))[:: -1 if swapped else 1]
        lead = graph.op.Gather(graph.op.ShapeOf(data), np.array(axes, np.int64), 0)
        target = graph.op.Concat(lead, graph.op.constant([5], si64), axis=0)
        yield graph.module(graph.op.Reshape(value, target, special_zero=False))
