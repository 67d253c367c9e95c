"""Quantized operands with which the CPU plugin computes wrongly, or does not compute."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_quantized_weight
from moir.dialects.data import Array
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Form

_KEEPING = frozenset(
    (
        *("AvgPool", "Clamp", "Concat", "Convolution", "Gather", "GroupConvolution", "MatMul", "MaxPool", "Pad", "Relu", "Reshape"),
        *("Slice", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""Operations through which the plugin moves the sizes of levels."""


def rounding_of(value: SSAValue) -> FakeQuantize | None:
    """The FakeQuantize whose levels a value has, perhaps times numbers; None if there is none."""
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, FakeQuantize):
            return owner
        computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
        if not computed or not (owner.KIND in _KEEPING or (len(computed) == 1 and (owner.POINTWISE or owner.BROADCASTS))):
            return None
        value = computed[0]
    return None


class NormalizedLevels(Pattern):
    """Separates a normalization from the rounding of its data to levels.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)
        %y = opset6.MVN(%0, [2]) {eps = 1e-05}
    ->  %y = opset6.MVN(opset1.Maximum(-inf, %0), [2]) {eps = 1e-05}

    The plugin normalizes the integers that stand for the levels, and adds ε to their variance, which is that of the
    levels divided by the square of their distance.
    """

    roots = ("opset6.MVN", "opset2.MVN", "opset1.MVN", "opset12.GroupNormalization")
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        return rounding_of(op.operands[0]) is not None and not is_computed_identity(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


class LevelsWithoutZero(Pattern):
    """Separates a quantized convolution from the rounding of its data to levels on both sides of 0, none of which is 0.

        %0 = opset1.FakeQuantize(%x, -4, 4, -4, 4) {levels = 256}
        %y = opset1.Convolution(%0, %w)                      // %w: integers of 8 bits by a factor
    ->  %y = opset1.Convolution(opset1.Maximum(-inf, %0), %w)

    The plugin computes with integers and rounds the one that stands for 0 to the next.
    """

    roots = (Convolution, GroupConvolution)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        return _is_quantized(op.operands[1]) and rounding_of(op.operands[0]) is not None and not is_computed_identity(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        rounding = rounding_of(data)
        assert rounding is not None
        first, last = (rewriter.known.constant(each) for each in rounding.operands[3:5])
        if first is None or last is None or _has_zero(first, last, rounding.integer("levels") - 1):
            return
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


def _is_quantized(filters: SSAValue) -> bool:
    """Whether filters are integers by factors, or rounded to levels."""
    while isinstance(filters.owner, OpsetOp) and filters.owner.KIND == "Reshape":
        filters = filters.owner.operands[0]
    return is_quantized_weight(filters) or isinstance(filters.owner, FakeQuantize)


_NEAR = 1e-2
"""How far from a level 0 may be, in steps."""


def _has_zero(first: Array, last: Array, steps: int) -> bool:
    """Whether all levels are on one side of 0, or one of them is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -first.astype(np.float64) / (last.astype(np.float64) - first) * steps
    return bool(np.all((zero <= _NEAR) | (zero >= steps - _NEAR) | (np.abs(zero - np.round(zero)) <= _NEAR)))


class EqualLimits(Pattern):
    """Writes limits of levels as numbers if each is the same along all axes.

        %y = opset1.FakeQuantize(%x, [[-1], [-1]], [[1], [1]], [[-1], [-1]], [[1], [1]])
    ->  %y = opset1.FakeQuantize(%x, -1, 1, -1, 1)

    The plugin does not compile a product with dequantized weights if no level of such limits is 0 as an integer.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        limits = [constant_of(each) if isinstance(each.owner, Constant) else None for each in op.operands[1:]]
        known = [each for each in limits if each is not None and each.size]
        return len(known) == 4 and any(each.size > 1 for each in known) and all(bool((each == each.flat[0]).all()) for each in known)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        arrays = [constant_of(each) for each in limits]
        numbers = [rewriter.op.constant_like(array.flat[0], each) for array, each in zip(arrays, limits, strict=True) if array is not None]
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [data, *numbers], dict(op.properties)).results[0])


class LimitsOfOneShape(Pattern):
    """Repeats the limit of a range that is one number if the other limit is several.

        %y = opset1.FakeQuantize(%x, 0, [[1], [2]], 0, [[1], [2]])
    ->  %y = opset1.FakeQuantize(%x, [[0], [0]], [[1], [2]], [[0], [0]], [[1], [2]])

    The plugin rounds to wrong levels otherwise.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        return any(_is_list(low) != _is_list(high) for low, high in _ranges(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        found: list[SSAValue] = []
        for low, high in _ranges(op):
            arrays = [constant_of(each) for each in (low, high)]
            if _is_list(low) == _is_list(high) or any(each is None for each in arrays):
                found += (low, high)
                continue
            pair = np.broadcast_arrays(*(each for each in arrays if each is not None))
            found += (rewriter.op.constant(np.ascontiguousarray(each), element_of(op.operands[0])) for each in pair)
        if found != list(op.operands[1:]):
            rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [op.operands[0], *found], dict(op.properties)).results[0])


def _ranges(op: Operation) -> tuple[tuple[SSAValue, SSAValue], ...]:
    """The lower and the upper limits of the data and of the result."""
    _, low, high, first, last = op.operands
    return (low, high), (first, last)


class LevelsOfUnknownSizes(Pattern):
    """Separates rounding to levels of data of unknown sizes from a Transpose, or from other levels, before it.

        %1 = opset1.Transpose(%0, [0, 2, 1])                     // %0: [?, ?, 5]
        %y = opset1.FakeQuantize(%1, %low, %high, %low, %high)   // %low: [1, 5, 1]
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %1), %low, %high, %low, %high)

    The plugin rounds before the Transpose, along the third axis, which it does not compile for unknown sizes; and the
    first of several limits of levels that are rounded to others is taken everywhere.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        data, *limits = op.operands
        shape = shape_of(data)
        if (shape is not None and is_static(shape)) or is_computed_identity(data):
            return False
        if isinstance(data.owner, OpsetOp) and data.owner.KIND == "Transpose":
            return any(map(_is_list, limits))
        before = rounding_of(data)
        return before is not None and any(map(_is_list, before.operands[1:]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])


def _is_list(value: SSAValue) -> bool:
    """Whether limits are several."""
    return bool(set(shape_of(value) or ()) - {1})


class EntriesOfLevels(Pattern):
    """Separates the choice of one entry along an axis from rounding to levels with several limits.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)   // %low: [1, 2, 1, 1]
        %y = opset8.Gather(%0, 1, 3)
    ->  %y = opset8.Gather(opset1.Maximum(-inf, %0), 1, 3)

    The plugin multiplies the entries by sizes of levels that still have the axis: the result has a dimension more, or
    is not compiled.
    """

    roots = ("opset8.Gather", "opset7.Gather", "opset1.Gather")
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        before = rounding_of(op.operands[0])
        return rank_of(op.operands[1]) == 0 and before is not None and any(map(_is_list, before.operands[1:]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        if not is_computed_identity(data):
            same = computed_identity(rewriter.op, data)
            rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


FORMS = (
    Form(
        "fit-levels",
        (EqualLimits, LimitsOfOneShape, NormalizedLevels, LevelsWithoutZero, LevelsOfUnknownSizes, EntriesOfLevels),
        "Writes limits of levels in one shape, and separates levels from normalizations and convolutions.",
    ),
)
