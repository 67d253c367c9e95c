"""The permuted form of an operation: what a layout rule returns, and how the operation is built from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of, values_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.passes.layout.orders import Order, inverse, is_natural
from moir.rewriting.builder import OpBuilder

Adaptation: TypeAlias = Callable[[OpBuilder, SSAValue], SSAValue]
"""Builds an operand of the permuted operation from the original operand, which is already transposed."""


class Offer:
    """An operation one of whose operands or results could be permuted.

    Args:
        op: the operation.
        known: the dimensions of the module.
        order: the permutation by which the tensor would be transposed.
        index: index of the operand or result.
        is_result: whether the tensor is a result.
    """

    def __init__(self, op: OpsetOp, known: Dimensions, order: Order, index: int, is_result: bool = False) -> None:
        self.op = op
        self.known = known
        self.order = order
        self.index = index
        self.is_result = is_result

    def is_of(self, *operands: int) -> bool:
        """Whether the permuted tensor is a result, or one of the operands with these indices."""
        return self.is_result or self.index in operands


class Permuted:
    """The form of an operation on permuted tensors.

    Its operand i is the original operand i transposed by `operands[i]` (None: not transposed), and its result i the
    original result i transposed by `results[i]`.
    """

    def __init__(self, operands: list[Order | None], results: list[Order | None], *, extra: int = 0) -> None:
        self.operands = operands
        self.results = results
        self.extra = extra
        """Number of operations that the permuted form adds."""
        self.properties: dict[str, Any] = {}
        """Changed properties by name."""
        self.adaptations: dict[int, Adaptation] = {}
        """Changes of operands beyond their transposition, by operand index."""
        self.construct: Callable[[OpBuilder, list[SSAValue]], Sequence[SSAValue]] | None = None
        """Builds the permuted form, if changed operands and properties of the same operation are not enough."""

    def permutations(self) -> list[tuple[int, bool, Order]]:
        """The permuted operands and results: index, whether it is a result, permutation."""
        both = ((self.operands, False), (self.results, True))
        return [
            (index, is_result, order)
            for orders, is_result in both
            for index, order in enumerate(orders)
            if order is not None and not is_natural(order)
        ]

    def build(self, op: OpsetOp, builder: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Build the permuted form of an operation from its transposed operands; returns the results."""
        values = [self.adaptations[index](builder, value) if index in self.adaptations else value for index, value in enumerate(operands)]
        if self.construct is not None:
            return self.construct(builder, values)
        return builder.create(type(op), values, {**op.properties, **self.properties}).results


LayoutRule: TypeAlias = Callable[[Offer], Permuted | None]
"""A rule of the layout change: the permuted form of an operation, None if it does not accept the permutation."""


def together(op: OpsetOp, order: Order, data: Collection[int]) -> Permuted | None:
    """The form in which all results and the operands `data` share a permutation and no other operand is permuted.

    None unless the rank of each of these operands is the length of the permutation.
    """
    if any(rank_of(op.operands[index]) != len(order) for index in data):
        return None
    return Permuted([order if index in data else None for index in range(len(op.operands))], [order] * len(op.results))


def is_single(value: SSAValue) -> bool:
    """Whether a value is known to have one element."""
    return element_count(shape_of(value)) == 1


def moved_axis(axis: int, order: Order) -> int:
    """The axis that a dimension has after a transposition; `axis`, the one before, may be negative."""
    return inverse(order)[axis % len(order)]


def replace_axes(permuted: Permuted, index: int, axes: SSAValue, order: Order) -> None:
    """Make a permuted form renumber the axes in operand `index`, whose value is `axes`, for data transposed by
    `order`.
    """
    new_axes = np.array(inverse(order))
    constant = constant_of(axes)
    if constant is not None:
        permuted.adaptations[index] = lambda op, _: op.constant(new_axes[constant].astype(constant.dtype), element_of(axes))
    else:
        permuted.adaptations[index] = lambda op, value: op.Gather(op.constant_like(new_axes, value), value, 0)
        permuted.extra += 1


def permute_vector(permuted: Permuted, index: int, vector: SSAValue, order: Order) -> None:
    """Make a permuted form permute operand `index`, whose value is `vector`, with an element for each dimension."""
    constant = constant_of(vector)
    if constant is not None:
        permuted.adaptations[index] = lambda op, _: op.constant(constant[list(order)], element_of(vector))
    else:
        permuted.adaptations[index] = lambda op, value: op.Gather(value, np.array(order, np.int64), 0)
        permuted.extra += 1


def unsqueezed(op: OpBuilder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A value with dimensions of size 1 inserted at `axes` of the result; a constant stays a constant."""
    array = constant_of(value)
    if array is None:
        return op.Unsqueeze(value, np.array(axes, np.int64))
    return op.constant(np.expand_dims(array, tuple(axes)), element_of(value))


def transposed_constant(op: OpBuilder, value: SSAValue, order: Order) -> SSAValue:
    """A transposed constant, whose array is a view of the same memory."""
    values = values_of(value)
    assert values is not None
    return op.constant(values.transpose(order), element_of(value))
