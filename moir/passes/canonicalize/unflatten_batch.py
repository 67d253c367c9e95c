"""`unflatten-batch`: the Reshapes that merge batch and heads for a product, and separate them after it, are removed.

    %1 = opset1.Reshape(%a, [B * H, M, K])               // %a: [B, H, M, K]
    %2 = opset1.Reshape(%b, [B * H, N, K])               // %b: [B, H, N, K]
    %3 = opset1.MatMul(%1, opset1.Transpose(%2, [0, 2, 1]))
    %4 = opset1.Add(opset1.Multiply(%3, 0.125), %bias)   // %bias: [B * H, 1, N]; both optional
    %5 = opset1.Reshape(%4, [B, H, M, N])
->  %3 = opset1.MatMul(%a, %b) {transpose_b = true}
    %4 = opset1.Reshape(%bias, [B, H, 1, N])
    %5 = opset1.Add(opset1.Multiply(%3, 0.125), %4)

    %1 = opset1.Reshape(%k, [B * H, N, K])               // %k: [B, H, N, K]
    %2 = opset1.Reshape(opset1.Transpose(%1, [0, 2, 1]), [B, H, K, N])
->  %2 = opset1.Transpose(%k, [0, 1, 3, 2])

Frameworks whose batched product takes only three dimensions (`bmm` and `baddbmm` of PyTorch) compute attention in this
way.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of, unscaled, weight_of
from moir.analysis.dimensions import Tokens, same_tokens
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.arithmetic import Add, Divide, Multiply
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat, Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter
from moir.support.records import Record

FLAT, SEPARATE = 3, 4
"""The ranks of operands with merged and with separate batch and heads."""

MOST_STEPS = 4
"""The maximum number of operations between the product and the Reshape."""

NOTHING_KNOWN = KnownValues()


class Flattened(Record):
    """An operand of a product whose batch and heads are merged.

    Args:
        value: the operand before they are merged.
        flat: the value of three dimensions.
        is_transposed: whether the product takes its last two dimensions in the other order.
        scale: a factor of the operand.
    """

    value: SSAValue
    flat: SSAValue
    is_transposed: bool
    scale: float


def flattened(operand: SSAValue, is_transposed: bool) -> Flattened | None:
    """An operand of a product whose batch and heads a Reshape merges, maybe before constant factors and a Transpose.

    `is_transposed` says whether the product transposes the operand. Returns None for other values.
    """
    value, scale = unscaled(operand)
    if isinstance(value.owner, Transpose) and value.owner.permutation(NOTHING_KNOWN) == (0, 2, 1):
        value, factor = unscaled(value.owner.operands[0])
        is_transposed, scale = not is_transposed, scale * factor
    if not isinstance(value.owner, Reshape) or rank_of(value) != FLAT or rank_of(value.owner.operands[0]) != SEPARATE:
        return None
    return Flattened(value.owner.operands[0], value, is_transposed, scale)


def product_before(value: SSAValue, depth: int = 0) -> tuple[MatMul, tuple[Operation, ...]] | None:
    """The product of which a value is computed by constant factors and additions, and these operations.

    Returns None for other values, and for more than MOST_STEPS operations, which `depth` counts.
    """
    op = value.owner
    if not isinstance(value, OpResult) or depth > MOST_STEPS or not has_one_live_use(value) or rank_of(value) != FLAT:
        return None
    if isinstance(op, MatMul):
        return op, ()
    if not isinstance(op, Add | Multiply | Divide) or op.text("auto_broadcast") != "numpy":
        return None
    for data in data_indices(op):
        if (chain := product_before(op.operands[data], depth + 1)) is not None:
            return chain[0], (*chain[1], op)
    return None


def data_indices(op: Add | Multiply | Divide) -> tuple[int, ...]:
    """The operands of an addition, by index, or the operand of a product or quotient whose other operand is a constant
    scalar.
    """
    if isinstance(op, Add):
        return (0, 1)
    numbers = [weight_of(operand) for operand in op.operands]
    scalar = [number is not None and number.size == 1 for number in numbers]
    return (0,) if scalar[1] else (1,) if scalar[0] and isinstance(op, Multiply) else ()


class FlattenedBatch(DimensionsPattern):
    """Multiplies operands with separate batch and heads, and removes the Reshapes that merge these before a product."""

    roots = (Reshape,)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.results[0]) == SEPARATE and isinstance(op.operands[0].owner, MatMul | Add | Multiply | Divide)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Reshape)
        chain = product_before(op.operands[0])
        if chain is None:
            return
        product, steps = chain
        first = flattened(product.operands[0], product.flag("transpose_a"))
        second = flattened(product.operands[1], product.flag("transpose_b"))
        if first is None or second is None:
            return
        sizes = self.sizes(first, second, op)
        if sizes is None:
            return
        merged = (self.known.tokens(product.results[0]) or (-1,))[0]
        addends: dict[Operation, SSAValue] = {}
        current = product.results[0]
        for step in steps:
            other = step.operands[1 if step.operands[0] is current else 0]
            if isinstance(step, Add):
                raised = self.raised(other, (merged, *sizes[2:]), op, rewriter)
                if raised is None:
                    return
                addends[step] = raised
            current = step.results[0]
        value = rewriter.op.MatMul(first.value, second.value, transpose_a=first.is_transposed, transpose_b=second.is_transposed)
        if (scale := first.scale * second.scale) != 1:
            value = rewriter.op.Multiply(value, rewriter.op.constant_like(scale, value))
        current = product.results[0]
        for step in steps:
            if isinstance(step, Add):
                value = rewriter.op.Add(value, addends[step])
            else:
                operands = [value if operand is current else operand for operand in step.operands]
                value = rewriter.op.Divide(*operands) if isinstance(step, Divide) else rewriter.op.Multiply(*operands)
            current = step.results[0]
        rewriter.replace_with(op, value)

    def sizes(self, first: Flattened, second: Flattened, op: Operation) -> Tokens | None:
        """The dimensions [batch, heads, rows, columns] of the product with separate heads.

        Returns None if the Reshapes do more than merge and separate batch and heads.

        Args:
            first: the left operand.
            second: the right operand.
            op: the Reshape after the product.
        """
        whole, other = self.known.tokens(first.value), self.known.tokens(second.value)
        flat, other_flat, target = (self.known.tokens(each) for each in (first.flat, second.flat, op.results[0]))
        if whole is None or other is None or flat is None or other_flat is None or target is None:
            return None
        rows, width = exchanged(whole, first.is_transposed)
        flat_rows, flat_width = exchanged(flat, first.is_transposed)
        common, columns = exchanged(other, second.is_transposed)
        flat_common, flat_columns = exchanged(other_flat, second.is_transposed)
        # MatMul guarantees that the inner dimensions of its operands are equal.
        if not same(width, common) or not (same(width, flat_width) or same(common, flat_common)):
            return None
        kept = ((rows, flat_rows), (columns, flat_columns), (whole[0], other[0]), (whole[1], other[1]))
        sizes = (*whole[:2], rows, columns)
        return sizes if all(same(a, b) for a, b in kept) and same_tokens(sizes, target) else None

    def raised(self, value: SSAValue, flat: Tokens, op: Reshape, rewriter: Rewriter) -> SSAValue | None:
        """The addend of a product reshaped to separate heads; None if it cannot be written without new sizes.

        Args:
            value: the addend.
            flat: the dimensions of the product with merged heads.
            op: the Reshape that separates the heads of the product.
            rewriter: builds the reshaped addend.
        """
        tokens = self.known.tokens(value)
        if tokens is None or len(tokens) > FLAT:
            return None
        own = flat[FLAT - len(tokens) :]
        if any(not same(token, 1) and not same(token, size) for token, size in zip(tokens, own, strict=True)):
            return None
        if len(tokens) < FLAT:
            return value
        if same(tokens[0], 1):
            return rewriter.op.Unsqueeze(value, [0])
        units = [axis + 1 for axis in (1, 2) if same(tokens[axis], 1)]
        target = with_units(op.operands[1], units, rewriter)
        if target is None:
            return None
        data = value.owner.operands[0] if isinstance(value.owner, Reshape) else value
        return rewriter.op.Reshape(data, target, special_zero=op.flag("special_zero"))


class FlattenedTranspose(DimensionsPattern):
    """Transposes the last two of four dimensions without the Reshapes that merge the others before, and separate them
    after.
    """

    roots = (Reshape,)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.results[0]) == SEPARATE and isinstance(op.operands[0].owner, Transpose)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        source = flattened(op.operands[0], is_transposed=False)
        if source is None or source.scale != 1 or not source.is_transposed:
            return
        whole, flat, target = (self.known.tokens(each) for each in (source.value, source.flat, op.results[0]))
        if whole is None or flat is None or target is None or not all(map(same, whole[2:], flat[1:])):
            return
        if same_tokens((*whole[:2], whole[3], whole[2]), target):
            rewriter.replace_with(op, rewriter.op.Transpose(source.value, [0, 1, 3, 2]))


def exchanged(tokens: Tokens, is_transposed: bool) -> Tokens:
    """The dimensions of a matrix operand, with the last two swapped if the product transposes it."""
    return tokens[:-3:-1] if is_transposed else tokens[-2:]


def with_units(target: SSAValue, axes: list[int], rewriter: Rewriter) -> SSAValue | None:
    """The target of a Reshape with the elements at `axes` replaced by 1.

    Returns None if it is neither a constant without 0 nor a Concat of 1-D tensors of one element.
    """
    if not axes:
        return target
    known = constant_of(target)
    if known is not None and known.shape == (SEPARATE,) and (known != 0).all():
        entries = known.copy()
        entries[axes] = 1
        return rewriter.op.constant(entries)
    parts = target.owner.operands if isinstance(target.owner, Concat) else ()
    if len(parts) != SEPARATE or any(shape_of(part) != (1,) for part in parts):
        return None
    one = rewriter.op.constant(np.array([1]), element_of(target))
    return rewriter.op.Concat(*[one if axis in axes else part for axis, part in enumerate(parts)], axis=0)


class UnflattenBatchPass(DimensionsPass):
    """Removes Reshapes that merge batch and heads for products."""

    name = "unflatten-batch"

    KEEPS_DIMENSIONS = True

    ROOTS = (Reshape,)

    COMPANIONS = ((MatMul,),)

    PATTERNS = (FlattenedTranspose, FlattenedBatch)

    def may_match(self, analyses: Analyses) -> bool:
        return any(rank_of(each.results[0]) == FLAT for each in analyses.operations(Transpose, MatMul))
