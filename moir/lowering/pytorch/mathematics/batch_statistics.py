"""Normalization by the statistics of the batch: in training mode, and in layers without running statistics.

Source: Normalization.cpp and group_norm.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def mean_and_variance(op: OpBuilder, x: SSAValue, axes: Sequence[int], *, keep_dims: bool = False) -> tuple[SSAValue, SSAValue]:
    """The mean along axes, and the mean of the squared differences from it."""
    mean = op.ReduceMean(x, list(axes), keep_dims=True)
    centered = op.Subtract(x, mean)
    variance = op.ReduceMean(op.Multiply(centered, centered), list(axes), keep_dims=keep_dims)
    return (mean if keep_dims else op.Squeeze(mean, list(axes))), variance


def inverse_deviation(op: OpBuilder, variance: SSAValue, eps: float) -> SSAValue:
    """1 / √(variance + eps)"""
    return op.Divide(op.constant_like(1, variance), op.Sqrt(op.Add(variance, eps)))


def updated(op: OpBuilder, running: SSAValue, statistic: SSAValue, momentum: float) -> SSAValue:
    """The running statistic after a batch: momentum · statistic + (1 - momentum) · running."""
    statistic = op.convert(statistic, element_of(running))
    return op.Add(op.Multiply(statistic, momentum), op.Multiply(running, 1 - momentum))


def unbiased(op: OpBuilder, x: SSAValue, variance: SSAValue, axes: Sequence[int]) -> SSAValue:
    """The unbiased variance: the mean of squares multiplied by n / (n - 1), for n elements along the axes."""
    count = op.ReduceProd(op.Gather(op.ShapeOf(x), list(axes), 0), [0], keep_dims=False)
    size = op.convert(count, element_of(variance))
    return op.Divide(op.Multiply(variance, size), op.Subtract(size, 1))


def normalized_by_batch(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    affine: tuple[SSAValue | None, SSAValue | None],
    running: tuple[SSAValue | None, SSAValue | None],
    momentum: float,
    eps: float,
) -> list[SSAValue]:
    """Normalize data over all dimensions but the second one: result, mean, 1 / deviation, and the running statistics.

    `affine` are the weight and the bias, `running` the running mean and variance; without the latter no running
    statistics are returned.
    """
    rank = node.known_rank(0)
    axes = [axis for axis in range(rank) if axis != 1]
    mean, variance = mean_and_variance(op, x, axes)
    scale = inverse_deviation(op, variance, eps)
    normalized = op.Multiply(op.Subtract(x, along_channels(op, mean, rank - 2)), along_channels(op, scale, rank - 2))
    results = [scaled_channels(op, normalized, *affine, rank - 2), mean, scale]
    before_mean, before_variance = running
    if before_mean is not None and before_variance is not None:
        results.append(updated(op, before_mean, mean, momentum))
        results.append(updated(op, before_variance, unbiased(op, x, variance, axes), momentum))
    return results


def scaled_channels(op: OpBuilder, x: SSAValue, weight: SSAValue | None, bias: SSAValue | None, axes: int) -> SSAValue:
    """x · weight + bias, for vectors along dimension 1, which is followed by `axes` dimensions; either may be None."""
    if weight is not None:
        x = op.Multiply(x, along_channels(op, op.convert(weight, element_of(x)), axes))
    return x if bias is None else op.Add(x, along_channels(op, op.convert(bias, element_of(x)), axes))


def normalized_instances(
    op: OpBuilder, x: SSAValue, running: tuple[SSAValue, SSAValue], momentum: float, rank: int
) -> tuple[SSAValue, SSAValue]:
    """The running statistics of instance_norm after a batch, updated by the statistics of its instances, averaged over
    the batch.
    """
    axes = list(range(2, rank))
    mean, variance = mean_and_variance(op, x, axes)
    variance = unbiased(op, x, variance, axes)
    means = [op.ReduceMean(each, [0], keep_dims=False) for each in (mean, variance)]
    return updated(op, running[0], means[0], momentum), updated(op, running[1], means[1], momentum)


def group_statistics(op: OpBuilder, x: SSAValue, groups: int, eps: float) -> tuple[SSAValue, SSAValue]:
    """The mean of each group of channels, [N, groups], and the inverse of its standard deviation."""
    rows = op.Reshape(x, op.Concat(dimension_list(op, x, 0), op.constant([groups, -1]), axis=0), special_zero=False)
    mean, variance = mean_and_variance(op, rows, [2])
    return mean, inverse_deviation(op, variance, eps)


def no_statistics(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The empty tensor that torch returns in place of statistics that it has not computed."""
    return op.constant(np.zeros(0, np.float32), element_of(x))
