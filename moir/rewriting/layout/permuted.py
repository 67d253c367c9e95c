"""An operation on tensors in another order of dimensions: what a rule of the table says, and how the operation is
built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.opset.base import OpsetOp
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.layout.orders import Order, inverse, is_natural

Adaptation: TypeAlias = Callable[[OpBuilder, SSAValue], SSAValue]
"""Makes the operand of the permuted operation from the operand, which is already in its order."""


@dataclass(frozen=True)
class Offer:
    """An operation one of whose operands, or results, can be had in another order.

    Args:
        op: the operation.
        known: what is known of dimensions.
        order: the order the tensor would be transposed by.
        index: number of the operand or result.
        is_result: it is a result.
    """

    op: OpsetOp
    known: Dimensions
    order: Order
    index: int
    is_result: bool = False

    def is_of(self, *operands: int) -> bool:
        """Whether this is about a result or one of these operands."""
        return self.is_result or self.index in operands


@dataclass
class Permuted:
    """The form an operation has on permuted tensors.

    Its operand i is the natural operand i transposed by `operands[i]` (None: as it is), its result i the natural result
    i transposed by `results[i]`.
    """

    operands: list[Order | None]
    results: list[Order | None]
    properties: dict[str, Any] = field(default_factory=dict[str, Any])
    """Properties that change."""

    adaptations: dict[int, Adaptation] = field(default_factory=dict[int, Adaptation])
    """Operands that change beyond their order."""

    extra: int = 0
    """Operations the adaptations need."""

    construct: Callable[[OpBuilder, list[SSAValue]], Sequence[SSAValue]] | None = None
    """Builds the operation, if it is not the same one with other operands and properties."""

    def places(self) -> list[tuple[int, bool, Order]]:
        """The operands and results in another order: number, whether it is a result, order."""
        both = ((self.operands, False), (self.results, True))
        return [
            (index, is_result, order)
            for orders, is_result in both
            for index, order in enumerate(orders)
            if order is not None and not is_natural(order)
        ]

    def build(self, op: OpsetOp, builder: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Build the permuted form of an operation on operands in their orders."""
        values = [self.adaptations[index](builder, value) if index in self.adaptations else value for index, value in enumerate(operands)]
        if self.construct is not None:
            return self.construct(builder, values)
        return builder.create(type(op), values, {**op.properties, **self.properties}).results


LayoutRule: TypeAlias = Callable[[Offer], Permuted | None]
"""The permuted form of an operation; None if there is none for this order."""


def together(op: OpsetOp, order: Order, data: Collection[int]) -> Permuted | None:
    """All results and the operands `data` in one order, the other operands as they are; None unless these have the rank
    of the order.
    """
    if any(rank_of(op.operands[index]) != len(order) for index in data):
        return None
    return Permuted([order if index in data else None for index in range(len(op.operands))], [order] * len(op.results))


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a constant that can be had in any order for nothing."""
    return constant_of(value) is not None


def is_single(value: SSAValue) -> bool:
    """Whether a value certainly has one element."""
    return element_count(shape_of(value)) == 1


def moved_axis(axis: int, order: Order) -> int:
    """Where a dimension, counted from either end, is found after a transposition."""
    return inverse(order)[axis % len(order)]


def replace_axes(found: Permuted, index: int, axes: SSAValue, order: Order) -> None:
    """Let the operand `index`, which lists dimensions, name them as they are numbered after a transposition."""
    places = np.array(inverse(order))
    constant = constant_of(axes)
    if constant is not None:
        found.adaptations[index] = lambda op, _: op.constant(places[constant].astype(constant.dtype), element_of(axes))
    else:
        found.adaptations[index] = lambda op, value: op.Gather(op.constant_like(places, value), value, 0)
        found.extra += 1


def permute_vector(found: Permuted, index: int, vector: SSAValue, order: Order) -> None:
    """Let the operand `index`, which has an entry for each dimension, have them in the order of a transposition."""
    constant = constant_of(vector)
    if constant is not None:
        found.adaptations[index] = lambda op, _: op.constant(constant[list(order)], element_of(vector))
    else:
        found.adaptations[index] = lambda op, value: op.Gather(value, np.array(order, np.int64), 0)
        found.extra += 1


def unsqueezed(op: OpBuilder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A value with dimensions of size 1 inserted, which are `axes` of the result; a constant stays one."""
    array = constant_of(value)
    if array is None:
        return op.Unsqueeze(value, np.array(axes, np.int64))
    return op.constant(np.expand_dims(array, tuple(axes)), element_of(value))


def transposed_constant(op: OpBuilder, value: SSAValue, order: Order) -> SSAValue:
    """A constant in another order: a view of the same memory."""
    array = constant_of(value)
    assert array is not None
    return op.constant(array.transpose(order), element_of(value))
