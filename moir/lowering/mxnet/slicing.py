"""Slices and padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import axes_of, optional_entries, pairs_of, rank_of_operand
from moir.lowering.mxnet.movement import END
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

_PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@mxnet.lowers("Pad", "pad", "_npi_pad")
def pad(node: LoweringNode, op: OpBuilder, x: SSAValue, *, mode: str = "constant", constant_value: float = 0.0) -> SSAValue:
    """mxnet.Pad(x) {mode, pad_width, constant_value = 0} -> opset12.Pad(x, begins, ends, value)"""
    widths = pairs_of(node, "pad_width")
    if mode not in _PAD_MODES or len(widths) % 2 or len(widths) != 2 * rank_of_operand(node):
        node.fail(f"mode {mode!r} with pad_width {list(widths)} is not a padding of {rank_of_operand(node)} axes")
    value = op.ConvertLike(op.constant(constant_value), x) if mode == "constant" else None
    return op.Pad(x, list(widths[::2]), list(widths[1::2]), value, pad_mode=_PAD_MODES[mode])


@mxnet.lowers("slice", "crop", "_npx_slice", "_npi_slice")
def slice_(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.slice(x) {begin, end, step} -> opset8.Slice(x, begin, end, step, axes); None is the end of an axis"""
    begins, ends = optional_entries(node, "begin"), optional_entries(node, "end")
    steps = optional_entries(node, "step") or [None]
    steps = steps * len(begins) if len(steps) == 1 else steps
    if not len(begins) == len(ends) == len(steps):
        node.fail(f"begin {begins}, end {ends} and step {steps} have different lengths")
    return _sliced(op, x, begins, ends, [step or 1 for step in steps], list(range(len(begins))))


def _sliced(
    op: OpBuilder, x: SSAValue, begins: Sequence[int | None], ends: Sequence[int | None], steps: Sequence[int], axes: Sequence[int]
) -> SSAValue:
    first = [(0 if step > 0 else END) if begin is None else begin for begin, step in zip(begins, steps, strict=True)]
    last = [(END if step > 0 else -END) if end is None else end for end, step in zip(ends, steps, strict=True)]
    return op.Slice(x, first, last, list(steps), list(axes))


@mxnet.lowers("slice_axis")
def slice_axis(node: LoweringNode, op: OpBuilder, x: SSAValue, *, begin: int = 0, axis: int) -> SSAValue:
    """mxnet.slice_axis(x) {axis, begin, end} -> opset8.Slice(x, begin, end, 1, axis)"""
    end = node.integer("end") if node.has("end") else None
    return _sliced(op, x, [begin], [end], [1], [axis])


@mxnet.lowers("slice_like")
def slice_like(node: LoweringNode, op: OpBuilder, x: SSAValue, like: SSAValue) -> SSAValue:
    """mxnet.slice_like(x, like) {axes} -> opset8.Slice(x, 0, sizes of like, 1, axes)"""
    rank = rank_of_operand(node)
    axes = axes_of(node, rank, "axes") or list(range(rank))
    sizes = op.Gather(op.ShapeOf(like), axes, 0)
    return op.Slice(x, [0] * len(axes), sizes, [1] * len(axes), axes)


@mxnet.lowers("Crop")
def crop(
    op: OpBuilder,
    x: SSAValue,
    like: SSAValue | None = None,
    *,
    center_crop: bool = False,
    h_w: tuple[int, ...] = (0, 0),
    offset: tuple[int, ...] = (0, 0),
) -> SSAValue:
    """mxnet.Crop(x, like) {offset = (0, 0), h_w, center_crop = false} -> opset8.Slice along height and width"""
    sizes = op.constant(list(h_w)) if like is None else op.Slice(op.ShapeOf(like), [2], [4], [1])
    offsets = op.Divide(op.Subtract(op.Slice(op.ShapeOf(x), [2], [4], [1]), sizes), 2) if center_crop else op.constant(list(offset))
    return op.Slice(x, offsets, op.Add(offsets, sizes), [1, 1], [2, 3])
