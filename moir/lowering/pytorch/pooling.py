"""Pooling over windows, and to given sizes; the batch may be missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import element_of, is_static
from moir.expansions.shape_values import dimension_list
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Sizes, shape_value, size_list
from moir.lowering.pytorch.convolution import per_axis
from moir.lowering.pytorch.promotion import is_integral
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _axes(node: LoweringNode) -> int:
    """The number of spatial axes, which is in the name of the operation."""
    return next(int(letter) for letter in node.op.KIND.partition("pool")[2] if letter.isdecimal())


def _batched(node: LoweringNode, op: OpBuilder, x: SSAValue, axes: int, pool: Callable[[SSAValue], Sequence[SSAValue]]) -> list[SSAValue]:
    """The results of `pool`, a pooling of [N, C, …], for x, whose batch dimension may be missing."""
    rank = node.known_rank(0)
    if rank == axes + 2:
        return list(pool(x))
    if rank != axes + 1:
        node.fail(f"its operand has {rank} dimensions where there are {axes} spatial axes")
    return [op.Squeeze(each, [0]) for each in pool(op.Unsqueeze(x, [0]))]


@aten.lowers(
    *(f"max_pool{axes}d.default" for axes in (1, 2, 3)),
    *(f"max_pool{axes}d_with_indices.default" for axes in (2, 3)),
    "max_pool1d_with_indices.default",
)
def max_pool(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...] = (),
    padding: tuple[int, ...] = (0,),
    dilation: tuple[int, ...] = (1,),
    ceil_mode: bool = False,
) -> Replacement:
    """aten.max_pool2d.default(x) -> opset14.MaxPool(x); its indices refer to elements within a channel"""
    axes = _axes(node)
    kernel = per_axis(node, kernel_size, axes, "kernel_size")
    pads = per_axis(node, padding, axes, "padding", 0)
    strides = per_axis(node, stride, axes, "stride") if stride else kernel

    def pool(x: SSAValue) -> Sequence[SSAValue]:
        return op["opset14.MaxPool"].results(
            x,
            **padded_window(kernel, strides, pads, pads, per_axis(node, dilation, axes, "dilation", 1)),
            # A window that would begin after the data is left out, as in torch.
            rounding_type="ceil_torch" if ceil_mode else "floor",
            axis=2,
        )

    return _batched(node, op, self, axes, pool)[: node.result_count]


@aten.lowers(*(f"avg_pool{axes}d.default" for axes in (1, 2, 3)))
def avg_pool(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...] = (),
    padding: tuple[int, ...] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Replacement:
    """aten.avg_pool2d.default(x) {count_include_pad} -> opset14.AvgPool(x) {exclude_pad}"""
    axes = _axes(node)
    kernel = per_axis(node, kernel_size, axes, "kernel_size")
    pads = per_axis(node, padding, axes, "padding", 0)

    # The means of integers are truncated.
    x = op.convert(self, f32) if is_integral(element_of(self)) else self

    strides = per_axis(node, stride, axes, "stride") if stride else kernel
    # Means over whole windows, also where these end after the data.
    is_whole = divisor_override is not None or (count_include_pad and any(pads))

    def pool(x: SSAValue) -> Sequence[SSAValue]:
        means = op["opset14.AvgPool"].results(
            x,
            **padded_window(kernel, strides, pads, pads),
            exclude_pad=not is_whole,
            rounding_type="ceil_torch" if ceil_mode else "floor",
            auto_pad="explicit",
        )
        if divisor_override is not None:
            return [op.Multiply(means[0], prod(kernel) / divisor_override)]
        return [_without_overhang(op, x, means[0], kernel, strides, pads)] if is_whole and ceil_mode else means

    return _batched(node, op, x, axes, pool)


def _without_overhang(
    op: OpBuilder, x: SSAValue, means: SSAValue, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int]
) -> SSAValue:
    """Means over whole windows of x, corrected for windows that extend beyond the padding: they count elements up to
    its end only.
    """
    axes = len(kernel)
    for index, (length, step, pad) in enumerate(zip(kernel, strides, pads, strict=True)):
        count, size = (op.Gather(op.ShapeOf(each), op.constant(index + 2), 0) for each in (means, x))
        starts = op.Multiply(op.Range(op.constant(0), count, op.constant(1), output_type=si64), step)
        elements = op.Minimum(op.Subtract(op.Add(size, 2 * pad), starts), length)
        share = op.Divide(op.constant_like(length, means), op.convert(elements, element_of(means)))
        means = op.Multiply(means, op.Reshape(share, [-1, *[1] * (axes - 1 - index)], special_zero=False))
    return means


@aten.lowers(
    *(f"adaptive_avg_pool{axes}d.default" for axes in (1, 2, 3)),
    *(f"_adaptive_avg_pool{axes}d.default" for axes in (2, 3)),
    *(f"adaptive_max_pool{axes}d.default" for axes in (1, 2, 3)),
)
def adaptive_pool(node: LoweringNode, op: OpBuilder, self: SSAValue, *, output_size: Sizes) -> Replacement:
    """aten.adaptive_avg_pool2d.default(x) {output_size} -> ReduceMean, AvgPool of whole windows, or AdaptiveAvgPool;
    `adaptive_max_pool2d` -> AdaptiveMaxPool
    """
    axes, is_max = _axes(node), "max" in node.op.KIND
    sizes = list(output_size) * axes if len(output_size) == 1 else list(output_size)
    shape = node.shape(0)

    def pool(x: SSAValue) -> Sequence[SSAValue]:
        if is_max:
            return op.AdaptiveMaxPool.results(x, _target(op, x, sizes), index_element_type=si32)
        if all(isinstance(each, int) and each == 1 for each in sizes):
            return [op.ReduceMean(x, list(range(2, axes + 2)), keep_dims=True)]
        static_shape = None if shape is None or not is_static(shape[-axes:]) else shape[-axes:]
        if static_shape is not None and all(isinstance(b, int) and b > 0 and a % b == 0 for a, b in zip(static_shape, sizes, strict=True)):
            kernel = [a // b for a, b in zip(static_shape, sizes, strict=True) if isinstance(b, int)]
            window = padded_window(kernel, kernel, [0] * axes, [0] * axes)
            return [op["opset14.AvgPool"](x, **window, auto_pad="explicit", exclude_pad=True, rounding_type="floor")]
        return [op.AdaptiveAvgPool(x, _target(op, x, sizes))]

    return _batched(node, op, self, axes, pool)[: node.result_count]


def _target(op: OpBuilder, x: SSAValue, sizes: Sizes) -> SSAValue:
    """The sizes of the result, with -1 replaced by the size of the data."""
    if all(not isinstance(each, int) or each >= 0 for each in sizes):
        return shape_value(op, sizes)
    parts = [
        dimension_list(op, x, axis + 2) if isinstance(each, int) and each < 0 else size_list(op, each) for axis, each in enumerate(sizes)
    ]
    return op.Concat(*parts, axis=0)
