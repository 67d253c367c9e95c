"""Dimensions of a matrix product are read from its operand where the number of columns is not needed.

    %1 = opset1.Multiply(opset1.MatMul(%q, %k), 0.125)           // %q: [B, 4, L, 8], %k: [B, 4, 8, L]
    %2 = opset8.Gather(opset3.ShapeOf(%1), [2, 2], 0)
->  %2 = opset8.Gather(opset3.ShapeOf(%q), [2, 2], 0)

So the shape is not a second use of the product, which would prevent fusions.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.dimensions import Dimensions
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.shape import ShapeOf, ShapeOf1
from moir.dialects.symbols import same
from moir.rewriting.driver import Pattern, Rewriter


class ShapeOfRows(Pattern):
    """Takes the shape of the first operand of a product, scaled or not, for all dimensions but the last.

    Args:
        known: the dimensions that are equal.
    """

    roots = (ShapeOf, ShapeOf1)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ShapeOf | ShapeOf1)
        product = unscaled_product(op.operands[0])
        if product is None or product.flag("transpose_a"):
            return
        rows, own = self.known.tokens(product.operands[0]), self.known.tokens(op.operands[0])
        if rows is None or own is None or len(rows) != len(own) or not all(map(same, rows[:-1], own[:-1])):
            return
        if not all(takes_dimensions(use.operation, len(own) - 1) for use in op.results[0].uses):
            return
        properties = {"output_type": op.element("output_type")} if isinstance(op, ShapeOf) else {}
        rewriter.replace_with(op, rewriter.op[op.name](product.operands[0], **properties))


def unscaled_product(value: SSAValue) -> MatMul | None:
    """The MatMul that computes a value, perhaps multiplied by a constant scalar; None for other values."""
    op = value.owner
    if isinstance(op, Multiply | Divide) and scalar_of(op.operands[1]) is not None:
        op = op.operands[0].owner
    return op if isinstance(op, MatMul) else None


def takes_dimensions(op: Operation, count: int) -> bool:
    """Whether all an operation does is read some of the first `count` dimensions of a shape."""
    if not isinstance(op, OpsetOp) or op.KIND != "Gather":
        return False
    indices = constant_of(op.operands[1])
    return indices is not None and bool(((indices >= 0) & (indices < count)).all())
