"""Layers that move, repeat, crop and pad without computing.

%y = keras.Reshape(%x) {target_shape = [4, -1]}  ->  %y = opset1.Reshape(%x, [0, 4, -1]) {special_zero = true}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import by_axis, is_channel_last
from moir.lowering.keras.convolution import channels_last
from moir.lowering.keras.images import INTERPOLATIONS, resized_by_factor
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

END = 2**31 - 1
"""The stop of a slice that ends after the last element."""


@keras.lowers("Reshape")
def reshape(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, target_shape: tuple[int, ...]) -> SSAValue:
    """keras.Reshape(x) {target_shape} -> opset1.Reshape(x, [0, target_shape…]), which keeps the batch"""
    if any(size < -1 or size == 0 for size in target_shape) or target_shape.count(-1) > 1:
        node.fail(f"target_shape is {target_shape}")
    return op.Reshape(inputs, [0, *target_shape], special_zero=True)


@keras.lowers("Flatten")
def flatten(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, data_format: str | None = None) -> SSAValue:
    """keras.Flatten(x) -> opset1.Reshape(x, [0, -1])"""
    rank = node.known_rank(0)
    if rank == 1:
        return op.Unsqueeze(inputs, [1])
    data = channels_last(op, inputs, rank, last=not is_channel_last(node, data_format)) if rank > 2 else inputs
    return op.Reshape(data, [0, -1], special_zero=True)


@keras.lowers("Permute")
def permute(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, dims: tuple[int, ...]) -> SSAValue:
    """keras.Permute(x) {dims} -> opset1.Transpose(x, [0, dims…])"""
    if sorted(dims) != list(range(1, node.known_rank(0))):
        node.fail(f"dims {dims} does not list each of the dimensions after the batch once, counted from 1")
    return op.transposed(inputs, [0, *dims])


@keras.lowers("RepeatVector")
def repeat_vector(op: OpBuilder, inputs: SSAValue, *, n: int) -> SSAValue:
    """keras.RepeatVector(x) {n} -> opset1.Tile(opset1.Unsqueeze(x), [1, n, 1])"""
    return op.Tile(op.Unsqueeze(inputs, [1]), [1, n, 1])


def _pairs(node: LoweringNode, name: str, value: object, axes: int) -> list[tuple[int, int]]:
    """The numbers of elements to crop or pad at both ends of each axis, from a number, a number for each axis, or
    pairs.

    `name` is the attribute, for messages. Raises ConversionError for any other value.
    """
    if isinstance(value, int):
        return [(value, value)] * axes
    entries = cast("Sequence[Any]", value) if isinstance(value, tuple) else ()
    if axes == 1 and len(entries) == 2 and all(isinstance(each, int) for each in entries):
        return [(entries[0], entries[1])]
    pairs = [(each, each) if isinstance(each, int) else tuple(each) for each in entries]
    if len(pairs) != axes or not all(len(each) == 2 and min(each) >= 0 for each in pairs):
        node.fail(f"{name} is {value!r}")
    return [(begin, end) for begin, end in pairs]


def _spatial(node: LoweringNode, data_format: str | None) -> tuple[list[int], bool]:
    """The spatial axes, whose number is in the name of the layer, and whether the channels are last (true if the format
    is None).

    Raises ConversionError if the rank of the input does not fit.
    """
    axes, last = int(node.op.KIND[-2]), is_channel_last(node, data_format)
    if node.known_rank(0) != axes + 2:
        node.fail(f"its input has rank {node.rank(0)} instead of {axes + 2}")
    return list(range(1, axes + 1)) if last or (axes == 1 and data_format is None) else list(range(2, axes + 2)), last


@keras.lowers("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, cropping: object = 1, data_format: str | None = None) -> SSAValue:
    """keras.Cropping2D(x) {cropping} -> opset8.Slice(x); likewise in one and three dimensions"""
    axes, _ = _spatial(node, data_format)
    pairs = _pairs(node, "cropping", cropping, len(axes))
    return op.Slice(inputs, [begin for begin, _ in pairs], [-end or END for _, end in pairs], [1] * len(axes), axes)


@keras.lowers("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, padding: object = 1, data_format: str | None = None) -> SSAValue:
    """keras.ZeroPadding2D(x) {padding} -> opset12.Pad(x) {pad_mode = "constant"}; likewise in one and three
    dimensions
    """
    axes, _ = _spatial(node, data_format)
    pairs = dict(zip(axes, _pairs(node, "padding", padding, len(axes)), strict=True))
    every = [pairs.get(axis, (0, 0)) for axis in range(len(axes) + 2)]
    zero = op.constant_like(0, inputs)
    return op.Pad(inputs, [begin for begin, _ in every], [end for _, end in every], zero, pad_mode="constant")


@keras.lowers("UpSampling1D", "UpSampling2D", "UpSampling3D")
def upsampling(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    size: tuple[int, ...] = (2,),
    interpolation: str = "nearest",
    data_format: str | None = None,
) -> SSAValue:
    """keras.UpSampling2D(x) {size, interpolation} -> opset11.Interpolate(x) over the spatial axes

    Likewise in one and three dimensions.
    """
    axes, _ = _spatial(node, data_format)
    if min(size, default=1) < 1:
        node.fail(f"size is {size}")
    if interpolation not in INTERPOLATIONS:
        node.fail(f"the interpolation {interpolation!r} is not supported", hint=f"supported are {', '.join(INTERPOLATIONS)}")
    return resized_by_factor(node, op, inputs, axes, by_axis(node, "size", size, len(axes)), interpolation)
