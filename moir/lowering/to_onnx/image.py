"""Resizing of images, sampling at grids, patches, blocks moved between batch and space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder, small_constant
from moir.lowering.to_onnx.table import opset
from moir.support.records import Record

_MODES = {
    "nearest": ("nearest", False),
    "linear": ("linear", False),
    "linear_onnx": ("linear", False),
    "cubic": ("cubic", False),
    "bilinear_pillow": ("linear", True),
    "bicubic_pillow": ("cubic", True),
}
"""For each mode of Interpolate, the mode in ONNX, and whether the kernel is widened where the image shrinks."""


class _Target(Record):
    """The sizes or scales to which a tensor is resized.

    Args:
        axes: the axes, which may be negative.
        extents: the sizes along the axes (i64) or their scales (f32), a 1-D tensor.
        are_sizes: whether `extents` are sizes.
    """

    axes: Sequence[int]
    extents: SSAValue
    are_sizes: bool

    def operands(self, extents: SSAValue) -> tuple[SSAValue | None, SSAValue | None]:
        """The operands `scales` and `sizes` of a Resize: `extents` is one of them, the other is None."""
        return (None, extents) if self.are_sizes else (extents, None)


def _resized(node: LoweringNode, op: OnnxBuilder, x: SSAValue, target: _Target, **attributes: Any) -> SSAValue:
    """x resized along the axes of `target`.

    Before version 18 a Resize takes the sizes or scales of all dimensions. Raises ConversionError for `antialias`
    before version 18, and in the cases of `_nearest_simple`.
    """
    if attributes.get("nearest_mode") == "simple":
        return _nearest_simple(node, op, x, target, **attributes)
    if op.version >= 18:
        is_whole = list(target.axes) == list(range(node.rank(0) or 0))
        return op.Resize(x, None, *target.operands(target.extents), axes=None if is_whole else tuple(target.axes), **attributes)
    if attributes.pop("antialias"):
        node.fail("its kernel is widened, which ONNX has from version 18 of the operator set on", hint="give --opset 18 or newer")
    rank = node.known_rank(0)
    position = {axis % rank: index for index, axis in enumerate(target.axes)}
    parts: list[SSAValue] = []
    for axis in range(rank):
        if axis in position:
            parts.append(op.Slice(target.extents, [position[axis]], [position[axis] + 1], [0]))
        else:
            parts.append(op.sizes(x, axis, axis + 1) if target.are_sizes else op.constant([1.0]))
    return op.Resize(x, None, *target.operands(op.Concat(*parts, axis=0)), **attributes)


def _nearest_simple(node: LoweringNode, op: OnnxBuilder, x: SSAValue, target: _Target, **attributes: Any) -> SSAValue:
    """x resized by a rule that ONNX does not have: positions are rounded up along axes that shrink, else down.

    Raises ConversionError if it is unknown which axes shrink.
    """
    shape, extents = node.shape(0), small_constant(target.extents)
    own = [-1 if shape is None else shape[axis] for axis in target.axes] if target.are_sizes else [1.0] * len(target.axes)
    if extents is None or min(own) < 0:
        node.fail("its nearest_mode is simple, and which axes shrink is computed", hint="give static shapes with --static-shape")
    shrinks = [float(each) < size for each, size in zip(extents, own, strict=True)]
    for rounding, indices in (
        ("ceil", [i for i, each in enumerate(shrinks) if each]),
        ("floor", [i for i, each in enumerate(shrinks) if not each]),
    ):
        if indices:
            part = _Target([target.axes[index] for index in indices], op.constant(extents[indices]), target.are_sizes)
            x = _resized(node, op, x, part, **attributes | {"nearest_mode": rounding})
    return x


def _padded(node: LoweringNode, op: OnnxBuilder, x: SSAValue) -> SSAValue:
    """x with the padding of an Interpolate's `pads_begin` and `pads_end`; x itself if these are zeros."""
    begin, end = node.integers("pads_begin", ()), node.integers("pads_end", ())
    if not any(begin) and not any(end):
        return x
    rank = node.known_rank(0)
    pads = [(*each, *(0,) * rank)[:rank] for each in (begin, end)]
    return op.Pad(x, [*pads[0], *pads[1]])


