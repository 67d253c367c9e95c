"""Reductions whose function is a body: which function it is, its identity element, and the reduction in the operation
sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, Region, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si32, si64, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.extremes import first_extremes
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.computations import Extreme, combination, extreme
from moir.lowering.xla.order_of_nan import may_be_nan, with_nan_as_extreme
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

INDEX_TYPES = (si32, si64)
"""The element types of the indices of opset11.TopK."""


class Combination(Record):
    """A binary function that a reduction applies repeatedly: its operation, and the corresponding reduction."""

    operation: str
    reduction: str

    def of(self, op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        """The function applied to two tensors, elementwise."""
        return getattr(op, self.operation)(a, b)


COMBINATIONS = {
    "and": Combination("LogicalAnd", "ReduceLogicalAnd"),
    "max": Combination("Maximum", "ReduceMax"),
    "min": Combination("Minimum", "ReduceMin"),
    "or": Combination("LogicalOr", "ReduceLogicalOr"),
    "prod": Combination("Multiply", "ReduceProd"),
    "sum": Combination("Add", "ReduceSum"),
}
LOGICAL = ("and", "or")


def neutral(kind: str, element: Attribute) -> float | int:
    """The identity element of the combination `kind` in an element type."""
    if kind in ("max", "min"):
        if element in REAL_TYPES:
            return -np.inf if kind == "max" else np.inf
        if element is boolean:
            return int(kind == "min")
        limits = np.iinfo(to_numpy(element))
        return int(limits.min if kind == "max" else limits.max)
    return int(kind in ("prod", "and"))


def is_neutral(op: OpBuilder, kind: str, value: SSAValue) -> bool:
    """Whether a value is known to be the identity element of the combination `kind`."""
    known = op.known.constant(value)
    return known is not None and known.size == 1 and known.reshape(()) == neutral(kind, element_of(value))


def combination_of(node: LoweringNode, body: Region, element: Attribute, *arguments: int) -> str:
    """The name in `COMBINATIONS` of the function that `body` computes from two of its arguments, by default those of
    index 0 and 1.

    Raises ConversionError for any other function, and for a logical one of an element type that is not boolean.
    """
    kind = combination(body, *arguments)
    if kind not in COMBINATIONS or (kind in LOGICAL) is not (element is boolean):
        node.fail(
            "its function is not a sum, a product, a minimum, a maximum, or a logical and or or",
            hint="cut the model before this node",
        )
    return kind


def reductions_of(node: LoweringNode, op: OpBuilder, body: Region, values: Sequence[SSAValue], axes: Sequence[int]) -> Sequence[SSAValue]:
    """Reduce tensors along axes by a body; `values` are the tensors x…, then their initial values.

    Returns a reduction of each tensor, or the extreme of the first and the element of the second at its index.
    """
    count = len(values) // 2
    extreme_of_body = extreme(body) if count == 2 else None
    if extreme_of_body is not None:
        return extremes(node, op, extreme_of_body, list(axes))
    kinds = [combination_of(node, body, element_of(values[index]), index, count + index, index) for index in range(count)]
    return [reduced(op, kind, values[index], values[count + index], axes) for index, kind in enumerate(kinds)]


def reduced(op: OpBuilder, kind: str, x: SSAValue, init: SSAValue, axes: Sequence[int]) -> SSAValue:
    """x reduced along axes by the combination `kind`, and combined with the initial value `init`."""
    how = COMBINATIONS[kind]
    if axes:
        x = getattr(op, how.reduction)(x, list(axes), keep_dims=False)
    return x if is_neutral(op, kind, init) else how.of(op, x, init)


def extremes(node: LoweringNode, op: OpBuilder, how: Extreme, axes: list[int]) -> Sequence[SSAValue]:
    """The extreme of operand 0 along the axes, and the element of operand 1 at its index.

    If the elements of operand 1 are their own indices, these are the indices of a TopK. Otherwise the smallest or
    largest element of operand 1 at indices of the extreme is selected, and the initial values are compared with both
    results.
    """
    x, index, first, first_index = node.operands
    kind = "max" if how.is_maximum else "min"
    if len(axes) == 1 and how.takes_smaller_index and _are_positions(node, axes[0]) and is_neutral(op, kind, first):
        element = element_of(index) if element_of(index) in INDEX_TYPES else si64
        key = with_nan_as_extreme(op, x, largest=how.is_maximum) if may_be_nan(op, x) else x
        pair = first_extremes(op, key, axes[0], kind, element)
        best = pair[0] if key is x or not node.is_used(0) else op.GatherElements(x, pair[1], axis=axes[0])
        return [op.Squeeze(best, axes), op.convert(op.Squeeze(pair[1], axes), element_of(index))]
    best = getattr(op, COMBINATIONS[kind].reduction)(x, axes, keep_dims=True)
    side = "min" if how.takes_smaller_index else "max"
    tie = COMBINATIONS[side]
    last = getattr(op, COMBINATIONS["max" if side == "min" else "min"].reduction)(index, axes, keep_dims=True)
    position = getattr(op, tie.reduction)(op.Select(op.Equal(x, best), index, last), axes, keep_dims=False)
    best = op.Squeeze(best, axes)
    is_better = (op.Greater if how.is_maximum else op.Less)(best, first)
    other = op.Select(op.Equal(best, first), tie.of(op, position, first_index), first_index)
    return [COMBINATIONS[kind].of(op, best, first), op.Select(is_better, position, other)]


def _are_positions(node: LoweringNode, axis: int) -> bool:
    """Whether operand 1 is a constant that holds each element's own index along an axis, and its initial value is 0."""
    index, first = node.constant(1), node.constant(3)
    if index is None or first is None or first.any() or not 0 <= axis < index.ndim:
        return False
    return bool(np.array_equal(index, np.indices(index.shape, sparse=True)[axis] + np.zeros_like(index)))
