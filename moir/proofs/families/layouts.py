"""Transposes around operations that may compute in another layout, for a bounded check of the layout change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.errors import InferenceError
from moir.proofs.families.graph import MOST_RANKS, Graph
from moir.proofs.families.small_graphs import filled

SHAPE = (2, 3, 1, 2)
"""The sizes of the dimensions of data, of which the first ones are those of lower ranks."""


def _ints(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


class Data:
    """The data of an operation, and an axis of them.

    Args:
        graph: the graph, to which the operation is added.
        value: the data.
        axis: the axis.
    """

    def __init__(self, graph: Graph, value: SSAValue, axis: int) -> None:
        self.op = graph.op
        self.graph = graph
        self.value = value
        self.axis = axis
        self.sizes: Sequence[int] = shape_of(value) or ()
        self.rank = len(self.sizes)

    @property
    def index(self) -> Any:
        """The axis as a constant array of one integer."""
        return _ints(self.axis)

    def constant(self, *axes: int) -> SSAValue:
        """A constant that has the sizes of the data along some axes and 1 along the others."""
        return filled(self.graph, [size if axis in axes else 1 for axis, size in enumerate(self.sizes)])

    def vector(self, number: int, rest: int = 0) -> Any:
        """An integer array with one element for each dimension: `number` at the axis, `rest` elsewhere."""
        return np.array([number if axis == self.axis else rest for axis in range(self.rank)], np.int64)

    def limits(self) -> list[SSAValue]:
        """The four limits of a FakeQuantize."""
        return [filled(self.graph, (), [number]) for number in (-1.0, 1.0, -1.0, 1.0)]


Builder: TypeAlias = Callable[[Data], SSAValue]
"""A function that builds an operation."""

OPERATIONS: Mapping[str, Builder] = {
    "elementwise": lambda x: x.op.Relu(x.value),
    "slopes": lambda x: x.op.PRelu(x.value, filled(x.graph, x.sizes[1:2])),
    "choice": lambda x: x.op.Select(x.op.Greater(x.value, 0.0), x.value, x.constant(*range(x.rank))),
    "product": lambda x: x.op.MatMul(x.value, filled(x.graph, (x.sizes[-1], 2))),
    "rounding": lambda x: x.op.FakeQuantize(x.value, *x.limits(), levels=3),
}
"""Operations for which the layout change has rules, without an axis."""

ALONG_AXES: Mapping[str, Builder] = {
    "constant along an axis": lambda x: x.op.Add(x.value, x.constant(x.axis)),
    "constant of fewer dimensions": lambda x: x.op.Multiply(x.value, filled(x.graph, x.sizes[x.axis :])),
    "broadcast input": lambda x: x.op.Subtract(x.graph.input(x.sizes[x.axis :]), x.value),
    "reduction": lambda x: x.op.ReduceSum(x.value, x.index, keep_dims=True),
    "reduction that drops": lambda x: x.op.ReduceMax(x.value, x.index, keep_dims=False),
    "softmax": lambda x: x.op.Softmax(x.value, axis=x.axis),
    "concatenation": lambda x: x.op.Concat(x.value, x.op.Relu(x.value), axis=x.axis),
    "parts": lambda x: x.op.Concat(*x.op.Split.results(x.value, x.axis, num_splits=x.sizes[x.axis])[::-1], axis=x.axis),
    "lengths": lambda x: x.op.Concat(*x.op.VariadicSplit.results(x.value, x.axis, _ints(1, x.sizes[x.axis] - 1))[::-1], axis=x.axis),
    "slice": lambda x: x.op.Slice(x.value, _ints(-1), _ints(-9), _ints(-1), x.index),
    "strided slice": lambda x: x.op.StridedSlice(
        x.value, x.vector(1), x.vector(3), x.vector(1, 1), begin_mask=[0] * x.rank, end_mask=x.vector(0, 1).tolist()
    ),
    "padding": lambda x: x.op.Pad(x.value, x.vector(1), x.vector(2), 0.5, pad_mode="constant"),
    "gathering": lambda x: x.op.Gather(x.value, _ints(0, -1), x.axis),
    "single index": lambda x: x.op.Gather(x.value, np.array(0, np.int64), x.axis),
    "repetition": lambda x: x.op.Tile(x.value, x.vector(2, 1)),
    "inserted dimension": lambda x: x.op.Unsqueeze(x.value, x.index),
    "removed dimension": lambda x: x.op.Squeeze(x.value, x.index),
    "flattened dimensions": lambda x: x.op.Reshape(x.value, _ints(*x.sizes[: x.axis], -1), special_zero=False),
    "normalization": lambda x: x.op.NormalizeL2(x.value, x.index, eps=0.5, eps_mode="add"),
    "standardization": lambda x: x.op.MVN(x.value, x.index, eps=0.5, normalize_variance=True, eps_mode="INSIDE_SQRT"),
}
"""Operations along an axis for which the layout change has rules."""


def operations_between_transposes() -> Iterator[ModuleOp]:
    """Models with each operation, for all axes that it may have, between a Transpose of any order and the Transpose
    back, at ranks from 2 to 4; an operation that changes the rank is followed by a Transpose of all dimensions.
    """
    for rank in range(2, MOST_RANKS + 1):
        orders = [order for order in permutations(range(rank)) if list(order) != sorted(order)]
        builds = [*product(OPERATIONS.values(), [0]), *product(ALONG_AXES.values(), range(rank))]
        for order, (build, axis) in product(orders, builds):
            graph = Graph()
            moved = graph.op.Transpose(graph.input(SHAPE[:rank]), list(order))
            try:
                value = build(Data(graph, moved, axis))
                width = len(shape_of(value) or ())
                back = [order.index(each) for each in range(rank)] if width == rank else list(range(width))[::-1]
                yield graph.module(graph.op.Transpose(value, back))
            except InferenceError:
                continue
