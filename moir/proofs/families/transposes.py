"""Transposes: one after another, of dimensions of 1, and around matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from xdsl.dialects.builtin import ModuleOp

from moir.proofs.families.graph import MOST_RANKS, Graph


def consecutive() -> Iterator[ModuleOp]:
    """Models with two Transposes, for all pairs of orders; the inner one has another use in half of the graphs of rank
    up to 3.
    """
    for rank in range(2, MOST_RANKS + 1):
        for first, second in product(permutations(range(rank)), repeat=2):
            for is_shared in (False, True) if rank < MOST_RANKS else (False,):
                graph = Graph()
                inner = graph.op.Transpose(graph.input((-1,) * rank), list(first))
                outer = graph.op.Transpose(inner, list(second))
                yield graph.module(outer, *([graph.op.Relu(inner)] if is_shared else []))


def with_units() -> Iterator[ModuleOp]:
    """Models with a Transpose of dimensions some of which are 1, for all orders and all choices of these dimensions."""
    for rank in range(2, MOST_RANKS + 1):
        for order in permutations(range(rank)):
            for sizes in product((-1, 1), repeat=rank):
                if 1 in sizes:
                    graph = Graph()
                    yield graph.module(graph.op.Transpose(graph.input(sizes), list(order)))


def _swap(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def before_products() -> Iterator[ModuleOp]:
    """Models with MatMul whose operands are transposed, or not, for all flags and ranks from 2 to 4."""
    ranks = [(2, 2), (3, 3), (4, 4), (3, 2), (2, 3), (4, 2), (2, 4)]
    for (left, right), flags, moved in product(ranks, product((False, True), repeat=2), product((False, True), repeat=2)):
        if any(moved):
            graph = Graph()
            a, b = graph.input((-1,) * left), graph.input((-1,) * right)
            a = graph.op.Transpose(a, _swap(left)) if moved[0] else a
            b = graph.op.Transpose(b, _swap(right)) if moved[1] else b
            yield graph.module(graph.op.MatMul(a, b, transpose_a=flags[0], transpose_b=flags[1]))


def after_products() -> Iterator[ModuleOp]:
    """Models with a Transpose of a MatMul, for all flags and orders, and operands of ranks from 1 to 4."""
    for left, right, a, b in product(range(1, MOST_RANKS + 1), range(1, MOST_RANKS + 1), (False, True), (False, True)):
        rank = max(left, right) if min(left, right) > 1 else max(left, right) - 1
        for order in permutations(range(rank)) if rank > 1 else ():
            graph = Graph()
            value = graph.op.MatMul(graph.input((-1,) * left), graph.input((-1,) * right), transpose_a=a, transpose_b=b)
            yield graph.module(graph.op.Transpose(value, list(order)))
