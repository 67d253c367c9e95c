"""Operations that return an operand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.element_types import boolean, f32, si32, to_numpy, ui8
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph

ARITHMETIC = {"Add": 0, "Subtract": 0, "Multiply": 1, "Divide": 1, "Power": 1}


def neutral() -> Iterator[ModuleOp]:
    """Models with arithmetic with 0 and 1 of every shape on either side, Transposes, Reshapes, Concats and Reductions
    that may keep their operand, at ranks up to 4.
    """
    for kind, number, side, element in product(ARITHMETIC, (0, 1), (0, 1), (f32, si32, ui8)):
        for rank in range(MOST_RANKS + 1):
            for shape in {(), (1,) * rank, (1,) * (rank + 1), (2,), (2,) * min(rank, 2)}:
                graph = Graph()
                value = graph.input((-1,) * rank, element)
                other = graph.op.constant(np.full(shape, number, to_numpy(element)), element)
                try:
                    yield graph.module(getattr(graph.op, kind)(*((value, other) if side == 0 else (other, value))))
                except InferenceError:
                    continue
    for rank in range(1, MOST_RANKS + 1):
        for order in permutations(range(rank)):
            for sizes in ((-1,) * rank, (1,) * rank, (-1, *(1,) * (rank - 1))):
                graph = Graph()
                yield graph.module(graph.op.Transpose(graph.input(sizes), list(order)))
        for target in product((0, 1, -1), repeat=rank):
            if target.count(-1) < 2:
                graph = Graph()
                value = graph.input([1 if entry == 1 else -1 for entry in target])
                yield graph.module(graph.op.Reshape(value, np.array(target, np.int64), special_zero=True))
        for axis, kind in product(range(rank), ("ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2")):
            graph = Graph()
            sizes = [1 if each == axis else -1 for each in range(rank)]
            yield graph.module(getattr(graph.op, kind)(graph.input(sizes), np.array([axis], np.int64), keep_dims=True))
        graph = Graph()
        yield graph.module(graph.op.Concat(graph.input((-1,) * rank), axis=0))


def decided() -> Iterator[ModuleOp]:
    """Models with Select with constant conditions of every shape: all true, all false and mixed."""
    for rank, truths in product(range(1, MOST_RANKS), ((True, True), (False, False), (True, False))):
        for first, second in product(((-1,) * rank, (), (1,) * rank), repeat=2):
            for length in (1, 2):
                graph = Graph()
                condition = graph.op.constant(np.array(truths[:length], bool), boolean)
                yield graph.module(graph.op.Select(condition, graph.input(first), graph.input(second)))


def repeated() -> Iterator[ModuleOp]:
    """Models with equal operations twice, and operations that differ in an operand, an order or a property."""
    for rank in range(1, MOST_RANKS + 1):
        for kind, (first, second) in product(("Add", "Subtract", "Maximum", "Less"), product(range(2), repeat=2)):
            graph = Graph()
            values = [graph.input((-1,) * rank), graph.input((-1,) * rank)]
            build = getattr(graph.op, kind)
            yield graph.module(build(*values), build(values[first], values[second]))
        for first, second in product(range(rank), repeat=2):
            graph = Graph()
            value = graph.input((-1,) * rank)
            yield graph.module(graph.op.Softmax(value, axis=first), graph.op.Softmax(value, axis=second))
            graph = Graph()
            parts = [graph.input((-1,) * rank), graph.input((-1,) * rank)]
            yield graph.module(graph.op.Concat(*parts, axis=first), graph.op.Concat(*parts, axis=second))


def unused() -> Iterator[ModuleOp]:
    """Models with operations whose results no Result needs, before and after others that are needed, and chains of
    them.
    """
    for rank, kind, length in product(range(MOST_RANKS + 1), ("Relu", "Exp", "Negative"), (1, 2)):
        graph = Graph()
        value = graph.input((-1,) * rank)
        dead = value
        for _ in range(length):
            dead = getattr(graph.op, kind)(dead)
        needed = graph.op.Sqrt(value)
        graph.op.Add(dead, needed)
        yield graph.module(needed)
