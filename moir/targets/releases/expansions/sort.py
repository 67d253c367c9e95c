"""TopK with a defined order of equal elements, by comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.moir import add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion

MOST_COMPARISONS = 1 << 24
"""The largest number of pairs of elements for which all pairs are compared."""


def stable_top_k(op: OpBuilder, node: OpsetOp) -> Sequence[SSAValue]:
    """The elements by their ranks: the number of larger elements, and of equal ones before them.

    %v, %i = opset11.TopK(%x, 2) {axis = 0, mode = "max", stable = true}             // %x: [5]
    ->  %0 = opset1.ReduceSum(%x[j] > %x[i] or %x[j] == %x[i] and j < i, over j)
        %i = opset8.Slice(opset3.ScatterElementsUpdate(zeros, %0, [0, 1, 2, 3, 4], 0), [0], [2], [1])
        %v = opset6.GatherElements(%x, %i) {axis = 0}

    For data of many elements or dynamic sizes, the TopK that leaves the order of equal elements open, with a note.
    """
    data, count = node.operands
    shape, properties = shape_of(data), {name: value for name, value in node.properties.items() if name != "stable"}
    axis = node.integer("axis") if shape is None else node.integer("axis") % len(shape)
    if shape is None or min(shape) < 0 or prod(shape) * shape[axis] > MOST_COMPARISONS:
        add_notes(node, [f"TopK {name_of(node)!r}: the order of equal elements is not defined for the release"])
        return tuple(op["opset3.TopK"].results(data, count, **properties))
    ranks = _ranks(op, node, axis)
    numbers = np.arange(shape[axis]).reshape([-1 if each == axis else 1 for each in range(len(shape))])
    target = op.constant(list(shape))
    zeros = op.Broadcast(op.constant(0, si64), target)
    order = op["opset3.ScatterElementsUpdate"](zeros, ranks, op.Broadcast(op.constant(numbers), target), op.constant(axis, si64))
    stop = op.convert(op.Reshape(count, [1], special_zero=False), si64)
    indices = op.Slice(order, [0], stop, [1], [axis])
    if node.text("sort") == "index":
        indices = op["opset3.TopK"](indices, count, axis=axis, mode="min", sort="value", index_element_type=si64)
    values = op.GatherElements(data, indices, axis=axis)
    return values, op.Convert(indices, destination_type=node.element("index_element_type"))


def _ranks(op: OpBuilder, node: OpsetOp, axis: int) -> SSAValue:
    """The index that each element of the data has after sorting along an axis."""
    data, shape = node.operands[0], node.shape(0) or ()
    size, after = shape[axis], len(shape) - axis - 1
    own, others = op.Unsqueeze(data, [axis + 1]), op.Unsqueeze(data, [axis])
    is_before = op.Greater(others, own) if node.text("mode") == "max" else op.Less(others, own)
    is_earlier = op.constant(np.tri(size, size, -1, dtype=bool).reshape(size, size, *[1] * after))
    precedes = op.LogicalOr(is_before, op.LogicalAnd(op.Equal(others, own), is_earlier))
    return op.ReduceSum(op.convert(precedes, si64), [axis + 1], keep_dims=False)


EXPANSIONS: Mapping[str, Expansion] = {"opset11.TopK": stable_top_k}
