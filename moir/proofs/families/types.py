"""Operations whose result types are not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.element_types import dynamic
from moir.dialects.inference import set_type
from moir.dialects.shapes import shape_of, tensor
from moir.proofs.families.graph import MOST_RANKS, Graph

OPERATIONS: Mapping[str, Callable[[Any, SSAValue], SSAValue]] = {
    "unary": lambda op, x: op.Relu(x),
    "binary": lambda op, x: op.Add(x, op.Relu(x)),
    "comparison": lambda op, x: op.Greater(x, op.Negative(x)),
    "reduction": lambda op, x: op.ReduceMax(x, np.array([0], np.int64), keep_dims=False),
    "movement": lambda op, x: op.Transpose(x, list(range(len(shape_of(x) or ())))[::-1]),
    "concatenation": lambda op, x: op.Concat(x, x, axis=0),
}
"""Operations on a value."""


def untyped() -> Iterator[ModuleOp]:
    """Models with operations of several kinds whose result types are left out, at ranks up to 4."""
    for rank, build in product(range(1, MOST_RANKS + 1), OPERATIONS.values()):
        graph = Graph()
        module = graph.module(build(graph.op, graph.input((-1, *range(2, rank + 1)))))
        for op in graph.block.ops:
            if op.operands and op.results:
                set_type(op.results[0], tensor(None, dynamic))
        yield module