def _attributes(node: LoweringNode) -> dict[str, Any]:
    """The attributes of the onnx.Resize for an Interpolate. Raises ConversionError for coordinates or kernels ONNX
    lacks.
    """
    mode, widens = _MODES[node.text("mode")]
    if node.flag("antialias") and node.text("mode") == "linear":
        node.fail("its kernel is widened by antialias, by another rule than ONNX's", hint="use the mode bilinear_pillow")
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    attributes: dict[str, Any] = {
        "mode": mode,
        "antialias": int(widens),
        "coordinate_transformation_mode": "pytorch_half_pixel" if widens else coordinates,
        "cubic_coeff_a": node.number("cube_coeff", -0.75) if mode == "cubic" else None,
        "nearest_mode": node.text("nearest_mode", "round_prefer_floor") if mode == "nearest" else None,
    }
    if attributes["coordinate_transformation_mode"] == "tf_half_pixel_for_nn":
        # floor((x + 0.5) / scale) is the nearest of half pixels, rounded up.
        if mode != "nearest":
            node.fail("its coordinates are tf_half_pixel_for_nn, which ONNX no longer has")
        if attributes["nearest_mode"] != "floor":
            node.fail("its coordinates are tf_half_pixel_for_nn, which ONNX no longer has")
        attributes |= {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}
    if widens:
        # Pillow's coordinates are half pixels, and its cubic kernel has the coefficient -0.5.
        attributes |= {
            "coordinate_transformation_mode": "half_pixel",
            "cubic_coeff_a": -0.5 if mode == "cubic" else None,
            "exclude_outside": 1,
        }
    return attributes


def _axes(node: LoweringNode, index: int) -> Sequence[int]:
    if node.optional(index) is None:
        return range(node.known_rank(0))
    axes = node.constant_integers(index)
    if axes is None:
        node.fail("its axes are not constant")
    return axes


def _interpolated(node: LoweringNode, op: OnnxBuilder, x: SSAValue, target: SSAValue, index: int, *, are_sizes: bool) -> SSAValue:
    """Build the onnx.Resize of an Interpolate to `target`, sizes or scales along the axes that are operand `index`."""
    axes, attributes = _axes(node, index), _attributes(node)
    target = op.vector(target) if are_sizes else op.cast(target, f32)
    return _resized(node, op, _padded(node, op, x), _Target(axes, target, are_sizes), **attributes)


@opset.lowers("Interpolate")
def interpolate(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, target: SSAValue, _of_axes: SSAValue | None = None, *, shape_calculation_mode: str
) -> SSAValue:
    """opset11.Interpolate(x, target, axes) -> onnx.Resize(x, _, scales, sizes)"""
    return _interpolated(node, op, x, target, 2, are_sizes=shape_calculation_mode == "sizes")


@opset.lowers("opset4.Interpolate")
def interpolate_4(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    sizes: SSAValue,
    scales: SSAValue,
    _of_axes: SSAValue | None = None,
    *,
    shape_calculation_mode: str,
) -> SSAValue:
    """opset4.Interpolate(x, sizes, scales, axes) -> onnx.Resize; coordinates are computed with the scales that are
    given
    """
    are_sizes = shape_calculation_mode == "sizes"
    return _interpolated(node, op, x, sizes if are_sizes else scales, 3, are_sizes=are_sizes)


@opset.lowers("opset1.Interpolate")
def interpolate_1(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    sizes: SSAValue,
    *,
    axes: tuple[int, ...],
    mode: str,
    align_corners: bool = True,
    antialias: bool = False,
) -> SSAValue:
    """opset1.Interpolate(x, sizes) -> onnx.Resize(x, _, _, sizes)"""
    if mode not in ("nearest", "linear", "cubic") or antialias:
        node.fail(f"ONNX has no interpolation {mode}" + (" with antialias" if antialias else ""))
    coordinates = "align_corners" if align_corners else "asymmetric"
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "antialias": 0}
    if mode == "nearest":
        attributes["nearest_mode"] = "floor"
    return _resized(node, op, _padded(node, op, x), _Target(axes, op.vector(sizes), are_sizes=True), **attributes)


@opset.lowers("GridSample", since=16)
def grid_sample(
    op: OnnxBuilder, x: SSAValue, grid: SSAValue, *, align_corners: bool = False, mode: str = "bilinear", padding_mode: str = "zeros"
) -> SSAValue:
    """opset9.GridSample(x, grid) -> onnx.GridSample(x, grid)"""
    if op.version >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return op.GridSample(x, grid, align_corners=int(align_corners), mode=mode, padding_mode=padding_mode)


