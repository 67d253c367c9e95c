"""Convolutions and matrix products of quantized integers, with the operations that oneDNN fuses into their kernels.

    %y, %low, %high = tf.QuantizedConv2DWithBiasAndReluAndRequantize(%x, %w, %bias, ranges…)
->  %0 = opset1.Convolution(Convert(%x), Convert(%w))
    %1 = opset1.Add(opset1.Multiply(%0, scale), %bias)
    %y = opset1.Convert(opset1.Clamp(opset5.Round(opset1.Multiply(%1, 255 / high)), 0, 255))

Unsigned filters, and the data that are multiplied by them, have zero points. Signed filters are symmetric: the integer
0 represents 0, and 127 represents the larger magnitude of the range.

Source: tensorflow/core/kernels/quantized_conv_ops.cc, mkl/mkl_conv_ops.cc and mkl/mkl_qmatmul_op.cc.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si8, si32, ui8
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import element_of
from moir.expansions.quantization import NumberRange, half_to_even, magnitude, saturated
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.attributes.sliding_window import padding, spatial_attribute
from moir.lowering.tensorflow.convolution import filters_by_channel, filters_first
from moir.lowering.tensorflow.quantization.ranges import limits_of, step_of, zero_point
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

FULL: dict[Attribute, float] = {ui8: 255.0, si8: 127.0}
"""For each element type, the integer that represents the larger magnitude of a symmetric range."""


class Operands(Record):
    """The indices of a kind's operands; None for operands that the kind does not have.

    `relu` and `dequantize` are whether the kind applies these, too. A `summand` of floats has no operands for its
    range.
    """

    bias: int | None
    data: int
    filters: int
    output: int | None
    summand: int | None
    relu: bool
    dequantize: bool


def operands_of(kind: str) -> Operands:
    """The operands of a kind, derived from its name, which lists the fused operations:
    `…WithBiasSumAndReluAndRequantize`.
    """
    bias, first = (2, 3) if "WithBias" in kind else (None, 2)
    requantizes = kind.endswith(("Requantize", "Dequantize"))
    output = first + 4 if requantizes else None
    summand = (first + 6 if requantizes else first + 4) if "Sum" in kind else None
    return Operands(bias, first, first + 2, output, summand, "Relu" in kind, kind.endswith("Dequantize"))


@tf.lowers(
    "QuantizedConv2D",
    "QuantizedConv2DAndRelu",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DPerChannel",
    "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
)
def convolution(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.QuantizedConv2D(x, w, ranges…) -> Convert(opset1.Convolution(x - zero, w - zero)), and its range"""
    x, w, zero = factors(node, op)
    data, filters = channel_first(op, x, 4), filters_first(op, w, 2)
    result = op.Convolution(data, filters, **window_of(node).properties())
    return finished(node, op, channel_last(op, result, 4), zero)


