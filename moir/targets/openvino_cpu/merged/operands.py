"""Quantized operands for which the CPU plugin computes wrong results, or does not compile the model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import Array
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.openvino_cpu.quantized_values import are_quantized_filters
from moir.targets.record import Fault, Form

KEEPING = frozenset(
    (
        *("AvgPool", "Clamp", "Concat", "Convolution", "Gather", "GroupConvolution", "MatMul", "MaxPool", "Pad", "Relu", "Reshape"),
        *("Slice", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""Operations through which the plugin moves the scales of quantized values."""


def rounding_of(value: SSAValue) -> FakeQuantize | None:
    """The FakeQuantize that computes a value, looking through movements and scaling; None if there is no such
    FakeQuantize.
    """
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, FakeQuantize):
            return owner
        computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
        if not computed or not (owner.KIND in KEEPING or (len(computed) == 1 and (owner.POINTWISE or owner.BROADCASTS))):
            return None
        value = computed[0]
    return None


class NormalizationOfQuantizedValues(Pattern):
    """Separates a normalization from the quantization of its data, and from constant factors in a quantized model.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)
        %y = opset6.MVN(%0, [2]) {eps = 1e-05}
    ->  %y = opset6.MVN(opset1.Maximum(-inf, %0), [2]) {eps = 1e-05}

    The plugin normalizes the quantized integers, and adds ε to their variance, or to the square of their norm, which is
    that of the dequantized values divided by the square of the scale. If a model has a FakeQuantize anywhere, it takes
    constant factors for scales, also those of a summand.
    """

    roots = ("opset6.MVN", "opset2.MVN", "opset1.MVN", "opset12.GroupNormalization", "opset1.NormalizeL2")
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        return not is_computed_identity(data) and (rounding_of(data) is not None or _is_product(data))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


def _is_product(value: SSAValue) -> bool:
    """Whether a value is a product or quotient with a constant, is quantized with constant limits, or is a sum with
    such a summand.

    Looks through movements and through a Relu after these.
    """
    while isinstance(owner := value.owner, OpsetOp) and owner.KIND in KEEPING:
        value = owner.operands[0]
    summands = owner.operands if isinstance(owner, OpsetOp) and owner.KIND in ("Add", "Subtract") else (value,)
    factors = (
        each.owner for each in summands if isinstance(each.owner, OpsetOp) and each.owner.KIND in ("Divide", "FakeQuantize", "Multiply")
    )
    return any(isinstance(operand.owner, Constant) for factor in factors for operand in factor.operands)


class QuantizedValuesWithoutZero(Pattern):
    """Separates a quantized convolution from the quantization of its data to values around 0, none of which is 0.

        %0 = opset1.FakeQuantize(%x, -4, 4, -4, 4) {levels = 256}
        %y = opset1.Convolution(%0, %w)                      // %w: integers of 8 bits by a factor
    ->  %y = opset1.Convolution(opset1.Maximum(-inf, %0), %w)

    The plugin computes with integers and rounds the zero point to an integer. Constants that are added to the quantized
    values, or multiplied, move the zero point.
    """

    roots = (Convolution, GroupConvolution)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        data, filters = op.operands
        return are_quantized_filters(filters) and rounding_of(data) is not None and not is_computed_identity(data)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        rounding = rounding_of(data)
        assert rounding is not None
        limits = _limits_of(data)
        if limits is None or _has_zero(*limits, rounding.integer("levels") - 1):
            return
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


_FUNCTIONS: Mapping[str, np.ufunc] = {"Add": np.add, "Divide": np.divide, "Multiply": np.multiply, "Subtract": np.subtract}


