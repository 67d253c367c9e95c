"""Convolutions: Conv, ConvTranspose, DeformConv."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import is_quantized_weight
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.ranks import as_filters
from moir.lowering.onnx.sliding_window import axis_attribute, sliding_window, spatial_axes
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Conv", rank=as_filters)
def conv(node: LoweringNode, op: OpBuilder, x: SSAValue, w: SSAValue, b: SSAValue | None = None, *, group: int = 1) -> SSAValue:
    """onnx.Conv(x, w, b) {group = 1} -> opset1.Add(opset1.Convolution(x, w), b as [1, C, 1, 1])

    With groups: opset1.GroupConvolution(x, w as [group, C_out / group, C_in / group, kernel]).
    """
    axes = spatial_axes(node, (1, 0))
    window = sliding_window(node, axes)
    check_group(node, group)
    filters = w if group == 1 else grouped_filters(node, op, w, group, axes)
    convolution = op.Convolution if group == 1 else op.GroupConvolution
    return add_bias(node, op, convolution(x, filters, **window.properties()), b, axes)


def check_group(node: LoweringNode, group: int) -> None:
    """Raises ConversionError for a number of groups that is not positive."""
    if group < 1:
        node.fail(f"group is {group}")


def grouped_filters(node: LoweringNode, op: OpBuilder, filters: SSAValue, group: int, axes: int) -> SSAValue:
    """Filters with their leading dimension split into groups: [group, rows / group, …].

    Constants are folded, except quantized filters, which stay quantized even if they are very small.
    """
    array, shape = None if is_quantized_weight(filters) else op.known.constant(filters), shape_of(filters)
    if shape is not None and len(shape) != axes + 2:
        node.fail(f"the filters have {len(shape)} dimensions where there are {axes} spatial axes")
    if shape is not None and shape[0] >= 0 and shape[0] % group:
        node.fail(f"{shape[0]} filters cannot be divided into {group} groups")
    if array is not None:
        return op.constant(array.reshape(group, array.shape[0] // group, *array.shape[1:]), element_of(filters))
    if shape is not None and is_static(shape[1:]):
        return op.Reshape(filters, [group, -1, *shape[1:]], special_zero=False)
    return split_by_group(op, filters, group)


def split_by_group(op: OpBuilder, filters: SSAValue, group: int) -> SSAValue:
    """Reshape filters of dynamic shape from [rows, …] to [group, rows / group, …]."""
    tail = op.Slice(op.ShapeOf(filters), [1], [2**31 - 1], [1])
    return op.Reshape(filters, op.Concat([group, -1], tail, axis=0), special_zero=False)


def add_bias(node: LoweringNode, op: OpBuilder, result: SSAValue, bias: SSAValue | None, axes: int) -> SSAValue:
    """The result plus the bias [C]; the result itself if the node has no bias."""
    if bias is None:
        return result
    if rank_of(bias) not in (1, None):
        node.fail(f"the bias has {rank_of(bias)} dimensions, not 1")
    return op.Add(result, along_channels(op, bias, axes))


@onnx.lowers("ConvTranspose", rank=as_filters)
def conv_transpose(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    w: SSAValue,
    b: SSAValue | None = None,
    *,
    output_shape: tuple[int, ...] = (),
    kernel_shape: tuple[int, ...] = (),
    group: int = 1,
) -> SSAValue:
    """onnx.ConvTranspose(x, w, b) -> opset1.Add(opset1.ConvolutionBackpropData(x, w), b as [1, C, 1, 1])

    Pads are computed here from `output_shape` and the automatic padding. Only `output_shape` with x of dynamic shape
    remains an operand.
    """
    axes = spatial_axes(node, (1, 0))
    window = sliding_window(node, axes)
    padding = axis_attribute(node, "output_padding", axes, 0)
    check_group(node, group)
    wanted = output_shape[-axes:]
    filters = w if group == 1 else grouped_filters(node, op, w, group, axes)
    operands, automatic = [x, filters], window.auto_pad.startswith("same")
    if not is_static(_sizes(node, w, axes)) and not wanted and automatic:
        _refuse_gaps(node, window, padding, kernel_shape)
        sizes = op.Slice(op.ShapeOf(x), [2], [2 + axes], [1])
        operands.append(op.Multiply(sizes, list(window.strides)))
    elif wanted and not (is_static(_sizes(node, x, axes)) and is_static(_sizes(node, w, axes))):
        operands.append(op.constant(list(wanted)))
    if len(operands) > 2:
        # For an odd total of pads `same_upper` of the operation sets adds one at the beginning, SAME_UPPER of
        # ONNX at the end.
        window = window.with_fields(auto_pad="same_lower" if window.auto_pad == "same_upper" else "same_upper")
    elif wanted or automatic:
        window, padding = _computed_pads(node, window, padding, wanted, axes)
    else:
        window = window.with_fields(auto_pad="explicit")
    build = op.ConvolutionBackpropData if group == 1 else op.GroupConvolutionBackpropData
    result = build(*operands, **window.properties(), output_padding=padding)
    return add_bias(node, op, result, b, axes)


def _sizes(node: LoweringNode, value: SSAValue, axes: int) -> tuple[int, ...]:
    """The spatial sizes of a value, -1 for dynamic dimensions. Raises ConversionError for another rank."""
    shape = shape_of(value)
    if shape is not None and len(shape) != axes + 2:
        node.fail(f"an operand has {len(shape)} dimensions where there are {axes} spatial axes")
    return (-1,) * axes if shape is None else shape[2:]


def _computed_pads(
    node: LoweringNode, window: SlidingWindow, padding: tuple[int, ...], wanted: tuple[int, ...], axes: int
) -> tuple[SlidingWindow, tuple[int, ...]]:
    """Explicit pads and output padding for the spatial sizes `wanted`, by default the sizes of x times the strides.

    Surplus elements are removed at both sides, an odd one at the end for SAME_UPPER and at the beginning otherwise;
    missing elements are appended.
    """
    if wanted and (len(wanted) != axes or min(wanted) < 1):
        node.fail(f"output_shape {list(wanted)} is not a shape of {axes} axes")
    kernel = _sizes(node, node.operand(1), axes)
    sizes = _sizes(node, node.operand(0), axes)
    if not wanted:
        _refuse_gaps(node, window, padding, kernel)
    begins: list[int] = []
    ends: list[int] = []
    paddings: list[int] = []
    for axis in range(axes):
        stride = window.strides[axis]
        surplus = padding[axis] + (kernel[axis] - 1) * window.dilations[axis] + 1 - stride
        if wanted:
            surplus += stride * sizes[axis] - wanted[axis]
        cut, half = max(surplus, 0), max(surplus, 0) // 2
        begin = half if window.auto_pad == "same_upper" else cut - half
        begins.append(begin)
        ends.append(cut - begin)
        paddings.append(padding[axis] + max(-surplus, 0))
    return window.with_fields(pads_begin=tuple(begins), pads_end=tuple(ends), auto_pad="explicit"), tuple(paddings)


def _refuse_gaps(node: LoweringNode, window: SlidingWindow, padding: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    """Raises ConversionError for a stride above the extent of the kernel with automatic padding, which ONNX does not
    define.
    """
    if _has_gaps(window, padding, kernel):
        node.fail("a stride above the extent of the kernel with automatic padding: ONNX does not say where the zeros go")


def _has_gaps(window: SlidingWindow, padding: tuple[int, ...], kernel: tuple[int, ...]) -> bool:
    """Whether a transposed convolution leaves elements of the result between its windows: a stride exceeds the kernel's
    extent.
    """
    sizes = zip(kernel, window.strides, window.dilations, padding, strict=False)
    return any(added + (length - 1) * step + 1 < stride for length, stride, step, added in sizes)


@onnx.lowers("DeformConv", since=19)
def deform_conv(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    w: SSAValue,
    offset: SSAValue,
    b: SSAValue | None = None,
    mask: SSAValue | None = None,
    *,
    offset_group: int = 1,
    group: int = 1,
) -> SSAValue:
    """onnx.DeformConv(x, w, offset, b, mask)
    -> opset1.Add(opset8.DeformableConvolution(x, offset, w, mask), b as [1, C, 1, 1])
    """
    axes = spatial_axes(node, (1, 0, 2))
    if axes != 2:
        node.fail(f"it has {axes} spatial axes, opset8.DeformableConvolution has 2")
    check_group(node, group)
    operands = [x, offset, w]
    result = op.DeformableConvolution(
        *(operands if mask is None else [*operands, mask]),
        **sliding_window(node, axes).properties(),
        group=group,
        deformable_group=offset_group,
        bilinear_interpolation_pad=True,
    )
    return add_bias(node, op, result, b, axes)
