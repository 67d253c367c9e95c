"""`separate-products`: a Reshape stands between a product with an unknown number of columns and constants for these.

    %1 = opset1.MatMul(%x, %y)                           // %y: [?, ?]
    %2 = opset1.Add(%1, %c)                              // %c: [8], a constant
->  %1 = opset1.MatMul(%x, %y)
    %3 = opset1.Reshape(%1, [0, 0]) {special_zero}
    %2 = opset1.Add(%3, %c)

The CPU plugin (2026.4) computes the elementwise operations behind a product, as far as their other operands are
constants, together with it. Constants for columns are then wrong if there are two columns and one or two summands, and
a model whose product transposes the second operand does not compile.
"""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.constants import weight_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class ProductBeforeConstants(Pattern):
    """Separates a matrix product from elementwise operations with constants for its columns."""

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.results[0])
        return not shape or shape[-1] == -1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        if not meets_columns(op):
            return
        build, rank = rewriter.op, rank_of(op.results[0])
        product = build.MatMul(*op.operands, transpose_a=op.flag("transpose_a"), transpose_b=op.flag("transpose_b"))
        if rank is None:
            separate = build.Reshape(product, build.ShapeOf(product), special_zero=False)
        else:
            separate = build.Reshape(product, [0] * rank, special_zero=True)
        rewriter.replace_with(op, separate)


def meets_columns(op: Operation) -> bool:
    """Whether the elementwise operations with constants alone behind an operation have one with several columns."""
    current = op
    while len(uses := list(current.results[0].uses)) == 1:
        user = uses[0].operation
        if not isinstance(user, OpsetOp) or not (user.POINTWISE or user.BROADCASTS or user.KIND == "PRelu"):
            return False
        others = [value for value in user.operands if value is not current.results[0]]
        if any(weight_of(value) is None for value in others):
            return False
        if any(max((shape_of(value) or ())[-1:], default=1) > 1 for value in others):
            return True
        current = user
    return False


class SeparateProductsPass(PatternPass):
    """Separates matrix products from constants that the plugin would take for other columns."""

    name = "separate-products"

    def patterns(self) -> list[Pattern]:
        return [ProductBeforeConstants()]
