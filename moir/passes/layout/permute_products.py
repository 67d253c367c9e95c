"""Permuted forms of matrix products and Einstein sums.

MatMul(Transpose(a, [1, 0, 3, 2]), Transpose(b, [1, 0, 2, 3]))
->  Transpose(MatMul(a, b) {transpose_a = true}, [1, 0, 2, 3])

A runtime computes the product of data [M, K] with a constant matrix, and an addition to it, as one operation if the
matrix is the second operand and the data are not transposed. Otherwise both cost about one Transpose more each, so that
the two products of a block of a transformer or a ConvNeXt keep their form, and Transposes stay around them. Between
convolutions of images a Transpose of the image moves nothing, as targets keep images with the channels last
(`assignment.transposition_cost`). A ConvNeXt with its matrices first executed 391 nodes instead of 329, 1.27 times as
long.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import is_constant, is_quantized_weight
from moir.dialects.shapes import rank_of
from moir.passes.layout.orders import Order, composed, natural
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted
from moir.rewriting.builder import OpBuilder

TRANSPOSED_DATA, EXCHANGED_OPERANDS = 1, 2
"""The costs, in Transposes, of a product with constant weights if its data are transposed, and if the weights come
first.
"""


def matmul(offer: Offer) -> Permuted | None:
    """The layout rule of MatMul: batch dimensions are permuted in both operands alike; a swap of the last two
    dimensions changes the transposition flags.

    Returns None for vectors and dynamic ranks, and for permutations that mix batch and matrix dimensions.
    """
    op, order = offer.op, offer.order
    ranks = [rank_of(operand) for operand in op.operands]
    if None in ranks or min(rank or 0 for rank in ranks) < 2:
        return None
    rank = max(rank or 0 for rank in ranks)
    swap = (*natural(rank - 2), rank - 1, rank - 2)
    if len(order) != (rank if offer.is_result else ranks[offer.index]):
        return None
    count = len(order)
    swapped = order[-2:] == (count - 1, count - 2)
    if not swapped and order[-2:] != (count - 2, count - 1):
        return None
    if count < rank:
        # A permutation of the batch would require the same one of the other operand, which has more batch dimensions.
        if order[:-2] != natural(count - 2):
            return None
        batch = natural(rank)
    else:
        batch = (*order[:-2], rank - 2, rank - 1)
    if batch != natural(rank) and any(own not in (2, rank) for own in ranks):
        return None
    operands: list[Order | None] = [batch if own == rank else None for own in ranks]
    flags = {"transpose_a": op.flag("transpose_a"), "transpose_b": op.flag("transpose_b")}
    permuted = Permuted(operands, [batch])
    if not swapped:
        return permuted
    if not offer.is_result:
        permuted.operands[offer.index] = composed(batch, swap) if count == rank else order
        name = ("transpose_a", "transpose_b")[offer.index]
        if offer.index == 0 and not flags[name] and is_constant(op.operands[1]):
            permuted.extra = TRANSPOSED_DATA
        permuted.properties[name] = not flags[name]
        return permuted
    permuted.results[0] = composed(batch, swap)
    if is_quantized_weight(op.operands[1]):
        # Declines: runtimes have compressed weights only as the second operand of a MatMul, which would become the
        # first.
        return None

    def exchanged(builder: OpBuilder, values: list[SSAValue]) -> list[SSAValue]:
        return [builder.MatMul(values[1], values[0], transpose_a=not flags["transpose_b"], transpose_b=not flags["transpose_a"])]

    permuted.construct = exchanged
    permuted.extra = EXCHANGED_OPERANDS if is_constant(op.operands[1]) else 0
    return permuted


def einsum(offer: Offer) -> Permuted | None:
    """The layout rule of Einsum: the labels of the permuted operand or result are permuted in the equation.

    Returns None for an equation with an ellipsis or without a result.
    """
    op, order = offer.op, offer.order
    equation = op.text("equation").replace(" ", "")
    terms, arrow, result = equation.partition("->")
    parts = [*terms.split(","), result]
    index = len(parts) - 1 if offer.is_result else offer.index
    if "." in equation or not arrow or len(parts[index]) != len(order):
        return None
    parts[index] = "".join(parts[index][axis] for axis in order)
    permuted = Permuted([None] * len(op.operands), [None])
    (permuted.results if offer.is_result else permuted.operands)[offer.index] = order
    permuted.properties["equation"] = f"{','.join(parts[:-1])}->{parts[-1]}"
    return permuted


RULES: dict[str, LayoutRule] = {"MatMul": matmul, "Einsum": einsum}
