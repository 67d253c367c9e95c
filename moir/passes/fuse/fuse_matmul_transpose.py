"""`fuse-matmul-transpose`: transpositions of the last two dimensions around a MatMul become its transpose properties.

    %t = opset1.Transpose(%b, [0, 2, 1])
    %y = opset1.MatMul(%a, %t)
->  %y = opset1.MatMul(%a, %b) {transpose_b = true}

    %y = opset1.Transpose(opset1.MatMul(%a, %b), [0, 2, 1])
->  %y = opset1.MatMul(%b, %a) {transpose_a = true, transpose_b = true}
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_constant, is_quantized_weight
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import live_uses
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.rewriting.rules import FusionRule, Match


def swaps_last_two(op: Operation, known: KnownValues) -> bool:
    """Whether an operation is a transposition of exactly the last two dimensions."""
    if not isinstance(op, Transpose):
        return False
    order = op.permutation(known)
    return order is not None and len(order) >= 2 and order == (*range(len(order) - 2), len(order) - 1, len(order) - 2)


class TransposedOperand(Pattern):
    """Merges Transposes of an operand into the matrix product if only matrix products use them.

    Declines data that are multiplied by constant weights: runtimes have one operation for data [M, K] and weights.
    """

    roots = (MatMul,)
    companions = ((Transpose,),)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        transposed = [op.flag("transpose_a"), op.flag("transpose_b")]
        operands: list[SSAValue] = list(op.operands)
        merges = False
        for index, operand in enumerate(op.operands):
            producer = operand.owner
            if not isinstance(producer, Transpose) or not swaps_last_two(producer, rewriter.known):
                continue
            if index == 0 and not transposed[0] and is_constant(op.operands[1]):
                continue
            if all(isinstance(use.operation, MatMul) for use in live_uses(operand)):
                operands[index], transposed[index], merges = producer.operands[0], not transposed[index], True
        if merges:
            a, b = transposed
            rewriter.replace_with(op, rewriter.op.MatMul(*operands, transpose_a=a, transpose_b=b))


def exchange_operands(op: OpBuilder, match: Match) -> SSAValue | None:
    """The product of the operands in the other order; None for vectors, other permutations and constant weights."""
    (transpose, product), a, b = match.operations, match["a"], match["b"]
    assert isinstance(product, MatMul)
    if not swaps_last_two(transpose, op.known) or min(rank_of(a) or 0, rank_of(b) or 0) < 2 or is_quantized_weight(b) or is_constant(b):
        return None
    return op.MatMul(b, a, transpose_a=not product.flag("transpose_b"), transpose_b=not product.flag("transpose_a"))


TRANSPOSED_RESULT = FusionRule(
    name="TransposedResult",
    pattern=lambda op, a, b, order: op.Transpose(op.MatMul(a, b), order),
    rewrite=exchange_operands,
)
"""Exchanges the operands of a product if a Transpose is its only use: (A B)ᵀ = Bᵀ Aᵀ.

Constant weights stay the second operand, where runtimes multiply by them, and add a bias, in one operation.
"""


class FuseMatmulTransposePass(PatternPass):
    """Merges transpositions into matrix products."""

    name = "fuse-matmul-transpose"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (TransposedOperand, TRANSPOSED_RESULT)