@tf.lowers(
    "QuantizedDepthwiseConv2D",
    "QuantizedDepthwiseConv2DWithBias",
    "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
)
def depthwise_convolution(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.QuantizedDepthwiseConv2D(x, w, ranges…) -> Convert(opset1.GroupConvolution(x, w)), and its range"""
    x, w, zero = factors(node, op)
    data, filters = channel_first(op, x, 4), filters_by_channel(op, w)
    result = op.GroupConvolution(data, filters, **window_of(node).properties())
    return finished(node, op, channel_last(op, result, 4), zero)


@tf.lowers(
    "QuantizedMatMul",
    "QuantizedMatMulWithBias",
    "QuantizedMatMulWithBiasAndDequantize",
    "QuantizedMatMulWithBiasAndRelu",
    "QuantizedMatMulWithBiasAndReluAndRequantize",
    "QuantizedMatMulWithBiasAndRequantize",
)
def product(node: LoweringNode, op: OpBuilder, *, transpose_a: bool = False, transpose_b: bool = False) -> Replacement:
    """tf.QuantizedMatMul(a, b, ranges…) -> Convert(opset1.MatMul(a - zero, b - zero)), and the range of its result"""
    a, b, first = factors(node, op)
    result = op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return finished(node, op, result, first)


def window_of(node: LoweringNode) -> SlidingWindow:
    """The sliding window of a convolution, whose explicit padding is in the attribute `padding_list`.

    Raises ConversionError if this has another length, a negative element, or pads batch or channels.
    """
    strides, dilations = (spatial_attribute(node, name, 2, True) for name in ("strides", "dilations"))
    if node.text("padding") != "EXPLICIT":
        return SlidingWindow(strides, dilations, *padding(node, 2, True))
    pads = node.integers("padding_list", ())
    if len(pads) != 8 or min(pads) < 0 or any((*pads[:2], *pads[6:])):
        node.fail(f"padding_list {list(pads)} is not two sizes for each axis, zeros for batch and channels")
    return SlidingWindow(strides, dilations, (pads[2], pads[4]), (pads[3], pads[5]), "explicit")


def is_min_first(node: LoweringNode) -> bool:
    """Whether the smallest integer of the data represents the minimum of the range (mode MIN_FIRST)."""
    is_product = node.op.KIND.startswith("QuantizedMatMulWith")
    return is_product and node.element(0) == ui8 and node.text("input_quant_mode", "MIN_FIRST") == "MIN_FIRST"


def factors(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue, bool]:
    """Data and filters as floats, and whether the filters are symmetric, that is signed.

    The zero points are subtracted from both if the filters are unsigned, else at most from the data. Raises
    ConversionError for operands that are not integers of 8 bits.
    """
    operands = operands_of(node.op.KIND)
    x, w = (op.convert(node.operand(index), f32) for index in (0, 1))
    if node.element(1) == ui8:
        ranges = [limits_of(node, op, index) for index in (operands.data, operands.filters)]
        zeros = [zero_point(op, each, node.element(index)) for index, each in enumerate(ranges)]
        return op.Subtract(x, zeros[0]), op.Subtract(w, zeros[1]), False
    if node.element(0) not in FULL or node.element(1) != si8:
        node.fail("its operands are not integers of 8 bits")
    if is_min_first(node):
        limits = limits_of(node, op, operands.data)
        x = op.Add(x, op.Divide(limits.low, step_of(op, limits, ui8)))
    return x, w, True


def finished(node: LoweringNode, op: OpBuilder, result: SSAValue, symmetric: bool) -> Replacement:
    """The results of a kind: the sums of products after the bias, summand, Relu and requantization that the kind has,
    and their range.

    Args:
        node: the convolution or matrix product.
        op: the builder.
        result: the sums of products.
        symmetric: whether the filters are signed integers without a zero point.

    A kind that ends in a dequantization has no range among its results. Raises ConversionError for unsigned filters
    with a bias or an output range.
    """
    operands = operands_of(node.op.KIND)
    data, filters = limits_of(node, op, operands.data), limits_of(node, op, operands.filters, scalar=False)
    unit = unit_of(node, op, data, filters) if symmetric else None
    if operands.bias is not None or operands.output is not None:
        if unit is None:
            node.fail("its filters are of unsigned integers", hint="TensorFlow has a kernel for filters of qint8 only")
        result = _with_addends(node, op, result, unit, operands)
    element = node.element_attribute("Toutput" if node.has("Toutput") else "out_type", si32)
    if operands.relu:
        result = op.Relu(result)
    if operands.dequantize:
        return [op.convert(result, element)]
    if operands.output is not None:
        limits = limits_of(node, op, operands.output)
        quantized = op.Multiply(result, op.Divide(FULL.get(element, 0.0), magnitude(op, limits)))
        return [saturated(op, half_to_even(op, quantized), IntegerRange.of(element)), *limits]
    step = op.Multiply(step_of(op, data, node.element(0), symmetric=symmetric), step_of(op, filters, node.element(1), symmetric=symmetric))
    return [
        saturated(op, half_to_even(op, result), IntegerRange.of(element)),
        *(op.Multiply(step, float(end)) for end in IntegerRange.of(si32).ends),
    ]


def unit_of(node: LoweringNode, op: OpBuilder, data: NumberRange, filters: NumberRange) -> SSAValue:
    """The real number that the integer 1 represents in the sums of products: the scale of the data times the scale of
    the filters.
    """
    width = op.Subtract(data.high, data.low) if is_min_first(node) else magnitude(op, data)
    return op.Divide(op.Multiply(width, magnitude(op, filters)), FULL[element_of(node.operand(0))] * FULL[si8])


def _with_addends(node: LoweringNode, op: OpBuilder, result: SSAValue, unit: SSAValue, operands: Operands) -> SSAValue:
    """The sums of products plus bias and summand: real numbers if the node requantizes them, else multiples of `unit`.

    An integer bias is a multiple of the unit, a float bias is a real number.
    """
    bias = None if operands.bias is None else node.operand(operands.bias)
    addends: list[SSAValue] = []
    if bias is not None and element_of(bias) == si32:
        result = op.Add(result, op.convert(bias, f32))
    elif bias is not None:
        addends.append(bias)
    if operands.summand is not None:
        addends.append(_summand(node, op, operands.summand))
    requantizes = operands.output is not None
    if requantizes:
        result = op.Multiply(result, unit)
    for value in addends:
        result = op.Add(result, value if requantizes else op.Divide(value, unit))
    return result


def _summand(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """Operand `index`, which is added to a product, as floats; if it is quantized, its range is symmetric."""
    value, element = node.operand(index), node.element(index)
    if element not in FULL:
        return op.convert(value, f32)
    return op.Multiply(op.convert(value, f32), op.Divide(magnitude(op, limits_of(node, op, index + 1)), FULL[element]))
