"""Slices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import bottoms, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Crop")
@with_parameters("crop_param")
def crop(node: LoweringNode, op: OpBuilder, *, axis_: int = 2, offset_: tuple[int, ...] = ()) -> SSAValue:
    """caffe.Crop(x, like) {axis = 2, offset}
    -> opset8.Slice(x, offset, offset + sizes of like, 1, axes from `axis` on)
    """
    x, like = bottoms(node, 2, 2)
    rank = node.known_rank(0)
    start = normalize_axis(axis_, rank)
    axes = list(range(start, rank))
    offsets = offset_ or [0]
    if len(offsets) not in (1, len(axes)):
        node.fail(f"{len(offsets)} offsets for {len(axes)} axes")
    offsets = offsets * len(axes) if len(offsets) == 1 else offsets
    shape, own = shape_of(like), shape_of(x)
    if shape is not None and own is not None and len(shape) == rank:
        for axis, offset in zip(axes, offsets, strict=True):
            if min(shape[axis], own[axis]) >= 0 and offset + shape[axis] > own[axis]:
                node.fail(f"{shape[axis]} elements from {offset} on of an axis of {own[axis]}")
    sizes = op.Slice(op.ShapeOf(like), [start], [rank], [1])
    return op.Slice(x, offsets, op.Add(sizes, offsets), [1] * len(axes), axes)
