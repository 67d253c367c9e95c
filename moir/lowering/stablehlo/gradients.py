"""Operations of gradients and of training: select_and_scatter, and batch normalization by the statistics of the batch.

    %y = stablehlo.select_and_scatter(%x, %source, 0) {window, (a, b) -> a >= b, (a, b) -> a + b}
->  the sum over the positions in a window of %source, 0 where another position was selected, moved by the position
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import si32
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.attributes import require_rows
from moir.lowering.stablehlo.reduction import own_operands
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.computations import combination, kind_of, operands_of
from moir.lowering.xla.padding import with_edges, with_interior
from moir.lowering.xla.reduction import neutral
from moir.rewriting.builder import OpBuilder

MAXIMUM_OFFSETS = 256
"""The largest number of elements of a window that is lowered."""

SELECTIONS = {"GreaterEqual": "max", "Greater": "max", "LessEqual": "min", "Less": "min"}
"""For each comparison that keeps an element selected against another one, the extreme that it selects."""


def _selection(node: LoweringNode, body: Region) -> tuple[str, str]:
    """The comparison of a select function, by its kind, and whether it selects `max` or `min`.

    Raises ConversionError for a function that does not compare its two arguments.
    """
    arguments = [parameter.results[0] for parameter in parameters_of(body.block)]
    results = results_of(body.block)
    kind = kind_of(results[0].owner) if len(results) == 1 else ""
    if kind not in SELECTIONS or list(operands_of(results[0])) != arguments[:2]:
        node.fail("its selection does not compare the two elements", hint="select the largest or the smallest element")
    return kind, SELECTIONS[kind]


@stablehlo.lowers("select_and_scatter")
def select_and_scatter(
    node: LoweringNode,
    op: OpBuilder,
    *,
    window_dimensions: tuple[int, ...] = (),
    window_strides: tuple[int, ...] = (),
    padding: tuple[int, ...] = (),
) -> SSAValue:
    """stablehlo.select_and_scatter(x, source, init) {window} -> a sum of opset1.Select(offset is selected, source, 0)

    Padding is selected only in a window that consists of padding. Raises ConversionError if a dimension along which
    windows move is dynamic, or the scatter function is not a sum.
    """
    values, shape = own_operands(node), node.shape(0)
    if len(values) != 3 or shape is None:
        node.fail("the rank of its operand is unknown", hint="export the program with static shapes")
    x, source, init = values
    rank = len(shape)
    sizes, strides = window_dimensions or (1,) * rank, window_strides or (1,) * rank
    pads = padding or (0,) * 2 * rank
    require_rows(shape, window_dimensions=sizes, window_strides=strides, low=pads[::2], high=pads[1::2])
    # A dynamic dimension has windows of one element, so that its size does not matter: 1 stands for it.
    if any(row[0] < 0 and row[1:] != (0, 0, 1, 1) for row in _rows(shape, pads, sizes, strides)):
        node.fail("a dimension along which its windows move has a dynamic size", hint="export the program with static shapes")
    whole = [axis for axis, size in enumerate(shape) if size < 0]
    shape = tuple(max(size, 1) if axis in whole else size for axis, size in enumerate(shape))
    if prod(sizes) > MAXIMUM_OFFSETS or min(*sizes, *strides) < 1:
        node.fail(f"windows of more than {MAXIMUM_OFFSETS} elements are not supported")
    compared, extreme = _selection(node, node.op.regions[0])
    if combination(node.op.regions[1]) != "sum":
        node.fail("its scatter function is not a sum")
    windows = [(size + low + high - width) // stride + 1 for size, low, high, width, stride in _rows(shape, pads, sizes, strides)]
    if min(windows, default=1) < 1:
        return op.Broadcast(as_scalar(op, init), op.ShapeOf(x) if whole else list(shape), mode="numpy")
    data = with_edges(op, x, pads[::2], pads[1::2], op.constant_like(neutral(extreme, element_of(x)), x))
    offsets = list(product(*(range(size) for size in sizes)))
    selected = _selected(op, data, offsets, strides, windows, compared, whole)
    zero = op.constant_like(0, source)
    total: SSAValue | None = None
    for index, corner in enumerate(offsets):
        # The element of a window that begins at `start` is at start + offset; padding at the beginning is cut off
        # again.
        part = op.Select(op.Equal(selected, index), source, zero) if len(offsets) > 1 else source
        spread = with_interior(op, part, [stride - 1 for stride in strides], zero)
        before = [offset - low for offset, low in zip(corner, pads[::2], strict=True)]
        widths = [(count - 1) * stride + 1 for count, stride in zip(windows, strides, strict=True)]
        after = [size - width - front for size, width, front in zip(shape, widths, before, strict=True)]
        moved = with_edges(op, spread, before, after, zero)
        total = moved if total is None else op.Add(total, moved)
    assert total is not None
    known = op.known.constant(init)
    return total if known is not None and not known.any() else op.Add(total, init)


def _rows(shape: Sequence[int], pads: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> zip[tuple[int, ...]]:
    return zip(shape, pads[::2], pads[1::2], sizes, strides, strict=True)


def _selected(
    op: OpBuilder,
    data: SSAValue,
    offsets: Sequence[Sequence[int]],
    strides: Sequence[int],
    windows: Sequence[int],
    compared: str,
    whole: Sequence[int],
) -> SSAValue:
    """The index within each window of the selected element; of several equal ones the first.

    Args:
        op: the builder.
        data: the padded data.
        offsets: the offsets of the elements of a window from its first one.
        strides: the distance of neighbouring windows along each axis.
        windows: the number of windows along each axis.
        compared: the opset comparison that keeps an earlier element, such as `GreaterEqual`.
        whole: the axes with windows of one element, whose number is dynamic.
    """
    axes = [axis for axis in range(len(strides)) if axis not in whole]
    best: SSAValue | None = None
    selected = op.constant(np.zeros(tuple(windows), np.int32), si32)
    for index, offset in enumerate(offsets):
        ends = [first + (count - 1) * stride + 1 for first, count, stride in zip(offset, windows, strides, strict=True)]
        starts, stops, steps = ([row[axis] for axis in axes] for row in (offset, ends, strides))
        tap = op.Slice(data, starts, stops, steps, axes) if axes else data
        if best is None:
            best = tap
            continue
        keeps = getattr(op, compared)(best, tap)
        best = op.Select(keeps, best, tap)
        selected = op.Select(keeps, selected, op.constant(index, si32))
    return selected


@stablehlo.lowers("batch_norm_training")
def batch_norm_training(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, scale: SSAValue, offset: SSAValue, *, epsilon: float, feature_index: int
) -> Sequence[SSAValue]:
    """stablehlo.batch_norm_training(x, a, b) -> (x - mean) / sqrt(variance + epsilon) · a + b, mean, variance"""
    rank = node.known_rank(0)
    if not 0 <= feature_index < rank:
        node.fail(f"its feature_index is {feature_index} for a tensor of rank {rank}")
    axes = [axis for axis in range(rank) if axis != feature_index]
    mean = op.ReduceMean(operand, axes, keep_dims=True)
    centered = op.Subtract(operand, mean)
    variance = op.ReduceMean(op.Multiply(centered, centered), axes, keep_dims=True)
    factor, shift = (op.Unsqueeze(each, axes) if axes else each for each in (scale, offset))
    normal = op.Divide(centered, op.Sqrt(op.Add(variance, epsilon)))
    return [op.Add(op.Multiply(normal, factor), shift), *(op.Squeeze(each, axes) if axes else each for each in (mean, variance))]


@stablehlo.lowers("batch_norm_grad")
def batch_norm_grad(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    scale: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    grad_output: SSAValue,
    *,
    epsilon: float,
    feature_index: int,
) -> Sequence[SSAValue]:
    """stablehlo.batch_norm_grad(x, scale, mean, variance, g) -> the gradients of x, scale and offset

    With n = (x - mean) / s, s = sqrt(variance + epsilon) they are scale / s · (g - mean(g) - n · mean(g · n)),
    sum(g · n) and sum(g).
    """
    rank = node.known_rank(0)
    if not 0 <= feature_index < rank:
        node.fail(f"its feature_index is {feature_index} for a tensor of rank {rank}")
    axes = [axis for axis in range(rank) if axis != feature_index]
    factor, center, spread = (op.Unsqueeze(each, axes) if axes else each for each in (scale, mean, variance))
    deviation = op.Sqrt(op.Add(spread, epsilon))
    normal = op.Divide(op.Subtract(operand, center), deviation)
    products = op.Multiply(grad_output, normal)
    means = [op.ReduceMean(each, axes, keep_dims=True) for each in (grad_output, products)]
    inner = op.Subtract(op.Subtract(grad_output, means[0]), op.Multiply(normal, means[1]))
    sums = [op.ReduceSum(each, axes, keep_dims=False) for each in (products, grad_output)]
    return [op.Multiply(op.Divide(factor, deviation), inner), *sums]
