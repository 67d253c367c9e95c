"""Pooling over windows, over all positions, and to a given size.

    %y = keras.MaxPooling2D(%x) {pool_size = [2, 2], strides = [2, 2], padding = "valid"}
->  %y = Transpose(opset14.MaxPool(Transpose(%x)) {kernel = [2, 2], strides = [2, 2]})
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, by_axis, is_channel_last
from moir.lowering.keras.convolution import AUTO_PADS, axes_of, channels_first, channels_last
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def _pooled(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, size: tuple[int, ...], strides: tuple[int, ...] | None, padding: str, *, last: bool
) -> SSAValue:
    axes = axes_of(node)
    if padding not in AUTO_PADS:
        node.fail(f"padding {padding!r} does not exist")
    kernel = by_axis(node, "pool_size", size, axes)
    zeros = (0,) * axes
    steps = kernel if strides is None else by_axis(node, "strides", strides, axes)
    properties = padded_window(kernel, steps, zeros, zeros) | {"auto_pad": AUTO_PADS[padding]}
    data = channels_first(op, inputs, axes + 2, last=last)
    if "Max" in node.op.KIND:
        pooled = op.MaxPool(data, **properties, dilations=(1,) * axes)
    else:
        pooled = op["opset14.AvgPool"](data, **properties, exclude_pad=True, rounding_type="floor")
    return channels_last(op, pooled, axes + 2, last=last)


@keras.lowers("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D")
@keras.lowers("MaxPool1D", "MaxPool2D", "MaxPool3D", "AvgPool1D", "AvgPool2D", "AvgPool3D")
def pooling(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    pool_size: tuple[int, ...] = (2,),
    strides: tuple[int, ...] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> SSAValue:
    """keras.MaxPooling2D(x) -> Transpose(opset14.MaxPool(Transpose(x))); likewise AveragePooling2D, without the padding

    Likewise in one and three dimensions.
    """
    return _pooled(node, op, inputs, pool_size, strides, padding, last=is_channel_last(node, data_format))


@keras.lowers("ops.MaxPool", "ops.AveragePool")
def pooling_function(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    pool_size: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> SSAValue:
    """keras.ops.MaxPool(x) -> as MaxPooling2D, by the rank of x; likewise AveragePool"""
    return _pooled(node, op, inputs, pool_size, strides, padding, last=is_channel_last(node, data_format))


@keras.lowers("GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "GlobalAveragePooling1D", "GlobalAveragePooling2D")
@keras.lowers("GlobalAveragePooling3D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D", "GlobalAvgPool1D", "GlobalAvgPool2D")
@keras.lowers("GlobalAvgPool3D")
def global_pooling(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, data_format: str | None = None, keepdims: bool = False
) -> SSAValue:
    """keras.GlobalAveragePooling2D(x) {keepdims} -> opset1.ReduceMean(x) over the positions; a mask excludes steps

    Likewise GlobalMaxPooling2D, and both in one and three dimensions.
    """
    rank = node.known_rank(0)
    last = is_channel_last(node, data_format)
    axes = list(range(1, rank - 1)) if last else list(range(2, rank))
    if "Max" in node.op.KIND:
        return op.ReduceMax(inputs, axes, keep_dims=keepdims)
    mask = Arguments(node, "inputs", "mask").optional("mask") if node.op.KIND.endswith("1D") else None
    if mask is None:
        return op.ReduceMean(inputs, axes, keep_dims=keepdims)
    weights = op.Unsqueeze(op.convert(mask, element_of(inputs)), [2 if last else 1])
    total = op.ReduceSum(op.Multiply(inputs, weights), axes, keep_dims=keepdims)
    return op.Divide(total, op.ReduceSum(weights, axes, keep_dims=keepdims))


@keras.lowers("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D", "ops.AdaptiveAveragePool")
@keras.lowers("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "ops.AdaptiveMaxPool")
def adaptive_pooling(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, output_size: tuple[int, ...], data_format: str | None = None
) -> SSAValue:
    """keras.AdaptiveAveragePooling2D(x) {output_size} -> Transpose(opset8.AdaptiveAvgPool(Transpose(x), size))

    Likewise AdaptiveMaxPooling2D, and both in one and three dimensions.
    """
    axes, last = axes_of(node), is_channel_last(node, data_format)
    data = channels_first(op, inputs, axes + 2, last=last)
    size = op.constant(list(by_axis(node, "output_size", output_size, axes)), si64)
    pooled = op.AdaptiveMaxPool(data, size, index_element_type=si32) if "Max" in node.op.KIND else op.AdaptiveAvgPool(data, size)
    return channels_last(op, pooled, axes + 2, last=last)
