"""`simplify-matmul`: a product with a matrix of one element is a multiplication.

    %1 = opset1.MatMul(%0, %w)                           // %0: [5, 1], %w: a constant [1, 1]
->  %1 = opset1.Multiply(%0, %w as [1])

The CPU plugin (2026.4) does not compile two such products behind each other if it may use one thread only.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import weight_of
from moir.dialects.opset.infrastructure import Constant, Convert
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class SingleWeight(Pattern):
    """Writes a product with a constant [1, 1] as a Multiply."""

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[1]) == (1, 1) and isinstance(op.operands[1].owner, Constant | Convert)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data, weight = op.operands[0], weight_of(op.operands[1])
        shape = shape_of(data)
        # Of a value without a known shape the last dimension is 1 as well, or there is no product.
        if weight is not None and (shape is None or shape[-1:] == (1,)) and not op.flag("transpose_a"):
            factor = rewriter.op.constant(np.asarray(weight).reshape(1), element_of(op.operands[1]))
            rewriter.replace_with(op, rewriter.op.Multiply(data, factor))


class SimplifyMatmulPass(PatternPass):
    """Writes products with a matrix of one element as multiplications."""

    name = "simplify-matmul"

    def patterns(self) -> list[Pattern]:
        return [SingleWeight()]
