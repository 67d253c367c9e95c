"""Constant factors and terms that the CPU plugin takes for dequantization, and moves behind other operations.

If a model has a FakeQuantize anywhere, the plugin takes (x - c) · s with constants c and s for dequantized integers: it
computes what follows of x, and subtracts c and multiplies by s after that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import Reshape
from moir.dialects.opset.slicing import StridedSlice
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.operands import KEEPING, is_list, rounding_of
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Fault, Form

_PRODUCTS = frozenset(("Convolution", "ConvolutionBackpropData", "GroupConvolution", "GroupConvolutionBackpropData", "MatMul"))
"""Operations with quantized weights, whose results have one scale per channel."""


class GatherOfScaledValues(Pattern):
    """Keeps a Gather of a scalar index, or of indices of several dimensions, apart from scales of channels before it.

        %0 = opset1.Multiply(%x, %s)                             // %x: [2, 4, 7, 7], %s: [1, 4, 1, 1]
        %y = opset8.Gather(%0, 1, 3)
    ->  %y = opset8.Gather(opset1.Maximum(-inf, %0), 1, 3)

    The scales that the plugin multiplies the result by still have the axis, and none of the added dimensions: the
    result has another shape, or is not compiled.
    """

    roots = ("opset8.Gather", "opset7.Gather", "opset1.Gather")
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[1]) != 1 and has_scales(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


class SliceOfScaledValues(Pattern):
    """Keeps a StridedSlice with an ellipsis apart from scales of several elements before it.

        %0 = opset1.Multiply(%x, %s)                             // %x: [2, 4, 6, 8], %s: [8]
        %y = opset1.StridedSlice(%0, [0, 0], [0, 4], [1, 1]) {ellipsis_mask = [1, 0]}
    ->  %y = opset1.StridedSlice(opset1.Maximum(-inf, %0), [0, 0], [0, 4], [1, 1]) {ellipsis_mask = [1, 0]}

    The plugin does not slice the scales along the axes behind the ellipsis.
    """

    roots = (StridedSlice,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, StridedSlice)
        return any(op.integers("ellipsis_mask")) and has_scales(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


class ReductionOfScaledValues(Pattern):
    """Keeps a reduction of three dimensions apart from scales of several elements before it.

        %0 = opset1.Multiply(%x, %s)                             // %x: [2, 3, 8], %s: [1, 3, 1]
        %y = opset1.ReduceSum(%0, [2])
    ->  %y = opset1.ReduceSum(opset1.Maximum(-inf, %0), [2])

    The plugin computes the reduction and the product with the scales after it as one, and reads these out of bounds.
    """

    roots = (ReductionOp,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[0]) == 3 and has_scales(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


class ReshapeOfScaledValues(Pattern):
    """Keeps a Reshape of data of dynamic shape apart from scales of several elements before it.

        %0 = opset1.Multiply(%x, %s)                             // %x: [?, 3, 8], %s: [1, 3, 1]
        %y = opset1.Reshape(%0, [-1, 8])
    ->  %y = opset1.Reshape(opset1.Maximum(-inf, %0), [-1, 8])

    The plugin reshapes the scales, too: it does not compile the model, or takes scales of other elements.
    """

    roots = (Reshape,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        shape, result = shape_of(op.operands[0]), shape_of(op.results[0])
        if shape is None or result is None or is_static(shape) or len(result) < 2:
            return False
        return (len(shape) != len(result) or shape[1:] != result[1:]) and has_scales(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


class SumOfScaledChannels(Pattern):
    """Keeps scales of channels apart from constants that are added along another axis of the same size.

        %0 = opset1.Multiply(%x, %s)                             // %x: [2, 4, 3, 4], %s: [1, 4, 1, 1]
        %y = opset1.Add(%0, %c)                                  // %c: [4] or [1, 1, 1, 4]
    ->  %y = opset1.Add(opset1.Maximum(-inf, %0), %c)

    The plugin adds c / s before it multiplies, and divides the elements of the two constants in their order.
    """

    roots = (Add, Subtract)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        computed = [each for each in op.operands if not isinstance(each.owner, Constant)]
        terms = [shape_of(each) for each in op.operands if isinstance(each.owner, Constant)]
        rank, term = rank_of(op.results[0]), terms[0] if terms else None
        if len(computed) != 1 or term is None or rank is None or rank < 2:
            return False
        sizes = _with_rank(term, rank)
        if any(_with_rank(shape, rank) == sizes for shape in _shapes_of_factors(computed[0])):
            # Both are along the same axis, as in a normalization of a layer.
            return False
        return math.prod(sizes) > 1 and sizes[1] == 1 and has_scales(computed[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


def _shapes_of_factors(value: SSAValue) -> list[tuple[int, ...]]:
    """The shapes of the constant operands of the product or quotient that computes a value; empty for any other
    value.
    """
    owner = value.owner
    if not isinstance(owner, Multiply | Divide):
        return []
    shapes = [shape_of(each) for each in owner.operands if isinstance(each.owner, Constant)]
    return [shape for shape in shapes if shape is not None]


def _with_rank(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape with ones in front, so that it has `rank` dimensions."""
    return (1,) * (rank - len(shape)) + shape


