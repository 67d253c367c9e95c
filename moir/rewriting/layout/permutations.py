"""The table of the layout change: for each kind of operation the rule that says what form it has on permuted tensors.

A kind without a rule, and an order a rule does not take, is a border: there the tensor has the order the operation
wants.
"""

from __future__ import annotations

from moir.dialects.moir import is_none
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.reduction import ReductionOp
from moir.rewriting.layout import (
    permute_along_axes,
    permute_elementwise,
    permute_extents,
    permute_products,
    permute_ranks,
    permute_reshapes,
)
from moir.rewriting.layout.permuted import LayoutRule, Offer, Permuted

RULES: dict[str, LayoutRule] = {
    **permute_elementwise.RULES,
    **permute_along_axes.RULES,
    **permute_extents.RULES,
    **permute_ranks.RULES,
    **permute_reshapes.RULES,
    **permute_products.RULES,
}
"""Rules by kind of operation, whatever its version, for those kinds whose class does not say it all."""


def rule_of(op: OpsetOp) -> LayoutRule | None:
    """The rule for an operation: one of its own, or the one that follows from the facts of its class."""
    if (rule := RULES.get(op.KIND)) is not None:
        return rule
    if op.POINTWISE:
        return permute_elementwise.unary
    if op.BROADCASTS:
        return permute_elementwise.broadcasting
    if op.AXES is not None:
        return permute_along_axes.along_axes
    if op.EXTENTS:
        return permute_extents.vectors
    return permute_ranks.reduction if isinstance(op, ReductionOp) else None


def permuted_form(offer: Offer) -> Permuted | None:
    """The form of an operation one of whose tensors is transposed; None at a border.

    Rules count operands, so an operation that has an absent one in front of others is a border, too.
    """
    rule = rule_of(offer.op)
    if rule is None or any(is_none(operand.owner) for operand in offer.op.operands):
        return None
    return rule(offer)
