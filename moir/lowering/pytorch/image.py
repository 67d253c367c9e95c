"""Resizing and sampling of images."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, f64, si64, ui8
from moir.dialects.shapes import element_of
from moir.expansions.resizing.computed_matrices import kernel_matrix
from moir.expansions.resizing.image_kernels import KERNELS, Kernel, kernel_weights
from moir.expansions.resizing.resampling import Weights, multiplied, resized_to
from moir.expansions.resizing.sampling_grids import sampled_volume
from moir.expansions.shape_values import dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Size, Sizes, shape_value, size_scalar
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

_MODES = {"nearest": "nearest", "bicubic": "cubic", "linear": "linear_onnx", "bilinear": "linear_onnx", "trilinear": "linear_onnx"}


def _kinds() -> list[str]:
    names = [f"upsample_nearest{axes}d" for axes in (1, 2, 3)] + [f"_upsample_nearest_exact{axes}d" for axes in (1, 2, 3)]
    names += ["upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"]
    return [f"{name}.{overload}" for name in names for overload in ("vec", "default")]


@aten.lowers(*_kinds())
def upsample(
    node: LoweringNode,
    op: OpBuilder,
    *,
    output_size: Sizes = (),
    scale_factors: tuple[float, ...] = (),
    align_corners: bool = False,
) -> SSAValue:
    """aten.upsample_bilinear2d.vec(x) {output_size, align_corners} -> opset11.Interpolate(x, sizes, axes) {mode}

    With scale factors, the sizes are rounded down, and the positions of samples follow from the factors, as in torch.
    """
    name = node.op.KIND.partition(".")[0]
    x, axes = node.op.operands[0], int(name[-2])
    kind = name.removeprefix("_").removeprefix("upsample_")[:-2]
    is_exact = kind == "nearest_exact"
    mode = "nearest" if is_exact else _MODES[kind]
    spatial = list(range(2, axes + 2))
    if mode == "nearest":
        modes = ("half_pixel", "round_prefer_ceil") if is_exact else ("asymmetric", "floor")
        further: dict[str, object] = {"nearest_mode": modes[1]}
        coordinates = modes[0]
    else:
        coordinates, further = "align_corners" if align_corners else "half_pixel", {}
    if output_size:
        if any(node.has(each) for each in ("scales", "scales_h", "scales_w", "scales_d")) and not node.op.KIND.endswith(".vec"):
            _check_factors(node, output_size)
        return resized_to(op, x, shape_value(op, output_size, 0), spatial, mode, coordinates, **further)
    if len(scale_factors) != axes:
        node.fail(f"{len(scale_factors)} factors for {axes} axes")
    sizes = [dimension(op, x, axis) for axis in spatial]
    if all(float(factor).is_integer() for factor in scale_factors) and all(isinstance(size, int) for size in sizes):
        exact = [int(size * factor) for size, factor in zip(sizes, scale_factors, strict=True) if isinstance(size, int)]
        return resized_to(op, x, op.constant(exact), spatial, mode, coordinates, **further)
    scales_ = op.constant(np.array(scale_factors, np.float32))
    return op.Interpolate(
        x, scales_, spatial, mode=mode, shape_calculation_mode="scales", coordinate_transformation_mode=coordinates, **further
    )


def _check_factors(node: LoweringNode, sizes: Sizes) -> None:
    """Raises ConversionError if the node has scale factors, which torch would use, that are not the quotients of the
    sizes.
    """
    shape = node.shape(0)
    for axis, name in zip(
        range(len(sizes)), ("scales_h", "scales_w") if len(sizes) == 2 else ("scales_d", "scales_h", "scales_w"), strict=False
    ):
        factor, size, wanted = node.attribute(name, None), (shape or (-1,) * 5)[2 + axis], sizes[axis]
        if isinstance(factor, int | float) and (size < 0 or not isinstance(wanted, int) or abs(size * factor - wanted) > 1e-6):
            node.fail(f"{name} is {factor} for sizes {size} and {wanted}", hint="resize to sizes in place of factors")


@aten.lowers("grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(
    node: LoweringNode, op: OpBuilder, input: SSAValue, grid: SSAValue, *, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> SSAValue:
    """aten.grid_sampler_2d.default(x, grid) {…} -> opset9.GridSample(x, grid) {mode, padding_mode, align_corners};
    `grid_sampler_3d` likewise
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if not 0 <= interpolation_mode < 3 or not 0 <= padding_mode < 3:
        node.fail(f"mode {interpolation_mode} and padding {padding_mode} do not exist")
    mode, padding = modes[interpolation_mode], paddings[padding_mode]
    if node.known_rank(0) == 5:
        return sampled_volume(op, input, grid, mode=mode, padding=padding, aligned=align_corners)
    return op.GridSample(input, grid, mode=mode, padding_mode=padding, align_corners=align_corners)


