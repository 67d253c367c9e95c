"""The table of the layout change: the rule for each kind of operation that gives its form on permuted tensors.

An operation whose kind has no rule, or whose rule does not accept the permutation, is a boundary: its operands and
results are not permuted.
"""

from __future__ import annotations

from moir.dialects.moir import is_none
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.reduction import ReductionOp
from moir.passes.layout import (
    permute_along_axes,
    permute_elementwise,
    permute_extents,
    permute_products,
    permute_ranks,
    permute_reshapes,
)
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted

RULES: dict[str, LayoutRule] = {
    **permute_elementwise.RULES,
    **permute_along_axes.RULES,
    **permute_extents.RULES,
    **permute_ranks.RULES,
    **permute_reshapes.RULES,
    **permute_products.RULES,
}
"""Rules by operation kind, of any version, for kinds whose rule does not follow from facts of the operation class."""


def rule_of(op: OpsetOp) -> LayoutRule | None:
    """How an operation lets a permutation pass: the rule of its kind, or of its class; None if it lets none pass."""
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
    """The permuted form of an operation one of whose operands or results is permuted; None at a boundary.

    Rules count operands, so an operation that has an absent operand before others is a boundary, too.
    """
    rule = rule_of(offer.op)
    if rule is None or any(is_none(operand.owner) for operand in offer.op.operands):
        return None
    return rule(offer)