@opset.lowers("ExtractImagePatches")
def extract_image_patches(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    *,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    rates: tuple[int, ...],
    auto_pad: str,
) -> SSAValue:
    """opset3.ExtractImagePatches(x) -> patches [batch, rows · columns · channels, …]: a slice for each element of a
    patch, concatenated
    """
    if auto_pad.startswith("same"):
        shape = node.shape(0)
        if shape is None or min(shape[2:]) < 0:
            node.fail("its padding depends on dynamic dimensions", hint="give the inputs static shapes")
        totals = [
            max((-(-size // stride) - 1) * stride + (width - 1) * rate + 1 - size, 0)
            for size, stride, width, rate in zip(shape[2:], strides, sizes, rates, strict=True)
        ]
        less, more = [each // 2 for each in totals], [each - each // 2 for each in totals]
        begin, end = (less, more) if auto_pad == "same_upper" else (more, less)
        x = op.Pad(x, [0, 0, *begin, 0, 0, *end])
    parts: list[SSAValue] = []
    for row in range(sizes[0]):
        for column in range(sizes[1]):
            starts = [row * rates[0], column * rates[1]]
            ends = [-(width - 1 - place) * rate or 1 << 62 for width, place, rate in zip(sizes, (row, column), rates, strict=True)]
            parts.append(op.Slice(x, starts, ends, [2, 3], list(strides)))
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=1)


def _constants(node: LoweringNode, *indices: int) -> list[tuple[int, ...]]:
    """The constant operands with these indices, 1-D tensors, as tuples of integers.

    Raises ConversionError if one is not constant.
    """
    values = [node.constant_integers(index) for index in indices]
    if any(value is None for value in values):
        node.fail("its blocks or paddings are not constant")
    return [value for value in values if value is not None]


@opset.lowers("SpaceToBatch")
def space_to_batch(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _blocks: SSAValue, _begin: SSAValue, _end: SSAValue) -> SSAValue:
    """opset2.SpaceToBatch(x, blocks, begin, end) -> x padded, with blocks of spatial elements moved to the batch"""
    blocks, begin, end = _constants(node, 1, 2, 3)
    rank = len(blocks)
    if any(begin) or any(end):
        x = op.Pad(x, [*begin, *end])
    sizes = op.Div(op.Shape(x), list(blocks))
    parts: list[SSAValue | list[int]] = []
    for axis, block in enumerate(blocks):
        parts += [op.Slice(sizes, [axis], [axis + 1], [0]), [block]]
    split = op.Reshape(x, op.joined(*parts))
    # The block index of each dimension moves before the batch, the first one first.
    order = [*(2 * axis + 1 for axis in range(rank)), *(2 * axis for axis in range(rank))]
    batch = 1
    for block in blocks:
        batch *= block
    first = op.Mul(op.Slice(sizes, [0], [1], [0]), [batch])
    return op.Reshape(op.Transpose(split, perm=tuple(order)), op.joined(first, op.Slice(sizes, [1], [1 << 31], [0])))


@opset.lowers("BatchToSpace")
def batch_to_space(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _blocks: SSAValue, _begin: SSAValue, _end: SSAValue) -> SSAValue:
    """opset2.BatchToSpace(x, blocks, begin, end) -> x with blocks of the batch moved to spatial axes, then cropped"""
    blocks, begin, end = _constants(node, 1, 2, 3)
    rank, batch = len(blocks), 1
    for block in blocks:
        batch *= block
    shape = op.Shape(x)
    sizes = op.joined(op.Div(op.Slice(shape, [0], [1], [0]), [batch]), op.Slice(shape, [1], [1 << 31], [0]))
    split = op.Reshape(x, op.joined(list(blocks), sizes))
    order: list[int] = []
    for axis in range(rank):
        order += [rank + axis, axis]
    merged = op.Reshape(op.Transpose(split, perm=tuple(order)), op.Mul(sizes, list(blocks)))
    if not any(begin) and not any(end):
        return merged
    ends = [-last if last else (1 << 62) for last in end]
    return op.Slice(merged, list(begin), ends, list(range(rank)))


@opset.lowers("Col2Im", since=18)
def col2im(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    size: SSAValue,
    kernel: SSAValue,
    *,
    strides: tuple[int, ...] = (1, 1),
    dilations: tuple[int, ...] = (1, 1),
    pads_begin: tuple[int, ...] = (0, 0),
    pads_end: tuple[int, ...] = (0, 0),
) -> SSAValue:
    """opset15.Col2Im(x, size, kernel) -> onnx.Col2Im(x, size, kernel)"""
    if shape_of(x) is None or len(shape_of(x) or ()) != 3:
        node.fail("its data have no batch, which ONNX's Col2Im needs", hint="add a dimension of 1 in front")
    return op.Col2Im(x, op.vector(size), op.vector(kernel), strides=strides, dilations=dilations, pads=(*pads_begin, *pads_end))
