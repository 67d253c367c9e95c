"""The table of the layout change: for each kind of operation the rule that says what form it has on permuted tensors.

A kind without a rule, and an order a rule does not take, is a border: there the tensor has the order the operation wants.
"""

from __future__ import annotations

from moir.dialects.moir import is_none
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
"""Rules by kind of operation, whatever its version."""


def permuted_form(offer: Offer) -> Permuted | None:
    """The form of an operation one of whose tensors is transposed; None at a border.

    Rules count operands, so an operation that has an absent one in front of others is a border, too.
    """
    rule = RULES.get(offer.op.name.partition(".")[2])
    if rule is None or any(is_none(operand.owner) for operand in offer.op.operands):
        return None
    return rule(offer)
