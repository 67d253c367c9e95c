"""Layers of FlowNet: Correlation, Accum, FlowWarp, and DataAugmentation in its inference form.

Source: correlation_layer.cpp, accum_layer.cpp, flow_warp_layer.cpp and data_augmentation_layer.cpp of FlowNet 2.
"""

from __future__ import annotations

from functools import reduce
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.correlation import Correlation, correlated
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.image import resized, sizes_like
from moir.lowering.caffe.layer_parameters import blob, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder

_AXES = [2, 3]


@caffe.lowers("Correlation")
@with_parameters("correlation_param")
def correlation(
    node: LoweringNode,
    op: OpBuilder,
    *,
    single_direction: int = 0,
    do_abs: bool = False,
    kernel_size: int,
    max_displacement: int,
    stride_1: int = 1,
    stride_2: int = 1,
    pad: int = 0,
) -> SSAValue:
    """caffe.Correlation(a, b) {pad, kernel_size, max_displacement, stride_1, stride_2} -> a channel for each
    displacement
    """
    parameter = parameters(node, "correlation_param")
    if single_direction or do_abs:
        node.fail("displacements in a single direction and absolute values (single_direction, do_abs) are not supported")
    form = Correlation(
        kernel=kernel_size,
        displacement=max_displacement,
        stride=stride_1,
        displacement_stride=stride_2,
        pad=pad,
        is_product=parameter.choice("correlation_type", ("MULTIPLY", "SUBTRACT")) == "MULTIPLY",
    )
    first, second = bottoms(node, 2, 2)
    return correlated(op, first, second, form)


@caffe.lowers("Accum")
@with_parameters("accum_param")
def accum(
    node: LoweringNode, op: OpBuilder, *, have_reference: bool = False, size_divisible_by: int = 0, top_height: int = 0, top_width: int = 0
) -> SSAValue:
    """caffe.Accum(a, b, …) -> opset1.Concat along axis 1 of all, each resized to the largest height and width

    `top_height` and `top_width` are lower bounds of the sizes; with `have_reference` the sizes are those of the last
    blob, which is not concatenated.
    """
    values = bottoms(node)
    if have_reference:
        *values, like = bottoms(node, 2)
        sizes = sizes_like(op, like)
    else:
        sizes = _largest(node, op, values, [top_height, top_width])
        divisor, known = size_divisible_by, op.known.integers(sizes)
        if divisor and (known is None or any(size % divisor for size in known)):
            node.fail(f"the sizes of its blobs are not known to be multiples of {divisor} (size_divisible_by)")
    wanted = op.known.integers(sizes)
    parts: list[SSAValue] = []
    for value in values:
        shape = shape_of(value)
        is_there = shape is not None and is_static(shape[2:]) and tuple(shape[2:]) == wanted
        parts.append(value if is_there else resized(op, value, sizes, "linear_onnx", "align_corners"))
    return op.Concat(*parts, axis=1) if len(parts) > 1 else parts[0]


def _largest(node: LoweringNode, op: OpBuilder, values: list[SSAValue], wanted: list[int]) -> SSAValue:
    """The largest height and the largest width among blobs; or `wanted`, the parameters `top_height` and `top_width`,
    if both are larger.

    Raises ConversionError if `wanted` is given and the sizes of the blobs are dynamic.
    """
    largest = reduce(op.Maximum, [sizes_like(op, value) for value in values])
    known = op.known.integers(largest)
    if any(wanted) and known is None:
        node.fail("the sizes of its blobs are dynamic", hint="give the model's inputs static sizes")
    is_larger = known is not None and all(more > size for more, size in zip(wanted, known, strict=True))
    return op.constant(wanted) if is_larger else largest


@caffe.lowers("FlowWarp")
def flow_warp(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.FlowWarp(x [N, C, H, W], flow [N, 2, H, W]) -> opset9.GridSample of x, moved by the flow in pixels

    Positions outside of the image give 0.
    """
    if parameters(node, "flow_warp_param").numbered_choice("fill_parameter", {1: "ZERO", 2: "NOT_A_NUMBER"}) != "ZERO":
        node.fail("only 0 is supported for positions outside of the image (fill_parameter)")
    x, flow = bottoms(node, 2, 2)
    sizes = op.ShapeOf(flow)
    coordinates: list[SSAValue] = []
    inside: list[SSAValue] = []
    for channel, axis in ((0, 3), (1, 2)):
        count = op.Gather(sizes, axis, 0)
        indices = op.convert(op.Range(0, count, 1, output_type=si64), f32)
        line = op.Reshape(indices, [1, 1, -1] if axis == 3 else [1, -1, 1], special_zero=False)
        coordinate = op.Add(op.Gather(flow, channel, 1), line)
        size = op.convert(count, f32)
        inside.append(op.LogicalAnd(op.GreaterEqual(coordinate, 0.0), op.Less(coordinate, size)))
        coordinates.append(op.Unsqueeze(op.Subtract(op.Divide(coordinate, op.Divide(op.Subtract(size, 1.0), 2.0)), 1.0), [3]))
    sampled = op.GridSample(x, op.Concat(*coordinates, axis=3), align_corners=True, mode="bilinear", padding_mode="border")
    return op.Select(op.Unsqueeze(op.LogicalAnd(*inside), [1]), sampled, 0.0)


@caffe.lowers("DataAugmentation")
@with_parameters("augmentation_param")
def data_augmentation(
    node: LoweringNode,
    op: OpBuilder,
    *,
    augment_during_test: bool = False,
    recompute_mean: int = 0,
    mean_per_pixel: bool = True,
    mean: tuple[float, ...] = (),
) -> SSAValue:
    """caffe.DataAugmentation(x) {recompute_mean, mean_per_pixel, crop_height, crop_width} -> x minus the mean, cropped

    The weights are the number of images, the mean of each pixel, and that of each channel. Without `recompute_mean` the
    mean is the parameter `mean`.
    """
    parameter = parameters(node, "augmentation_param")
    (x,) = bottoms(node, 1, 1)
    if augment_during_test:
        node.fail("it draws random changes in inference, too (augment_during_test)", hint="leave it out of the network")
    crop = [parameter.integer(f"crop_{side}", 0) for side in ("height", "width")]
    if any(crop):
        starts = op.Divide(op.Subtract(op.Slice(op.ShapeOf(x), [2], [4], [1]), crop), 2)
        x = op.Slice(x, starts, op.Add(starts, crop), [1, 1], _AXES)
    if recompute_mean > 0:
        if not mean_per_pixel:
            return op.Subtract(x, op.constant(blob(node, 2, (1, -1, 1, 1))))
        stored = blob(node, 1)
        if (shape := shape_of(x)) is None or stored.shape[-2:] != tuple(shape[2:]):
            node.fail("the mean of each pixel has another size than its blob", hint="set mean_per_pixel to false")
        return op.Subtract(x, op.constant(stored.reshape(1, *stored.shape[-3:])))
    if not any(mean):
        return x
    return op.Subtract(x, op.constant_like(np.array(mean if len(mean) == 1 else np.reshape(mean, (-1, 1, 1))), x))


@caffe.lowers("Filter")
def filter_(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """Raises ConversionError for caffe.Filter, which selects samples by the values of a blob, so that the batch size
    depends on data.
    """
    node.fail("a batch whose size depends on the data is not supported", hint="cut the model before it: --output NAME")