def _antialiased_kinds() -> list[str]:
    return [f"_upsample_{name}2d_aa.{overload}" for name in ("bilinear", "bicubic") for overload in ("default", "vec")]


@aten.lowers(*_antialiased_kinds())
def upsample_antialiased(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    *,
    output_size: Sizes = (),
    scale_factors: tuple[float, ...] = (),
    align_corners: bool = False,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> SSAValue:
    """aten._upsample_bilinear2d_aa.default(x) {output_size} -> opset1.MatMul with the weights of a wide kernel

    Integers of 8 bits are rounded after each axis, the last one first, and their weights are fixed-point numbers.
    """
    kernel = KERNELS["triangle" if "bilinear" in node.op.KIND else "keyscubic"]
    factors = list(scale_factors) or [scales_h, scales_w]
    if not output_size and None in factors:
        node.fail("it has neither sizes nor factors")
    x = op.convert(input, f32)
    is_fixed = element_of(input) == ui8
    for index, axis in ((1, 3), (0, 2)):
        size, factor = dimension(op, input, axis), factors[index]
        resized = output_size[index] if output_size else _multiplied_size(op, size, factor or 1.0)
        if isinstance(size, int) and isinstance(resized, int):
            matrix = _antialiasing(kernel, size, resized, factor, align_corners)
            weights = op.constant((fixed_point(matrix) if is_fixed else matrix).astype(np.float32), f32)
        else:
            weights = _computed_antialiasing(op, kernel, size, resized, factor, align_corners)
            weights = computed_fixed_point(op, weights) if is_fixed else weights
        x = multiplied(op, x, weights, axis, 4)
        x = op.Clamp(op.Floor(op.Add(x, 0.5)), min=0.0, max=255.0) if is_fixed else x
    return x


def _multiplied_size(op: OpBuilder, size: Size, factor: float) -> Size:
    """A size times a factor, rounded down."""
    return int(size * factor) if isinstance(size, int) else op.convert(op.Floor(op.Multiply(op.convert(size, f64), factor)), si64)


WITHOUT_SCALE = 1e30
"""The scale with aligned corners for a result of one sample, where torch's is infinite; centres of samples are never
aligned.
"""


def _antialiasing(kernel: Kernel, size: int, resized: int, factor: float | None, align_corners: bool) -> Weights:
    """The matrix [result, data] of weights that resizes an axis from `size` to `resized`, with a wider kernel if it
    becomes smaller.

    `factor` is the scale; None for the quotient of the sizes.
    """
    scale = factor or resized / size
    if align_corners:
        scale = (resized - 1) / (size - 1) if resized > 1 and size > 1 else WITHOUT_SCALE
    return kernel_weights(kernel, size, resized, scale=scale, translation=0.0, antialias=True, beyond=True)


def _computed_antialiasing(op: OpBuilder, kernel: Kernel, size: Size, resized: Size, factor: float | None, align_corners: bool) -> SSAValue:
    """The matrix [result, data] of `_antialiasing`, computed when the model runs, for an axis of which a size is
    dynamic.
    """
    before, after = (size_scalar(op, each) for each in (size, resized))
    last, first = (op.convert(op.Subtract(each, int(align_corners)), f32) for each in (after, before))
    scale = op.constant(factor, f32) if factor and not align_corners else op.Divide(last, first)
    if align_corners:
        several = op.LogicalAnd(op.Greater(last, 0.0), op.Greater(first, 0.0))
        scale = op.Select(several, scale, WITHOUT_SCALE)
    return kernel_matrix(op, kernel, before, after, scale=scale, translation=op.constant(0.0, f32), antialias=True, beyond=True)


def computed_fixed_point(op: OpBuilder, weights: SSAValue) -> SSAValue:
    """Weights that are computed when the model runs, rounded as `fixed_point` rounds constant weights."""
    powers = 2.0 ** np.arange(23)
    largest = op.ReduceMax(weights, [0, 1], keep_dims=False)
    fitting = op.Less(op.Floor(op.Add(op.Multiply(op.constant(powers[1:], f32), largest), 0.5)), float(1 << 15))
    power = op.Gather(op.constant(powers, f32), op.ReduceSum(op.convert(fitting, si64), [0], keep_dims=False), 0)
    steps = op.Multiply(weights, power)
    rounded = op.Select(op.Less(weights, 0.0), op.Ceiling(op.Subtract(steps, 0.5)), op.Floor(op.Add(steps, 0.5)))
    return op.Divide(rounded, power)


def fixed_point(weights: Weights) -> Weights:
    """Weights, rounded to multiples of 2^-p, where p ≤ 22 is the largest for which all fit into 16 bits as integers."""
    largest = float(weights.max())
    bits = next((each for each in range(22) if int(0.5 + largest * 2 ** (each + 1)) >= 1 << 15), 22)
    return np.trunc(weights * 2**bits + np.copysign(0.5, weights)) / 2**bits
