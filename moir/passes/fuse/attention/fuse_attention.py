"""`fuse-attention`: softmax(query · keyᵀ · scale + mask) · value becomes one operation.

    %0 = opset1.MatMul(%q, %k) {transpose_b = true}
    %1 = opset1.Multiply(%0, 0.125)                   // or Divide, also of query and key; optional
    %2 = opset1.Add(%1, %mask)                        // optional
    %3 = opset8.Softmax(%2) {axis = -1}
    %4 = opset1.MatMul(%3, %v)
->  %4 = opset13.ScaledDotProductAttention(%q, %k, %v, %mask, 0.125)

    %1 = opset1.Multiply(%0, %c)                      // a constant [heads, 1, 1]
->  %4 = opset13.ScaledDotProductAttention(opset1.Multiply(%q, %c), %k, %v, %mask, 1.0)

    %2 = opset1.Select(%allowed, %1, -3.4e38)         // instead of the Add
->  %mask = opset1.Select(%allowed, 0.0, -3.4e38)

    %2 = opset1.Select(%allowed, opset1.Add(%1, %bias), -3.4e38)      // several of them
->  %mask = opset1.Select(%allowed, %bias, -3.4e38)

Query, key and value must be tensors of three to five dimensions. Batch and heads, all but the last two, are equal;
where that cannot be told, as both are unknown, the fused operation repeats one that is 1 as the products do. Masks must
certainly not enlarge the product: their dimensions are those of the product or 1, or the operations that follow would
fail otherwise. A key that the product does not transpose is transposed before the fused operation.

    %4 = opset1.Select(opset10.IsNaN(%3), 0.0, %3)   // weights of queries whose keys are all masked
    %5 = opset1.MatMul(%4, %v)
->  %4 = opset13.ScaledDotProductAttention(%q, %k, %v, %mask, 0.125)
    %5 = opset1.ReduceLogicalAnd(opset1.Equal(%mask, -inf), [-1]) {keep_dims = true} // not for a finite mask
    %6 = opset1.Select(%5, 0.0, %4)

    %m = opset8.Gather(opset3.ShapeOf(%1), [2, 2], 0)   // sizes from which a mask is made
->  %m = opset8.Gather(opset3.ShapeOf(%q), [2, 2], 0)

The number by which a Select replaces scores must be so low that it absorbs a finite score that is added to it. The
fused operation then adds the mask: with a boolean mask, a query whose keys are all masked would become NaN. With a
constant condition that leaves each query a key, as that of causal attention, a number suffices whose exponential is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import FLOATS, constant_of, scalar_of, unscaled, values_of, weight_of
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.element_types import bf16, f32, f64, to_numpy
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.arithmetic import Add, Multiply
from moir.dialects.opset.comparison import Select
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import element_of, rank_of
from moir.dialects.symbols import Symbol, same
from moir.passes.fuse.attention.required_sizes import is_count_required
from moir.passes.fuse.attention.shapes_of_products import ShapeOfRows
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass
from moir.support.records import Record

RANKS = (3, 4, 5)
"""Numbers of dimensions of query, key and value: batch and heads may be one dimension, or more than two."""

ABSORBING = -1e30
"""Mask values up to this one absorb a score in f32: adding a finite score of usual size does not change them."""

NEGLIGIBLE = -1e4
"""The largest masked score whose weight is 0, because the exponential of its distance to usual scores underflows."""

LOWEST = -(2 - 2.0**-7) * 2.0**127
"""The lowest bf16 number."""

LARGEST_MASK = 1 << 24
"""The largest number of elements of a mask that is examined for equal elements."""

MOST_MASKS = 4
"""The maximum number of masks that are added to scores."""

WIDE_EXPONENTS = frozenset((bf16, f32, f64))
"""Element types that can represent `ABSORBING` and `LOWEST`."""


class Scores(Record):
    """The operand of the softmax.

    Args:
        product: the product of query and key.
        query, key: its operands, without constant factors.
        scale: the factor of the product.
        factor: a constant that the query is multiplied by: a factor of the product for each head; None without one.
        masks: the masks of the product, in order.
    """

    product: MatMul
    query: SSAValue
    key: SSAValue
    scale: float
    factor: SSAValue | None = None
    masks: tuple[Mask, ...] = ()


class Mask(Record):
    """An Add to scores, or a Select between scores and a number.

    Args:
        value: the value that is added, or the condition of the Select.
        replacement: the operand that replaces scores; None for an Add.
        number: the value of `replacement`.
        chosen: whether the condition is true where the scores stay.
    """

    value: SSAValue
    replacement: SSAValue | None = None
    number: float = 0.0
    chosen: bool = True


class Attention(DimensionsPattern):
    """Replaces attention of MatMuls by one operation, matched from its second product upwards through the operands."""

    roots = (MatMul,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        softmax, is_guarded = softmax_of(op.operands[0])
        element = element_of(op.results[0])
        rank = rank_of(op.results[0]) or 0
        if softmax is None or op.flag("transpose_a") or softmax.integer("axis") not in (-1, rank - 1) or element not in FLOATS:
            return
        scores = scores_of(softmax.operands[0])
        if scores is None or scores.product.flag("transpose_a"):
            return
        query, key = scores.query, scores.key
        value = op.operands[1]
        if rank not in RANKS or any(rank_of(each) != rank or element_of(each) != element for each in (query, key, value)):
            return
        if not self.fits_batch(query, key) or not self.fits_batch(query, value) or not self.fits(scores, op):
            return
        if not scores.product.flag("transpose_b"):
            key = swapped(key, rewriter)
        if op.flag("transpose_b"):
            value = swapped(value, rewriter)
        if scores.factor is not None:
            query = rewriter.op.Multiply(query, scores.factor)
        mask = summed_mask(scores.masks, query, rewriter)
        scale = rewriter.op.constant_like(scores.scale, query)
        fused = rewriter.op.ScaledDotProductAttention(query, key, value, mask, scale, causal=False)
        if is_guarded and scores.masks and may_be_infinite(mask):
            fused = without_masked_rows(fused, mask, rewriter)
        rewriter.replace_with(op, fused)

    def fits_batch(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether all dimensions but the last two are equal, or unknown in both values."""
        left, right = self.known.tokens(a), self.known.tokens(b)
        if left is None or right is None:
            return False
        return all(same(x, y) or (isinstance(x, Symbol) and isinstance(y, Symbol)) for x, y in zip(left[:-2], right[:-2], strict=True))

    def scales(self, factor: SSAValue, query: SSAValue) -> bool:
        """Whether multiplying the query by a factor certainly keeps the query's shape."""
        sizes, tokens = self.known.tokens(factor), self.known.tokens(query)
        if sizes is None or tokens is None:
            return False
        return all(same(size, 1) or same(size, own) for size, own in zip(reversed(sizes), reversed(tokens), strict=False))

    def fits(self, scores: Scores, second: MatMul) -> bool:
        """Whether the masks that are added have the type of the product, and no mask certainly enlarges it.

        The number of keys is that of the values, otherwise the product `second` fails. The operations that follow fix
        the numbers of samples, heads and queries.
        """
        if scores.factor is not None and not self.scales(scores.factor, scores.query):
            return False
        product, values, result = (self.known.tokens(each) for each in (scores.product.results[0], second.operands[1], second.results[0]))
        if product is None or values is None or result is None:
            return False
        keys = values[-1 if second.flag("transpose_b") else -2]
        rank = len(product)
        is_settled, ranks = True, [rank * (not scores.masks)]
        for mask in scores.masks:
            if mask.replacement is None and element_of(mask.value) != element_of(scores.product.results[0]):
                return False
            for part in (mask.value,) if mask.replacement is None else (mask.value, mask.replacement):
                tokens = self.known.tokens(part)
                if tokens is None or len(tokens) > rank:
                    return False
                ranks.append(len(tokens))
                own = product[rank - len(tokens) :]
                fitting = [same(token, 1) or same(token, size) for token, size in zip(tokens, own, strict=True)]
                if fitting and not fitting[-1] and not same(keys, product[-1]):
                    return False
                is_settled &= all(fitting[:-1])
        if max(ranks) < 2:
            return False
        return is_settled or is_count_required(second.results[0], (*product[:-1], result[-1]), self.known)


