"""`unflatten-matmul`: the Reshapes before and after a product with a matrix are removed.

    %1 = opset1.Reshape(%0, [-1, 64])                    // %0: [N, T, 64]
    %2 = opset1.MatMul(%1, %w)                           // %w: [64, 96]
    %3 = opset1.Reshape(%2, [N, T, 96])
->  %3 = opset1.MatMul(%0, %w)

Frameworks whose matrix product takes only matrices (`Tensordot` and `Dense` of TensorFlow) compute the product of a
tensor and a matrix in this way.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import same_tokens
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import rank_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter


def flattened_product(op: Operation) -> tuple[MatMul, Reshape] | None:
    """The product of two matrices before a Reshape, and the Reshape that produces its first operand.

    None if the operation is not such a Reshape.
    """
    product = op.operands[0].owner
    if not isinstance(op, Reshape) or not isinstance(product, MatMul) or product.flag("transpose_a"):
        return None
    flat = product.operands[0].owner
    if not isinstance(flat, Reshape) or rank_of(product.operands[0]) != 2 or rank_of(product.operands[1]) != 2:
        return None
    return product, flat


def last_size(value: SSAValue) -> int:
    """The size of the last dimension, -1 if it is dynamic.

    If reshaping the model changes this dimension, the model fails either way: at the second Reshape before this
    rewrite, at the product after it.
    """
    shape = shape_of(value)
    return shape[-1] if shape else -1


class FlattenedProduct(DimensionsPattern):
    """Multiplies data by a matrix without the Reshapes that merge all but the last dimension before, and separate them
    after.

    The first Reshape must keep the last dimension, the second one must restore all others.
    """

    roots = (Reshape,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        matrices = flattened_product(op)
        if matrices is None or not has_one_live_use(op.operands[0]):
            return
        product, flat = matrices
        data, matrix = flat.operands[0], product.operands[1]
        tokens = [self.known.tokens(value) for value in (data, flat.results[0], product.results[0], op.results[0])]
        source, rows, columns, target = (token or () for token in tokens)
        if len(source) < 2 or not rows or not columns:
            return
        keeps_last = same(source[-1], rows[-1]) or last_size(data) == last_size(flat.results[0]) >= 0
        if keeps_last and same_tokens((*source[:-1], columns[-1]), target):
            rewriter.replace_with(op, rewriter.op.MatMul(data, matrix, transpose_b=product.flag("transpose_b")))


class UnflattenMatmulPass(DimensionsPass):
    """Removes Reshapes around products with matrices."""

    name = "unflatten-matmul"

    KEEPS_DIMENSIONS = True

    ROOTS = (Reshape,)

    COMPANIONS = ((MatMul,),)

    PATTERNS = (FlattenedProduct,)

    def may_match(self, analyses: Analyses) -> bool:
        return any(flattened_product(each) for each in analyses.operations(Reshape))
