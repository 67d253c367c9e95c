"""Permuted forms of operations that work along axes: the axes are renumbered, the rank does not change.

Softmax(Transpose(x, [0, 2, 3, 1]), axis = 3)  ->  Transpose(Softmax(x, axis = 1), [0, 2, 3, 1])
"""

from __future__ import annotations

from moir.dialects.opset.interfaces.operation import AlongAxes
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted, moved_axis, permute_vector, replace_axes, together


def along_axes(offer: Offer, axes: AlongAxes | None = None) -> Permuted | None:
    """The layout rule of operations along axes: data and results share any permutation, and the axes are renumbered.

    Args:
        offer: the operation.
        axes: which operands and properties are the data and the axes, by default the `AXES` of the operation's class.

    Returns None if another operand is permuted, or the rank of the data is not that of the permutation.
    """
    op, order = offer.op, offer.order
    axes = axes or op.AXES
    assert axes is not None
    data = tuple(range(len(op.operands))) if axes.data is None else axes.data
    if not offer.is_of(*data):
        return None
    permuted = together(op, order, data)
    if permuted is None:
        return None
    for name in axes.properties:
        permuted.properties[name] = moved_axis(op.integer(name), order)
    if axes.operand is not None:
        replace_axes(permuted, axes.operand, op.operands[axes.operand], order)
    return permuted


def reverse(offer: Offer) -> Permuted | None:
    """The layout rule of Reverse, whose axes are indices, or a mask with a flag for each dimension. None as
    `along_axes`.
    """
    op, order = offer.op, offer.order
    if op.text("mode") == "index":
        return along_axes(offer, AlongAxes(operand=1))
    permuted = along_axes(offer, AlongAxes())
    if permuted is not None:
        permute_vector(permuted, 1, op.operands[1], order)
    return permuted


RULES: dict[str, LayoutRule] = {"Reverse": reverse}
