"""`fuse-attention`: softmax(query · keyᵀ · scale + mask) · value becomes one operation.

    %0 = opset1.MatMul(%q, %k) {transpose_b = true}
    %1 = opset1.Multiply(%0, 0.125)                   // or Divide, also of query and key; optional
    %2 = opset1.Add(%1, %mask)                        // optional
    %3 = opset8.Softmax(%2) {axis = -1}
    %4 = opset1.MatMul(%3, %v)
->  %4 = opset13.ScaledDotProductAttention(%q, %k, %v, %mask, 0.125)

Query, key and value must be tensors of four dimensions with certainly equal batch and heads, the first two. Adding the
mask must certainly not enlarge the product. A key that the product does not transpose is transposed before the fused
operation.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import FLOATS, weight_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.arithmetic import Add, Divide, Multiply
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import broadcast_shapes, element_of, rank_of
from moir.dialects.symbols import same
from moir.records import Record
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass

RANK = 4


class Scores(Record):
    """The product of query and key, both of these, the factor of their product, and the mask that is added to it."""

    product: MatMul
    query: SSAValue
    key: SSAValue
    mask: SSAValue | None
    scale: float


class Attention(Pattern):
    """Matches attention from its second product upwards."""

    roots = (MatMul,)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        softmax = op.operands[0].owner
        if not isinstance(softmax, Softmax | Softmax1) or op.flag("transpose_a") or op.flag("transpose_b"):
            return
        element = element_of(op.results[0])
        if not has_one_live_use(softmax.results[0]) or softmax.integer("axis") not in (-1, RANK - 1) or element not in FLOATS:
            return
        scores = self.scores(softmax.operands[0])
        if scores is None or scores.product.flag("transpose_a"):
            return
        query, key = scores.query, scores.key
        value = op.operands[1]
        if any(rank_of(each) != RANK or element_of(each) != element for each in (query, key, value)):
            return
        if not self.same_batch(query, key) or not self.same_batch(query, value) or not self.fits(scores):
            return
        if not scores.product.flag("transpose_b"):
            key = swapped(key, rewriter)
        mask = scores.mask if scores.mask is not None else rewriter.op.constant_like(0.0, query)
        scale = rewriter.op.constant_like(scores.scale, query)
        rewriter.replace_with(op, rewriter.op.ScaledDotProductAttention(query, key, value, mask, scale, causal=False))

    def scores(self, value: SSAValue) -> Scores | None:
        """The operand of the softmax as a scaled product with a mask; None if it has another form or other uses."""

        if isinstance(value.owner, Add) and has_one_live_use(value) and value.owner.text("auto_broadcast") == "numpy":
            left, right = value.owner.operands
            for candidate, other in ((left, right), (right, left)):
                if (found := scaled_product(candidate)) is not None:
                    return found.with_fields(mask=other)
            return None
        return scaled_product(value)

    def same_batch(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether two values have the same batch and heads."""
        left, right = self.known.tokens(a), self.known.tokens(b)
        return left is not None and right is not None and all(map(same, left[:2], right[:2]))

    def fits(self, scores: Scores) -> bool:
        """Whether the mask has the element type of the product and broadcasts to its shape."""
        if scores.mask is None:
            return True
        mask, product = self.known.tokens(scores.mask), self.known.tokens(scores.product.results[0])
        if mask is None or product is None or not 2 <= len(mask) <= RANK:
            return False
        if element_of(scores.mask) != element_of(scores.product.results[0]):
            return False
        both = broadcast_shapes(mask, product)
        return both is not None and len(both) == len(product) and all(map(same, both, product))


def scaled_product(value: SSAValue) -> Scores | None:
    """A matrix product without other uses; its result and operands may have constant factors. None for other values."""
    if not has_one_live_use(value):
        return None
    inner, scale = unscaled(value)
    if not isinstance(inner, OpResult) or not isinstance(inner.op, MatMul) or not has_one_live_use(inner):
        return None
    (query, first), (key, second) = (unscaled(operand) if rank_of(operand) == RANK else (operand, 1.0) for operand in inner.op.operands)
    return Scores(inner.op, query, key, None, scale * first * second)


def unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """A value without a constant factor or divisor, and the factor; the value and 1 if it has none or other uses."""
    if not isinstance(value, OpResult) or not isinstance(value.op, Multiply | Divide) or not has_one_live_use(value):
        return value, 1.0
    if value.op.text("auto_broadcast") != "numpy":
        return value, 1.0
    for data, factor in ((0, 1), (1, 0)) if isinstance(value.op, Multiply) else ((0, 1),):
        number = weight_of(value.op.operands[factor])
        if number is not None and number.size == 1 and number.ndim <= RANK and rank_of(value.op.operands[data]) == RANK:
            scale = float(np.asarray(number).reshape(-1)[0])
            if isinstance(value.op, Multiply) or scale:
                return value.op.operands[data], scale if isinstance(value.op, Multiply) else 1 / scale
    return value, 1.0


def swapped(value: SSAValue, rewriter: Rewriter) -> SSAValue:
    """A value with its last two dimensions exchanged; a transposition that produces the value is cancelled."""
    order = [*range(RANK - 2), RANK - 1, RANK - 2]
    if isinstance(value.owner, Transpose) and (first := value.owner.permutation(rewriter.known)) is not None:
        return rewriter.op.transposed(value.owner.operands[0], [first[axis] for axis in order])
    return rewriter.op.Transpose(value, np.array(order, np.int64))


class FuseAttentionPass(ReportingPass):
    """Fuses scaled dot-product attention, Vaswani et al., "Attention Is All You Need", 2017."""

    name = "fuse-attention"

    ROOTS = (Softmax, Softmax1)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        # Mostly, dimensions are equal for all shapes of the inputs. The analysis of the current ones is another scan.
        for static in (False, True):
            if not any(isinstance(each.operands[0].owner, Softmax | Softmax1) for each in analyses.operations(MatMul)):
                break
            known = analyses.dimensions(static=static)
            if rewrite(module, [Attention(known)], known=known, analyses=analyses):
                changed = True
                analyses.invalidate()
        return changed
