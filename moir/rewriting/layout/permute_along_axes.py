"""Permuted forms of operations that work along axes: the axes are renumbered, the rank does not change.

Softmax(Transpose(x, [0, 2, 3, 1]), axis = 3)  ->  Transpose(Softmax(x, axis = 1), [0, 2, 3, 1])
"""

from __future__ import annotations

from moir.dialects.opset.interfaces.operation import AlongAxes
from moir.rewriting.layout.permuted import LayoutRule, Offer, Permuted, moved_axis, permute_vector, replace_axes, together


def along_axes(offer: Offer, axes: AlongAxes | None = None) -> Permuted | None:
    """Data operands and results share any permutation; the axes, in properties or an operand, are renumbered.

    Args:
        offer: the operation.
        axes: where the operation has its data and its axes, by default the `AXES` of its class.
    """
    op, order = offer.op, offer.order
    axes = axes or op.AXES
    assert axes is not None
    data = tuple(range(len(op.operands))) if axes.data is None else axes.data
    if not offer.is_of(*data):
        return None
    found = together(op, order, data)
    if found is None:
        return None
    for name in axes.properties:
        found.properties[name] = moved_axis(op.integer(name), order)
    if axes.operand is not None:
        replace_axes(found, axes.operand, op.operands[axes.operand], order)
    return found


def reverse(offer: Offer) -> Permuted | None:
    """The reversed dimensions are either listed or marked by a vector of one flag for each dimension."""
    op, order = offer.op, offer.order
    if op.text("mode") == "index":
        return along_axes(offer, AlongAxes(operand=1))
    found = along_axes(offer, AlongAxes())
    if found is not None:
        permute_vector(found, 1, op.operands[1], order)
    return found


RULES: dict[str, LayoutRule] = {"Reverse": reverse}
