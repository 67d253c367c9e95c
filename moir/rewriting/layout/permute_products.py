"""Permuted forms of matrix products and Einstein sums.

MatMul(Transpose(a, [1, 0, 3, 2]), Transpose(b, [1, 0, 2, 3]))
->  Transpose(MatMul(a, b) {transpose_a = true}, [1, 0, 2, 3])

A runtime computes the product with a constant matrix, and an addition to it, as one operation if the matrix is the
second operand. If it is the first operand, the extra time is about that of a Transpose, so it has the cost of one.
Measured on a CPU (`benchmarks/kernels.py`, microseconds of one thread, image and channels):

|                                         | 14 x 14 x 96 | 14 x 14 x 384 | 28 x 28 x 192 | 56 x 56 x 96 |
| --------------------------------------- | ------------ | ------------- | ------------- | ------------ |
| Transpose                               | 7            | 38            | 106           | 216          |
| product and bias, channels last         | 42           | 557           | 579           | 666          |
| the same, channels first (matrix first) | 47           | 610           | 622           | 727          |
| as a convolution, channels first        | 49           | 611           | 710           | 902          |
| normalization, channels last            | 16           | 78            | 162           | 277          |
| normalization, channels first           | 15           | 86            | 144           | 335          |

So two products between convolutions of images are unchanged: as convolutions they would cost more than two Transposes.
A normalization costs the same in both layouts.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import is_constant, is_quantized_weight
from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.layout.orders import Order, composed, natural
from moir.rewriting.layout.permuted import LayoutRule, Offer, Permuted


def matmul(offer: Offer) -> Permuted | None:
    """Batch dimensions are permuted in both operands alike; a swap of the last two changes the transposition flags."""
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
        # Permuted batch dimensions would need the same permutation of the other operand, which has more batch
        # dimensions.
        if order[:-2] != natural(count - 2):
            return None
        batch = natural(rank)
    else:
        batch = (*order[:-2], rank - 2, rank - 1)
    if batch != natural(rank) and any(own not in (2, rank) for own in ranks):
        return None
    operands: list[Order | None] = [batch if own == rank else None for own in ranks]
    flags = {"transpose_a": op.flag("transpose_a"), "transpose_b": op.flag("transpose_b")}
    found = Permuted(operands, [batch])
    if not swapped:
        return found
    if not offer.is_result:
        found.operands[offer.index] = composed(batch, swap) if count == rank else order
        name = ("transpose_a", "transpose_b")[offer.index]
        found.properties[name] = not flags[name]
        return found
    found.results[0] = composed(batch, swap)
    if is_quantized_weight(op.operands[1]):
        # Runtimes multiply by such weights where they are the second operand.
        return None

    def exchanged(builder: OpBuilder, values: list[SSAValue]) -> list[SSAValue]:
        return [builder.MatMul(values[1], values[0], transpose_a=not flags["transpose_b"], transpose_b=not flags["transpose_a"])]

    found.construct = exchanged
    found.extra = 1 if is_constant(op.operands[1]) else 0
    return found


def einsum(offer: Offer) -> Permuted | None:
    """The labels of the permuted operand, or of the result, are permuted in the equation; other terms do not change."""
    op, order = offer.op, offer.order
    equation = op.text("equation").replace(" ", "")
    terms, arrow, result = equation.partition("->")
    parts = [*terms.split(","), result]
    place = len(parts) - 1 if offer.is_result else offer.index
    if "." in equation or not arrow or len(parts[place]) != len(order):
        return None
    parts[place] = "".join(parts[place][axis] for axis in order)
    found = Permuted([None] * len(op.operands), [None])
    (found.results if offer.is_result else found.operands)[offer.index] = order
    found.properties["equation"] = f"{','.join(parts[:-1])}->{parts[-1]}"
    return found


RULES: dict[str, LayoutRule] = {"MatMul": matmul, "Einsum": einsum}