def _limits_of(value: SSAValue) -> tuple[Array, Array] | None:
    """The lowest and the highest quantized value, after sums and products with constants; None if the limits are not
    constant.
    """
    owner = value.owner
    if not isinstance(owner, OpsetOp):
        return None
    if isinstance(owner, FakeQuantize):
        first, last = map(constant_of, owner.operands[3:5])
        return None if first is None or last is None else (first, last)
    computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
    limits = _limits_of(computed[0]) if computed else None
    if limits is None or owner.KIND not in _FUNCTIONS or len(computed) > 1:
        return limits
    arrays = [constant_of(each) for each in owner.operands]
    moved: list[Array] = []
    for limit in limits:
        terms = [limit if array is None else array for array in arrays]
        try:
            with np.errstate(all="ignore"):
                moved.append(_FUNCTIONS[owner.KIND](*terms))
        except ValueError:
            # An operation between the constants moves their axes: the limits are compared without the constant.
            return limits
    return moved[0], moved[1]


_NEAR = 1e-2
"""The largest distance between 0 and a quantized value, as a fraction of a step, at which the value counts as 0."""


def _has_zero(first: Array, last: Array, steps: int) -> bool:
    """Whether 0 is (up to rounding) one of the quantized values, or outside of the quantized range, for all limits.

    Args:
        first: the lowest quantized values.
        last: the highest ones.
        steps: the number of quantization levels minus 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -first.astype(np.float64) / (last.astype(np.float64) - first) * steps
    return bool(np.all((zero <= _NEAR) | (zero >= steps - _NEAR) | (np.abs(zero - np.round(zero)) <= _NEAR)))


class EqualLimits(Pattern):
    """Replaces limits of a FakeQuantize by scalars if their elements are equal.

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
    """Broadcasts a limit of a range that is a scalar if the other limit has several elements.

        %y = opset1.FakeQuantize(%x, 0, [[1], [2]], 0, [[1], [2]])
    ->  %y = opset1.FakeQuantize(%x, [[0], [0]], [[1], [2]], [[0], [0]], [[1], [2]])

    The plugin rounds to wrong values otherwise.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        return any(is_list(low) != is_list(high) for low, high in _ranges(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        limits: list[SSAValue] = []
        for low, high in _ranges(op):
            arrays = [constant_of(each) for each in (low, high)]
            if is_list(low) == is_list(high) or any(each is None for each in arrays):
                limits += (low, high)
                continue
            pair = np.broadcast_arrays(*(each for each in arrays if each is not None))
            limits += (rewriter.op.constant(np.ascontiguousarray(each), element_of(op.operands[0])) for each in pair)
        if limits != list(op.operands[1:]):
            rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [op.operands[0], *limits], dict(op.properties)).results[0])


def _ranges(op: Operation) -> tuple[tuple[SSAValue, SSAValue], ...]:
    """The limits of a FakeQuantize: ((input_low, input_high), (output_low, output_high))."""
    _, low, high, first, last = op.operands
    return (low, high), (first, last)


class QuantizedDynamicShape(Pattern):
    """Separates a FakeQuantize of data of dynamic shape from a Transpose, or from another FakeQuantize, before it.

        %1 = opset1.Transpose(%0, [0, 2, 1])                     // %0: [?, ?, 5]
        %y = opset1.FakeQuantize(%1, %low, %high, %low, %high)   // %low: [1, 5, 1]
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %1), %low, %high, %low, %high)

    The plugin quantizes before the Transpose, with limits along the third axis, which it does not compile for dynamic
    dimensions. Of two FakeQuantizes in a row, it applies the first element of the limits to all elements.
    """

    roots = (FakeQuantize,)

    def may_match(self, op: Operation) -> bool:
        data, *limits = op.operands
        shape = shape_of(data)
        if (shape is not None and is_static(shape)) or is_computed_identity(data):
            return False
        if any(map(is_list, limits)) and _is_transposed(data):
            return True
        before = rounding_of(data)
        return before is not None and any(map(is_list, before.operands[1:]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])


def _is_transposed(value: SSAValue) -> bool:
    """Whether a value is the result of a Transpose, perhaps quantized or limited after it."""
    while isinstance(owner := value.owner, FakeQuantize) or (isinstance(owner, OpsetOp) and owner.POINTWISE):
        value = owner.operands[0]
    return isinstance(owner, Transpose)


def is_list(value: SSAValue) -> bool:
    """Whether limits of a quantization have several elements."""
    return bool(set(shape_of(value) or ()) - {1})


class LimitsBehindTranspose(Pattern):
    """Keeps a FakeQuantize with several limits apart from a Transpose before it that moves axis 2 to the axis of the
    limits.

        %0 = opset11.Interpolate(%x, [4, 4], [2, 3])             // %x: [1, 8, 2, 2]
        %1 = opset1.Transpose(%0, [0, 2, 3, 1])
        %y = opset1.FakeQuantize(%1, %low, %high, %low, %high)   // %low: [1, 4, 1, 1]
    ->  %y = opset1.FakeQuantize(opset1.Maximum(-inf, %1), %low, %high, %low, %high)

    The plugin quantizes before the Transpose, as a part of the operation before it, along the second axis. If the
    operation before the Transpose is elementwise, the result is right.
    """

    roots = (FakeQuantize,)
    companions = ((Transpose,),)

    def may_match(self, op: Operation) -> bool:
        transposition, shapes = op.operands[0].owner, [shape_of(each) for each in op.operands[1:]]
        if not isinstance(transposition, Transpose) or (order := constant_of(transposition.operands[1])) is None:
            return False
        source = transposition.operands[0].owner
        if not isinstance(source, OpsetOp) or isinstance(source, Parameter) or source.POINTWISE or source.BROADCASTS:
            return False
        axes = {axis - len(shape) for shape in shapes if shape is not None for axis, size in enumerate(shape) if size != 1}
        return any(-axis <= order.size and order[axis] == 2 for axis in axes)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *limits = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *limits], dict(op.properties)).results[0])


FORMS = (
    Form(
        "fit-fake-quantize-limits",
        (
            EqualLimits,
            LimitsOfOneShape,
            QuantizedDynamicShape,
            LimitsBehindTranspose,
            NormalizationOfQuantizedValues,
            QuantizedValuesWithoutZero,
        ),
        "Gives the limits of a FakeQuantize one shape, and separates it from normalizations, convolutions and Transposes.",
        faults=(
            Fault("normalized-levels", "MVN and GroupNormalization of a FakeQuantize", "add ε to the variance of the quantized integers"),
            Fault(
                "normalized-products",
                "MVN and GroupNormalization of a product with a constant, perhaps added to another value, in a model that has a "
                "FakeQuantize",
                "add ε to the variance without the factor",
            ),
            Fault(
                "unit-products",
                "NormalizeL2 of a FakeQuantize, or, in a model that has a FakeQuantize, of a product with a constant",
                "adds ε to the square of the norm of the quantized integers, or without the factor",
            ),
            Fault(
                "levels-without-zero",
                "Convolution with quantized filters of a FakeQuantize with quantized values on both sides of 0, but none for 0",
                "all quantized values are off by a part of a step",
            ),
            Fault(
                "equal-limits", "MatMul with quantized weights of a FakeQuantize whose limits along an axis are the same", "is not compiled"
            ),
            Fault(
                "limits-of-two-shapes",
                "FakeQuantize with one number for a limit and several for the other one",
                "has other quantized values",
            ),
            Fault(
                "levels-of-unknown-sizes",
                "FakeQuantize of dynamic shape with several limits, after a Transpose or before another FakeQuantize",
                "is not compiled, or the first of the limits is taken everywhere",
            ),
            Fault(
                "limits-behind-transpose",
                "FakeQuantize with several limits along what was the third axis before a Transpose, of a result of Interpolate, MVN, "
                "NormalizeL2, Convolution or a reduction",
                "takes limits along the second axis, or is not compiled",
            ),
        ),
    ),
)
