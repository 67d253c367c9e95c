"""Broadcasts before elementwise operations, and to computed targets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.element_types import si64
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (-1,), (1, -1), (-1, 1), (-1, -1), (1, -1, 1), (-1, -1, -1))


def redundant() -> Iterator[ModuleOp]:
    """Models with a Broadcast to the shape of another value, or of the value itself, before an elementwise
    operation.
    """
    for shape, rank, kind, mode in product(SHAPES, range(MOST_RANKS), ("Add", "Less"), ("numpy",)):
        for side, of_itself in product((0, 1), (False, True)):
            graph = Graph()
            value, other = graph.input(shape), graph.input((-1,) * rank)
            try:
                wide = graph.op.Broadcast(value, graph.op.ShapeOf(value if of_itself else other), mode=mode)
                yield graph.module(getattr(graph.op, kind)(*((wide, other) if side == 0 else (other, wide))))
            except InferenceError:
                continue


def neutral() -> Iterator[ModuleOp]:
    """Models with arithmetic with a number that is broadcast to a computed shape: a neutral one or not, on either
    side.
    """
    for kind, number, side, rank in product(("Add", "Subtract", "Multiply", "Divide"), (0.0, 1.0), (0, 1), range(1, MOST_RANKS)):
        for other in range(1, MOST_RANKS):
            graph = Graph()
            value, target = graph.input((-1,) * rank), graph.op.ShapeOf(graph.input((-1,) * other))
            wide = graph.op.Broadcast(number, target, mode="numpy")
            yield graph.module(getattr(graph.op, kind)(*((value, wide) if side == 0 else (wide, value))))


def computed() -> Iterator[ModuleOp]:
    """Models with a Broadcast to a target of dimensions of the value, in all orders and with static sizes between
    them.
    """
    for rank in range(1, MOST_RANKS):
        for entries in product(range(-2, rank), repeat=rank):
            graph = Graph()
            value = graph.input([1 if entry < 0 else -1 for entry in entries])
            sizes = graph.op.ShapeOf(value)
            parts = [
                graph.op.constant([1 - entry], si64) if entry < 0 else graph.op.Gather(sizes, np.array([entry], np.int64), 0)
                for entry in entries
            ]
            try:
                yield graph.module(graph.op.Broadcast(value, graph.op.Concat(*parts, axis=0), mode="bidirectional"))
            except InferenceError:
                continue
