"""Resizing of images, and of tensors along any axes. Layout: N, C, spatial axes.

    %y = onnx.Resize(%x, %roi, %scales) {mode = "linear"}
->  %y = opset11.Interpolate(%x, %scales, %axes), or products with matrices where it has no such mode
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.input_dependence import is_computed_of_inputs, is_computed_of_sizes
from moir.dialects.element_types import boolean, f32, si16, si32, si64, ui8, ui16, ui32, ui64
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import element_count, element_of, normalize_axis, shape_of
from moir.dialects.symbols import Symbol, same
from moir.errors import InferenceError
from moir.expansions.resizing.resampling import MAXIMUM_WEIGHTS, AxisResizing, Sampling, resample
from moir.expansions.shape_values import as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

if TYPE_CHECKING:
    from moir.expansions.resizing.computed_resampling import ComputedResizing

MODES = {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")
UNCOMMON_COORDINATES = ("half_pixel_symmetric", "tf_crop_and_resize")
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn")

_JUST_BELOW_ONE = 0.9995
"""A number added to sizes before they are rounded down, so that rounding errors do not decrease them."""

_ADDED_TO_SCALES = 1e-6
"""The number that opset11.Interpolate adds to a scale when it computes a size."""

INTERPOLATED_AS: dict[Attribute, Attribute] = {boolean: ui8, si16: si32, ui16: si32, ui32: si64, ui64: si64}
"""Integer types that opset11.Interpolate does not accept, each with the type that is used instead."""


@dataclass
class Resizing:
    """The parameters of a Resize.

    Args:
        mode: `nearest`, `linear` or `cubic`.
        coordinates: the transformation from coordinates in the result to coordinates in the data.
        nearest: the rounding of coordinates in mode `nearest`.
        by_scales: whether `target` contains scales; otherwise it contains sizes.
        target: a 1-D tensor with an element for each of `axes`, or for every axis if these are None.
        antialias, cube_coefficient, exclude_outside: the attributes of these names.
        factor: the scale of all axes, if their sizes are rounded to keep the aspect ratio.
    """

    mode: str
    coordinates: str
    nearest: str
    by_scales: bool
    target: SSAValue
    axes: list[int] | None = None
    antialias: bool = False
    cube_coefficient: float = -0.75
    exclude_outside: bool = False
    factor: float | SSAValue | None = None


@onnx.lowers("Upsample")
@moves_strings(0)
def upsample_factors(node: LoweringNode, op: OpBuilder, *, height_scale: float, width_scale: float) -> SSAValue:
    """onnx.Upsample(x) {height_scale, width_scale, mode}
    -> opset11.Interpolate(x, [height_scale, width_scale], [2, 3])
    """
    scales = op.constant(np.array([1, 1, height_scale, width_scale], np.float32))
    return upsampled(node, op, scales)


@onnx.lowers("Upsample", since=7)
@moves_strings(0)
def upsample_attribute(node: LoweringNode, op: OpBuilder, *, scales: tuple[float, ...]) -> SSAValue:
    """onnx.Upsample(x) {scales, mode}
    -> opset11.Interpolate(x, scales) {coordinate_transformation_mode = asymmetric}
    """
    return upsampled(node, op, op.constant(np.array(scales, np.float32)))


@onnx.lowers("Upsample", "Resize", since=9)
@moves_strings(0)
def upsample(node: LoweringNode, op: OpBuilder, _x: SSAValue, scales: SSAValue) -> SSAValue:
    """onnx.Upsample(x, scales) {mode}; likewise the first version of Resize
    -> opset11.Interpolate(x, scales) {coordinate_transformation_mode = asymmetric}
    """
    return upsampled(node, op, scales)


def upsampled(node: LoweringNode, op: OpBuilder, scales: SSAValue) -> SSAValue:
    """Operand 0 resized as by Upsample and by the first version of Resize."""
    mode = node.text("mode", "nearest")
    return resized(node, op, Resizing({"bilinear": "linear"}.get(mode, mode), "asymmetric", "simple", True, scales))


@onnx.lowers("Resize", since=11)
@moves_strings(0)
def resize(
    node: LoweringNode,
    op: OpBuilder,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    antialias: bool = False,
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
) -> SSAValue:
    """onnx.Resize(x, roi, scales, sizes) {mode, coordinate_transformation_mode, …}
    -> opset11.Interpolate(x, scales or sizes, axes)
    """
    rank = node.rank(0)
    axes = None
    if node.has("axes"):
        axes_attribute = node.integers("axes")
        axes = [normalize_axis(axis, rank) for axis in axes_attribute] if rank is not None else list(axes_attribute)
        if min(axes, default=0) < 0:
            node.fail("the rank of operand 0 is dynamic, so negative axes are", hint="give the model's inputs a static rank")
    scales, sizes = (None if value is not None and shape_of(value) == (0,) else value for value in map(node.optional, (2, 3)))
    if sizes is not None and node.constant(2) is None:
        # One of scales and sizes is an empty 1-D tensor, even if the model does not declare its length.
        scales = None
    target = scales if scales is not None else sizes
    if target is None:
        node.fail("there are neither scales nor sizes")
    resizing = Resizing(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        scales is not None,
        target,
        axes,
        antialias,
        cubic_coeff_a,
        exclude_outside,
    )
    if rank is None and (count := element_count(shape_of(target)) if axes is None else declared_rank(node)) != 4:
        # The target has an element for each dimension of the data. Images, of four dimensions, are resized without
        # that.
        ranked = op.Reshape(node.operand(0), [0] * (node.known_rank(0) if count is None else count), special_zero=True)
        node = node.with_operands({0: ranked})
    if coordinate_transformation_mode == "half_pixel_symmetric" and is_symmetric_anyway(node, resizing):
        resizing.coordinates = "half_pixel"
    if scales is None and keep_aspect_ratio_policy != "stretch":
        keep_aspect_ratio(node, op, resizing, keep_aspect_ratio_policy)
    return resized(node, op, resizing)


def is_symmetric_anyway(node: LoweringNode, resizing: Resizing) -> bool:
    """Whether the mode half_pixel_symmetric equals half_pixel for a node: for sizes, and for scales that give integer
    sizes.
    """
    if not resizing.by_scales:
        return True
    scales, shape = node.known.constant(resizing.target), node.shape(0)
    if scales is None:
        return False
    axes = resizing.axes or range(scales.size)
    dimensions = [-1 if shape is None else shape[axis] for axis in axes]
    extents = [scale if d < 0 else scale * d for scale, d in zip(scales.ravel().tolist(), dimensions, strict=True)]
    return all(float(extent).is_integer() for extent in extents)


def keep_aspect_ratio(node: LoweringNode, op: OpBuilder, resizing: Resizing, policy: str) -> None:
    """Replace the sizes of `resizing` by sizes that preserve the aspect ratio of the data.

    All dimensions are scaled by the same factor: the smallest for the policy `not_larger`, the largest for
    `not_smaller`.
    """
    if policy not in ("not_larger", "not_smaller"):
        node.fail(f"keep_aspect_ratio_policy {policy!r} is not one of stretch, not_larger, not_smaller")
    data, shape, sizes = node.operand(0), node.shape(0), node.known.constant(resizing.target)
    axes = resizing.axes
    dimensions = None if shape is None else [shape[axis] for axis in (range(len(shape)) if axes is None else axes)]
    if sizes is not None and dimensions is not None and min(dimensions) > 0:
        factors = sizes.ravel() / np.array(dimensions)
        factor = factors.min() if policy == "not_larger" else factors.max()
        extents = np.floor(factor * np.array(dimensions) + 0.5).astype(np.int64)
        resizing.target = op.constant(extents)
        if resizing.coordinates != "align_corners" and not np.allclose(extents, factor * np.array(dimensions)):
            resizing.factor = float(factor)
        return
    own: SSAValue = op.ShapeOf(data)
    if axes is not None:
        own = op.Gather(own, axes, 0)
    own = op.convert(own, f32)
    factors_value = op.Divide(op.convert(resizing.target, f32), own)
    reduction = op.ReduceMin if policy == "not_larger" else op.ReduceMax
    resizing.factor = reduction(factors_value, [0], keep_dims=True)
    extents = op.Multiply(resizing.factor, own)
    resizing.target = op.convert(op.Floor(op.Add(extents, 0.5)), si64)


def without_unchanged_axes(op: OpBuilder, data: SSAValue, resizing: Resizing) -> bool:
    """Remove from `resizing` the axes whose size does not change, if scales or sizes are known; returns whether no axis
    remains.

    Axes whose sizes are computed from shapes stay, except the first two: batch size and number of channels are assumed
    not to change.
    """
    known, shape = op.known.constant(resizing.target), shape_of(data)
    if known is None or shape is None:
        return False
    known = known.ravel()
    axes = list(range(len(shape))) if resizing.axes is None else resizing.axes
    if known.size != len(axes):
        raise InferenceError(f"there are {known.size} scales or sizes for {len(axes)} axes")
    is_computed = is_computed_of_sizes(resizing.target)
    unchanged = [known[i] == (1 if resizing.by_scales else shape[axis]) for i, axis in enumerate(axes)]
    kept = [i for i, axis in enumerate(axes) if not unchanged[i] or (is_computed and axis > 1)]
    order = sorted(kept, key=lambda i: axes[i])
    if is_computed and order and order != list(range(len(axes))):
        resizing.target = op.Gather(resizing.target, order, 0)
    elif not is_computed:
        resizing.target = op.constant(known[order])
    resizing.axes = [axes[i] for i in order]
    return not order


def takes_spatial_scales(node: LoweringNode, op: OpBuilder, resizing: Resizing) -> bool:
    """Whether scales computed from shapes are 1 for all but the spatial axes; then the leading ones are dropped.

    For scales that are computed from inputs, positions are computed by other operations, as in ONNX: the positions of
    Interpolate differ in the last bits, and are not updated if the scales change but no size does (the fault
    `changed-scales`). ONNX rounds the product of size and scale down. opset11.Interpolate adds a little to the scale
    before, so that a scale whose product with the size is just below an integer has to be a little smaller.
    """
    data, rank = node.operand(0), node.rank(0) or 0
    if not resizing.by_scales or not 3 <= rank <= 5 or op.known.elements(resizing.target) is not None:
        return False
    axes = list(range(rank)) if resizing.axes is None else resizing.axes
    ones = _leading_ones(op, resizing.target)
    spatial = axes[ones:]
    if not spatial or min(spatial) < 2:
        return False
    resizing.target = scales = op.convert(op.Gather(of_length(op, resizing.target, len(axes)), list(range(ones, len(axes))), 0), f32)
    resizing.axes = spatial
    # Positions of nearest elements may differ in the last bit, which selects another element.
    if is_computed_of_inputs(scales) or (resizing.mode == "nearest" and resizing.coordinates != "asymmetric"):
        return False
    sizes = op.convert(op.Gather(op.ShapeOf(data), spatial, 0), f32)
    counts = op.Floor(op.Multiply(sizes, scales))
    resizing.target = op.Minimum(scales, op.Subtract(op.Divide(op.Add(counts, _JUST_BELOW_ONE), sizes), _ADDED_TO_SCALES))
    return True


def _leading_ones(op: OpBuilder, scales: SSAValue) -> int:
    """The number of leading operands of a Concat that are a constant 1; 0 for scales that are not a Concat."""
    count = 0
    for part in scales.owner.operands if isinstance(scales.owner, Concat) else ():
        array = op.known.constant(part)
        for entry in () if array is None else array.ravel():
            if entry != 1:
                return count
            count += 1
        if array is None:
            break
    return count


def may_resize_batch(node: LoweringNode, op: OpBuilder, resizing: Resizing) -> bool:
    """Whether a Resize of data of dynamic rank may change the size of axis 0 or 1 (batch, channels).

    False if the scales of both axes are 1, or their sizes are computed, which are assumed to be those of the data; for
    data of static rank; for given axes; and if scales or sizes are unknown.
    """
    if node.rank(0) is not None or resizing.axes is not None or (entries := op.known.elements(resizing.target)) is None:
        return False
    return any(not same(each, 1) if resizing.by_scales else not isinstance(each, Symbol) for each in entries[:2])


def resized(node: LoweringNode, op: OpBuilder, resizing: Resizing) -> SSAValue:
    """Operand 0 resized with the given parameters. Raises ConversionError for modes that ONNX does not define."""
    has_dynamic_batch = may_resize_batch(node, op, resizing)
    if has_dynamic_batch:
        ranked = op.Reshape(node.operand(0), [0] * (element_count(shape_of(resizing.target)) or 0), special_zero=True)
        node = node.with_operands({0: ranked})
    data, mode = node.operand(0), resizing.mode
    if resizing.coordinates not in (*COORDINATES, *UNCOMMON_COORDINATES):
        node.fail(f"coordinate_transformation_mode {resizing.coordinates!r} is not defined")
    if mode not in MODES:
        node.fail(f"mode {mode!r} is not one of {', '.join(MODES)}")
    if resizing.nearest not in NEAREST_MODES:
        node.fail(f"nearest_mode {resizing.nearest!r} is not defined")
    if resizing.coordinates != "tf_crop_and_resize" and without_unchanged_axes(op, data, resizing):
        return data
    excludes = resizing.exclude_outside and mode == "cubic"
    if resizing.coordinates in UNCOMMON_COORDINATES or excludes or (resizing.antialias and mode != "nearest"):
        return resized_by_matrices(node, op, resizing)
    takes_scales = not has_dynamic_batch and takes_spatial_scales(node, op, resizing)
    is_computed = resizing.by_scales and not takes_scales and is_computed_of_inputs(resizing.target)
    if has_dynamic_batch or is_computed or resizing.factor is not None:
        return resized_by_matrices(node, op, resizing)
    element = element_of(data)
    result = op.Interpolate(
        op.convert(data, INTERPOLATED_AS.get(element, element) if mode == "nearest" or element not in INTERPOLATED_AS else f32),
        op.convert(resizing.target, f32) if resizing.by_scales else resizing.target,
        resizing.axes,
        mode=MODES[mode],
        shape_calculation_mode="scales" if resizing.by_scales else "sizes",
        coordinate_transformation_mode=resizing.coordinates,
        nearest_mode=resizing.nearest,
        cube_coeff=resizing.cube_coefficient,
    )
    return op.convert(result, element)


def resized_by_matrices(node: LoweringNode, op: OpBuilder, resizing: Resizing) -> SSAValue:
    """Operand 0 multiplied by a matrix for each resized axis; the matrices are constants if all sizes are known.

    Raises ConversionError if the rank is dynamic or a matrix would be too large.
    """
    rank, shape, known = node.known_rank(0), node.shape(0) or (), node.known.constant(resizing.target)
    axes = list(range(rank)) if resizing.axes is None else resizing.axes
    crops = resizing.coordinates == "tf_crop_and_resize"
    regions = node.constant(1) if crops else None
    sampling = Sampling(
        resizing.mode,
        resizing.coordinates,
        resizing.nearest,
        resizing.antialias,
        resizing.exclude_outside,
        resizing.cube_coefficient,
    )
    extrapolation = node.number("extrapolation_value", 0.0)
    if known is not None and (regions is not None or not crops):
        unchanged = 1 if resizing.by_scales else -1
        if all(shape[axis] >= 0 or value == unchanged for axis, value in zip(axes, known.ravel(), strict=True)):
            spans = [(0.0, 1.0)] * len(axes) if regions is None else regions.astype(np.float64).reshape(2, -1).T.tolist()
            parts = _parts(node, resizing, zip(axes, known.ravel().tolist(), map(tuple, spans), strict=True))
            return resample(op, node.operand(0), parts, sampling, extrapolation)
    from moir.expansions.resizing.computed_resampling import resample_with_computed_sizes

    return resample_with_computed_sizes(op, node.operand(0), _computed_parts(node, op, resizing, axes), sampling, extrapolation)


def _parts(node: LoweringNode, resizing: Resizing, entries: Iterable[tuple[int, float, tuple[float, ...]]]) -> list[AxisResizing]:
    """The axes to resize, from tuples (axis, size or scale, region); axes that do not change are left out.

    Raises ConversionError if an empty dimension is resized or a matrix would be too large.
    """
    parts: list[AxisResizing] = []
    for axis, value, region in entries:
        size = (node.shape(0) or ())[axis]
        if size < 0 or (value == (1 if resizing.by_scales else size) and region == (0.0, 1.0)):
            continue
        count = math.floor(size * value + 1e-6) if resizing.by_scales else int(value)
        if size == 0 or count * size > MAXIMUM_WEIGHTS:
            node.fail(f"a dimension of {size} elements cannot be resized to {count}")
        scale = value if resizing.by_scales else resizing.factor if isinstance(resizing.factor, float) else count / size
        parts.append(AxisResizing(axis, size, count, scale, (region[0], region[1])))
    return parts


def _factor(op: OpBuilder, factor: float | SSAValue) -> SSAValue:
    """The factor that scales all axes, as a scalar of type f32."""
    return as_scalar(op, factor) if isinstance(factor, SSAValue) else op.constant(factor)


def _computed_parts(node: LoweringNode, op: OpBuilder, resizing: Resizing, axes: Sequence[int]) -> list[ComputedResizing]:
    """The axes to resize, with sizes or scales that are computed when the model runs."""
    from moir.expansions.resizing.computed_resampling import ComputedResizing

    known = node.known.elements(resizing.target)
    resizing.target = of_length(op, resizing.target, len(axes))
    parts: list[ComputedResizing] = []
    for index, axis in enumerate(axes):
        if resizing.by_scales and known is not None and known.ravel()[index] == 1 and resizing.coordinates != "tf_crop_and_resize":
            continue
        size, entry = dimension_value(op, node.operand(0), axis), op.Gather(resizing.target, index, 0)
        if resizing.by_scales:
            scale = op.convert(entry, f32)
            count = op.convert(op.Floor(op.Multiply(op.convert(size, f32), scale)), si64)
        else:
            count = op.convert(entry, si64)
            scale = op.Divide(op.convert(count, f32), op.convert(size, f32)) if resizing.factor is None else _factor(op, resizing.factor)
        region = None
        if resizing.coordinates == "tf_crop_and_resize":
            corners = of_length(op, node.operand(1), 2 * len(axes))
            start, end = (op.convert(op.Gather(corners, position, 0), f32) for position in (index, index + len(axes)))
            region = start, end
        parts.append(ComputedResizing(axis, size, count, scale, region))
    return parts