def _separate(op: Operation, rewriter: Rewriter) -> None:
    """Insert an identity before the first operand of an operation that is not constant, unless that operand is an
    identity already.
    """
    assert isinstance(op, OpsetOp)
    index = next(index for index, each in enumerate(op.operands) if not isinstance(each.owner, Constant))
    operands = list(op.operands)
    if not is_computed_identity(operands[index]):
        operands[index] = computed_identity(rewriter.op, operands[index])
        rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties)).results)


def has_scales(value: SSAValue) -> bool:
    """Whether the plugin may take a value for dequantized integers, with scales or terms of several elements.

    The plugin divides the other summand of a sum by the scales, and so moves them behind the sum. False for a value
    that is computed from constants alone.
    """
    pending, seen = [value], {value}
    while pending:
        is_scaled, summands = _scales(pending.pop())
        if is_scaled:
            return True
        pending += [each for each in summands if each not in seen]
        seen.update(summands)
    return False


def _scales(value: SSAValue) -> tuple[bool, Sequence[SSAValue]]:
    """Whether a value has scales or terms of several elements; if it has none, the summands of the sum from which it is
    computed, empty without a sum.
    """
    is_scaled, has_lists = False, False
    while isinstance(owner := value.owner, OpsetOp) and owner.operands:
        constants = [each for each in owner.operands if isinstance(each.owner, Constant)]
        if isinstance(owner, FakeQuantize):
            return has_lists or any(map(is_list, constants)), ()
        if owner.KIND in _PRODUCTS:
            return has_lists or rounding_of(owner.operands[0]) is not None, ()
        count = len(owner.operands) - len(constants)
        if isinstance(owner, Add | Subtract) and count > 1:
            return is_scaled and has_lists, owner.operands
        if is_computed_identity(value) or not (owner.KIND in KEEPING or (count == 1 and (owner.POINTWISE or owner.BROADCASTS))):
            return is_scaled and has_lists and count > 0, ()
        is_scaled = is_scaled or (owner.KIND in ("Divide", "Multiply") and bool(constants))
        has_lists = has_lists or (owner.KIND in ("Add", "Divide", "Multiply", "Subtract") and any(map(is_list, constants)))
        value = next((each for each in owner.operands if each not in constants), owner.operands[0])
    return is_scaled and has_lists, ()


FORMS = (
    Form(
        "separate-scales",
        (GatherOfScaledValues, SliceOfScaledValues, ReductionOfScaledValues, ReshapeOfScaledValues, SumOfScaledChannels),
        "Keeps constant factors in quantized models apart from operations behind which the plugin moves them wrongly.",
        faults=(
            Fault(
                "entries-of-levels", "Gather of one entry of a FakeQuantize with several limits", "has a dimension more, or is not compiled"
            ),
            Fault(
                "rows-of-sums",
                "a reduction of three dimensions of the sum of a value and what a FakeQuantize with several limits rounds",
                "reads the scales out of bounds",
            ),
            Fault(
                "entries-of-products",
                "Gather of a scalar index, or of indices of several dimensions, of a product with constants for channels, in a model "
                "that has a FakeQuantize",
                "has another shape, or is not compiled",
            ),
            Fault(
                "slices-of-products",
                "StridedSlice with an ellipsis of a product with several constants, in a model that has a FakeQuantize",
                "has another shape, or is not compiled",
            ),
            Fault(
                "rows-of-products",
                "a reduction of three dimensions of a product with several constants, in a model that has a FakeQuantize",
                "reads the constants out of bounds",
            ),
            Fault(
                "reshaped-products",
                "Reshape of data of dynamic shape, which are a product with constants for channels, in a model that has a FakeQuantize",
                "takes other constants, or is not compiled",
            ),
            Fault(
                "sums-of-two-axes",
                "a product with constants for channels, plus as many constants along another axis, in a model that has a FakeQuantize",
                "adds other constants",
            ),
        ),
    ),
)