def softmax_of(weights: SSAValue) -> tuple[Softmax | Softmax1 | None, bool]:
    """The softmax that computes the weights of attention, and whether weights that are NaN become 0.

    None for the softmax if another operation computes the weights, or they have several uses.
    """
    op, allowed = weights.owner, 1
    if isinstance(op, Select) and has_one_live_use(weights) and scalar_of(op.operands[1]) == 0:
        test, weights = op.operands[0].owner, op.operands[2]
        if (
            not isinstance(test, OpsetOp)
            or test.KIND != "IsNaN"
            or test.operands[0] is not weights
            or not has_one_live_use(test.results[0])
        ):
            return None, False
        op, allowed = weights.owner, 2
    if not isinstance(op, Softmax | Softmax1) or sum(1 for _ in live_uses(weights)) != allowed:
        return None, False
    return op, allowed == 2


def may_be_infinite(mask: SSAValue) -> bool:
    """Whether a mask is not known to be finite."""
    op = mask.owner
    parts = op.operands[1:] if isinstance(op, Select) else (mask,)
    values = [values_of(part) for part in parts]
    return not all(each is not None and each.size <= LARGEST_MASK and np.isfinite(np.asarray(each)).all() for each in values)


def without_masked_rows(result: SSAValue, mask: SSAValue, rewriter: Rewriter) -> SSAValue:
    """The result of attention with 0 for queries whose keys are all masked by -inf, which would be NaN otherwise."""
    op = rewriter.op
    masked = op.ReduceLogicalAnd(op.Equal(mask, op.constant_like(-np.inf, result)), [-1], keep_dims=True)
    return op.Select(masked, op.constant_like(0.0, result), result)


