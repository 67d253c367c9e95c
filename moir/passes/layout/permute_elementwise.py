"""Permuted forms of elementwise operations: any permutation passes through them.

An operand of lower rank is expanded by dimensions of size 1, so that its dimensions broadcast against the same ones:

    Add(Transpose(x, p), [C])  ->  Transpose(Add(x, [C, 1, 1]), p)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import is_constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import rank_of, shape_of
from moir.passes.layout.orders import Order, inverse, is_natural, natural
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted, is_single, together, unsqueezed


def unary(offer: Offer) -> Permuted | None:
    """The layout rule of operations on elements of one operand: operand and result share any permutation.

    None if another operand is permuted, or a FakeConvert has scales of several elements.
    """
    op, order = offer.op, offer.order
    if not offer.is_of(0):
        return None
    if op.name == "opset13.FakeConvert" and not all(is_single(operand) for operand in op.operands[1:]):
        return None
    return together(op, order, (0,))


def order_of_result(op: OpsetOp, order: Order) -> Order | None:
    """The permutation of a broadcasting operation's result that follows from a permutation of one operand.

    The dimensions of the operand are the last ones of the result. None if the rank of the result is unknown or too low.
    """
    rank = rank_of(op.results[0])
    if rank is None or len(order) > rank:
        return None
    lead = rank - len(order)
    return (*natural(lead), *(lead + axis for axis in order))


def broadcast_operand(permuted: Permuted, index: int, value: SSAValue, order: Order) -> bool:
    """Add to a permuted form how an operand broadcasts to a result that is transposed by `order`.

    Returns False if the rank of the operand is unknown or higher than that of the result.
    """
    rank = rank_of(value)
    if rank is None or rank > len(order):
        return False
    if rank == 0 or is_single(value):
        return True
    if rank == len(order):
        permuted.operands[index] = order
        return True
    axes = inverse(order)[len(order) - rank :]
    own = tuple(sorted(range(rank), key=axes.__getitem__))
    if not is_natural(own):
        permuted.operands[index] = own
    if sorted(axes) != list(range(len(order) - rank, len(order))):
        gaps = [position for position in range(len(order)) if position not in axes]
        permuted.adaptations[index] = lambda op, operand: unsqueezed(op, operand, gaps)
        permuted.extra += not is_constant(value)
    return True


def broadcasting(offer: Offer) -> Permuted | None:
    """The layout rule of broadcasting operations: the result and operands of its rank share any permutation.

    Operands of lower rank are expanded. None for broadcasting as PaddlePaddle does it (pdpd).
    """
    op, order = offer.op, offer.order
    mode = op.properties.get("auto_broadcast")
    result = order_of_result(op, order)
    if result is None or (mode is not None and value_of(mode) == "pdpd"):
        return None
    permuted = Permuted([None] * len(op.operands), [result])
    if not all(broadcast_operand(permuted, index, value, result) for index, value in enumerate(op.operands)):
        return None
    return permuted


def fake_quantize(offer: Offer) -> Permuted | None:
    """The layout rule of FakeQuantize, whose limits of several elements belong to dimension 1, the channels, before and
    after.

    Returns None if the permutation moves the channels to another dimension, or the permuted operand is a limit.
    """
    op, order = offer.op, offer.order
    permuted = broadcasting(offer)
    if permuted is None or not offer.is_of(0):
        return None
    for limit in op.operands[1:]:
        shape = shape_of(limit) or ()
        lead = len(order) - len(shape)
        if not is_single(limit) and any(d != 1 and order.index(lead + axis) != 1 for axis, d in enumerate(shape)):
            return None
    return permuted


def prelu(offer: Offer) -> Permuted | None:
    """The layout rule of PRelu: a slope of rank 1 follows dimension 1 of the data; any other slope broadcasts.

    Returns None if the slope is the permuted operand, or as `broadcasting`.
    """
    op, order = offer.op, offer.order
    slope, rank = op.operands[1], rank_of(op.results[0])
    if rank_of(slope) != 1 or rank is None or rank < 2 or is_single(slope):
        return broadcasting(offer)
    permuted = together(op, order, (0,)) if offer.is_of(0) else None
    channel = order.index(1)
    if permuted is not None and channel != 1:
        gaps = [axis for axis in range(rank) if axis != channel]
        permuted.adaptations[1] = lambda op, operand: unsqueezed(op, operand, gaps)
        permuted.extra += not is_constant(slope)
    return permuted


RULES: dict[str, LayoutRule] = {
    "FakeQuantize": fake_quantize,
    "PRelu": prelu,
}
