"""`fuse-attention`: softmax(query · keyᵀ · scale + mask) · value becomes one operation.

    %0 = opset1.MatMul(%q, %k) {transpose_b = true}
    %1 = opset1.Multiply(%0, 0.125)                   // or Divide, also of query and key; optional
    %2 = opset1.Add(%1, %mask)                        // optional
    %3 = opset8.Softmax(%2) {axis = -1}
    %4 = opset1.MatMul(%3, %v)
->  %4 = opset13.ScaledDotProductAttention(%q, %k, %v, %mask, 0.125)

    %2 = opset1.Select(%allowed, %1, -3.4e38)         // instead of the Add
->  %mask = opset1.Select(%allowed, 0.0, -3.4e38)

Query, key and value must be tensors of four dimensions with certainly equal batch and heads, the first two. Adding the
mask must certainly not enlarge the product. A key that the product does not transpose is transposed before the fused
operation.

The number by which a Select replaces scores must be so low that it absorbs a finite score that is added to it. The
fused operation then adds the mask: with a boolean mask, a query whose keys are all masked would become NaN.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import FLOATS, constant_of, weight_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import bf16, f32, f64, to_numpy
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.arithmetic import Add, Divide, Multiply
from moir.dialects.opset.comparison import Select
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import broadcast_shapes, element_of, rank_of
from moir.dialects.symbols import same
from moir.records import Record
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass

RANK = 4

ABSORBING = -1e30
"""Numbers up to this one absorb a score: adding a finite score of usual size does not change them."""

LOWEST = -(2 - 2.0**-7) * 2.0**127
"""The lowest bf16 number."""

WIDE_EXPONENTS = frozenset((bf16, f32, f64))
"""Element types that can represent these numbers."""


class Scores(Record):
    """The operand of the softmax.

    Args:
        product: the product of query and key.
        query, key: its operands, without constant factors.
        scale: the factor of the product.
        mask: the value that is added to the product, or the condition of a Select between the product and a number.
        numbers: for a condition, the numbers to add where it is true and where it is false.
    """

    product: MatMul
    query: SSAValue
    key: SSAValue
    scale: float
    mask: SSAValue | None = None
    numbers: tuple[float, float] | None = None


class Attention(Pattern):
    """Matches attention from its second product upwards through the operands."""

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
        if scores.numbers is not None:
            mask = added_mask(mask, scores.numbers, query, rewriter)
        scale = rewriter.op.constant_like(scores.scale, query)
        rewriter.replace_with(op, rewriter.op.ScaledDotProductAttention(query, key, value, mask, scale, causal=False))

    def scores(self, value: SSAValue) -> Scores | None:
        """The operand of the softmax as a scaled product with a mask; None for other operands and for several uses."""
        op = value.owner
        if not isinstance(op, Add | Select):
            return scaled_product(value)
        if not has_one_live_use(value) or op.text("auto_broadcast") != "numpy":
            return None
        first, second = op.operands[-2:]
        for true, candidate, other in ((True, first, second), (False, second, first)):
            if (found := scaled_product(candidate)) is None:
                continue
            if isinstance(op, Add):
                return found.with_fields(mask=other)
            number = absorbing_number(other)
            return None if number is None else found.with_fields(mask=op.operands[0], numbers=(0.0, number) if true else (number, 0.0))
        return None

    def same_batch(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether two values have the same batch and heads."""
        left, right = self.known.tokens(a), self.known.tokens(b)
        return left is not None and right is not None and all(map(same, left[:2], right[:2]))

    def fits(self, scores: Scores) -> bool:
        """Whether the mask broadcasts to the shape of the product, and can be added to it or is a condition."""
        if scores.mask is None:
            return True
        mask, product = self.known.tokens(scores.mask), self.known.tokens(scores.product.results[0])
        if mask is None or product is None or not 2 <= len(mask) <= RANK:
            return False
        if scores.numbers is None and element_of(scores.mask) != element_of(scores.product.results[0]):
            return False
        both = broadcast_shapes(mask, product)
        return both is not None and len(both) == len(product) and all(map(same, both, product))


def scaled_product(value: SSAValue) -> Scores | None:
    """A matrix product with one use, without constant factors of result and operands; None for other values."""
    if not has_one_live_use(value):
        return None
    inner, scale = unscaled(value)
    if not isinstance(inner, OpResult) or not isinstance(inner.op, MatMul) or not has_one_live_use(inner):
        return None
    (query, first), (key, second) = (unscaled(operand) if rank_of(operand) == RANK else (operand, 1.0) for operand in inner.op.operands)
    return Scores(inner.op, query, key, scale * first * second)


def absorbing_number(value: SSAValue) -> float | None:
    """The number that can be added to scores instead of replacing them; None if the value is no such constant.

    It is clamped to the range of bf16, in which the plugin may compute.
    """
    number = weight_of(value)
    if number is None or number.size != 1 or number.ndim > RANK or element_of(value) not in WIDE_EXPONENTS:
        return None
    found = float(np.asarray(number).reshape(-1)[0])
    return None if not found <= ABSORBING else found if np.isinf(found) else max(found, LOWEST)


def unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """A value without its constant factor or divisor, and the factor; the value and 1 if it has no factor or other
    uses.
    """
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


def added_mask(condition: SSAValue, numbers: tuple[float, float], query: SSAValue, rewriter: Rewriter) -> SSAValue:
    """The mask to add to scores: the first number where a condition is true, the second where it is false."""
    known = constant_of(condition)
    if known is None:
        return rewriter.op.Select(condition, *(rewriter.op.constant_like(number, query) for number in numbers))
    return rewriter.op.constant(np.where(known, *numbers).astype(to_numpy(element_of(query))))


def swapped(value: SSAValue, rewriter: Rewriter) -> SSAValue:
    """A value with its last two dimensions exchanged; a Transpose that produces the value is undone instead."""
    order = [*range(RANK - 2), RANK - 1, RANK - 2]
    if isinstance(value.owner, Transpose) and (first := value.owner.permutation(rewriter.known)) is not None:
        return rewriter.op.transposed(value.owner.operands[0], [first[axis] for axis in order])
    return rewriter.op.Transpose(value, np.array(order, np.int64))


class FuseAttentionPass(ReportingPass):
    """Fuses scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017)."""

    name = "fuse-attention"

    ROOTS = (Softmax, Softmax1)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        # In most models dimensions are equal for all input shapes. Only otherwise is the more expensive analysis
        # needed.
        for static in (False, True):
            if not any(isinstance(each.operands[0].owner, Softmax | Softmax1) for each in analyses.operations(MatMul)):
                break
            known = analyses.dimensions(static=static)
            if rewrite(module, [Attention(known)], known=known, analyses=analyses):
                changed = True
                analyses.invalidate()
        return changed