def scores_of(value: SSAValue, depth: int = 0) -> Scores | None:
    """The operand of the softmax as a scaled product with masks; None for other operands, and if an intermediate value
    has several uses.
    """
    op = value.owner
    if not isinstance(op, Add | Select):
        return scaled_product(value)
    if depth >= MOST_MASKS or not has_one_live_use(value) or op.text("auto_broadcast") != "numpy":
        return None
    first, second = op.operands[-2:]
    for chosen, candidate, other in ((True, first, second), (False, second, first)):
        if (scores := scores_of(candidate, depth + 1)) is None:
            continue
        mask = Mask(other)
        if isinstance(op, Select):
            number = replacing_number(other, op.operands[0], -1, chosen=chosen)
            if number is None:
                return None
            mask = Mask(op.operands[0], other, number, chosen)
        return scores.with_fields(masks=(*scores.masks, mask))
    return None


def summed_mask(masks: Sequence[Mask], query: SSAValue, rewriter: Rewriter) -> SSAValue:
    """The mask to add to the product in place of several masks; a scalar 0 if there are none.

    `query` determines the element type.
    """
    op = rewriter.op
    mask: SSAValue | None = None
    for each in masks:
        if each.replacement is None:
            mask = each.value if mask is None else op.Add(mask, each.value)
        elif mask is None:
            numbers = (0.0, each.number) if each.chosen else (each.number, 0.0)
            mask = added_mask(each.value, numbers, query, rewriter)
        else:
            parts = (mask, op.constant_like(each.number, query))
            mask = op.Select(each.value, *(parts if each.chosen else reversed(parts)))
    return op.constant_like(0.0, query) if mask is None else mask


def scaled_product(value: SSAValue) -> Scores | None:
    """A matrix product with one use, with the constant factors of its operands and its result taken out; None for other
    values.
    """
    if not has_one_live_use(value):
        return None
    inner, scale = unscaled(value)
    factor: SSAValue | None = None
    if inner is value:
        inner, factor = unscaled_heads(value)
    if not isinstance(inner, OpResult) or not isinstance(inner.op, MatMul) or not has_one_live_use(inner):
        return None
    (query, first), (key, second) = (unscaled(operand) if rank_of(operand) in RANKS else (operand, 1.0) for operand in inner.op.operands)
    return Scores(inner.op, query, key, scale * first * second, factor)


def unscaled_heads(value: SSAValue) -> tuple[SSAValue, SSAValue | None]:
    """A value without a constant factor [heads, 1, 1], and the factor; the value and None if it has no such factor."""
    op = value.owner
    if isinstance(op, Multiply) and op.text("auto_broadcast") == "numpy":
        for data, factor in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
            numbers = weight_of(factor)
            if numbers is not None and numbers.shape[-2:] == (1, 1) and 2 < numbers.ndim <= (rank_of(data) or 0) in RANKS:
                return data, factor
    return value, None


def replacing_number(value: SSAValue, condition: SSAValue, axis: int | None, *, chosen: bool) -> float | None:
    """The number that can be added to scores instead of replacing them; None if the value is not such a constant.

    It is clamped to the range of bf16, in which scores may be computed.

    Args:
        value: the number, which may be repeated.
        condition: where it does not replace scores.
        axis: the dimension of the condition for the keys, counted from the end; None if the condition does not depend
            on the keys.
        chosen: whether the condition is true where the scores stay.
    """
    values = values_of(value) if weight_of(value) is None else weight_of(value)
    if values is None or not 0 < values.size <= LARGEST_MASK:
        return None
    numbers = np.asarray(values).astype(np.float64)
    number = float(numbers.flat[0])
    if not (numbers == number).all() or not number <= NEGLIGIBLE:
        return None
    if number > ABSORBING or element_of(value) not in WIDE_EXPONENTS:
        known = constant_of(condition)
        if known is None:
            return None
        stay = known.astype(bool) == chosen
        if not (stay.any(axis) if axis is not None and -stay.ndim <= axis else stay).all():
            return None
    return number if np.isinf(number) else max(number, LOWEST)


def added_mask(condition: SSAValue, numbers: tuple[float, float], query: SSAValue, rewriter: Rewriter) -> SSAValue:
    """The mask to add to scores: the first number where a condition is true, the second where it is false.

    It has the element type of `query`, and is a constant if the condition is.
    """
    known = constant_of(condition)
    if known is None:
        return rewriter.op.Select(condition, *(rewriter.op.constant_like(number, query) for number in numbers))
    return rewriter.op.constant(np.where(known, *numbers).astype(to_numpy(element_of(query))))


def swapped(value: SSAValue, rewriter: Rewriter) -> SSAValue:
    """A value with its last two dimensions swapped; if a Transpose that swaps them computes the value, the Transpose's
    operand.
    """
    rank = rank_of(value) or 0
    order = [*range(rank - 2), rank - 1, rank - 2]
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
            if not any(isinstance(each.operands[0].owner, Softmax | Softmax1 | Select) for each in analyses.operations(MatMul)):
                break
            known = analyses.dimensions(static=static)
            if rewrite(module, [ShapeOfRows(known), Attention(known)], known=known, analyses=analyses):
                changed = True
                analyses.invalidate()
        return changed
