"""Products and convolutions of uniformly quantized integers, also of floats by integers ("hybrid").

    %y = tf.UniformQuantizedDot(%a, %b, scales and zero points)
->  %0 = opset1.MatMul(Convert(%a) - a_zero, Convert(%b) - b_zero)
    %y = Convert(rounded(%0 * (a_scale * b_scale / y_scale)) + y_zero)

In hybrid kinds the floats are first quantized to 256 values between the extremes of their row or image, extended to
include 0.

Source: tensorflow/core/kernels/uniform_quant_ops.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.quantization import Quantization
from moir.dialects.shapes import shape_of
from moir.expansions.quantization import TINY, centered, dequantized, half_away_from_zero, half_up
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.quantization.uniform_operations import quantization, rescaled, stored
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.convolution import convolved
from moir.rewriting.builder import OpBuilder

Compute = Callable[[SSAValue, SSAValue], SSAValue]


@tf.lowers("UniformQuantizedDot")
def product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.UniformQuantizedDot(a, b, …) -> rescaled(opset1.MatMul(a - zero, b - zero))"""
    return of_integers(node, op, op.MatMul)


@tf.lowers("UniformQuantizedDotHybrid")
def hybrid_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.UniformQuantizedDotHybrid(a, b, scale, zero) -> opset1.MatMul(a rounded to 256 values, (b - zero) * scale)"""
    return of_floats(node, op, op.MatMul, 0)


@tf.lowers("UniformQuantizedConvolution")
def convolution(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.UniformQuantizedConvolution(x, w, …) -> rescaled(opset1.Convolution(x - zero, w - zero))"""
    return of_integers(node, op, windowed(node, op))


@tf.lowers("UniformQuantizedConvolutionHybrid")
def hybrid_convolution(node: LoweringNode, op: OpBuilder, *, input_batch_dimension: int = 0) -> SSAValue:
    """tf.UniformQuantizedConvolutionHybrid(x, w, scale, zero)
    -> opset1.Convolution(x rounded to 256 values, (w - zero) * scale)
    """
    return of_floats(node, op, windowed(node, op), input_batch_dimension)


def of_integers(node: LoweringNode, op: OpBuilder, compute: Compute) -> SSAValue:
    """A product of integers, rescaled to the scale of the result; `compute` builds it from both operands without zero
    points.
    """
    sides = [quantization(node, op, 2, "lhs_", node.rank(0)), quantization(node, op, 4, "rhs_", node.rank(1))]
    exact = compute(*[centered(op, node.operand(index), each) for index, each in enumerate(sides)])
    after = quantization(node, op, 6, "output_", node.rank(0))
    columns = sides[1].scale
    if node.integer("rhs_quantization_axis", -1) >= 0:
        # The scales of columns, or of filters, lie along the last dimension of the result, or its features.
        following = node.known_rank(0) - 1 - node.integer("output_feature_dimension", 1)
        columns = op.Reshape(node.operand(4), [-1, *(1,) * following], special_zero=False)
    moved = rescaled(op, exact, op.Multiply(sides[0].scale, columns), after)
    return stored(node, op, moved, "output_", node.element_attribute("Tout", si32))


def of_floats(node: LoweringNode, op: OpBuilder, compute: Compute, batch: int) -> SSAValue:
    """A product of floats and integers; `compute` builds it from both operands as floats.

    The floats are first rounded to 256 quantized values, separately for each index of dimension `batch`.
    """
    how = quantization(node, op, 2, "rhs_", node.rank(1))
    weights = dequantized(op, node.operand(1), how)
    return op.convert(compute(fake_quantized(node, op, node.operand(0), batch), weights), node.element_attribute("Tout", f32))


def fake_quantized(node: LoweringNode, op: OpBuilder, x: SSAValue, batch: int) -> SSAValue:
    """The floats x, quantized to integers from rhs_quantization_min_val to rhs_quantization_max_val and dequantized.

    For each index of dimension `batch`, scale and zero point are those of its smallest and largest element, or of 0 if
    that is beyond them.
    """
    axes = [axis for axis in range(node.known_rank(0)) if axis != batch]
    low = op.Minimum(op.ReduceMin(x, axes, keep_dims=True), 0.0)
    high = op.Maximum(op.ReduceMax(x, axes, keep_dims=True), 0.0)
    low_level, high_level = (float(node.integer(f"rhs_quantization_{end}_val")) for end in ("min", "max"))
    scale = op.Maximum(op.Divide(op.Subtract(high, low), high_level - low_level), TINY)
    zero = half_away_from_zero(op, op.Subtract(low_level, op.Divide(low, scale)))
    quantized = op.Clamp(op.Add(half_up(op, op.Divide(x, scale)), zero), min=low_level, max=high_level)
    return dequantized(op, quantized, Quantization(scale, zero))


def windowed(node: LoweringNode, op: OpBuilder) -> Compute:
    """A function of data and filters that builds the convolution with the attributes of a node.

    Raises ConversionError if the dimension numbers are missing or the explicit padding has the wrong length.
    """
    axes = len(node.integers("input_spatial_dimensions", ()))
    if not axes:
        node.fail("its dimension numbers are missing", hint="give the node the attribute dimension_numbers")
    strides, spread, dilations = (node.integers(name, ()) or (1,) * axes for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    kind = node.text("padding")
    pads = node.integers("explicit_padding", ())
    if kind == "EXPLICIT" and len(pads) != 2 * axes:
        node.fail(f"explicit_padding {list(pads)} are not {2 * axes} sizes")

    def compute(x: SSAValue, w: SSAValue) -> SSAValue:
        ends = pads if kind == "EXPLICIT" else (0,) * 2 * axes
        if kind == "SAME":
            ends = same_padding(node, x, w, strides, dilations, spread)
        window = SlidingWindow(strides, dilations, ends[::2], ends[1::2], "explicit")
        return convolved(node, op, x, w, window, spread, node.integer("feature_group_count", 1))

    return compute


def same_padding(
    node: LoweringNode, x: SSAValue, w: SSAValue, strides: tuple[int, ...], dilations: tuple[int, ...], spread: tuple[int, ...]
) -> tuple[int, ...]:
    """The SAME padding, begin and end for each spatial axis; if it is odd, the end has one more.

    Args:
        node: the node.
        x, w: data and filters.
        strides, dilations: those of the convolution.
        spread: the dilation of the data.

    Raises ConversionError if a spatial size of data or filters is dynamic.
    """
    shape, kernel = shape_of(x), shape_of(w)
    padding: list[int] = []
    for axis, (dimension, own) in enumerate(
        zip(node.integers("input_spatial_dimensions"), node.integers("kernel_spatial_dimensions"), strict=True)
    ):
        size, length = (shape or ())[dimension] if shape else -1, (kernel or ())[own] if kernel else -1
        if min(size, length) < 0:
            node.fail("padding SAME needs the sizes of data and filters", hint="give the model's inputs static shapes")
        extent, whole = (length - 1) * dilations[axis] + 1, (size - 1) * spread[axis] + 1
        missing = max((-(-whole // strides[axis]) - 1) * strides[axis] + extent - whole, 0)
        padding += [missing // 2, missing - missing // 2]
    return tuple(padding)
