"""`fold-scales`: constant factors are multiplied into the weights of an adjacent convolution or matrix product.

    %0 = opset1.Convolution(%x, %w)                       // [N, C, …]
    %1 = opset1.Add(%0, %b)                               // optional
    %2 = opset1.Multiply(%1, %s)                          // one factor, or one per channel
->  %0 = opset1.Convolution(%x, %w * %s)
    %2 = opset1.Add(%0, %b * %s)

    %0 = opset1.Multiply(%x, %s)                          // one factor, or one per input channel
    %1 = opset1.Convolution(%0, %w)
->  %1 = opset1.Convolution(%x, %w * %s)

    %2 = opset1.Add(opset1.Subtract(%x, %b), %c)
->  %2 = opset1.Add(%x, %c - %b)                          // %x if %b equals %c

    %3 = opset1.Multiply(opset1.Add(opset1.Multiply(%x, %a), %b), %c)
->  %3 = opset1.Add(opset1.Multiply(%x, %a * %c), %b * %c)

    %1 = opset1.Add(opset1.Multiply(opset1.FakeQuantize(%x, %low, %high, %first, %last), %a), %b)
->  %1 = opset1.FakeQuantize(%x, %low, %high, %first * %a + %b, %last * %a + %b)

Transposed and grouped convolutions and MatMul are treated alike, as are Divide in the place of Multiply and two
consecutive Multiplies. Padding is not an obstacle: zeros stay zeros. Weights and intermediate values with other uses
are left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.constants import is_finite, is_shared, stored, weight_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import f64, to_numpy
from moir.dialects.large_arrays import Values, computed
from moir.dialects.memory_map import Array
from moir.dialects.names import inherit_origin
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.interfaces.elementwise import widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


def filter_factors(op: OpsetOp, filters: Values, factors: Values, axes: tuple[int, ...]) -> Values | None:
    """Factors of the channels of [N, C, spatial…], reshaped to broadcast over the filters.

    `axes` are the dimensions of the filters that form the channels. None if the factors vary along other dimensions.
    """
    rank = len(op.integers("strides")) + 2
    if factors.ndim > rank:
        return None
    aligned = factors.reshape((1,) * (rank - factors.ndim) + factors.shape)
    if factors.size == 1:
        return aligned.reshape((1,) * filters.ndim)
    sizes = [filters.shape[axis] for axis in axes]
    if aligned.shape[1] != np.prod(sizes) or aligned.size != aligned.shape[1]:
        return None
    return aligned.reshape([size if axis in axes else 1 for axis, size in enumerate(filters.shape)])


def product_factors(op: OpsetOp, weights: Values, factors: Values, side: str) -> Values | None:
    """Factors of a matrix product, reshaped to broadcast over its right operand.

    The factors are those of the columns of the result (`side` is `outputs`) or of the left operand (`inputs`). None if
    they vary along other dimensions.
    """
    rank = rank_of(op.results[0] if side == "outputs" else op.operands[0])
    if weights.ndim < 2 or rank is None or factors.ndim > rank:
        return None
    if factors.size == 1:
        return factors.reshape((1,) * weights.ndim)
    if factors.size != factors.shape[-1] or (side == "inputs" and op.flag("transpose_a")):
        return None
    columns = (side == "outputs") != op.flag("transpose_b")
    if weights.shape[-1 if columns else -2] != factors.size:
        return None
    return factors.reshape(-1) if columns else factors.reshape(-1, 1)


def scaled_weights(op: Operation, factors: Values, side: str) -> Values | None:
    """The constant weights of a linear operation, multiplied by factors of its channels of `side`: `outputs` or
    `inputs`.

    None if the weights are not constant, have other uses, or the factors do not fit them.
    """
    if not isinstance(op, OpsetOp) or not isinstance(op, ConvolutionOp | MatMul):
        return None
    weights = weight_of(op.operands[1])
    if weights is None or is_shared(op.operands[1]):
        return None
    if isinstance(op, MatMul):
        fitted = product_factors(op, weights, factors, side)
    else:
        fitted = filter_factors(op, weights, factors, op.OUTPUT_CHANNELS if side == "outputs" else op.INPUT_CHANNELS)
    if fitted is None:
        return None
    return stored(computed(_product, weights, fitted), weights.dtype)


def _product(weights: Array, factors: Array) -> Array:
    return widened(weights) * widened(factors)


def constant_factor(op: Operation) -> tuple[SSAValue, Values] | None:
    """The variable operand of a multiplication or division by a constant, and the constant factors.

    None for any other operation, for a value computed from sizes, or if a factor is not finite.
    """
    if not isinstance(op, Multiply | Divide) or op.text("auto_broadcast") != "numpy" or is_size(op.results[0]):
        return None
    for position in (1, 0) if isinstance(op, Multiply) else (1,):
        factors = weight_of(op.operands[position])
        if factors is not None and factors.size and keeps_rank(factors, op.operands[1 - position]):
            exact = computed(widened if isinstance(op, Multiply) else _reciprocal, factors)
            return (op.operands[1 - position], exact) if is_finite(exact) else None
    return None


def _reciprocal(factors: Array) -> Array:
    return np.reciprocal(widened(factors))


def constant_term(op: Operation) -> tuple[SSAValue, Values] | None:
    """The variable operand of an addition or subtraction of a constant, and the term that is added.

    None for any other operation, or for a value computed from sizes.
    """
    if not isinstance(op, Add | Subtract) or op.text("auto_broadcast") != "numpy" or is_size(op.results[0]):
        return None
    for position in (1, 0) if isinstance(op, Add) else (1,):
        term = weight_of(op.operands[position])
        if term is not None and term.size and keeps_rank(term, op.operands[1 - position]):
            return op.operands[1 - position], term if isinstance(op, Add) else computed(np.negative, term)
    return None


def is_size(value: SSAValue) -> bool:
    """Whether a value is f64: then it may be computed from dimensions, and another order of operations could change the
    result.
    """
    return rank_of(value) == 0 and element_of(value) == f64


def keeps_rank(constant: Values, other: SSAValue) -> bool:
    """Whether an elementwise operation on a constant and another operand has the rank of the other operand."""
    rank = rank_of(other)
    return rank is not None and constant.ndim <= rank


def combined(function: Callable[[Array, Array], Array], a: Values, b: Values, value: SSAValue) -> Values | None:
    """The result of a function of two constants, computed in f64 and stored in the element type of `value`.

    Returns None if the broadcast result has more elements than either constant.
    """
    if np.prod(np.broadcast_shapes(a.shape, b.shape), dtype=object) > max(a.size, b.size):
        return None

    def wide(left: Array, right: Array) -> Array:
        return np.asarray(function(left.astype(np.float64), right.astype(np.float64)))

    return stored(computed(wide, a, b), to_numpy(element_of(value)))


def with_weights(rewriter: Rewriter, op: OpsetOp, data: SSAValue, weights: Values) -> SSAValue:
    """A copy of a linear operation with the given data and weights."""
    constant = rewriter.op.constant(weights, element_of(op.operands[1]))
    copy = rewriter.op[op.name](data, constant, *op.operands[2:], **op.properties)
    inherit_origin(op, copy)
    return copy


def _is_linear(value: SSAValue) -> bool:
    """Whether a value is the result of a linear operation (convolution, MatMul, Multiply, Divide)."""
    return isinstance(value.owner, (ConvolutionOp, MatMul, Multiply, Divide))


def _is_shifted(value: SSAValue) -> bool:
    """Whether a value is a sum or difference with an operand that a linear operation computes."""
    return isinstance(value.owner, (Add, Subtract)) and any(_is_linear(each) for each in value.owner.operands)


class ScaleAfter(Pattern):
    """Multiplies a factor of the result into the weights of a linear operation, also past an addition."""

    roots = (Multiply, Divide)

    def may_match(self, op: Operation) -> bool:
        # Only factors after linear operations are considered, not e.g. large constant scales of embeddings.
        return any(_is_linear(each) or _is_shifted(each) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        factor = constant_factor(op)
        if factor is None or not has_one_live_use(factor[0]):
            return
        value, factors = factor
        shifted = constant_term(value.owner) if isinstance(value, OpResult) else None
        if shifted is not None and not has_one_live_use(shifted[0]):
            return
        linear = (shifted[0] if shifted is not None else value).owner
        if not isinstance(linear, OpsetOp):
            return
        term = None
        if shifted is not None and (term := combined(np.multiply, shifted[1], factors, value)) is None:
            return
        result = self.scaled(linear, factors, rewriter)
        if result is None:
            return
        rewriter.replace_with(op, result if term is None else rewriter.op.Add(result, rewriter.op.constant(term, element_of(result))))

    def scaled(self, op: OpsetOp, factors: Values, rewriter: Rewriter) -> SSAValue | None:
        """The result of a linear operation or of a multiplication by a constant, multiplied by factors.

        Returns None if its weights are not constant, have other uses, or do not take the factors.
        """
        inner = constant_factor(op)
        if inner is not None:
            merged = combined(np.multiply, inner[1], factors, op.results[0])
            return None if merged is None else rewriter.op.Multiply(inner[0], rewriter.op.constant(merged, element_of(op.results[0])))
        weights = scaled_weights(op, factors, "outputs")
        return None if weights is None else with_weights(rewriter, op, op.operands[0], weights)


class ScaleBefore(Pattern):
    """Multiplies a factor of the data into the weights of a linear operation."""

    roots = (ConvolutionOp, MatMul)
    companions = ((Multiply, Divide),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, (Multiply, Divide))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        value = op.operands[0]
        factor = constant_factor(value.op) if isinstance(value, OpResult) else None
        if factor is None or not has_one_live_use(value):
            return
        # Factors that broadcast the data to a larger shape, which is possible for a dynamic dimension, do not
        # fit the weights.
        if factor[0].type != value.type:
            return
        weights = scaled_weights(op, factor[1], "inputs")
        if weights is not None:
            rewriter.replace_with(op, with_weights(rewriter, op, factor[0], weights))


class TwoConstants(Pattern):
    """Merges two additions of constants, or two multiplications by constants."""

    roots = (Add, Subtract, Multiply, Divide)

    def may_match(self, op: Operation) -> bool:
        alike = (Add, Subtract) if isinstance(op, (Add, Subtract)) else (Multiply, Divide)
        return any(isinstance(operand.owner, alike) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        adds = isinstance(op, Add | Subtract)
        of = constant_term if adds else constant_factor
        outer = of(op)
        if outer is None or not has_one_live_use(outer[0]) or not isinstance(outer[0], OpResult) or (inner := of(outer[0].op)) is None:
            return
        merged = combined(np.add if adds else np.multiply, outer[1], inner[1], outer[0])
        if merged is None:
            return
        if inner[0].type == op.results[0].type and np.all(np.asarray(merged) == (0 if adds else 1)):
            rewriter.replace_with(op, inner[0])
            return
        constant = rewriter.op.constant(merged, element_of(outer[0]))
        rewriter.replace_with(op, (rewriter.op.Add if adds else rewriter.op.Multiply)(inner[0], constant))


FAKE_QUANTIZE = "opset1.FakeQuantize"
"""The operation by its name, so that its class is imported only for models that have one."""


def is_rounded(value: SSAValue) -> bool:
    """Whether a value is the result of a FakeQuantize."""
    return isinstance(value.owner, Operation) and value.owner.name == FAKE_QUANTIZE


class RangeAfter(Pattern):
    """Scales or shifts the output range of a FakeQuantize instead of its result."""

    roots = (Add, Subtract, Multiply, Divide)
    companions = ((FAKE_QUANTIZE,),)

    def may_match(self, op: Operation) -> bool:
        return any(is_rounded(operand) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        adds = isinstance(op, Add | Subtract)
        constant = (constant_term if adds else constant_factor)(op)
        if constant is None or not is_rounded(constant[0]) or not has_one_live_use(constant[0]):
            return
        if not adds and not np.all(np.asarray(constant[1])):
            # A factor of 0 would make both limits of the FakeQuantize equal.
            return
        source = constant[0].owner
        assert isinstance(source, Operation)
        if constant[0].type != op.results[0].type:
            return
        limits = [weight_of(each) for each in source.operands[3:]]
        if any(each is None for each in limits):
            return
        moved = [combined(np.add if adds else np.multiply, each, constant[1], constant[0]) for each in limits if each is not None]
        if any(each is None for each in moved):
            return
        low, high = (rewriter.op.constant(each, element_of(constant[0])) for each in moved if each is not None)
        result = rewriter.op.FakeQuantize(*source.operands[:3], low, high, **source.properties)
        inherit_origin(source, result)
        rewriter.replace_with(op, result)


class FoldScalesPass(PatternPass):
    """Folds constant factors into weights, and constants into each other."""

    name = "fold-scales"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (TwoConstants, ScaleAfter, ScaleBefore, RangeAfter)
